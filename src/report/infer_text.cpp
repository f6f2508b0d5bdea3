#include "report/infer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "events/id_text.h"
#include "events/trace.h"
#include "infer/access_id.h"
#include "report/escape.h"
#include "report/json.h"
#include "report/json_library.h"

namespace blackout {

namespace {

using Json = nlohmann::ordered_json;

// Lists are cut here; JSON has them whole.
constexpr std::size_t kFields = 5;
constexpr std::size_t kPlaces = 4;

std::string baseName(const std::string& file) { return file.substr(file.rfind('/') + 1); }

// "tree.cpp:31, 88, log.cpp:7": a file's name once.
std::string placesText(const std::vector<Source>& sources) {
  std::vector<std::pair<std::string, std::uint32_t>> places;
  for (const Source& source : sources)
    if (const Place* place = ownPlace(source); place != nullptr && place->line != 0)
      places.emplace_back(baseName(place->file), place->line);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::string out, last;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == kPlaces && places.size() > kPlaces + 1) return out + fmt::format(" and {} more", places.size() - i);
    const auto& [file, line] = places[i];
    if (i > 0) out += ", ";
    out += file == last ? fmt::format("{}", line) : fmt::format("{}:{}", file, line);
    last = file;
  }
  return escapeText(out);
}

std::string listText(const std::vector<std::string>& fields) {
  std::string out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == kFields && fields.size() > kFields + 1) return out + fmt::format(" and {} more", fields.size() - i);
    out += (i > 0 ? ", " : "") + escapeText(fields[i]);
  }
  return out;
}

// What it guards by a test of its own; what it only decides over by a comparison with something else, as a search does;
// and what it only leads to.
std::string guardedText(const Guardian& guardian) {
  std::vector<std::string> guarded, decided, led;
  for (const Guarded& g : guardian.guarded) {
    // That it is read again goes without saying, unless there is nothing else.
    if (g.field == guardian.field && guardian.guarded.size() > 1) continue;
    Shape best = Shape::Chase;
    for (const Guard& guard : g.guards) best = std::min(best, guard.shape);
    (best == Shape::Chase ? led : best == Shape::Comparison ? decided : guarded).push_back(g.field);
  }
  std::string out;
  auto add = [&](const char* verb, const std::vector<std::string>& fields) {
    if (!fields.empty()) out += (out.empty() ? "" : "; ") + std::string(verb) + listText(fields);
  };
  add("guards ", guarded);
  add("decides over ", decided);
  add("leads to ", led);
  return out;
}

struct Row {
  std::string field, guarded, places;
  const Guardian* guardian = nullptr;
};

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}

// Widest first, but no column so wide that a single long row pushes all others away.
std::size_t columnOf(const std::vector<Row>& rows, std::string Row::* column, std::size_t most) {
  std::size_t width = 0;
  for (const Row& row : rows)
    if ((row.*column).size() <= most) width = std::max(width, (row.*column).size());
  return width;
}

