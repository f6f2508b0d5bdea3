/* GNU dbm: an extendible hash that is written in place. */
#include <gdbm.h>

#include "check.h"

static datum data(char* text) {
  datum d = {text, (int)strlen(text)};
  return d;
}

int main(int argc, char** argv) {
  int puts = strcmp(argv[2], "check") != 0;
  int creates = strcmp(argv[2], "create") == 0;
  GDBM_FILE db = gdbm_open(argv[1], 0, creates ? GDBM_NEWDB : puts ? GDBM_WRITER | GDBM_SYNC : GDBM_READER, 0600, NULL);
  NEED(db != NULL, gdbm_strerror(gdbm_errno));
  int found = 0, wrong = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    if (puts) {
      NEED(gdbm_store(db, data(argv[i]), data(argv[i + 1]), GDBM_REPLACE) == 0, gdbm_strerror(gdbm_errno));
      continue;
    }
    datum there = gdbm_fetch(db, data(argv[i]));
    if (there.dptr == NULL && gdbm_errno == GDBM_ITEM_NOT_FOUND) continue;
    if (there.dptr == NULL) return fprintf(stderr, "damaged: %s\n", gdbm_strerror(gdbm_errno)), 1;
    if (there.dsize == (int)strlen(argv[i + 1]) && memcmp(there.dptr, argv[i + 1], (size_t)there.dsize) == 0)
      ++found;
    else
      ++wrong;
  }
  gdbm_close(db);
  return puts ? 0 : verdict((argc - 3) / 2, found, wrong);
}
