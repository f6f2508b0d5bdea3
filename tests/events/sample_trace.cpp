#include "sample_trace.h"

#include <array>
#include <cstring>

#include "events/trace.h"
#include "events/value.h"

namespace blackout::test {

namespace {

std::string words(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (std::uint64_t v : values) out.append(reinterpret_cast<const char*>(&v), sizeof v);
  return out;
}

}  // namespace

Site sampleSite() {
  Site site;
  site.id = 0x1122334455667788;
  site.kind = SiteKind::Store;
  site.size = 8;
  site.type = "Node.next";
  site.sources = {
      {0xaa, {{"_ZN4List4pushEi", "/src/list.cpp", 42, 14, 0}, {"_ZN4List6insertEi", "/src/list.cpp", 60, 3, 1}}},
      {0xbb, {{"_ZN4List6appendEi", "/src/list.cpp", 52, 14, 0}}}};
  return site;
}

TraceWriter sampleTrace() {
  TraceWriter w;
  FileNo pool = w.file("/pool/a.img", 8192, true);
  w.fileData(pmAddr(pool, 0), std::string("head") + std::string(8000, '\0') + "tail");
  w.module({"/bin/program", 0x1000, 0x401000, 0x402000, true});
  w.module({"/lib/libc.so.6", 0x7f0000000000, 0x7f0000001000, 0x7f0000100000, false});
  SiteNo storeSite = w.site(sampleSite());
  Site flush;
  flush.id = 0x99;
  flush.kind = SiteKind::Clwb;
  flush.sources = {{0x99, {{"flush_line", "/src/persist.c", 7, 5, 0}}}};
  SiteNo flushSite = w.site(flush);
  std::array<std::uint64_t, 2> frames = {0x401100, 0x401200};
  StackId storeHere = w.where(storeSite, frames);
  StackId flushHere = w.where(flushSite);

  auto at = [&](std::uint64_t offset) { return pmAddr(pool, offset); };
  w.event(EventKind::ThreadBegin, 1, 1, 4711);
  w.blob(EventKind::Map, 1, at(0), words({0x200000000000, 8192}));
  w.event(EventKind::RoiBegin, 1);
  w.blob(EventKind::OpBegin, 1, 5, "put");
  w.event(EventKind::Load, 1, at(0x40), 0, 8);
  w.event(EventKind::LoadRange, 1, at(0x80), 100);
  w.store(EventKind::Store, 1, at(0x1040), "12345678", storeHere);
  w.store(EventKind::Store, 1, at(0x107c), "a wide store over two lines", storeHere);
  w.store(EventKind::StoreNt, 1, at(0x1100), "nontempo", storeHere);
  w.event(EventKind::Rmw, 1, at(0x1180), 7, 8 | BLACKOUT_JOINED, storeHere);
  w.event(EventKind::Rmw, 1, at(0x1188), 9, 8, storeHere);
  w.event(EventKind::StoreOutside, 1, at(9000), 1, 4, storeHere);
  w.event(EventKind::Clflush, 1, at(0x1040), 0, 0, flushHere);
  w.event(EventKind::Clflushopt, 1, at(0x1040), 0, 0, flushHere);
  w.event(EventKind::Clwb, 1, at(0x1080), 0, 0, flushHere);
  w.event(EventKind::FlushOutside, 1, 0x7ffd00001000, 0, 0, flushHere);
  w.event(EventKind::Sfence, 1);
  w.event(EventKind::Mfence, 1);
  w.event(EventKind::Lfence, 1);
  w.event(EventKind::RmwFence, 1, 0x7ffd00002000);
  w.event(EventKind::OpEnd, 1, 0, 1);
  w.blob(EventKind::OpValues, 1, 0,
         encodeValues(Values{Value::ofText("key"), Value::ofSigned(-3), Value::ofBytes(std::string("\0\xff", 2))}));
  w.blob(EventKind::OpBegin, 1, 0, "get", BLACKOUT_OP_VALUES);
  w.blob(EventKind::OpValues, 1, 0, encodeValues({}), BLACKOUT_VALUES_RESULTS);
  w.event(EventKind::OpEnd, 1, 0, 0, BLACKOUT_OP_VALUES);
  w.event(EventKind::ThreadCreate, 1);
  w.event(EventKind::Switch, 1, 3, (std::uint64_t{1} << 32) | 2);
  w.event(EventKind::ThreadBegin, 2, 1, 4712);
  w.event(EventKind::ThreadJoin, 1, 0, 3);
  w.event(EventKind::Lock, 2, 0x7ffd00003000);
  w.store(EventKind::Store, 2, at(0x1200), "thread 2", storeHere);
  w.event(EventKind::Unlock, 2, 0x7ffd00003000);
  w.event(EventKind::SyncStart, 2);
  w.event(EventKind::Msync, 2, at(0x1000), 4096);
  w.event(EventKind::Fsync, 2, at(0));
  w.event(EventKind::Discard, 2, at(0x1200), 64);
  w.event(EventKind::Ignore, 2, at(0x1240), 64);
  w.blob(EventKind::Request, 2, 0, words({0x4d430000, 1, 2, 3, 4, 5}));
  w.blob(EventKind::Request, 2, 0, words({0x5043001e, 0x402000, 0, 0, 0, 0}) + "checkpoint");
  w.event(EventKind::SkipDetectionBegin, 2);
  w.event(EventKind::SkipDetectionEnd, 2);
  w.event(EventKind::SkipPointsBegin, 2);
  w.event(EventKind::SkipPointsEnd, 2);
  w.event(EventKind::ExtraPoint, 2);
  w.event(EventKind::CommitVar, 2, at(0x1300), 8);
  w.blob(EventKind::CommitRange, 2, at(0x1340), words({128, at(0x1300)}));
  w.event(EventKind::TxBegin, 2, 0);
  w.event(EventKind::TxBegin, 2, 7);
  w.blob(EventKind::TxAdd, 2, at(0x1400), words({64, 0}));
  w.blob(EventKind::TxRemove, 2, at(0x1400), words({32, 7}));
  w.event(EventKind::TxIgnore, 2, at(0x1440), 64);
  w.event(EventKind::TxEnd, 2, 7);
  w.event(EventKind::TxEnd, 2, 0);
  w.event(EventKind::Call, 2, 0x401500);
  w.event(EventKind::Branch, 2, 0, 1);
  w.event(EventKind::Alloc, 2, 0x602000, 48);
  w.event(EventKind::Free, 2, 0x602000);
  w.event(EventKind::ThreadEnd, 2);
  w.event(EventKind::RoiEnd, 1);
  w.event(EventKind::Complete, 1);
  FileNo second = w.file("/pool/b.img", 0, false);
  w.event(EventKind::FileSize, 1, pmAddr(second, 0), 4096);
  w.event(EventKind::FileZero, 1, pmAddr(second, 64), 64);
  w.blob(EventKind::FileRename, 1, pmAddr(second, 0), "/pool/c.img");
  w.event(EventKind::FileUnlink, 1, pmAddr(second, 0));
  w.event(EventKind::Unmap, 1, at(0), 8192);
  w.event(EventKind::Fork, 1, 0, 4713);
  w.event(EventKind::Exec, 1);
  w.event(EventKind::Lost, 0, 1, 3);
  LoadedModule plain;
  plain.path = "/lib/libplain.so";
  plain.begin = 0x700000;
  plain.end = 0x701000;
  plain.trapped = true;
  w.module(plain);
  w.blob(EventKind::Patched, 0, plain.begin, std::string("\5\0\0\0\4\0\0\0\1\0\0\0", 12));
  w.blob(EventKind::Unfollowed, 1, 0, "it does what nobody follows");
  w.event(EventKind::End, 0, 0, 0);
  return w;
}

std::uint64_t readAll(const Trace& trace) {
  std::uint64_t sum = trace.eventCount() + trace.problems() + trace.lost() + trace.lastThread().value();
  auto text = [&](std::string_view s) {
    for (char c : s) sum = sum * 31 + static_cast<unsigned char>(c);
  };
  std::uint64_t count = 0;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    ++count;
    sum = sum * 31 + e.addr + e.value + e.kind + e.len + e.thread;
    if (hasPayload(e)) text(trace.payload(n));
    if (const CallStack* w = trace.callStack(stackOf(e)))
      for (std::uint64_t f : w->frames) sum += f;
    if (const Site* s = trace.siteOf(e)) {
      text(s->type);
      for (const Source& source : s->sources)
        for (const Place& p : source.chain) text(p.function + p.file);
    }
  }
  for (const PoolFile& f : trace.files()) text(f.path);
  for (const LoadedModule& m : trace.modules()) text(m.path);
  // A walk that loses count would be a reader's bug, not the file's.
  if (count != trace.eventCount()) __builtin_trap();
  return sum;
}

}  // namespace blackout::test