std::string percent(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? "0%" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

// A pair is told once, with all that the two guard and where each is tested.
std::vector<Row> pairRows(const Guardians& guardians, bool nested) {
  struct Told {
    std::vector<std::string> guarded;
    std::vector<Source> tests;
  };
  std::map<std::tuple<GuardianPair::Rule, std::string, std::string>, Told> pairs;
  for (const GuardianPair& pair : guardians.pairs) {
    if (pair.rule == GuardianPair::Rule::Nested && !nested) continue;
    Told& told = pairs[{pair.rule, pair.first, pair.second}];
    told.guarded.push_back(pair.guarded);
    told.tests.insert(told.tests.end(), {pair.firstTest, pair.secondTest});
  }
  std::vector<Row> rows;
  for (const auto& [key, told] : pairs) {
    const auto& [rule, first, second] = key;
    std::string text = escapeText(first) + " and " + escapeText(second) + " guard ";
    switch (rule) {
      case GuardianPair::Rule::Together:
        text += listText(told.guarded) + " together";
        break;
      case GuardianPair::Rule::Nested:
        text += listText(told.guarded) + ", one under the other";
        break;
      case GuardianPair::Rule::EachOther:
        text += "each other";
        break;
    }
    rows.push_back({text, "", placesText(told.tests)});
  }
  return rows;
}

std::string storePlace(const Trace& trace, EventNo store) {
  const Site* site = trace.siteOf(trace[store]);
  return site == nullptr ? "an unknown place" : placesText(site->sources);
}

// Likely commits of one place and one guardian are one line.
std::string commitsText(const Trace& trace, const LikelyCommits& commits, const Guardians& guardians) {
  std::map<std::pair<std::string, std::string>, std::size_t> lines;
  const std::vector<GuardianAccesses> accesses = accessesOf(guardians);
  for (const LikelyCommit& c : commits.commits) ++lines[{storePlace(trace, c.store), reasonOf(c, accesses)}];
  std::string out = "\nLikely commit stores, by place:\n";
  for (const auto& [line, times] : lines)
    out += fmt::format("  {}{}: {}\n", line.first, times == 1 ? "" : fmt::format(" ({} times)", times),
                       escapeText(line.second));
  return out;
}

Json placeJson(const Source& source) {
  Json j;
  j["id"] = fmt::format("{:016x}", accessId(source));
  if (const Place* place = ownPlace(source)) {
    j["file"] = place->file;
    j["line"] = place->line;
    j["column"] = place->column;
    j["function"] = place->function;
  }
  return j;
}

Json placesJson(const std::vector<Source>& sources) {
  Json j = Json::array();
  for (const Source& s : sources) j.push_back(placeJson(s));
  return j;
}

const char* ruleName(GuardianPair::Rule rule) {
  switch (rule) {
    case GuardianPair::Rule::Together:
      return "together";
    case GuardianPair::Rule::Nested:
      return "nested";
    case GuardianPair::Rule::EachOther:
      return "each-other";
  }
  return "";
}

}  // namespace

std::string renderGuardians(const Guardians& guardians, const Trace* trace, const LikelyCommits* commits,
                            const InferText& how) {
  std::vector<Row> rows;
  for (const Guardian& g : guardians.guardians)
    rows.push_back(
        {escapeText(g.field), guardedText(g),
         "read at " + placesText(g.reads) +
             (g.writes.empty() ? std::string(", set nowhere in this code") : ", set at " + placesText(g.writes)),
         &g});
  const std::size_t first = columnOf(rows, &Row::field, 40), second = columnOf(rows, &Row::guarded, 60);
  std::string out;
  for (const Row& row : rows) {
    out += fmt::format("  {}  {}  {}\n", padded(row.field, first), padded(row.guarded, second), row.places);
    if (commits != nullptr) {
      auto ofField = [&](const auto& x) { return x.guardian == row.guardian->field; };
      auto instances = std::count_if(commits->instances.begin(), commits->instances.end(), ofField);
      auto stores = std::count_if(commits->commits.begin(), commits->commits.end(), ofField);
      out += fmt::format("      in the trace: {} instance{}, {} likely commit store{}\n", instances,
                         instances == 1 ? "" : "s", stores, stores == 1 ? "" : "s");
    }
    if (!how.reasons) continue;
    for (const Guarded& guarded : row.guardian->guarded)
      for (const Guard& guard : guarded.guards)
        out += fmt::format("      {} ({})\n", escapeText(reasonOf(*row.guardian, guarded, guard)), nameOf(guard.shape));
  }
  std::vector<Row> pairs = pairRows(guardians, how.reasons);
  const std::size_t width = columnOf(pairs, &Row::field, 80);
  for (const Row& row : pairs) out += fmt::format("  {}  {}\n", padded(row.field, width), row.places);
  for (const CorrelatedFields& c : guardians.correlated)
    out += fmt::format("  {} and {} are accessed together: {} functions access both, {} the first and {} the second\n",
                       escapeText(c.first), escapeText(c.second), c.together, c.firstIn, c.secondIn);
  if (commits != nullptr && trace != nullptr && how.commits) out += commitsText(*trace, *commits, guardians);

  if (!rows.empty()) out += "\n";
  out += fmt::format("{} guardian{}", rows.size(), rows.size() == 1 ? "" : "s");
  if (guardians.volatileFields > 0)
    out += fmt::format("; {} over reads, but nothing shows that {} persistent (--all)",
                       guardians.volatileFields == 1 ? "1 more field decides"
                                                     : fmt::format("{} more fields decide", guardians.volatileFields),
                       guardians.volatileFields == 1 ? "it is" : "they are");
  out += fmt::format("\n{} of {} stores to persistent fields in the code set a guardian ({})\n",
                     guardians.guardianWrites, guardians.writes, percent(guardians.guardianWrites, guardians.writes));
  if (commits != nullptr)
    out += fmt::format(
        "{} stores in the trace, {} are likely to commit ({}): {} go to guardians, {} to what was already reachable\n",
        commits->stores, commits->commits.size(), percent(commits->commits.size(), commits->stores),
        commits->toGuardians.size(), commits->published.size());
  return out;
}

