// The recovery tree (docs/design.md, "Recovery"): a node is a query's question, an edge one reply to it, a leaf a
// recovery that was run. A recovery is a deterministic function of the replies that it gets, so every path from the
// root is run at most once.
//
// Replies are exact: up to 8 neighbouring bytes are the edge's value itself, other shapes are interned. Nodes of one
// run lie one behind the other and most have one edge, which is part of the node, so a walk reads memory in order
// and hashes nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "explore/ids.h"
#include "run/run.h"

namespace blackout {

using NodeNo = Id<struct NodeNoTag, std::uint32_t>;
using EdgeNo = Id<struct EdgeNoTag, std::uint32_t>;

// Where an edge leads: to nothing known yet, to a node or to a leaf.
class Target {
 public:
  Target() = default;
  static Target node(NodeNo n) { return Target(n.value()); }
  static Target leaf(RecoveryNo l) { return Target(l.value() | kLeaf); }
  bool known() const { return bits_ != kUnknown; }
  bool isLeaf() const { return known() && (bits_ & kLeaf) != 0; }
  NodeNo node() const { return NodeNo(bits_); }
  RecoveryNo leaf() const { return RecoveryNo(bits_ & ~kLeaf); }
  bool operator==(const Target&) const = default;

 private:
  explicit Target(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t kLeaf = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  std::uint32_t bits_ = kUnknown;
};

// A reply: to a Bytes query the line's whole content, of which the question takes its part; to the others a number.
struct Reply {
  const LineBytes* bytes = nullptr;
  std::uint64_t number = 0;
};

class RecoveryTree {
 public:
  RecoveryTree();

  // The edge above the first query of all recoveries.
  static constexpr EdgeNo kRoot = 0;

  Target target(EdgeNo e) const { return isExtra(e) ? extra(e).target : nodes_[ofNode(e)].target; }
  NodeNo nodeOf(EdgeNo e) const { return isExtra(e) ? extra(e).node : ofNode(e); }
  static EdgeNo firstEdge(NodeNo n) { return EdgeNo(n.value()); }
  // The edge that leads to the node.
  EdgeNo above(NodeNo n) const { return above_[n]; }

  QueryKind kind(NodeNo n) const { return nodes_[n].kind(); }
  std::uint32_t subject(NodeNo n) const { return nodes_[n].subject; }
  // Of a Bytes node.
  TrackedNo line(NodeNo n) const { return TrackedNo(nodes_[n].subject); }
  std::uint64_t mask(NodeNo n) const;
  std::uint64_t site(NodeNo n) const { return sites_[nodes_[n].site].id; }
  std::uint8_t flags(NodeNo n) const { return sites_[nodes_[n].site].flags; }
  std::uint32_t group(NodeNo n) const { return nodes_[n].group; }
  Query query(NodeNo n) const;
  bool sameQuestion(NodeNo a, NodeNo b) const {
    return nodes_[a].subject == nodes_[b].subject && nodes_[a].shape == nodes_[b].shape;
  }

  // The node's edge for a reply; made, leading nowhere, if it isn't there.
  EdgeNo edge(NodeNo n, const LineBytes& content);
  EdgeNo edge(NodeNo n, std::uint64_t number);
  EdgeNo edge(NodeNo n, const Reply& a) { return a.bytes != nullptr ? edge(n, *a.bytes) : edge(n, a.number); }
  // Whether the edge is for this reply, and whether two contents give the node the same reply.
  bool answers(EdgeNo e, const LineBytes& content) const;
  bool same(NodeNo n, const LineBytes& a, const LineBytes& b) const;
  // The content that an edge of a Bytes node stands for, zero outside the mask.
  LineBytes bytesOf(EdgeNo e) const;
  std::uint64_t numberOf(EdgeNo e) const { return value(e); }

  // Hangs the rest of a run under an edge that leads nowhere: queries with their replies, then the leaf.
  void insert(EdgeNo at, std::span<const Query> queries, std::span<const Reply> answers, RecoveryNo leaf);

  // The leaf at the end of the edge gets another number.
  void renumberLeaf(EdgeNo e, RecoveryNo leaf) { setTarget(e, Target::leaf(leaf)); }

