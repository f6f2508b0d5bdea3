// Which operations a harness makes: what its command line says, a seed, a file of operations or a fuzzer's bytes.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace blackout::lin {

// One operation that a harness makes.
struct Step {
  std::string name;
  std::vector<std::uint64_t> arguments;
};

// What a structure has: a name, and how many arguments go with it.
struct Shape {
  const char* name;
  std::size_t arguments;
};

// What the command line says.
struct Settings {
  const char* pool = nullptr;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> operations = {};  // none: as many as are usual for the structure
  const char* file = nullptr;                    // of operations; null: they are generated
  const char* bytes = nullptr;  // a file that operations are made of, as a fuzzer gives it; null: a seed
  const char* list = nullptr;   // where to write the operations, as `file` has them; null: nowhere
  std::uint64_t threads = 1;    // that make the second half of them
  // One of them against another one at the same time: its number, and which of its rivals. Those before it come first.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> race = {};
};

[[noreturn]] inline void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

inline Settings settingsOf(int argc, char** argv) {
  Settings s;
  const std::string usage =
      std::string("usage: ") + argv[0] +
      " POOL [--seed N] [--operations N] [--ops FILE] [--ops-bytes FILE] [--list-ops FILE] [--threads N] "
      "[--race NUMBER RIVAL]";
  auto number = [&](int i) {
    char* rest = nullptr;
    if (argv[i][0] == '-') stop(std::string(argv[i - 1]) + " " + argv[i] + ": a number from 0 on is wanted");
    std::uint64_t n = std::strtoull(argv[i], &rest, 10);
    if (rest == argv[i] || *rest != '\0') stop(std::string(argv[i - 1]) + " " + argv[i] + ": not a number");
    return n;
  };
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-' && s.pool == nullptr)
      s.pool = argv[i];
    else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      s.seed = number(++i);
    else if (std::strcmp(argv[i], "--operations") == 0 && i + 1 < argc)
      s.operations = number(++i);
    else if (std::strcmp(argv[i], "--ops") == 0 && i + 1 < argc)
      s.file = argv[++i];
    else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
      s.threads = number(++i);
    else if (std::strcmp(argv[i], "--race") == 0 && i + 2 < argc)
      s.race = {number(i + 1), number(i + 2)}, i += 2;
    else if (std::strcmp(argv[i], "--ops-bytes") == 0 && i + 1 < argc)
      s.bytes = argv[++i];
    else if (std::strcmp(argv[i], "--list-ops") == 0 && i + 1 < argc)
      s.list = argv[++i];
    else
      stop(std::string(argv[i]) + ": unknown; " + usage);
  }
  if (s.pool == nullptr) stop(usage);
  if (s.threads == 0 || s.threads > 64) stop("--threads: 1 to 64");
  return s;
}

// What a generator decides by: a seed, the same on every machine (unlike the distributions of <random>), or the bytes
// that a fuzzer gives. Bytes end, and with them the operations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 0x2545f4914f6cdd1dU) {}
  explicit Random(const Settings& settings) : Random(settings.seed) {
    if (settings.bytes == nullptr) return;
    std::ifstream in(settings.bytes, std::ios::binary);
    if (!in) stop(std::string("--ops-bytes ") + settings.bytes + ": can't be read");
    bytes_.emplace(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::uint64_t below(std::uint64_t n) {
    if (bytes_) {
      std::uint64_t value = 0;
      for (std::uint64_t most = n - 1;; most >>= 8) {
        value = value << 8 | (used_ < bytes_->size() ? static_cast<unsigned char>((*bytes_)[used_]) : 0);
        ++used_;
        if (most <= 0xff) return value % n;
      }
    }
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ * 0x2545f4914f6cdd1dU >> 16) % n;
  }
  // Whether a generator is to go on: as many operations as were asked for, or as long as there are bytes.
  bool wants(std::size_t made, const Settings& settings) const {
    return bytes_ ? used_ < bytes_->size() : made < *settings.operations;
  }
  // How many operations there will be; of bytes it is not known, and there is no end to prepare for.
  std::uint64_t most(const Settings& settings) const { return bytes_ ? UINT64_MAX / 8 : *settings.operations; }

 private:
  std::uint64_t state_;
  std::optional<std::string> bytes_;
  std::size_t used_ = 0;
};

// "insert 7 70", with a comment after # perhaps. None: an empty line, or one that is wrong.
inline std::optional<Step> stepOf(const std::string& line, bool& wrong) {
  std::istringstream words(line.substr(0, line.find('#')));
  Step step;
  wrong = false;
  if (!(words >> step.name)) return std::nullopt;
  std::string word;
  while (words >> word) {
    char* rest = nullptr;
    errno = 0;
    step.arguments.push_back(std::strtoull(word.c_str(), &rest, 10));
    wrong |= word[0] == '-' || *rest != '\0' || errno != 0;
  }
  return wrong ? std::nullopt : std::optional<Step>(step);
}
inline std::string textOf(const Step& step) {
  std::string text = step.name;
  for (std::uint64_t n : step.arguments) text += " " + std::to_string(n);
  return text;
}

