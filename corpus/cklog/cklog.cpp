// A key-value store whose log is checksummed and needs one fence per record: nothing is flushed before the commit,
// there is no commit flag, and a crash may leave any mixture of old and new lines. A restart reads each record whole
// and trusts it if its checksum is right.
//
// When the log is full, the values are written to the checkpoint that is not in use, and one store switches to it and
// says which sequence number comes next; the log begins again at its start. What is left there from before has
// smaller numbers, so it can't be taken for a continuation.
//
// ANNOTATED (see ../cklog_annotated): the restart says beforehand what it is about to sum up.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "blackout/harness.hpp"
#include "pm.h"
#include "steps.hpp"

namespace {

constexpr std::uint64_t Magic = 0x676f6c6b63;
constexpr std::size_t Keys = 3, MaxLength = 152, LogWords = 8 * PM_LINE / 8;
constexpr std::size_t DefaultOperations = 12;

enum Word : std::size_t { Checksum, Length, Sequence, Key, HeaderWords };  // of a record; then the value

struct alignas(PM_LINE) Value {
  std::uint64_t length;  // in bytes; 0: the key has none
  char bytes[MaxLength];
};

struct Pool {
  std::uint64_t magic;
  alignas(PM_LINE) std::uint64_t checkpoint;  // the sequence number of the log's first record, times 2, plus which
  Value checkpoints[2][Keys];
  alignas(PM_LINE) std::uint64_t log[LogWords];
};

std::size_t wordsOf(std::uint64_t length) { return HeaderWords + (length + 7) / 8; }

// A record takes whole lines, so that one that is torn never damages the one before it.
std::size_t spaceOf(std::size_t words) { return (words + 7) / 8 * 8; }

// FNV-1a over the words of a record.
std::uint64_t checksumOf(const std::uint64_t* record, std::size_t words) {
  std::uint64_t sum = 0xcbf29ce484222325;
  std::size_t first = Length;
#if BUG == 1
  // ATOM, the last piece is left out, for being no full line: a record whose last line was lost is trusted.
  if (words > 8) words = (words - 1) / 8 * 8;
#elif BUG == 2
  // ATOM, the length is left out: with the length of the record that was there before, the new one is cut or padded.
  first = Sequence;
#endif
  for (std::size_t i = first; i < words; ++i) sum = (sum ^ record[i]) * 0x100000001b3;
  return sum;
}

class Store {
 public:
  unsigned checkpointsReached = 0;

  Store(const char* path, bool anew) : pool_(*static_cast<Pool*>(pm_map(path, sizeof(Pool)))) {
    if (pool_.magic != Magic || anew) create();
    recover();
  }

  // An empty value removes the key.
  void set(std::uint64_t key, const std::string& value) {
    std::uint64_t record[HeaderWords + MaxLength / 8] = {0, value.size(), sequence_, key};
    std::memcpy(record + HeaderWords, value.data(), value.size());
    std::size_t words = wordsOf(value.size());
    record[Checksum] = checksumOf(record, words);

    if (end_ + spaceOf(words) > LogWords) checkpoint();
    std::uint64_t* place = pool_.log + end_;
    place[Checksum] = record[Checksum];                                   // @LOST 3
    for (std::size_t i = Sequence; i < words; ++i) place[i] = record[i];  // @LOST 1
    place[Length] = record[Length];                                       // @LOST 2, @LOST 3
    pm_persist(place, words * 8);
    values_[key] = value;
    end_ += spaceOf(words);
    ++sequence_;
  }

  const std::string& get(std::uint64_t key) const { return values_[key]; }

 private:
  void create() {
    if (pool_.magic != 0) {
      PM_PUBLISH(pool_.magic, 0);
      pm_persist(&pool_.magic, sizeof pool_.magic);
    }
    pool_.checkpoint = 0;
    std::memset(pool_.checkpoints[0], 0, sizeof pool_.checkpoints[0]);
    std::memset(pool_.log, 0, sizeof pool_.log);  // the numbers begin again, and those of an earlier life must not fit
    pm_flush(&pool_.checkpoint, sizeof pool_.checkpoint);
    pm_flush(pool_.checkpoints[0], sizeof pool_.checkpoints[0]);
    pm_persist(pool_.log, sizeof pool_.log);
    PM_PUBLISH(pool_.magic, Magic);
    pm_persist(&pool_.magic, sizeof pool_.magic);
  }

