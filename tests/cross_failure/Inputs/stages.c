/* A race that the program does not want to hear about, by WHERE: 1 the restart's reads are skipped, 2 they are outside
 * its region of interest, 3 the stores are skipped, 4 the restart is complete before it reads, 5 all with condition 0, 6
 * another part of the restart is its region of interest. */
#include "pool.h"

struct pool {
  uint64_t first LINE;
  uint64_t second LINE;
};

static void operations(void) {
  blackout_skip_detection_begin(WHERE == 3, BLACKOUT_STAGE_PRE);
  l->first = 1;
  l->second = 1;
  flush(&l->first);
  flush(&l->second);
  fence();
  blackout_skip_detection_end(WHERE == 3, BLACKOUT_STAGE_PRE);
}

static void restart(void) {
  blackout_complete(WHERE == 4, BLACKOUT_STAGE_POST);
  blackout_skip_detection_begin(WHERE == 1, BLACKOUT_STAGE_POST);
  blackout_roi_begin_if(WHERE == 2, BLACKOUT_STAGE_POST);
  blackout_roi_end_if(WHERE == 2, BLACKOUT_STAGE_POST);
  blackout_roi_begin_if(WHERE == 6, BLACKOUT_STAGE_POST);
  uint64_t first = l->first, second = l->second;
  blackout_roi_end_if(WHERE == 6, BLACKOUT_STAGE_POST);
  blackout_skip_detection_end(WHERE == 1, BLACKOUT_STAGE_POST);
  printf("%lu %lu\n", (unsigned long)first, (unsigned long)second);
}
MAIN
