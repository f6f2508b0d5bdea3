// The plan that all recovery runs of an exploration share (events/recovery_contract.h): which bytes are
// tracked, which paths may be asked for, what the operations returned, where the recording had its pools mapped.
#pragma once

#include <filesystem>

#include "model/tracked_bytes.h"

namespace blackout {

class PlanFile {
 public:
  static Result<PlanFile> make(const std::filesystem::path& path, const Index& index, const TrackedBytes& tracked);
  PlanFile(PlanFile&& other) noexcept;
  PlanFile& operator=(PlanFile&&) = delete;
  ~PlanFile();

  // The tracked lines as they are now. Only while no run lives.
  Result<void> refresh(const TrackedBytes& tracked);

 private:
  PlanFile() = default;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace blackout
