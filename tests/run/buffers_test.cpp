// Threads with store buffers, under all schedules with at most so many preemptions, against a machine of our own that
// is written from Jaaru's Figures 7 and 8 (Gorjiara, Xu and Demsky, ASPLOS'21) and lets anything leave a buffer at any
// time. Compared is all that a program can do: what its threads read, with what is then durable; and at each moment of
// each run what a crash may leave, with the operations that have ended. So both an outcome that is missing and one that
// no processor has are mistakes.
//
// The programs: one or two for each cell of Jaaru's Table 1 (an earlier and a later instruction, on one line and on
// two), with an observer; classic litmus tests whose answers are written down; random ones of two and three threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "brute_force.h"
#include "events/trace.h"
#include "run/all_schedules.h"
#include "run/recording.h"

namespace blackout {
namespace {

namespace fs = std::filesystem;

constexpr int kVariables = 4, kLines = 2;

// Durable values of all variables, as digits.
using Image = std::string;

struct Outcomes {
  std::set<std::string> ends;     // what was read, and what is durable when all has happened
  std::set<std::string> crashes;  // operations that have ended, and what a crash may leave
  bool operator==(const Outcomes&) const = default;
};

// ---- the machine ----

struct Instruction {
  char what;
  int variable;
  int value;
};
using Program = std::vector<std::vector<Instruction>>;

// An operation is two steps: it begins, and it ends.
Program parsed(const std::vector<std::string>& threads) {
  Program program;
  for (const std::string& text : threads) {
    std::vector<Instruction> steps;
    std::istringstream in(text);
    for (std::string w; in >> w;) {
      if (w[0] == 'a') steps.push_back({'b', 0, 0});
      steps.push_back({w[0], w.size() > 1 ? w[1] - '0' : 0, w.size() > 2 ? w[2] - '0' : 0});
    }
    program.push_back(steps);
  }
  return program;
}

struct Entry {
  char what;
  int variable;
  int value;
  int sigma;
  auto operator<=>(const Entry&) const = default;
};

struct State {
  std::vector<std::size_t> at;
  std::vector<std::string> read;
  std::vector<std::vector<Entry>> buffer;                 // S
  std::vector<std::vector<std::pair<int, int>>> flushes;  // F: line, sigma
  std::vector<std::vector<int>> last;                     // t of thread and line
  std::vector<int> fence;                                 // t of thread
  std::vector<std::vector<std::pair<int, int>>> stores;   // of each variable: value, sigma
  std::vector<int> begin;                                 // of each line
  int sigma = 0;
  std::multiset<std::string> ended;
  int running = -1, left = 0;
  auto operator<=>(const State&) const = default;
};

int lineOf(int variable) { return variable / 2; }

class Machine {
 public:
  Machine(Program program, int preemptions) : program_(std::move(program)) {
    std::size_t n = program_.size();
    State s;
    s.at.resize(n);
    s.read.assign(n, "1");
    s.buffer.resize(n);
    s.flushes.resize(n);
    s.last.assign(n, std::vector<int>(kLines));
    s.fence.resize(n);
    s.stores.resize(kVariables);
    s.begin.resize(kLines);
    s.left = preemptions;
    go(s);
  }
  Outcomes outcomes;

 private:
  void go(const State& s) {
    if (!seen_.insert(s).second) return;
    std::string ended;
    for (const std::string& e : s.ended) ended += e + " ";
    bool done = true;
    for (std::size_t t = 0; t < program_.size(); ++t) done &= s.at[t] == program_[t].size() && s.buffer[t].empty();
    std::string read;
    for (const std::string& r : s.read) read += r + "|";
    for (const Image& image : images(s)) {
      outcomes.crashes.insert(ended + image);
      if (done) outcomes.ends.insert(read + image);
    }
    for (std::size_t t = 0; t < program_.size(); ++t) {
      if (!s.buffer[t].empty()) {
        State next = s;
        leave(next, t);
        go(next);
      }
      if (s.at[t] == program_[t].size()) continue;
      bool couldGoOn = s.running >= 0 && s.at[static_cast<std::size_t>(s.running)] !=
                                             program_[static_cast<std::size_t>(s.running)].size();
      State next = s;
      if (couldGoOn && s.running != static_cast<int>(t) && --next.left < 0) continue;
      next.running = static_cast<int>(t);
      execute(next, t, program_[t][next.at[t]++]);
      go(next);
    }
  }

