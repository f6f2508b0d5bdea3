#include "explore/weak_sums.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace blackout {

namespace {

using Word = std::uint32_t;
constexpr std::size_t kWords = sizeof(LineBytes) / sizeof(Word);

// What bytes add to the sums of a record; all of it together are the record's.
struct Sums {
  Word words = 0;
  Word byPlace = 0;  // where the words' sums are alike, these are if the sums of sums are
  Word xored = 0;
  Sums operator+(const Sums& o) const { return {words + o.words, byPlace + o.byPlace, xored ^ o.xored}; }
};

Sums sumsOf(const LineBytes& bytes, std::uint64_t place) {
  Sums sums;
  for (std::size_t i = 0; i < kWords; ++i) {
    Word word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    sums = sums + Sums{word, word * static_cast<Word>(place * kWords + i), word};
  }
  return sums;
}

// What a check may compare of them, the strongest first: what deceives one deceives most that follow.
struct Check {
  bool (*alike)(const Sums&, const Sums&);
  bool old;  // also what it takes for nothing of the record
};
constexpr Check kChecks[] = {
    {[](const Sums& a, const Sums& b) { return a.words == b.words && a.byPlace == b.byPlace; }, true},
    {[](const Sums& a, const Sums& b) { return a.words == b.words; }, true},
    {[](const Sums& a, const Sums& b) { return a.xored == b.xored; }, false},
    {[](const Sums& a, const Sums& b) { return (a.words & 0xffff) == (b.words & 0xffff); }, false},
    {[](const Sums& a, const Sums& b) { return (a.words & 0xff) == (b.words & 0xff); }, false},
};

// A line as it is read: different contents, each with its first version.
struct Contents {
  TrackedNo line = 0;
  std::vector<std::pair<std::uint32_t, Sums>> list;
  std::size_t oldest = 0;
  std::size_t newest = 0;
};

Contents contentsOf(const SummedLine& line, std::uint64_t place) {
  Contents out{line.line, {}, 0, 0};
  std::vector<LineBytes> seen;
  for (std::uint32_t v : line.versions) {
    LineBytes bytes = line.of->versions[v].bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if ((line.mask >> i & 1) == 0) bytes[i] = {};
    auto at = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), bytes) - seen.begin());
    if (at == seen.size()) {
      seen.push_back(bytes);
      out.list.emplace_back(v, sumsOf(bytes, place));
    }
    if (v == line.oldest) out.oldest = at;
    if (v == line.newest) out.newest = at;
  }
  return out;
}

}  // namespace

std::vector<Combination> deceivingCombinations(const std::vector<SummedLine>& lines, const TrackedBytes& tracked) {
  std::vector<Contents> contents;
  std::uint64_t combinations = 1;
  Sums nothing, whole;
  for (const SummedLine& line : lines) {
    contents.push_back(contentsOf(line, tracked.line(line.line).value()));
    const Contents& c = contents.back();
    if (combinations > kMostCombinations / c.list.size()) return {};
    combinations *= c.list.size();
    nothing = nothing + c.list[c.oldest].second;
    whole = whole + c.list[c.newest].second;
  }
  // Of all combinations, by number; the whole one and the missing one deceive nobody.
  std::vector<Sums> all(combinations);
  std::vector<bool> torn(combinations);
  for (std::uint64_t number = 0; number < combinations; ++number) {
    bool isWhole = true, isNothing = true;
    std::uint64_t rest = number;
    for (const Contents& c : contents) {
      std::size_t at = rest % c.list.size();
      rest /= c.list.size();
      all[number] = all[number] + c.list[at].second;
      isWhole &= at == c.newest;
      isNothing &= at == c.oldest;
    }
    torn[number] = !isWhole && !isNothing;
  }
  std::vector<std::uint64_t> found;
  auto find = [&](const Check& check, const Sums& taken) {
    auto deceives = [&](std::uint64_t number) { return check.alike(all[number], taken); };
    if (std::any_of(found.begin(), found.end(), deceives)) return;
    for (std::uint64_t number = 0; number < combinations; ++number)
      if (torn[number] && deceives(number)) {
        found.push_back(number);
        return;
      }
  };
  for (const Check& check : kChecks) {
    find(check, whole);
    if (check.old) find(check, nothing);
  }
  std::vector<Combination> out;
  for (std::uint64_t number : found)
    for (Combination& combination = out.emplace_back(); const Contents& c : contents) {
      combination[c.line] = c.list[number % c.list.size()].first;
      number /= c.list.size();
    }
  return out;
}

}  // namespace blackout
