#include "explore/recovery_tree.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>

namespace blackout {

namespace {

// Bytes of a mask, as a line.
LineBytes expand(std::uint64_t bits) {
  LineBytes bytes{};
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
    if ((bits >> i & 1) != 0) bytes[i] = std::byte{0xff};
  return bytes;
}

std::uint64_t word(const LineBytes& bytes, unsigned i) {
  std::uint64_t v;
  std::memcpy(&v, bytes.data() + std::size_t{8} * i, sizeof v);
  return v;
}

template <class Key, class Hash>
std::uint32_t intern(std::unordered_map<Key, std::uint32_t, Hash>& numbers, const Key& key, std::size_t next,
                     bool& fresh) {
  auto [it, inserted] = numbers.try_emplace(key, static_cast<std::uint32_t>(next));
  fresh = inserted;
  return it->second;
}

}  // namespace

RecoveryTree::RecoveryTree() : nodes_(1), above_(1, kRoot) {}

RecoveryTree::Node RecoveryTree::makeNode(const Query& q) {
  Node n;
  n.subject = q.subject;
  n.group = q.group;
  bool fresh = false;
  AskedAt asked{q.site, q.flags};
  n.site = intern(siteNumbers_, asked, sites_.size(), fresh);
  if (fresh) sites_.push_back(asked);
  n.shape = static_cast<std::uint32_t>(q.kind);
  if (q.kind != QueryKind::Bytes) {
    n.shape |= static_cast<std::uint32_t>(q.mask) << 3;  // an OpQuestion
    return n;
  }
  assert(q.mask != 0);
  auto first = static_cast<unsigned>(std::countr_zero(q.mask));
  auto size = static_cast<unsigned>(std::popcount(q.mask));
  bool neighbours = static_cast<unsigned>(std::bit_width(q.mask)) == first + size;
  if (neighbours && size <= 8) {
    unsigned load = std::min<unsigned>(first, BLACKOUT_LINE - 8);
    n.shape |= load << 3 | (8 * (first - load)) << 9 | (size - 1) << 15;
  } else {
    std::uint32_t number = intern(maskNumbers_, q.mask, masks_.size(), fresh);
    if (fresh) masks_.push_back({q.mask, expand(q.mask)});
    n.shape |= Node::kWide | number << 3;
  }
  return n;
}

std::uint64_t RecoveryTree::mask(NodeNo n) const {
  const Node& node = nodes_[n];
  if (node.kind() != QueryKind::Bytes) return node.mask();
  if (node.wide()) return masks_[node.mask()].bits;
  return ((std::uint64_t{1} << node.size()) - 1) << (node.load() + node.shift() / 8);
}

Query RecoveryTree::query(NodeNo n) const {
  Query q;
  q.kind = kind(n);
  q.subject = subject(n);
  q.mask = mask(n);
  q.site = site(n);
  q.group = group(n);
  q.flags = flags(n);
  return q;
}

bool RecoveryTree::sameWide(const Node& n, const LineBytes& a, const LineBytes& b) const {
  const LineBytes& m = masks_[n.mask()].bytes;
  std::uint64_t differ = 0;
  for (unsigned i = 0; i < 8; ++i) differ |= (word(a, i) ^ word(b, i)) & word(m, i);
  return differ == 0;
}

bool RecoveryTree::same(NodeNo n, const LineBytes& a, const LineBytes& b) const {
  const Node& node = nodes_[n];
  return node.wide() ? sameWide(node, a, b) : node.take(a) == node.take(b);
}

bool RecoveryTree::answers(EdgeNo e, const LineBytes& content) const {
  const Node& node = nodes_[nodeOf(e)];
  return node.wide() ? sameWide(node, wide_[value(e)], content) : node.take(content) == value(e);
}

LineBytes RecoveryTree::bytesOf(EdgeNo e) const {
  const Node& node = nodes_[nodeOf(e)];
  if (node.wide()) return wide_[value(e)];
  LineBytes bytes{};
  std::uint64_t v = value(e);
  std::memcpy(bytes.data() + node.load() + node.shift() / 8, &v, node.size());
  return bytes;
}

std::uint64_t RecoveryTree::internWide(const Node& n, const LineBytes& content) {
  LineBytes kept;
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i) kept[i] = content[i] & masks_[n.mask()].bytes[i];
  auto& places = wideByHash_[XXH3_64bits(kept.data(), kept.size())];
  for (std::uint32_t p : places)
    if (wide_[p] == kept) return p;
  places.push_back(static_cast<std::uint32_t>(wide_.size()));
  wide_.push_back(kept);
  return places.back();
}

