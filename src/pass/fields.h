// Field keys: the text that names bytes of an object by its debug type. "Bucket.valid" is the innermost struct of the
// program and its member; "Pool.keys[]" an element of an array member; "Bucket" several members at once. Members of a
// base class are named by the base, those of an anonymous struct by the struct around; members that share bytes (bit
// fields of one word, an anonymous union) have one key, "Node.a/b". Types of the standard library are seen through: the
// key of a std::atomic<long> is that of the member that it is.
//
// Knows types only; keys.h finds out which type an address belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace blackout {

// Through typedefs and qualifiers.
const llvm::DIType* strip(const llvm::DIType* t);
// Struct, class or union.
const llvm::DICompositeType* asStruct(const llvm::DIType* t);
// What a pointer or reference leads to; null if the type is neither.
const llvm::DIType* pointeeOf(const llvm::DIType* t);
bool isPointer(const llvm::DIType* t);
std::uint64_t bytesOf(const llvm::DIType* t);

// The bytes that an access touches of an object: `size` bytes at `offset`, or with a stride, at offset plus any
// multiple of it inside [low, high).
struct Extent {
  std::int64_t offset = 0;
  std::uint64_t size = 0;  // 0: unknown
  std::uint64_t stride = 0;
  std::int64_t low = 0;
  std::int64_t high = INT64_MAX;
  bool array = false;  // the array that stands there is meant, not what its elements have
};

struct Field {
  std::string key;         // empty: there is none
  std::string path;        // the key without the name of its struct
  bool ofProgram = false;  // false: of the library, or of an unnamed type: the object around knows better
  const llvm::DICompositeType* owner = nullptr;  // the struct of the key
  const llvm::DIType* type = nullptr;            // what stands there
  auto operator<=>(const Field& o) const { return key <=> o.key; }
  bool operator==(const Field& o) const { return key == o.key; }
};

class Fields {
 public:
  explicit Fields(const llvm::Module& m);

  // Of bytes of an object. `alias` is its name if the type is only one of several that it may be.
  Field at(const llvm::DIType* object, Extent extent, llvm::StringRef alias = "") const;

  // The type of a struct of IR; `hint` is what debug info says of an object of it, if anything. Where several instances
  // of a template fit, one of them with the name that they share as `alias`; null if it can't be told.
  const llvm::DICompositeType* ofIrType(const llvm::StructType& type, const llvm::DIType* hint, std::uint64_t offset,
                                        std::string& alias) const;

  // With its scopes, except for anonymous namespaces.
  std::string nameOf(const llvm::DICompositeType& type) const;

  // The members of a struct, each with what it leads to: "*Node" a pointer to a Node, "Node" contains one, "" neither.
  struct Member {
    std::string name, leadsTo;
  };
  std::vector<Member> membersOf(const llvm::DICompositeType& type) const;

 private:
  bool isUnnamed(const llvm::DICompositeType& type) const;
  std::string leadsTo(const llvm::DIType* type, int depth) const;

  const llvm::Module& module_;
  llvm::StringMap<std::vector<const llvm::DICompositeType*>> byIrName_;  // with scopes, without template arguments
  llvm::DenseMap<const llvm::DICompositeType*, std::string> typedefs_;   // "T" of typedef struct {...} T
};

}  // namespace blackout
