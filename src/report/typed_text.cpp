#include "report/typed_text.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "events/trace.h"
#include "findings/numbers.h"
#include "report/escape.h"

namespace blackout {

TypedText::TypedText(const Trace& trace)
    : trace_(trace), layouts_(StructLayouts::of(trace)), objects_(trace, layouts_), memory_(trace) {}

std::string TypedText::event(EventNo n) {
  const Event& e = trace_[n];
  std::string text;
  if (isStore(e)) {
    objects_.store(n);
    const Site* site = trace_.siteOf(e);
    std::string name = objects_.nameOf(n);
    ++(name.empty() ? count_.unknown : site != nullptr && !site->type.empty() ? count_.bySite : count_.byObject);
    std::uint64_t before = 0;
    memory_.read(e.addr, std::as_writable_bytes(std::span(&before, 1)).first(bytesOf(e)));
    if (!name.empty()) text = fmt::format("{} = {:#x} (was {:#x})", escapeText(name), e.value, before);
  }
  memory_.event(n);
  return text;
}

std::string TypedText::coverage() const {
  std::uint64_t all = count_.bySite + count_.byObject + count_.unknown;
  return fmt::format("types: {} of {} have a name, {} of them by what lies there; {} unknown",
                     grouped(count_.bySite + count_.byObject), counted(all, "store"), grouped(count_.byObject),
                     grouped(count_.unknown));
}

}  // namespace blackout
