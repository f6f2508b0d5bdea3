// Whether some order of the calls that were made explains all their answers: linearizability of a history with crashes.
//
// The search is Wing and Gong's with Lowe's memory of what was tried (the set of calls that have taken effect, and the
// state after them), over a list of begins and ends from which a call that has taken effect is lifted out. Where the
// specification says which part of the structure a call touches, each part is searched by itself (P-compositionality:
// Herlihy and Wing's locality). A history without overlap takes one step per call.
//
// A specification is a small value type:
//
//   struct Counter {
//     struct Call { bool adds; std::uint64_t n; };   // of a read, n is what it returned
//     std::uint64_t sum = 0;
//     // False: this answer is not legal here; the state is then as before. Not answered: any answer is.
//     bool apply(const Call& c, bool answered) {
//       if (c.adds) sum += c.n;
//       return c.adds || !answered || c.n == sum;
//     }
//     bool operator==(const Counter& o) const { return sum == o.sum; }
//     std::size_t hash() const { return sum; }
//     // optional: static std::uint64_t part(const Call&): calls of different parts have nothing to do with each other,
//     // and a state is that of one part
//     // optional: template <class Before> static void implied(const std::vector<Seen<Call>>&, Before before):
//     before(a, b)
//     // says that in every order that explains all answers a comes before b, which saves the search from trying
//   };
//
// What a crash does to a call that was under way is the criterion (Izraelevitz, Mendes and Scott, DISC 2016; Aguilera
// and Frolund for strict). Nothing here knows of files, traces or reports: the tool and a user's own harness use the
// same code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace blackout::lin {

inline constexpr std::uint64_t kNever = UINT64_MAX;

enum class Criterion : std::uint8_t {
  Durable,   // a call that was under way takes effect at any later time, with any result, or never
  Strict,    // before the crash, or never
  Buffered,  // of each run, a part survives that has with every event all that happened before it
};

enum class Answer : std::uint8_t { Yes, No, Unknown };

// A call as it was made. Times are those of one clock that all calls and crashes of a history share; no two are equal.
template <class Call>
struct TimedCall {
  Call call;
  std::uint64_t began = 0;
  std::uint64_t ended = kNever;  // kNever: a crash, or the end of the history, came first
};

template <class Call>
struct CrashHistory {
  std::vector<TimedCall<Call>> calls;  // by their begins
  std::vector<std::uint64_t> crashes;  // ascending
};

// Numbers are places in CrashHistory::calls.
template <class Spec>
struct Explanation {
  Answer answer = Answer::Yes;
  std::uint64_t steps = 0;  // calls that were tried
  // If there is none: the part of the history that has no explanation, the longest beginning of it that has one, in the
  // order that explains it, and the calls whose answers can't come next, each with the state that it met.
  std::vector<std::uint32_t> part;
  std::vector<std::uint32_t> longest;
  struct Contradiction {
    std::uint32_t call = 0;
    Spec state;
  };
  std::vector<Contradiction> contradictions;
};

// A call as Spec::implied sees it.
template <class Call>
struct Seen {
  const Call* call = nullptr;
  bool must = false;  // it was answered, so it takes effect
  std::uint64_t began = 0;
  std::uint64_t ended = kNever;
};

namespace detail {

struct Ignore {
  void operator()(std::size_t, std::size_t) const {}
};
template <class Spec, class = void>
struct HasImplied : std::false_type {};
template <class Spec>
struct HasImplied<
    Spec, std::void_t<decltype(Spec::implied(std::declval<const std::vector<Seen<typename Spec::Call>>&>(), Ignore()))>>
    : std::true_type {};

template <class Spec, class = void>
struct HasPart : std::false_type {};
template <class Spec>
struct HasPart<Spec, std::void_t<decltype(Spec::part(std::declval<const typename Spec::Call&>()))>> : std::true_type {};

inline std::size_t mixed(std::size_t seed, std::uint64_t v) {
  v += 0x9e3779b97f4a7c15U + seed;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9U;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>(v ^ (v >> 31));
}

// A call of the part that is searched. One that is optional need not take effect; it can't after its deadline.
struct Task {
  std::uint32_t call = 0;
  bool optional = false;
  std::uint64_t began = 0;
  std::uint64_t until = kNever;  // its end, or its deadline
};

// The search in one part.
template <class Spec>
class Search {
 public:
  Search(const std::vector<TimedCall<typename Spec::Call>>& calls, std::vector<Task>& tasks, Explanation<Spec>& out,
         std::uint64_t budget)
      : calls_(calls), tasks_(tasks), out_(out), budget_(budget) {}

