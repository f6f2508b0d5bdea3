#include "binary/struct_layouts.h"

#include <algorithm>
#include <charconv>

#include "events/trace.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/Object/ObjectFile.h"

namespace blackout {

namespace {

namespace dw = llvm::dwarf;

// No program's types are nested deeper, and damaged debug information may lead in a circle.
constexpr int kDeepest = 64;
constexpr std::size_t kMostMembers = 1 << 16;

bool sameShape(const StructLayout& a, const StructLayout& b) {
  auto same = [](const LayoutMember& x, const LayoutMember& y) {
    return x.name == y.name && x.offset == y.offset && x.size == y.size && x.count == y.count;
  };
  return a.size == b.size && std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), same);
}

}  // namespace

// Reads the types of one program file.
class DebugInfoStructs {
 public:
  explicit DebugInfoStructs(StructLayouts& into) : into_(into) {}

  bool read(llvm::DWARFContext& context) {
    bool any = false;
    for (const auto& unit : context.compile_units()) {
      for (const llvm::DWARFDebugInfoEntry& entry : unit->dies()) {
        llvm::DWARFDie die(unit.get(), &entry);
        if (die.getTag() == dw::DW_TAG_typedef) {
          // typedef struct {...} T
          llvm::DWARFDie type = die.getAttributeValueAsReferencedDie(dw::DW_AT_type);
          if (type && isStruct(type) && nameOf(type).empty() && !die.getShortName()) continue;
          if (type && isStruct(type) && type.getShortName() == nullptr)
            any |= take(type, die.getShortName()) != kNoLayout;
        } else if (isStruct(die) && die.getShortName() != nullptr) {
          any |= take(die, nullptr) != kNoLayout;
        }
      }
    }
    return any;
  }

 private:
  static bool isStruct(const llvm::DWARFDie& die) {
    switch (die.getTag()) {
      case dw::DW_TAG_structure_type:
      case dw::DW_TAG_class_type:
      case dw::DW_TAG_union_type:
        return true;
      default:
        return false;
    }
  }
  static std::uint64_t number(const llvm::DWARFDie& die, dw::Attribute what, std::uint64_t otherwise) {
    auto value = die.find(what);
    if (!value) return otherwise;
    if (auto plain = value->getAsUnsignedConstant()) return *plain;
    return otherwise;
  }
  // With namespaces and structs around it, as field keys have them.
  static std::string nameOf(const llvm::DWARFDie& die) {
    const char* own = die.getShortName();
    if (own == nullptr) return {};
    std::string name = own;
    int depth = 0;
    for (llvm::DWARFDie up = die.getParent(); up && depth < kDeepest; up = up.getParent(), ++depth) {
      if (up.getTag() == dw::DW_TAG_subprogram || up.getTag() == dw::DW_TAG_lexical_block) break;
      if (up.getTag() != dw::DW_TAG_namespace && !isStruct(up)) continue;
      if (const char* scope = up.getShortName()) name.insert(0, "::").insert(0, scope);
    }
    return name;
  }

  // Through typedefs and qualifiers.
  static llvm::DWARFDie strip(llvm::DWARFDie type) {
    for (int i = 0; i < kDeepest && type; ++i) {
      switch (type.getTag()) {
        case dw::DW_TAG_typedef:
        case dw::DW_TAG_const_type:
        case dw::DW_TAG_volatile_type:
        case dw::DW_TAG_restrict_type:
        case dw::DW_TAG_atomic_type:
          type = type.getAttributeValueAsReferencedDie(dw::DW_AT_type);
          continue;
        default:
          return type;
      }
    }
    return type;
  }

  static std::uint64_t sizeOf(llvm::DWARFDie type) {
    type = strip(type);
    if (!type) return 0;
    if (type.getTag() == dw::DW_TAG_pointer_type || type.getTag() == dw::DW_TAG_reference_type)
      return number(type, dw::DW_AT_byte_size, 8);
    return number(type, dw::DW_AT_byte_size, 0);
  }

