// A library with nothing but a flush.
void helper_clwb(const void* at);
void helper_clwb(const void* at) { __asm__ volatile("clwb (%0)" : : "r"(at) : "memory"); }
