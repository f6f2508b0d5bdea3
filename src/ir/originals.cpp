#include "ir/originals.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

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

TbaaMember tbaaMemberOf(const Instruction& i) {
  // A struct-path tag is (base type, access type, offset); a scalar's base is the scalar itself.
  const MDNode* tag = i.getMetadata(LLVMContext::MD_tbaa);
  if (tag == nullptr || tag->getNumOperands() < 3 || tag->getOperand(0) == tag->getOperand(1)) return {};
  const auto* base = dyn_cast_or_null<MDNode>(tag->getOperand(0));
  const auto* offset = mdconst::dyn_extract_or_null<ConstantInt>(tag->getOperand(2));
  if (base == nullptr || base->getNumOperands() == 0 || offset == nullptr) return {};
  const auto* name = dyn_cast_or_null<MDString>(base->getOperand(0));
  if (name == nullptr) return {};
  return {name->getString().str(), offset->getZExtValue()};
}

// Local variables, which are all in memory here: they have no site. Locked instructions have one on any memory.
static bool isLocal(const Instruction& i) {
  if (const auto* load = dyn_cast<LoadInst>(&i)) return cannotBePm(load->getPointerOperand());
  if (const auto* store = dyn_cast<StoreInst>(&i))
    return !isLockedStore(*store) && cannotBePm(store->getPointerOperand());
  if (const auto* copy = dyn_cast<MemTransferInst>(&i))
    return cannotBePm(copy->getRawDest()) && cannotBePm(copy->getRawSource());
  if (const auto* set = dyn_cast<MemSetInst>(&i)) return cannotBePm(set->getRawDest());
  return false;
}

void Originals::collect(Module& m) {
  const DataLayout& dl = m.getDataLayout();
  for (Function& f : m)
    for (Instruction& i : instructions(f)) {
      const DILocation* loc = i.getDebugLoc().get();
      if (loc == nullptr || isLocal(i)) continue;
      for (const Access& a : accessesOf(i, dl)) {
        SourcePlace place = placeOf(*loc);
        byFunction_[place.function].insert({place, a.cls, a.size, tbaaMemberOf(i)});
      }
    }
}

const std::set<OriginalAccess>& Originals::of(const std::string& function) const {
  static const std::set<OriginalAccess> none;
  auto found = byFunction_.find(function);
  return found == byFunction_.end() ? none : found->second;
}

const OriginalAccess* Originals::at(const SourcePlace& place, SiteClass cls) const {
  auto accesses = [](SiteClass c) { return c == SiteClass::Read || c == SiteClass::Write || c == SiteClass::Atomic; };
  const std::set<OriginalAccess>& all = of(place.function);
  const OriginalAccess* other = nullptr;
  for (auto it = all.lower_bound({place, SiteClass::Read, 0, {}}); it != all.end() && it->place == place; ++it) {
    if (it->cls == cls) return &*it;
    // Writes come after reads in the order, and are what a copy was.
    if (accesses(cls) && accesses(it->cls)) other = &*it;
  }
  return other;
}

}  // namespace blackout
