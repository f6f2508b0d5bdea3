/* QDBM's Depot: a hash file that is mapped, locked with fcntl() and synchronised with msync() and fsync(). */
#include <qdbm/depot.h>

#include "check.h"

int main(int argc, char** argv) {
  int puts = strcmp(argv[2], "check") != 0;
  int creates = strcmp(argv[2], "create") == 0;
  DEPOT* db = dpopen(argv[1], creates ? DP_OWRITER | DP_OCREAT : puts ? DP_OWRITER : DP_OREADER, -1);
  NEED(db != NULL, dperrmsg(dpecode));
  if (puts) {
    for (int i = 3; i + 1 < argc; i += 2) NEED(dpput(db, argv[i], -1, argv[i + 1], -1, DP_DOVER), dperrmsg(dpecode));
    NEED(dpsync(db), dperrmsg(dpecode));
    return dpclose(db) ? 0 : 1;
  }
  int found = 0, wrong = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    int size;
    char* value = dpget(db, argv[i], -1, 0, -1, &size);
    if (value == NULL && dpecode == DP_ENOITEM) continue;
    if (value == NULL) return fprintf(stderr, "damaged: %s\n", dperrmsg(dpecode)), 1;
    if (strcmp(value, argv[i + 1]) == 0)
      ++found;
    else
      ++wrong;
  }
  return verdict((argc - 3) / 2, found, wrong);
}
