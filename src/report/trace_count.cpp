#include "report/trace_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "binary/symbolizer.h"
#include "events/id_text.h"
#include "events/trace.h"
#include "model/operations.h"
#include "report/escape.h"
#include "report/trace_text.h"

namespace blackout {

namespace {

constexpr std::array kNames = {
    std::pair{"place", CountBy::Place},         std::pair{"site", CountBy::Site}, std::pair{"line", CountBy::Line},
    std::pair{"operation", CountBy::Operation}, std::pair{"kind", CountBy::Kind}, std::pair{"thread", CountBy::Thread},
    std::pair{"file", CountBy::File},
};

// Where more lines than this are meant (fsync, a mapping), the event is about the file.
constexpr std::uint64_t kMaxLines = 1 << 16;

std::string fileLine(const Trace& trace, const Event& e) {
  const Site* site = trace.siteOf(e);
  if (site == nullptr || site->sources.empty() || site->sources.front().chain.empty()) return "no place";
  const Place& p = site->sources.front().chain.front();
  return p.file.empty() ? "no place" : fmt::format("{}:{}", escapeText(p.file), p.line);
}

}  // namespace

std::optional<CountBy> countByNamed(std::string_view name) {
  for (auto& [text, by] : kNames)
    if (text == name) return by;
  return std::nullopt;
}

std::string countByNames() {
  std::string names;
  for (auto& row : kNames) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.first);
  return names;
}

std::vector<CountRow> countEvents(const Trace& trace, const TraceFilter& filter, CountBy by) {
  std::map<std::string, std::uint64_t> counts;
  std::map<StackId, std::string> siteKeys;
  std::map<LineNo, std::uint64_t> lines;
  const Operations operations = by == CountBy::Operation ? Operations(trace) : Operations();
  EventPrinter printer(trace);

  auto siteKey = [&](const Event& e) -> const std::string& {
    auto [at, isNew] = siteKeys.try_emplace(stackOf(e));
    if (isNew) {
      const Site* site = trace.siteOf(e);
      const std::string& place = printer.placeText(stackOf(e));
      at->second = site == nullptr ? "no site"
                                   : fmt::format("{:016x} {} {}", site->id, nameOf(site->kind),
                                                 place.empty() ? "at an unknown place" : place);
    }
    return at->second;
  };

  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (filter.wants(trace, n)) {
      switch (by) {
        case CountBy::Place:
          ++counts[fileLine(trace, e)];
          break;
        case CountBy::Site:
          ++counts[siteKey(e)];
          break;
        case CountBy::Line: {
          std::optional<PmRange> range = rangeOf(trace, n);
          LineNo last = range && range->size() != 0 ? lineOf(range->end - 1) : 0;
          if (!range || range->size() == 0 || last - lineOf(range->begin) >= kMaxLines)
            ++counts["no line"];
          else
            for (LineNo l = lineOf(range->begin); l <= last; ++l) ++lines[l];
          break;
        }
        case CountBy::Operation: {
          const Operation* operation = operations.innermost(threadOf(e), n);
          ++counts[operation == nullptr ? "no operation" : escapeText(operation->name)];
          break;
        }
        case CountBy::Kind:
          ++counts[std::string(nameOf(kindOf(e)))];
          break;
        case CountBy::Thread:
          ++counts[fmt::format("t{}", threadOf(e))];
          break;
        case CountBy::File: {
          std::optional<PmRange> range = rangeOf(trace, n);
          FileNo file = range ? fileOf(range->begin) : 0;
          ++counts[file == 0 || !trace.files().has(file) ? "no file" : escapeText(trace.files()[file].path)];
          break;
        }
      }
    }
  }
  for (auto& [line, count] : lines) counts[addressText(addressOf(line))] += count;

  std::vector<CountRow> rows;
  rows.reserve(counts.size());
  for (auto& [key, count] : counts) rows.push_back({key, count});
  std::sort(rows.begin(), rows.end(), [](const CountRow& a, const CountRow& b) {
    return a.count != b.count ? a.count > b.count : a.key < b.key;
  });
  return rows;
}

}  // namespace blackout
