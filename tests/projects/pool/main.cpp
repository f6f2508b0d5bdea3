// The same as main.c in C++, with exceptions and a destructor in play.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "pool.h"

namespace {

struct Closer {
  void operator()(pool* p) const { pool_close(p); }
};

std::unique_ptr<pool, Closer> openPool(const char* path) {
  std::unique_ptr<pool, Closer> p(pool_open(path));
  if (!p) throw std::runtime_error("cannot open the pool");
  return p;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const auto p = openPool(argv[1]);
  const uint64_t n = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t i = 1; i <= n; ++i) pool_append(p.get(), i);
  std::cout << pool_count(p.get()) << " numbers, sum " << pool_sum(p.get()) << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
