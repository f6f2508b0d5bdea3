// Transactions with a redo log: a sorted doubly linked list over a fixed set of cells, whose inserts and removes
// change up to eight words at once.
//
// A transaction collects its writes in volatile memory. To commit, they are written to the log and made durable, then
// their number is: that store is the commit. Only then are they applied in place, and when they are durable there, the
// number goes back to 0. A restart that finds a number applies the log again, which may be repeated any number of
// times.
#include <optional>
#include <vector>

#include "blackout/harness.hpp"
#include "pm.h"
#include "steps.hpp"

namespace {

constexpr std::uint64_t Magic = 0x676f6c6f646572;
#ifdef CORPUS_LARGE
constexpr std::size_t Cells = 1024;
#else
constexpr std::size_t Cells = 64;
#endif
constexpr std::size_t DefaultOperations = 8;

struct Cell {
  std::uint64_t key;
  std::uint64_t next;  // numbers of cells; cell 0 is the end of the list on both sides
  std::uint64_t previous;
  std::uint64_t value;
};

struct Entry {
  std::uint64_t* place;
  std::uint64_t value;
};

struct Pool {
  std::uint64_t magic;
  alignas(PM_LINE) std::uint64_t committed;  // entries of the log that are to be applied
  alignas(PM_LINE) Entry log[8];
  alignas(PM_LINE) std::uint64_t size;
  std::uint64_t free;  // first of the cells that are not in the list, by `next`; 0: none
  alignas(PM_LINE) Cell cells[Cells];
};

class Transaction {
 public:
  explicit Transaction(Pool& pool) : pool_(pool) {}

  void write(std::uint64_t& place, std::uint64_t value) { writes_.push_back({&place, value}); }

  void commit() {
    pm_expect(writes_.size() <= std::size(pool_.log), "a transaction fits in the log");
#if BUG == 1
    // SEM, the commit is durable before the entries are: a restart applies what an earlier transaction left there.
    publishCommit(writes_.size());
#endif
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      pool_.log[i].place = writes_[i].place;  // @LOST 1, @LOST 4, @LOST 5
      pool_.log[i].value = writes_[i].value;  // @LOST 1, @LOST 4, @LOST 5
#if BUG == 3
      // ATOM, the number grows with each entry: a restart after a crash in between applies half a transaction.
      pm_persist(&pool_.log[i], sizeof(Entry));
      publishCommit(i + 1);
#endif
    }
#if BUG == 5
    // ID, the length in entries where one in bytes is wanted: only the first line of the log is flushed.
    pm_persist(pool_.log, writes_.size());
#elif BUG == 4
    // ID, no fence between the flush of the entries and the commit.
    pm_flush(pool_.log, writes_.size() * sizeof(Entry));
#elif BUG != 3
    pm_persist(pool_.log, writes_.size() * sizeof(Entry));
#endif
#if BUG != 1 && BUG != 3
    publishCommit(writes_.size());
#endif
    apply(pool_);
  }

  // What commit and restart have in common: brings the log in place and makes it empty.
  static void apply(Pool& pool) {
    std::uint64_t entries = pool.committed;
#if BUG == 2
    // SEM, the log is emptied before what it says is durable in place.
    truncate(pool);
#endif
    for (std::uint64_t i = 0; i < entries; ++i) {
      *pool.log[i].place = pool.log[i].value;  // @LOST 2
      pm_flush(pool.log[i].place, sizeof(std::uint64_t));
    }
    pm_fence();
#if BUG != 2
    truncate(pool);
#endif
  }

 private:
  void publishCommit(std::uint64_t entries) {
    PM_PUBLISH(pool_.committed, entries);  // @LOST 3
    pm_persist(&pool_.committed, sizeof pool_.committed);
  }

  static void truncate(Pool& pool) {
    PM_PUBLISH(pool.committed, 0);
    pm_persist(&pool.committed, sizeof pool.committed);
  }

  Pool& pool_;
  std::vector<Entry> writes_;
};

class List {
 public:
  // What the workload has reached, so that one that no longer does fails: both changes of the list, by where the
  // cell is, and updates.
  enum Where : unsigned { First = 1, Between = 2, Last = 4, Everywhere = 7 };
  struct Reached {
    unsigned inserted, removed, updated;
  };
  Reached reached = {};

  List(const char* path, bool anew) : pool_(*static_cast<Pool*>(pm_map(path, sizeof(Pool)))) {
    if (pool_.magic != Magic || anew)
      create();
    else if (pool_.committed > 0)
      Transaction::apply(pool_);
  }