  static int newest(const State& s, std::size_t t, int variable) {
    for (std::size_t i = s.buffer[t].size(); i > 0; --i)
      if (s.buffer[t][i - 1].what == 'w' && s.buffer[t][i - 1].variable == variable) return s.buffer[t][i - 1].value;
    const auto& stores = s.stores[static_cast<std::size_t>(variable)];
    return stores.empty() ? 0 : stores.back().first;
  }
  static void flushAll(State& s, std::size_t t) {
    for (auto [line, sigma] : s.flushes[t])
      s.begin[static_cast<std::size_t>(line)] = std::max(s.begin[static_cast<std::size_t>(line)], sigma);
    s.flushes[t].clear();
  }
  static void fenceNow(State& s, std::size_t t) {
    while (!s.buffer[t].empty()) leave(s, t);
    flushAll(s, t);
  }
  static void store(State& s, std::size_t t, int variable, int value) {
    s.stores[static_cast<std::size_t>(variable)].emplace_back(value, ++s.sigma);
    s.last[t][static_cast<std::size_t>(lineOf(variable))] = s.sigma;
  }

  // Figure 7.
  static void execute(State& s, std::size_t t, const Instruction& i) {
    switch (i.what) {
      case 'w':
      case 'f':
      case 's':
        s.buffer[t].push_back({i.what, i.variable, i.value, 0});
        break;
      case 'o':
        s.buffer[t].push_back({'o', i.variable, 0, s.sigma});
        break;
      case 'm':
        fenceNow(s, t);
        break;
      case 'r':
        s.read[t] += std::to_string(newest(s, t, i.variable));
        break;
      case 'x':
        fenceNow(s, t);
        s.read[t] += std::to_string(newest(s, t, i.variable));
        store(s, t, i.variable, i.value);
        break;
      case 'a':  // it has ended when what it stored has left; that is no fence
        while (!s.buffer[t].empty()) leave(s, t);
        s.ended.insert(std::to_string(t + 1) + (s.read[t].size() == 1 ? "0" : s.read[t].substr(s.read[t].size() - 1)));
        break;
      default:
        break;
    }
  }
  // Figure 8.
  static void leave(State& s, std::size_t t) {
    Entry e = s.buffer[t].front();
    s.buffer[t].erase(s.buffer[t].begin());
    auto line = static_cast<std::size_t>(lineOf(e.variable));
    switch (e.what) {
      case 'w':
        store(s, t, e.variable, e.value);
        break;
      case 'f':
        s.begin[line] = ++s.sigma;
        s.last[t][line] = s.sigma;
        break;
      case 'o':
        s.flushes[t].emplace_back(lineOf(e.variable), std::max({e.sigma, s.last[t][line], s.fence[t]}));
        break;
      default:
        ++s.sigma;
        flushAll(s, t);
        s.fence[t] = s.sigma;
    }
  }

  static std::set<Image> images(const State& s) {
    std::set<Image> all{""};
    for (int line = 0; line < kLines; ++line) {
      std::set<Image> contents;
      for (int until = s.begin[static_cast<std::size_t>(line)]; until <= s.sigma; ++until) {
        Image content;
        for (int v = 2 * line; v < 2 * line + 2; ++v) {
          int value = 0;
          for (auto [stored, sigma] : s.stores[static_cast<std::size_t>(v)])
            if (sigma <= until) value = stored;
          content += std::to_string(value);
        }
        contents.insert(content);
      }
      std::set<Image> more;
      for (const Image& before : all)
        for (const Image& content : contents) more.insert(before + content);
      all = std::move(more);
    }
    return all;
  }