  Answer run() {
    std::size_t done = withoutOverlap();
    if (failed_) return Answer::No;
    if (done == tasks_.size()) return Answer::Yes;
    prefix_ = done;
    link();
    Answer answer = search();
    if (answer == Answer::No)
      for (const Task& t : tasks_) out_.part.push_back(t.call);
    return answer;
  }

 private:
  const typename Spec::Call& callOf(std::size_t task) const { return calls_[tasks_[task].call].call; }

  // Calls that end before the next begins: there is one order.
  std::size_t withoutOverlap() {
    std::size_t i = 0;
    for (; i < tasks_.size(); ++i) {
      const Task& t = tasks_[i];
      if (t.optional || (i + 1 < tasks_.size() && tasks_[i + 1].began < t.until)) break;
      ++out_.steps;
      if (state_.apply(callOf(i), true)) continue;
      failed_ = true;
      for (const Task& task : tasks_) out_.part.push_back(task.call);
      for (std::size_t before = 0; before < i; ++before) out_.longest.push_back(tasks_[before].call);
      out_.contradictions.push_back({t.call, state_});
      break;
    }
    return i;
  }

  // --- the list of begins and ends ---

  struct Entry {
    std::uint32_t task = 0;
    bool isEnd = false;
    std::uint32_t before = 0;
    std::uint32_t next = 0;
  };
  // Where a task's entries are; 0: it has none (entry 0 is the list's head).
  struct Entries {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  void link() {
    // Those that must take effect first, so that the set of the others is small and by itself.
    std::vector<Task> optional;
    std::size_t kept = prefix_;
    for (std::size_t i = prefix_; i < tasks_.size(); ++i)
      if (tasks_[i].optional)
        optional.push_back(tasks_[i]);
      else
        tasks_[kept++] = tasks_[i];
    std::copy(optional.begin(), optional.end(), tasks_.begin() + static_cast<std::ptrdiff_t>(kept));
    struct Moment {
      std::uint64_t time;
      bool isEnd;
      std::uint32_t task;
    };
    std::vector<Moment> moments;
    for (std::size_t i = prefix_; i < tasks_.size(); ++i) {
      auto task = static_cast<std::uint32_t>(i);
      moments.push_back({tasks_[i].began, false, task});
      if (tasks_[i].until != kNever) moments.push_back({tasks_[i].until, true, task});
      if (!tasks_[i].optional) ++left_;
    }
    mandatory_ = prefix_ + left_;
    std::sort(moments.begin(), moments.end(),
              [](const Moment& a, const Moment& b) { return a.time != b.time ? a.time < b.time : a.isEnd < b.isEnd; });
    entries_.resize(moments.size() + 1);
    where_.resize(tasks_.size());
    for (std::size_t i = 0; i < moments.size(); ++i) {
      auto at = static_cast<std::uint32_t>(i + 1);
      entries_[at] = {moments[i].task, moments[i].isEnd, at - 1, 0};
      entries_[at - 1].next = at;
      (moments[i].isEnd ? where_[moments[i].task].end : where_[moments[i].task].begin) = at;
    }
    entries_[0].before = static_cast<std::uint32_t>(moments.size());
    set_.resize((tasks_.size() - prefix_ + 63) / 64);
    low_ = prefix_;
    if constexpr (HasImplied<Spec>::value) {
      // Pairs: too many of them cost more than they save.
      constexpr std::size_t kMost = 4000;
      if (tasks_.size() - prefix_ > kMost) return;
      std::vector<Seen<typename Spec::Call>> seen;
      for (std::size_t i = 0; i < tasks_.size(); ++i)
        seen.push_back({&callOf(i), !tasks_[i].optional, tasks_[i].began, tasks_[i].until});
      needs_.resize(tasks_.size());
      Spec::implied(seen, [&](std::size_t before, std::size_t after) {
        if (before >= prefix_ && after >= prefix_) needs_[after].push_back(static_cast<std::uint32_t>(before));
      });
    }
  }
  bool mayComeNow(std::uint32_t task) const {
    if constexpr (HasImplied<Spec>::value)
      if (!needs_.empty())
        return std::all_of(needs_[task].begin(), needs_[task].end(), [&](std::uint32_t n) { return isDone(n); });
    return true;
  }
  void unlink(std::uint32_t at) {
    if (at == 0) return;
    entries_[entries_[at].before].next = entries_[at].next;
    entries_[entries_[at].next].before = entries_[at].before;
  }
  void relink(std::uint32_t at) {
    if (at == 0) return;
    entries_[entries_[at].before].next = at;
    entries_[entries_[at].next].before = at;
  }

