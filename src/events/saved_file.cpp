#include "events/saved_file.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace blackout {

namespace {

constexpr int kLevel = 3;  // zstd's own default

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t bodySize;
  std::uint64_t sum;  // of the compressed body, with its size
};
static_assert(sizeof(Header) == 32);

std::uint64_t sumOf(std::string_view packed, std::uint64_t bodySize) {
  return XXH3_64bits_withSeed(packed.data(), packed.size(), bodySize);
}

}  // namespace

Result<std::string> packFile(const SavedFormat& format, std::string_view body) {
  auto packed = pack(body);
  if (!packed) return packed;
  Header header{{}, format.version, 0, body.size(), sumOf(*packed, body.size())};
  std::memcpy(header.magic, format.magic.data(), sizeof header.magic);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + *packed;
}

Result<std::string> unpackFile(const SavedFormat& format, std::string_view bytes, const std::string& name) {
  Header header{};
  if (!bytes.starts_with(format.magic))
    return fail(fmt::format("{}: not a {}; {}", name, format.called, format.instead));
  if (bytes.size() < sizeof header) return damagedFile(format, name);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != format.version)
    return fail(fmt::format("{}: a {} of format version {}, this is version {}; {}", name, format.called,
                            header.version, format.version, format.again));
  std::string_view packed = bytes.substr(sizeof header);
  if (header.reserved != 0 || header.bodySize > format.largestBody || sumOf(packed, header.bodySize) != header.sum)
    return damagedFile(format, name);
  auto body = unpack(packed, header.bodySize);
  if (!body || body->size() != header.bodySize) return damagedFile(format, name);
  return body;
}

tl::unexpected<Error> damagedFile(const SavedFormat& format, const std::string& name) {
  return fail(fmt::format("{}: the {} is damaged or cut short; {}", name, format.called, format.again));
}

Result<std::string> readWholeFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  // A folder can be opened, but not read.
  if (in.is_open()) in.peek();
  if (!in.is_open() || in.bad()) return fail(std::strerror(errno));
  in.clear();
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return fail(std::strerror(errno));
  return bytes;
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

Result<std::string> unpack(std::string_view packed, std::uint64_t largest) {
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > largest)
    return fail("what was compressed is damaged");
  // zstd makes at most about 128 kB of 4 bytes: what promises more is damaged, and not worth the memory.
  if (size / 65536 > packed.size()) return fail("what was compressed is damaged");
  std::string out(size, '\0');
  std::size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) return fail("what was compressed is damaged");
  return out;
}

}  // namespace blackout
