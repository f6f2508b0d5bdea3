#include "runtime/trap/zydis.h"

#include <dlfcn.h>

namespace blackout::rt {

namespace {

constinit ZydisDecoder decoder = {};
constinit decltype(&ZydisDecoderDecodeFull) decodeFull = nullptr;

}  // namespace

bool loadZydis() {
  if (decodeFull != nullptr) return true;
  // Not the program's own Zydis, if it has one. AddressSanitizer refuses to load anything so.
  int apart = dlsym(RTLD_DEFAULT, "__asan_init") == nullptr ? RTLD_DEEPBIND : 0;
  void* library = dlopen("libZydis.so.4.0", RTLD_NOW | RTLD_LOCAL | apart);
  if (library == nullptr) return false;
  auto init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
  auto full = reinterpret_cast<decltype(&ZydisDecoderDecodeFull)>(dlsym(library, "ZydisDecoderDecodeFull"));
  if (init == nullptr || full == nullptr) return false;
  if (ZYAN_FAILED(init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return false;
  decodeFull = full;
  return true;
}

bool decode(const void* code, size_t size, ZydisDecodedInstruction& instruction,
            ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]) {
  return decodeFull != nullptr && ZYAN_SUCCESS(decodeFull(&decoder, code, size, &instruction, operands));
}

}  // namespace blackout::rt
