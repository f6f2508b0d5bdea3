#include "explore/exploration_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "events/trace.h"
#include "explore/packed.h"
#include "explore/seeded.h"

namespace blackout {

namespace {

constexpr char kMagic[8] = {'B', 'L', 'K', '_', 'E', 'X', 'P', 'L'};
constexpr std::uint32_t kVersion = 4;
constexpr std::uint64_t kMaxPayload = std::uint64_t{1} << 35;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t identity;
  std::uint64_t checksum;
  std::uint64_t size;
};

class Encoder {
 public:
  void number(std::uint64_t v) {
    for (; v >= 128; v >>= 7) out_.push_back(static_cast<char>(v | 128));
    out_.push_back(static_cast<char>(v));
  }
  void text(std::string_view s) {
    number(s.size());
    out_.append(s);
  }
  void bytes(const LineBytes& line, std::uint64_t mask) {
    for (; mask != 0; mask &= mask - 1)
      out_.push_back(static_cast<char>(line[static_cast<std::size_t>(std::countr_zero(mask))]));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Reads zeros past the end and remembers that it did.
class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}
  bool ok() const { return ok_; }
  bool atEnd() const { return in_.empty(); }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint64_t b = byte();
      v |= (b & 127) << shift;
      if (b < 128) return v;
    }
    ok_ = false;
    return 0;
  }
  std::uint32_t small() {
    std::uint64_t v = number();
    if (v > UINT32_MAX) ok_ = false;
    return static_cast<std::uint32_t>(v);
  }
  // How many records follow that take at least `size` bytes each.
  std::size_t count(std::size_t size = 1) {
    std::uint64_t v = number();
    if (v <= in_.size() / size) return v;
    ok_ = false;
    return 0;
  }
  std::string text() {
    std::size_t size = count();
    std::string out(in_.substr(0, size));
    in_.remove_prefix(size);
    return out;
  }
  LineBytes bytes(std::uint64_t mask) {
    LineBytes line{};
    for (; mask != 0; mask &= mask - 1) line[static_cast<std::size_t>(std::countr_zero(mask))] = std::byte(byte());
    return line;
  }

 private:
  unsigned char byte() {
    if (in_.empty()) {
      ok_ = false;
      return 0;
    }
    auto b = static_cast<unsigned char>(in_.front());
    in_.remove_prefix(1);
    return b;
  }
  std::string_view in_;
  bool ok_ = true;
};

void put(Encoder& out, const Outcome& o) {
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

bool get(Decoder& in, Outcome& o) {
  std::uint64_t ending = in.number();
  if (ending > static_cast<std::uint64_t>(Ending::Bound)) return false;
  o.ending = static_cast<Ending>(ending);
  o.code = static_cast<int>(in.small());
  o.text = in.text();
  o.output = in.text();
  o.outputCut = in.number() != 0;
  o.faultAddress = in.number();
  o.frames.resize(in.count());
  for (std::uint64_t& f : o.frames) f = in.number();
  auto history = decodeHistory(in.text());
  if (!history) return false;
  o.history = std::move(*history);
  return in.ok();
}

void put(Encoder& out, const SavedQuery& q) {
  out.number(static_cast<std::uint64_t>(q.query.kind));
  out.number(q.query.subject);
  out.number(q.query.mask);
  out.number(q.query.site);
  out.number(q.query.group);
  out.number(q.query.flags);
  if (q.query.kind == QueryKind::Bytes)
    out.bytes(q.bytes, q.query.mask);
  else
    out.number(q.number);
}

bool get(Decoder& in, SavedQuery& q) {
  std::uint64_t kind = in.number();
  if (kind > static_cast<std::uint64_t>(QueryKind::Op)) return false;
  q.query.kind = static_cast<QueryKind>(kind);
  q.query.subject = in.small();
  q.query.mask = in.number();
  q.query.site = in.number();
  q.query.group = in.small();
  std::uint64_t flags = in.number();
  if (flags > BLACKOUT_QUERY_FLAGS) return false;
  q.query.flags = static_cast<std::uint8_t>(flags);
  if (q.query.kind == QueryKind::Bytes)
    q.bytes = in.bytes(q.query.mask);
  else
    q.number = in.number();
  return in.ok();
}

void put(Encoder& out, const SavedRun& r) {
  out.number(r.tree);
  out.number(r.atRoot ? 1 : 0);
  if (!r.atRoot) {
    out.number(r.under.value());
    out.bytes(r.bytes, ~std::uint64_t{0});
    out.number(r.number);
  }
  out.number(r.queries.size());
  for (const SavedQuery& q : r.queries) put(out, q);
  out.number(r.diverged ? 1 : 0);
  out.number(r.used);
  out.number(r.outcome.value());
  out.number(r.notes.size());
  for (const std::string& n : r.notes) out.text(n);
  out.number(r.unseen.size());
  for (const std::string& n : r.unseen) out.text(n);
  out.number(r.trace != nullptr ? 1 : 0);
  if (r.trace == nullptr) return;
  out.text(r.trace->packed);
  out.number(r.trace->table.value());
  out.number(r.trace->events.size());
  for (EventNo e : r.trace->events) out.number(e.value());
}

bool get(Decoder& in, SavedRun& r) {
  r.tree = in.small();
  r.atRoot = in.number() != 0;
  if (!r.atRoot) {
    r.under = NodeNo(in.small());
    r.bytes = in.bytes(~std::uint64_t{0});
    r.number = in.number();
  }
  std::size_t queries = in.count(7);
  for (std::size_t i = 0; i < queries && in.ok(); ++i)
    if (!get(in, r.queries.emplace_back())) return false;
  r.diverged = in.number() != 0;
  r.used = in.small();
  r.outcome = OutcomeNo(in.small());
  std::size_t notes = in.count();
  for (std::size_t i = 0; i < notes && in.ok(); ++i) r.notes.push_back(in.text());
  std::size_t unseen = in.count();
  for (std::size_t i = 0; i < unseen && in.ok(); ++i) r.unseen.push_back(in.text());
  if (in.number() != 0) {
    KeptTrace trace;
    trace.packed = in.text();
    trace.table = FileNo(in.small());
    trace.events.resize(in.count());
    for (EventNo& e : trace.events) e = EventNo(in.small());
    r.trace = std::make_shared<KeptTrace>(std::move(trace));
  }
  return in.ok();
}

tl::unexpected<Error> damaged(const std::string& name) {
  return fail(fmt::format("{}: the saved exploration is damaged; remove it and explore again", name));
}

}  // namespace