namespace {

std::string readText(const CountedRead& r) {
  return fmt::format("      {}: {}{}\n", placesText({r.at}), nameOf(r.proof),
                     r.why.empty() ? "" : ": " + escapeText(r.why));
}

std::string updatesText(const CountingProperty& p) {
  auto together = [&](const char* verb, const std::vector<Source>& array) {
    std::vector<Source> places = array;
    places.insert(places.end(), p.counterWrites.begin(), p.counterWrites.end());
    return fmt::format("{} together at {}", verb, placesText(places));
  };
  if (!p.pointerWrites.empty()) return together("resized", p.pointerWrites);
  return together("updated", p.arrayWrites);
}

Json readsJson(const std::vector<CountedRead>& reads) {
  Json j = Json::array();
  for (const CountedRead& r : reads) j.push_back({{"at", placeJson(r.at)}, {"proof", nameOf(r.proof)}, {"why", r.why}});
  return j;
}

Json countingJson(const CountingProperties& counting) {
  Json j;
  j["properties"] = Json::array();
  for (const CountingProperty& p : counting.properties) {
    Json row;
    row["rule"] = nameOf(p.rule);
    row["array"] = p.array;
    row["counter"] = p.counter;
    if (!p.start.empty()) row["start"] = p.start;
    if (!p.pointer.empty()) row["pointer"] = p.pointer;
    if (p.rule == CountingRule::Complement) row["constant"] = p.constant;
    row["not_zero"] = p.notZero;
    row["strict"] = p.strict();
    row["score"] = p.score();
    row["reads"] = readsJson(p.reads);
    row["array_writes"] = placesJson(p.arrayWrites);
    row["pointer_writes"] = placesJson(p.pointerWrites);
    row["counter_writes"] = placesJson(p.counterWrites);
    j["properties"].push_back(std::move(row));
  }
  j["dropped"] = Json::array();
  for (const DroppedPair& d : counting.dropped)
    j["dropped"].push_back(
        {{"array", d.array}, {"counter", d.counter}, {"reason", d.reason}, {"reads", readsJson(d.reads)}});
  j["arrays"] = counting.arrays;
  j["reads"] = counting.reads;
  j["questions"] = counting.questions;
  return j;
}

}  // namespace

