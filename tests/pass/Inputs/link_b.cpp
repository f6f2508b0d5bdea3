// The other object of link.test.
#include <cstdio>

#include "link.h"
long first(List *);
int main() {
  List y{2, nullptr};
  List x{1, &y};
  std::printf("%ld\n", first(&x) + both(&x) + x.walk());
}
