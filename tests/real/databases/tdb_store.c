/* Samba's trivial database: a transaction with a recovery area in the file, record locks of fcntl(). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <tdb.h>

#include "check.h"

static TDB_DATA data(char* text) {
  TDB_DATA d = {(unsigned char*)text, strlen(text)};
  return d;
}

int main(int argc, char** argv) {
  int puts = strcmp(argv[2], "check") != 0;
  int flags = strcmp(argv[2], "put-unsynced") == 0 ? TDB_NOSYNC : TDB_DEFAULT;
  struct tdb_context* db = tdb_open(argv[1], 0, flags, O_RDWR | (strcmp(argv[2], "create") == 0 ? O_CREAT : 0), 0600);
  NEED(db != NULL, strerror(errno));
  if (puts) {
    NEED(tdb_transaction_start(db) == 0, tdb_errorstr(db));
    for (int i = 3; i + 1 < argc; i += 2)
      NEED(tdb_store(db, data(argv[i]), data(argv[i + 1]), TDB_REPLACE) == 0, tdb_errorstr(db));
    NEED(tdb_transaction_commit(db) == 0, tdb_errorstr(db));
    return tdb_close(db);
  }
  if (tdb_check(db, NULL, NULL) != 0) return fprintf(stderr, "damaged: %s\n", tdb_errorstr(db)), 1;
  int found = 0, wrong = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    TDB_DATA value = tdb_fetch(db, data(argv[i]));
    if (value.dptr == NULL) continue;
    if (value.dsize == strlen(argv[i + 1]) && memcmp(value.dptr, argv[i + 1], value.dsize) == 0)
      ++found;
    else
      ++wrong;
  }
  return verdict((argc - 3) / 2, found, wrong);
}
