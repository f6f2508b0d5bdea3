// A crit-bit tree: inserts and removes are undo transactions, updates are redo transactions (tx.h).
//
//   tx_ctree POOL [OPERATIONS]
//
// An inner node has the number of the highest bit in which the keys below it differ, and a slot for each value of
// that bit; a slot is empty or leads to a leaf or, with its lowest bit set, to an inner node. An insert puts
// a new inner node where the bit belongs, a remove takes the leaf and the node above it. Every leaf counts its updates,
// and the map counts those of all its leaves.
//
// BUG=1..10 each bring in one mistake.
#include <iterator>

#include "steps.hpp"
#include "tx.h"

namespace {

using Slot = uint64_t;

struct Leaf {
  uint64_t key;
  uint64_t value;
  uint64_t updates;
};

struct Inner {
  uint64_t bit;  // of the key, that chooses the slot
  Slot slot[2];
};

struct Map {
  Slot root;
  uint64_t count;
  uint64_t updates;  // of the leaves that are there
};

bool isInner(Slot slot) { return slot & 1; }
Inner* innerOf(Slot slot) { return reinterpret_cast<Inner*>(slot - 1); }
Leaf* leafOf(Slot slot) { return reinterpret_cast<Leaf*>(slot); }
unsigned branch(uint64_t key, const Inner* inner) { return key >> inner->bit & 1; }

// What the workload has reached; volatile memory.
struct {
  unsigned firsts, rootInserts, innerInserts, updates, secondUpdates, rootRemoves, innerRemoves, updatedRemoves, lasts,
      aborts;
} reached;

class CTree {
 public:
  void open(const char* path) {
    pool_ = tx_open(path);
    if (!pool_->root) create();
    map_ = static_cast<Map*>(pool_->root);
  }

  void put(uint64_t key, uint64_t value) {
    Leaf* near = map_->root ? closest(key) : nullptr;
    if (near && near->key == key) return update(near, value);

    tx_begin();
    auto* leaf = static_cast<Leaf*>(tx_alloc(sizeof(Leaf)));
    leaf->key = key;
    leaf->value = value;
    if (!near) {
      ++reached.firsts;
#if BUG == 1
      // RACE, not added: the first leaf goes into the root's slot outside of the log. The slot shares its line with the
      // count and is flushed with it, but it is not put back.
#else
      tx_add(&map_->root, sizeof map_->root);
#endif
      map_->root = reinterpret_cast<Slot>(leaf);  // @LOST 1
    } else {
      const uint64_t bit = 63 - unsigned(__builtin_clzll(near->key ^ key));
      Slot* place = &map_->root;
      while (isInner(*place) && innerOf(*place)->bit > bit)
        place = &innerOf(*place)->slot[branch(key, innerOf(*place))];
      ++(place == &map_->root ? reached.rootInserts : reached.innerInserts);
      auto* inner = static_cast<Inner*>(tx_alloc(sizeof(Inner)));
      inner->bit = bit;
      inner->slot[branch(key, inner)] = reinterpret_cast<Slot>(leaf);
      inner->slot[1 - branch(key, inner)] = *place;
#if BUG == 2
      // RACE, not added: the slot that leads to the new node. Put back, the tree leads to a node that was never made.
#elif BUG == 3
      // RACE, added after the change: the log keeps the new contents of the slot as the old ones.
      *place = reinterpret_cast<Slot>(inner) | 1;  // @LOST 3
      tx_add(place, sizeof *place);
#else
      tx_add(place, sizeof *place);
#endif
      *place = reinterpret_cast<Slot>(inner) | 1;  // @LOST 2, @LOST 3
    }
#if BUG == 4
    // RACE, not added: the number of leaves. An insert that is put back leaves it one too high.
#else
    tx_add(&map_->count, sizeof map_->count);
#endif
#if BUG == 9
    // PERF, added twice: the number of leaves is in the log already.
    tx_add(&map_->count, sizeof map_->count);  // @LOST 9
#endif
    ++map_->count;  // @LOST 4
    tx_commit();
  }

  void remove(uint64_t key) {
    tx_begin();
    tx_add(&map_->count, 2 * sizeof(uint64_t));  // and updates
    --map_->count;
    Slot* place = &map_->root;  // of the leaf
    Slot* above = nullptr;      // of the inner node above it
    while (isInner(*place)) {
      above = place;
      place = &innerOf(*place)->slot[branch(key, innerOf(*place))];
    }
    Leaf* leaf = leafOf(*place);
    if (!leaf || leaf->key != key) {
      ++reached.aborts;
      tx_abort();
      return;
    }
#if BUG == 10
    // PERF, added and not written: the leaf is only freed.
    tx_add(leaf, sizeof *leaf);  // @LOST 10
#endif
    reached.updatedRemoves += leaf->updates > 0;
    map_->updates -= leaf->updates;
    if (above) {
      ++(above == &map_->root ? reached.rootRemoves : reached.innerRemoves);
      Inner* inner = innerOf(*above);
#if BUG == 5
      // RACE, not added: the slot that leads past the removed node. Put back, the leaf is allocated and lost.
#else
      tx_add(above, sizeof *above);
#endif
      *above = inner->slot[1 - branch(key, inner)];  // @LOST 5
      tx_free(inner, sizeof *inner);
    } else {
      ++reached.lasts;
#if BUG == 6
      // RACE, not added: the root's slot when the last leaf goes.
#else
      tx_add(&map_->root, sizeof map_->root);
#endif
      map_->root = 0;  // @LOST 6
    }
    tx_free(leaf, sizeof *leaf);
    tx_commit();
  }

