#include "model/sparse_bytes.h"

#include <algorithm>
#include <cstring>

namespace blackout {

namespace {
bool isZero(const SparseBytes::Page& page) {
  return std::all_of(page.begin(), page.end(), [](std::byte b) { return b == std::byte{0}; });
}
}  // namespace

void SparseBytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::uint64_t in = offset % kPage;
    std::size_t n = std::min<std::size_t>(kPage - in, bytes.size());
    auto [it, fresh] = pages_.try_emplace(offset / kPage);
    if (fresh) it->second.fill(std::byte{0});
    std::memcpy(it->second.data() + in, bytes.data(), n);
    offset += n;
    bytes = bytes.subspan(n);
  }
}

void SparseBytes::zero(std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return;
  std::uint64_t first = offset / kPage;
  std::uint64_t last = (offset + size - 1) / kPage;
  auto clear = [&](std::uint64_t number, Page& page) {
    std::uint64_t begin = number == first ? offset % kPage : 0;
    std::uint64_t end = number == last ? (offset + size - 1) % kPage + 1 : kPage;
    std::memset(page.data() + begin, 0, end - begin);
    return end - begin == kPage;
  };
  // A hole may be far larger than what was ever written.
  if (last - first >= pages_.size()) {
    for (auto it = pages_.begin(); it != pages_.end();) {
      bool whole = it->first >= first && it->first <= last && clear(it->first, it->second);
      it = whole ? pages_.erase(it) : std::next(it);
    }
    return;
  }
  for (std::uint64_t number = first; number <= last; ++number) {
    auto it = pages_.find(number);
    if (it != pages_.end() && clear(number, it->second)) pages_.erase(it);
  }
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
  auto it = pages_.find(number);
  return it == pages_.end() ? nullptr : &it->second;
}

std::vector<std::uint64_t> SparseBytes::pages() const {
  std::vector<std::uint64_t> out;
  out.reserve(pages_.size());
  for (const auto& [number, page] : pages_) out.push_back(number);
  std::sort(out.begin(), out.end());
  return out;
}

bool SparseBytes::operator==(const SparseBytes& other) const {
  auto covered = [](const SparseBytes& a, const SparseBytes& b) {
    return std::all_of(a.pages_.begin(), a.pages_.end(), [&](const auto& entry) {
      const Page* p = b.page(entry.first);
      return p != nullptr ? *p == entry.second : isZero(entry.second);
    });
  };
  return covered(*this, other) && covered(other, *this);
}

}  // namespace blackout
