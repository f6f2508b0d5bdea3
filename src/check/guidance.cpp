#include "check/guidance.h"

#include <algorithm>
#include <deque>
#include <set>
#include <sstream>
#include <utility>

namespace blackout {

namespace {

// Every so often a list is one of the generator's.
constexpr std::uint64_t kGeneratedEvery = 6;
// Runs that one list may be shrunk by.
constexpr std::uint64_t kRunsToShrink = 48;
constexpr std::uint64_t kFirstValue = 1000;

using Elements = std::set<std::uint64_t>;

bool hasAll(const std::vector<std::uint64_t>& sorted, const std::vector<std::uint64_t>& wanted) {
  return std::includes(sorted.begin(), sorted.end(), wanted.begin(), wanted.end());
}

std::vector<std::uint64_t> without(const std::vector<std::uint64_t>& v, const Elements& known) {
  std::vector<std::uint64_t> fresh;
  for (std::uint64_t one : v)
    if (!known.contains(one)) fresh.push_back(one);
  return fresh;
}

// Changes lists of operations of which it knows names and numbers of arguments alone: the first argument is a key,
// unless it is the value.
class Changes {
 public:
  Changes(const GuidanceOptions& options, std::size_t longest)
      : random_(options.seed), value_(options.value), longest_(longest) {}

  void learn(const OperationList& list) {
    for (const lin::Step& s : list) forms_.insert({s.name, s.arguments.size()});
  }

  OperationList changed(OperationList list, const OperationList& other) {
    for (std::uint64_t n = 1 + random_.below(3); n-- != 0;) change(list, other);
    if (list.size() > longest_) list.resize(longest_);
    if (value_)
      for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].arguments.size() > *value_) list[i].arguments[*value_] = kFirstValue + i;
    return list;
  }

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }

 private:
  bool hasKey(const lin::Step& s) const { return !s.arguments.empty() && value_ != std::size_t{0}; }
  // A run of operations, not empty.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> part(const OperationList& list) {
    std::uint64_t begin = below(list.size());
    return {static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(begin + 1 + below(list.size() - begin))};
  }
  auto anywhere(OperationList& list) { return list.begin() + static_cast<std::ptrdiff_t>(below(list.size() + 1)); }

  void change(OperationList& list, const OperationList& other) {
    if (list.empty()) {
      list = other;
      return;
    }
    switch (below(6)) {
      case 0:
        return repeat(list);
      case 1:
        return again(list);
      case 2: {
        // The beginning of one, the end of the other.
        list.resize(1 + below(list.size()));
        if (!other.empty())
          list.insert(list.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
        return;
      }
      case 3: {
        auto [from, to] = part(list);
        if (static_cast<std::size_t>(to - from) < list.size()) list.erase(list.begin() + from, list.begin() + to);
        return;
      }
      case 4: {
        auto [from, to] = part(list);
        OperationList copy(list.begin() + from, list.begin() + to);
        list.insert(anywhere(list), copy.begin(), copy.end());
        return;
      }
      default: {
        lin::Step& s = list[below(list.size())];
        if (hasKey(s)) s.arguments[0] = otherKey(s.arguments[0], other.empty() ? list : other);
      }
    }
  }

  // One operation many times, with keys side by side or a power of two apart: a node that fills, buckets that collide.
  void repeat(OperationList& list) {
    std::size_t at = below(list.size());
    lin::Step step = list[at];
    const std::uint64_t apart = std::uint64_t{1} << below(12);
    OperationList copies;
    for (std::uint64_t n = std::uint64_t{2} << below(5); n-- != 0;) {
      if (hasKey(step)) step.arguments[0] += apart;
      copies.push_back(step);
    }
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, copies.begin(), copies.end());
  }

  // Another operation on the keys of a part, in its order: all that was inserted is removed, say.
  void again(OperationList& list) {
    auto form = forms_.begin();
    std::advance(form, below(forms_.size()));
    auto [from, to] = part(list);
    OperationList copies;
    for (std::ptrdiff_t i = from; i < to; ++i) {
      lin::Step step{form->first, std::vector<std::uint64_t>(form->second)};
      const lin::Step& old = list[static_cast<std::size_t>(i)];
      if (hasKey(step) && hasKey(old)) step.arguments[0] = old.arguments[0];
      copies.push_back(std::move(step));
    }
    auto at = below(2) == 0 ? list.begin() + to : list.end();
    list.insert(at, copies.begin(), copies.end());
  }

  std::uint64_t otherKey(std::uint64_t key, const OperationList& from) {
    switch (below(3)) {
      case 0: {
        const lin::Step& s = from[below(from.size())];
        return hasKey(s) ? s.arguments[0] : key;
      }
      case 1:
        return key + 1;
      default:
        return key ^ std::uint64_t{1} << below(20);
    }
  }

  lin::Random random_;
  std::optional<std::size_t> value_;
  std::size_t longest_;
  std::set<std::pair<std::string, std::size_t>> forms_;
};

class Guide {
 public:
  Guide(const Attempt& first, ListRunner& runner, const GuidanceOptions& options)
      : runner_(runner), o_(options), changes_(options, longest(first, options)) {
    take(first);
    cover(first);
    texts_.insert(textOf(first.list));
  }