  LayoutNo take(const llvm::DWARFDie& die, const char* alias, int depth = 0) {
    if (depth > kDeepest || number(die, dw::DW_AT_declaration, 0) != 0) return kNoLayout;
    std::uint64_t key = die.getOffset();
    if (auto known = taken_.find(key); known != taken_.end()) return known->second;
    StructLayout layout;
    layout.name = alias != nullptr ? std::string(alias) : nameOf(die);
    layout.size = number(die, dw::DW_AT_byte_size, 0);
    layout.isUnion = die.getTag() == dw::DW_TAG_union_type;
    for (llvm::DWARFDie child : die.children()) {
      bool base = child.getTag() == dw::DW_TAG_inheritance;
      if (child.getTag() != dw::DW_TAG_member && !base) continue;
      if (number(child, dw::DW_AT_external, 0) != 0 || number(child, dw::DW_AT_declaration, 0) != 0)
        continue;  // static
      if (layout.members.size() >= kMostMembers) break;
      addMember(layout, child, base, depth);
    }
    std::stable_sort(layout.members.begin(), layout.members.end(),
                     [](const LayoutMember& a, const LayoutMember& b) { return a.offset < b.offset; });
    LayoutNo n = into_.add(std::move(layout));
    taken_[key] = n;
    return n;
  }

  void addMember(StructLayout& layout, const llvm::DWARFDie& child, bool base, int depth) {
    LayoutMember member;
    if (!base && child.getShortName() != nullptr) member.name = child.getShortName();
    member.offset = number(child, dw::DW_AT_data_member_location, 0);
    if (auto bits = child.find(dw::DW_AT_data_bit_offset))
      member.offset = bits->getAsUnsignedConstant().value_or(0) / 8;
    llvm::DWARFDie type = strip(child.getAttributeValueAsReferencedDie(dw::DW_AT_type));
    for (int i = 0; type && type.getTag() == dw::DW_TAG_array_type && i < kDeepest; ++i) {
      member.array = true;
      bool dimension = false;
      for (llvm::DWARFDie range : type.children()) {
        if (range.getTag() != dw::DW_TAG_subrange_type) continue;
        dimension = true;
        std::uint64_t upper = number(range, dw::DW_AT_upper_bound, UINT64_MAX);
        std::uint64_t count = number(range, dw::DW_AT_count, upper == UINT64_MAX ? 0 : upper + 1);
        member.count = count > (std::uint64_t{1} << 40) ? 0 : member.count * count;
      }
      if (!dimension) member.count = 0;
      type = strip(type.getAttributeValueAsReferencedDie(dw::DW_AT_type));
    }
    member.size = sizeOf(type);
    if (type && isStruct(type)) member.type = take(type, nullptr, depth + 1);
    if (member.size == 0) return;
    if (member.count > (std::uint64_t{1} << 40) / member.size) return;
    layout.members.push_back(std::move(member));
  }

  StructLayouts& into_;
  std::map<std::uint64_t, LayoutNo> taken_;
};

LayoutNo StructLayouts::add(StructLayout layout) {
  if (!layout.name.empty()) {
    auto [known, fresh] = byName_.try_emplace(layout.name, layouts_.endId());
    if (!fresh) {
      StructLayout& first = layouts_[known->second];
      // One that is only declared says nothing.
      if (first.members.empty() && !layout.members.empty())
        first = std::move(layout);
      else if (!layout.members.empty() && !sameShape(first, layout))
        first.twoShapes = true;
      return known->second;
    }
  }
  layouts_.push_back(std::move(layout));
  return layouts_.endId() - 1;
}

bool StructLayouts::addFrom(const std::string& path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  auto context = llvm::DWARFContext::create(*file->getBinary());
  return context != nullptr && DebugInfoStructs(*this).read(*context);
}

StructLayouts StructLayouts::of(const Trace& trace) {
  StructLayouts layouts;
  for (const LoadedModule& m : trace.modules())
    if (m.instrumented || m.trapped) layouts.addFrom(m.path);
  return layouts;
}

LayoutNo StructLayouts::find(std::string_view name) const {
  auto it = byName_.find(name);
  return it == byName_.end() || layouts_[it->second].twoShapes ? kNoLayout : it->second;
}

bool StructLayouts::hasTwoShapes(std::string_view name) const {
  auto it = byName_.find(name);
  return it != byName_.end() && layouts_[it->second].twoShapes;
}

namespace {

struct FoundMember {
  const LayoutMember* member = nullptr;
  std::uint64_t offset = 0;
};

}  // namespace

