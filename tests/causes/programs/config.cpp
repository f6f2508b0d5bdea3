// A configuration, in C++. Its limit is changed in place by one store of 8 bytes; everything else by a new
// configuration, which is durable before the root leads to it. The root's magic is stored when the first one is
// complete: a pool without it was left unfinished, and is made anew. A restart exits with 3 to 6 if it finds something
// wrong.
#include "pm.h"

static constexpr uint64_t kMagic = 0x666e6f63;
static constexpr size_t kPoolSize = 8192;

// As it is exchanged with others, hence packed.
struct __attribute__((packed)) Wire {
#if BUG == 1
  char name[60];
#else
  char name[56];
#endif
  uint64_t limit;  // the same in both halves
};

struct alignas(PM_LINE) Config {
  Wire wire;
  alignas(PM_LINE) volatile uint64_t owner;
};

struct Root {
  volatile uint64_t magic;  // written last
  alignas(PM_LINE) Config* volatile current;
  alignas(PM_LINE) char* top;
};

static Root* root;

static uint64_t limit_of(uint64_t number) { return number << 32 | number; }

static Config* newConfig() {
  return static_cast<Config*>(pm_bump(&root->top, reinterpret_cast<char*>(root) + kPoolSize, sizeof(Config)));
}

static void fill(Config* config, char letter, uint64_t owner) {
  *reinterpret_cast<volatile char*>(config->wire.name) = letter;  // (lost 2) (update 3)
  config->wire.limit = limit_of(owner);                           // (lost 2) (update 3)
  config->owner = owner;                                          // (lost 2) (update 3)
}

static void changeLimit(uint64_t number) {
  root->current->wire.limit = limit_of(number);  // (update 1)
  pm_persist(&root->current->wire, sizeof(Wire));
}

static void replace(char letter, uint64_t owner) {
  Config* fresh = newConfig();
  fill(fresh, letter, owner);
  pm_persist(fresh, sizeof *fresh);
  root->current = fresh;
  pm_persist((void*)&root->current, sizeof root->current);
}

static void setMagic() {
  root->magic = kMagic;  // (relies 2) (update 3)
  pm_persist((void*)&root->magic, sizeof root->magic);
}

static void create() {
  root->top = reinterpret_cast<char*>(root + 1);  // (update 3)
  pm_persist(&root->top, sizeof root->top);
  Config* first = newConfig();
  root->current = first;  // (update 3)
  pm_persist((void*)&root->current, sizeof root->current);
#if BUG == 2
  setMagic();
#endif
  fill(first, 'a', 1);
  pm_persist(first, sizeof *first);
#if BUG != 2
  setMagic();
#endif
}

static int check() {
  const Config* config = root->current;
  if (config->wire.name[0] == 0) return 3;
  if (config->wire.limit == 0) return 4;
  if (config->wire.limit >> 32 != (config->wire.limit & 0xffffffff)) return 5;
  if (config->owner == 0) return 6;
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: config POOL");
#if BUG == 3
  const bool complete = access(argv[1], F_OK) == 0;
  root = static_cast<Root*>(pm_map(argv[1], kPoolSize));  // (update 3)
#else
  root = static_cast<Root*>(pm_map(argv[1], kPoolSize));
  const bool complete = root->magic == kMagic;
#endif
  if (complete) return check();
  create();
  changeLimit(77);
  replace('b', 2);
  changeLimit(88);
  return 0;
}
