#include "infer/counting_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <vector>

#include "events/byte_stream.h"
#include "events/saved_file.h"

namespace blackout {

namespace {

namespace fs = std::filesystem;

constexpr SavedFormat kFormat{"BLKCOUNT", 1, 16 << 20, "cache file", "remove it", "remove it"};
constexpr std::uint64_t kMostRule = static_cast<std::uint64_t>(CountingRule::RingLength);
constexpr std::uint64_t kMostProof = static_cast<std::uint64_t>(ReadProof::Unknown);

void put(ByteWriter& out, const Source& s) {
  out.number(s.id);
  out.number(s.chain.size());
  for (const Place& p : s.chain) {
    out.text(p.function);
    out.text(p.file);
    out.number(p.line);
    out.number(p.column);
    out.number(p.discriminator);
  }
}

void take(ByteReader& in, Source& s) {
  s.id = in.number();
  s.chain.resize(in.count(5));
  for (Place& p : s.chain) {
    p.function = in.text();
    p.file = in.text();
    p.line = in.small();
    p.column = in.small();
    p.discriminator = in.small();
  }
}

void put(ByteWriter& out, const CountedRead& r) {
  put(out, r.at);
  out.number(static_cast<std::uint64_t>(r.proof));
  out.text(r.why);
}

void take(ByteReader& in, CountedRead& r) {
  take(in, r.at);
  r.proof = static_cast<ReadProof>(in.number(kMostProof));
  r.why = in.text();
}

// Lists of these are put and taken by name.
void put(ByteWriter& out, const CountingProperty& p);
void put(ByteWriter& out, const DroppedPair& d);
void take(ByteReader& in, CountingProperty& p);
void take(ByteReader& in, DroppedPair& d);

template <class T>
void put(ByteWriter& out, const std::vector<T>& list) {
  out.number(list.size());
  for (const T& one : list) put(out, one);
}

template <class T>
void take(ByteReader& in, std::vector<T>& list) {
  list.resize(in.count(2));
  for (T& one : list) take(in, one);
}

void put(ByteWriter& out, const CountingProperty& p) {
  out.number(static_cast<std::uint64_t>(p.rule));
  for (const FieldKey* key : {&p.array, &p.counter, &p.start, &p.pointer}) out.text(*key);
  out.fixed(p.constant);
  out.fixed(p.mask);
  out.fixed(p.counterAt);
  out.number(p.arrayBytes);
  out.number(p.notZero ? 1 : 0);
  put(out, p.reads);
  for (std::size_t n : {p.proven, p.refuted, p.unknown}) out.number(n);
  put(out, p.arrayWrites);
  put(out, p.pointerWrites);
  put(out, p.counterWrites);
}

void take(ByteReader& in, CountingProperty& p) {
  p.rule = static_cast<CountingRule>(in.number(kMostRule));
  for (FieldKey* key : {&p.array, &p.counter, &p.start, &p.pointer}) *key = in.text();
  p.constant = in.fixed<std::int64_t>();
  p.mask = in.fixed<std::int64_t>();
  p.counterAt = in.fixed<std::int64_t>();
  p.arrayBytes = in.number();
  p.notZero = in.flag();
  take(in, p.reads);
  for (std::size_t* n : {&p.proven, &p.refuted, &p.unknown}) *n = in.number();
  take(in, p.arrayWrites);
  take(in, p.pointerWrites);
  take(in, p.counterWrites);
}

void put(ByteWriter& out, const DroppedPair& d) {
  out.text(d.array);
  out.text(d.counter);
  out.text(d.reason);
  put(out, d.reads);
}

void take(ByteReader& in, DroppedPair& d) {
  d.array = in.text();
  d.counter = in.text();
  d.reason = in.text();
  take(in, d.reads);
}

// Of the program that runs here.
std::string ownBuildId() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          const auto& segment = info->dlpi_phdr[k];
          if (segment.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          const char* end = at + segment.p_memsz;
          auto up = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* name = at + sizeof note;
            const char* text = name + up(note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
              static_cast<std::string*>(to)->assign(text, note.n_descsz);
            at = text + up(note.n_descsz);
          }
        }
        return 1;  // the program is the first; its libraries don't count
      },
      &id);
  return id;
}

}  // namespace

