#include "explore/strategies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "explore/seeded.h"

namespace blackout {

namespace {

// State number n of the product over the files and all uncertain lines: the files' version counts fastest, then the
// first line's.
Restriction stateNumber(const CrashSpace& space, std::uint64_t n) {
  Restriction r;
  r.unnamed = Unrestricted::Least;
  if (space.uncertainFiles()) {
    std::uint64_t versions = space.ownFiles()->versions.size();
    r.files = {static_cast<std::uint32_t>(n % versions)};
    n /= versions;
  }
  for (TrackedNo w : space.uncertain()) {
    std::uint64_t versions = space.line(w).versions.size();
    r.allowed.push_back({w, {static_cast<std::uint32_t>(n % versions)}});
    n /= versions;
  }
  return r;
}

// Jaaru: nothing is chosen up front.
class Lazy : public Strategy {
 public:
  std::string_view name() const override { return nameOf(StrategyKind::Lazy); }
  std::uint64_t count(const CrashSpace&) const override { return 1; }
  Restriction restriction(const CrashSpace&, std::uint64_t) const override { return {}; }
  bool choosesStates() const override { return false; }
};

// Yat: the product.
class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(std::uint64_t bound) : bound_(bound) {}
  std::string_view name() const override { return nameOf(StrategyKind::Exhaustive); }
  std::uint64_t count(const CrashSpace& space) const override { return space.states(); }
  Restriction restriction(const CrashSpace& space, std::uint64_t n) const override { return stateNumber(space, n); }
  std::uint64_t bound() const override { return bound_; }

 private:
  std::uint64_t bound_;
};

// XFDetector: everything that was stored is there.
class AllInPlace : public Strategy {
 public:
  std::string_view name() const override { return nameOf(StrategyKind::AllInPlace); }
  std::uint64_t count(const CrashSpace&) const override { return 1; }
  Restriction restriction(const CrashSpace&, std::uint64_t) const override { return {{}, Unrestricted::Newest, 0}; }
};

// Silhouette: per store, or change of the files, that is not guaranteed, only it persisted, with what must come with
// it, and all but it. A line's versions are the prefixes of its stores, so both plans are one version of the line among
// lines that are all least or all newest.
class TwoPlan : public Strategy {
 public:
  std::string_view name() const override { return nameOf(StrategyKind::TwoPlan); }
  std::uint64_t count(const CrashSpace& space) const override {
    std::uint64_t sum = plansOfFiles(space);
    for (TrackedNo w : space.uncertain()) sum += 2 * (space.line(w).versions.size() - 1);
    // A point where everything is settled is looked at too.
    return std::max<std::uint64_t>(sum, 1);
  }
  Restriction restriction(const CrashSpace& space, std::uint64_t n) const override {
    if (n < plansOfFiles(space)) {
      const auto version = static_cast<std::uint32_t>(n / 2);
      const std::uint32_t newest = space.ownFiles()->newest;
      if (n % 2 == 0) return {{}, Unrestricted::Least, 0, {version + 1}};
      return {{}, Unrestricted::Newest, 0, {version >= newest ? version + 1 : version}};
    }
    n -= plansOfFiles(space);
    for (TrackedNo w : space.uncertain()) {
      const UncertainLine& line = space.line(w);
      std::uint64_t plans = 2 * (line.versions.size() - 1);
      if (n >= plans) {
        n -= plans;
        continue;
      }
      auto version = static_cast<std::uint32_t>(n / 2);
      if (n % 2 == 0) return {{{w, {version + 1}}}, Unrestricted::Least, 0};
      // All but one: any version that is not the newest.
      return {{{w, {version >= line.newest ? version + 1 : version}}}, Unrestricted::Newest, 0};
    }
    return {{}, Unrestricted::Least, 0};
  }

 private:
  static std::uint64_t plansOfFiles(const CrashSpace& space) {
    return space.uncertainFiles() ? 2 * (space.ownFiles()->versions.size() - 1) : 0;
  }
};

// A one-to-one map of [0, size) onto itself that looks random: four rounds of a Feistel network on the next even power
// of two, again until the number is in range.
std::uint64_t shuffled(std::uint64_t n, std::uint64_t size, std::uint64_t seed) {
  unsigned half = std::max(1U, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2);
  std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = n >> half;
    std::uint64_t right = n & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t next = left ^ (mix(seed, round, right) & mask);
      left = right;
      right = next;
    }
    n = left << half | right;
  } while (n >= size);
  return n;
}

