// An insert-heavy persistent B+-tree: sorted nodes of 512 bytes whose entries are shifted one by one, each line
// flushed when the shift leaves it (the algorithm of FAST and FAIR, Hwang et al., FAST'18), one thread.
//
//   btree POOL [INSERTS]
#include <cstring>

#include "measure.h"

namespace {

using measure::fence;
using measure::flush;

constexpr unsigned kEntries = 30;

struct Entry {
  uint64_t key;
  uint64_t value;  // in an inner node: offset of the child whose keys are >= key
};

struct alignas(64) Node {
  uint64_t leftmost;  // child for keys below the first; 0: a leaf
  uint64_t sibling;
  uint64_t count;
  uint64_t unused;
  Entry entries[kEntries];
};
static_assert(sizeof(Node) == 512);

struct alignas(64) Header {
  uint64_t root, used;
};

void persist(const void* p, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{63};
  for (uintptr_t line = begin; line < reinterpret_cast<uintptr_t>(p) + size; line += 64)
    flush(reinterpret_cast<const void*>(line));
  fence();
}

class Tree {
 public:
  Tree(void* pool, size_t size) : pool_(static_cast<char*>(pool)), size_(size) {
    header()->used = 64;
    header()->root = allocate();
    persist(at(header()->root), sizeof(Node));
    persist(header(), sizeof(Header));
  }

  void insert(uint64_t key, uint64_t value) {
    Entry up;
    if (!insertBelow(header()->root, key, value, up)) return;
    const uint64_t old = header()->root;
    const uint64_t root = allocate();
    Node* node = at(root);
    node->leftmost = old;
    node->entries[0] = up;
    node->count = 1;
    persist(node, sizeof(Node));
    header()->root = root;
    persist(header(), sizeof(Header));
  }

  uint64_t find(uint64_t key) const {
    const Node* node = at(header()->root);
    while (node->leftmost) node = at(childFor(node, key));
    for (unsigned i = 0; i < node->count; ++i)
      if (node->entries[i].key == key) return node->entries[i].value;
    return 0;
  }

 private:
  Header* header() const { return reinterpret_cast<Header*>(pool_); }
  Node* at(uint64_t offset) const { return reinterpret_cast<Node*>(pool_ + offset); }

  uint64_t allocate() {
    const uint64_t offset = header()->used;
    if (offset + sizeof(Node) > size_) {
      std::fprintf(stderr, "btree: the pool is full\n");
      std::exit(1);
    }
    header()->used = offset + sizeof(Node);
    persist(header(), sizeof(Header));
    return offset;
  }

  static uint64_t childFor(const Node* node, uint64_t key) {
    uint64_t child = node->leftmost;
    for (unsigned i = 0; i < node->count && node->entries[i].key <= key; ++i) child = node->entries[i].value;
    return child;
  }

  // True if the node was split; `up` is then what its parent must take.
  bool insertBelow(uint64_t offset, uint64_t key, uint64_t value, Entry& up) {
    Node* node = at(offset);
    Entry entry{key, value};
    if (node->leftmost) {
      Entry fromBelow;
      if (!insertBelow(childFor(node, key), key, value, fromBelow)) return false;
      entry = fromBelow;
    }
    if (node->count < kEntries) {
      shiftIn(node, entry);
      return false;
    }
    const uint64_t right = split(node, up);
    shiftIn(entry.key < up.key ? node : at(right), entry);
    return true;
  }

  // Entries move right one by one, so that at any moment a reader sees each at least once.
  static void shiftIn(Node* node, Entry entry) {
    unsigned i = node->count;
    while (i > 0 && node->entries[i - 1].key > entry.key) {
      node->entries[i].value = node->entries[i - 1].value;
      node->entries[i].key = node->entries[i - 1].key;
      if (reinterpret_cast<uintptr_t>(&node->entries[i]) % 64 == 0) {
        flush(&node->entries[i]);
        fence();
      }
      --i;
    }
    node->entries[i].value = entry.value;
    node->entries[i].key = entry.key;
    flush(&node->entries[i]);
    fence();
    node->count += 1;
    flush(node);
    fence();
  }

  uint64_t split(Node* node, Entry& up) {
    const uint64_t right = allocate();
    Node* fresh = at(right);
    const bool inner = node->leftmost != 0;
    const unsigned middle = kEntries / 2;
    const unsigned from = inner ? middle + 1 : middle;
    fresh->leftmost = inner ? node->entries[middle].value : 0;
    fresh->sibling = node->sibling;
    fresh->count = kEntries - from;
    std::memcpy(fresh->entries, &node->entries[from], sizeof(Entry) * fresh->count);
    persist(fresh, sizeof(Node));
    up = {node->entries[middle].key, right};
    node->sibling = right;
    node->count = middle;
    persist(node, 64);
    return right;
  }

  char* pool_;
  size_t size_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const uint64_t inserts = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200'000;
  const size_t size = inserts * 48 + (1 << 20);
  Tree tree(measure::mapPool(argv[1], size), size);
  measure::perOperation(inserts, [&] {
    measure::Random random{1};
    for (uint64_t i = 1; i <= inserts; ++i) tree.insert(random() | 1, i);
  });
  measure::Random random{1};
  for (uint64_t i = 1; i <= inserts; ++i)
    if (tree.find(random() | 1) != i) return 1;
  return 0;
}
