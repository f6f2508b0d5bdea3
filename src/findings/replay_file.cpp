#include "findings/replay_file.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace blackout {

namespace {

constexpr char kMagic[8] = {'B', 'L', 'K', 'R', 'P', 'L', 'A', 'Y'};
constexpr std::uint32_t kVersion = 2;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t bodySize;
  std::uint64_t sum;  // XXH3-64 of the compressed body and the size
};
static_assert(sizeof(Header) == 32);

std::uint64_t sumOf(std::string_view packed, std::uint64_t bodySize) {
  return XXH3_64bits_withSeed(packed.data(), packed.size(), bodySize);
}

class Writer {
 public:
  template <class T>
  void number(T v) {
    auto wide = static_cast<std::uint64_t>(v);
    out_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  template <class Tag, class Rep>
  void number(Id<Tag, Rep> id) {
    number(id.value());
  }
  void text(std::string_view s) {
    number(s.size());
    out_.append(s);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Every read is bounded; the first one that does not fit makes all later ones empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number(std::uint64_t max = UINT64_MAX) {
    std::uint64_t v = 0;
    if (rest_.size() < sizeof v) {
      ok_ = false;
      rest_ = {};
      return 0;
    }
    std::memcpy(&v, rest_.data(), sizeof v);
    rest_.remove_prefix(sizeof v);
    if (v <= max) return v;
    ok_ = false;
    return 0;
  }
  std::string text() {
    std::uint64_t size = number(rest_.size());
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string s(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return s;
  }
  // Of things that take at least eight bytes each.
  std::uint64_t count() { return number(rest_.size() / 8); }
  bool finished() const { return ok_ && rest_.empty(); }
  // What was read makes no sense.
  void reject() { ok_ = false; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

void putOutcome(Writer& w, const Outcome& o) {
  w.number(static_cast<std::uint8_t>(o.ending));
  w.number(static_cast<std::uint32_t>(o.code));
  w.text(o.text);
  w.text(o.output);
  w.number(o.outputCut ? 1 : 0);
  w.number(o.faultAddress);
  w.number(o.frames.size());
  for (std::uint64_t f : o.frames) w.number(f);
  w.text(encodeHistory(o.history));
}

Outcome getOutcome(Reader& r) {
  Outcome o;
  o.ending = static_cast<Ending>(r.number(static_cast<std::uint8_t>(Ending::Bound)));
  o.code = static_cast<int>(r.number(UINT32_MAX));
  o.text = r.text();
  o.output = r.text();
  o.outputCut = r.number(1) != 0;
  o.faultAddress = r.number();
  o.frames.resize(r.count());
  for (std::uint64_t& f : o.frames) f = r.number();
  auto history = decodeHistory(r.text());
  if (history)
    o.history = std::move(*history);
  else
    r.reject();
  return o;
}

// The body, of which the header states the size: neither more nor less is taken.
Result<std::string> unpack(std::string_view packed, std::uint64_t size, const std::string& name) {
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  std::string body;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0 || (out.pos == 0 && left != 0 && in.pos == in.size) || body.size() + out.pos > size)
      return fail(fmt::format("{}: the replay file is damaged; make it again with 'blackout check'", name));
    body.append(chunk, 0, out.pos);
  }
  if (body.size() != size || in.pos != in.size)
    return fail(fmt::format("{}: the replay file is damaged; make it again with 'blackout check'", name));
  return body;
}

}  // namespace

std::string packReplay(std::string_view body) {
  std::string packed(ZSTD_compressBound(body.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), 3));
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = kVersion;
  h.bodySize = body.size();
  h.sum = sumOf(packed, h.bodySize);
  return std::string(reinterpret_cast<const char*>(&h), sizeof h) + packed;
}

std::string encodeReplay(const ReplayFile& file) {
  Writer w;
  w.text(file.blackout);
  w.number(file.command.size());
  for (const std::string& word : file.command) w.text(word);
  w.text(file.folder);
  w.number(file.pools.size());
  for (const PoolPattern& p : file.pools) {
    w.text(p.text);
    w.number(p.glob ? 1 : 0);
  }
  w.text(file.input);
  w.text(file.model);
  w.text(file.trace);
  w.number(file.at);
  w.number(file.stepLimit);
  w.number(file.seconds);
  w.text(file.runtimeOptions);
  w.number(file.exitCodeCounts ? 1 : 0);
  putOutcome(w, file.expected);
  w.text(file.finding);
  return packReplay(w.take());
}

Result<ReplayFile> decodeReplay(std::string_view bytes, const std::string& name) {
  Header h{};
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return fail(fmt::format("{}: not a replay file; name one that 'blackout check' wrote", name));
  if (bytes.size() < sizeof h) return fail(fmt::format("{}: the replay file is cut short", name));
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.version != kVersion)
    return fail(
        fmt::format("{}: a replay file of format version {}, this is version {}; make it again with 'blackout check'",
                    name, h.version, kVersion));
  std::string_view packed = bytes.substr(sizeof h);
  if (h.reserved != 0 || h.bodySize > kMaxReplayBody || sumOf(packed, h.bodySize) != h.sum)
    return fail(fmt::format("{}: the replay file is damaged or cut short; make it again with 'blackout check'", name));
  auto body = unpack(packed, h.bodySize, name);
  if (!body) return tl::unexpected(body.error());

  Reader r(*body);
  ReplayFile file;
  file.blackout = r.text();
  file.command.resize(r.count());
  for (std::string& word : file.command) word = r.text();
  file.folder = r.text();
  file.pools.resize(r.count());
  for (PoolPattern& p : file.pools) {
    p.text = r.text();
    p.glob = r.number(1) != 0;
  }
  file.input = r.text();
  file.model = r.text();
  file.trace = r.text();
  file.at = static_cast<EventNo>(r.number(UINT32_MAX));
  file.stepLimit = r.number();
  file.seconds = static_cast<std::uint32_t>(r.number(UINT32_MAX));
  file.runtimeOptions = r.text();
  file.exitCodeCounts = r.number(1) != 0;
  file.expected = getOutcome(r);
  file.finding = r.text();
  if (!r.finished() || file.command.empty())
    return fail(fmt::format("{}: the replay file is damaged; make it again with 'blackout check'", name));
  return file;
}

Result<ReplayFile> openReplay(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(fmt::format("{}: a folder; name a replay file in it that 'blackout check' wrote", path));
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad())
    return fail(fmt::format("{}: {}; name a replay file that 'blackout check' wrote", path, std::strerror(errno)));
  return decodeReplay(bytes, path);
}

}  // namespace blackout
