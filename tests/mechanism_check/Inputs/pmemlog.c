#include <libpmemlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  PMEMlogpool* log = pmemlog_create(argv[1], PMEMLOG_MIN_POOL, 0600);
  if (log == NULL) log = pmemlog_open(argv[1]);
  if (log == NULL) {
    perror("pmemlog");
    return 1;
  }
  char text[100];
  for (int i = 0; i < 10; ++i) {
    memset(text, 'a' + i, sizeof text);
    if (pmemlog_append(log, text, (size_t)(20 + 7 * i)) != 0) {
      perror("append");
      return 1;
    }
  }
  pmemlog_close(log);
  return 0;
}
