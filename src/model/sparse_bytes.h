// The content of a file that is mostly zeros, or mostly what somebody else keeps already: only pages that were written
// take memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace blackout {

class SparseBytes {
 public:
  static constexpr std::uint64_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  // The same without a copy of whole pages: `bytes` must stay where they are for as long as this does.
  void show(std::uint64_t offset, std::span<const std::byte> bytes);
  void zero(std::uint64_t offset, std::uint64_t size);
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

  // Null for a page of zeros that was never written. Page n begins at offset n * kPage.
  const Page* page(std::uint64_t number) const;
  // Numbers of the written pages, ascending.
  std::vector<std::uint64_t> pages() const;

  // Equal content: a page of zeros equals a page that was never written.
  bool operator==(const SparseBytes& other) const;

 private:
  Page& own(std::uint64_t number);

  std::unordered_map<std::uint64_t, Page> own_;
  std::unordered_map<std::uint64_t, const Page*> shown_;  // of pages that are not own
};

}  // namespace blackout