  void checkpoint() {
    std::uint64_t other = 1 - pool_.checkpoint % 2;
    for (std::size_t key = 0; key < Keys; ++key) {
      Value& to = pool_.checkpoints[other][key];
      to.length = values_[key].size();                                  // @LOST 4
      std::memcpy(to.bytes, values_[key].data(), values_[key].size());  // @LOST 4
      pm_flush(&to, offsetof(Value, bytes) + values_[key].size());
    }
#if BUG != 4
    // ID, the values are flushed, but no fence completes that before the switch to them.
    pm_fence();
#endif
    PM_PUBLISH(pool_.checkpoint, sequence_ * 2 + other);  // @LOST 3
    pm_persist(&pool_.checkpoint, sizeof pool_.checkpoint);
    end_ = 0;
    ++checkpointsReached;
  }

  void recover() {
    const Value* from = pool_.checkpoints[pool_.checkpoint % 2];
    for (std::size_t key = 0; key < Keys; ++key) take(key, from[key].bytes, from[key].length);
    sequence_ = pool_.checkpoint / 2;
    while (end_ + HeaderWords <= LogWords) {
      const std::uint64_t* record = pool_.log + end_;
      std::uint64_t length = record[Length];
      std::size_t words = wordsOf(std::min<std::uint64_t>(length, MaxLength));
      if (length > MaxLength || end_ + words > LogWords) break;
#ifdef ANNOTATED
      blackout_checksum(record, words * 8);
#endif
      if (checksumOf(record, words) != record[Checksum]) break;
#if BUG != 3
      // SEM, a record that was left over from before the checkpoint is taken for the next one: its checksum is right.
      if (record[Sequence] != sequence_) break;
#endif
      take(record[Key], record + HeaderWords, length);
      end_ += spaceOf(words);
      ++sequence_;
    }
  }

  void take(std::uint64_t key, const void* bytes, std::uint64_t length) {
    values_[key].resize(length);
    std::memcpy(values_[key].data(), bytes, length);
  }

  Pool& pool_;
  std::string values_[Keys];
  std::uint64_t sequence_ = 0;  // of the next record
  std::size_t end_ = 0;         // of the log, in words
};

// Value number n of the workload: it begins with n. At each place of the log the lengths are the same in words, and
// differ in bytes.
std::string valueOf(std::uint64_t n) {
  std::string value(reinterpret_cast<const char*>(&n), sizeof n);
  std::size_t length = (n % 4 == 1 ? 150 : 60) - n / 4 % 3;
  while (value.size() < length) value.push_back(static_cast<char>('a' + (n + value.size()) % 26));
  return value;
}

// As a map of numbers of values.
struct Map {
  std::optional<Store> store;

  void put(std::uint64_t key, std::uint64_t n) { store->set(key, valueOf(n)); }
  void remove(std::uint64_t key) { store->set(key, ""); }

  Contents contents() const {
    Contents found;
    for (std::uint64_t key = 0; key < Keys; ++key) {
      const std::string& value = store->get(key);
      if (value.empty()) continue;
      std::uint64_t n = 0;
      std::memcpy(&n, value.data(), std::min(value.size(), sizeof n));
      pm_expect(value == valueOf(n), "a value is as it was set");
      found[key] = n;
    }
    return found;
  }
};

// Each four operations fill the log: records of three, two, one and two lines.
std::vector<Step> workload(std::size_t operations) {
  std::vector<Step> steps;
  auto put = [&](std::uint64_t key) { steps.push_back({Step::Put, key, steps.size() + 1}); };
  while (steps.size() < operations) {
    put(0), put(1);
    steps.push_back({Step::Remove, 0, 0});
    put(2);
  }
  steps.resize(operations);
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: cklog POOL [OPERATIONS]");
  std::vector<Step> steps = workload(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : DefaultOperations);
  Map map;
  auto operations = [&] {
    runSteps(steps, map);
    if (steps.size() >= DefaultOperations) pm_expect(map.store->checkpointsReached > 1, "checkpoints are reached");
  };
  return blackout_test([&] { map.store.emplace(argv[1], true); }, operations,
                       [&] { map.store.emplace(argv[1], false); }, [&] { expectStepsDone(steps, map.contents()); });
}