std::string toBytes(const CountingProperties& counting) {
  ByteWriter out;
  put(out, counting.properties);
  put(out, counting.dropped);
  out.number(counting.arrays);
  out.number(counting.reads);
  out.number(counting.questions);
  return out.take();
}

std::optional<CountingProperties> fromBytes(std::string_view bytes) {
  ByteReader in(bytes);
  CountingProperties counting;
  take(in, counting.properties);
  take(in, counting.dropped);
  counting.arrays = in.number();
  counting.reads = in.number();
  counting.questions = in.number();
  if (!in.finished()) return std::nullopt;
  return counting;
}

std::string cacheKey(const ProgramBitcode& program, bool all) {
  const std::string tool = ownBuildId();
  if (tool.empty()) return {};
  ByteWriter asked;
  auto add = [&](std::string_view text) {
    const XXH128_hash_t sum = XXH3_128bits(text.data(), text.size());
    asked.fixed(sum.high64);
    asked.fixed(sum.low64);
  };
  add(tool);
  add(all ? "all" : "persistent");
  for (const KeptUnit& unit : program.units) {
    add(unit.source);
    add(unit.bitcode);
  }
  const std::string sums = asked.take();
  const XXH128_hash_t sum = XXH3_128bits(sums.data(), sums.size());
  std::string key;
  for (std::uint64_t part : {sum.high64, sum.low64})
    for (int bit = 60; bit >= 0; bit -= 4) key += "0123456789abcdef"[part >> bit & 15];
  return key;
}

std::optional<CountingCache> CountingCache::ofUser() {
  // The standard of desktops: a path that is not absolute is none.
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    return CountingCache(std::string(given) + "/blackout");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return CountingCache(std::string(home) + "/.cache/blackout");
  return std::nullopt;
}

// Nobody else may have written what is there.
bool CountingCache::isOurs() const {
  struct stat status{};
  return lstat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0;
}

std::optional<CountingProperties> CountingCache::find(const std::string& key) const {
  if (key.empty() || !isOurs()) return std::nullopt;
  const std::string path = pathOf(key);
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      static_cast<std::uint64_t>(status.st_size) > kMostBytes)
    return std::nullopt;
  auto bytes = readWholeFile(path);
  if (!bytes) return std::nullopt;
  auto body = unpackFile(kFormat, *bytes, path);
  if (!body) return std::nullopt;
  auto counting = fromBytes(*body);
  // The files that are used stay longest.
  if (counting) utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return counting;
}

void CountingCache::makeRoom(std::uint64_t size) const {
  std::vector<std::tuple<fs::file_time_type, std::string, std::uint64_t>> files;
  std::uint64_t all = size;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // by another check at the same time
    const std::uint64_t bytes = at->file_size(gone);
    const auto time = at->last_write_time(gone);
    if (gone || !at->path().filename().native().starts_with("counting-")) continue;
    files.emplace_back(time, at->path().native(), bytes);
    all += bytes;
  }
  std::sort(files.begin(), files.end());
  std::size_t left = files.size();
  for (const auto& [time, path, bytes] : files) {
    if (left < kMostFiles && all <= kMostBytes) return;
    unlink(path.c_str());
    --left;
    all -= bytes;
  }
}

void CountingCache::keep(const std::string& key, const CountingProperties& counting) const {
  // What was cut short by its time may come out better the next time.
  if (key.empty() || !counting.incomplete.empty()) return;
  std::string body = toBytes(counting);
  if (body.size() > kFormat.largestBody) return;
  auto file = packFile(kFormat, body);
  if (!file) return;
  std::error_code error;
  fs::create_directory(fs::path(folder_).parent_path(), error);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return;
  if (!isOurs()) return;
  makeRoom(file->size());
  // Under another name first: a crash, or another check, leaves a whole file or none.
  std::string work = folder_ + "/counting-new-XXXXXX";
  const int fd = mkostemp(work.data(), O_CLOEXEC);
  if (fd < 0) return;
  std::size_t done = 0;
  for (ssize_t n = 1; done < file->size() && n > 0; done += n > 0 ? static_cast<std::size_t>(n) : 0)
    n = write(fd, file->data() + done, file->size() - done);
  if (close(fd) != 0 || done < file->size() || rename(work.c_str(), pathOf(key).c_str()) != 0) unlink(work.c_str());
}

}  // namespace blackout
