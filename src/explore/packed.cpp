#include "explore/packed.h"

#include <fmt/format.h>
#include <zstd.h>

#include <cstdint>

namespace blackout {

namespace {
constexpr int kLevel = 3;  // zstd's own default
}

Result<std::string> pack(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0)
    return fail(fmt::format("compression failed: {}", ZSTD_getErrorName(size)), ExitCode::Internal);
  out.resize(size);
  out.shrink_to_fit();
  return out;
}

Result<std::string> unpack(std::string_view packed, std::uint64_t most) {
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most)
    return fail("what was compressed is damaged");
  // zstd makes at most about 128 kB of 4 bytes: what promises more is damaged, and not worth the memory.
  if (size / 65536 > packed.size()) return fail("what was compressed is damaged");
  std::string out(size, '\0');
  std::size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) return fail("what was compressed is damaged");
  return out;
}

}  // namespace blackout
