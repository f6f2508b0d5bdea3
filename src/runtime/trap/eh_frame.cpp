#include "runtime/trap/eh_frame.h"

#include "runtime/trap/eh_frame_reader.h"
#include "runtime/trap/frame_entry.h"

namespace blackout::rt {

namespace {

// The part of .eh_frame_hdr that is sorted by address: pairs of a function's begin and its entry in .eh_frame.
struct SortedPairs {
  const uint8_t* first;
  const uint8_t* end;
  uintptr_t base;  // of "relative to data": the header
  size_t count;
  uint8_t encoding;
  bool complete;  // false: it says that it has more than there is room for

  struct Pair {
    uintptr_t function;
    uintptr_t entry;
  };

  bool at(size_t n, Pair& pair) const {
    Reader reader{first + n * 2 * sizeOfEncoded(encoding), end};
    pair.function = reader.encoded(encoding, base);
    pair.entry = reader.encoded(encoding, base);
    return reader.sound;
  }
};

bool sortedPairsOf(const FrameTable& table, SortedPairs& pairs) {
  if (table.header == nullptr) return false;
  auto base = reinterpret_cast<uintptr_t>(table.header);
  Reader reader{table.header, table.header + table.headerSize};
  auto version = reader.take<uint8_t>();
  auto frames = reader.take<uint8_t>();
  auto count = reader.take<uint8_t>();
  auto encoding = reader.take<uint8_t>();
  // A linker that couldn't read some object's frames writes neither count nor pairs.
  if (version != 1 || count == kOmitted || encoding == kOmitted) return false;
  if (((count | encoding) & kIndirect) != 0 || sizeOfEncoded(encoding) == 0) return false;
  if (frames != kOmitted) reader.encoded(frames, base);
  uint64_t said = reader.encoded(count, base);
  if (!reader.sound) return false;
  size_t room = size_t(reader.end - reader.at) / (2 * sizeOfEncoded(encoding));
  pairs = {reader.at, reader.end, base, said < room ? said : room, encoding, said <= room};
  return true;
}

// Length and end of the CIE or FDE at `at`: after that the reader has only its bytes.
bool enter(const FrameTable& table, const uint8_t* at, Reader& reader) {
  reader = {at, table.readableEnd};
  uint64_t length = reader.take<uint32_t>();
  if (length == 0xffffffff) length = reader.take<uint64_t>();
  const uint8_t* begin = reader.skip(length);
  if (!reader.sound || length == 0) return false;
  reader = {begin, begin + length};
  return true;
}

bool readable(const FrameTable& table, uintptr_t address) {
  return address >= reinterpret_cast<uintptr_t>(table.readable) &&
         address < reinterpret_cast<uintptr_t>(table.readableEnd);
}

bool readCommon(const FrameTable& table, const uint8_t* at, FrameEntry& entry, bool& augmented) {
  Reader reader{};
  if (!enter(table, at, reader)) return false;
  if (reader.take<uint32_t>() != 0) return false;  // an FDE
  auto version = reader.take<uint8_t>();
  if (version != 1 && version != 3) return false;
  const uint8_t* letters = reader.at;
  while (reader.take<uint8_t>() != 0) {
  }
  entry.codeFactor = reader.uleb();
  entry.dataFactor = reader.sleb();
  uint64_t returnColumn = version == 1 ? reader.take<uint8_t>() : reader.uleb();
  if (!reader.sound || returnColumn != 16) return false;
  entry.encoding = 0;
  entry.signal = false;
  augmented = *letters == 'z';
  if (augmented) {
    uint64_t size = reader.uleb();
    Reader data{reader.at, reader.at};
    reader.skip(size);
    data.end = reader.at;
    for (++letters; *letters != 0; ++letters) switch (*letters) {
        case 'R':
          entry.encoding = data.take<uint8_t>();
          break;
        case 'P': {  // the personality
          auto encoding = data.take<uint8_t>();
          if (encoding != kOmitted) data.encoded(encoding);
          break;
        }
        case 'L':
          data.take<uint8_t>();
          break;
        case 'S':
          entry.signal = true;
          break;
        default:
          return false;
      }
    if (!data.sound) return false;
  } else if (*letters != 0) {
    return false;
  }
  entry.common = {reader.at, reader.end};
  return reader.sound && (entry.encoding & kIndirect) == 0;
}

bool readEntry(const FrameTable& table, const SortedPairs::Pair& pair, FrameEntry& entry) {
  if (!readable(table, pair.entry)) return false;
  Reader reader{};
  if (!enter(table, table.readable + (pair.entry - reinterpret_cast<uintptr_t>(table.readable)), reader)) return false;
  uintptr_t here = reinterpret_cast<uintptr_t>(reader.at);
  uintptr_t common = here - reader.take<uint32_t>();
  if (!reader.sound || common == here || !readable(table, common)) return false;
  bool augmented = false;
  if (!readCommon(table, table.readable + (common - reinterpret_cast<uintptr_t>(table.readable)), entry, augmented))
    return false;
  entry.range.begin = reader.encoded(entry.encoding);
  uintptr_t size = reader.encoded(entry.encoding & kFormat);
  entry.range.end = entry.range.begin + size;
  if (augmented) reader.skip(reader.uleb());  // where its exceptions are handled
  entry.own = {reader.at, reader.end};
  return reader.sound && entry.range.begin == pair.function && entry.range.begin >= table.begin &&
         entry.range.begin <= table.end && size <= table.end - entry.range.begin;
}

// The list of tables. A slot is changed by whoever made its version odd; a reader takes what it has read only if
// the version is the same even number before and after. Free: begin is 0.
constexpr int kMaxTables = 1024;
struct Slot {
  uint64_t version;
  FrameTable table;
};
constinit Slot slots[kMaxTables] = {};
int slotsUsed = 0;  // none further up has ever been
uint64_t generation = 0;

template <typename T>
T peek(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}
template <typename T>
void poke(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

// False: it is being changed.
bool readSlot(const Slot& slot, FrameTable& table, uint64_t& version) {
  version = __atomic_load_n(&slot.version, __ATOMIC_ACQUIRE);
  const FrameTable& t = slot.table;
  table = {peek(t.begin), peek(t.end), peek(t.header), peek(t.headerSize), peek(t.readable), peek(t.readableEnd)};
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return (version & 1) == 0 && peek(slot.version) == version;
}

// False: it has changed since it was read. A free slot was taken by somebody else then, and one in use was freed.
bool changeSlot(Slot& slot, uint64_t version, const FrameTable& next) {
  if (!__atomic_compare_exchange_n(&slot.version, &version, version + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return false;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  FrameTable& t = slot.table;
  poke(t.begin, next.begin);
  poke(t.end, next.end);
  poke(t.header, next.header);
  poke(t.headerSize, next.headerSize);
  poke(t.readable, next.readable);
  poke(t.readableEnd, next.readableEnd);
  __atomic_store_n(&slot.version, version + 2, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

FrameTable frameTableOf(const dl_phdr_info& info) {
  FrameTable table;
  table.begin = UINTPTR_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    uintptr_t from = info.dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_LOAD) {
      if (from < table.begin) table.begin = from;
      if (from + p.p_memsz > table.end) table.end = from + p.p_memsz;
    } else if (p.p_type == PT_GNU_EH_FRAME) {
      table.header = reinterpret_cast<const uint8_t*>(from);
      table.headerSize = p.p_memsz;
    }
  }
  if (table.end == 0) return {};
  for (int i = 0; i < info.dlpi_phnum && table.header != nullptr; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_R) == 0) continue;
    auto from = reinterpret_cast<const uint8_t*>(info.dlpi_addr + p.p_vaddr);
    if (table.header < from || table.header >= from + p.p_memsz) continue;
    if (table.headerSize > size_t(from + p.p_memsz - table.header)) break;
    table.readable = from;
    table.readableEnd = from + p.p_memsz;
    return table;
  }
  table.header = nullptr;
  table.headerSize = 0;
  return table;
}

bool forEachFunction(const FrameTable& table, bool (*body)(const FunctionRange&, void*), void* argument) {
  if (table.header == nullptr) return true;
  SortedPairs pairs;
  if (!sortedPairsOf(table, pairs)) return false;
  uintptr_t last = 0;
  for (size_t i = 0; i < pairs.count; ++i) {
    SortedPairs::Pair pair;
    FrameEntry entry;
    if (!pairs.at(i, pair) || !readEntry(table, pair, entry) || entry.range.begin < last) return false;
    last = entry.range.begin;
    if (!body(entry.range, argument)) return true;
  }
  return pairs.complete;
}

bool findEntry(const FrameTable& table, uintptr_t pc, FrameEntry& entry) {
  SortedPairs pairs;
  if (!sortedPairsOf(table, pairs)) return false;
  SortedPairs::Pair pair;
  size_t low = 0;  // the first that begins above pc
  size_t high = pairs.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (!pairs.at(middle, pair)) return false;
    if (pair.function <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || !pairs.at(low - 1, pair) || !readEntry(table, pair, entry)) return false;
  return pc >= entry.range.begin && pc < entry.range.end;
}

bool findTable(uintptr_t pc, FrameTable& table) {
  int used = __atomic_load_n(&slotsUsed, __ATOMIC_ACQUIRE);
  uint64_t version = 0;
  for (int i = 0; i < used; ++i)
    if (readSlot(slots[i], table, version) && pc >= table.begin && pc < table.end) return true;
  return false;
}

uint64_t tablesGeneration() { return __atomic_load_n(&generation, __ATOMIC_ACQUIRE); }

void addFrameTable(const FrameTable& table) {
  if (table.header == nullptr || table.begin == 0) return;
  for (int i = 0; i < kMaxTables; ++i) {
    FrameTable now;
    uint64_t version = 0;
    if (!readSlot(slots[i], now, version) || now.begin != 0 || !changeSlot(slots[i], version, table)) continue;
    int used = peek(slotsUsed);
    while (used <= i &&
           !__atomic_compare_exchange_n(&slotsUsed, &used, i + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    break;
  }
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

void forgetFrameTables(uintptr_t begin, uintptr_t end) {
  int used = __atomic_load_n(&slotsUsed, __ATOMIC_ACQUIRE);
  for (int i = 0; i < used; ++i) {
    FrameTable now;
    uint64_t version = 0;
    if (readSlot(slots[i], now, version) && now.begin != 0 && now.begin < end && begin < now.end)
      changeSlot(slots[i], version, {});
  }
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

}  // namespace blackout::rt