  // --- the set of tasks that are done ---

  bool isDone(std::size_t task) const { return (set_[(task - prefix_) / 64] >> ((task - prefix_) % 64) & 1) != 0; }
  void flip(std::size_t task) { set_[(task - prefix_) / 64] ^= std::uint64_t{1} << ((task - prefix_) % 64); }
  void lift(std::uint32_t task) {
    unlink(where_[task].begin);
    unlink(where_[task].end);
    flip(task);
    if (task < mandatory_) {
      --left_;
      while (low_ < mandatory_ && isDone(low_)) ++low_;
    }
  }
  void putBack(std::uint32_t task) {
    // In the reverse order of lift(), so that each entry finds its neighbours as they were.
    relink(where_[task].end);
    relink(where_[task].begin);
    flip(task);
    if (task < mandatory_) {
      ++left_;
      low_ = std::min<std::size_t>(low_, task);
    }
  }

  // --- what was tried ---

  struct Tried {
    std::vector<std::uint64_t> set;
    Spec state;
    bool operator==(const Tried& o) const { return set == o.set && state == o.state; }
  };
  struct TriedHash {
    std::size_t operator()(const Tried& t) const {
      std::size_t h = t.state.hash();
      for (std::uint64_t word : t.set) h = mixed(h, word);
      return h;
    }
  };
  // The set as the first task that is not done, the words from there up to the last that is, and those of optional
  // tasks: so it is short in a long history.
  std::vector<std::uint64_t> setNow() const {
    std::vector<std::uint64_t> key = {low_};
    std::size_t beyond = mandatory_ - left_ - low_;
    std::size_t word = (low_ - prefix_) / 64;
    std::uint64_t mask = ~std::uint64_t{0} << ((low_ - prefix_) % 64);
    std::size_t optionals = mandatory_ - prefix_;  // the first one's bit
    for (; beyond != 0 && word < set_.size(); ++word, mask = ~std::uint64_t{0}) {
      std::uint64_t bits = set_[word] & mask;
      if (optionals / 64 == word) bits &= (std::uint64_t{1} << (optionals % 64)) - 1;
      key.push_back(bits);
      beyond -= static_cast<std::size_t>(__builtin_popcountll(bits));
    }
    if (mandatory_ < tasks_.size()) {
      key.push_back(set_[optionals / 64] & (~std::uint64_t{0} << (optionals % 64)));
      for (std::size_t w = optionals / 64 + 1; w < set_.size(); ++w) key.push_back(set_[w]);
    }
    return key;
  }
  bool triedBefore(const Spec& state) { return !tried_.insert(Tried{setNow(), state}).second; }

  // --- the search ---

  struct Step {
    std::uint32_t task = 0;
    bool dropped = false;  // its deadline came first
    Spec before;
  };

  // The last step is undone; false: there is none. `at`: the entry to go on from.
  bool back(std::uint32_t& at) {
    while (!steps_.empty()) {
      Step step = std::move(steps_.back());
      steps_.pop_back();
      putBack(step.task);
      state_ = std::move(step.before);
      // What could take effect instead of a dropped call was tried before it was dropped.
      if (step.dropped) continue;
      at = entries_[where_[step.task].begin].next;
      return true;
    }
    return false;
  }

