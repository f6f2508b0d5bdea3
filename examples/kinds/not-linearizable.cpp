// write() returns before anything is stored, and close() stores it: what was promised may be gone, and no store is to
// blame. check: blackout lin --pm pool -- ./program pool
#include <blackout/lin.hpp>
extern "C" {
#include "pool.h"
}

struct Register {
  volatile uint64_t* kept;
  uint64_t cached;

  static Register* open(const char* path) {
    auto* kept = static_cast<volatile uint64_t*>(open_pool(path));
    return new Register{kept, *kept};
  }
  void write(uint64_t value) {
    cached = value;
#ifdef FIXED
    close();
#endif
  }
  void close() {
    *kept = cached;
    persist(kept);
  }
  uint64_t read() { return cached; }
};
BLACKOUT_REGISTER(Register)