std::uint64_t digestOf(const TrackedBytes& tracked) {
  std::uint64_t h = mix(tracked.count(), tracked.operations());
  for (TrackedNo w : idRange<TrackedNo>(tracked.count())) h = mix(h, tracked.line(w).value(), tracked.mask(w));
  for (const std::string& p : tracked.paths()) h = mix(h, XXH3_64bits(p.data(), p.size()));
  return h;
}

std::uint64_t digestOf(const Operations& operations) {
  std::uint64_t h = operations.count();
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    if (operations[n].end == kNever) continue;
    std::string results = operations.encodedResults(n);
    h = mix(h, n.value(), XXH3_64bits(results.data(), results.size()));
  }
  return h;
}

SavedExploration savedForm(const Exploration& exploration, std::uint64_t identity,
                           std::span<const std::uint64_t> digests) {
  SavedExploration out;
  out.identity = identity;
  for (OutcomeNo o : idRange<OutcomeNo>(exploration.outcomes.size())) out.outcomes.push_back(exploration.outcomes[o]);
  for (const Level& level : exploration.levels)
    out.levels.push_back({digests[level.number - 1], level.shared, level.traced, {}});
  std::vector<const Recovery*> recoveries;
  for (const Recovery& l : exploration.recoveries) recoveries.push_back(&l);
  std::sort(recoveries.begin(), recoveries.end(),
            [](const Recovery* a, const Recovery* b) { return a->made < b->made; });
  for (const Recovery* l : recoveries) {
    const RecoveryTree& tree = exploration.treeOf(*l);
    SavedRun run;
    run.tree = l->tree;
    run.atRoot = l->attached == RecoveryTree::kRoot;
    auto answer = [&](EdgeNo e, LineBytes& bytes, std::uint64_t& number) {
      if (tree.kind(tree.nodeOf(e)) == QueryKind::Bytes)
        bytes = tree.bytesOf(e);
      else
        number = tree.numberOf(e);
    };
    if (!run.atRoot) {
      run.under = tree.nodeOf(l->attached);
      answer(l->attached, run.bytes, run.number);
    }
    for (NodeNo n = l->firstNode; n < l->firstNode + l->nodes; ++n) {
      // A node's own edge is the one that its run took.
      SavedQuery& q = run.queries.emplace_back();
      q.query = tree.query(n);
      answer(RecoveryTree::firstEdge(n), q.bytes, q.number);
    }
    run.diverged = l->diverged;
    run.used = l->used;
    run.outcome = l->outcome;
    run.notes = l->notes;
    run.unseen = l->unseen;
    run.trace = l->trace;
    out.levels[l->level - 1].runs.push_back(std::move(run));
  }
  return out;
}

Result<std::string> encode(const SavedExploration& saved) {
  Encoder out;
  out.number(saved.outcomes.size());
  for (const Outcome& o : saved.outcomes) put(out, o);
  out.number(saved.levels.size());
  for (const SavedLevel& level : saved.levels) {
    out.number(level.tracked);
    out.number(level.shared ? 1 : 0);
    out.number(level.traced ? 1 : 0);
    out.number(level.runs.size());
    for (const SavedRun& r : level.runs) put(out, r);
  }
  auto packed = pack(out.take());
  if (!packed) return packed;
  Header header{{}, kVersion, 0, saved.identity, XXH3_64bits(packed->data(), packed->size()), packed->size()};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + *packed;
}