  const uint64_t* get(uint64_t key) const {
    const Leaf* leaf = map_->root ? closest(key) : nullptr;
    return leaf && leaf->key == key ? &leaf->value : nullptr;
  }

  // Walks everything, checks that it is a crit-bit tree, and returns what is in it.
  Contents contents() const {
    Contents found;
    unsigned lines = tx_lines(sizeof(Map));
    uint64_t updates = 0;
    pm_expect(tx_is_allocated(map_, sizeof *map_), "the map is allocated");
    if (map_->root) walk(map_->root, 64, found, lines, updates);
    pm_expect(found.size() == map_->count, "the leaves are as many as counted");
    pm_expect(updates == map_->updates, "the updates of all leaves are as many as counted");
    pm_expect(lines == tx_allocated_lines(), "nothing else is allocated");
    return found;
  }

 private:
  void create() {
    tx_begin();
    tx_add(&pool_->root, sizeof pool_->root);
    pool_->root = tx_alloc(sizeof(Map));
    tx_commit();
  }

  // The leaf that has the key if one has.
  Leaf* closest(uint64_t key) const {
    Slot slot = map_->root;
    while (isInner(slot)) slot = innerOf(slot)->slot[branch(key, innerOf(slot))];
    return leafOf(slot);
  }

  void update(Leaf* leaf, uint64_t value) {
    ++reached.updates;
    reached.secondUpdates += leaf->updates > 0;
    tx_redo_set(&leaf->value, value);
#if BUG == 7
    // RACE, changed in place: the leaf's number of updates before the others are committed. A crash leaves it too high.
    ++leaf->updates;  // @LOST 7
    pm_flush(&leaf->updates, sizeof leaf->updates);
#else
    tx_redo_set(&leaf->updates, leaf->updates + 1);
#endif
#if BUG == 8
    // RACE, changed in place: the map's number of updates, after the others are committed, and not flushed.
    tx_redo_commit();
    ++map_->updates;  // @LOST 8
#else
    tx_redo_set(&map_->updates, map_->updates + 1);
    tx_redo_commit();
#endif
  }

  static void walk(Slot slot, uint64_t bit, Contents& found, unsigned& lines, uint64_t& updates) {
    if (isInner(slot)) {
      const Inner* inner = innerOf(slot);
      pm_expect(tx_is_allocated(inner, sizeof *inner), "what is reachable is allocated");
      lines += tx_lines(sizeof *inner);
      pm_expect(inner->bit < bit, "bits go down");
      for (unsigned i = 0; i < 2; ++i) {
        pm_expect(inner->slot[i] != 0, "every inner node has two children");
        Contents below;
        walk(inner->slot[i], inner->bit, below, lines, updates);
        for (const auto& [key, value] : below) {
          pm_expect(branch(key, inner) == i, "every key is on its side");
          pm_expect((key ^ below.begin()->first) >> inner->bit == 0, "keys below a node differ in lower bits only");
          pm_expect(found.emplace(key, value).second, "no key is there twice");
        }
      }
    } else {
      const Leaf* leaf = leafOf(slot);
      pm_expect(tx_is_allocated(leaf, sizeof *leaf), "what is reachable is allocated");
      lines += tx_lines(sizeof *leaf);
      updates += leaf->updates;
      found.emplace(leaf->key, leaf->value);
    }
  }

  tx_pool* pool_ = nullptr;
  Map* map_ = nullptr;
};

// See stepsOf().
constexpr int kSteps[] = {5, 14, 5, 9, -10, 5, -9, -5, -14};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: tx_ctree POOL [OPERATIONS]");
  const std::vector<Step> steps = stepsOf(kSteps, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size(kSteps));
  CTree tree;
  auto setup = [&] { tree.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, tree);
    if (steps.size() >= std::size(kSteps))
      pm_expect(reached.firsts && reached.rootInserts && reached.innerInserts && reached.updates &&
                    reached.secondUpdates && reached.rootRemoves && reached.innerRemoves && reached.updatedRemoves &&
                    reached.lasts && reached.aborts,
                "the workload reaches everything");
  };
  auto recover = [&] { tree.open(argv[1]); };
  auto verify = [&] {
    const Contents found = tree.contents();
    for (const auto& [key, value] : found) {
      const uint64_t* got = tree.get(key);
      pm_expect(got && *got == value, "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(setup, operations, recover, verify);
}
