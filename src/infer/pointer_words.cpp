#include "infer/pointer_words.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "events/trace.h"

namespace blackout {

namespace {

constexpr std::uint64_t kWithoutHighTag = 0x0000ffffffffffff;
// Below it there are headers, and most small numbers.
constexpr std::uint64_t kFirstOffset = BLACKOUT_LINE;

// Who stored a value: an instruction, or, where that is unknown, whatever stores to this word.
std::uint64_t originOf(const Trace& trace, const Event& e) {
  const CallStack* where = trace.callStack(stackOf(e));
  return where != nullptr && where->site != 0 ? where->site.value() : wordOf(e.addr) | 1ull << 63;
}
constexpr std::uint64_t kBeforeRecording = 1ull << 62;
// A store that is not of a whole word is no store of an offset.
constexpr std::uint64_t kPartOfWord = 1ull << 61;

bool isWholeWord(const Event& e) { return bytesOf(e) == kWord; }

std::uint64_t combined(std::uint64_t old, const Event& e) {
  std::memcpy(reinterpret_cast<char*>(&old) + e.addr % kWord, &e.value,
              std::min<std::uint64_t>(bytesOf(e), kWord - e.addr % kWord));
  return old;
}

// Calls use(word, value) for the words of bytes that were in a file before the recording.
template <class Use>
void forEachWord(PmAddr begin, std::string_view bytes, Use use) {
  for (std::size_t i = (kWord - begin % kWord) % kWord; i + kWord <= bytes.size(); i += kWord) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i, kWord);
    if (value != 0) use(begin + i, value);
  }
}

}  // namespace

void Mappings::add(std::uint64_t begin, std::uint64_t size, PmAddr to) {
  if (size == 0 || begin + size < begin) return;
  const std::uint64_t end = begin + size;
  auto at = ranges_.lower_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != ranges_.end() && at->first < end) {
    const auto [old, range] = *at;
    at = ranges_.erase(at);
    if (old < begin) ranges_[old] = {begin, range.to};
    if (range.end > end) ranges_[end] = {range.end, range.to + (end - old)};
  }
  ranges_[begin] = {end, to};
}

PmAddr Mappings::at(std::uint64_t address) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return 0;
  const auto& [begin, range] = *std::prev(after);
  return address < range.end ? range.to + (address - begin) : 0;
}

PmAddr Mappings::target(std::uint64_t value) const {
  // Objects begin at words: what a value has below that is a tag, or the pointer leads into the word.
  PmAddr target = at(value);
  if (target == 0) target = at(value & kWithoutHighTag);
  return wordOf(target);
}

PointerWords::PointerWords(const Trace& trace) : trace_(trace), hasAddresses_(trace.files().size() + 1) {
  survey();
  restart();
}

void PointerWords::survey() {
  std::vector<EventNo> maps;
  for (EventNo n = 0; n < trace_.end(); n = trace_.next(n))
    if (kindOf(trace_[n]) == EventKind::Map) maps.push_back(n);
  std::reverse(maps.begin(), maps.end());
  for (EventNo n : maps) {
    auto [address, size] = trace_.mapping(n);
    first_.add(address, size, trace_[n].addr);
  }
  mappings_ = first_;
  for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
    const Event& e = trace_[n];
    if (kindOf(e) == EventKind::Map) map(n);
    if (kindOf(e) == EventKind::FileData) {
      // Twice: words before lead to words behind them, too.
      forEachWord(e.addr, trace_.payload(n), [&](PmAddr word, std::uint64_t) { written_.insert(word); });
      forEachWord(e.addr, trace_.payload(n),
                  [&](PmAddr word, std::uint64_t value) { surveyWord(word, value, kBeforeRecording); });
    }
    if (!isStore(e)) continue;
    if (isWholeWord(e)) surveyWord(e.addr, e.value, originOf(trace_, e));
    written_.insert(wordOf(e.addr));
  }
}

