// A library with nothing but a store.
void helper_store(long* to, long value);
void helper_store(long* to, long value) { *to = value; }
