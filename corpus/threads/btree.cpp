// A B+-tree for several threads, after FAST & FAIR: whoever changes it takes a lock, whoever searches takes none.
//
// The records of a node are kept in order by moving them one by one, pointer before key; a record with the pointer of
// the one before it is in the middle of that and does not count, so one store is all that a move, an insertion or a
// removal needs to count. A search goes the way in which nothing can slip past it, and begins again if that changed. A
// node that is split gets a sibling to its right, durable before it is linked, and whoever finds that a key belongs
// there goes on to it: so neither a crash nor another thread's split leads astray. Recovery closes the gaps that
// interrupted moves left.
//
// BUG=1..4 each bring in one mistake; 1 to 3 need two threads to show.
#include <blackout/lin.hpp>
#include <mutex>

#include "pool.hpp"

namespace {

constexpr unsigned kSlots = 8, kMost = kSlots - 1;  // two lines; the slot behind the last record has no pointer

struct alignas(PM_LINE) Cell {
  std::uint64_t value;
};
struct Record {
  std::atomic<std::uint64_t> key;
  std::atomic<void*> to;  // a cell, or a node of the level below; null: the end
};
struct alignas(PM_LINE) Node {
  std::uint64_t level;  // 0: a leaf
  std::uint64_t low;    // no key in it is smaller, nor right of it
  void* first;          // of an inner node: where keys below those of all records are
  std::atomic<Node*> next;
  alignas(PM_LINE) Record record[kSlots];

  // What the pointer of a record must differ from.
  void* before(unsigned at) { return at == 0 ? (level == 0 ? this : first) : record[at - 1].to.load(); }
  bool counts(unsigned at) { return record[at].to != before(at); }
  unsigned used() {
    unsigned n = 0;
    while (n < kSlots && record[n].to != nullptr) ++n;
    return n;
  }
};
struct Root {
  std::atomic<Node*> top;
};

template <class T>
void makeDurable(const T& what) {
  pm_persist(&what, sizeof what);
}
bool sameLine(const void* a, const void* b) {
  return reinterpret_cast<std::uintptr_t>(a) / PM_LINE == reinterpret_cast<std::uintptr_t>(b) / PM_LINE;
}

class Tree {
 public:
  static Tree* open(const char* path) {
    auto* tree = new Tree(path);
    tree->recover();
    return tree;
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    std::unique_lock lock(change_);
    Node* leaf = nodeOf(key, 0);
    if (find(leaf, key) != nullptr) return false;
    auto* cell = pool_.take<Cell>();
    cell->value = value;
    makeDurable(*cell);
    if (leaf->used() == kMost) {
      split(leaf);
      leaf = nodeOf(key, 0);
    }
    Record* added = add(leaf, key, cell);
#if BUG == 3
    // VND: the record is flushed after the critical section, and whoever has the lock next relies on it.
    lock.unlock();
#endif
    makeDurable(*added);
    return true;
  }

  bool remove(std::uint64_t key) {
    std::unique_lock lock(change_);
    Node* leaf = nodeOf(key, 0);
    Record* record = find(leaf, key);
    if (record == nullptr) return false;
    auto at = static_cast<unsigned>(record - leaf->record);
    goLeft(true);
    record->to.store(leaf->before(at), std::memory_order_release);
    makeDurable(*record);
    closeGap(leaf, at);
    return true;
  }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Node* leaf = nodeOf(key, 0);
    for (;;) {
      Cell* cell = find(leaf, key) == nullptr ? nullptr : found_;
      Node* now = right(leaf, key);
      if (cell == nullptr && now != leaf) {
        leaf = now;  // it was split meanwhile
        continue;
      }
#if BUG == 1
      // VND: a record is read between its store and its flush.
      if (cell == nullptr) makeDurable(*leaf);
#elif BUG == 2
      // VND: a record is told to be gone between the store that removes it and its flush.
      if (cell != nullptr) makeDurable(*leaf);
#else
      makeDurable(*leaf);
#endif
      if (cell == nullptr) return std::nullopt;
      return cell->value;
    }
  }

 private:
  explicit Tree(const char* path)
      : pool_(path, [](SharedPool<Root>& pool) {
          pool.root().top.store(pool.take<Node>());
          makeDurable(pool.root());
        }) {}

  // Odd while records move to the left.
  void goLeft(bool left) {
    if (mode_ % 2 != (left ? 1 : 0)) ++mode_;
  }

  // Of a leaf: the record with the key; its cell is in found_.
  Record* find(Node* leaf, std::uint64_t key) {
    for (;;) {
      std::uint64_t mode = mode_;
      Record* record = nullptr;
      unsigned used = leaf->used();
      for (unsigned n = 0; n < used && record == nullptr; ++n) {
        unsigned at = mode % 2 == 0 ? n : used - 1 - n;
        Record& r = leaf->record[at];
        if (r.key.load(std::memory_order_acquire) != key) continue;
        void* to = r.to.load(std::memory_order_acquire);
        if (to == nullptr || to == leaf->before(at) || r.key.load(std::memory_order_acquire) != key) continue;
        record = &r;
        found_ = static_cast<Cell*>(to);
      }
      // Going from the left, one that has just moved to the right was passed over where it stood in between.
      if (mode_ == mode && (record != nullptr || leaf->used() == used)) return record;
    }
  }

