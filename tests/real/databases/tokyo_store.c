/* Tokyo Cabinet's hash database: a transaction with a write-ahead log beside the file. */
#include <tchdb.h>

#include "check.h"

int main(int argc, char** argv) {
  int puts = strcmp(argv[2], "check") != 0;
  int flags = HDBOWRITER | (strcmp(argv[2], "put") == 0 ? HDBOTSYNC : 0);
  if (strcmp(argv[2], "create") == 0) flags |= HDBOCREAT;
  TCHDB* db = tchdbnew();
  NEED(tchdbopen(db, argv[1], flags), tchdberrmsg(tchdbecode(db)));
  if (puts) {
    NEED(tchdbtranbegin(db), tchdberrmsg(tchdbecode(db)));
    for (int i = 3; i + 1 < argc; i += 2) NEED(tchdbput2(db, argv[i], argv[i + 1]), tchdberrmsg(tchdbecode(db)));
    NEED(tchdbtrancommit(db), tchdberrmsg(tchdbecode(db)));
    return tchdbclose(db) ? 0 : 1;
  }
  int found = 0, wrong = 0;
  for (int i = 3; i + 1 < argc; i += 2) {
    char* value = tchdbget2(db, argv[i]);
    if (value == NULL && tchdbecode(db) == TCENOREC) continue;
    if (value == NULL) return fprintf(stderr, "damaged: %s\n", tchdberrmsg(tchdbecode(db))), 1;
    if (strcmp(value, argv[i + 1]) == 0)
      ++found;
    else
      ++wrong;
  }
  return verdict((argc - 3) / 2, found, wrong);
}