template <class Same>
EdgeNo RecoveryTree::findEdge(NodeNo n, Same same) {
  Node& node = nodes_[n];
  if (same(node.value)) return firstEdge(n);
  std::uint32_t* link = &node.more;
  while (*link != 0) {
    std::uint32_t place = *link - 1;
    Extra& e = extra_[place];
    if (same(e.value)) {
      // To the front: the next point most often asks for the same.
      *link = e.next;
      e.next = node.more;
      node.more = place + 1;
      return EdgeNo(place | kExtra);
    }
    link = &e.next;
  }
  return kNoEdge;
}

EdgeNo RecoveryTree::addEdge(NodeNo n, std::uint64_t value) {
  auto place = static_cast<std::uint32_t>(extra_.size());
  assert(place < kExtra - 1);
  extra_.push_back({value, n, nodes_[n].more, {}});
  nodes_[n].more = place + 1;
  return EdgeNo(place | kExtra);
}

EdgeNo RecoveryTree::edge(NodeNo n, const LineBytes& content) {
  const Node& node = nodes_[n];
  if (!node.wide()) return edge(n, node.take(content));
  EdgeNo e = findEdge(n, [&](std::uint64_t place) { return sameWide(node, wide_[place], content); });
  return e != kNoEdge ? e : addEdge(n, internWide(node, content));
}

EdgeNo RecoveryTree::edge(NodeNo n, std::uint64_t number) {
  EdgeNo e = findEdge(n, [&](std::uint64_t v) { return v == number; });
  return e != kNoEdge ? e : addEdge(n, number);
}

void RecoveryTree::insert(EdgeNo at, std::span<const Query> queries, std::span<const Reply> answers, RecoveryNo leaf) {
  assert(!target(at).known() && queries.size() == answers.size());
  assert(nodes_.size() + queries.size() < kExtra);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    NodeNo number = nodes_.endId();
    setTarget(at, Target::node(number));
    Node n = makeNode(queries[i]);
    n.value = answers[i].bytes == nullptr ? answers[i].number
              : n.wide()                  ? internWide(n, *answers[i].bytes)
                                          : n.take(*answers[i].bytes);
    nodes_.push_back(n);
    above_.push_back(at);
    at = firstEdge(number);
  }
  setTarget(at, Target::leaf(leaf));
}

void RecoveryTree::setTarget(EdgeNo e, Target t) {
  (isExtra(e) ? extra_[e.value() & ~kExtra].target : nodes_[ofNode(e)].target) = t;
}

std::vector<EdgeNo> RecoveryTree::path(EdgeNo e) const {
  std::vector<EdgeNo> out;
  for (; e != kRoot; e = above_[nodeOf(e)]) out.push_back(e);
  std::reverse(out.begin(), out.end());
  return out;
}

bool RecoveryTree::anyFlag(std::uint8_t flags) const {
  return std::any_of(sites_.begin(), sites_.end(), [&](const AskedAt& a) { return (a.flags & flags) != 0; });
}

std::size_t RecoveryTree::memory() const {
  auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(nodes_) + of(above_) + of(extra_) + of(wide_) + of(masks_) + of(sites_);
}

}  // namespace blackout