void PointerWords::surveyWord(PmAddr word, std::uint64_t value, std::uint64_t origin) {
  if (value == 0) return;
  // The address of a pool itself is in the header of many that know offsets only.
  if (PmAddr target = mappings_.target(value); target != 0) {
    if (offsetOf(target) >= kFirstOffset && hasAddresses_.has(fileOf(word))) hasAddresses_[fileOf(word)] = true;
    return;
  }
  if (origin == kBeforeRecording) return;  // written by nobody knows what
  const bool offset = value >= kFirstOffset && value < BLACKOUT_MAX_FILE_SIZE && value % kWord == 0 &&
                      written_.contains(pmAddr(fileOf(word), value));
  if (!offset) noOffsets_.insert(origin);
}

bool PointerWords::leadsByOffset(PmAddr word, std::uint64_t value, std::uint64_t origin) const {
  return value >= kFirstOffset && value < BLACKOUT_MAX_FILE_SIZE && value % kWord == 0 && origin != kPartOfWord &&
         hasAddresses_.has(fileOf(word)) && !hasAddresses_[fileOf(word)] && !noOffsets_.contains(origin) &&
         written_.contains(pmAddr(fileOf(word), value));
}

void PointerWords::restart() {
  mappings_ = first_;
  written_.clear();
  values_.clear();
  pointers_.clear();
  changes_.clear();
}

void PointerWords::put(PmAddr word, std::uint64_t value, std::uint64_t origin) {
  written_.insert(word);
  values_[word] = value;
  PmAddr target = mappings_.target(value);
  if (target == 0 && leadsByOffset(word, value, origin)) target = pmAddr(fileOf(word), value);
  auto at = pointers_.find(word);
  const PmAddr before = at == pointers_.end() ? 0 : at->second;
  if (before == target) return;
  changes_.push_back({word, before, target});
  if (target == 0)
    pointers_.erase(at);
  else
    pointers_[word] = target;
}

void PointerWords::clear(PmAddr begin, PmAddr end) {
  if (end <= begin) return;
  for (auto at = pointers_.lower_bound(wordOf(begin)); at != pointers_.end() && at->first < end;) {
    changes_.push_back({at->first, at->second, 0});
    at = pointers_.erase(at);
  }
  values_.erase(values_.lower_bound(wordOf(begin)), values_.lower_bound(end));
}

void PointerWords::map(EventNo n) {
  auto [address, size] = trace_.mapping(n);
  mappings_.add(address, size, trace_[n].addr);
}

const std::vector<PointerChange>& PointerWords::follow(EventNo n) {
  changes_.clear();
  const Event& e = trace_[n];
  switch (kindOf(e)) {
    case EventKind::Store:
    case EventKind::StoreNt:
    case EventKind::Rmw: {
      const PmAddr word = wordOf(e.addr);
      auto old = values_.find(word);
      put(word, combined(old == values_.end() ? 0 : old->second, e),
          isWholeWord(e) ? originOf(trace_, e) : kPartOfWord);
      break;
    }
    case EventKind::FileData:
      forEachWord(e.addr, trace_.payload(n), [&](PmAddr word, std::uint64_t) { written_.insert(word); });
      forEachWord(e.addr, trace_.payload(n),
                  [&](PmAddr word, std::uint64_t value) { put(word, value, kBeforeRecording); });
      break;
    case EventKind::FileZero:
      clear(e.addr, e.addr + e.value);
      break;
    case EventKind::FileSize:
      clear(pmAddr(fileOf(e.addr), e.value), pmAddr(fileOf(e.addr) + 1, 0));
      break;
    case EventKind::FileUnlink:
      // The file may still be mapped, but no restart finds what it leads to.
      clear(pmAddr(fileOf(e.addr), 0), pmAddr(fileOf(e.addr) + 1, 0));
      break;
    case EventKind::Map:
      map(n);
      break;
    default:
      break;
  }
  return changes_;
}

}  // namespace blackout
