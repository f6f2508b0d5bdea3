# Precompiled headers: most of the time of a compilation goes into headers of others (LLVM, fmt, CLI11, GoogleTest, rapidcheck). Only
# such headers are in the lists, so nothing of ours is rebuilt because of them, and every source still includes what it uses:
# `make tidy` compiles without them.
#
# A module of the tool takes those of `blackout_events` (REUSE_FROM), one that reads LLVM's data those of `blackout_binary`; flags must
# be alike for that, so the plugin and what it is linked with (no exceptions), the command and the tests have their own.
include_guard(GLOBAL)

set(BLACKOUT_STANDARD_HEADERS
    <algorithm> <array> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)
set(BLACKOUT_TOOL_HEADERS ${BLACKOUT_STANDARD_HEADERS} <fmt/format.h> <tl/expected.hpp>)
set(BLACKOUT_LLVM_HEADERS
    <llvm/ADT/DenseMap.h> <llvm/ADT/SmallVector.h> <llvm/IR/Constants.h> <llvm/IR/DebugInfo.h> <llvm/IR/DebugInfoMetadata.h>
    <llvm/IR/InstIterator.h> <llvm/IR/Instructions.h> <llvm/IR/IntrinsicInst.h> <llvm/IR/Module.h> <llvm/IR/Operator.h>
    <llvm/Support/raw_ostream.h>)

# ccache keeps compilations with precompiled headers only if it is told that their macros and their time don't matter.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  # What libstdc++ uses itself although it is deprecated (std::stable_sort's buffer) is quiet by a pragma that a precompiled header
  # loses. `make tidy` still tells of ours.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
