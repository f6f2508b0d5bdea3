// The chain's C++ part: a frame with a personality and handlers.

#include <stdexcept>
#include <string>

#include "call_chain.h"

namespace {

struct Counted {
  int* count;
  ~Counted() { ++*count; }
};

__attribute__((noinline)) void throwing(const std::string& what) { throw std::runtime_error(what); }

}  // namespace

int chain_catching(chain* c, int depth) {
  int ended = 0;
  int result = 0;
  try {
    Counted counted{&ended};
    std::string what(size_t(depth) * 20, 'x');
    if (c->throws != 0) throwing(what);
    result = chain_after_catching(c, depth) + int(what.size());
  } catch (const std::runtime_error& e) {
    Counted counted{&ended};
    result = chain_after_catching(c, depth) - int(e.what()[0]);
  }
  return result + ended;
}
