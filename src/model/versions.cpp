#include "model/versions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace blackout {

bool Version::contains(std::uint32_t store) const {
  return store < prefix || std::binary_search(extra.begin(), extra.end(), store);
}

void LineStore::applyTo(LineBytes& bytes) const {
  std::uint64_t mask = (size == 16 ? 0xffffU : (1U << size) - 1U);
  mask <<= offset;
  if ((mask & ~live) == 0) {
    std::memcpy(bytes.data() + offset, value, size);
    return;
  }
  const auto* from = reinterpret_cast<const std::byte*>(value);
  for (unsigned i = 0; i < size; ++i)
    if ((live >> (offset + i)) & 1) bytes[offset + i] = from[i];
}

bool ordered(const LineStore& earlier, const LineStore& later, const ModelOptions& options) {
  if ((earlier.units() & later.units()) != 0) return true;
  if (options.wideOrder == WideOrder::Any && earlier.wide == later.wide) return false;
  return options.ntOrder == NtOrder::Program || (!earlier.nt && !later.nt);
}

Version versionOf(const std::vector<bool>& taken) {
  Version v;
  while (v.prefix < taken.size() && taken[v.prefix]) ++v.prefix;
  for (auto i = v.prefix; i < taken.size(); ++i)
    if (taken[i]) v.extra.push_back(i);
  return v;
}

namespace {

bool totallyOrdered(std::span<const LineStore> open, const ModelOptions& options) {
  for (std::size_t i = 1; i < open.size(); ++i)
    if (!ordered(open[i - 1], open[i], options)) return false;
  return true;
}

// Visits each down-set once: decides store after store in trace order, so that what is ordered
// before a store has been decided when its turn comes.
class Enumeration {
 public:
  Enumeration(std::span<const LineStore> open, const ModelOptions& options, std::uint64_t limit)
      : open_(open), before_(open.size()), taken_(open.size()), limit_(limit) {
    // Only the nearest: what is ordered before one of those follows by itself.
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::size_t j = i; j-- > 0;)
        if (ordered(open[j], open[i], options) &&
            std::none_of(before_[i].begin(), before_[i].end(),
                         [&](std::size_t k) { return ordered(open[j], open[k], options); }))
          before_[i].push_back(j);
  }

  template <class Visit>
  bool run(Visit visit) {
    return decide(0, visit);
  }
  const std::vector<bool>& taken() const { return taken_; }
  std::uint64_t count() const { return count_; }

 private:
  template <class Visit>
  bool decide(std::size_t i, Visit& visit) {
    if (i == open_.size()) {
      if (count_ == limit_) return false;
      ++count_;
      visit();
      return true;
    }
    if (!decide(i + 1, visit)) return false;
    if (!std::all_of(before_[i].begin(), before_[i].end(), [&](std::size_t j) { return taken_[j]; })) return true;
    taken_[i] = true;
    bool more = decide(i + 1, visit);
    taken_[i] = false;
    return more;
  }

  std::span<const LineStore> open_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<bool> taken_;
  std::uint64_t limit_;
  std::uint64_t count_ = 0;
};

}  // namespace

LineVersions enumerateVersions(const Version& guaranteed, const LineBytes& least, std::span<const LineStore> open,
                               const ModelOptions& options, std::size_t limit) {
  LineVersions out;
  std::set<LineBytes> seen;
  auto add = [&](const std::vector<bool>& taken, const LineBytes& bytes) {
    if (!seen.insert(bytes).second) return;
    // Numbers of the history that are not open are guaranteed or lie beyond the point.
    std::vector<bool> all(guaranteed.prefix, true);
    auto take = [&](std::uint32_t number) {
      if (number >= all.size()) all.resize(number + 1);
      all[number] = true;
    };
    for (std::uint32_t number : guaranteed.extra) take(number);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (taken[i]) take(open[i].number);
    out.versions.push_back({versionOf(all), bytes});
  };
  if (totallyOrdered(open, options)) {
    // Prefixes of the open stores. Those of the history too, unless a store is guaranteed out of turn.
    bool prefixes = guaranteed.extra.empty();
    std::vector<bool> taken(open.size());
    LineBytes bytes = least;
    for (std::size_t i = 0;; ++i) {
      if (!prefixes)
        add(taken, bytes);
      else if (seen.insert(bytes).second)
        out.versions.push_back({Version{guaranteed.prefix + static_cast<std::uint32_t>(i), {}}, bytes});
      if (i == open.size()) break;
      taken[i] = true;
      open[i].applyTo(bytes);
    }
    out.downSets = open.size() + 1;
    return out;
  }
  Enumeration all(open, options, limit);
  out.complete = all.run([&] {
    LineBytes bytes = least;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (all.taken()[i]) open[i].applyTo(bytes);
    add(all.taken(), bytes);
  });
  out.downSets = all.count();
  if (!out.complete) {
    // Whatever was left out, the newest content is there.
    LineBytes bytes = least;
    for (const LineStore& s : open) s.applyTo(bytes);
    add(std::vector<bool>(open.size(), true), bytes);
  }
  std::sort(out.versions.begin(), out.versions.end(), [](const LineVersion& a, const LineVersion& b) {
    return a.version.size() != b.version.size() ? a.version.size() < b.version.size() : a.version < b.version;
  });
  return out;
}

double log10DownSets(std::span<const LineStore> open, const ModelOptions& options) {
  if (totallyOrdered(open, options)) return std::log10(static_cast<double>(open.size() + 1));
  Enumeration all(open, options, kVersionLimit);
  if (all.run([] {})) return std::log10(static_cast<double>(all.count()));
  // The units taken as independent of each other: in each a prefix of its stores survives.
  double sum = 0;
  for (unsigned unit = 0; unit < 8; ++unit) {
    auto stores = std::count_if(open.begin(), open.end(), [&](const LineStore& s) { return (s.units() >> unit) & 1; });
    sum += std::log10(static_cast<double>(stores + 1));
  }
  return sum;
}

}  // namespace blackout
