// A translation unit as static analysis wants it: the code of the front end before any optimisation, made the same for
// every level of optimisation (canonical.h), with small functions inlined and local variables in registers (expand.h),
// addresses and branches as they were written, places as in the instrumented code, and field keys on every access.
//
// The metadata, which src/infer reads (keys are texts, in order, at most four; absent: it can't be told):
//
//   on loads, stores, atomicrmw, cmpxchg, and every call that is an access or a flush by accessesOf():
//     !blackout.field  !{!"Key", ...}            what is written or flushed, or read if nothing is
//     !blackout.source !{!"Key", ...}            what is read beside it: by a copy; by a comparison, its second operand
//   on every other call and invoke with a pointer among its arguments of which something is known:
//     !blackout.arguments !{!{!"Key", ...}, ...} one node for each argument, null if nothing is known: what it points
//     to.
//                                                A pointer to a whole object has the key of the struct, "Node"
//   on a ret of a pointer:
//     !blackout.field  !{!"Key", ...}            what it points to
//   on the module:
//     !blackout.prepared = !{!{i32 1}}           the version, BLACKOUT_BITCODE_VERSION
//     !blackout.types = !{!{!"Node", !"next", !"*Node"}, ...}
//                                                for each struct in a key its members with what they lead to: a pointer
//                                                to a struct, the struct that it contains (in an array or not), or "".
//                                                A base class is a member with the base's name
//
// Types are not in the debug information any more: only what places need.
#pragma once

#include <memory>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "pass/key_table.h"

namespace blackout {

inline constexpr const char* kFieldNode = "blackout.field";
inline constexpr const char* kSourceNode = "blackout.source";
inline constexpr const char* kArgumentsNode = "blackout.arguments";
inline constexpr const char* kPreparedNode = "blackout.prepared";
inline constexpr const char* kTypesNode = "blackout.types";

// A copy of a module, in a context of its own: nothing that is done to it shows in the compilation, remarks and
// diagnostics included.
struct Prepared {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// The module stays as it is. The copy's module is null if it can't be made.
Prepared prepare(const llvm::Module& m, KeyTable& keys);

}  // namespace blackout
