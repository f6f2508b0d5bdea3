#include "pass/fields.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"

using namespace llvm;

namespace blackout {

const DIType* strip(const DIType* t) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(t)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_immutable_type:
      case dwarf::DW_TAG_template_alias:
        t = derived->getBaseType();
        continue;
      default:
        return t;
    }
  }
  return t;
}

const DICompositeType* asStruct(const DIType* t) {
  const auto* c = dyn_cast_or_null<DICompositeType>(strip(t));
  if (c == nullptr) return nullptr;
  switch (c->getTag()) {
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_class_type:
    case dwarf::DW_TAG_union_type:
      return c;
    default:
      return nullptr;
  }
}

bool isPointer(const DIType* t) {
  const auto* derived = dyn_cast_or_null<DIDerivedType>(strip(t));
  if (derived == nullptr) return false;
  switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return true;
    default:
      return false;
  }
}

const DIType* pointeeOf(const DIType* t) {
  return isPointer(t) ? strip(cast<DIDerivedType>(strip(t))->getBaseType()) : nullptr;
}

std::uint64_t bytesOf(const DIType* t) {
  t = strip(t);
  return t == nullptr ? 0 : (t->getSizeInBits() + 7) / 8;
}

namespace {

const DICompositeType* asArray(const DIType* t) {
  const auto* c = dyn_cast_or_null<DICompositeType>(strip(t));
  return c != nullptr && c->getTag() == dwarf::DW_TAG_array_type ? c : nullptr;
}

bool isUnion(const DICompositeType& t) { return t.getTag() == dwarf::DW_TAG_union_type; }

// "std::pair<int, A<int> >::first" without what is in angle brackets.
std::string withoutTemplateArguments(StringRef name) {
  std::string out;
  int depth = 0;
  for (char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>') --depth;
  }
  return out;
}

// As IR names its types.
std::string withScopes(const DIType& type, StringRef name) {
  std::string result = name.str();
  for (const DIScope* s = type.getScope(); s != nullptr && !isa<DIFile>(s) && !isa<DICompileUnit>(s);
       s = s->getScope()) {
    // A type local to a function is named without it in IR.
    if (isa<DISubprogram>(s) || isa<DILexicalBlockBase>(s)) break;
    StringRef outer = s->getName();
    result.insert(0, (outer.empty() ? "(anonymous namespace)" : outer.str()) + "::");
  }
  return result;
}

bool isOfLibrary(const DICompositeType& type) {
  StringRef outermost;
  for (const DIScope* s = type.getScope(); s != nullptr && !isa<DIFile>(s) && !isa<DICompileUnit>(s); s = s->getScope())
    outermost = isa<DINamespace>(s) ? s->getName() : StringRef("::");
  return outermost == "std" || outermost == "__gnu_cxx";
}

// A member that takes up bytes of its object.
struct Part {
  const DIDerivedType* member;
  bool base, bitField;
  std::int64_t begin, end;  // bytes
};

// Those that have some of the bytes [low, high).
std::vector<Part> partsAt(const DICompositeType& type, std::int64_t low, std::int64_t high) {
  std::vector<Part> parts;
  for (const DINode* element : type.getElements()) {
    const auto* member = dyn_cast_or_null<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember()) continue;
    bool base = member->getTag() == dwarf::DW_TAG_inheritance;
    if (member->getTag() != dwarf::DW_TAG_member && !base) continue;
    if (base && (member->getFlags() & DINode::FlagVirtual) == DINode::FlagVirtual) continue;  // has no fixed place
    std::uint64_t bits = member->getSizeInBits() != 0 ? member->getSizeInBits() : bytesOf(member->getBaseType()) * 8;
    Part p{member, base, member->isBitField(), static_cast<std::int64_t>(member->getOffsetInBits() / 8),
           static_cast<std::int64_t>((member->getOffsetInBits() + bits + 7) / 8)};
    // The array at the end of a struct may be as long as it likes.
    if (p.begin == p.end && !base && asArray(member->getBaseType()) != nullptr) p.end = INT64_MAX;
    if (p.begin < high && p.end > low) parts.push_back(p);
  }
  // A derived class puts its members into its base's tail padding: what a base only pads is not the base's.
  if (parts.size() > 1)
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](const Part& p) {
                                 if (!p.base) return false;
                                 const DICompositeType* t = asStruct(p.member->getBaseType());
                                 return t != nullptr && !t->isForwardDecl() &&
                                        partsAt(*t, low - p.begin, high - p.begin).empty();
                               }),
                parts.end());
  return parts;
}

