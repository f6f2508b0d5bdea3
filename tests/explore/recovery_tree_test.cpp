// The recovery tree: questions of every shape take exactly their bytes, answers that differ never meet.
#include "explore/recovery_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace blackout::test {
namespace {

LineBytes lineWith(unsigned seed) {
  LineBytes bytes;
  std::minstd_rand random(seed + 1);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

Query bytesQuery(std::uint64_t mask, TrackedNo w = 0) {
  Query q;
  q.mask = mask;
  q.subject = w.value();
  q.site = 7;
  return q;
}

std::vector<std::uint64_t> shapes() {
  std::vector<std::uint64_t> masks;
  for (unsigned size = 1; size <= 64; ++size)
    for (unsigned at = 0; at + size <= 64; ++at)
      masks.push_back((size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1) << at);
  std::mt19937_64 random(5);
  for (unsigned i = 0; i < 200; ++i) masks.push_back(random() | 1);
  masks.push_back(0x8000000000000001ULL);
  return masks;
}

TEST(RecoveryTree, AQuestionTakesItsBytesAndNoOthers) {
  LineBytes a = lineWith(1);
  for (std::uint64_t mask : shapes()) {
    RecoveryTree tree;
    Query q = bytesQuery(mask);
    Reply answer{&a, 0};
    tree.insert(RecoveryTree::kRoot, {&q, 1}, {&answer, 1}, 3);
    NodeNo n = tree.target(RecoveryTree::kRoot).node();
    ASSERT_EQ(tree.mask(n), mask);
    EXPECT_TRUE(tree.query(n).sameQuestion(q));
    EdgeNo e = tree.edge(n, a);
    EXPECT_EQ(tree.target(e), Target::leaf(3));
    for (unsigned i = 0; i < 64; ++i) {
      LineBytes b = a;
      b[i] ^= std::byte{0x10};
      bool inside = (mask >> i & 1) != 0;
      EXPECT_EQ(tree.same(n, a, b), !inside);
      EXPECT_EQ(tree.answers(e, b), !inside);
      EXPECT_EQ(tree.edge(n, b) == e, !inside);
      EXPECT_EQ(tree.bytesOf(e)[i], inside ? a[i] : std::byte{0});
    }
  }
}

TEST(RecoveryTree, EveryAnswerHasItsEdgeHoweverManyThereAre) {
  for (std::uint64_t mask : {0xffffULL << 3, 0xffffffffffULL, 0x10101010101ULL}) {
    RecoveryTree tree;
    Query q = bytesQuery(mask);
    LineBytes first = lineWith(0);
    Reply answer{&first, 0};
    tree.insert(RecoveryTree::kRoot, {&q, 1}, {&answer, 1}, 0);
    NodeNo n = tree.target(RecoveryTree::kRoot).node();
    for (unsigned i = 1; i < 300; ++i) {
      LineBytes bytes = lineWith(i);
      EdgeNo e = tree.edge(n, bytes);
      ASSERT_FALSE(tree.target(e).known());
      tree.insert(e, {}, {}, RecoveryNo(i));
    }
    for (unsigned i = 300; i-- > 0;) EXPECT_EQ(tree.target(tree.edge(n, lineWith(i))), Target::leaf(RecoveryNo(i)));
  }
}

TEST(RecoveryTree, PathsLeadFromTheRootToALeaf) {
  RecoveryTree tree;
  std::vector<Query> queries;
  std::vector<Reply> answers;
  LineBytes bytes = lineWith(9);
  for (TrackedNo w = 0; w < 5; ++w) {
    queries.push_back(bytesQuery(0xff, w));
    answers.push_back({&bytes, 0});
  }
  Query path{QueryKind::Path, 2, 0, 0, 0, 0, 0};
  queries.push_back(path);
  answers.push_back({nullptr, 77});
  for (std::uint64_t question : {0U, 1U, 2U}) {
    queries.push_back({QueryKind::Op, 4, question, 0, 0, 0, 0});
    answers.push_back({nullptr, 1});
  }
  tree.insert(RecoveryTree::kRoot, queries, answers, 0);
  // Another recovery, which parts from it at the fourth question.
  EdgeNo at = RecoveryTree::kRoot;
  for (unsigned i = 0; i < 3; ++i) at = tree.edge(tree.target(at).node(), bytes);
  EdgeNo other = tree.edge(tree.target(at).node(), lineWith(10));
  tree.insert(other, std::span(queries).last(2), std::span(answers).last(2), 1);
  std::vector<EdgeNo> way = tree.path(other);
  ASSERT_EQ(way.size(), 4U);
  for (std::size_t i = 0; i < way.size(); ++i) EXPECT_TRUE(tree.query(tree.nodeOf(way[i])).sameQuestion(queries[i]));
  NodeNo last = tree.target(other).node();
  EXPECT_EQ(tree.query(last).mask, 1U);
  Target end = tree.target(tree.edge(tree.target(tree.edge(last, std::uint64_t{1})).node(), std::uint64_t{1}));
  EXPECT_EQ(end, Target::leaf(1));
  EXPECT_FALSE(tree.target(tree.edge(last, std::uint64_t{0})).known());
  // Questions that differ in what is asked of an operation are different nodes.
  EXPECT_FALSE(tree.sameQuestion(last, tree.target(tree.edge(last, std::uint64_t{1})).node()));
  EXPECT_EQ(tree.path(RecoveryTree::kRoot).size(), 0U);
}

// What a run had said of itself is kept with each question, and makes no other question of it.
TEST(RecoveryTree, FlagsStayWithTheirNodes) {
  RecoveryTree tree;
  EXPECT_FALSE(tree.anyFlag(BLACKOUT_QUERY_FLAGS));
  std::vector<Query> queries;
  std::vector<Reply> answers;
  LineBytes bytes = lineWith(3);
  for (std::uint8_t flags : {0, 1, 2, 3, 0, 2}) {
    queries.push_back(bytesQuery(0xff, static_cast<TrackedNo>(queries.size())));  // of one site
    queries.back().flags = flags;
    answers.push_back({&bytes, 0});
  }
  tree.insert(RecoveryTree::kRoot, queries, answers, 0);
  EdgeNo at = RecoveryTree::kRoot;
  for (const Query& q : queries) {
    NodeNo n = tree.target(at).node();
    EXPECT_EQ(tree.query(n).flags, q.flags);
    EXPECT_EQ(tree.flags(n), q.flags);
    EXPECT_EQ(tree.site(n), q.site);
    at = tree.edge(n, bytes);
  }
  EXPECT_TRUE(tree.anyFlag(BLACKOUT_QUERY_SKIPPED));
  EXPECT_TRUE(tree.anyFlag(BLACKOUT_QUERY_INSIDE));
  EXPECT_FALSE(tree.anyFlag(BLACKOUT_QUERY_OUTSIDE));
  Query other = queries[1];
  other.flags = BLACKOUT_QUERY_OUTSIDE;
  EXPECT_TRUE(other.sameQuestion(queries[1]));
}

TEST(JudgedRead, IsInsideARegionIfThereIsAnyAndNeverSkipped) {
  for (bool anyRegion : {false, true}) {
    EXPECT_EQ(judgedRead(0, anyRegion), !anyRegion);
    EXPECT_TRUE(judgedRead(BLACKOUT_QUERY_INSIDE, anyRegion));
    EXPECT_FALSE(judgedRead(BLACKOUT_QUERY_OUTSIDE, anyRegion));
    for (std::uint8_t where : {0, 2, 4}) EXPECT_FALSE(judgedRead(where | BLACKOUT_QUERY_SKIPPED, anyRegion));
  }
}

}  // namespace
}  // namespace blackout::test
