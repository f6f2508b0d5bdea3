// What stores mean in the program's own words, for `blackout trace --types`: "inode.log_tail = 0x2040 (was 0x2000)".
#pragma once

#include <string>

#include "binary/typed_objects.h"
#include "model/files_at_end.h"

namespace blackout {

class TypedText {
 public:
  // The trace must outlive it.
  explicit TypedText(const Trace& trace);

  // Takes the next event, and says what a store's bytes are called, hold and held; empty: it is no store, or nobody
  // knows.
  std::string event(EventNo n);
  // How many stores so far have a name.
  std::string coverage() const;

 private:
  const Trace& trace_;
  StructLayouts layouts_;
  TypedObjects objects_;
  Replay memory_;
  TypedCount count_;
};

}  // namespace blackout
