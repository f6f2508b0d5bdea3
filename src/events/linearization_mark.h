/* In `len` of an extra-point event: the thread's last store before it is a linearization point (blackout_lp). Written
 * by the runtime, so plain C. */
#ifndef BLACKOUT_LINEARIZATION_MARK_H
#define BLACKOUT_LINEARIZATION_MARK_H

#define BLACKOUT_POINT_LP 1u

#endif
