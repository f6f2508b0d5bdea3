# Precompiled headers: most of the time of a compilation goes into headers of others (LLVM, fmt, CLI11, GoogleTest, rapidcheck), and in the
# modules above `model` into those of ours that nearly all of their sources include. Only these are in the lists: what else is ours
# (`events/trace.h` above all) would be rebuilt everywhere when it changes. Every source still includes what it uses: `make tidy` compiles
# without them.
#
# `blackout_events` has those of the lowest modules, `blackout_run` those of run and explore, `blackout_findings` those of findings, detect and
# report, `blackout_judge` those of judge and check, `blackout_binary` those of what reads LLVM's data; the others take them (REUSE_FROM).
# Flags must be alike for that, so the plugin and what it is linked with (no exceptions), the command and the tests have their own.
include_guard(GLOBAL)

set(BLACKOUT_STANDARD_HEADERS
    <algorithm> <array> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)
set(BLACKOUT_TOOL_HEADERS ${BLACKOUT_STANDARD_HEADERS} <fmt/format.h> <tl/expected.hpp>)
set(BLACKOUT_RUN_HEADERS ${BLACKOUT_TOOL_HEADERS} <model/index.h> <run/run.h>)
set(BLACKOUT_FINDING_HEADERS ${BLACKOUT_TOOL_HEADERS} <model/index.h> <findings/report.h>)
set(BLACKOUT_JUDGE_HEADERS ${BLACKOUT_TOOL_HEADERS} <model/index.h> <explore/explorer.h> <findings/finding.h>)
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