Result<SavedExploration> decode(std::string_view bytes, const std::string& name) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return fail(fmt::format("{}: not a saved exploration; name a file that an exploration wrote", name));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion)
    return fail(fmt::format("{}: a saved exploration of format version {}, this is version {}; explore again", name,
                            header.version, kVersion));
  std::string_view packed = bytes.substr(sizeof header);
  if (header.size != packed.size() || XXH3_64bits(packed.data(), packed.size()) != header.checksum)
    return damaged(name);
  auto payload = unpack(packed, kMaxPayload);
  if (!payload) return damaged(name);
  Decoder in(*payload);
  SavedExploration saved;
  saved.identity = header.identity;
  std::size_t outcomes = in.count(8);
  for (std::size_t i = 0; i < outcomes; ++i)
    if (!get(in, saved.outcomes.emplace_back())) return damaged(name);
  std::size_t levels = in.count(4);
  for (std::size_t i = 0; i < levels; ++i) {
    SavedLevel& level = saved.levels.emplace_back();
    level.tracked = in.number();
    level.shared = in.number() != 0;
    level.traced = in.number() != 0;
    std::size_t runs = in.count(7);
    for (std::size_t r = 0; r < runs; ++r) {
      if (!get(in, level.runs.emplace_back())) return damaged(name);
      if (!saved.outcomes.has(level.runs.back().outcome)) return damaged(name);
    }
  }
  if (!in.ok() || !in.atEnd()) return damaged(name);
  return saved;
}

Result<void> writeExploration(const SavedExploration& saved, const std::string& path) {
  auto bytes = encode(saved);
  if (!bytes) return tl::unexpected(bytes.error());
  // A new file takes the old one's place: an interrupt leaves one or the other.
  std::string fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
  out.close();
  if (!out || std::rename(fresh.c_str(), path.c_str()) != 0) {
    int error = errno;
    std::error_code ignored;
    std::filesystem::remove(fresh, ignored);
    return fail(fmt::format("{}: the exploration can't be saved: {}", path, std::strerror(error)),
                ExitCode::Inconclusive);
  }
  return {};
}

Result<SavedExploration> readExploration(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0)), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    return fail(fmt::format("{}: can't be read: {}", path, std::strerror(errno)));
  return decode(bytes, path);
}

Result<void> restore(const SavedExploration& saved, const SavedLevel& level, const TrackedBytes& tracked,
                     Exploration& exploration, const std::string& name) {
  Level& into = exploration.levels.back();
  for (const SavedRun& run : level.runs) {
    if (run.tree >= into.trees.size()) return damaged(name);
    RecoveryTree& tree = into.trees[run.tree];
    EdgeNo at = RecoveryTree::kRoot;
    if (!run.atRoot) {
      // Node 0 stands above the root and asks nothing.
      if (run.under == 0 || run.under.value() >= tree.nodeCount()) return damaged(name);
      at =
          tree.kind(run.under) == QueryKind::Bytes ? tree.edge(run.under, run.bytes) : tree.edge(run.under, run.number);
    }
    if (tree.target(at).known()) return damaged(name);
    std::vector<Query> queries;
    std::vector<Reply> answers;
    for (const SavedQuery& q : run.queries) {
      if (!isTracked(tracked, q.query)) return damaged(name);
      queries.push_back(q.query);
      answers.push_back(q.query.kind == QueryKind::Bytes ? Reply{&q.bytes, 0} : Reply{nullptr, q.number});
    }
    if (level.traced && !run.diverged &&
        (run.trace == nullptr || run.trace->events.size() != tree.path(at).size() + queries.size() ||
         !std::is_sorted(run.trace->events.begin(), run.trace->events.end())))
      return damaged(name);
    Recovery recovery;
    recovery.outcome = exploration.outcomes.number(saved.outcomes[run.outcome]);
    recovery.used = run.used;
    recovery.level = into.number;
    recovery.tree = run.tree;
    recovery.attached = at;
    recovery.firstNode = NodeNo(tree.nodeCount());
    recovery.nodes = static_cast<std::uint32_t>(queries.size());
    recovery.loaded = true;
    recovery.diverged = run.diverged;
    recovery.made = static_cast<std::uint32_t>(exploration.recoveries.size());
    recovery.notes = run.notes;
    recovery.unseen = run.unseen;
    recovery.trace = run.trace;
    tree.insert(at, queries, answers, exploration.recoveries.endId());
    exploration.recoveries.push_back(std::move(recovery));
  }
  return {};
}

}  // namespace blackout
