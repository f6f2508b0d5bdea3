#include "run/plan_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "events/address_map.h"
#include "events/recovery_contract.h"
#include "events/trace.h"

namespace blackout {

namespace {

// Room for what later levels of crashes add.
constexpr std::uint64_t kMaxTracked = std::uint64_t{1} << 24;

std::vector<blackout_plan_mapping> mappingsOf(const Trace& trace, std::uint64_t& freeAddress) {
  std::vector<blackout_plan_mapping> mappings;
  constexpr std::uint64_t kFirst = kPmBase + kPoolAlignment;
  freeAddress = kFirst;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (kindOf(trace[n]) != EventKind::Map) continue;
    auto [address, size] = trace.mapping(n);
    mappings.push_back({fileOf(trace[n].addr).value(), 0, offsetOf(trace[n].addr), size, address});
    std::uint64_t end = address + size;
    if (address >= kFirst && end < kPmBase + kPmSpan) freeAddress = std::max(freeAddress, end + (4 << 20));
  }
  return mappings;
}

// The table of plan.results and what it leads to, for a plan that has it at offset `at`.
std::string resultsOf(const Operations& operations, std::uint64_t at) {
  IdVector<OperationNo, std::uint64_t> offsets(operations.count(), 0);
  std::string lists;
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    if (operations[n].end == kNever) continue;
    std::string values = operations.encodedResults(n);
    blackout_plan_values head{static_cast<std::uint32_t>(values.size()), 0};
    offsets[n] = at + offsets.size() * sizeof offsets[0] + lists.size();
    lists.append(reinterpret_cast<const char*>(&head), sizeof head);
    lists.append(values);
  }
  return std::string(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof offsets[0]) + lists;
}

}  // namespace

Result<PlanFile> PlanFile::make(const std::filesystem::path& path, const Index& index, const TrackedBytes& tracked) {
  const Trace& trace = index.trace();
  IdVector<FileNo, std::uint64_t> largest(index.files().last() + 1 + kMadeFiles, 0);
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::FileSize)
      largest[fileOf(trace[n].addr)] = std::max(largest[fileOf(trace[n].addr)], trace[n].value);
  for (FileNo f = index.files().last() + 1; f < largest.endId(); ++f) largest[f] = kMadeFileSize;

  std::uint64_t end = sizeof(blackout_plan);
  auto take = [&](std::uint64_t bytes) {
    std::uint64_t at = end;
    end = (end + bytes + 63) / 64 * 64;
    return at;
  };
  blackout_plan plan{};
  plan.magic = BLACKOUT_PLAN_MAGIC;
  plan.version = BLACKOUT_RECOVERY_VERSION;
  plan.operations = tracked.operations();
  plan.file_count = static_cast<std::uint32_t>(largest.size());
  plan.files = take(largest.size() * sizeof(blackout_plan_file));
  std::vector<blackout_plan_mapping> mappings = mappingsOf(trace, plan.free_address);
  plan.mapping_count = static_cast<std::uint32_t>(mappings.size());
  plan.mappings = take(mappings.size() * sizeof(blackout_plan_mapping));
  plan.path_count = static_cast<std::uint32_t>(tracked.paths().size());
  plan.paths = take(tracked.paths().size() * sizeof(std::uint32_t));
  std::vector<std::uint32_t> texts;
  for (const std::string& p : tracked.paths()) texts.push_back(static_cast<std::uint32_t>(take(p.size() + 1)));
  plan.masks = take(kMaxTracked * sizeof(std::uint64_t));
  IdVector<FileNo, blackout_plan_file> files(largest.size());
  for (FileNo f = 1; f < files.endId(); ++f) {
    files[f].lines = (largest[f] + BLACKOUT_LINE - 1) / BLACKOUT_LINE;
    files[f].slots = take(files[f].lines * sizeof(std::uint32_t));
    files[f].marks = take(files[f].lines / BLACKOUT_PLAN_STRETCH + 1);
  }
  std::string results = resultsOf(index.operations(), end);
  plan.results = take(results.size());
  plan.size = end;

  auto broken = [&] {
    return fail(fmt::format("{}: no room for the plan of the restarts: {}", path.string(), std::strerror(errno)));
  };
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return broken();
  PlanFile made;
  void* base = ftruncate(fd, static_cast<off_t>(end)) != 0
                   ? MAP_FAILED
                   : mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (base == MAP_FAILED) return broken();
  made.base_ = static_cast<std::byte*>(base);
  made.size_ = end;
  std::memcpy(made.base_ + plan.files, files.data(), files.size() * sizeof files[0]);
  std::memcpy(made.base_ + plan.mappings, mappings.data(), mappings.size() * sizeof(blackout_plan_mapping));
  std::memcpy(made.base_ + plan.paths, texts.data(), texts.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::memcpy(made.base_ + texts[i], tracked.paths()[i].c_str(), tracked.paths()[i].size() + 1);
  std::memcpy(made.base_ + plan.results, results.data(), results.size());
  std::memcpy(made.base_, &plan, sizeof plan);
  if (auto ok = made.refresh(tracked); !ok) return tl::unexpected(ok.error());
  return made;
}

Result<void> PlanFile::refresh(const TrackedBytes& tracked) {
  auto& plan = *reinterpret_cast<blackout_plan*>(base_);
  if (tracked.count() > kMaxTracked)
    return fail("more than 1 GiB of PM was stored to: too much to track; make the workload smaller");
  auto* masks = reinterpret_cast<std::uint64_t*>(base_ + plan.masks);
  const auto* files = reinterpret_cast<const blackout_plan_file*>(base_ + plan.files);
  for (TrackedNo w : idRange<TrackedNo>(tracked.count())) {
    masks[w.value()] = tracked.mask(w);
    PmAddr at = addressOf(tracked.line(w));
    if (fileOf(at).value() >= plan.file_count) continue;
    const blackout_plan_file& f = files[fileOf(at).value()];
    std::uint64_t line = offsetOf(at) / BLACKOUT_LINE;
    if (line >= f.lines) continue;
    reinterpret_cast<std::uint32_t*>(base_ + f.slots)[line] = w.value() + 1;
    base_[f.marks + line / BLACKOUT_PLAN_STRETCH] = std::byte{1};
  }
  plan.tracked = tracked.count();
  return {};
}

PlanFile::PlanFile(PlanFile&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PlanFile::~PlanFile() {
  if (base_ != nullptr) munmap(base_, size_);
}

}  // namespace blackout
