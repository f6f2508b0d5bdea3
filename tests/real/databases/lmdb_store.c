/* LMDB: a folder with the data, two meta pages that are written in turn, and a lock file with robust mutexes. */
#include <lmdb.h>

#include "check.h"

static MDB_val data(char* text) {
  MDB_val v = {strlen(text), text};
  return v;
}

int main(int argc, char** argv) {
  int puts = strcmp(argv[2], "check") != 0;
  unsigned flags = strcmp(argv[2], "put-unsynced") == 0 ? MDB_NOSYNC : 0;
  if (strcmp(argv[2], "put-mapped") == 0) flags = MDB_WRITEMAP;
  MDB_env* env;
  MDB_txn* txn;
  MDB_dbi dbi;
  int r = mdb_env_create(&env);
  NEED(r == 0, mdb_strerror(r));
  mdb_env_set_mapsize(env, 1 << 20);
  r = mdb_env_open(env, argv[1], flags, 0600);
  NEED(r == 0, mdb_strerror(r));
  r = mdb_txn_begin(env, NULL, puts ? 0 : MDB_RDONLY, &txn);
  NEED(r == 0, mdb_strerror(r));
  r = mdb_dbi_open(txn, NULL, 0, &dbi);
  NEED(r == 0, mdb_strerror(r));
  int found = 0, wrong = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    MDB_val key = data(argv[i]), value = data(argv[i + 1]), there;
    if (puts) {
      r = mdb_put(txn, dbi, &key, &value, 0);
      NEED(r == 0, mdb_strerror(r));
    } else {
      r = mdb_get(txn, dbi, &key, &there);
      if (r == MDB_NOTFOUND) continue;
      if (r != 0) return fprintf(stderr, "damaged: %s\n", mdb_strerror(r)), 1;
      if (there.mv_size == value.mv_size && memcmp(there.mv_data, value.mv_data, value.mv_size) == 0)
        ++found;
      else
        ++wrong;
    }
  }
  if (puts) {
    r = mdb_txn_commit(txn);
    NEED(r == 0, mdb_strerror(r));
  } else {
    mdb_txn_abort(txn);
  }
  mdb_env_close(env);
  return puts ? 0 : verdict((argc - 3) / 2, found, wrong);
}
