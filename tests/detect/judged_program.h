// A tiny program whose events have places, and what the detectors say about it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "detect/detect.h"
#include "tiny_program.h"

namespace blackout::test {

class JudgedProgram : public TinyProgram {
 public:
  using TinyProgram::TinyProgram;

  // A place in the source: equal ids are one site.
  StackId place(std::uint64_t id, SiteKind kind = SiteKind::Store, std::string type = "") {
    Site site;
    site.id = id;
    site.kind = kind;
    site.size = 8;
    site.type = std::move(type);
    site.sources = {{id, {{"f", "f.c", static_cast<std::uint32_t>(id), 1, 0}}}};
    return writer.where(writer.site(site));
  }
  EventNo storeAt(StackId where, std::uint64_t offset, std::uint64_t value = 1, unsigned len = 8, ThreadNo t = 1) {
    return writer.event(EventKind::Store, t, at(offset), value, len, where);
  }
  EventNo flushAt(StackId where, std::uint64_t offset, EventKind kind = EventKind::Clwb, ThreadNo t = 1) {
    return writer.event(kind, t, at(offset), 0, 0, where);
  }
  EventNo fenceAt(StackId where, EventKind kind = EventKind::Sfence, ThreadNo t = 1) {
    return writer.event(kind, t, 0, 0, 0, where);
  }
  void persist(std::uint64_t offset, ThreadNo t = 1) {
    clwb(t, offset);
    sfence(t);
  }
  void map(std::uint64_t offset, std::uint64_t length, std::uint64_t address = 0x10000) {
    std::string payload(16, '\0');
    std::memcpy(payload.data(), &address, 8);
    std::memcpy(payload.data() + 8, &length, 8);
    writer.blob(EventKind::Map, 1, at(offset), payload);
  }

  // The findings of this detector alone.
  std::vector<Finding> found(std::string_view detector, std::string_view model = "", bool blind = false) {
    std::vector<std::string> words{"none", std::string(detector)};
    DetectOptions options = *parseDetectOptions(words);
    options.blind = blind;
    return detect(index(model), options);
  }
  // Those of all others: a detector that is switched off must leave its finding unfound.
  std::vector<Finding> foundWithout(std::string_view detector) {
    std::vector<std::string> words{"all", "-" + std::string(detector)};
    std::vector<Finding> out = detect(index(), *parseDetectOptions(words));
    std::erase_if(out, [&](const Finding& f) { return nameOf(f.kind) != detector; });
    return out;
  }
};

// Found by the detector with these counts, and by nothing else once it is off.
inline void expectFound(JudgedProgram& p, std::string_view detector, Counts counts) {
  auto findings = p.found(detector);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(nameOf(findings[0].kind), detector);
  EXPECT_EQ(findings[0].counts, counts);
  EXPECT_TRUE(p.foundWithout(detector).empty());
}
inline void expectNothing(JudgedProgram& p, std::string_view detector, std::string_view model = "") {
  EXPECT_TRUE(p.found(detector, model).empty());
}

}  // namespace blackout::test