  void contradicted(std::uint32_t task) {
    constexpr std::size_t kMost = 16;
    std::size_t depth = mandatory_ - left_;
    if (longestDepth_ && depth < *longestDepth_) return;
    if (!longestDepth_ || depth > *longestDepth_) {
      longestDepth_ = depth;
      out_.contradictions.clear();
      out_.longest.clear();
      for (std::size_t i = 0; i < prefix_; ++i) out_.longest.push_back(tasks_[i].call);
      for (std::uint32_t t : forced_) out_.longest.push_back(tasks_[t].call);
      for (const Step& s : steps_)
        if (!s.dropped) out_.longest.push_back(tasks_[s.task].call);
    }
    std::uint32_t call = tasks_[task].call;
    for (const auto& c : out_.contradictions)
      if (c.call == call && c.state == state_) return;
    if (out_.contradictions.size() < kMost) out_.contradictions.push_back({call, state_});
  }

  Answer search() {
    std::uint32_t at = entries_[0].next;
    while (left_ != 0) {
      const Entry& e = entries_[at];
      std::uint32_t task = e.task;
      if (!e.isEnd) {
        if (++out_.steps > budget_) return Answer::Unknown;
        bool alone = at == entries_[0].next && e.next == where_[task].end && e.next != 0 && task < mandatory_;
        if (alone && steps_.empty()) {
          // Nothing to choose now, and nothing to come back to.
          if (!state_.apply(callOf(task), true)) {
            contradicted(task);
            return Answer::No;
          }
          forced_.push_back(task);
          lift(task);
          if (!tried_.empty()) tried_.clear();
          at = entries_[0].next;
          continue;
        }
        if (!mayComeNow(task)) {
          at = e.next;
          continue;
        }
        Spec after = state_;
        if (after.apply(callOf(task), task < mandatory_)) {
          lift(task);
          if (alone || !triedBefore(after)) {
            steps_.push_back({task, false, std::move(state_)});
            state_ = std::move(after);
            at = entries_[0].next;
            continue;
          }
          putBack(task);
        }
        at = entries_[at].next;
        continue;
      }
      if (task >= mandatory_) {
        lift(task);
        if (!triedBefore(state_)) {
          steps_.push_back({task, true, state_});
          at = entries_[0].next;
          continue;
        }
        putBack(task);
      } else {
        contradicted(task);
      }
      if (!back(at)) return Answer::No;
    }
    return Answer::Yes;
  }

  const std::vector<TimedCall<typename Spec::Call>>& calls_;
  std::vector<Task>& tasks_;  // by their begins; from prefix_ on those that must take effect first
  Explanation<Spec>& out_;
  std::uint64_t budget_;
  Spec state_{};
  bool failed_ = false;
  std::size_t prefix_ = 0;     // tasks before the first overlap: done
  std::size_t mandatory_ = 0;  // where optional tasks begin
  std::size_t left_ = 0;       // tasks that must take effect and have not
  std::size_t low_ = 0;        // the first of them
  std::vector<Entry> entries_;
  std::vector<Entries> where_;  // by task
  std::vector<std::uint64_t> set_;
  std::vector<std::vector<std::uint32_t>> needs_;  // by task: those that come before it
  std::vector<std::uint32_t> forced_;
  std::vector<Step> steps_;
  std::unordered_set<Tried, TriedHash> tried_;
  std::optional<std::size_t> longestDepth_;
};

// All parts of a history whose calls have their deadlines.
template <class Spec>
Explanation<Spec> explainTasks(const std::vector<TimedCall<typename Spec::Call>>& calls, const std::vector<Task>& tasks,
                               std::uint64_t budget) {
  Explanation<Spec> out;
  bool unknown = false;
  auto part = [&](std::vector<Task>& of) {
    Answer answer = Search<Spec>(calls, of, out, budget).run();
    unknown |= answer == Answer::Unknown;
    if (answer == Answer::No) return false;
    // What could not come next, until something else did.
    out.part.clear(), out.longest.clear(), out.contradictions.clear();
    return true;
  };
  if constexpr (HasPart<Spec>::value) {
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::vector<Task>> parts;
    for (const Task& t : tasks) {
      auto [at, fresh] = numbers.try_emplace(Spec::part(calls[t.call].call), static_cast<std::uint32_t>(parts.size()));
      if (fresh) parts.emplace_back();
      parts[at->second].push_back(t);
    }
    for (std::vector<Task>& of : parts)
      if (!part(of)) {
        out.answer = Answer::No;
        return out;
      }
  } else {
    std::vector<Task> all = tasks;
    if (!part(all)) {
      out.answer = Answer::No;
      return out;
    }
  }
  out.answer = unknown ? Answer::Unknown : Answer::Yes;
  return out;
}

// Buffered: P_0 ... P_{i-1} E_i has an order for every run E_i, where P_j is what survives of run j. That is a set of
// events that is closed under happening before; of those with the same latest begin, the one that has all calls that
// began by then and the ends of those that ended before allows the most: a call in it without its end may have taken
// effect or not. So there is one candidate for each call, and the empty one.
template <class Spec>
class Cuts {
 public:
  Cuts(const CrashHistory<typename Spec::Call>& history, std::uint64_t budget) : h_(history), budget_(budget) {
    runs_.resize(h_.crashes.size() + 1);
    for (std::uint32_t i = 0; i < h_.calls.size(); ++i) {
      auto run = std::upper_bound(h_.crashes.begin(), h_.crashes.end(), h_.calls[i].began) - h_.crashes.begin();
      runs_[static_cast<std::size_t>(run)].push_back(i);
    }
  }