  void put(std::uint64_t key, std::uint64_t value) {
    Transaction tx(pool_);
    std::uint64_t next = lowerBound(key);
    if (next != 0 && pool_.cells[next].key == key) {
      tx.write(pool_.cells[next].value, value);
      ++reached.updated;
    } else {
      std::uint64_t cell = pool_.free, previous = pool_.cells[next].previous;
      if (cell == 0) pm_die("the list is full");
      reached.inserted |= where(previous, next);
      tx.write(pool_.free, pool_.cells[cell].next);
      tx.write(pool_.size, pool_.size + 1);
      tx.write(pool_.cells[cell].key, key);
      tx.write(pool_.cells[cell].next, next);
      tx.write(pool_.cells[cell].previous, previous);
      tx.write(pool_.cells[cell].value, value);
      tx.write(pool_.cells[previous].next, cell);
      tx.write(pool_.cells[next].previous, cell);
    }
    tx.commit();
  }

  void remove(std::uint64_t key) {
    std::uint64_t cell = lowerBound(key);
    if (cell == 0 || pool_.cells[cell].key != key) return;
    Transaction tx(pool_);
    std::uint64_t next = pool_.cells[cell].next, previous = pool_.cells[cell].previous;
    reached.removed |= where(previous, next);
    tx.write(pool_.cells[previous].next, next);
    tx.write(pool_.cells[next].previous, previous);
    tx.write(pool_.cells[cell].next, pool_.free);
    tx.write(pool_.free, cell);
    tx.write(pool_.size, pool_.size - 1);
    tx.commit();
  }

  // Everything in the list, checked on the way.
  Contents contents() const {
    Contents found;
    std::vector<bool> seen(Cells);
    auto see = [&](std::uint64_t cell) {
      pm_expect(cell < Cells && !seen[cell], "every cell is in the list or free, once");
      seen[cell] = true;
    };
    std::uint64_t previous = 0;
    for (std::uint64_t cell = pool_.cells[0].next; cell != 0; cell = pool_.cells[cell].next) {
      see(cell);
      pm_expect(pool_.cells[cell].previous == previous, "each cell is the previous one of its next");
      pm_expect(previous == 0 || pool_.cells[previous].key < pool_.cells[cell].key, "the keys ascend");
      found[pool_.cells[cell].key] = pool_.cells[cell].value;
      previous = cell;
    }
    pm_expect(pool_.cells[0].previous == previous, "the list ends with its last cell");
    pm_expect(pool_.size == found.size(), "the size is the number of cells in the list");
    std::uint64_t cells = found.size() + 1;
    for (std::uint64_t cell = pool_.free; cell != 0; cell = pool_.cells[cell].next, ++cells) see(cell);
    pm_expect(cells == Cells, "no cell is lost");
    return found;
  }

 private:
  void create() {
    if (pool_.magic != 0) {
      PM_PUBLISH(pool_.magic, 0);
      pm_persist(&pool_.magic, sizeof pool_.magic);
    }
    pool_.committed = 0;
    pool_.size = 0;
    pool_.free = 1;
    pool_.cells[0].next = pool_.cells[0].previous = 0;
    for (std::uint64_t cell = 1; cell < Cells; ++cell) pool_.cells[cell].next = (cell + 1) % Cells;
    pm_flush(&pool_.committed, sizeof pool_.committed);
    pm_flush(&pool_.size, sizeof pool_.size);  // and the first free cell
    pm_persist(pool_.cells, sizeof pool_.cells);
    PM_PUBLISH(pool_.magic, Magic);
    pm_persist(&pool_.magic, sizeof pool_.magic);
  }

  static unsigned where(std::uint64_t previous, std::uint64_t next) {
    if (previous != 0 && next != 0) return Between;
    return (previous == 0 ? First : 0u) | (next == 0 ? Last : 0u);
  }

  // The first cell with a key that is not smaller, or the end.
  std::uint64_t lowerBound(std::uint64_t key) const {
    std::uint64_t cell = pool_.cells[0].next;
    while (cell != 0 && pool_.cells[cell].key < key) cell = pool_.cells[cell].next;
    return cell;
  }

  Pool& pool_;
};

// Rounds that insert at both ends and between, update, and remove at both ends and between.
std::vector<Step> workload(std::size_t operations) {
  std::vector<Step> steps;
  auto put = [&](std::uint64_t key) { steps.push_back({Step::Put, key, steps.size() + 1}); };
  auto remove = [&](std::uint64_t key) { steps.push_back({Step::Remove, key, 0}); };
  while (steps.size() < operations) {
    put(30), put(10), put(20), put(10);
    remove(20), put(25), remove(10), remove(30);
  }
  steps.resize(operations);
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: redolog POOL [OPERATIONS]");
  std::vector<Step> steps = workload(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : DefaultOperations);
  std::optional<List> list;
  auto operations = [&] {
    runSteps(steps, *list);
    if (steps.size() < DefaultOperations) return;
    pm_expect(list->reached.inserted == List::Everywhere, "inserts at both ends and between are reached");
    pm_expect(list->reached.removed == List::Everywhere, "removes at both ends and between are reached");
    pm_expect(list->reached.updated > 0, "updates are reached");
  };
  return blackout_test([&] { list.emplace(argv[1], true); }, operations, [&] { list.emplace(argv[1], false); },
                       [&] { expectStepsDone(steps, list->contents()); });
}