  Program program_;
  std::set<State> seen_;
};

// ---- the same by the runtime ----

std::set<Image> images(const test::BruteSnapshot& snapshot, FileNo file) {
  std::set<Image> all{""};
  for (std::uint64_t line = 0; line < kLines; ++line) {
    std::set<Image> contents;
    auto known =
        snapshot.lines.find(LineNo(static_cast<std::uint64_t>(file.value()) << (BLACKOUT_FILE_SHIFT - 6) | line));
    if (known == snapshot.lines.end())
      contents.insert("00");
    else
      for (const test::LineContent& c : known->second)
        contents.insert({static_cast<char>('0' + c[0]), static_cast<char>('0' + c[8])});
    std::set<Image> more;
    for (const Image& before : all)
      for (const Image& content : contents) more.insert(before + content);
    all = std::move(more);
  }
  return all;
}

struct Recorded {
  Outcomes outcomes;
  std::size_t schedules = 0;
  bool complete = false;
};

Recorded recorded(const std::vector<std::string>& threads, int preemptions, bool buffers = true) {
  fs::path folder = fs::temp_directory_path() / ("blackout-buffers-" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::path pool = folder / "pool", reads = folder / "reads";
  RecordOptions options;
  options.pm = {pool.string()};
  options.command = {BUFFERS_PROGRAM, pool.string(), reads.string()};
  options.command.insert(options.command.end(), threads.begin(), threads.end());
  options.steps = options.pinTime = options.quiet = true;
  Recorded result;
  AllSchedules all(static_cast<std::uint64_t>(preemptions), buffers);
  while (auto schedule = all.next()) {
    options.schedule = *schedule;
    fs::remove(reads);
    auto recording = record(options);
    if (!recording) {
      ADD_FAILURE() << schedule->text() << ": " << recording.error().sentence;
      break;
    }
    const Trace& trace = *recording->trace;
    EXPECT_EQ(trace.problems(), 0U) << schedule->text();
    all.ran(trace);
    ++result.schedules;
    FileNo file(0);
    for (const PoolFile& f : trace.files())
      if (f.path == pool.string()) file = f.number;
    std::string read;
    std::ifstream(reads) >> read;
    std::multiset<std::string> ended;
    EventNo next = 0;
    for (const test::BruteSnapshot& snapshot : test::bruteForce(trace, ModelOptions{})) {
      for (; next < snapshot.at && next < trace.end(); next = trace.next(next))
        if (kindOf(trace[next]) == EventKind::OpEnd) ended.insert(std::to_string(trace[next].value));
      std::string text;
      for (const std::string& e : ended) text += e + " ";
      bool last = snapshot.at >= trace.end();
      for (const Image& image : images(snapshot, file)) {
        result.outcomes.crashes.insert(text + image);
        if (last) result.outcomes.ends.insert(read + image);
      }
    }
  }
  result.complete = all.complete();
  fs::remove_all(folder);
  return result;
}

std::string difference(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::string text;
  for (const std::string& s : a)
    if (!b.contains(s)) text += "\n  " + s;
  return text;
}

Recorded compare(const std::vector<std::string>& threads, int preemptions) {
  Machine machine(parsed(threads), preemptions);
  Recorded run = recorded(threads, preemptions);
  std::string text;
  for (const std::string& t : threads) text += " [" + t + "]";
  EXPECT_TRUE(run.complete) << text;
  if (getenv("BLACKOUT_TEST_VERBOSE") != nullptr)
    printf("%s: %zu schedules, %zu ends, %zu crashes\n", text.c_str(), run.schedules, run.outcomes.ends.size(),
           run.outcomes.crashes.size());
  EXPECT_EQ(difference(machine.outcomes.ends, run.outcomes.ends), "") << "missing of" << text;
  EXPECT_EQ(difference(run.outcomes.ends, machine.outcomes.ends), "") << "no processor has, of" << text;
  EXPECT_EQ(difference(machine.outcomes.crashes, run.outcomes.crashes), "") << "missing of" << text;
  EXPECT_EQ(difference(run.outcomes.crashes, machine.outcomes.crashes), "") << "no processor has, of" << text;
  return run;
}

bool reads(const Recorded& run, const std::string& text) {
  for (const std::string& end : run.outcomes.ends)
    if (end.rfind(text, 0) == 0) return true;
  return false;
}

// ---- litmus tests whose answers are written down ----

TEST(Buffers, BothMissTheOthersStore) {
  const std::vector<std::string> threads = {"w01 r2", "w21 r0"};
  EXPECT_TRUE(reads(compare(threads, 0), "10|10|"));
  EXPECT_FALSE(reads(recorded(threads, 1, false), "10|10|"));  // without buffers none does
}
TEST(Buffers, AnMfenceShowsItBefore) { EXPECT_FALSE(reads(compare({"w01 m r2", "w21 m r0"}, 1), "10|10|")); }
TEST(Buffers, AnSfenceDoesNot) { EXPECT_TRUE(reads(compare({"w01 s r2", "w21 r0"}, 0), "10|10|")); }
TEST(Buffers, StoresAreSeenInOrder) { EXPECT_FALSE(reads(compare({"w01 w21", "r2 r0"}, 0), "1|110|")); }
TEST(Buffers, AThreadReadsItsOwnStores) { EXPECT_TRUE(reads(compare({"w01 r0 r2", "w21 r2 r0"}, 0), "110|110|")); }
// The clflushopt ran before the store to the other line was seen, so it may miss what was stored in answer to that.
TEST(Buffers, AFlushRunsBeforeAnEarlierStoreIsSeen) {
  EXPECT_TRUE(compare({"w01 o2 s", "r0 w21 m a"}, 0).outcomes.crashes.contains("21 0000"));
}

// ---- Table 1 ----

// An instruction of a row or a column, on a line.
std::string word(int kind, int line) {
  const std::string v = std::to_string(2 * line);
  switch (kind) {
    case 0:
      return "r" + v;
    case 1:
      return "w" + v + "1";
    case 2:
      return "x" + v + "1";
    case 3:
      return "m";
    case 4:
      return "s";
    case 5:
      return "o" + v;
    default:
      return "f" + v;
  }
}
bool hasLine(int kind) { return kind != 3 && kind != 4; }

struct Cell {
  int earlier;
  int later;
  bool sameLine;
};
// What waits may leave at any moment of another thread's run, whatever the number of preemptions.
int preemptions() {
  const char* given = getenv("BLACKOUT_TEST_PREEMPTIONS");
  return given == nullptr ? 0 : atoi(given);
}
class Table1 : public testing::TestWithParam<Cell> {};

// The observer stores to both lines and looks at both, in the order in which it would see the two the other way round.
TEST_P(Table1, IsAsJaaruSays) {
  const Cell& cell = GetParam();
  std::string mine = word(cell.earlier, 0) + " " + word(cell.later, cell.sameLine ? 0 : 1) + " s";
  compare({mine, "w32 r0 w12 a"}, preemptions());
}
std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (int a = 0; a < 7; ++a)
    for (int b = 0; b < 7; ++b) {
      all.push_back({a, b, false});
      if (hasLine(a) && hasLine(b)) all.push_back({a, b, true});
    }
  return all;
}
std::string nameOf(const testing::TestParamInfo<Cell>& info) {
  constexpr const char* kNames[] = {"Read", "Write", "Rmw", "Mfence", "Sfence", "Clflushopt", "Clflush"};
  return std::string(kNames[info.param.earlier]) + "Then" + kNames[info.param.later] +
         (info.param.sameLine ? "OfTheLine" : "");
}
INSTANTIATE_TEST_SUITE_P(Cells, Table1, testing::ValuesIn(cells()), nameOf);

// ---- random programs ----

std::string randomThread(std::mt19937& random, std::size_t steps) {
  std::string text;
  for (std::size_t i = 0; i < steps; ++i) {
    constexpr char kWhat[] = "wwwrrxmsoof";
    char what = kWhat[random() % (sizeof kWhat - 1)];
    text += text.empty() ? "" : " ";
    text += what;
    if (what != 'm' && what != 's') text += static_cast<char>('0' + random() % kVariables);
    if (what == 'w' || what == 'x') text += static_cast<char>('1' + random() % 8);
  }
  return text + (random() % 2 == 0 ? " a" : "");
}
void randomPrograms(unsigned seed, int count, std::size_t threads, std::size_t steps, int preemptions) {
  std::mt19937 random(seed);
  for (int n = 0; n < count; ++n) {
    std::vector<std::string> program;
    for (std::size_t t = 0; t < threads; ++t) program.push_back(randomThread(random, 1 + random() % steps));
    compare(program, preemptions);
  }
}
unsigned seed() {
  const char* given = getenv("BLACKOUT_TEST_SEED");
  return given == nullptr ? 1 : static_cast<unsigned>(strtoul(given, nullptr, 10));
}
TEST(Random, TwoThreads) { randomPrograms(seed(), 12, 2, 3, preemptions()); }
TEST(Random, ThreeThreads) { randomPrograms(seed() + 1000, 6, 3, 2, preemptions()); }

}  // namespace
}  // namespace blackout
