// Markers: calls of a function that returns its argument, put into the front end's code where it says what a pointer
// points to, so that this outlives inlining. Inlining folds the address of a struct's first member to the address of
// the struct, and promotion of local variables loses their types.
//
// A *step* follows an address computation from a struct to its member; an *object* follows a pointer that was taken
// from a variable, a member or a call whose declared type points to a struct.
#pragma once

#include <optional>
#include <string>

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "pass/fields.h"

namespace blackout {

struct Marker {
  const llvm::DIType* type = nullptr;  // of the object
  std::string alias;                   // its name if the type is one of several
  bool step = false;
  std::int64_t offset = 0;  // of the member in the object
  std::uint64_t size = 0;   // of the member
};

// Puts markers into code as the front end left it.
void addMarkers(llvm::Module& m, const Fields& fields);

std::optional<Marker> markerOf(const llvm::Value& v);
bool isMarker(const llvm::Value& v);

// Takes away those of pointers into local variables, which would keep these in memory. True if there were any.
bool removeMarkersOfLocals(llvm::Function& f);
void removeMarkers(llvm::Module& m);

// The debug type of the variable that stands at an address, by the declaration of a local or a global; null if unknown.
const llvm::DIType* declaredType(const llvm::Value& storage);

}  // namespace blackout
