// What an instruction does, in the terms of the site table: asked at the start of the pipeline, where
// the front end's accesses are noted, and at its end, where they are instrumented.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "events/contract.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace blackout {

// What enters an id of the kind of a site: see events/site_kinds.def.
enum class SiteClass : std::uint8_t { Read, Write, Atomic, Flush, Fence, Request, Lock, Call, Branch, Alloc, Library };
SiteClass classOf(blackout_site_kind kind);

struct Access {
  SiteClass cls;
  std::uint64_t size = 0;  // bytes; 0: varies
};

// A string of assembly may make several, any other instruction makes at most one.
std::vector<Access> accessesOf(const llvm::Instruction& i, const llvm::DataLayout& dl);

// The flush or fence that an intrinsic is.
std::optional<blackout_site_kind> persistKind(const llvm::IntrinsicInst& i);

// True if an access through the pointer can't be PM, whatever the run: the stack, thread-local
// variables, constants.
bool cannotBePm(const llvm::Value* pointer);

// A store that x86 makes with xchg or cmpxchg16b: a locked instruction.
bool isLockedStore(const llvm::StoreInst& s);

// An atomic that is a call into libatomic: one that is too wide or not aligned.
struct AtomicCall {
  blackout_site_kind kind;  // Load, Rmw or CmpXchg: libatomic stores with a locked instruction
  unsigned pointer;         // number of the argument
  std::uint64_t size;
};
std::optional<AtomicCall> atomicCall(const llvm::CallBase& c);

// The runtime's version of a libc function that is called.
struct LibcFunction {
  const char* hook;
  blackout_site_kind kind;
};
std::optional<LibcFunction> libcFunction(const llvm::CallBase& c);

}  // namespace blackout