std::string renderCounting(const CountingProperties& counting, const InferText& how) {
  std::vector<Row> rows;
  std::size_t arrays = 0;
  for (const CountingProperty& p : counting.properties)
    arrays = std::max(arrays, std::min<std::size_t>(40, escapeText(p.array).size()));
  for (const CountingProperty& p : counting.properties)
    rows.push_back({fmt::format("{} ~ {}", padded(escapeText(p.array), arrays), escapeText(p.counter)),
                    boundText(p) + (p.notZero ? ", unless it is 0" : ""), updatesText(p)});
  const std::size_t first = columnOf(rows, &Row::field, 80), second = columnOf(rows, &Row::guarded, 60);
  std::string out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out += fmt::format("  {}  {}  {}\n", padded(rows[k].field, first), padded(rows[k].guarded, second), rows[k].places);
    if (!how.reasons) continue;
    for (const CountedRead& r : counting.properties[k].reads) out += readText(r);
  }
  if (how.reasons)
    for (const DroppedPair& d : counting.dropped) {
      out += fmt::format("  no property of {} and {}: {}\n", escapeText(d.array), escapeText(d.counter),
                         escapeText(d.reason));
      for (const CountedRead& r : d.reads) out += readText(r);
    }
  if (!out.empty())
    out += fmt::format("{} array{} with {} counter{}\n", rows.size(), rows.size() == 1 ? "" : "s",
                       rows.size() == 1 ? "its" : "their", rows.size() == 1 ? "" : "s");
  return out;
}

std::string renderGuardiansJson(const Guardians& guardians, const CountingProperties& counting, const Trace* trace,
                                const LikelyCommits* commits) {
  Json j;
  j["schema"] = kReportSchema;
  j["guardians"] = Json::array();
  for (const Guardian& g : guardians.guardians) {
    Json row;
    row["field"] = g.field;
    row["reads"] = placesJson(g.reads);
    row["writes"] = placesJson(g.writes);
    row["guarded"] = Json::array();
    for (const Guarded& guarded : g.guarded) {
      Json field;
      field["field"] = guarded.field;
      field["guards"] = Json::array();
      for (const Guard& guard : guarded.guards)
        field["guards"].push_back({{"shape", nameOf(guard.shape)},
                                   {"test", placeJson(guard.test)},
                                   {"read", placeJson(guard.read)},
                                   {"reason", reasonOf(g, guarded, guard)}});
      row["guarded"].push_back(std::move(field));
    }
    j["guardians"].push_back(std::move(row));
  }
  j["pairs"] = Json::array();
  for (const GuardianPair& p : guardians.pairs)
    j["pairs"].push_back({{"rule", ruleName(p.rule)},
                          {"first", p.first},
                          {"second", p.second},
                          {"guarded", p.guarded},
                          {"first_test", placeJson(p.firstTest)},
                          {"second_test", placeJson(p.secondTest)}});
  j["correlated"] = Json::array();
  for (const CorrelatedFields& c : guardians.correlated)
    j["correlated"].push_back({{"first", c.first},
                               {"second", c.second},
                               {"together", c.together},
                               {"first_in", c.firstIn},
                               {"second_in", c.secondIn}});
  j["counting"] = countingJson(counting);
  j["writes"] = guardians.writes;
  j["guardian_writes"] = guardians.guardianWrites;
  j["volatile_fields"] = guardians.volatileFields;
  j["notes"] = guardians.notes;
  j["incomplete"] = guardians.incomplete;
  if (commits != nullptr) {
    Json c;
    c["stores"] = commits->stores;
    c["to_guardians"] = commits->toGuardians.size();
    c["published"] = commits->published.size();
    c["commits"] = commits->commits.size();
    c["instances"] = Json::array();
    for (const GuardianInstance& i : commits->instances)
      c["instances"].push_back(
          {{"file", fileOf(i.begin)}, {"offset", offsetOf(i.begin)}, {"size", i.size}, {"guardian", i.guardian}});
    c["list"] = Json::array();
    const std::vector<GuardianAccesses> accesses = accessesOf(guardians);
    for (const LikelyCommit& commit : commits->commits) {
      Json one = {{"event", commit.store},
                  {"guardian", commit.guardian},
                  {"locked", commit.locked},
                  {"reason", reasonOf(commit, accesses)}};
      if (const Site* site = trace == nullptr ? nullptr : trace->siteOf((*trace)[commit.store]))
        one["at"] = placesJson(site->sources);
      c["list"].push_back(std::move(one));
    }
    j["commits"] = std::move(c);
  }
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace blackout
