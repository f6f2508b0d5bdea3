#include "report/trace_text.h"

#include <fmt/format.h>

#include <array>

#include "binary/symbolizer.h"
#include "events/byte_stream.h"
#include "events/id_text.h"
#include "events/trace.h"
#include "events/value.h"
#include "findings/ending.h"
#include "report/escape.h"

namespace blackout {

namespace {

// Empty: a request of which nothing is known.
std::string_view requestName(std::uint64_t code) {
  switch (code) {
#define BLACKOUT_REQUEST(code, Name, text, doc) \
  case code:                                    \
    return text;
#include "events/client_requests.def"
#undef BLACKOUT_REQUEST
    default:
      return {};
  }
}

std::string transactionText(std::uint64_t number) {
  return number == 0 ? "of the thread's own transaction" : fmt::format("of transaction {}", number);
}

std::string bytesText(std::uint64_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

}  // namespace

std::string addressText(PmAddr addr) { return fmt::format("{}:{:#x}", fileOf(addr), offsetOf(addr)); }

std::string EventPrinter::header() const {
  std::string out = fmt::format("trace {}: {} events, {}\n", escapeText(trace_.name()), trace_.eventCount(),
                                trace_.sealed() ? "complete" : "not ended: still being recorded, or cut by a kill");
  for (const PoolFile& f : trace_.files())
    if (f.number != 0)
      out += fmt::format("file {}: {}{}{}\n", f.number, escapeText(f.path), f.before ? "" : " (made by the program)",
                         f.removed ? " (removed)" : "");
  if (trace_.lost() != 0) out += fmt::format("lost: {} events could not be recorded\n", trace_.lost());
  return out;
}

const std::string& EventPrinter::placeText(StackId where) {
  const CallStack* w = trace_.callStack(where);
  SiteNo number = w == nullptr ? 0 : w->site;
  auto [at, isNew] = places_.try_emplace(number);
  const Site* site = trace_.site(number);
  if (!isNew || site == nullptr) return at->second;
  std::string& text = at->second;
  for (const Source& source : site->sources) {
    std::vector<Frame> frames = framesOf(source);
    if (frames.empty()) continue;
    const Frame& f = frames.front();
    if (!text.empty()) text += " or ";
    if (!f.file.empty()) text += fmt::format("{}:{}:{} in ", escapeText(f.file), f.line, f.column);
    text += f.function.empty() ? "an unknown function" : escapeText(f.function);
  }
  return text;
}

std::string EventPrinter::body(EventNo n) const {
  const Event& e = trace_[n];
  auto at = [&] { return addressText(e.addr); };
  auto name = [&] { return '"' + escapeText(trace_.payload(n)) + '"'; };
  switch (kindOf(e)) {
    case EventKind::Store:
    case EventKind::StoreNt:
    case EventKind::Rmw:
    case EventKind::StoreOutside: {
      std::string_view more = (e.len & BLACKOUT_JOINED) != 0 ? " (joined with the next)"
                              : (e.len & BLACKOUT_WIDE) != 0 ? " (and on)"
                                                             : "";
      return fmt::format("{} {} = {:#x}{}", at(), bytesText(bytesOf(e)), e.value, more);
    }
    case EventKind::Load:
      return fmt::format("{} {}", at(), bytesText(bytesOf(e)));
    case EventKind::LoadRange:
    case EventKind::Msync:
    case EventKind::Unmap:
    case EventKind::Discard:
    case EventKind::Ignore:
    case EventKind::CommitVar:
    case EventKind::TxIgnore:
    case EventKind::FileZero:
    case EventKind::FileData:
      return fmt::format("{} {}", at(), bytesText(e.value));
    case EventKind::Clflush:
    case EventKind::Clflushopt:
    case EventKind::Clwb:
      return at();
    case EventKind::FlushOutside:
    case EventKind::Lock:
    case EventKind::Unlock:
    case EventKind::Call:
    case EventKind::Free:
      return fmt::format("{:#x}", e.addr);
    case EventKind::Sfence:
    case EventKind::Mfence:
    case EventKind::Lfence:
    case EventKind::SyncStart:
    case EventKind::RoiBegin:
    case EventKind::RoiEnd:
    case EventKind::SkipPointsBegin:
    case EventKind::SkipPointsEnd:
    case EventKind::ExtraPoint:
    case EventKind::Complete:
    case EventKind::SkipDetectionBegin:
    case EventKind::SkipDetectionEnd:
    case EventKind::ThreadEnd:
    case EventKind::ThreadCreate:
    case EventKind::Exec:
      return {};
    case EventKind::RmwFence:
      return e.addr != 0 ? fmt::format("{:#x}", e.addr) : std::string();
    case EventKind::Fsync:
    case EventKind::FileUnlink:
      return fmt::format("file {}", fileOf(e.addr));
    case EventKind::FileNew:
    case EventKind::FileRename:
      return fmt::format("file {} {}", fileOf(e.addr), name());
    case EventKind::FileSize:
      return fmt::format("file {} {}", fileOf(e.addr), bytesText(e.value));
    case EventKind::Map:
      return fmt::format("{} {} at {:#x}", at(), bytesText(trace_.mapping(n).size), trace_.mapping(n).address);
    case EventKind::OpBegin:
      return (e.len & BLACKOUT_OP_VALUES) != 0 ? name() : fmt::format("{} argument {}", name(), e.addr);
    case EventKind::OpEnd:
      return (e.len & BLACKOUT_OP_VALUES) != 0 ? std::string() : fmt::format("result {}", e.value);
    case EventKind::OpValues: {
      std::string text = e.len == BLACKOUT_VALUES_RESULTS ? "results" : "arguments";
      auto values = decodeValues(trace_.payload(n));
      for (const Value& v : values.value()) text += " " + escapeText(textOf(v));
      return text;
    }
    case EventKind::Request: {
      ByteReader in(trace_.payload(n));
      auto code = in.fixed<std::uint64_t>();
      std::string text = fmt::format("{:#x}", code);
      for (int i = 1; i < 6; ++i) text += fmt::format(" {:#x}", in.fixed<std::uint64_t>());
      if (std::string_view known = requestName(code); !known.empty()) text += fmt::format(" {}", known);
      if (!in.atEnd()) text += fmt::format(" \"{}\"", escapeText(in.bytes(in.left())));
      return text;
    }
    case EventKind::CommitRange:
      return fmt::format("{} {} by {}", at(), bytesText(trace_.range(n).size), addressText(trace_.range(n).owner));
    case EventKind::TxBegin:
    case EventKind::TxEnd:
      return e.addr == 0 ? "the thread's own" : fmt::format("{}", e.addr);
    case EventKind::TxAdd:
    case EventKind::TxRemove:
      return fmt::format("{} {} {}", at(), bytesText(trace_.range(n).size), transactionText(trace_.range(n).owner));
    case EventKind::ThreadBegin:
      return fmt::format("process {} thread {}", e.addr, e.value);
    case EventKind::Switch: {
      if (e.len == BLACKOUT_SWITCH_BUFFERS) return fmt::format("step {} waiting {:#x}", e.addr & UINT32_MAX, e.value);
      if (e.len == BLACKOUT_SWITCH_LEAVES)
        return fmt::format("step {} of {} oldest store of {} leaves", e.addr & UINT32_MAX, e.value >> 32,
                           e.value & UINT32_MAX);
      if (e.len >= BLACKOUT_SWITCH_STEP)
        return fmt::format("step {} of {} ready {:#x}", e.addr & UINT32_MAX, e.value >> 32, e.value & UINT32_MAX);
      constexpr const char* kWhy[] = {"chosen", "yields", "waits", "ends"};
      return fmt::format("step {} from {} to {} {}", e.addr & UINT32_MAX, e.value >> 32, e.value & UINT32_MAX,
                         kWhy[e.len & 3]);
    }
    case EventKind::ThreadJoin:
      return fmt::format("thread {}", e.value);
    case EventKind::Fork:
      return fmt::format("child {}", e.value);
    case EventKind::End: {
      std::string ending = endingText(static_cast<int>(e.value));
      return ending.empty() ? "exit code 0" : ending;
    }
    case EventKind::Branch:
      return e.value != 0 ? "taken" : "not taken";
    case EventKind::Alloc:
      return fmt::format("{:#x} {}", e.addr, bytesText(e.value));
    case EventKind::Site: {
      const Site* site = e.addr <= UINT32_MAX ? trace_.site(static_cast<SiteNo>(e.addr)) : nullptr;
      return site == nullptr ? std::string()
                             : fmt::format("{} id {:016x} {} {}", e.addr, site->id, nameOf(site->kind), site->size);
    }
    case EventKind::Where: {
      const CallStack* where = e.addr <= UINT32_MAX ? trace_.callStack(static_cast<StackId>(e.addr)) : nullptr;
      return where == nullptr ? std::string()
                              : fmt::format("{} site {} with {} calls", e.addr, where->site, where->frames.size());
    }
    case EventKind::Patched: {
      auto counts = ByteReader(trace_.payload(n)).fixed<std::array<std::uint32_t, 3>>();
      return fmt::format("at {:#x}: {} instructions followed, {} not proved", e.addr, counts[0], counts[2]);
    }
    case EventKind::Unfollowed:
      return escapeText(trace_.payload(n));
    case EventKind::Module: {
      ByteReader in(trace_.payload(n));
      auto begin = in.fixed<std::uint64_t>();
      in.fixed<std::uint64_t>();  // its end
      return fmt::format("{} at {:#x}{}", escapeText(in.terminated()), begin,
                         (e.len & 1) != 0   ? ", instrumented"
                         : (e.len & 2) != 0 ? ", trapped"
                                            : "");
    }
    case EventKind::Lost:
      return fmt::format("{} events, reason {}", e.value, e.addr);
  }
  return {};
}

std::string EventPrinter::line(EventNo n) {
  const Event& e = trace_[n];
  std::string text = fmt::format("{:>8} t{:<3} {:<13} {}", n, threadOf(e), nameOf(kindOf(e)), body(n));
  const std::string& place = placeText(stackOf(e));
  if (!place.empty()) text = fmt::format("{:<56}  {}", text, place);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace blackout
