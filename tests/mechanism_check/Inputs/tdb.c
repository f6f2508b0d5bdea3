// Six transactions on a database of tdb; with NOSYNC it is told to make nothing durable.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <tdb.h>
#ifdef NOSYNC
#define FLAGS (TDB_NOLOCK | TDB_NOSYNC)
#else
#define FLAGS TDB_NOLOCK
#endif
int main(int argc, char** argv) {
  struct tdb_context* db = tdb_open(argv[1], 13, FLAGS, O_RDWR | O_CREAT, 0600);
  if (db == NULL) return 1;
  for (int i = 0; i < 6; ++i) {
    char key[16], value[40];
    snprintf(key, sizeof key, "key%d", i % 3);
    memset(value, 'a' + i, sizeof value);
    TDB_DATA k = {(unsigned char*)key, strlen(key)}, v = {(unsigned char*)value, sizeof value};
    if (tdb_transaction_start(db) != 0 || tdb_store(db, k, v, TDB_REPLACE) != 0 || tdb_transaction_commit(db) != 0)
      return 1;
  }
  return tdb_close(db) != 0;
}
