// The harness of the file system of the corpus.
#include "pmfs.hpp"

BLACKOUT_FS(pmfs::Files)