// The names of what stands at the bytes of an anonymous union, of all its alternatives. `filler` gets those that are
// bytes only, as a union has them to be as large as a line.
void collectNames(const DICompositeType& type, std::int64_t low, std::int64_t high, std::vector<std::string>& names,
                  std::vector<std::string>& filler) {
  for (const Part& p : partsAt(type, low, high)) {
    const DICompositeType* array = asArray(strip(p.member->getBaseType()));
    bool bytes = array != nullptr && bytesOf(strip(array->getBaseType())) == 1;
    if (!p.member->getName().empty()) {
      (bytes ? filler : names).push_back(p.member->getName().str());
    } else if (const DICompositeType* inner = asStruct(p.member->getBaseType())) {
      collectNames(*inner, std::max(low, p.begin) - p.begin, std::min(high, p.end) - p.begin, names, filler);
    }
  }
}

}  // namespace

Fields::Fields(const Module& m) : module_(m) {
  DebugInfoFinder finder;
  finder.processModule(m);
  // Also those of which only variables and members tell.
  for (const DIType* t : finder.types()) {
    if (t->getTag() != dwarf::DW_TAG_typedef) continue;
    const auto* type = dyn_cast_or_null<DICompositeType>(cast<DIDerivedType>(t)->getBaseType());
    if (type != nullptr && asStruct(type) != nullptr && type->getName().empty())
      typedefs_.try_emplace(type, t->getName().str());
  }
  for (const DIType* t : finder.types()) {
    const DICompositeType* type = asStruct(t);
    if (type == nullptr || type != t || type->isForwardDecl()) continue;
    StringRef name = type->getName();
    if (auto found = typedefs_.find(type); found != typedefs_.end()) name = found->second;
    if (!name.empty()) byIrName_[withoutTemplateArguments(withScopes(*type, name))].push_back(type);
  }
}

bool Fields::isUnnamed(const DICompositeType& type) const {
  return type.getName().empty() && typedefs_.count(&type) == 0;
}

std::string Fields::nameOf(const DICompositeType& type) const {
  StringRef name = type.getName();
  if (auto found = typedefs_.find(&type); name.empty() && found != typedefs_.end()) name = found->second;
  std::string result = name.empty() ? "?" : name.str();
  for (const DIScope* s = type.getScope(); s != nullptr && !isa<DIFile>(s) && !isa<DICompileUnit>(s);
       s = s->getScope()) {
    if (isa<DISubprogram>(s) || isa<DILexicalBlockBase>(s)) break;
    if (!s->getName().empty()) result.insert(0, s->getName().str() + "::");
  }
  return result;
}