  // The edges from the root's first node down to `e`, without kRoot: one per query that was asked on the way.
  std::vector<EdgeNo> path(EdgeNo e) const;

  // Whether any node has one of these flags.
  bool anyFlag(std::uint8_t flags) const;

  std::uint32_t nodeCount() const { return static_cast<std::uint32_t>(nodes_.size()); }
  std::size_t memory() const;

 private:
  struct Node {
    std::uint64_t value = 0;  // of its first edge: the bytes, the number, or the place in wide_
    std::uint32_t subject = 0;
    std::uint32_t shape = 0;
    Target target;           // of its first edge
    std::uint32_t more = 0;  // its next edge + 1
    std::uint32_t site = 0;  // place in sites_
    std::uint32_t group = 0;

    // shape: the kind in the two lowest bits, then kWide. A wide node has the place of its mask above that, an Op node
    // its question; any other Bytes node the offset of one load of 8 bytes inside the line (6 bits), how many bits to
    // shift it (6), and the size
    // - 1 in bytes (3).
    static constexpr std::uint32_t kWide = 4;
    QueryKind kind() const { return static_cast<QueryKind>(shape & 3); }
    bool wide() const { return (shape & kWide) != 0; }
    std::uint32_t mask() const { return shape >> 3; }
    unsigned load() const { return shape >> 3 & 63; }
    unsigned shift() const { return shape >> 9 & 63; }
    unsigned size() const { return (shape >> 15 & 7) + 1; }
    std::uint64_t take(const LineBytes& content) const {
      std::uint64_t v;
      std::memcpy(&v, content.data() + load(), sizeof v);
      return (v >> shift()) & (~std::uint64_t{0} >> (64 - 8 * size()));
    }
  };
  struct Extra {
    std::uint64_t value = 0;
    NodeNo node = 0;
    std::uint32_t next = 0;  // + 1
    Target target;
  };
  // Where a question was asked, and what the run had said of itself there. Few pairs, many nodes.
  struct AskedAt {
    std::uint64_t id = 0;  // Site::id
    std::uint8_t flags = 0;
    bool operator==(const AskedAt&) const = default;
  };
  struct HashAskedAt {
    std::size_t operator()(const AskedAt& a) const { return a.id * 31 + a.flags; }
  };
  struct Mask {
    std::uint64_t bits = 0;
    LineBytes bytes{};  // 0xff where the bit is set
  };
  // An edge's number is that of the node whose first edge it is, or a place in extra_ with this bit.
  static constexpr std::uint32_t kExtra = std::uint32_t{1} << 31;
  static constexpr EdgeNo kNoEdge{UINT32_MAX};
  static bool isExtra(EdgeNo e) { return (e.value() & kExtra) != 0; }
  static NodeNo ofNode(EdgeNo e) { return NodeNo(e.value()); }
  const Extra& extra(EdgeNo e) const { return extra_[e.value() & ~kExtra]; }

  std::uint64_t value(EdgeNo e) const { return isExtra(e) ? extra(e).value : nodes_[ofNode(e)].value; }
  bool sameWide(const Node& n, const LineBytes& a, const LineBytes& b) const;
  std::uint64_t internWide(const Node& n, const LineBytes& content);
  template <class Same>
  EdgeNo findEdge(NodeNo n, Same same);
  EdgeNo addEdge(NodeNo n, std::uint64_t value);
  Node makeNode(const Query& q);
  void setTarget(EdgeNo e, Target t);

  IdVector<NodeNo, Node> nodes_;  // 0 is above the root: its edge leads to the first query
  IdVector<NodeNo, EdgeNo> above_;
  std::vector<Extra> extra_;
  std::vector<LineBytes> wide_;
  std::vector<Mask> masks_;
  std::vector<AskedAt> sites_;
  // Only while inserting:
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> wideByHash_;
  std::unordered_map<std::uint64_t, std::uint32_t> maskNumbers_;
  std::unordered_map<AskedAt, std::uint32_t, HashAskedAt> siteNumbers_;
};

}  // namespace blackout
