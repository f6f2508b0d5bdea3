#include "runtime/trap/functions.h"

#include <elf.h>
#include <string.h>

namespace blackout::rt {

namespace {

struct Exports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* gnuHash = nullptr;
  const uint32_t* hash = nullptr;
};

Exports exportsOf(uintptr_t base, const ElfW(Dyn) * dynamic) {
  Exports exports;
  for (auto* d = dynamic; d->d_tag != DT_NULL; ++d) {
    // The loader has made addresses of these, except in files that it must not write to.
    uintptr_t p = d->d_un.d_ptr < base ? base + d->d_un.d_ptr : d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) exports.symbols = reinterpret_cast<const ElfW(Sym)*>(p);
    if (d->d_tag == DT_STRTAB) exports.names = reinterpret_cast<const char*>(p);
    if (d->d_tag == DT_GNU_HASH) exports.gnuHash = reinterpret_cast<const uint32_t*>(p);
    if (d->d_tag == DT_HASH) exports.hash = reinterpret_cast<const uint32_t*>(p);
  }
  return exports;
}
Exports exportsOf(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return exportsOf(info.dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr));
  return {};
}

bool sameName(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Only the hash tables know how many symbols there are.
uint32_t countOf(const Exports& exports) {
  if (exports.symbols == nullptr) return 0;
  if (exports.hash != nullptr) return exports.hash[1];
  if (exports.gnuHash == nullptr) return 0;
  uint32_t buckets = exports.gnuHash[0];
  uint32_t first = exports.gnuHash[1];
  const uint32_t* bucket = exports.gnuHash + 4 + exports.gnuHash[2] * (sizeof(uintptr_t) / 4);
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

// The symbol of a name, by the hash table: a few words are read instead of every name. Null: none.
const ElfW(Sym) * symbolOf(const Exports& exports, const char* name) {
  uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + uint8_t(*c);
  const uint32_t buckets = exports.gnuHash[0];
  const uint32_t first = exports.gnuHash[1];
  const uint32_t words = exports.gnuHash[2];
  if (buckets == 0 || words == 0) return nullptr;
  const auto* bloom = reinterpret_cast<const uint64_t*>(exports.gnuHash + 4);
  uint64_t both = (uint64_t{1} << (hash % 64)) | (uint64_t{1} << ((hash >> (exports.gnuHash[3] % 32)) % 64));
  if ((bloom[(hash / 64) % words] & both) != both) return nullptr;
  const uint32_t* bucket = exports.gnuHash + 4 + 2 * size_t{words};
  const uint32_t* chain = bucket + buckets;
  for (uint32_t i = bucket[hash % buckets]; i >= first && i != 0; ++i) {
    if ((chain[i - first] | 1) == (hash | 1) && sameName(exports.names + exports.symbols[i].st_name, name))
      return exports.symbols + i;
    if ((chain[i - first] & 1) != 0) break;
  }
  return nullptr;
}

bool mayExport(const Exports& exports, const char* name) {
  return exports.gnuHash == nullptr || exports.symbols == nullptr || symbolOf(exports, name) != nullptr;
}

bool executable(const dl_phdr_info& info, const FunctionRange& f) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    uintptr_t begin = info.dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0 && (p.p_flags & PF_R) != 0 && f.begin >= begin &&
        f.begin < f.end && f.end <= begin + p.p_filesz)
      return true;
  }
  return false;
}

// Almost sorted already.
void sortByAddress(MappedArray<FunctionRange>& functions) {
  size_t gap = 1;
  while (gap < functions.size() / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (size_t i = gap; i < functions.size(); ++i) {
      FunctionRange f = functions[i];
      size_t j = i;
      for (; j >= gap && functions[j - gap].begin > f.begin; j -= gap) functions[j] = functions[j - gap];
      functions[j] = f;
    }
}

struct Gathered {
  const dl_phdr_info& info;
  MappedArray<FunctionRange>& functions;
  bool memory = true;
};

}  // namespace

