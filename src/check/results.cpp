#include "check/results.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "events/byte_stream.h"
#include "events/saved_file.h"

namespace blackout {

namespace {

namespace fs = std::filesystem;

constexpr SavedFormat kResult{"BLKRESLT",
                              1,
                              std::uint64_t{4} << 30,
                              "result of a workload",
                              "name a folder of 'blackout fs --out'",
                              "begin again with an empty folder"};

constexpr const char* kTables =
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    // What is worth a look by hand stands in columns; `result` has all.
    "CREATE TABLE workloads (number INTEGER PRIMARY KEY, name TEXT NOT NULL, was TEXT NOT NULL, restarts INTEGER, "
    "states INTEGER, findings INTEGER, shown INTEGER, result BLOB NOT NULL);"
    "CREATE TABLE operations (fingerprint INTEGER PRIMARY KEY, workload INTEGER NOT NULL);"
    "CREATE TABLE lines (file TEXT NOT NULL, line INTEGER NOT NULL, struct TEXT NOT NULL, "
    "PRIMARY KEY (file, line, struct));";
constexpr DatabaseFormat kFormat{
    0x424b4643,  // "BKFC"
    2,          "blackout fs", "results", "name another folder", "begin again with an empty folder", kTables};

const char* nameOf(WorkloadResult::Was was) {
  switch (was) {
    case WorkloadResult::Was::Explored:
      return "explored";
    case WorkloadResult::Was::OnlyMade:
      return "only made";
    case WorkloadResult::Was::NotSupported:
      return "not supported";
  }
  return "";
}

std::string encodeResult(const WorkloadResult& r) {
  ByteWriter out;
  out.number(r.number);
  out.text(r.name);
  out.number(static_cast<std::uint64_t>(r.was));
  out.text(r.lacks);
  out.number(r.marked ? 1 : 0);
  out.number(r.known);
  encode(out, r.reached);
  out.text(encodeReport(r.kept));
  return out.take();
}

std::optional<WorkloadResult> decodeResult(std::string_view body) {
  ByteReader in(body);
  WorkloadResult r;
  r.number = in.number();
  r.name = in.text();
  r.was = static_cast<WorkloadResult::Was>(in.number(static_cast<std::uint64_t>(WorkloadResult::Was::NotSupported)));
  r.lacks = in.text();
  r.marked = in.flag();
  r.known = in.number();
  r.reached = decodeLinesReached(in);
  auto kept = decodeReport(in.text());
  if (!kept || !in.finished()) return std::nullopt;
  r.kept = std::move(*kept);
  return r;
}

}  // namespace

// What it says of itself, and what it has.
Result<void> Results::check() {
  if (auto ok = db_.check(); !ok) return ok;
  Statement settings(db_, "SELECT name, value FROM settings");
  while (settings.row()) settings_[settings.bytes(0)] = settings.bytes(1);
  if (!settings.done()) return db_.refused();
  Statement numbers(db_, "SELECT number FROM workloads");
  while (numbers.row()) numbers_.insert(numbers.number(0));
  if (!numbers.done()) return db_.refused();
  return {};
}

std::string Results::difference(const Settings& a, const Settings& b, bool shardsToo) {
  auto valueIn = [](const Settings& s, const std::string& name) {
    auto it = s.find(name);
    return it == s.end() ? std::string() : it->second;
  };
  std::set<std::string> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);
  for (const std::string& name : names) {
    if (name == kShard && !shardsToo) continue;
    std::string one = valueIn(a, name), other = valueIn(b, name);
    if (one == other) continue;
    auto said = [](const std::string& v) { return v.empty() ? std::string("not given") : v; };
    return fmt::format("{}: {} there, {} here", name, said(one), said(other));
  }
  return "";
}