// From the outside inwards, as long as one member has all the bytes.
Field Fields::at(const DIType* object, Extent e, StringRef alias) const {
  Field result;
  const DICompositeType* library = nullptr;  // the outermost type of the library, in case that there is no other
  std::string path;
  const DIType* t = strip(object);
  bool top = true;
  std::string name;
  while (t != nullptr) {
    result.type = t;
    if (const DICompositeType* array = asArray(t)) {
      const DIType* item = strip(array->getBaseType());
      std::uint64_t each = bytesOf(item);
      if (!StringRef(path).ends_with("[]")) path += "[]";
      if (item == nullptr || each == 0 || e.array) break;
      bool precise = e.stride % each == 0;
      std::uint64_t within = static_cast<std::uint64_t>(std::max<std::int64_t>(e.offset, 0)) % each;
      if (asStruct(item) == nullptr) {
        result.type = item;
        break;
      }
      if (!precise || e.size == 0 || within + e.size > each)
        e = {0, 0};  // more than one of its elements, or who knows what
      else
        e = {static_cast<std::int64_t>(within), e.size};
      t = item;
      top = false;
      continue;
    }
    const DICompositeType* type = asStruct(t);
    if (type == nullptr) break;
    bool ofLibrary = isOfLibrary(*type);
    if (!ofLibrary && !isUnnamed(*type) && !(isUnion(*type) && !top)) {
      result.owner = type;
      name = top && !alias.empty() ? alias.str() : nameOf(*type);
      path.clear();
    } else if (library == nullptr && result.owner == nullptr && !isUnnamed(*type)) {
      library = type;
      path.clear();
    }
    if (isUnion(*type)) break;
    if (type->isForwardDecl() && e.size != 0) return {};  // some member of it, and debug info has none
    auto bytes = static_cast<std::int64_t>(bytesOf(type));
    if (bytes != 0 && (e.offset >= bytes || e.offset < 0 || e.stride != 0) && e.high == INT64_MAX) {
      // One of many such objects in a row.
      if (e.stride != 0 && e.stride % static_cast<std::uint64_t>(bytes) != 0) break;
      e.stride = 0;
      e.offset = ((e.offset % bytes) + bytes) % bytes;
    }
    if (e.stride == 0 && e.size == 0) break;
    std::int64_t low = e.stride != 0 ? e.low : e.offset;
    std::int64_t high = e.stride != 0 ? e.high : e.offset + static_cast<std::int64_t>(e.size);
    std::vector<Part> parts = partsAt(*type, low, high);
    bool bits = std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.bitField; });
    if (bits && std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.bitField; })) {
      std::string joined;
      for (const Part& p : parts) joined += (joined.empty() ? "" : "/") + p.member->getName().str();
      path += "." + joined;
      result.type = parts[0].member->getBaseType();
      break;
    }
    if (parts.size() != 1) break;
    const Part& p = parts[0];
    const DICompositeType* inner = asStruct(p.member->getBaseType());
    if (p.member->getName().empty() && !p.base && inner != nullptr && isUnion(*inner)) {
      std::vector<std::string> names, filler;
      collectNames(*inner, low - p.begin, high - p.begin, names, filler);
      if (names.empty()) names = filler;
      std::string joined;
      for (const std::string& n : names) joined += (joined.empty() ? "" : "/") + n;
      if (!joined.empty()) path += "." + joined;
      result.type = inner;
      break;
    }
    // The library's own members are nobody's business, unless they are public.
    StringRef member = p.base ? "" : p.member->getName();
    if (!member.empty() && !(ofLibrary && member.starts_with("_"))) path += "." + member.str();
    bool open = e.high == INT64_MAX;
    e.offset -= p.begin;
    e.low = std::max(e.low, p.begin) - p.begin;
    e.high = std::min(e.high, p.end) - p.begin;
    if (e.stride == 0 && open) e.high = INT64_MAX;
    t = strip(p.member->getBaseType());
    top = false;
  }
  if (result.owner != nullptr) {
    result.ofProgram = true;
    result.key = name + path;
    result.path = path;
  } else if (library != nullptr) {
    result.owner = library;
    result.key = nameOf(*library) + path;
    result.path = path;
  }
  return result;
}

