// Random small heaps: words of roots and objects are stored at random, so that objects are filled, linked, unlinked and
// used again. A direct model asks after every store what the roots lead to.
#include <rapidcheck.h>

#include <array>
#include <optional>
#include <set>

#include "commits_program.h"
#include "infer/likely_commits.h"
#include "infer/publication.h"

namespace blackout::test {
namespace {

constexpr unsigned kObjects = 6, kWords = 4, kRoots = 3;
constexpr std::uint64_t kHeap = 0x4000;

struct Step {
  unsigned object = 0;  // kObjects: a root
  unsigned word = 0;
  unsigned to = 0;   // kObjects: to none
  unsigned tag = 0;  // of a pointer; the number if it is none
  bool narrow = false;
  bool locked = false;
};

void showValue(const Step& s, std::ostream& out) {
  out << (s.object == kObjects ? "root" : "object " + std::to_string(s.object)) << "." << s.word << " = "
      << (s.to == kObjects ? "number" : "to " + std::to_string(s.to)) << " tag " << s.tag << (s.narrow ? " narrow" : "")
      << (s.locked ? " locked" : "");
}

rc::Gen<Step> steps() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::object, rc::gen::weightedOneOf<unsigned>(
                                      {{2, rc::gen::inRange(0u, kObjects)}, {1, rc::gen::just(kObjects)}})),
      rc::gen::set(&Step::word, rc::gen::inRange(0u, kWords)),
      rc::gen::set(&Step::to, rc::gen::inRange(0u, kObjects + 1)), rc::gen::set(&Step::tag, rc::gen::inRange(0u, 8u)),
      rc::gen::set(&Step::narrow, rc::gen::weightedElement<bool>({{5, false}, {1, true}})),
      rc::gen::set(&Step::locked, rc::gen::weightedElement<bool>({{5, false}, {1, true}})));
}

struct Heap {
  explicit Heap(std::uint64_t bytes) : stride(bytes) {}

  std::uint64_t stride;  // bytes from object to object

  std::uint64_t addressOf(unsigned object, unsigned word) const {
    // The roots are partly in the first line and partly far behind.
    if (object == kObjects) return word == 0 ? 0x10 : 0x9000 + word * 256;
    return kHeap + object * stride + word * 8;
  }

  std::array<std::array<std::uint64_t, kWords>, kObjects + 1> words{};
  std::set<unsigned> ever;  // objects that something ever led to

  unsigned targetOf(std::uint64_t value) const {
    const std::uint64_t address = value & 0x0000fffffffffff8;
    for (unsigned o = 0; o < kObjects; ++o)
      if (address == CommitsProgram::pointer(addressOf(o, 0))) return o;
    return kObjects;
  }

  std::set<unsigned> reached(const std::set<unsigned>& roots) const {
    std::vector<unsigned> work(roots.begin(), roots.end());
    std::set<unsigned> seen;
    while (!work.empty()) {
      const unsigned o = work.back();
      work.pop_back();
      if (!seen.insert(o).second) continue;
      for (std::uint64_t value : words[o])
        if (unsigned t = targetOf(value); t != kObjects) work.push_back(t);
    }
    return seen;
  }
};

struct Run {
  CommitsProgram program;
  struct Done {
    std::optional<EventNo> store;  // none: the end
    unsigned object;
    std::set<unsigned> reachedBefore;
  };
  std::vector<Done> done;
  std::vector<EventNo> initialising;  // by the tool