  Explanation<Spec> run() {
    std::vector<Task> nothing;
    Answer answer = from(0, nothing);
    if (answer == Answer::No) {
      furthest_.answer = Answer::No;
      furthest_.steps = steps_;
      return std::move(furthest_);
    }
    Explanation<Spec> out;
    out.answer = answer;
    out.steps = steps_;
    return out;
  }

 private:
  Task taskOf(std::uint32_t call, bool kept) const {
    const auto& c = h_.calls[call];
    return {call, !kept, c.began, kept ? c.ended : kNever};
  }

  Answer from(std::size_t run, const std::vector<Task>& survived) {
    std::vector<Task> tasks = survived;
    for (std::uint32_t call : runs_[run]) tasks.push_back(taskOf(call, h_.calls[call].ended != kNever));
    Explanation<Spec> e = explainTasks<Spec>(h_.calls, tasks, steps_ < budget_ ? budget_ - steps_ : 0);
    steps_ += e.steps;
    if (e.answer == Answer::No && (furthest_.part.empty() || run > furthestRun_)) {
      furthest_ = std::move(e);
      furthestRun_ = run;
      return Answer::No;
    }
    if (e.answer != Answer::Yes || run + 1 == runs_.size()) return e.answer;
    bool unknown = false;
    for (std::size_t last = runs_[run].size() + 1; last-- > 0;) {
      std::vector<Task> cut = survived;
      std::uint64_t latest = last == 0 ? 0 : h_.calls[runs_[run][last - 1]].began;
      for (std::size_t i = 0; i < last; ++i)
        cut.push_back(taskOf(runs_[run][i], h_.calls[runs_[run][i]].ended < latest));
      Answer answer = from(run + 1, cut);
      if (answer == Answer::Yes) return answer;
      unknown |= answer == Answer::Unknown;
    }
    return unknown ? Answer::Unknown : Answer::No;
  }

  const CrashHistory<typename Spec::Call>& h_;
  std::uint64_t budget_;
  std::uint64_t steps_ = 0;
  std::vector<std::vector<std::uint32_t>> runs_;
  Explanation<Spec> furthest_;
  std::size_t furthestRun_ = 0;
};

}  // namespace detail

// Steps after which the answer is Unknown: seconds.
inline constexpr std::uint64_t kUsualBudget = 2'000'000;

template <class Spec>
Explanation<Spec> explain(const CrashHistory<typename Spec::Call>& history, Criterion criterion = Criterion::Durable,
                          std::uint64_t budget = kUsualBudget) {
  if (criterion == Criterion::Buffered && !history.crashes.empty()) return detail::Cuts<Spec>(history, budget).run();
  std::vector<detail::Task> tasks;
  tasks.reserve(history.calls.size());
  for (std::uint32_t i = 0; i < history.calls.size(); ++i) {
    const auto& c = history.calls[i];
    bool pending = c.ended == kNever;
    std::uint64_t until = c.ended;
    if (pending && criterion == Criterion::Strict) {
      auto crash = std::upper_bound(history.crashes.begin(), history.crashes.end(), c.began);
      if (crash != history.crashes.end()) until = *crash;
    }
    tasks.push_back({i, pending, c.began, until});
  }
  return detail::explainTasks<Spec>(history.calls, tasks, budget);
}

}  // namespace blackout::lin