  // To the right, as long as the key belongs there.
  static Node* right(Node* node, std::uint64_t key) {
    for (Node* next = node->next; next != nullptr && next->low <= key; next = node->next) node = next;
    return node;
  }
  Node* nodeOf(std::uint64_t key, std::uint64_t level) {
    Node* node = right(pool_.root().top, key);
    while (node->level > level) {
      void* to = node->first;
      for (unsigned i = 0; i < kSlots; ++i) {
        void* next = node->record[i].to;
        if (next == nullptr) break;
        if (node->record[i].key <= key && node->counts(i)) to = next;
      }
      node = right(static_cast<Node*>(to), key);
    }
    return node;
  }

  // Records behind its place move to the right, the last one first. Durable but for the last store.
  Record* add(Node* node, std::uint64_t key, void* to) {
    goLeft(false);
    unsigned at = node->used();
    Record* record = node->record;
    if (at + 1 < kSlots && record[at + 1].to != nullptr) {
      record[at + 1].to.store(nullptr, std::memory_order_release);
      makeDurable(record[at + 1]);
    }
    for (; at > 0 && record[at - 1].key > key; --at) {
      record[at].to.store(record[at - 1].to, std::memory_order_release);
      record[at].key.store(record[at - 1].key, std::memory_order_release);
      if (!sameLine(&record[at], &record[at - 1])) makeDurable(record[at]);
    }
    record[at].to.store(node->before(at), std::memory_order_release);
    record[at].key.store(key, std::memory_order_release);
    record[at].to.store(to, std::memory_order_release);
    return &record[at];
  }

  // Records behind one that does not count move to the left.
  void closeGap(Node* node, unsigned at) {
    for (; node->record[at].to != nullptr; ++at) {
      Record &to = node->record[at], &from = node->record[at + 1];
      to.key.store(from.key, std::memory_order_release);
      to.to.store(from.to, std::memory_order_release);
#if BUG == 4
      // ID: the test is that of a move to the right, so the last record of a line is left out.
      if (at != 0 && !sameLine(&to, &node->record[at - 1])) makeDurable(to);
#else
      if (to.to == nullptr || !sameLine(&to, &from)) makeDurable(to);
#endif
    }
  }

  void split(Node* node) {
    constexpr unsigned kMiddle = kMost / 2;
    auto* sibling = pool_.take<Node>();
    sibling->level = node->level;
    sibling->low = node->record[kMiddle].key;
    unsigned from = kMiddle;
    if (node->level != 0) sibling->first = node->record[from++].to;
    for (unsigned i = from; i < kMost; ++i) {
      sibling->record[i - from].key.store(node->record[i].key);
      sibling->record[i - from].to.store(node->record[i].to);
    }
    sibling->next.store(node->next);
    makeDurable(*sibling);
    node->next.store(sibling, std::memory_order_release);
    makeDurable(node->next);
    node->record[kMiddle].to.store(nullptr, std::memory_order_release);
    makeDurable(node->record[kMiddle]);
    Node* top = pool_.root().top;
    if (top->level == node->level) {
      // Its left neighbours are reached from the leftmost one.
      auto* above = pool_.take<Node>();
      above->level = node->level + 1;
      above->first = top;
      add(above, sibling->low, sibling);
      makeDurable(*above);
      pool_.root().top.store(above, std::memory_order_release);
      makeDurable(pool_.root());
      return;
    }
    Node* parent = nodeOf(sibling->low, node->level + 1);
    if (parent->used() == kMost) {
      split(parent);
      parent = nodeOf(sibling->low, node->level + 1);
    }
    makeDurable(*add(parent, sibling->low, sibling));
  }

  // What was in the middle of a move.
  void recover() {
    for (Node* leftmost = pool_.root().top;; leftmost = static_cast<Node*>(leftmost->first)) {
      for (Node* node = leftmost; node != nullptr; node = node->next) {
        for (unsigned at = 0; node->record[at].to != nullptr;)
          if (node->counts(at))
            ++at;
          else
            closeGap(node, at);
        // A split that had linked the sibling, and not yet taken its records away here.
        for (unsigned at = 0; node->next != nullptr && node->record[at].to != nullptr; ++at)
          if (node->record[at].key >= node->next.load()->low) {
            node->record[at].to.store(nullptr);
            makeDurable(node->record[at]);
            break;
          }
      }
      if (leftmost->level == 0) return;
    }
  }

  static thread_local Cell* found_;
  SharedPool<Root> pool_;
  std::mutex change_;
  std::atomic<std::uint64_t> mode_{0};
};
thread_local Cell* Tree::found_ = nullptr;

}  // namespace

BLACKOUT_MAP(Tree)
