// What it costs to find an order that explains a history: operations per second without overlap, and queues with eight
// threads, legal and not. In processor time, so that other work on the machine matters little.
//
//   cmake --build build --target lin_bench && build/bin/lin_bench
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <random>
#include <unordered_map>

#include "blackout/specifications.hpp"

namespace {

using namespace blackout::lin;
using Calls = CrashHistory<StructureCall>;

double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

Calls mapWithoutOverlap(std::uint64_t operations, std::uint64_t keys) {
  std::mt19937_64 random(1);
  Calls h;
  std::unordered_map<Word, Word> map;
  for (std::uint64_t i = 0; i < operations; ++i) {
    StructureCall c;
    c.key = random() % keys;
    c.value = i;
    auto at = map.find(c.key);
    bool there = at != map.end();
    switch (random() % 4) {
      case 0:
        c.does = Does::Insert;
        c.reply = Reply{!there, 0};
        map.try_emplace(c.key, i);
        break;
      case 1:
        c.does = Does::Remove;
        c.reply = Reply{there, 0};
        map.erase(c.key);
        break;
      default:
        c.does = Does::Get;
        c.reply = Reply{there, there ? at->second : 0};
    }
    h.calls.push_back({c, 2 * i, 2 * i + 1});
  }
  return h;
}

// Each call takes effect somewhere between its begin and its end.
Calls queueOfThreads(std::uint32_t seed, std::size_t operations, bool spoilt) {
  constexpr std::size_t kThreads = 8, kNone = SIZE_MAX;
  std::mt19937 random(seed);
  Calls h;
  std::deque<Word> queue;
  std::uint64_t time = 1;
  std::size_t open[kThreads];
  std::fill(std::begin(open), std::end(open), kNone);
  std::vector<bool> effective(operations);
  auto takeEffect = [&](std::size_t i) {
    if (effective[i]) return;
    effective[i] = true;
    StructureCall& c = h.calls[i].call;
    if (c.does == Does::Push) {
      queue.push_back(c.value);
    } else {
      c.reply = queue.empty() ? Reply{} : Reply{true, queue.front()};
      if (!queue.empty()) queue.pop_front();
    }
  };
  auto anyOpen = [&] {
    return std::any_of(std::begin(open), std::end(open), [](std::size_t o) { return o != kNone; });
  };
  while (h.calls.size() < operations || anyOpen()) {
    std::size_t& mine = open[random() % kThreads];
    if (mine == kNone) {
      if (h.calls.size() == operations) continue;
      mine = h.calls.size();
      h.calls.push_back({{random() % 2 != 0 ? Does::Push : Does::Pop, 0, mine + 1, {}}, time++, kNever});
    } else if (takeEffect(mine); random() % 3 != 0) {
      h.calls[mine].ended = time++;
      mine = kNone;
    }
  }
  if (!spoilt) return h;
  std::vector<std::size_t> pops;
  for (std::size_t i = 0; i < operations; ++i)
    if (h.calls[i].call.reply && h.calls[i].call.reply->some) pops.push_back(i);
  std::swap(h.calls[pops.back()].call.reply, h.calls[pops[pops.size() - 20]].call.reply);
  return h;
}

}  // namespace

int main() {
  constexpr std::uint64_t kOperations = 4'000'000;
  Calls map = mapWithoutOverlap(kOperations, 10'000);
  double from = now();
  bool explained = explain<MapKey>(map).answer == Answer::Yes;
  std::printf("map without overlap: %.2f million operations per second%s\n", 4 / (now() - from),
              explained ? "" : ", and no order");
  const char* const answers[] = {"an order", "no order", "unknown"};
  for (bool spoilt : {false, true})
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      Calls queue = queueOfThreads(seed, 200, spoilt);
      from = now();
      auto e = explain<Queue>(queue, Criterion::Durable, 1'000'000);
      std::printf("queue of 8 threads, 200 operations: %s, %llu steps, %.4f s\n", answers[static_cast<int>(e.answer)],
                  static_cast<unsigned long long>(e.steps), now() - from);
    }
}
