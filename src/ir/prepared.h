// What the pass says in metadata of a unit that it prepared for analysis, and src/infer reads (keys are texts, in
// order, at most kMostKeys; absent: it can't be told):
//
//   on loads, stores, atomicrmw, cmpxchg, and every call that is an access or a flush by accessesOf():
//     !blackout.field  !{!"Key", ...}            what is written or flushed, or read if nothing is
//     !blackout.source !{!"Key", ...}            what is read beside it: by a copy; by a comparison, its second operand
//   on every other call and invoke with a pointer among its arguments of which something is known:
//     !blackout.arguments !{!{!"Key", ...}, ...} one node for each argument, null if nothing is known: what it
//                                                points to. A pointer to a whole object has the key of the struct,
//                                                "Node"
//   on a getelementptr into an array of a known object:
//     !blackout.array  !{!"Key[]", ...}          the array, also where its elements are structs with keys of their own
//   on a ret of a pointer:
//     !blackout.field  !{!"Key", ...}            what it points to
//   on the module:
//     !blackout.prepared = !{!{i32 1}}           the version, BLACKOUT_BITCODE_VERSION
//     !blackout.types = !{!{!"Node", !"next", !"*Node"}, ...}
//                                                for each struct in a key its members with what they lead to: a pointer
//                                                to a struct, the struct that it contains (in an array or not), or "".
//                                                A base class is a member with the base's name
#pragma once

#include <cstddef>

#include "llvm/IR/Module.h"

namespace blackout {

inline constexpr const char* kFieldNode = "blackout.field";
inline constexpr const char* kSourceNode = "blackout.source";
inline constexpr const char* kArgumentsNode = "blackout.arguments";
inline constexpr const char* kArrayNode = "blackout.array";
inline constexpr const char* kPreparedNode = "blackout.prepared";
inline constexpr const char* kTypesNode = "blackout.types";

// So many fields an access may touch, on its different ways; one with more says nothing.
inline constexpr std::size_t kMostKeys = 4;

inline bool isPrepared(const llvm::Module& m) { return m.getNamedMetadata(kPreparedNode) != nullptr; }

}  // namespace blackout
