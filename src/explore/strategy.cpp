#include "explore/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

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
  std::string_view name() const override { return "lazy"; }
  std::uint64_t count(const CrashSpace&) const override { return 1; }
  Restriction restriction(const CrashSpace&, std::uint64_t) const override { return {}; }
  bool choosesStates() const override { return false; }
};

// Yat: the product.
class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(std::uint64_t bound) : bound_(bound) {}
  std::string_view name() const override { return "exhaustive"; }
  std::uint64_t count(const CrashSpace& space) const override { return space.states(); }
  Restriction restriction(const CrashSpace& space, std::uint64_t n) const override { return stateNumber(space, n); }
  std::uint64_t bound() const override { return bound_; }

 private:
  std::uint64_t bound_;
};

// XFDetector: everything that was stored is there.
class AllInPlace : public Strategy {
 public:
  std::string_view name() const override { return "all-in-place"; }
  std::uint64_t count(const CrashSpace&) const override { return 1; }
  Restriction restriction(const CrashSpace&, std::uint64_t) const override { return {{}, Unrestricted::Newest, 0}; }
};

// Silhouette: per store, or change of the files, that is not guaranteed, only it persisted, with what must come with
// it, and all but it. A line's versions are the prefixes of its stores, so both plans are one version of the line among
// lines that are all least or all newest.
class TwoPlan : public Strategy {
 public:
  std::string_view name() const override { return "two-plan"; }
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
  std::string_view name() const override { return "sample"; }
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

}  // namespace

Result<std::unique_ptr<Strategy>> makeStrategy(std::string_view name, const StrategyOptions& options) {
  if (name == "lazy") return std::make_unique<Lazy>();
  if (name == "exhaustive") return std::make_unique<Exhaustive>(options.states);
  if (name == "two-plan") return std::make_unique<TwoPlan>();
  if (name == "all-in-place") return std::make_unique<AllInPlace>();
  if (name == "sample") {
    if (options.samples == 0) return fail("a sample of 0 states explores nothing; ask for at least 1");
    return std::make_unique<Sample>(options.seed, options.samples);
  }
  return fail(
      fmt::format("no strategy '{}'; there are lazy, exhaustive, two-plan, all-in-place, sample and tests", name));
}

}  // namespace blackout
