// How structs lie in memory: their sizes, members and what stands where, from the debug information of program files or
// from whoever describes them by hand. Names are those of field keys (pass/fields.h), so that what a site says
// ("Bank.valid") and what an address says can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "events/id.h"
#include "events/site.h"

namespace blackout {

using LayoutNo = Id<struct LayoutNoTag, std::uint32_t>;
inline constexpr LayoutNo kNoLayout{UINT32_MAX};

struct LayoutMember {
  std::string name;  // empty: of a base class, an anonymous struct or union
  std::uint64_t offset = 0;
  std::uint64_t size = 0;   // of one element
  std::uint64_t count = 1;  // elements; 0: as many as there is room for, at the end of a struct
  bool array = false;
  LayoutNo type = kNoLayout;  // of what stands there; kNoLayout: no struct
  std::uint64_t end() const { return count == 0 ? UINT64_MAX : offset + size * count; }
};

struct StructLayout {
  std::string name;  // empty: it has none, and its members are named by the struct around it
  std::uint64_t size = 0;
  bool isUnion = false;
  bool twoShapes = false;  // program files disagree about it
  std::vector<LayoutMember> members;
  bool isOpen() const { return !members.empty() && members.back().count == 0; }
};

// A member, by its path from a struct: "old", "backup.index", "entry[].place", "entry[2]".
struct FieldPlace {
  std::uint64_t offset = 0;  // of element 0, where the path leaves open which
  std::uint64_t size = 0;    // of the whole member; of one element if the path names one
  std::uint64_t stride = 0;  // between the elements that the path leaves open; 0: it leaves none open
  std::uint64_t count = 1;   // of these elements
  std::uint64_t array = 0;   // where element 0 begins
  LayoutNo type = kNoLayout;
};

class StructLayouts {
 public:
  // Of all program files that a trace names. Files that are gone or have no debug information add nothing.
  static StructLayouts of(const Trace& trace);

  LayoutNo add(StructLayout layout);
  // Reads a program file's; false: it has none.
  bool addFrom(const std::string& path);

  const StructLayout& operator[](LayoutNo n) const { return layouts_[n]; }
  // By name; one that has two shapes is not found.
  LayoutNo find(std::string_view name) const;
  bool hasTwoShapes(std::string_view name) const;
  std::optional<FieldPlace> field(LayoutNo of, std::string_view path) const;
  // The name of bytes inside an object: "Bank.valid", "Account.balance" for a part of "Bank.accounts[]", "Bank" for
  // bytes of several members.
  std::string nameAt(LayoutNo of, std::uint64_t offset, std::uint64_t size) const;
  // Whether a struct of this type begins at the offset inside the other.
  bool contains(LayoutNo outer, std::uint64_t offset, LayoutNo inner) const;
  // Whether the bytes there are only that: characters, which may be anything.
  bool isOpaque(LayoutNo outer, std::uint64_t offset) const;

  std::vector<std::string> names() const;
  // Paths of the struct's members, for sentences.
  std::vector<std::string> fieldsOf(LayoutNo n) const;

 private:
  friend class DebugInfoStructs;
  IdVector<LayoutNo, StructLayout> layouts_;
  std::map<std::string, LayoutNo, std::less<>> byName_;
};

// The one of `names` that a mistyped word is nearest to; empty: none is near.
std::string nearestName(std::string_view word, std::span<const std::string> names);

}  // namespace blackout
