// Random small programs: the index against the brute-force machine at every point, a crash in
// recovery, and the points that are enough against all points, with marks that leave some of them out.
#include <rapidcheck.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "brute_force.h"
#include "model/cursor.h"
#include "model/files_at_end.h"
#include "model/image.h"
#include "random_program.h"

namespace blackout::test {
namespace {

const std::vector<StartFile> kPool = {{"/pool", 192}};

Index indexOf(const Trace& trace, const ModelOptions& options) {
  auto built = Index::build(trace, options);
  if (!built) throw std::runtime_error(built.error().sentence);
  return std::move(*built);
}

LineContent text(const LineBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
LineBytes line(const LineContent& content) {
  LineBytes bytes;
  std::memcpy(bytes.data(), content.data(), bytes.size());
  return bytes;
}
std::set<LineContent> contents(const LineVersions& versions) {
  RC_ASSERT(versions.complete);
  std::set<LineContent> out;
  for (const LineVersion& v : versions.versions) out.insert(text(v.bytes));
  RC_ASSERT(out.size() == versions.versions.size());
  return out;
}
constexpr std::size_t kNoLimit = 1U << 24;

void checkFiles(const Index& index, const BruteSnapshot& snapshot) {
  for (const auto& [number, file] : snapshot.files) {
    RC_ASSERT(index.files().existsAt(number, snapshot.at) == file.exists);
    if (!file.exists) continue;
    RC_ASSERT(index.files().sizeAt(number, snapshot.at) == file.size);
    RC_ASSERT(index.files().pathAt(number, snapshot.at) == file.path);
  }
}

// The image must hold the chosen version of every line of every file that exists.
void checkImage(const Image& image, const std::map<LineNo, LineContent>& expected, const BruteSnapshot& snapshot) {
  std::size_t existing = 0;
  for (const auto& [number, file] : snapshot.files) {
    if (!file.exists) continue;
    ++existing;
    auto it =
        std::find_if(image.files.begin(), image.files.end(), [&, n = number](const auto& f) { return f.number == n; });
    RC_ASSERT(it != image.files.end());
    RC_ASSERT(it->size == file.size);
    RC_ASSERT(it->path == file.path);
    for (const auto& [l, content] : expected) {
      if (fileOf(addressOf(l)) != number) continue;
      LineBytes bytes;
      it->bytes.read(offsetOf(addressOf(l)), bytes);
      RC_ASSERT(text(bytes) == content);
    }
  }
  RC_ASSERT(image.files.size() == existing);
}

// A level with a version of every line, picked by `pick`, and the contents that it stands for.
std::pair<CrashLevel, std::map<LineNo, LineContent>> pickLevel(const Index& index, const BruteSnapshot& snapshot,
                                                               std::uint64_t pick) {
  std::pair<CrashLevel, std::map<LineNo, LineContent>> out{CrashLevel(snapshot.at, UnnamedLines::Least), {}};
  for (const auto& [l, possible] : snapshot.lines) {
    LineVersions versions = index.versionsOf(l, snapshot.at, nullptr, kNoLimit);
    const LineVersion& v = versions.versions[pick % versions.versions.size()];
    RC_ASSERT(index.isFeasible(l, snapshot.at, v.version));
    // The least version is also what a line gets that is not named.
    if (pick % versions.versions.size() != 0 || pick % 2 == 1) out.first.persisted[l] = v.version;
    out.second[l] = text(v.bytes);
    pick = pick / 3 + l.value();
  }
  return out;
}

void indexEqualsBruteForce(const Genes& genes, std::uint32_t optionGene) {
  RandomProgram program(genes, kPool, optionGene % 2 == 0);
  ModelOptions options = randomOptions(optionGene);
  Index index = indexOf(*program.trace, options);
  Cursor cursor(index);
  std::vector<EventNo> points = index.points(PointsMode::All);
  std::vector<BruteSnapshot> snapshots = bruteForce(*program.trace, options);
  RC_ASSERT(points.size() == snapshots.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const BruteSnapshot& snapshot = snapshots[i];
    RC_ASSERT(points[i] == snapshot.at);
    cursor.moveTo(snapshot.at);
    double states = 0;
    for (const auto& [l, possible] : snapshot.lines) {
      LineVersions versions = index.versionsOf(l, snapshot.at, nullptr, kNoLimit);
      if (contents(versions) != possible) {
        RC_LOG() << describe(options) << ": line " << std::hex << l << " at event " << std::dec << snapshot.at << ": "
                 << versions.versions.size() << " versions, brute force has " << possible.size() << "\n";
        RC_FAIL("versions differ");
      }
      LineVersions walked = cursor.versions(l, kNoLimit);
      RC_ASSERT(contents(walked) == possible);
      RC_ASSERT(walked.versions.front().version == versions.versions.front().version);
      RC_ASSERT(text(cursor.least(l)) == text(versions.versions.front().bytes));
      states += std::log10(static_cast<double>(versions.downSets));
    }
    RC_ASSERT(std::abs(cursor.log10States() - states) < 1e-6);
    checkFiles(index, snapshot);
    auto [level, expected] = pickLevel(index, snapshot, optionGene / 7 + i);
    auto image = buildImage(level, index);
    RC_ASSERT(image.has_value());
    checkImage(*image, expected, snapshot);
  }
}

// After a second crash: what the first left, and over it what the recovery's own stores may leave.
void crashInRecovery(const Genes& genes, const Genes& recoveryGenes, std::uint32_t optionGene) {
  RandomProgram program(genes, kPool, true);
  ModelOptions options = randomOptions(optionGene);
  Index index = indexOf(*program.trace, options);
  std::vector<BruteSnapshot> snapshots = bruteForce(*program.trace, options);
  const BruteSnapshot& crash = snapshots[optionGene % snapshots.size()];
  auto [level, left] = pickLevel(index, crash, optionGene / 5);
  auto image = buildImage(level, index);
  RC_ASSERT(image.has_value());

  std::vector<StartFile> files;
  std::map<LineNo, LineContent> initial;
  for (const FileImage& f : image->files) {
    files.push_back({f.path, f.size});
    for (std::uint64_t offset = 0; offset < 256; offset += 64) {
      LineBytes bytes;
      f.bytes.read(offset, bytes);
      initial[lineOf(pmAddr(static_cast<FileNo>(files.size()), offset))] = text(bytes);
    }
  }
  // The recorder writes down content that it finds; the image of the level before is what counts.
  RandomProgram recovery(recoveryGenes, files, optionGene % 2 == 0);
  Index second = indexOf(*recovery.trace, options);
  for (const BruteSnapshot& snapshot : bruteForce(*recovery.trace, options, &initial)) {
    CrashLevel again(snapshot.at, UnnamedLines::Least);
    std::map<LineNo, LineContent> expected;
    std::uint64_t pick = optionGene / 11 + snapshot.at.value();
    for (const auto& [l, possible] : snapshot.lines) {
      auto known = initial.find(l);
      LineBytes under = line(known == initial.end() ? LineContent(64, '\0') : known->second);
      LineVersions versions = second.versionsOf(l, snapshot.at, &under, kNoLimit);
      RC_ASSERT(contents(versions) == possible);
      const LineVersion& v = versions.versions[pick++ % versions.versions.size()];
      again.persisted[l] = v.version;
      expected[l] = text(v.bytes);
    }
    const Index* indexes[] = {&index, &second};
    auto both = buildImage(CrashState{level, again}, indexes);
    RC_ASSERT(both.has_value());
    checkImage(*both, expected, snapshot);
  }
}

// Each point of all must be dominated by a point that is enough: it leaves at least the same
// states of the same files, no fewer operations have ended and no more have begun, so an outcome that
// is wrong at the one is wrong at the other.
void pointsAreEnough(const Genes& genes, std::uint32_t optionGene) {
  RandomProgram program(genes, kPool, true, optionGene % 2 == 0);
  const Trace& trace = *program.trace;
  ModelOptions options = randomOptions(optionGene);
  Index index = indexOf(trace, options);
  std::map<EventNo, BruteSnapshot> at;
  std::vector<EventNo> wanted;
  for (BruteSnapshot& s : bruteForce(trace, options)) {
    if (s.wanted) wanted.push_back(s.at);
    at[s.at] = std::move(s);
  }
  RC_ASSERT(index.points(PointsMode::All) == wanted);
  auto operations = [&](EventNo point, EventKind kind) {
    int count = 0;
    for (EventNo n = 0; n < point; n = trace.next(n)) count += kindOf(trace[n]) == kind ? 1 : 0;
    return count;
  };
  auto existing = [](const BruteSnapshot& s) {
    std::vector<BruteFile> out;
    for (const auto& [n, f] : s.files)
      if (f.exists) out.push_back(f);
    return out;
  };
  std::vector<EventNo> enough = index.points(PointsMode::Enough);
  RC_ASSERT(std::includes(wanted.begin(), wanted.end(), enough.begin(), enough.end()));
  for (EventNo p : wanted) {
    if (p < trace.end() && kindOf(trace[p]) == EventKind::ExtraPoint)
      RC_ASSERT(std::binary_search(enough.begin(), enough.end(), p));
    bool covered = std::any_of(enough.begin(), enough.end(), [&](EventNo q) {
      if (operations(q, EventKind::OpBegin) > operations(p, EventKind::OpBegin)) return false;
      if (operations(q, EventKind::OpEnd) < operations(p, EventKind::OpEnd)) return false;
      if (existing(at[p]) != existing(at[q])) return false;
      return std::all_of(at[p].lines.begin(), at[p].lines.end(), [&](const auto& entry) {
        const BruteFile& f = at[p].files[fileOf(addressOf(entry.first))];
        const auto& there = at[q].lines[entry.first];
        return !f.exists || std::includes(there.begin(), there.end(), entry.second.begin(), entry.second.end());
      });
    });
    if (!covered) {
      RC_LOG() << describe(options) << ": point " << p << " is not covered\n";
      RC_FAIL("points are not enough");
    }
  }
}

// With everything persisted the image at the end is what replay gives.
void everythingPersistedIsReplay(const Genes& genes) {
  RandomProgram program(genes, kPool, true);
  Index index = indexOf(*program.trace, {});
  auto image = buildImage(CrashLevel(program.trace->end(), UnnamedLines::Newest), index);
  RC_ASSERT(image.has_value());
  std::size_t live = 0;
  for (const ReplayedFile& f : replay(*program.trace)) {
    if (f.removed) continue;
    ++live;
    auto it =
        std::find_if(image->files.begin(), image->files.end(), [&](const auto& i) { return i.number == f.number; });
    RC_ASSERT(it != image->files.end());
    RC_ASSERT(it->path == f.path);
    RC_ASSERT(it->size == f.size);
    RC_ASSERT(it->bytes == f.bytes);
  }
  RC_ASSERT(image->files.size() == live);
}

}  // namespace
}  // namespace blackout::test

int main() {
  using namespace blackout::test;
  // A fixed seed: the same programs every time. RC_PARAMS overrides all of it.
  setenv("RC_PARAMS", "max_success=12000 max_size=50 seed=20", 0);
  bool ok = rc::check("the index has the states of the brute-force machine at every point", indexEqualsBruteForce);
  ok &= rc::check("a crash in recovery adds recovery's stores to what the first crash left", crashInRecovery);
  ok &= rc::check("the points that are enough lose no outcome", pointsAreEnough);
  ok &= rc::check("everything persisted is what replay gives", everythingPersistedIsReplay);
  return ok ? 0 : 1;
}
