// What bytes and instructions are called and what the bytes held, as a trace tells it.
#include "binary/byte_names.h"

#include <gtest/gtest.h>

#include "binary/site_places.h"
#include "binary/uninstrumented.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

StackId place(TinyProgram& p, const std::string& type) {
  Site site;
  site.id = 1;
  site.kind = SiteKind::Store;
  site.size = 8;
  site.type = type;
  return p.writer.where(p.writer.site(site));
}

ByteValue bytes(std::initializer_list<int> list) {
  ByteValue value;
  for (int b : list) value.push_back(static_cast<std::byte>(b));
  return value;
}

TEST(ByteNames, TypesAreTakenApart) {
  EXPECT_EQ(fieldName("Node.value"), (FieldName{"Node", "value", false}));
  EXPECT_EQ(fieldName("Pool.keys[]"), (FieldName{"Pool", "keys", true}));
  EXPECT_EQ(fieldName("Node.a/b"), (FieldName{"Node", "a/b", false}));
  EXPECT_EQ(fieldName("Bucket"), (FieldName{"Bucket", "", false}));
  EXPECT_EQ(fieldName("Box<Weight<1.5>>.lid"), (FieldName{"Box<Weight<1.5>>", "lid", false}));
  EXPECT_EQ(fieldName(""), FieldName());
}

TEST(ByteNames, IntegersOfOneTwoFourAndEightBytes) {
  EXPECT_EQ(integerOf(bytes({7})), 7U);
  EXPECT_EQ(integerOf(bytes({1, 2})), 0x201U);
  EXPECT_EQ(integerOf(bytes({1, 2, 3, 4})), 0x4030201U);
  EXPECT_EQ(integerOf(ByteValue(8, std::byte{0xff})), UINT64_MAX);
  for (std::size_t size : {0, 3, 5, 6, 7, 16}) EXPECT_FALSE(integerOf(ByteValue(size))) << size;
}

TEST(ByteNames, AStoreHasItsFieldAndBothValues) {
  TinyProgram p;
  StackId where = place(p, "Node.value");
  p.store(1, 64, 3, 8);
  EventNo n = p.writer.event(EventKind::Store, 1, p.at(66), 0x0908, 2, where);
  p.store(1, 66, 1, 2);  // what comes later changes nothing
  NamedBytes b = ByteNames(p.index()).of(n);
  EXPECT_EQ(b, (NamedBytes{"/pool", 66, 2, "Node.value", bytes({0, 0}), bytes({8, 9})}));
}

TEST(ByteNames, BeforeIsWhatWasStoredWhetherDurableOrNot) {
  TinyProgram p;
  p.store(1, 0, 0x1122, 2);
  p.clwb(1, 0);
  p.sfence(1);
  p.store(1, 1, 0x33);
  EventNo n = p.store(1, 0, 0x7777, 2);
  EXPECT_EQ(ByteNames(p.index()).of(n).before, bytes({0x22, 0x33}));
}

TEST(ByteNames, SixteenBytesAtOnceAreOneStore) {
  TinyProgram p;
  EventNo n = p.rmw16(1, 16, 1, 2);
  for (EventNo half : {n, n + 1}) {
    NamedBytes b = ByteNames(p.index()).of(half);
    EXPECT_EQ(b.offset, 16U);
    EXPECT_EQ(b.size, 16U);
    EXPECT_EQ(b.after, bytes({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(b.type, "") << "no site";
  }
}

TEST(ByteNames, WhatARestartsTraceDoesNotKnowIsUnknown) {
  TinyProgram p;
  p.store(1, 8, 5);
  EventNo n = p.store(1, 0, 1, 2);
  ByteNames names(p.index(), false);
  EXPECT_TRUE(names.of(n).before.empty());
  EXPECT_EQ(names.of(n).after, bytes({1, 0}));
  LineBytes left{};
  left[0] = std::byte{0x66};
  EXPECT_EQ(names.ofStore(p.index().storeOf(n), &left).before, bytes({0x66, 0}));
  EXPECT_TRUE(names.range(p.at(0), 2, p.end()).after.empty());
}

TEST(ByteNames, EventsThatAreNoStores) {
  TinyProgram p;
  EventNo load = p.writer.event(EventKind::Load, 1, p.at(70), 0, 4, place(p, "Node.next"));
  EventNo flush = p.clwb(1, 70);
  EventNo fence = p.sfence(1);
  EventNo outside = p.writer.event(EventKind::FlushOutside, 1, 0x7ffd00001000);
  ByteNames names(p.index());
  EXPECT_EQ(names.of(load), (NamedBytes{"/pool", 70, 4, "Node.next", {}, {}}));
  EXPECT_EQ(names.of(flush), (NamedBytes{"/pool", 64, 64, "", {}, {}}));
  EXPECT_EQ(names.of(fence), NamedBytes());
  EXPECT_EQ(names.of(outside), NamedBytes());
}

TEST(ByteNames, ARangeAtAPoint) {
  TinyProgram p;
  StackId value = place(p, "Node.value");
  p.writer.event(EventKind::Store, 1, p.at(60), 0x04030201, 4, value);
  EventNo before = p.store(1, 64, 5);
  p.store(1, 61, 9);
  ByteNames names(p.index());
  NamedBytes b = names.range(p.at(60), 8, before);
  EXPECT_EQ(b.after, bytes({1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(b.type, "") << "only a part of it is that field";
  EXPECT_EQ(names.range(p.at(61), 2, before).type, "Node.value");
  b = names.range(p.at(60), 8, p.end());
  EXPECT_EQ(b.after, bytes({1, 9, 3, 4, 5, 0, 0, 0}));
  EXPECT_EQ(names.range(p.at(60), 4, p.end()).type, "") << "part of it is somebody else's since";
  EXPECT_EQ(names.range(p.at(1024), 2, before).after, bytes({0, 0})) << "nobody stored there";
  EXPECT_EQ(names.range(pmAddr(99, 0), 4, before).file, "") << "no such file";
}

// Code that blackout-clang did not make, as this test: its flushes go unseen where nothing follows them.
[[gnu::noinline, gnu::used]] void flushes(const void* p) { asm volatile("clflush (%0)" ::"r"(p) : "memory"); }

TEST(Uninstrumented, AFlushInAFunctionIsFound) {
  EXPECT_TRUE(hasUnseenFlushes("/proc/self/exe"));
  EXPECT_FALSE(hasUnseenFlushes("/bin/true"));
}

// What was inlined is called by its own line, not by that of the call.
TEST(SitePlaces, AreThoseOfTheInnermostFunction) {
  Site site;
  EXPECT_EQ(shortPlace(site), "");
  site.sources = {{1, {{"push", "/src/list.cpp", 42, 1, 0}, {"main", "/src/main.cpp", 60, 1, 0}}}};
  EXPECT_EQ(shortPlace(site), "list.cpp:42");
}

}  // namespace
}  // namespace blackout::test
