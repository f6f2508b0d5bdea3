// Property: any sequence of well-formed events is read back as it was written, sealed or not.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "events/table_payloads.h"
#include "events/trace.h"
#include "sample_trace.h"

namespace blackout {
namespace {

using test::asBytes;

// Text without the byte that ends text in a record.
rc::Gen<std::string> genText() {
  return rc::gen::container<std::string>(
      rc::gen::suchThat(rc::gen::arbitrary<char>(), [](char c) { return c != '\0'; }));
}

rc::Gen<Place> genPlace() {
  return rc::gen::build<Place>(rc::gen::set(&Place::function, genText()), rc::gen::set(&Place::file, genText()),
                               rc::gen::set(&Place::line), rc::gen::set(&Place::column),
                               rc::gen::set(&Place::discriminator));
}

rc::Gen<Source> genSource() {
  return rc::gen::build<Source>(
      rc::gen::set(&Source::id),
      rc::gen::set(&Source::chain, rc::gen::nonEmpty(rc::gen::container<std::vector<Place>>(genPlace()))));
}

rc::Gen<Site> genSite() {
  std::vector<SiteKind> kinds;
#define BLACKOUT_SITE(code, Name, text, Class) kinds.push_back(SiteKind::Name);
#include "events/site_kinds.def"
#undef BLACKOUT_SITE
  return rc::gen::build<Site>(rc::gen::set(&Site::id), rc::gen::set(&Site::kind, rc::gen::elementOf(kinds)),
                              rc::gen::set(&Site::size), rc::gen::set(&Site::atomic),
                              rc::gen::set(&Site::sources, rc::gen::container<std::vector<Source>>(genSource())),
                              rc::gen::set(&Site::type, genText()));
}

RC_GTEST_PROP(SiteRecord, RoundTrip, ()) {
  Site site = *genSite();
  auto read = decodeSite(encodeSite(site));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == site);
}

RC_GTEST_PROP(SiteRecord, AnyBytesAreReadOrRefused, (const std::string& bytes)) { (void)decodeSite(bytes); }

constexpr std::uint64_t kFileSize = 4096;

// One step of writing a trace, chosen by numbers so that it shrinks well.
struct Step {
  unsigned what = 0;
  std::uint64_t offset = 0;
  std::string bytes;
  ThreadNo thread = 1;
  bool operator==(const Step&) const = default;
};

rc::Gen<Step> genStep() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::what, rc::gen::inRange(0U, 8U)),
      rc::gen::set(&Step::offset, rc::gen::inRange<std::uint64_t>(0, kFileSize - 256)),
      rc::gen::set(&Step::bytes, rc::gen::resize(100, rc::gen::arbitrary<std::string>())),
      rc::gen::set(&Step::thread, rc::gen::construct<ThreadNo>(rc::gen::inRange<std::uint16_t>(1, 9))));
}

RC_GTEST_PROP(TraceRoundTrip, EventsAndStoredBytes, ()) {
  TraceWriter w;
  FileNo f = w.file("/pool", kFileSize, true);
  SiteNo site = w.site(*genSite());
  std::string written(kFileSize, '\0');
  std::vector<std::pair<EventNo, std::string>> blobs;
  std::vector<std::pair<EventNo, Event>> plain;
  std::vector<StackId> wheres = {0};
  for (const Step& s : *rc::gen::container<std::vector<Step>>(genStep())) {
    std::string bytes = s.bytes.substr(0, 200);
    PmAddr at = pmAddr(f, s.offset);
    StackId where = wheres[s.offset % wheres.size()];
    auto put = [&](EventKind kind, PmAddr addr, std::uint64_t value) {
      EventNo n = w.event(kind, s.thread, addr, value, 0, where);
      plain.emplace_back(n, Event{static_cast<std::uint8_t>(kind), 0, s.thread.value(), where.value(), addr, value});
    };
    switch (s.what) {
      case 0:
      case 1:
        w.store(s.what == 0 ? EventKind::Store : EventKind::StoreNt, s.thread, at, bytes, where);
        written.replace(s.offset, bytes.size(), bytes);
        break;
      case 2:
        put(EventKind::Clwb, at, 0);
        break;
      case 3:
        put(EventKind::Sfence, 0, 0);
        break;
      case 4:
        blobs.emplace_back(w.blob(EventKind::OpBegin, s.thread, s.offset, bytes), bytes);
        break;
      case 5:
        put(EventKind::OpEnd, 0, s.offset);
        break;
      case 6: {
        std::vector<std::uint64_t> frames(s.offset % 7, s.offset);
        wheres.push_back(w.where(site, frames));
        break;
      }
      default:
        put(EventKind::LoadRange, at, bytes.size());
        break;
    }
  }
  for (bool sealed : {false, true}) {
    std::string file = sealed ? w.sealedBytes() : w.bytes();
    auto trace = Trace::fromBytes(asBytes(file));
    RC_ASSERT(trace.has_value());
    RC_ASSERT(trace->sealed() == sealed);
    std::string read(kFileSize, '\0');
    for (EventNo n = 0; n < trace->end(); n = trace->next(n)) {
      const Event& e = (*trace)[n];
      if (!isStore(e)) continue;
      RC_ASSERT(lineOf(e.addr) == lineOf(e.addr + bytesOf(e) - 1));
      for (unsigned i = 0; i < bytesOf(e); ++i) read[offsetOf(e.addr) + i] = static_cast<char>(e.value >> (8 * i));
    }
    RC_ASSERT(read == written);
    for (auto& [n, bytes] : blobs) RC_ASSERT(trace->payload(n) == bytes);
    for (auto& [n, e] : plain) {
      const Event& r = (*trace)[n];
      RC_ASSERT(std::tie(r.kind, r.len, r.thread, r.where, r.addr, r.value) ==
                std::tie(e.kind, e.len, e.thread, e.where, e.addr, e.value));
    }
  }
}

}  // namespace
}  // namespace blackout
