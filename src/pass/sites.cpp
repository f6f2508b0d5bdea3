#include "pass/sites.h"

#include <algorithm>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace blackout {

SiteWriter::SiteWriter(Module& m, const Unit& unit) : module_(m), sources_(unit.originals), keys_(unit.keys) {
  LLVMContext& c = m.getContext();
  Type* i8 = Type::getInt8Ty(c);
  Type* i16 = Type::getInt16Ty(c);
  Type* i32 = Type::getInt32Ty(c);
  Type* i64 = Type::getInt64Ty(c);
  placeType_ = StructType::get(c, {i64, i32, i32, i32, i32, i32, i32});
  siteType_ = StructType::get(c, {i64, i32, i16, i8, i8, i32, i32, i32, i32});
  // The layouts of contract.h.
  const DataLayout& dl = m.getDataLayout();
  assert(dl.getTypeAllocSize(placeType_) == sizeof(blackout_place));
  assert(dl.getTypeAllocSize(siteType_) == sizeof(blackout_site));
}

Constant* SiteWriter::text(const std::string& s) {
  Constant*& known = texts_[s];
  if (known == nullptr) {
    Constant* init = ConstantDataArray::getString(module_.getContext(), s);
    auto* global =
        new GlobalVariable(module_, init->getType(), true, GlobalValue::PrivateLinkage, init, "blackout.text");
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    global->setAlignment(Align(1));
    known = global;
  }
  return known;
}

// target - &from.field, as a 32-bit constant that the linker computes: no dynamic relocation.
Constant* SiteWriter::relative(Constant* target, GlobalVariable* from, ArrayRef<unsigned> field) {
  LLVMContext& c = module_.getContext();
  Type* i64 = Type::getInt64Ty(c);
  SmallVector<Constant*, 3> indices{ConstantInt::get(Type::getInt32Ty(c), 0)};
  for (unsigned f : field) indices.push_back(ConstantInt::get(Type::getInt32Ty(c), f));
  Constant* at = ConstantExpr::getGetElementPtr(from->getValueType(), from, indices);
  Constant* difference =
      ConstantExpr::getSub(ConstantExpr::getPtrToInt(target, i64), ConstantExpr::getPtrToInt(at, i64));
  return ConstantExpr::getTrunc(difference, Type::getInt32Ty(c));
}

// All that it was made of must agree.
std::string SiteWriter::typeOf(const std::vector<SourceChain>& sources, std::uint64_t size) const {
  std::string type = keys_.at(sources[0], size);
  bool agreed =
      std::all_of(sources.begin(), sources.end(), [&](const SourceChain& s) { return keys_.at(s, size) == type; });
  return agreed ? type : "";
}

// Whether what the instruction reads reaches nobody: a store that is made by xchg (or cmpxchg16b), an exchange without
// a result. To a restart it is a store.
static bool isBlind(const Instruction& i) {
  if (isa<StoreInst>(i)) return true;
  const auto* rmw = dyn_cast<AtomicRMWInst>(&i);
  return rmw != nullptr && rmw->getOperation() == AtomicRMWInst::Xchg && rmw->use_empty();
}

GlobalVariable* SiteWriter::row(const Instruction& i, blackout_site_kind kind, std::uint64_t size, bool atomic,
                                std::uint32_t element) {
  LLVMContext& c = module_.getContext();
  Type* i32 = Type::getInt32Ty(c);
  Type* i64 = Type::getInt64Ty(c);
  std::vector<SourceChain> sources = sources_.of(i, classOf(kind), size);
  std::string field = typeOf(sources, size);

  std::size_t count = 0;
  for (const SourceChain& s : sources) count += s.chain.size();
  auto* placesType = ArrayType::get(placeType_, count);
  auto* places = new GlobalVariable(module_, placesType, true, GlobalValue::PrivateLinkage, nullptr, "blackout.places");
  std::vector<Constant*> rows;
  unsigned n = 0;
  auto number = [&](std::uint32_t v) -> Constant* { return ConstantInt::get(i32, v); };
  for (const SourceChain& s : sources) {
    for (std::size_t k = 0; k < s.chain.size(); ++k, ++n) {
      const SourcePlace& p = s.chain[k];
      auto string = [&](const std::string& value, unsigned at) {
        return value.empty() ? number(0) : relative(text(value), places, {n, at});
      };
      rows.push_back(ConstantStruct::get(
          placeType_,
          {ConstantInt::get(i64, k == 0 ? s.id : 0), string(p.function, 1), string(p.file, 2), number(p.line),
           number(p.column), number(p.discriminator), number(k == 0 ? BLACKOUT_PLACE_SOURCE : 0)}));
    }
  }
  places->setInitializer(ConstantArray::get(placesType, rows));
  places->setAlignment(Align(8));

  auto* site = new GlobalVariable(module_, siteType_, false, GlobalValue::PrivateLinkage, nullptr, "blackout.site");
  site->setSection(BLACKOUT_SITE_SECTION);
  site->setAlignment(Align(8));
  // A discarded copy of an inline function takes its rows along.
  if (Comdat* comdat = const_cast<Function*>(i.getFunction())->getComdat()) site->setComdat(comdat);
  Constant* type = field.empty() ? number(0) : relative(text(field), site, {7});
  site->setInitializer(ConstantStruct::get(
      siteType_,
      {ConstantInt::get(i64, sources[0].id), number(0), ConstantInt::get(Type::getInt16Ty(c), size > 0xffff ? 0 : size),
       ConstantInt::get(Type::getInt8Ty(c), kind),
       ConstantInt::get(Type::getInt8Ty(c), (atomic ? BLACKOUT_SITE_ATOMIC : 0) |
                                                (kind == BLACKOUT_SITE_Rmw && isBlind(i) ? BLACKOUT_SITE_BLIND : 0)),
       relative(places, site, {5}), number(static_cast<std::uint32_t>(count)), type, number(element)}));
  return site;
}

}  // namespace blackout
