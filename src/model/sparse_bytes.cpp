#include "model/sparse_bytes.h"

#include <algorithm>
#include <cstring>

namespace blackout {

namespace {
bool isZero(const SparseBytes::Page& page) {
  return std::all_of(page.begin(), page.end(), [](std::byte b) { return b == std::byte{0}; });
}
}  // namespace

SparseBytes::Page& SparseBytes::own(std::uint64_t number) {
  if (Page* page = recent_.find(number)) return *page;
  auto [it, fresh] = own_.try_emplace(number);
  recent_.add(number, it->second);
  if (!fresh) return it->second;
  auto shown = shown_.find(number);
  if (shown == shown_.end()) {
    it->second.fill(std::byte{0});
  } else {
    it->second = *shown->second;
    shown_.erase(shown);
  }
  return it->second;
}

void SparseBytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::uint64_t in = offset % kPage;
    std::size_t n = std::min<std::size_t>(kPage - in, bytes.size());
    std::memcpy(own(offset / kPage).data() + in, bytes.data(), n);
    offset += n;
    bytes = bytes.subspan(n);
  }
}

void SparseBytes::show(std::uint64_t offset, std::span<const std::byte> bytes) {
  static_assert(alignof(Page) == 1);
  while (!bytes.empty()) {
    std::size_t n = std::min<std::size_t>(kPage - offset % kPage, bytes.size());
    if (n == kPage) {
      own_.erase(offset / kPage);
      recent_.forget();
      shown_[offset / kPage] = reinterpret_cast<const Page*>(bytes.data());
    } else {
      write(offset, bytes.first(n));
    }
    offset += n;
    bytes = bytes.subspan(n);
  }
}

void SparseBytes::zero(std::uint64_t offset, std::uint64_t size) {
  std::uint64_t end = offset + size;
  auto part = [&](std::uint64_t from, std::uint64_t to) {  // of one page
    if (from < to && page(from / kPage) != nullptr) std::memset(own(from / kPage).data() + from % kPage, 0, to - from);
  };
  std::uint64_t first = (offset + kPage - 1) / kPage;  // of those that are zeroed whole
  std::uint64_t past = end / kPage;
  if (first > past) return part(offset, end);
  part(offset, first * kPage);
  part(past * kPage, end);
  auto drop = [&](auto& pages) {
    // A hole may be far larger than what was ever written.
    if (past - first >= pages.size()) {
      std::erase_if(pages, [&](const auto& entry) { return entry.first >= first && entry.first < past; });
    } else {
      for (std::uint64_t number = first; number < past; ++number) pages.erase(number);
    }
  };
  drop(own_);
  recent_.forget();
  drop(shown_);
}

void SparseBytes::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    std::uint64_t in = offset % kPage;
    std::size_t n = std::min<std::size_t>(kPage - in, bytes.size());
    if (const Page* p = page(offset / kPage))
      std::memcpy(bytes.data(), p->data() + in, n);
    else
      std::memset(bytes.data(), 0, n);
    offset += n;
    bytes = bytes.subspan(n);
  }
}

const SparseBytes::Page* SparseBytes::page(std::uint64_t number) const {
  if (auto it = own_.find(number); it != own_.end()) return &it->second;
  auto it = shown_.find(number);
  return it == shown_.end() ? nullptr : it->second;
}

std::vector<std::uint64_t> SparseBytes::pages() const {
  std::vector<std::uint64_t> out;
  out.reserve(own_.size() + shown_.size());
  for (const auto& [number, page] : own_) out.push_back(number);
  for (const auto& [number, page] : shown_) out.push_back(number);
  std::sort(out.begin(), out.end());
  return out;
}

bool SparseBytes::operator==(const SparseBytes& other) const {
  auto covered = [](const SparseBytes& a, const SparseBytes& b) {
    const std::vector<std::uint64_t> pages = a.pages();
    return std::all_of(pages.begin(), pages.end(), [&](std::uint64_t number) {
      const Page* p = b.page(number);
      return p != nullptr ? *p == *a.page(number) : isZero(*a.page(number));
    });
  };
  return covered(*this, other) && covered(other, *this);
}

}  // namespace blackout
