#include "report/run_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "findings/numbers.h"
#include "report/escape.h"
#include "report/text.h"

namespace blackout {

namespace {

constexpr DatabaseFormat kFormat{
    0x424b4958,  // "BKIX"
    1,
    "blackout check --out",
    "index of runs",
    "name another folder",
    "remove it: the runs stay, and a new one begins with the next",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY AUTOINCREMENT, mark TEXT NOT NULL, began INTEGER NOT NULL, "
    "finished INTEGER NOT NULL, command TEXT NOT NULL, exit INTEGER NOT NULL, verdict TEXT NOT NULL);"
    "CREATE TABLE findings (run INTEGER NOT NULL, number INTEGER NOT NULL, fingerprint TEXT NOT NULL, kind TEXT NOT "
    "NULL, severity TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run, number));"};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

}  // namespace

bool RunIndex::isIn(const std::string& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(fileIn(folder), error);
}

Result<RunIndex> RunIndex::open(const std::string& folder, bool write) {
  auto db = Database::open(kFormat, fileIn(folder), write);
  if (!db) return tl::unexpected(db.error());
  // Others write a row and are done.
  if (auto ok = db->run("PRAGMA busy_timeout=20000"); !ok) return tl::unexpected(ok.error());
  if (write) {
    if (auto ok = db->run("BEGIN IMMEDIATE"); !ok) return tl::unexpected(ok.error());
    if (auto made = db->makeTables(); !made) return tl::unexpected(made.error());
    if (auto ok = db->run("COMMIT"); !ok) return tl::unexpected(ok.error());
  }
  if (auto ok = db->check(); !ok) return tl::unexpected(ok.error());
  return RunIndex(std::move(*db));
}

Result<void> RunIndex::begin(std::uint64_t number, const std::string& mark) const {
  if (!Statement(db_, "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, 0, '', 0, '')")
           .with(number)
           .with(mark)
           .with(static_cast<std::uint64_t>(std::time(nullptr)))
           .done())
    return db_.refused();
  return {};
}

Result<void> RunIndex::finish(std::uint64_t number, const Report& report, FailOn failOn) const {
  if (auto ok = db_.run("BEGIN IMMEDIATE"); !ok) return ok;
  std::error_code error;
  std::string root = std::filesystem::current_path(error).string();
  bool good = Statement(db_, "UPDATE runs SET finished = 1, command = ?, exit = ?, verdict = ? WHERE number = ?")
                  .with(joined(report.command))
                  .with(static_cast<std::uint64_t>(exitCodeOf(report, failOn)))
                  .with(verdictLine(report))
                  .with(number)
                  .done();
  std::uint64_t n = 0;
  for (const Finding& f : report.findings)
    good = good && Statement(db_, "INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?, ?)")
                       .with(number)
                       .with(++n)
                       .with(fingerprintText(f))
                       .with(std::string(nameOf(f.kind)))
                       .with(std::string(nameOf(f.severity)))
                       .with(findingLine(f, root))
                       .done();
  if (!good) return db_.refused();
  return db_.run("COMMIT");
}

Result<void> RunIndex::forget(std::uint64_t number) const {
  for (const char* sql : {"DELETE FROM findings WHERE run = ?", "DELETE FROM runs WHERE number = ?"})
    if (!Statement(db_, sql).with(number).done()) return db_.refused();
  return {};
}

std::optional<std::uint64_t> RunIndex::lastNumber() const {
  Statement last(db_, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'");
  if (!last.row()) return std::nullopt;
  return last.number(0);
}

Result<std::vector<IndexedRun>> RunIndex::runs() const {
  std::vector<IndexedRun> all;
  Statement rows(db_, "SELECT number, mark, began, finished, command, exit, verdict FROM runs ORDER BY number");
  while (rows.row()) {
    IndexedRun run;
    run.number = rows.number(0);
    run.mark = rows.bytes(1);
    run.began = rows.number(2);
    run.finished = rows.number(3) != 0;
    run.command = rows.bytes(4);
    run.exit = static_cast<ExitCode>(rows.number(5));
    run.verdict = rows.bytes(6);
    all.push_back(std::move(run));
  }
  if (!rows.done()) return db_.refused();
  Statement findings(db_, "SELECT run, fingerprint FROM findings");
  while (findings.row()) {
    auto run = std::lower_bound(all.begin(), all.end(), findings.number(0),
                                [](const IndexedRun& r, std::uint64_t number) { return r.number < number; });
    if (run != all.end() && run->number == findings.number(0)) run->findings.insert(findings.bytes(1));
  }
  if (!findings.done()) return db_.refused();
  return all;
}

const IndexedRun* runBefore(const std::vector<IndexedRun>& runs, const IndexedRun& run) {
  const IndexedRun* before = nullptr;
  for (const IndexedRun& r : runs)
    if (r.number < run.number && r.finished && r.command == run.command) before = &r;
  return before;
}

std::string renderRuns(const std::vector<IndexedRun>& runs) {
  std::string out;
  for (const IndexedRun& run : runs) {
    std::array<char, 32> began{};
    auto seconds = static_cast<std::time_t>(run.began);
    std::tm local{};
    if (localtime_r(&seconds, &local) != nullptr) std::strftime(began.data(), began.size(), "%Y-%m-%d %H:%M", &local);
    out += fmt::format("{:>4}  {}  ", run.number, began.data());
    if (!run.finished) {
      out += "was not finished\n";
      continue;
    }
    constexpr std::string_view kHead = "blackout: ";
    std::string verdict = escapeText(run.verdict);
    if (verdict.starts_with(kHead)) verdict.erase(0, kHead.size());
    out += fmt::format("{}; {}", escapeText(run.command), verdict);
    if (const IndexedRun* before = runBefore(runs, run)) {
      auto without = [](const std::set<std::string>& a, const std::set<std::string>& b) {
        return std::count_if(a.begin(), a.end(), [&](const std::string& f) { return !b.contains(f); });
      };
      if (run.findings == before->findings)
        out += fmt::format("; as run {}", before->number);
      else
        out += fmt::format("; since run {}: {} new, {} not found any more", before->number,
                           without(run.findings, before->findings), without(before->findings, run.findings));
    }
    out += '\n';
  }
  return out;
}

}  // namespace blackout
