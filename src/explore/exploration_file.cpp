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

#include "events/byte_stream.h"
#include "events/saved_file.h"
#include "explore/seeded.h"

namespace blackout {

namespace {

constexpr SavedFormat kFormat{"BLK_EXPL",
                              5,
                              std::uint64_t{1} << 35,
                              "saved exploration",
                              "name a file that an exploration wrote",
                              "remove it and explore again"};

// The bytes of a line that a mask names.
void putBytes(ByteWriter& out, const LineBytes& line, std::uint64_t mask) {
  for (; mask != 0; mask &= mask - 1) out.fixed(line[static_cast<std::size_t>(std::countr_zero(mask))]);
}

LineBytes getBytes(ByteReader& in, std::uint64_t mask) {
  LineBytes line{};
  for (; mask != 0; mask &= mask - 1) line[static_cast<std::size_t>(std::countr_zero(mask))] = in.fixed<std::byte>();
  return line;
}

void putTexts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.number(texts.size());
  for (const std::string& t : texts) out.text(t);
}

std::vector<std::string> getTexts(ByteReader& in) {
  std::vector<std::string> texts;
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) texts.push_back(in.text());
  return texts;
}

void put(ByteWriter& out, const SavedQuery& q) {
  out.number(static_cast<std::uint64_t>(q.query.kind));
  out.number(q.query.subject);
  out.number(q.query.mask);
  out.number(q.query.site);
  out.number(q.query.group);
  out.number(q.query.flags);
  if (q.query.kind == QueryKind::Bytes)
    putBytes(out, q.bytes, q.query.mask);
  else
    out.number(q.number);
}

SavedQuery getQuery(ByteReader& in) {
  SavedQuery q;
  q.query.kind = static_cast<QueryKind>(in.number(static_cast<std::uint64_t>(QueryKind::Op)));
  q.query.subject = in.small();
  q.query.mask = in.number();
  q.query.site = in.number();
  q.query.group = in.small();
  q.query.flags = static_cast<std::uint8_t>(in.number(BLACKOUT_QUERY_FLAGS));
  if (q.query.kind == QueryKind::Bytes)
    q.bytes = getBytes(in, q.query.mask);
  else
    q.number = in.number();
  return q;
}

void put(ByteWriter& out, const SavedRun& r) {
  out.number(r.tree);
  out.number(r.atRoot ? 1 : 0);
  if (!r.atRoot) {
    out.number(r.under.value());
    putBytes(out, r.bytes, ~std::uint64_t{0});
    out.number(r.number);
  }
  out.number(r.queries.size());
  for (const SavedQuery& q : r.queries) put(out, q);
  out.number(r.diverged ? 1 : 0);
  out.number(r.used);
  out.number(r.outcome.value());
  putTexts(out, r.notes);
  putTexts(out, r.unseen);
  out.number(r.trace != nullptr ? 1 : 0);
  if (r.trace == nullptr) return;
  out.text(r.trace->packed);
  out.number(r.trace->table.value());
  out.number(r.trace->events.size());
  for (EventNo e : r.trace->events) out.number(e.value());
}

SavedRun getRun(ByteReader& in) {
  SavedRun r;
  r.tree = in.small();
  r.atRoot = in.flag();
  if (!r.atRoot) {
    r.under = NodeNo(in.small());
    r.bytes = getBytes(in, ~std::uint64_t{0});
    r.number = in.number();
  }
  for (std::size_t left = in.count(7); left > 0 && in.ok(); --left) r.queries.push_back(getQuery(in));
  r.diverged = in.flag();
  r.used = in.small();
  r.outcome = OutcomeNo(in.small());
  r.notes = getTexts(in);
  r.unseen = getTexts(in);
  if (in.flag()) {
    KeptTrace trace;
    trace.packed = in.text();
    trace.table = FileNo(in.small());
    trace.events.resize(in.count());
    for (EventNo& e : trace.events) e = EventNo(in.small());
    r.trace = std::make_shared<KeptTrace>(std::move(trace));
  }
  return r;
}

tl::unexpected<Error> damaged(const std::string& name) { return damagedFile(kFormat, name); }

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

std::string encodeBody(const SavedExploration& saved) {
  ByteWriter out;
  out.fixed(saved.identity);
  out.number(saved.outcomes.size());
  for (const Outcome& o : saved.outcomes) encode(out, o);
  out.number(saved.levels.size());
  for (const SavedLevel& level : saved.levels) {
    out.number(level.tracked);
    out.number(level.shared ? 1 : 0);
    out.number(level.traced ? 1 : 0);
    out.number(level.runs.size());
    for (const SavedRun& r : level.runs) put(out, r);
  }
  return out.take();
}

Result<SavedExploration> decodeBody(std::string_view body, const std::string& name) {
  ByteReader in(body);
  SavedExploration saved;
  saved.identity = in.fixed<std::uint64_t>();
  for (std::size_t left = in.count(8); left > 0 && in.ok(); --left) saved.outcomes.push_back(decodeOutcome(in));
  for (std::size_t levels = in.count(4); levels > 0 && in.ok(); --levels) {
    SavedLevel& level = saved.levels.emplace_back();
    level.tracked = in.number();
    level.shared = in.flag();
    level.traced = in.flag();
    for (std::size_t left = in.count(7); left > 0 && in.ok(); --left) {
      level.runs.push_back(getRun(in));
      if (!saved.outcomes.has(level.runs.back().outcome)) in.reject();
    }
  }
  if (!in.finished()) return damaged(name);
  return saved;
}

Result<std::string> encode(const SavedExploration& saved) { return packFile(kFormat, encodeBody(saved)); }

Result<SavedExploration> decode(std::string_view bytes, const std::string& name) {
  auto body = unpackFile(kFormat, bytes, name);
  if (!body) return tl::unexpected(body.error());
  return decodeBody(*body, name);
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
  auto bytes = readWholeFile(path);
  if (!bytes) return fail(fmt::format("{}: {}", path, bytes.error().sentence));
  return decode(*bytes, path);
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
