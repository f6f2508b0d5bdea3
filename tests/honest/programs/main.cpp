// The table's program.
//
//   ways POOL write WAY[:N] bug|right   writes by this way, makes it durable (right) or not, and publishes it
//   ways POOL check                     a restart: is what was published there? By plain loads.
//   ways POOL require                   the same, but a pool without anything published is refused
//   ways POOL fill bug|right            writes kText and some numbers by plain stores, and publishes them
//   ways POOL read WAY                  a restart: reads them by this way
//   ways POOL end WAY                   a restart: ends in this way if they are missing
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ways.h"

const char* g_pool_path;
const char* g_program;

extern "C" Pool* map_pool(const char* path, int open_flags, int protection, int map_flags) {
  const int file = open(path, open_flags);
  if (file < 0) {
    perror(path);
    exit(9);
  }
  void* pool = mmap(kPoolAddress, kPoolSize, protection, map_flags, file, 0);
  close(file);
  if (pool == MAP_FAILED) {
    perror("mmap");
    exit(9);
  }
  return static_cast<Pool*>(pool);
}

// Makes what was written visible to a restart: the last store. All stores are of one line, and few: a restart that
// reads the whole file can tell each of them from the next.
extern "C" __attribute__((noinline)) void publish(Pool* p, const void* at, size_t size) {
  const auto* bytes = static_cast<const volatile unsigned char*>(at);
  Header made = {};
  const size_t n = size < 16 ? size : 16;
  for (size_t i = 0; i < n; ++i) {
    made.head[i] = bytes[i];
    made.tail[i] = bytes[size - n + i];
  }
  made.offset = static_cast<uint32_t>(static_cast<const char*>(at) - reinterpret_cast<const char*>(p));
  made.length = static_cast<uint32_t>(size);
  uint64_t words[6];
  memcpy(words, &made, sizeof words);
  auto* to = reinterpret_cast<volatile uint64_t*>(&p->header);
  for (int i = 5; i > 0; --i) to[i] = words[i];
  __atomic_store_n(&p->header.valid, 1, __ATOMIC_RELEASE);
  persist(&p->header, sizeof p->header);
}

extern "C" __attribute__((noinline)) void fill_data(Pool* p, bool right) {
  uint64_t words[sizeof kText / 8];
  memcpy(words, kText, sizeof words);
  for (size_t i = 0; i < sizeof kText / 8; ++i) reinterpret_cast<volatile uint64_t*>(p->text)[i] = words[i];
  for (uint64_t i = 0; i < 8; ++i)
    reinterpret_cast<volatile uint64_t*>(p->numbers)[i] = (6 * i + 1) | (6 * i + 4) << 32;
  if (right) persist(p->text, sizeof p->text + sizeof p->numbers);
}
static_assert(sizeof kText % 8 == 0);

extern "C" __attribute__((noinline)) int check_data(Pool* p) {
  const auto* bytes = reinterpret_cast<const volatile unsigned char*>(p) + p->header.offset;
  const size_t size = p->header.length;
  const size_t n = size < 16 ? size : 16;
  for (size_t i = 0; i < n; ++i)
    if (bytes[i] != p->header.head[i] || bytes[size - n + i] != p->header.tail[i]) return 1;
  return 0;
}

template <typename Function>
static Function must(Function found, const char* name) {
  if (found != nullptr) return found;
  fprintf(stderr, "ways: there is no way %s\n", name);
  exit(8);
}

#ifdef LOADED_LATE
template <typename Function>
static Function look_up(const char* library, const char* finder, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    exit(8);
  }
  return reinterpret_cast<Function (*)(const char*)>(dlsym(handle, finder))(name);
}
#define FIND_WRITER(name) look_up<Writer>("libwriters.so", "find_writer", name)
#define FIND_READER(name) look_up<Reader>("libreaders.so", "find_reader", name)
#define FIND_ENDING(name) look_up<Ending>("libendings.so", "find_ending", name)
#else
#define FIND_WRITER(name) find_writer(name)
#define FIND_READER(name) find_reader(name)
#define FIND_ENDING(name) find_ending(name)
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 8;
  g_program = argv[0];
  g_pool_path = argv[1];
  const char* what = argv[2];
  Pool* p = map_pool(argv[1], O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (strcmp(what, "write") == 0) {
    char name[64];
    snprintf(name, sizeof name, "%s", argv[3]);
    long number = 0;
    if (char* colon = strchr(name, ':')) {
      number = atol(colon + 1);
      *colon = 0;
    }
    const Written written = must(FIND_WRITER(name), name)(p, strcmp(argv[4], "right") == 0, number);
    if (written.size != 0) publish(p, written.at, written.size);
  } else if (strcmp(what, "fill") == 0) {
    fill_data(p, strcmp(argv[3], "right") == 0);
    publish(p, p->text, sizeof kText);
  } else if (__atomic_load_n(&p->header.valid, __ATOMIC_ACQUIRE) == 0) {
    if (strcmp(what, "require") == 0) {
      fprintf(stderr, "ways: the pool was never made\n");
      return 7;
    }
    printf("nothing there\n");
  } else if (strcmp(what, "check") == 0 || strcmp(what, "require") == 0) {
    return check_data(p);
  } else if (strcmp(what, "read") == 0) {
    return must(FIND_READER(argv[3]), argv[3])(p) ? 0 : 1;
  } else if (strcmp(what, "end") == 0) {
    if (check_data(p) != 0) must(FIND_ENDING(argv[3]), argv[3])(p);
  } else {
    return 8;
  }
  return 0;
}
