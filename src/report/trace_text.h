// Events as lines of text, for `blackout trace`.
#pragma once

#include <string>
#include <unordered_map>

#include "events/site.h"

namespace blackout {

// "1:0x1040": file number and offset, the notation of every option that takes an address.
std::string addressText(PmAddr addr);

class EventPrinter {
 public:
  explicit EventPrinter(const Trace& trace) : trace_(trace) {}

  // What the trace is and which pools it has.
  std::string header() const;
  // Number, thread, kind, what and where, without a line's end.
  std::string line(EventNo n);
  // "list.cpp:42:7 in List::push(int)"; empty: unknown.
  const std::string& placeText(StackId where);
  // What happened, without number, thread, kind and place: "1:0x1040 8 bytes = 0x2040".
  std::string body(EventNo n) const;

 private:
  const Trace& trace_;
  std::unordered_map<SiteNo, std::string> places_;
};

}  // namespace blackout
