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
  // Pages of own_ that were written lately, by the low bits of their numbers: the next write is often to one of them.
  // Pages stay where they are while the map grows; what is copied or moved begins without.
  class Recent {
   public:
    Recent() = default;
    Recent(const Recent&) {}
    Recent(Recent&& other) noexcept { other.forget(); }
    Recent& operator=(const Recent& other) {
      if (this != &other) forget();
      return *this;
    }
    Recent& operator=(Recent&& other) noexcept {
      forget();
      other.forget();
      return *this;
    }
    ~Recent() = default;
    Page* find(std::uint64_t number) const {
      const Slot& s = slots_[number % slots_.size()];
      return s.number == number ? s.page : nullptr;
    }
    void add(std::uint64_t number, Page& page) { slots_[number % slots_.size()] = {number, &page}; }
    void forget() { slots_ = {}; }

   private:
    struct Slot {
      std::uint64_t number = 0;
      Page* page = nullptr;
    };
    std::array<Slot, 16> slots_{};
  };
  Recent recent_;
  std::unordered_map<std::uint64_t, const Page*> shown_;  // of pages that are not own
};

}  // namespace blackout