std::optional<FieldPlace> StructLayouts::field(LayoutNo of, std::string_view path) const {
  if (of == kNoLayout || path.empty()) return std::nullopt;
  FieldPlace out;
  LayoutNo in = of;
  while (!path.empty()) {
    std::size_t dot = path.find('.');
    std::string_view part = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    std::size_t bracket = part.find('[');
    std::string_view name = part.substr(0, bracket);
    // Members of bases and anonymous structs are the struct's own.
    FoundMember found;
    auto search = [&](auto& self, LayoutNo where, std::uint64_t offset, int depth) -> void {
      if (where == kNoLayout || depth > kDeepest) return;
      for (const LayoutMember& m : layouts_[where].members) {
        if (found.member != nullptr) return;
        if (m.name == name) found = {&m, offset + m.offset};
        if (m.name.empty()) self(self, m.type, offset + m.offset, depth + 1);
      }
    };
    search(search, in, 0, 0);
    if (found.member == nullptr) return std::nullopt;
    const LayoutMember& m = *found.member;
    out.offset += found.offset;
    out.type = m.type;
    out.size = m.count == 0 ? m.size : m.size * m.count;
    if (bracket != std::string_view::npos) {
      if (!m.array || !part.ends_with(']')) return std::nullopt;
      std::string_view digits = part.substr(bracket + 1, part.size() - bracket - 2);
      out.size = m.size;
      if (digits.empty()) {
        // Only one index may be left open.
        if (out.stride != 0) return std::nullopt;
        out.stride = m.size;
        out.array = out.offset;
        out.count = m.count == 0 ? UINT64_MAX : m.count;
      } else {
        std::uint64_t index = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
        if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
        if (m.count != 0 && index >= m.count) return std::nullopt;
        if (index > (std::uint64_t{1} << 40) / m.size) return std::nullopt;
        out.offset += index * m.size;
      }
    } else if (m.array && !path.empty()) {
      return std::nullopt;
    }
    in = m.type;
  }
  return out;
}

std::string StructLayouts::nameAt(LayoutNo of, std::uint64_t offset, std::uint64_t size) const {
  std::string owner = layouts_[of].name;
  std::string path;
  LayoutNo in = of;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const StructLayout& layout = layouts_[in];
    const LayoutMember* only = nullptr;
    std::size_t touched = 0;
    for (const LayoutMember& m : layout.members)
      if (m.offset < offset + size && offset < m.end()) {
        only = &m;
        ++touched;
      }
    if (touched != 1 || layout.isUnion) break;
    if (!only->name.empty()) path += "." + only->name;
    offset -= std::min(offset, only->offset);
    if (only->array) {
      path += "[]";
      if (offset % only->size + size > only->size) {
        // Several elements.
        if (only->type != kNoLayout && !layouts_[only->type].name.empty()) return layouts_[only->type].name;
        break;
      }
      offset %= only->size;
    }
    if (only->type == kNoLayout) break;
    in = only->type;
    if (!layouts_[in].name.empty() && !layouts_[in].isUnion) {
      owner = layouts_[in].name;
      path.clear();
    }
  }
  return owner + path;
}

bool StructLayouts::contains(LayoutNo outer, std::uint64_t offset, LayoutNo inner) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const LayoutMember* around = nullptr;
    for (const LayoutMember& m : layouts_[outer].members)
      if (m.offset <= offset && offset < m.end()) around = &m;
    if (around == nullptr || around->type == kNoLayout) return false;
    offset = (offset - around->offset) % around->size;
    outer = around->type;
    if (outer == inner && offset == 0) return true;
  }
  return false;
}

bool StructLayouts::isOpaque(LayoutNo outer, std::uint64_t offset) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const LayoutMember* around = nullptr;
    for (const LayoutMember& m : layouts_[outer].members)
      if (m.offset <= offset && offset < m.end()) around = &m;
    if (around == nullptr) return true;  // padding, or past what is described
    if (around->type == kNoLayout) return around->array && around->size == 1;
    offset = (offset - around->offset) % around->size;
    outer = around->type;
  }
  return false;
}

std::vector<std::string> StructLayouts::names() const {
  std::vector<std::string> out;
  for (const auto& [name, n] : byName_) out.push_back(name);
  return out;
}

std::vector<std::string> StructLayouts::fieldsOf(LayoutNo n) const {
  std::vector<std::string> out;
  if (n == kNoLayout) return out;
  auto collect = [&](auto& self, LayoutNo where, int depth) -> void {
    if (where == kNoLayout || depth > 8) return;
    for (const LayoutMember& m : layouts_[where].members) {
      if (m.name.empty())
        self(self, m.type, depth + 1);
      else
        out.push_back(m.name);
    }
  };
  collect(collect, n, 0);
  return out;
}

std::string nearestName(std::string_view word, std::span<const std::string> names) {
  std::string best;
  std::size_t least = word.size() / 2 + 2;
  for (const std::string& name : names) {
    if (name.size() > 256 || word.size() > 256) continue;
    std::size_t distance = llvm::StringRef(word).edit_distance_insensitive(name, true, static_cast<unsigned>(least));
    if (distance < least || (distance == least && best.empty() && distance < word.size())) {
      best = name;
      least = distance;
    }
  }
  return best;
}

}  // namespace blackout
