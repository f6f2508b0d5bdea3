// The numbers of a recovery run's processes and threads are fixed like its time: the first process is always 1000, the
// ones that come of it count up in the order in which they are made. Calls that take or return such a number translate
// it. A number that belongs to nobody in the run belongs to nobody at all, as after a restart of the machine: so a
// stale number in a pool is found dead, and a run can't signal anything outside itself.
#pragma once

#include <sys/types.h>

namespace blackout::rt {

// Before the run makes another process, or executes another program.
void shareNumbers();
// In the child of a fork.
void numberChild();
// The program makes processes without libc, and has the kernel's numbers of them.
void expectRealNumbers();
// What the program is told of a process that the kernel calls `real`; 0 and errors stay.
pid_t pinnedNumber(pid_t real);
// The other way round; -1: nobody in this run. Numbers stay what they are where they are not pinned.
pid_t realNumber(pid_t pinned);

}  // namespace blackout::rt