  // Objects that nothing ever leads to are roots, too, if asked for.
  Run(std::vector<Step> all, std::uint64_t stride, bool acyclic, bool lonelyAreRoots) {
    Heap heap(stride);
    if (acyclic)
      for (Step& s : all)
        if (s.object != kObjects && s.to <= s.object) s.to = kObjects;
    for (Step& s : all) {
      if (s.object == kObjects) s.word %= kRoots;
      if (s.to != kObjects && !s.narrow) heap.ever.insert(s.to);
    }
    std::set<unsigned> roots = {kObjects};
    for (unsigned o = 0; lonelyAreRoots && o < kObjects; ++o)
      if (!heap.ever.contains(o)) roots.insert(o);
    for (const Step& s : all) {
      const std::set<unsigned> before = heap.reached(roots);
      std::uint64_t& word = heap.words[s.object][s.word];
      const std::uint64_t address = heap.addressOf(s.object, s.word);
      const EventKind kind = s.locked ? EventKind::Rmw : EventKind::Store;
      EventNo store = 0;
      if (s.narrow) {
        // A tag in the highest byte: what the word leads to stays.
        word = (word & ~(std::uint64_t{0xff} << 56)) | std::uint64_t{s.tag} << 56;
        store = program.store(address + 7, s.tag, 1, {}, kind);
      } else {
        word = s.to == kObjects ? s.tag : CommitsProgram::pointer(heap.addressOf(s.to, 0)) | s.tag;
        store = program.store(address, word, 8, {}, kind);
      }
      done.push_back({store, s.object, before});
    }
    done.push_back({std::nullopt, kObjects, heap.reached(roots)});
    initialising = initialisingStores(program.trace());
  }
};

const std::size_t kMaxSteps = 60;
rc::Gen<std::vector<Step>> programs() {
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, kMaxSteps),
                         [](std::size_t n) { return rc::gen::container<std::vector<Step>>(n, steps()); });
}

// Objects apart from each other, and no rings: exactly the stores to what nothing led to and something did later.
void agreesWithTheModel() {
  const Run run(*programs(), 256, true, true);
  std::vector<EventNo> expected;
  std::set<unsigned> later;
  for (std::size_t i = run.done.size(); i-- > 0;) {
    const Run::Done& d = run.done[i];
    if (d.store && !d.reachedBefore.contains(d.object) && later.contains(d.object)) expected.push_back(*d.store);
    later.insert(d.reachedBefore.begin(), d.reachedBefore.end());
  }
  std::reverse(expected.begin(), expected.end());
  RC_CLASSIFY(!expected.empty());
  RC_ASSERT(run.initialising == expected);
}

// Neighbours and rings: never a store to what can be reached.
void leavesOutNothingReachable() {
  const std::uint64_t stride = *rc::gen::element<std::uint64_t>(kWords * 8, 64, 96, 256);
  const Run run(*programs(), stride, false, false);
  std::set<EventNo> reachable;
  for (const Run::Done& d : run.done)
    if (d.store && d.reachedBefore.contains(d.object)) reachable.insert(*d.store);
  for (EventNo n : run.initialising) RC_ASSERT(!reachable.contains(n));
  RC_CLASSIFY(!run.initialising.empty());
}

// The rules are applied independently of each other: the counts fit the stores one by one.
void countsFit() {
  std::vector<Step> all = *programs();
  const unsigned guardian = *rc::gen::inRange(0u, kWords);
  Run run(all, 64, false, false);
  Heap heap(64);
  for (unsigned o = 0; o < kObjects; ++o) run.program.test("Node.word", heap.addressOf(o, guardian));
  const Trace& trace = run.program.trace();
  const LikelyCommits found = likelyCommits(trace, accessesOf(CommitsProgram::guardians({"Node.word"})));
  std::vector<LikelyCommit> expected;
  std::uint64_t to = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const EventNo store = run.done[i].store.value();
    const bool hits = all[i].object != kObjects && all[i].word == guardian;
    to += hits || all[i].locked;
    if ((hits || all[i].locked) && !std::binary_search(run.initialising.begin(), run.initialising.end(), store))
      expected.push_back({store, hits ? "Node.word" : "", all[i].locked});
  }
  RC_ASSERT(found.commits == expected);
  RC_ASSERT(found.stores == all.size());
  RC_ASSERT(found.toGuardians.size() == to);
  RC_ASSERT(found.published.size() == all.size() - run.initialising.size());
}

}  // namespace
}  // namespace blackout::test

int main() {
  using namespace blackout::test;
  bool ok = rc::check("stores to what is published later, and no others", agreesWithTheModel);
  ok = rc::check("no store to anything reachable", leavesOutNothingReachable) && ok;
  ok = rc::check("the counts of the rules", countsFit) && ok;
  return ok ? 0 : 1;
}