Result<Results> Results::open(const std::string& folder, const Settings& settings) {
  std::error_code error;
  fs::create_directories(folder, error);
  auto db = Database::open(kFormat, fileIn(folder), true);
  if (!db) return tl::unexpected(db.error());
  // One at a time, until it is closed.
  for (const char* sql :
       {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=DELETE", "PRAGMA synchronous=NORMAL", "BEGIN IMMEDIATE"})
    if (auto ok = db->run(sql); !ok) return tl::unexpected(ok.error());
  auto fresh = db->makeTables();
  if (!fresh) return tl::unexpected(fresh.error());
  if (*fresh) {
    for (const auto& [name, value] : settings)
      if (!Statement(*db, "INSERT INTO settings VALUES (?, ?)").with(name).with(value).done()) return db->refused();
  }
  Results results(std::move(*db));
  if (auto ok = results.check(); !ok) return tl::unexpected(ok.error());
  if (std::string why = difference(results.settings_, settings, true); !why.empty())
    return fail(fmt::format("{}: has results of another command ({}); name another folder", results.db_.path(), why));
  if (auto ok = results.db_.run("COMMIT"); !ok) return tl::unexpected(ok.error());
  return results;
}

Result<Results> Results::read(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fileIn(folder), error))
    return fail(fmt::format("{}: has no results.db; name a folder of 'blackout fs --out'", folder));
  auto db = Database::open(kFormat, fileIn(folder), false);
  if (!db) return tl::unexpected(db.error());
  Results results(std::move(*db));
  if (auto ok = results.check(); !ok) return tl::unexpected(ok.error());
  return results;
}

Result<WorkloadResult> Results::load(std::uint64_t number) const {
  Statement select(db_, "SELECT result FROM workloads WHERE number = ?");
  if (!select || !select.with(number).row()) return db_.refused();
  auto body = unpackFile(kResult, select.bytes(0), fmt::format("{}, workload {}", db_.path(), number));
  if (!body) return tl::unexpected(body.error());
  auto result = decodeResult(*body);
  if (!result || result->number != number) return db_.damaged();
  return std::move(*result);
}

Result<std::set<std::uint64_t>> Results::operations() const {
  std::set<std::uint64_t> all;
  Statement select(db_, "SELECT fingerprint FROM operations");
  while (select.row()) all.insert(select.number(0));
  if (!select.done()) return db_.refused();
  return all;
}

Result<LinesReached::StoringLines> Results::lines() const {
  LinesReached::StoringLines all;
  Statement select(db_, "SELECT file, line, struct FROM lines");
  while (select.row()) all.insert({{select.bytes(0), static_cast<std::uint32_t>(select.number(1))}, select.bytes(2)});
  if (!select.done()) return db_.refused();
  return all;
}

Result<void> Results::add(const LinesReached::StoringLines& lines) {
  if (auto ok = db_.run("BEGIN"); !ok) return ok;
  for (const auto& [line, name] : lines)
    if (!Statement(db_, "INSERT OR IGNORE INTO lines VALUES (?, ?, ?)")
             .with(line.first)
             .with(std::uint64_t{line.second})
             .with(name)
             .done())
      return db_.refused();
  return db_.run("COMMIT");
}

Result<void> Results::add(const WorkloadResult& result) {
  auto bytes = packFile(kResult, encodeResult(result));
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto ok = db_.run("BEGIN"); !ok) return ok;
  const Report& report = result.kept.report;
  std::array<std::uint64_t, 3> severities = countBySeverity(report);
  Statement insert(db_, "INSERT INTO workloads VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  bool good = insert && insert.with(result.number)
                            .with(result.name)
                            .with(std::string(nameOf(result.was)))
                            .with(report.exploration ? report.exploration->runs : 0)
                            .with(report.exploration ? report.exploration->states : 0)
                            .with(std::uint64_t{report.findings.size()})
                            .with(severities[static_cast<std::size_t>(Severity::Shown)])
                            .withBytes(*bytes)
                            .done();
  for (std::uint64_t operation : result.operations) {
    if (!good) break;
    good = Statement(db_, "INSERT OR IGNORE INTO operations VALUES (?, ?)").with(operation).with(result.number).done();
  }
  if (!good) return db_.refused();
  if (auto ok = db_.run("COMMIT"); !ok) return ok;
  numbers_.insert(result.number);
  return {};
}

}  // namespace blackout
