// Pages behind a mapping table, changed by deltas, after the Bw-tree: a page is a chain of deltas before a base with
// sorted entries. A change puts a delta, durable, before the chain by a compare-and-swap of the table's entry; a chain
// of four is replaced by a new base in the same way. What is replaced is collected: its memory is used again, which a
// restart knows by what it reaches from the table.
//
// Used by one thread here. BUG=1..4 each bring in one mistake.
#include <blackout/lin.hpp>
#include <map>

#include "line_heap.hpp"

namespace {

constexpr std::uint64_t kMagic = 0x64656c7461;
constexpr std::size_t kPoolSize = std::size_t{1} << 20;
#ifdef CORPUS_LARGE
constexpr unsigned kPages = 2, kChain = 4, kEntries = 500;
#else
constexpr unsigned kPages = 2, kChain = 4, kEntries = 30;
#endif

struct alignas(PM_LINE) Block {
  Block* next;          // of a delta: what it changes; of a base: none
  std::uint64_t count;  // of entries; of a delta 1
  struct Entry {
    std::uint64_t key;
    std::uint64_t value;  // 0: removed
  } entry[];
};
std::size_t bytesOf(std::uint64_t count) { return offsetof(Block, entry) + count * sizeof(Block::Entry); }

struct alignas(PM_LINE) Pool {
  std::uint64_t magic;  // written last
  alignas(PM_LINE) Block* page[kPages];
};

class Tree {
 public:
  static Tree* open(const char* path) { return new Tree(path); }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    for (const Block* b = pool_->page[key % kPages]; b != nullptr; b = b->next)
      for (std::uint64_t i = 0; i < b->count; ++i)
        if (b->entry[i].key == key) return b->entry[i].value == 0 ? std::nullopt : std::optional(b->entry[i].value);
    return std::nullopt;
  }
  bool insert(std::uint64_t key, std::uint64_t value) { return !get(key) && change(key, value); }
  bool update(std::uint64_t key, std::uint64_t value) { return get(key) && change(key, value); }
  bool remove(std::uint64_t key) { return get(key) && change(key, 0); }

 private:
  explicit Tree(const char* path)
      : pool_(static_cast<Pool*>(pm_map(path, kPoolSize))), heap_(pool_ + 1, kPoolSize - sizeof(Pool)) {
    if (pool_->magic != kMagic) {
      for (Block*& page : pool_->page) page = nullptr;
      pm_persist(pool_->page, sizeof pool_->page);
      PM_PUBLISH(pool_->magic, kMagic);
      pm_persist(&pool_->magic, sizeof pool_->magic);
    }
    for (const Block* page : pool_->page)
      for (const Block* b = page; b != nullptr; b = b->next) heap_.mark(b, bytesOf(b->count));
  }

  bool change(std::uint64_t key, std::uint64_t value) {
    Block*& page = pool_->page[key % kPages];
    auto* delta = static_cast<Block*>(heap_.allocate(bytesOf(1)));
    delta->next = page;              // @LOST 1
    delta->count = 1;                // @LOST 1
    delta->entry[0] = {key, value};  // @LOST 1
#if BUG == 1
    // ID, missing fence: the delta is being written back when the table leads to it (rmw-fences=off).
    pm_flush(delta, bytesOf(1));
#else
    pm_persist(delta, bytesOf(1));
#endif
    swing(page, delta);
    unsigned length = 0;
    for (const Block* b = page; b != nullptr; b = b->next) ++length;
    if (length > kChain) consolidate(page);
    return true;
  }

  void consolidate(Block*& page) {
    std::map<std::uint64_t, std::uint64_t> entries;
    for (const Block* b = page; b != nullptr; b = b->next)
      for (std::uint64_t i = 0; i < b->count; ++i) entries.emplace(b->entry[i].key, b->entry[i].value);
    std::uint64_t count = 0;
    for (auto [key, value] : entries) count += value != 0;
    if (count > kEntries) pm_die("the page is full");
    Block* old = page;
#if BUG == 3
    // UD, collected too soon: the chain's memory is used for its own base. A crash before the table leads there leaves
    // a chain that is overwritten.
    collect(old);
#endif
    auto* base = static_cast<Block*>(heap_.allocate(bytesOf(count)));
    base->next = nullptr;  // @LOST 2 @LOST 3
    base->count = count;   // @LOST 2 @LOST 3
    std::uint64_t at = 0;
    for (auto [key, value] : entries)
      if (value != 0) base->entry[at++] = {key, value};  // @LOST 2 @LOST 3
#if BUG == 2
    // ID, missing flush: only the first line of the base is flushed.
    pm_persist(base, PM_LINE);
#else
    pm_persist(base, bytesOf(count));
#endif
    swing(page, base);
#if BUG != 3
    collect(old);
#endif
  }

  // In volatile memory only: what nothing leads to is free.
  void collect(const Block* chain) {
    for (const Block *b = chain, *next = nullptr; b != nullptr; b = next) {
      next = b->next;
      heap_.free(b, bytesOf(b->count));
    }
  }

  static void swing(Block*& page, Block* to) {
    Block* from = page;
    if (!__atomic_compare_exchange_n(&page, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))  // @LOST 4
      pm_die("somebody else was here");
    blackout_lp();
#if BUG == 4
    // ID, missing flush: the table stays in the caches. What has returned is lost.
    (void)page;
#else
    pm_persist(&page, sizeof page);
#endif
  }

  Pool* pool_;
  LineHeap heap_;
};

}  // namespace

BLACKOUT_MAP(Tree)
