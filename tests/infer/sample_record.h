// A record of kept bitcode as the pass writes it, with any content.
#pragma once

#include <zstd.h>

#include <cstring>
#include <string>

#include "events/contract.h"
#include "llvm/Config/llvm-config.h"
#include "xxhash.h"

namespace blackout {

inline std::string sampleRecord(const std::string& name, const std::string& bitcode,
                                std::uint32_t version = BLACKOUT_BITCODE_VERSION,
                                std::uint32_t llvm = LLVM_VERSION_MAJOR) {
  std::string packed(ZSTD_compressBound(bitcode.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bitcode.data(), bitcode.size(), 1));
  blackout_bitcode header{};
  std::memcpy(header.magic, BLACKOUT_BITCODE_MAGIC, sizeof header.magic);
  header.version = version;
  header.llvm = llvm;
  header.packed = packed.size();
  header.unpacked = bitcode.size();
  header.checksum = XXH3_64bits(packed.data(), packed.size());
  header.name_size = static_cast<std::uint32_t>(name.size());
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all += name + packed;
  all.resize((all.size() + 7) / 8 * 8);
  return all;
}

}  // namespace blackout
