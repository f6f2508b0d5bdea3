// All schedules with a bounded number of preemptions, of a program that is a trace of steps: two threads of two steps
// each, between which the turn may change, and what is left when one of them has ended.
#include "run/all_schedules.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>

#include "events/trace_writer.h"

namespace blackout {
namespace {

// Runs threads 1 and 2, two steps each, under a list of switches, as the runtime does; says who made the steps.
struct Program {
  explicit Program(const Schedule& schedule) {
    std::uint32_t left[3] = {0, 2, 2}, turn = 1;
    std::uint64_t step = 0;
    std::size_t next = 0;
    while (left[1] + left[2] != 0) {
      ++step;
      std::uint32_t other = 3 - turn;
      bool waits = left[turn] == 0;
      std::uint32_t to = waits ? other : turn;
      if (left[other] != 0) {
        std::uint64_t ready = (waits ? 0U : 1U << (turn - 1)) | 1U << (other - 1);
        writer.event(EventKind::Switch, ThreadNo(turn), step, std::uint64_t{turn} << 32 | ready,
                     waits ? BLACKOUT_SWITCH_WAITS : BLACKOUT_SWITCH_STEP);
        if (next < schedule.switches.size() && schedule.switches[next].at == step) to = schedule.switches[next++].to;
      }
      if (to != turn)
        writer.event(EventKind::Switch, ThreadNo(turn), step, std::uint64_t{turn} << 32 | to, waits ? 3 : 0);
      turn = to;
      if (left[turn] == 0) continue;
      --left[turn];
      order += static_cast<char>('0' + turn);
    }
    bytes = writer.sealedBytes();
  }
  TraceWriter writer;
  std::string bytes;
  std::string order;
};

std::multiset<std::string> ordersOf(std::uint64_t preemptions) {
  std::multiset<std::string> orders;
  AllSchedules all(preemptions);
  while (auto schedule = all.next()) {
    Program p(*schedule);
    orders.insert(p.order);
    auto trace = Trace::fromBytes(std::as_bytes(std::span(p.bytes)));
    EXPECT_TRUE(trace) << trace.error().sentence;
    all.ran(*trace);
  }
  EXPECT_TRUE(all.complete());
  return orders;
}

TEST(AllSchedules, EachOrderWithSoManyPreemptions) {
  EXPECT_EQ(ordersOf(0), (std::multiset<std::string>{"1122"}));
  EXPECT_EQ(ordersOf(1), (std::multiset<std::string>{"1122", "1221", "2211"}));
  EXPECT_EQ(ordersOf(2), (std::multiset<std::string>{"1122", "1221", "2211", "1212", "2112"}));
  EXPECT_EQ(ordersOf(9), (std::multiset<std::string>{"1122", "1221", "2211", "1212", "2112", "2121"}));
}

// A step of thread 1 at which something waits in two buffers, and thread 2 could go on.
std::set<std::string> departuresOf(std::uint64_t waiting, std::uint64_t seeing, std::uint64_t preemptions) {
  AllSchedules all(preemptions, true);
  EXPECT_EQ(all.next()->text(), "list/0");
  TraceWriter writer;
  writer.event(EventKind::Switch, ThreadNo(1), seeing << 32 | 5, waiting, BLACKOUT_SWITCH_BUFFERS);
  writer.event(EventKind::Switch, ThreadNo(1), 5, std::uint64_t{1} << 32 | 3, BLACKOUT_SWITCH_STEP);
  std::string bytes = writer.sealedBytes();
  auto trace = Trace::fromBytes(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(trace);
  all.ran(*trace);
  std::set<std::string> texts;
  while (auto schedule = all.next()) EXPECT_TRUE(texts.insert(schedule->text()).second);
  return texts;
}
TEST(AllSchedules, WhatLeavesTheBuffers) {
  using Texts = std::set<std::string>;
  // Its own need not leave where nobody else looks.
  EXPECT_EQ(departuresOf(0x01, 0x3, 0), Texts{});
  EXPECT_EQ(departuresOf(0x10, 0x3, 0), Texts{"list/0,5e2"});
  EXPECT_EQ(departuresOf(0x11, 0x3, 0), (Texts{"list/0,5e2", "list/0,5e1,5e2"}));
  EXPECT_EQ(departuresOf(0x01, 0x3, 1), (Texts{"list/0,5>2", "list/0,5e1,5>2"}));
  // Nothing need leave before an access that can't tell.
  EXPECT_EQ(departuresOf(0x11, 0x0, 0), Texts{});
  EXPECT_EQ(departuresOf(0x01, 0x1, 1), Texts{"list/0,5>2"});
}

}  // namespace
}  // namespace blackout
