// A list whose functions several objects bring.
struct List {
  long value;
  List *next;
  __attribute__((noinline)) long walk() {
    long sum = 0;
    for (List *p = this; p != nullptr; p = p->next) sum += p->value;
    value = sum;
    return sum;
  }
};
inline long both(List *p) { return p->walk() + p->next->walk(); }
