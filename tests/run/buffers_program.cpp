// Threads made of single instructions, for buffers_test.cpp: POOL READS THREAD...; a thread is words, each one step of
// its own. "wVn" stores n to variable V, "rV" reads it, "xVn" exchanges it, "oV" and "fV" are clflushopt and clflush of
// its line, "s" and "m" sfence and mfence, "a" ends an operation that returns what was read last. Variables 0 and 1 are
// in one line, 2 and 3 in another. What the threads read goes to READS. Between its steps a thread stores nothing but
// to its own stack: other memory would empty its store buffer.
#include <immintrin.h>
#include <pthread.h>

#include "../record/Inputs/pool.h"
#include "blackout/blackout.h"

struct Step {
  char what;
  int variable;
  uint64_t value;
};
struct Thread {
  Step steps[16];
  int count;
  uint64_t number;
};
static Thread threads[4];
static char* pool;

static volatile uint64_t* place(int variable) {
  return reinterpret_cast<volatile uint64_t*>(pool + 64 * (variable / 2) + 8 * (variable % 2));
}

static void* run(void* p) {
  const auto* t = static_cast<const Thread*>(p);
  uint64_t read = 1, last = 0;  // one digit for each
  for (int i = 0; i < t->count; ++i) {
    const Step& s = t->steps[i];
    auto* at = place(s.variable);
    switch (s.what) {
      case 'w':
        *at = s.value;
        break;
      case 'r':
        read = read * 10 + (last = *at);
        break;
      case 'x':
        read = read * 10 + (last = __atomic_exchange_n(at, s.value, __ATOMIC_SEQ_CST));
        break;
      case 'o':
        _mm_clflushopt(const_cast<uint64_t*>(at));
        break;
      case 'f':
        _mm_clflush(const_cast<uint64_t*>(at));
        break;
      case 's':
        _mm_sfence();
        break;
      case 'm':
        _mm_mfence();
        break;
      case 'a':
        blackout_op_begin("step", t->number);
        blackout_op_end(t->number * 10 + last);
        break;
    }
  }
  return reinterpret_cast<void*>(read);
}

int main(int argc, char** argv) {
  pool = static_cast<char*>(mapPool(argv[1], 4096));
  int count = argc - 3;
  for (int i = 0; i < count; ++i) {
    threads[i].number = uint64_t(i) + 1;
    for (const char* w = strtok(argv[i + 3], " "); w != nullptr; w = strtok(nullptr, " "))
      threads[i].steps[threads[i].count++] = {w[0], w[1] == '\0' ? 0 : w[1] - '0',
                                              w[1] == '\0' || w[2] == '\0' ? 0 : uint64_t(w[2] - '0')};
  }
  pthread_t made[4];
  for (int i = 0; i < count; ++i) pthread_create(&made[i], nullptr, run, &threads[i]);
  uint64_t read[4] = {};
  for (int i = 0; i < count; ++i) {
    void* result = nullptr;
    pthread_join(made[i], &result);
    read[i] = reinterpret_cast<uint64_t>(result);
  }
  FILE* file = fopen(argv[2], "w");
  for (int i = 0; i < count; ++i) fprintf(file, "%llu|", static_cast<unsigned long long>(read[i]));
  return fclose(file);
}
