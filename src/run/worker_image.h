// What a crash left, as files: the pools of one worker. Moving from one crash to the next writes only
// the lines that differ. Only while the worker has no run: its runs map these files privately.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/run.h"

namespace blackout {

class WorkerImage {
 public:
  // Below `folder`: pools/ and table. The baseline must outlive it.
  static Result<WorkerImage> make(const std::filesystem::path& folder, const Baseline& baseline);
  WorkerImage(WorkerImage&&) noexcept = default;
  WorkerImage& operator=(WorkerImage&&) = delete;
  ~WorkerImage();

  // The memory of the request.
  Result<void> become(const Run& request);
  // The beginning of the trace of a run on the present image.
  std::string traceBeginning() const;

 private:
  struct File {
    bool exists = false;
    std::string path;
    std::uint64_t size = 0;
    int fd = -1;
    auto state() const { return std::tie(exists, path, size); }
  };
  explicit WorkerImage(std::filesystem::path folder, const Baseline& baseline)
      : folder_(std::move(folder)), baseline_(&baseline) {}
  using Files = IdVector<FileNo, File>;
  Files filesOf(const Run& request) const;
  Result<void> moveFiles(Files now, PointNo pointNo);
  Result<void> fill(FileNo f, PointNo pointNo);
  void write(TrackedNo w, const LineBytes& bytes) const;
  Result<void> saveTable() const;
  std::filesystem::path copyOf(const std::string& path) const;

  std::filesystem::path folder_;
  const Baseline* baseline_;
  Files files_;
  std::optional<PointNo> pointNo_;  // none before the first
  bool otherFiles_ = false;         // the files are not the baseline's
  std::vector<TrackedNo> changed_;  // lines that are not the baseline's
};

}  // namespace blackout
