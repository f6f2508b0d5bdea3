// A program as its trace: named stores and guardian reads in one pool, written line by line in tests of likely commits.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "infer/guardians.h"

namespace blackout::test {

class CommitsProgram {
 public:
  static constexpr std::uint64_t kBase = 0x280000000000;
  static constexpr std::uint64_t kSize = 1 << 20;

  // With this content before the recording.
  explicit CommitsProgram(std::string_view before = {}) {
    pool_ = writer_.file("/pool", kSize, true);
    if (!before.empty()) writer_.fileData(pmAddr(pool_, 0), before);
    map(kBase);
  }

  void map(std::uint64_t address) { map(address, pool_); }
  void map(std::uint64_t address, FileNo file) {
    const std::uint64_t words[] = {address, kSize};
    writer_.blob(EventKind::Map, 1, pmAddr(file, 0), {reinterpret_cast<const char*>(words), sizeof words});
  }

  FileNo anotherPool() { return writer_.file("/another", kSize, true); }

  PmAddr at(std::uint64_t offset) const { return pmAddr(pool_, offset); }
  static std::uint64_t pointer(std::uint64_t offset) { return kBase + offset; }

  // The field is what the site says that it stores; each has one site.
  EventNo store(std::uint64_t offset, std::uint64_t value, unsigned len = 8, const std::string& field = {},
                EventKind kind = EventKind::Store) {
    return writer_.event(kind, 1, at(offset), value, len, field.empty() ? 0 : whereOf(field));
  }
  EventNo rmw(std::uint64_t offset, std::uint64_t value, const std::string& field = {}) {
    return store(offset, value, 8, field, EventKind::Rmw);
  }

  // A read of the guardian that decides.
  void test(const FieldKey& guardian, std::uint64_t offset, unsigned len = 8) {
    writer_.event(EventKind::Load, 1, at(offset), 0, len, whereOf(guardian));
  }
  void testRange(const FieldKey& guardian, std::uint64_t offset, std::uint64_t size) {
    writer_.event(EventKind::LoadRange, 1, at(offset), size, 0, whereOf(guardian));
  }
  // A read of anything else.
  void read(std::uint64_t offset) { writer_.event(EventKind::Load, 1, at(offset), 0, 8, whereOf("Other.read")); }

  TraceWriter& writer() { return writer_; }

  const Trace& trace() {
    bytes_ = writer_.sealedBytes();
    auto opened = Trace::fromBytes(std::as_bytes(std::span(bytes_.data(), bytes_.size())));
    if (!opened) throw std::runtime_error(opened.error().sentence);
    trace_.emplace(std::move(*opened));
    return *trace_;
  }

  static Source sourceOf(const std::string& field) {
    Source source;
    for (char c : field) source.id = source.id * 131 + static_cast<unsigned char>(c);
    source.chain = {{"f", "/src/map.cpp", static_cast<std::uint32_t>(10 + field.size()), 3, 0}};
    return source;
  }

  static Guardians guardians(std::vector<FieldKey> fields) {
    std::sort(fields.begin(), fields.end());
    Guardians all;
    for (const FieldKey& field : fields) {
      Guardian guardian;
      guardian.field = field;
      guardian.reads = {sourceOf(field)};
      guardian.guarded = {{"Node.value", {{Shape::Flag, sourceOf(field), sourceOf("Node.value")}}}};
      all.guardians.push_back(guardian);
    }
    return all;
  }

 private:
  StackId whereOf(const std::string& field) {
    auto [at, fresh] = callStacks_.try_emplace(field);
    if (fresh) {
      Site site;
      site.sources = {sourceOf(field)};
      site.id = site.sources[0].id;
      site.kind = SiteKind::Load;
      site.size = 8;
      site.type = field;
      at->second = writer_.where(writer_.site(site));
    }
    return at->second;
  }

  TraceWriter writer_;
  FileNo pool_ = 0;
  std::map<std::string, StackId> callStacks_;
  std::string bytes_;
  std::optional<Trace> trace_;
};

}  // namespace blackout::test
