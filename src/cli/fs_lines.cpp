// blackout-fs-lines: a harness of a file system that is a program of its own and speaks by lines (`blackout fs
// --lines`).

#include "blackout/fs/lines.hpp"

int main(int argc, char** argv) { return blackout::fs::runLines(argc, argv); }
