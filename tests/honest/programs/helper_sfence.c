// A library with nothing but a fence.
void helper_sfence(void);
void helper_sfence(void) { __asm__ volatile("sfence" ::: "memory"); }
