// Libraries initialise themselves before the runtime's own constructor: the loader goes by dependencies, and nobody
// depends on us. What must be in place before that (libpmemobj asks once, in its constructor, whether pmemcheck is
// there) is called from here. This is a library of its own because the loader takes one as the first (-z initfirst),
// before libc has its environment, and the rest of the runtime can't live with that.

extern "C" __attribute__((weak)) void __blackout_before_constructors(char** environment);

__attribute__((constructor)) static void begin(int, char**, char** environment) {
  if (__blackout_before_constructors != nullptr) __blackout_before_constructors(environment);
}