  Result<Guided> search(const std::vector<OperationList>& known) {
    for (const OperationList& list : known) {
      if (!texts_.insert(textOf(list)).second) continue;
      auto attempt = run(list);
      if (!attempt) return tl::unexpected(attempt.error());
      if (!*attempt) continue;
      take(**attempt);
      cover(**attempt);
      out_.known.push_back(std::move(**attempt));
    }
    inAnyCase_ = covered_;
    for (std::uint64_t n = 1; !over(); ++n) {
      auto attempt = n % kGeneratedEvery == 0 ? generate(n / kGeneratedEvery) : run(next());
      if (!attempt) return tl::unexpected(attempt.error());
      if (!*attempt) continue;
      if (!take(**attempt)) continue;
      auto wanted = without((*attempt)->reached.stores, covered_);
      if (wanted.empty()) continue;
      auto small = shrunk(std::move(**attempt), wanted);
      if (!small) return tl::unexpected(small.error());
      take(*small);
      keep(std::move(*small));
    }
    leaveOutCovered();
    return std::move(out_);
  }

 private:
  static std::size_t longest(const Attempt& first, const GuidanceOptions& options) {
    constexpr std::size_t kLongest = 64;
    return std::max({first.list.size(), static_cast<std::size_t>(4 * options.operations), kLongest});
  }
  bool over() const { return out_.runs >= o_.runs || runner_.over(); }

  Result<std::optional<Attempt>> run(const OperationList& list) {
    ++out_.runs;
    return runner_.run(list);
  }
  Result<std::optional<Attempt>> generate(std::uint64_t n) {
    ++out_.runs;
    return runner_.generate(o_.seed + n, o_.operations << n % 3);
  }

  // A list to go on from, if it hints at something. The latest ones have been tried least.
  bool take(const Attempt& attempt) {
    auto fresh = without(attempt.reached.hints, hinted_);
    auto stores = without(attempt.reached.stores, seen_);
    if (fresh.empty() && stores.empty()) return false;
    hinted_.insert(fresh.begin(), fresh.end());
    seen_.insert(stores.begin(), stores.end());
    changes_.learn(attempt.list);
    pool_.push_back(attempt.list);
    return true;
  }
  OperationList next() {
    constexpr std::uint64_t kLatest = 8;
    std::uint64_t latest = std::min<std::uint64_t>(kLatest, pool_.size());
    std::uint64_t one =
        changes_.below(2) == 0 ? pool_.size() - 1 - changes_.below(latest) : changes_.below(pool_.size());
    return changes_.changed(pool_[one], pool_[changes_.below(pool_.size())]);
  }

  void cover(const Attempt& attempt) { covered_.insert(attempt.reached.stores.begin(), attempt.reached.stores.end()); }
  void keep(Attempt attempt) {
    if (without(attempt.reached.stores, covered_).empty()) return;
    cover(attempt);
    out_.kept.push_back(std::move(attempt));
  }

  // Drops halves, quarters and so on down to single operations, as long as it reaches what is wanted.
  Result<Attempt> shrunk(Attempt attempt, const std::vector<std::uint64_t>& wanted) {
    std::uint64_t left = kRunsToShrink;
    for (std::size_t size = std::max<std::size_t>(1, attempt.list.size() / 2);; size /= 2) {
      for (std::size_t at = 0; at < attempt.list.size() && attempt.list.size() > 1;) {
        if (left-- == 0 || over()) return attempt;
        OperationList less = attempt.list;
        auto from = less.begin() + static_cast<std::ptrdiff_t>(at);
        less.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, less.size() - at)));
        if (less.empty()) break;
        auto tried = run(less);
        if (!tried) return tl::unexpected(tried.error());
        if (*tried && hasAll((*tried)->reached.stores, wanted))
          attempt = std::move(**tried);
        else
          at += size;
      }
      if (size == 1) return attempt;
    }
  }

  // Later lists may reach all that an earlier one was kept for: those that reach most come first.
  void leaveOutCovered() {
    std::stable_sort(out_.kept.begin(), out_.kept.end(), [](const Attempt& a, const Attempt& b) {
      return a.reached.stores.size() > b.reached.stores.size();
    });
    Elements covered = inAnyCase_;
    std::erase_if(out_.kept, [&](const Attempt& attempt) {
      auto fresh = without(attempt.reached.stores, covered);
      covered.insert(fresh.begin(), fresh.end());
      return fresh.empty();
    });
  }

  ListRunner& runner_;
  const GuidanceOptions& o_;
  Changes changes_;
  std::deque<OperationList> pool_;
  Elements hinted_, seen_;       // by any list
  Elements inAnyCase_;           // reached by what is explored in any case
  Elements covered_;             // by that and those that are kept
  std::set<std::string> texts_;  // of what is explored in any case
  Guided out_;
};

}  // namespace

std::string textOf(const OperationList& list) {
  std::string text;
  for (const lin::Step& step : list) text += lin::textOf(step) + "\n";
  return text;
}

std::optional<OperationList> operationsIn(const std::string& text) {
  std::istringstream in(text);
  OperationList list;
  std::string line;
  while (std::getline(in, line)) {
    bool wrong = false;
    if (auto step = lin::stepOf(line, wrong)) list.push_back(std::move(*step));
    if (wrong) return std::nullopt;
  }
  return list;
}

Result<Guided> guide(const Attempt& first, const std::vector<OperationList>& known, ListRunner& runner,
                     const GuidanceOptions& options) {
  return Guide(first, runner, options).search(known);
}

}  // namespace blackout
