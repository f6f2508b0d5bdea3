#include "pass/kept_bitcode.h"

#include <cstring>

#include "events/contract.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace blackout {

static ArrayRef<std::uint8_t> asBytes(StringRef s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

void keepBitcode(Module& m, const Module& prepared) {
  for (const GlobalVariable& g : m.globals())
    if (g.getSection() == BLACKOUT_BITCODE_SECTION) return;
  if (!compression::zstd::isAvailable()) return;
  SmallString<0> bitcode;
  {
    raw_svector_ostream out(bitcode);
    WriteBitcodeToFile(prepared, out);
  }
  SmallVector<std::uint8_t, 0> packed;
  compression::zstd::compress(asBytes(bitcode), packed);

  const std::string& name = m.getSourceFileName();
  blackout_bitcode header{};
  std::memcpy(header.magic, BLACKOUT_BITCODE_MAGIC, sizeof header.magic);
  header.version = BLACKOUT_BITCODE_VERSION;
  header.llvm = LLVM_VERSION_MAJOR;
  header.packed = packed.size();
  header.unpacked = bitcode.size();
  header.checksum = xxh3_64bits(packed);
  header.name_size = static_cast<std::uint32_t>(name.size());
  std::string record(reinterpret_cast<const char*>(&header), sizeof header);
  record += name;
  record.append(reinterpret_cast<const char*>(packed.data()), packed.size());

  Constant* init = ConstantDataArray::getRaw(record, record.size(), Type::getInt8Ty(m.getContext()));
  auto* global = new GlobalVariable(m, init->getType(), true, GlobalValue::PrivateLinkage, init, "blackout.bitcode");
  global->setSection(BLACKOUT_BITCODE_SECTION);
  global->setAlignment(Align(8));
  // Nothing refers to it, and linkers that collect sections are to keep it.
  appendToUsed(m, {global});
}

}  // namespace blackout
