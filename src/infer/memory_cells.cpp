#include "infer/memory_cells.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "events/trace.h"
#include "infer/guardians.h"

namespace blackout {

namespace {

constexpr std::uint64_t kLargestGap = BLACKOUT_LINE;

bool inFirstLine(PmAddr a) { return offsetOf(a) < BLACKOUT_LINE; }

void sortUnique(std::vector<PmAddr>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace

struct MemoryCells::Survey {
  struct Range {
    PmAddr begin = 0, end = 0;
    auto operator<=>(const Range&) const = default;
  };
  std::vector<PmAddr> targets;
  std::vector<Range> blocks;
  std::vector<Range> touched;

  void look(const Trace& trace, PointerWords& words);
  bool leadInto(Range range) const;
};

void MemoryCells::Survey::look(const Trace& trace, PointerWords& words) {
  words.restart();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e)) touched.push_back({wordOf(e.addr), wordOf(e.addr) + kWord});
    for (const PointerChange& change : words.follow(n)) {
      touched.push_back({change.word, change.word + kWord});
      if (change.after != 0 && !inFirstLine(change.after)) targets.push_back(change.after);
    }
    if (kindOf(e) != EventKind::Alloc) continue;
    if (PmAddr at = words.mappings().at(e.addr); at != 0 && e.value != 0 && e.value < BLACKOUT_MAX_FILE_SIZE)
      blocks.push_back({wordOf(at), wordOf(at + e.value + kWord - 1)});
  }
  sortUnique(targets);
  for (PmAddr target : targets) touched.push_back({target, target});
  touched.insert(touched.end(), blocks.begin(), blocks.end());
  std::sort(touched.begin(), touched.end());
}

bool MemoryCells::Survey::leadInto(Range range) const {
  auto first = std::lower_bound(targets.begin(), targets.end(), range.begin);
  return first != targets.end() && *first < range.end;
}

MemoryCells::MemoryCells(const Trace& trace, PointerWords& words) {
  Survey survey;
  survey.look(trace, words);
  cut(survey);
  findRootWords(trace, survey);
}

void MemoryCells::cut(Survey& survey) {
  std::vector<PmAddr> cuts = survey.targets;
  for (const Survey::Range& block : survey.blocks) {
    cuts.push_back(block.begin);
    cuts.push_back(block.end);
  }
  sortUnique(cuts);
  auto next = cuts.begin();
  for (std::size_t i = 0; i < survey.touched.size();) {
    Survey::Range run = survey.touched[i];
    for (++i; i < survey.touched.size() && survey.touched[i].begin <= run.end + kLargestGap; ++i)
      run.end = std::max(run.end, survey.touched[i].end);
    next = std::lower_bound(next, cuts.end(), run.begin);
    for (; next != cuts.end() && *next <= run.end; ++next) {
      if (!cells_.empty() && cells_.back().end > *next) cells_.back().end = *next;
      if (*next < run.end || survey.leadInto({*next, *next + 1})) cells_.push_back({*next, run.end, false});
    }
  }
  for (Cell& cell : cells_) cell.led = survey.leadInto({cell.begin, cell.begin + 1});
  for (const Survey::Range& block : survey.blocks) {
    if (!survey.leadInto(block)) continue;
    for (CellNo c = find(block.begin); c < endId() && cells_[c].begin < block.end; ++c) cells_[c].led = true;
  }
}

void MemoryCells::findRootWords(const Trace& trace, const Survey& survey) {
  // By site, so that names are compared once for each.
  std::set<std::string> first, led;
  std::unordered_map<const Site*, std::string> structs;
  auto structAt = [&](const Event& e) -> const std::string& {
    const Site* site = trace.siteOf(e);
    auto [at, fresh] = structs.try_emplace(site);
    if (fresh && site != nullptr) at->second = structOf(site->type);
    return at->second;
  };
  auto forEachStore = [&](auto use) {
    for (EventNo n = 0; n < trace.end(); n = trace.next(n))
      if (isStore(trace[n]))
        if (const std::string& name = structAt(trace[n]); !name.empty()) use(wordOf(trace[n].addr), name);
  };
  forEachStore([&](PmAddr word, const std::string& name) {
    if (inFirstLine(word)) first.insert(name);
    if (std::binary_search(survey.targets.begin(), survey.targets.end(), word)) led.insert(name);
  });
  forEachStore([&](PmAddr word, const std::string& name) {
    if (first.contains(name) && !led.contains(name)) rootWords_.insert(word);
  });
}

CellNo MemoryCells::find(PmAddr word) const {
  auto after =
      std::upper_bound(cells_.begin(), cells_.end(), word, [](PmAddr a, const Cell& cell) { return a < cell.begin; });
  if (after == cells_.begin()) return kNone;
  --after;
  return word < after->end || word == after->begin ? CellNo(after - cells_.begin()) : kNone;
}

CellNo MemoryCells::of(PmAddr word) const {
  const CellNo cell = find(word);
  return cell == kNone || !cells_[cell].led || rootWords_.contains(word) ? kNone : cell;
}

}  // namespace blackout
