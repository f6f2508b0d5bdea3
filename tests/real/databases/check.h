/* What the databases' programs share. Each is called as
 *
 *     NAME FILE create               makes an empty one
 *     NAME FILE put KEY VALUE...     stores the pairs, durably and together where the library can do that
 *     NAME FILE check KEY VALUE...   opens what is there, writable, has the library check it, and looks for the pairs
 *
 * A check that can't open the database aborts: a restart that is forgiven for it would prove nothing. It exits with 1
 * if the database is damaged, or holds a part of the pairs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(condition, why)                          \
  do {                                                \
    if (!(condition)) {                               \
      fprintf(stderr, "%s: %s\n", #condition, (why)); \
      abort();                                        \
    }                                                 \
  } while (0)

/* Of `pairs` pairs `found` are there as they should be, and `wrong` with another value. */
static inline int verdict(int pairs, int found, int wrong) {
  if (wrong == 0 && (found == 0 || found == pairs)) return 0;
  fprintf(stderr, "%d of %d pairs, %d of them wrong\n", found + wrong, pairs, wrong);
  return 1;
}
