// Six transactions on a database of LMDB, written through its mapping; with NOSYNC it is told to make nothing durable.
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#ifdef NOSYNC
#define FLAGS (MDB_NOSUBDIR | MDB_WRITEMAP | MDB_NOLOCK | MDB_NOSYNC)
#else
#define FLAGS (MDB_NOSUBDIR | MDB_WRITEMAP | MDB_NOLOCK)
#endif
int main(int argc, char** argv) {
  MDB_env* env;
  if (mdb_env_create(&env) != 0 || mdb_env_set_mapsize(env, 1 << 20) != 0) return 1;
  if (mdb_env_open(env, argv[1], FLAGS, 0600) != 0) return 1;
  for (int i = 0; i < 6; ++i) {
    MDB_txn* txn;
    MDB_dbi dbi;
    if (mdb_txn_begin(env, NULL, 0, &txn) != 0 || mdb_dbi_open(txn, NULL, 0, &dbi) != 0) return 1;
    char key[16], value[64];
    snprintf(key, sizeof key, "key%d", i);
    memset(value, 'a' + i, sizeof value);
    MDB_val k = {strlen(key), key}, v = {sizeof value, value};
    if (mdb_put(txn, dbi, &k, &v, 0) != 0 || mdb_txn_commit(txn) != 0) return 1;
  }
  mdb_env_close(env);
  return 0;
}