// The beginning of a line that may be anything.
inline std::string printable(std::string line) {
  constexpr std::size_t kShown = 60;
  if (line.size() > kShown) line = line.substr(0, kShown) + "...";
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  return line;
}

// "insert 7 70: a map has no such operation; it has insert with 2 arguments, ..."; empty: it has.
inline std::string unknownIn(const Step& step, const char* structure, const std::vector<Shape>& has) {
  std::string list;
  for (const Shape& shape : has) {
    if (shape.name == step.name && shape.arguments == step.arguments.size()) return {};
    list += std::string(list.empty() ? "" : ", ") + shape.name + " with " + std::to_string(shape.arguments) +
            (shape.arguments == 1 ? " argument" : " arguments");
  }
  return printable(textOf(step)) + ": this " + structure + " has no such operation; it has " + list;
}

// A line each.
inline std::vector<Step> stepsOf(const char* file) {
  std::ifstream in(file);
  if (!in || in.peek() == std::ifstream::traits_type::eof())
    stop(std::string("--ops ") + file + ": can't be read, or is empty; an operation is wanted on each line");
  std::vector<Step> steps;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    bool wrong = false;
    if (auto step = stepOf(line, wrong)) steps.push_back(*step);
    if (wrong)
      stop(std::string("--ops ") + file + ", line " + std::to_string(number) +
           ": arguments are numbers from 0 to 2^64 - 1: " + printable(line));
  }
  if (steps.empty()) stop(std::string("--ops ") + file + ": there is no operation in it");
  return steps;
}
inline void listSteps(const Settings& settings, const std::vector<Step>& steps) {
  if (settings.list == nullptr) return;
  std::ofstream out(settings.list);
  for (const Step& step : steps) out << textOf(step) << "\n";
  if (!out.flush()) stop(std::string("--list-ops ") + settings.list + ": can't be written");
}

// How many operations are generated if nobody says.
constexpr std::uint64_t kUsualOperations = 24;

inline bool keyedStep(const Step& s) { return !s.arguments.empty(); }

// Every key that the steps touch, and one that they don't.
inline std::vector<std::uint64_t> keysOf(const std::vector<Step>& steps) {
  std::set<std::uint64_t> keys;
  for (const Step& s : steps)
    if (keyedStep(s)) keys.insert(s.arguments[0]);
  keys.insert(keys.empty() ? 1 : *keys.rbegin() + 1);
  return {keys.begin(), keys.end()};
}

// Keys for a map or a set: new ones and such as were there, side by side and far apart (so that nodes fill and split at
// each end and in the middle, and buckets collide), in the end all removed and some put back.
inline std::vector<Step> keyedSteps(const Settings& settings, bool valued, bool updates, bool puts) {
  Random random(settings);
  std::vector<Step> steps;
  std::vector<std::uint64_t> there, gone;
  std::uint64_t next = 1, step = 1, low = std::uint64_t{1} << 20;
  auto valueOf = [&] { return 1000 + steps.size(); };
  auto change = [&](const char* name, std::uint64_t key) {
    steps.push_back({name, {key}});
    if (valued) steps.back().arguments.push_back(valueOf());
  };
  auto insertNew = [&] {
    std::uint64_t key = 0;
    switch (random.below(8)) {
      case 0:
        key = low--;  // downwards, far from the others
        break;
      case 1:
        if (!gone.empty()) {
          key = gone[random.below(gone.size())];
          break;
        }
        [[fallthrough]];
      case 2:
        // Steps of a power of two: the same bucket, the same bytes of a radix tree.
        step = std::uint64_t{1} << (2 * random.below(6));
        [[fallthrough]];
      default:
        key = next;
        next += step;
    }
    if (std::find(there.begin(), there.end(), key) != there.end()) key = next++;
    while (std::find(there.begin(), there.end(), key) != there.end()) key = next++;
    gone.erase(std::remove(gone.begin(), gone.end(), key), gone.end());
    change("insert", key);
    there.push_back(key);
  };
  auto removeOne = [&](std::size_t at) {
    steps.push_back({"remove", {there[at]}});
    gone.push_back(there[at]);
    there.erase(there.begin() + static_cast<std::ptrdiff_t>(at));
  };
  // The last fifth removes all it can and begins again.
  std::uint64_t all = random.most(settings), grows = all - all / 5;
  while (random.wants(steps.size(), settings)) {
    if (steps.size() >= grows && !there.empty() && all - steps.size() > 2) {
      removeOne(random.below(there.size()));
      continue;
    }
    std::uint64_t what = there.empty() ? 0 : random.below(20);
    std::uint64_t old = there.empty() ? 0 : there[random.below(there.size())];
    if (what < 12)
      insertNew();
    else if (what == 12)
      change("insert", old);  // it is there
    else if (what == 13)
      steps.push_back({valued ? "get" : "contains", {old}});
    else if (what == 14 && !gone.empty())
      steps.push_back({"remove", {gone[random.below(gone.size())]}});  // it is not there
    else if (what < 17 && (updates || puts))
      change(updates && (!puts || what == 15) ? "update" : "put", old);
    else
      removeOne(random.below(there.size()));
  }
  return steps;
}

}  // namespace blackout::lin
