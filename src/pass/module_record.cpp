#include "pass/module_record.h"

#include <cassert>

#include "events/contract.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/hooks.h"

using namespace llvm;

namespace blackout {

GlobalVariable* makeModuleRecord(Module& m) {
  LLVMContext& c = m.getContext();
  Type* i32 = Type::getInt32Ty(c);
  Type* i64 = Type::getInt64Ty(c);
  auto* type = StructType::get(c, {i64, i64, i64, i64, i32, i32, i64, i32, i32});
  Constant* zero = ConstantInt::get(i64, 0);
  Constant* no = ConstantInt::get(i32, 0);
  Constant* init = ConstantStruct::get(
      type, {zero, zero, zero, zero, no, ConstantInt::get(i32, BLACKOUT_CONTRACT_VERSION), zero, no, no});
  assert(m.getDataLayout().getTypeAllocSize(type) == sizeof(blackout_module));
  // One copy per program file: hidden, so that the checks reach it without a GOT.
  auto* record = new GlobalVariable(m, type, false, GlobalValue::LinkOnceODRLinkage, init, "__blackout_module_record");
  record->setVisibility(GlobalValue::HiddenVisibility);
  record->setDSOLocal(true);
  record->setComdat(m.getOrInsertComdat("__blackout_module_record"));
  record->setAlignment(Align(64));
  return record;
}

static Constant* sectionEdge(Module& m, StringRef name) {
  auto* edge =
      new GlobalVariable(m, Type::getInt8Ty(m.getContext()), false, GlobalValue::ExternalWeakLinkage, nullptr, name);
  edge->setVisibility(GlobalValue::HiddenVisibility);
  return edge;
}

void makeConstructors(Module& m, Hooks& hooks, GlobalVariable* record) {
  Constant* begin = sectionEdge(m, "__start_" BLACKOUT_SITE_SECTION);
  Constant* end = sectionEdge(m, "__stop_" BLACKOUT_SITE_SECTION);
  auto make = [&](StringRef name, StringRef hook, ArrayRef<Value*> args, auto append) {
    auto* f = Function::Create(FunctionType::get(hooks.voidTy, false), GlobalValue::LinkOnceODRLinkage, name, m);
    f->setVisibility(GlobalValue::HiddenVisibility);
    f->setComdat(m.getOrInsertComdat(name));
    f->addFnAttr(Attribute::DisableSanitizerInstrumentation);
    f->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> b(BasicBlock::Create(m.getContext(), "", f));
    hooks.call(b, hook, hooks.voidTy, args, Hooks::Registers::AsInC);
    b.CreateRetVoid();
    append(m, f, 1, f);
  };
  make("__blackout_module_begin", "__blackout_register_module", {record, begin, end}, appendToGlobalCtors);
  make("__blackout_module_end", "__blackout_unregister_module", {record}, appendToGlobalDtors);
}

}  // namespace blackout
