// The checksummed log of ../cklog, whose restart says with blackout_checksum() what it is about to sum up: the same
// outcomes without leaving it to Blackout to recognise the pattern.
#define ANNOTATED
#include "../cklog/cklog.cpp"
