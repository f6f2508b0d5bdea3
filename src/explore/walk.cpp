#include "explore/walk.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "explore/seeded.h"

namespace blackout {

Choice::~Choice() {
  std::shared_ptr<const Choice> next = std::move(before);
  while (next != nullptr && next.use_count() == 1) {
    // Nobody else can see it, so it may be taken apart.
    auto& dying = const_cast<Choice&>(*next);
    std::shared_ptr<const Choice> after = std::move(dying.before);
    next = std::move(after);
  }
}

namespace {

std::vector<std::uint32_t> unnamedVersions(const Restriction& restriction, TrackedNo subject, std::size_t versions,
                                           std::uint32_t newest) {
  switch (restriction.unnamed) {
    case Unrestricted::Any:
      break;
    case Unrestricted::Least:
      return {0};
    case Unrestricted::Newest:
      return {newest};
    case Unrestricted::Sampled:
      return {static_cast<std::uint32_t>(mix(restriction.seed, subject.value()) % versions)};
  }
  std::vector<std::uint32_t> all(versions);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// The one that the walk is for, if it is for a combination of this line.
const std::uint32_t* wantedVersion(const WalkState& state, TrackedNo w, const std::vector<std::uint32_t>& left) {
  if (state.wanted == nullptr) return nullptr;
  auto it = state.wanted->find(w);
  return it == state.wanted->end() || !hasVersion(left, it->second) ? nullptr : &it->second;
}

// What is left of the files on the way to where the walk stands.
std::vector<std::uint32_t> filesLeft(const CrashSpace& space, const WalkState& state) {
  const Choice* c = state.choices.get();
  while (c != nullptr && c->line != kPoolFiles) c = c->before.get();
  return c != nullptr ? c->left : allowedVersions(*state.restriction, *space.ownFiles());
}

}  // namespace

std::vector<std::uint32_t> allowedVersions(const Restriction& restriction, TrackedNo w, const UncertainLine& line) {
  auto it = std::lower_bound(restriction.allowed.begin(), restriction.allowed.end(), w,
                             [](const auto& a, TrackedNo b) { return a.first < b; });
  if (it != restriction.allowed.end() && it->first == w) return it->second;
  return unnamedVersions(restriction, w, line.versions.size(), line.newest);
}

std::vector<std::uint32_t> allowedVersions(const Restriction& restriction, const UncertainFiles& files) {
  if (!restriction.files.empty()) return restriction.files;
  return unnamedVersions(restriction, kPoolFiles, files.versions.size(), files.newest);
}

Walk::Touched& Walk::touch(TrackedNo w, const Restriction& restriction) {
  if (std::uint32_t place = places_[w]; place != 0) return touched_[place - 1];
  const UncertainLine& of = memory_->line(w);
  touched_.push_back({w, &of, allowedVersions(restriction, w, of)});
  places_[w] = static_cast<std::uint32_t>(touched_.size());
  return touched_.back();
}

void Walk::load(const RecoveryTree& tree, const CrashSpace& space, const WalkState& state) {
  memory_->enter(space);
  places_.resize(memory_->lines());
  spaceSeed_ = mix(seed_, space.identity());
  std::vector<const Choice*> choices;
  for (const Choice* c = state.choices.get(); c != nullptr; c = c->before.get()) choices.push_back(c);
  // What came before the present run of pieces only leaves its versions.
  std::size_t pieces = 0;
  if (state.inPieces)
    while (!choices[pieces++]->startsPieces) continue;
  for (std::size_t i = choices.size(); i-- > 0;) {
    const Choice& c = *choices[i];
    if (c.line == kPoolFiles) continue;
    Touched& line = touch(c.line, *state.restriction);
    if (i < pieces) {
      if (c.startsPieces) beginRecord(tree, c.node);
      record_.join(c.line, *c.of, line.left, tree.mask(c.node));
      record_.choose(c.line, c.left);
    }
    line.left = c.left;
  }
}

void Walk::beginRecord(const RecoveryTree& tree, NodeNo n) {
  Query q = tree.query(n);
  record_.begin(n, q, spaceSeed_, q.group == 0 && answeredSum_ && answeredSum_(q.site));
}

void Walk::unload() {
  for (const Touched& t : touched_) places_[t.line] = 0;
  touched_.clear();
  record_.end();
}

// The versions that are left, by what they answer; classes are in the order of their first versions.
void Walk::partition(const RecoveryTree& tree, NodeNo n, const Touched& line) {
  classCount_ = 0;
  const auto& versions = line.of->versions;
  for (std::uint32_t v : line.left) {
    std::size_t c = 0;
    while (c < classCount_ && !tree.same(n, versions[classes_[c].front()].bytes, versions[v].bytes)) ++c;
    if (c == classCount_) {
      if (classes_.size() == classCount_) classes_.emplace_back();
      classes_[classCount_++].clear();
    }
    classes_[c].push_back(v);
  }
}

// Once more through the record that has ended: what it reads, of whatever line, is all in its sum.
void Walk::seeRecord(RecoveryTree& tree, const WalkState& state) {
  for (NodeNo n = record_.begins();;) {
    TrackedNo w = tree.line(n);
    record_.sees(w, tree.mask(n));
    const LineBytes* bytes = &memory_->least(w);
    if (memory_->uncertain(w)) {
      const Touched& line = touch(w, *state.restriction);
      bytes = &line.of->versions[line.left.front()].bytes;
    }
    Target next = tree.target(tree.edge(n, *bytes));
    if (!next.known() || next.isLeaf() || tree.kind(next.node()) != QueryKind::Bytes ||
        !record_.belongs(tree.query(next.node())))
      return;
    n = next.node();
  }
}

// What comes next: a query or the end. After a choice that was not the first one it shows whether that was a decision;
// and a run of pieces ends with a decision or with a query of somebody else.
void Walk::follow(RecoveryTree& tree, Target next, WalkState& state, Found& found) {
  EdgeNo sibling = std::exchange(state.sibling, WalkState::kNoSibling);
  if (!record_.active()) return;
  bool ends = next.isLeaf() || !record_.belongs(tree.query(next.node()));
  bool decided = false;
  if (record_.byOneInstruction() && sibling != WalkState::kNoSibling) {
    Target other = tree.target(sibling);
    if (!other.known() || tree.question(other) != tree.question(next)) {
      NodeNo n = state.choices->node;
      found.decisions.emplace(tree.line(n), tree.mask(n));
      decided = true;
    }
  }
  if (!ends && !decided) return;
  if (record_.sampled() && !decided) {
    bool whole = record_.allNewest() || record_.allOldest();
    found.records.push_back({record_.key(),
                             record_.begins(),
                             record_.lines(),
                             record_.states(),
                             record_.combination(),
                             whole,
                             tree.question(next),
                             {},
                             {}});
    if (!whole) found.records.back().bytes = record_.bytes();
    if (record_.answered()) {
      seeRecord(tree, state);
      found.records.back().summed = record_.summed();
    }
  }
  record_.end();
  state.inPieces = false;
}

void Walk::observe(RecoveryTree& tree, NodeNo n, const ReadsKnown& known, WalkState& state, Found& found) {
  TrackedNo w = tree.line(n);
  Touched& line = touch(w, *state.restriction);
  const auto& versions = line.of->versions;
  if (!line.of->complete && (found.cut.empty() || found.cut.back() != w)) found.cut.push_back(w);
  partition(tree, n, line);
  if (classCount_ == 1) {
    state.at = tree.edge(n, versions[line.left.front()].bytes);
    return;
  }
  Query q = tree.query(n);
  bool starts = !record_.belongs(q);
  if (starts) beginRecord(tree, n);
  if ((record_.byOneInstruction() && known.decisions.contains({w, q.mask})) || known.noRecords.contains(record_.key()))
    record_.end();
  record_.join(w, *line.of, line.left, q.mask);
  const std::uint32_t* wanted = record_.active() ? wantedVersion(state, w, line.left) : nullptr;
  std::uint32_t favoured = wanted != nullptr ? *wanted : record_.favoured(w, *line.of, line.left);
  std::size_t taken = 0;
  while (!hasVersion(classes_[taken], favoured)) ++taken;
  EdgeNo way = tree.edge(n, versions[favoured].bytes);

  auto choice = [&](std::size_t c) {
    auto made = std::make_shared<Choice>();
    made->before = state.choices;
    made->node = n;
    made->line = w;
    made->of = line.of;
    made->left = classes_[c];
    made->startsPieces = starts;
    return made;
  };
  for (std::size_t c = 0; c < classCount_; ++c) {
    if (c == taken || wanted != nullptr) continue;
    if (!record_.allows(w, classes_[c])) {
      found.leftOut.insert(record_.key());
      continue;
    }
    WalkState branch;
    branch.at = tree.edge(n, versions[classes_[c].front()].bytes);
    branch.choices = choice(c);
    branch.restriction = state.restriction;
    branch.inPieces = record_.active();
    branch.sibling = way;
    found.branches.push_back(std::move(branch));
  }
  state.choices = choice(taken);
  state.inPieces = record_.active();
  record_.choose(w, classes_[taken]);
  line.left = classes_[taken];
  state.at = way;
}

// As observe, for a question about the files. It is no piece of a record.
void Walk::observeFiles(RecoveryTree& tree, NodeNo n, const CrashSpace& space, WalkState& state, Found& found) {
  const UncertainFiles& files = *space.ownFiles();
  const std::string& path = space.baseline().tracked().paths()[tree.subject(n)];
  // By reply, each with the versions that give it, in the order of their first versions.
  std::vector<std::pair<std::uint64_t, std::vector<std::uint32_t>>> classes;
  for (std::uint32_t v : filesLeft(space, state)) {
    std::uint64_t reply = replyOf(pathState(files.versions[v].files, path));
    auto it = std::find_if(classes.begin(), classes.end(), [&](const auto& c) { return c.first == reply; });
    if (it == classes.end()) it = classes.insert(it, {reply, {}});
    it->second.push_back(v);
  }
  if (!files.complete && (found.cut.empty() || found.cut.back() != kPoolFiles)) found.cut.push_back(kPoolFiles);
  EdgeNo way = tree.edge(n, classes.front().first);
  if (classes.size() > 1) {
    auto choice = [&](std::vector<std::uint32_t> left) {
      auto made = std::make_shared<Choice>();
      made->before = state.choices;
      made->node = n;
      made->line = kPoolFiles;
      made->left = std::move(left);
      return made;
    };
    for (std::size_t c = 1; c < classes.size(); ++c) {
      WalkState branch;
      branch.at = tree.edge(n, classes[c].first);
      branch.choices = choice(std::move(classes[c].second));
      branch.restriction = state.restriction;
      found.branches.push_back(std::move(branch));
    }
    state.choices = choice(std::move(classes.front().second));
    state.inPieces = false;
    record_.end();
  }
  state.at = way;
}

std::uint32_t Walk::filesOf(const CrashSpace& space, const WalkState& state) {
  return space.uncertainFiles() ? filesLeft(space, state).front() : 0;
}

Target Walk::advance(RecoveryTree& tree, const CrashSpace& space, const ReadsKnown& known, WalkState& state,
                     Found& found) {
  load(tree, space, state);
  Target t = tree.target(state.at);
  for (; t.known(); t = tree.target(state.at)) {
    if (record_.active() || state.sibling != WalkState::kNoSibling) follow(tree, t, state, found);
    if (t.isLeaf()) break;
    NodeNo n = t.node();
    ++steps_;
    if (tree.kind(n) == QueryKind::Path && space.uncertainFiles())
      observeFiles(tree, n, space, state, found);
    else if (tree.kind(n) != QueryKind::Bytes)
      state.at = tree.edge(n, memory_->number(tree.kind(n), tree.subject(n), tree.mask(n)));
    else if (!memory_->uncertain(tree.line(n)))
      state.at = tree.edge(n, memory_->least(tree.line(n)));
    else
      observe(tree, n, known, state, found);
  }
  unload();
  return t;
}

std::vector<std::pair<TrackedNo, LineBytes>> Walk::memoryOf(const RecoveryTree& tree, const CrashSpace& space,
                                                            const WalkState& state) {
  load(tree, space, state);
  std::vector<TrackedNo> lines;
  for (const Touched& t : touched_) lines.push_back(t.line);
  for (const auto& [w, versions] : state.restriction->allowed) lines.push_back(w);
  for (const auto& [w, line] : space.changedSinceFirst()) lines.push_back(w);
  Unrestricted unnamed = state.restriction->unnamed;
  if (unnamed == Unrestricted::Newest || unnamed == Unrestricted::Sampled || record_.favoursOthers())
    lines.insert(lines.end(), space.uncertain().begin(), space.uncertain().end());
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::vector<std::pair<TrackedNo, LineBytes>> out;
  const Baseline& baseline = space.baseline();
  for (TrackedNo w : lines) {
    const UncertainLine& of = space.line(w);
    std::vector<std::uint32_t> left =
        places_[w] != 0 ? touched_[places_[w] - 1].left : allowedVersions(*state.restriction, w, of);
    const LineBytes& bytes = of.versions[record_.favoured(w, of, left)].bytes;
    if (bytes != baseline.least(space.pointNo(), w)) out.emplace_back(w, bytes);
  }
  unload();
  return out;
}

}  // namespace blackout