const FunctionRange* functionAt(MappedArray<FunctionRange>& functions, uintptr_t pc) {
  size_t low = 0;
  size_t high = functions.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (functions[middle].end <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low < functions.size() && functions[low].begin <= pc ? &functions[low] : nullptr;
}

FunctionRange sanitizerCode(const dl_phdr_info& info) {
  FunctionRange all{UINTPTR_MAX, 0};
  Exports exports = exportsOf(info);
  // Every sanitizer's runtime has this one.
  if (exports.names == nullptr || !mayExport(exports, "__sanitizer_set_report_path")) return all;
  uint32_t count = countOf(exports);
  for (uint32_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = exports.symbols[i];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = exports.names + symbol.st_name;
    static const char* const kPrefixes[] = {"__asan_", "__lsan_", "__tsan_", "__msan_", "__ubsan_", "__sanitizer_"};
    // Functions that a program may define itself.
    static const char* const kPrograms[] = {"_default_options", "_default_suppressions", "_is_turned_off", "_on_"};
    bool theirs = false;
    for (const char* prefix : kPrefixes) theirs = theirs || strncmp(name, prefix, strlen(prefix)) == 0;
    for (const char* part : kPrograms) theirs = theirs && strstr(name, part) == nullptr;
    if (!theirs) continue;
    uintptr_t begin = info.dlpi_addr + symbol.st_value;
    if (begin < all.begin) all.begin = begin;
    if (begin + symbol.st_size > all.end) all.end = begin + symbol.st_size;
  }
  return all;
}

uintptr_t exportedFunction(const link_map& file, const char* name) {
  Exports exports = exportsOf(file.l_addr, file.l_ld);
  if (exports.gnuHash == nullptr || exports.symbols == nullptr) return 0;
  const ElfW(Sym)* symbol = symbolOf(exports, name);
  return symbol != nullptr && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF
             ? file.l_addr + symbol->st_value
             : 0;
}

bool exportedPlaces(const dl_phdr_info& info, MappedArray<uintptr_t>& places) {
  Exports exports = exportsOf(info);
  uint32_t count = countOf(exports);
  for (uint32_t i = 0; i < count; ++i)
    if (exports.symbols[i].st_shndx != SHN_UNDEF && !places.push(info.dlpi_addr + exports.symbols[i].st_value))
      return false;
  return true;
}

bool functionsOf(const dl_phdr_info& info, const FrameTable& table, MappedArray<FunctionRange>& functions) {
  Gathered gathered{info, functions};
  // A damaged table is good as far as it could be read.
  forEachFunction(
      table,
      [](const FunctionRange& f, void* argument) {
        auto& g = *static_cast<Gathered*>(argument);
        bool overlaps = g.functions.size() != 0 && f.begin < g.functions.end()[-1].end;
        if (!overlaps && executable(g.info, f)) g.memory = g.functions.push(f);
        return g.memory;
      },
      &gathered);
  if (!gathered.memory) return false;

  MappedArray<FunctionRange> others;
  Exports exports = exportsOf(info);
  uint32_t count = countOf(exports);
  for (uint32_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = exports.symbols[i];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
    uintptr_t begin = info.dlpi_addr + symbol.st_value;
    FunctionRange f{begin, begin + symbol.st_size};
    if (functionAt(functions, f.begin) != nullptr || functionAt(functions, f.end - 1) != nullptr) continue;
    if (executable(info, f) && !others.push(f)) return false;
  }
  if (others.size() == 0) return true;
  for (const FunctionRange& f : others)
    if (!functions.push(f)) return false;
  sortByAddress(functions);
  // Two names of one function, or one inside another.
  size_t kept = 1;
  for (size_t i = 1; i < functions.size(); ++i)
    if (functions[i].begin >= functions[kept - 1].end) functions[kept++] = functions[i];
  functions.shrink(kept);
  return true;
}

}  // namespace blackout::rt
