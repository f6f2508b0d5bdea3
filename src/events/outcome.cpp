#include "events/outcome.h"

#include "events/byte_stream.h"
#include "events/recovery_contract.h"

namespace blackout {

void encode(ByteWriter& out, const Outcome& o) {
  out.number(static_cast<std::uint64_t>(o.ending));
  out.number(static_cast<std::uint32_t>(o.code));
  out.text(o.text);
  out.text(o.output);
  out.number(o.outputCut ? 1 : 0);
  out.number(o.faultAddress);
  out.number(o.frames.size());
  for (std::uint64_t f : o.frames) out.number(f);
  out.text(encodeHistory(o.history));
}

Outcome decodeOutcome(ByteReader& in) {
  Outcome o;
  o.ending = static_cast<Ending>(in.number(static_cast<std::uint64_t>(Ending::Bound)));
  o.code = static_cast<int>(in.small());
  o.text = in.text();
  o.output = in.text();
  o.outputCut = in.flag();
  o.faultAddress = in.number();
  o.frames.resize(in.number(BLACKOUT_MAX_RUN_FRAMES));
  for (std::uint64_t& f : o.frames) f = in.number();
  if (auto history = decodeHistory(in.text()))
    o.history = std::move(*history);
  else
    in.reject();
  return o;
}

}  // namespace blackout
