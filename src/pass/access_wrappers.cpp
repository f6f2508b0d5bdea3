#include "pass/access_wrappers.h"

#include <string_view>

#include "events/access_wrapper.h"

using namespace llvm;

namespace blackout {

void inlineAccessWrappers(Module& m) {
  for (Function& f : m) {
    if (f.isDeclaration() || f.isInterposable() || !isAccessWrapper(std::string_view(f.getName()))) continue;
    f.removeFnAttr(Attribute::NoInline);
    f.removeFnAttr(Attribute::OptimizeNone);
    f.addFnAttr(Attribute::AlwaysInline);
  }
}

}  // namespace blackout
