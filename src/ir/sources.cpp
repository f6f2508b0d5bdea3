#include "ir/sources.h"

#include <algorithm>

#include "llvm/Analysis/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace blackout {

std::uint64_t siteId(const SourcePlace& place, SiteClass cls) {
  std::string key = place.function + '\0' + sys::path::filename(place.file).str() + ':' + std::to_string(place.line) +
                    ':' + std::to_string(place.column) + ':' + std::to_string(place.discriminator) + ':' +
                    std::to_string(static_cast<int>(cls));
  return xxh3_64bits(ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(key.data()), key.size()));
}

// An optimiser gives a merged instruction line 0, or the common line with column 0.
static bool hasOwnPlace(const DILocation* loc) {
  return loc != nullptr && loc->getLine() != 0 && loc->getColumn() != 0;
}

std::vector<SourcePlace> chainOf(const DILocation* loc) {
  std::vector<SourcePlace> chain;
  for (const DILocation* at = loc; at != nullptr; at = at->getInlinedAt()) chain.push_back(placeOf(*at));
  return chain;
}

void Sources::enterFunction(const Function& f) {
  present_.clear();
  inlined_.clear();
  const DataLayout& dl = f.getParent()->getDataLayout();
  if (const DISubprogram* sp = f.getSubprogram()) inlined_[linkageNameOf(*sp)] = {};
  for (const Instruction& i : instructions(f)) {
    const DILocation* loc = i.getDebugLoc().get();
    if (loc == nullptr) continue;
    if (hasOwnPlace(loc))
      for (const Access& a : accessesOf(i, dl)) present_.insert({placeOf(*loc), a.cls});
    if (loc->getInlinedAt() == nullptr) continue;
    Chain chain = chainOf(loc);
    for (std::size_t k = 0; k + 1 < chain.size(); ++k)
      inlined_.try_emplace(chain[k].function, chain.begin() + static_cast<std::ptrdiff_t>(k) + 1, chain.end());
  }
}

std::vector<SourceChain> Sources::of(const Instruction& i, SiteClass cls, std::uint64_t size) const {
  const DILocation* loc = i.getDebugLoc().get();
  Chain chain = chainOf(loc);
  if (loc != nullptr) {
    const OriginalAccess* original = originals_.at(chain[0], cls);
    if (original != nullptr || hasOwnPlace(loc)) {
      std::vector<SourceChain> sources{{siteId(chain[0], original != nullptr ? original->cls : cls), chain,
                                        original != nullptr ? original->cls : cls}};
      if (original != nullptr) addSwallowed(i, chain, cls, size, sources);
      return sources;
    }
  }
  // Calls and branches are not collected, and not merged into what has no place.
  bool collected = cls == SiteClass::Read || cls == SiteClass::Write || cls == SiteClass::Atomic ||
                   cls == SiteClass::Flush || cls == SiteClass::Fence;
  if (collected)
    if (std::vector<SourceChain> sources = merged(i, chain, cls, size); !sources.empty()) return sources;
  if (loc != nullptr) return {{siteId(chain[0], cls), chain, cls}};
  // No debug information, or code that has no source.
  SourcePlace place;
  place.function = i.getFunction()->getName().str();
  if (const DISubprogram* sp = i.getFunction()->getSubprogram()) {
    place.function = linkageNameOf(*sp);
    place.file = sp->getFilename().str();
  }
  return {{siteId(place, cls), {place}, cls}};
}

// The originals that an instruction without a place of its own may come from. What is merged out of
// different inlined functions gets the scope that they have in common, so all that was inlined counts.
std::vector<SourceChain> Sources::merged(const Instruction& i, const Chain& chain, SiteClass cls,
                                         std::uint64_t size) const {
  TbaaMember member = tbaaMemberOf(i);
  std::uint32_t line = chain.empty() ? 0 : chain[0].line;
  auto inScope = [&](const std::string& function, const Chain& callers) {
    if (chain.empty() || function == chain[0].function) return true;
    return line == 0 && std::any_of(callers.begin(), callers.end(),
                                    [&](const SourcePlace& p) { return p.function == chain[0].function; });
  };
  // From the likeliest to the merely possible; the first rule that names any decides.
  enum Rule { Gone, GoneOfAnySize, SameSize, SameClass, Any };
  for (Rule rule : {Gone, GoneOfAnySize, SameSize, SameClass, Any}) {
    std::vector<SourceChain> sources;
    for (const auto& [function, callers] : inlined_) {
      if (!inScope(function, callers)) continue;
      for (const OriginalAccess& a : originals_.of(function)) {
        if (a.place.line == 0 || (line != 0 && a.place.line != line)) continue;
        if (rule != Any && a.cls != cls) continue;
        if (rule <= GoneOfAnySize && present_.count({a.place, a.cls}) != 0) continue;
        if ((rule == Gone || rule == SameSize) && a.size != size && a.size != 0) continue;
        bool sameMember = member.structure.empty() || a.member.structure.empty() || a.member == member;
        if (rule <= SameSize && !sameMember) continue;
        Chain own{a.place};
        if (!chain.empty() && function == chain[0].function)
          own.insert(own.end(), chain.begin() + 1, chain.end());
        else
          own.insert(own.end(), callers.begin(), callers.end());
        std::uint64_t id = siteId(a.place, a.cls);
        if (std::none_of(sources.begin(), sources.end(), [&](const SourceChain& s) { return s.id == id; }))
          sources.push_back({id, own, a.cls});
      }
    }
    if (!sources.empty()) return sources;
  }
  return {};
}

// An instruction that is wider than its original has taken in others (stores to adjacent fields as one
// vector or one memset), of which it has the place of one: those of adjacent members or, where members aren't
// known, of the lines around it, that have no instruction any more. In a loop it is the loop that is vectorised.
void Sources::addSwallowed(const Instruction& i, const Chain& chain, SiteClass cls, std::uint64_t size,
                           std::vector<SourceChain>& sources) const {
  const OriginalAccess* own = originals_.at(chain[0], cls);
  if (size == 0 || own->size == 0 || size <= own->size || own->cls != cls) return;
  if (own->member.structure.empty() && isPotentiallyReachable(i.getParent()->getTerminator(), &i)) return;
  std::uint64_t reach = size / own->size;
  for (const OriginalAccess& a : originals_.of(chain[0].function)) {
    if (a.cls != cls || a.place == chain[0] || present_.count({a.place, a.cls}) != 0) continue;
    if (a.member.structure != own->member.structure) continue;
    if (own->member.structure.empty()) {
      std::uint64_t distance =
          a.place.line > chain[0].line ? a.place.line - chain[0].line : chain[0].line - a.place.line;
      if (distance > reach || a.size != own->size) continue;
    } else {
      std::uint64_t apart = a.member.offset > own->member.offset ? a.member.offset - own->member.offset
                                                                 : own->member.offset - a.member.offset;
      if (apart >= size) continue;
    }
    Chain other = chain;
    other[0] = a.place;
    std::uint64_t id = siteId(a.place, a.cls);
    if (std::none_of(sources.begin(), sources.end(), [&](const SourceChain& s) { return s.id == id; }))
      sources.push_back({id, other, a.cls});
  }
}

}  // namespace blackout
