#include "pass/originals.h"

#include <optional>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

std::string linkageNameOf(const DISubprogram& sp) {
  return (sp.getLinkageName().empty() ? sp.getName() : sp.getLinkageName()).str();
}

SourcePlace placeOf(const DILocation& loc) {
  SourcePlace place;
  if (const DISubprogram* sp = loc.getScope()->getSubprogram()) place.function = linkageNameOf(*sp);
  // A relative name is relative to the folder of the compilation.
  const DIFile* file = loc.getFile();
  if (file != nullptr) {
    place.file = file->getFilename().str();
    if (!place.file.empty() && place.file[0] != '/' && !file->getDirectory().empty())
      place.file = (file->getDirectory() + "/" + file->getFilename()).str();
  }
  place.line = loc.getLine();
  place.column = loc.getColumn();
  place.discriminator = loc.getBaseDiscriminator();
  return place;
}

void Originals::collect(Module& m) {
  const DataLayout& dl = m.getDataLayout();
  for (Function& f : m) {
    for (Instruction& i : instructions(f)) {
      const DILocation* loc = i.getDebugLoc().get();
      if (loc == nullptr) continue;
      std::optional<OriginalAccess> access;
      auto note = [&](SiteClass cls, std::uint64_t size) { access = {placeOf(*loc), cls, size}; };
      if (auto* load = dyn_cast<LoadInst>(&i)) note(SiteClass::Read, dl.getTypeStoreSize(load->getType()));
      if (auto* store = dyn_cast<StoreInst>(&i))
        note(SiteClass::Write, dl.getTypeStoreSize(store->getValueOperand()->getType()));
      if (auto* rmw = dyn_cast<AtomicRMWInst>(&i))
        note(SiteClass::Atomic, dl.getTypeStoreSize(rmw->getValOperand()->getType()));
      if (auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
        note(SiteClass::Atomic, dl.getTypeStoreSize(cas->getNewValOperand()->getType()));
      if (isa<MemIntrinsic>(i)) note(SiteClass::Write, 0);
      if (access) byFunction_[access->place.function].insert(*access);
    }
  }
}

bool Originals::contains(const SourcePlace& place, SiteClass cls) const {
  auto found = byFunction_.find(place.function);
  if (found == byFunction_.end()) return false;
  for (const OriginalAccess& a : found->second)
    if (a.place == place && a.cls == cls) return true;
  return false;
}

std::vector<SourcePlace> Originals::candidates(const std::string& function, SiteClass cls, std::uint64_t size,
                                               std::uint32_t line,
                                               const std::set<std::pair<SourcePlace, SiteClass>>& present) const {
  std::vector<SourcePlace> result;
  auto found = byFunction_.find(function);
  if (found == byFunction_.end()) return result;
  for (const OriginalAccess& a : found->second) {
    if (a.cls != cls || a.place.line == 0 || (line != 0 && a.place.line != line)) continue;
    if (a.size != size && a.size != 0) continue;
    if (present.count({a.place, cls}) != 0) continue;
    if (result.empty() || result.back() != a.place) result.push_back(a.place);
  }
  return result;
}

}  // namespace blackout