// Random states, each once where they can be counted.
class Sample : public Strategy {
 public:
  Sample(std::uint64_t seed, std::uint64_t samples) : seed_(seed), samples_(samples) {}
  std::string_view name() const override { return nameOf(StrategyKind::Sample); }
  std::uint64_t count(const CrashSpace& space) const override { return std::min(samples_, space.states()); }
  Restriction restriction(const CrashSpace& space, std::uint64_t n) const override {
    std::uint64_t seed = mix(seed_, space.identity());
    std::uint64_t states = space.states();
    if (states < std::uint64_t{1} << 62) return stateNumber(space, shuffled(n, states, seed));
    return {{}, Unrestricted::Sampled, mix(seed, n)};
  }

 private:
  std::uint64_t seed_;
  std::uint64_t samples_;
};

struct Row {
  std::string_view name, shown, help;
};
constexpr Row kRows[] = {
#define BLACKOUT_STRATEGY(kind, name, shown, help) {name, shown, help},
#include "explore/strategies.def"
};

std::optional<LikelySet> likelySetNamed(std::string_view name) {
  if (name == "likely") return LikelySet::Likely;
  if (name == "guardians") return LikelySet::Guardians;
  if (name == "published") return LikelySet::Published;
  if (name == "marked") return LikelySet::Marked;
  if (name == "all") return LikelySet::All;
  return std::nullopt;
}

}  // namespace

std::string_view nameOf(StrategyKind kind) { return kRows[static_cast<std::size_t>(kind)].name; }

const std::vector<StrategyKind>& strategyKinds() {
  static const std::vector<StrategyKind> kinds = {
#define BLACKOUT_STRATEGY(kind, name, shown, help) StrategyKind::kind,
#include "explore/strategies.def"
  };
  return kinds;
}

std::string strategyHelp() {
  std::vector<std::string> items;
  for (const Row& row : kRows) items.push_back(fmt::format("{}: {}", row.shown, row.help));
  return fmt::format("{}", fmt::join(items, "; "));
}

Result<StrategyChoice> StrategyChoice::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool more = colon != std::string_view::npos;
  const std::string_view name = text.substr(0, colon), argument = more ? text.substr(colon + 1) : std::string_view();
  StrategyChoice choice;
  const auto& kinds = strategyKinds();
  auto kind = std::find_if(kinds.begin(), kinds.end(), [&](StrategyKind k) { return nameOf(k) == name; });
  if (kind == kinds.end()) {
    std::vector<std::string_view> names;
    for (StrategyKind k : kinds) names.push_back(nameOf(k));
    return fail(fmt::format("no strategy '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  choice.kind = *kind;
  if (choice.kind == StrategyKind::Tests && more) {
    auto set = likelySetNamed(argument);
    if (!set) return fail("around which stores? likely, guardians, published, marked or all");
    choice.around = *set;
  } else if (more) {
    const char* end = argument.data() + argument.size();
    auto [stop, error] = std::from_chars(argument.data(), end, choice.samples);
    if (choice.kind != StrategyKind::Sample || error != std::errc() || stop != end || choice.samples == 0)
      return fail("only sample takes a number, as sample:100");
  }
  return choice;
}

Result<std::shared_ptr<const Strategy>> makeStrategy(const StrategyChoice& choice, const StrategySources& sources) {
  switch (choice.kind) {
    case StrategyKind::Lazy:
      return std::make_shared<Lazy>();
    case StrategyKind::Exhaustive:
      return std::make_shared<Exhaustive>(choice.most);
    case StrategyKind::TwoPlan:
      return std::make_shared<TwoPlan>();
    case StrategyKind::AllInPlace:
      return std::make_shared<AllInPlace>();
    case StrategyKind::Sample:
      return std::make_shared<Sample>(sources.seed, choice.samples);
    case StrategyKind::Plans:
      if (sources.plans == nullptr) return fail("plans are made from a description; name one with --mechanisms");
      return sources.plans;
    case StrategyKind::Tests:
      if (sources.tests == nullptr) return fail("the stores that tests are around are not known");
      return std::make_shared<AdversarialTests>(*sources.tests);
  }
  return fail("an unknown strategy");
}

}  // namespace blackout