// "struct.T.123" is another type of the same name, or another instance of a template, "T.base" is T without its tail
// padding.
const DICompositeType* Fields::ofIrType(const StructType& type, const DIType* hint, std::uint64_t offset,
                                        std::string& alias) const {
  const DICompositeType* known = asStruct(hint);
  std::uint64_t size = module_.getDataLayout().getTypeAllocSize(const_cast<StructType*>(&type));
  if (!type.hasName()) return known != nullptr && bytesOf(known) == size ? known : nullptr;
  StringRef name = type.getName();
  if (!name.consume_front("struct.") && !name.consume_front("class.") && !name.consume_front("union.")) return nullptr;
  std::size_t dot = name.rfind('.');
  if (dot != StringRef::npos && dot + 1 < name.size() && all_of(name.drop_front(dot + 1), isDigit))
    name = name.take_front(dot);
  bool tailless = name.consume_back(".base");
  auto fits = [&](const DICompositeType* t) { return tailless ? bytesOf(t) >= size : bytesOf(t) == size; };
  auto found = byIrName_.find(name);
  if (found == byIrName_.end())  // struct.anon, class.anon (a lambda): only debug info knows
    return known != nullptr && isUnnamed(*known) && fits(known) ? known : nullptr;
  std::vector<const DICompositeType*> candidates;
  for (const DICompositeType* t : found->second)
    if (fits(t)) candidates.push_back(t);
  if (candidates.empty()) return nullptr;
  if (candidates.size() == 1) return candidates[0];
  // The object itself, or what stands at its beginning: a base class, a first member.
  for (int depth = 0; known != nullptr && depth < 16; ++depth) {
    if (is_contained(candidates, known)) return known;
    const DICompositeType* next = nullptr;
    for (const Part& p : partsAt(*known, 0, 1))
      if (next == nullptr) next = asStruct(p.member->getBaseType());
    known = next;
  }
  std::string common;
  for (const DICompositeType* t : candidates) {
    Field f = at(t, {static_cast<std::int64_t>(offset), 1});
    std::string member = f.owner == t ? f.key.substr(nameOf(*t).size()) : f.key;
    if (t == candidates[0])
      common = member;
    else if (member != common)
      return nullptr;
  }
  alias = withoutTemplateArguments(nameOf(*candidates[0])) + "<>";
  return candidates[0];
}

std::string Fields::leadsTo(const DIType* type, int depth) const {
  type = strip(type);
  if (depth > 8 || type == nullptr) return "";
  if (const DICompositeType* array = asArray(type)) return leadsTo(array->getBaseType(), depth + 1);
  if (const DIType* to = pointeeOf(type)) {
    std::string inner = leadsTo(to, depth + 1);
    return inner.empty() || inner[0] == '*' ? inner : "*" + inner;
  }
  const DICompositeType* inner = asStruct(type);
  if (inner == nullptr) return "";
  if (!isOfLibrary(*inner) && !isUnnamed(*inner)) return nameOf(*inner);
  for (const Part& p : partsAt(*inner, INT64_MIN, INT64_MAX))
    if (std::string found = leadsTo(p.member->getBaseType(), depth + 1); !found.empty()) return found;
  return "";
}

std::vector<Fields::Member> Fields::membersOf(const DICompositeType& type) const {
  std::vector<Member> members;
  std::string prefix = nameOf(type) + ".";
  for (const Part& p : partsAt(type, INT64_MIN, INT64_MAX)) {
    std::string to = leadsTo(p.member->getBaseType(), 0);
    if (p.base) {
      const DICompositeType* base = asStruct(p.member->getBaseType());
      if (base != nullptr) members.push_back({nameOf(*base), to});
      continue;
    }
    if (!p.member->getName().empty() && !p.bitField) {
      members.push_back({p.member->getName().str(), to});
      continue;
    }
    // Those that share bytes, by the name that their key has.
    std::vector<std::string> names;
    const DICompositeType* inner = asStruct(p.member->getBaseType());
    if (!p.bitField && inner != nullptr && !isUnion(*inner)) {
      for (Member& m : membersOf(*inner)) members.push_back(std::move(m));
      continue;
    }
    Field f = at(&type, {p.begin, static_cast<std::uint64_t>(p.end - p.begin)});
    if (StringRef(f.key).starts_with(prefix)) members.push_back({f.key.substr(prefix.size()), to});
  }
  members.erase(
      std::unique(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name == b.name; }),
      members.end());
  return members;
}

}  // namespace blackout
