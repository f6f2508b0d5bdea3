#include "fake_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "events/id_text.h"
#include "explore/seeded.h"

namespace blackout::test {

namespace {

class RequestMemory : public CrashedMemory {
 public:
  RequestMemory(const Baseline& baseline, const Run& request) : baseline_(baseline), request_(request) {}
  std::optional<File> open(const std::string& path) const override {
    std::optional<File> found;
    for (const FileState& f : files())
      if (f.path == path) found = File{f.number, f.size};
    return found;
  }
  std::vector<FileState> files() const {
    if (request_.files) return *request_.files;
    const FileTimeline& timeline = baseline_.index().files();
    EventNo at = baseline_.point(request_.pointNo);
    return timeline.filesIn(at, timeline.leastAt(at));
  }
  std::byte read(PmAddr addr) const override {
    auto line = lines_.find(lineOf(addr));
    if (line == lines_.end()) line = lines_.emplace(lineOf(addr), content(lineOf(addr))).first;
    return line->second[addr % BLACKOUT_LINE];
  }
  std::uint32_t opState(std::uint32_t n) const override { return baseline_.opState(request_.pointNo, OperationNo(n)); }

 private:
  LineBytes content(LineNo line) const {
    TrackedNo w = baseline_.tracked().find(line);
    LineBytes bytes{};
    if (w == TrackedBytes::kNone) {
      baseline_.index().files().initialBytes(line, bytes);
      return bytes;
    }
    for (const auto& [changed, to] : request_.lines)
      if (changed == w) return to;
    return baseline_.least(request_.pointNo, w);
  }
  const Baseline& baseline_;
  const Run& request_;
  mutable std::map<LineNo, LineBytes> lines_;
};

}  // namespace

WatchedNames namesOf(const TrackedBytes& tracked) {
  return {[&tracked](LineNo line) {
            TrackedNo w = tracked.find(line);
            return w == TrackedBytes::kNone ? std::nullopt : std::optional(w);
          },
          [&tracked](TrackedNo w) { return tracked.mask(w); },
          {tracked.paths().begin(), tracked.paths().end()},
          tracked.operations()};
}

FakeRunner::FakeRunner(const RecoveryProgram& program, const Baseline& baseline, unsigned workers, std::uint64_t order)
    : program_(&program), baseline_(&baseline), workers_(workers), order_(order) {
  std::string pattern = (std::filesystem::temp_directory_path() / "blackout-explore-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  folder_ = pattern;
}

FakeRunner::~FakeRunner() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FakeRunner::check(const Run& request) {
  auto complain = [&](std::string what) { complaints_.push_back(std::move(what)); };
  if (request.pointNo.value() >= baseline_->count()) return complain("no such point");
  if (request.files && !std::is_sorted(request.files->begin(), request.files->end()))
    complain("files are not ascending");
  if (request.files && level_ == 1) {
    FilesVersions possible = baseline_->index().files().versionsAt(baseline_->point(request.pointNo));
    auto same = [&](const FilesVersion& v) { return v.files == *request.files; };
    auto it = std::find_if(possible.versions.begin(), possible.versions.end(), same);
    if (it == possible.versions.begin()) complain("the least version of the files is the baseline's");
    if (it == possible.versions.end()) complain("no crash at the point leaves the files so");
  }
  for (std::size_t i = 0; i < request.lines.size(); ++i) {
    const auto& [w, bytes] = request.lines[i];
    if (i > 0 && request.lines[i - 1].first >= w) complain("lines are not ascending");
    if (bytes == baseline_->least(request.pointNo, w)) complain(fmt::format("line {} is named for nothing", w));
    if (level_ > 1) continue;
    LineVersions possible =
        baseline_->index().versionsOf(baseline_->tracked().line(w), baseline_->point(request.pointNo));
    if (std::none_of(possible.versions.begin(), possible.versions.end(),
                     [&](const LineVersion& v) { return v.bytes == bytes; }))
      complain(fmt::format("no crash at point {} recoveries line {} so", request.pointNo, w));
  }
}

Result<void> FakeRunner::begin(unsigned worker, const Run& request) {
  check(request);
  if (worker >= workers_ || pending_.count(worker) != 0) complaints_.push_back("the worker is not idle");
  RequestMemory memory(*baseline_, request);
  // As of a worker that has had runs with more files.
  std::vector<RecoveryProgram::TableFile> files(baseline_->index().files().last().value() + 1 + worker % 3);
  for (const FileState& f : memory.files()) {
    files.resize(std::max<std::size_t>(files.size(), f.number.value() + 1));
    files[f.number.value()] = {true, f.path, f.size};
  }
  RecoveryProgram::Did did = program_->run(memory, namesOf(baseline_->tracked()), files);

  RunEnd result;
  result.outcome = did.outcome;
  result.queries = did.queries;
  if (request.traced) {
    result.tracePath = (folder_ / std::to_string(worker)).string();
    std::ofstream(result.tracePath, std::ios::binary | std::ios::trunc) << did.trace;
  }
  std::string recovery;
  for (const Query& q : did.queries) {
    recovery += fmt::format("{} {} {:x}:", static_cast<int>(q.kind), q.subject, q.mask);
    if (q.kind == QueryKind::Bytes) {
      PmAddr line = addressOf(baseline_->tracked().line(q.line()));
      for (unsigned i = 0; i < 64; ++i)
        if ((q.mask >> i & 1) != 0) recovery += static_cast<char>(memory.read(line + i));
    } else if (q.kind == QueryKind::Path) {
      auto found = memory.open(baseline_->tracked().paths()[q.subject]);
      if (found) recovery += fmt::format("{} {}", found->number, found->size);
    } else {
      recovery += std::to_string(opReply(memory.opState(q.subject), q.mask));
    }
    recovery += ';';
  }
  if (!seen_.insert(recovery).second) ++repeated_;
  if (disturb) disturb(runs_, result);
  ++runs_;
  pending_[worker] = std::move(result);
  return {};
}

Result<std::pair<unsigned, RunEnd>> FakeRunner::wait() {
  if (pending_.empty()) return fail("nothing was begun", ExitCode::Internal);
  auto it =
      std::next(pending_.begin(), static_cast<std::ptrdiff_t>(mix(order_, runs_, pending_.size()) % pending_.size()));
  std::pair<unsigned, RunEnd> out(it->first, std::move(it->second));
  pending_.erase(it);
  return out;
}

}  // namespace blackout::test
