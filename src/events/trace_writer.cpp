#include "events/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY  // for a checksum state on the stack
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <functional>

#include "events/byte_stream.h"
#include "events/table_payloads.h"

namespace blackout {

namespace {

// The seal of `events`: one checksum per started block. `read` is told of each when it was read.
std::string sealOf(std::string_view events, const std::function<void(std::string_view)>& read = {}) {
  blackout_trace_seal seal{BLACKOUT_SEAL_MAGIC, (events.size() + BLACKOUT_SEAL_BLOCK - 1) / BLACKOUT_SEAL_BLOCK};
  std::string out(reinterpret_cast<const char*>(&seal), sizeof seal);
  for (std::size_t from = 0; from < events.size(); from += BLACKOUT_SEAL_BLOCK) {
    std::string_view block = events.substr(from, BLACKOUT_SEAL_BLOCK);
    std::uint64_t sum = XXH3_64bits(block.data(), block.size());
    out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    if (read) read(block);
  }
  return out;
}

// Turns a recorder's header into a sealed one. `header` is BLACKOUT_HEADER_SIZE bytes.
void sealHeader(char* header, std::string_view seal) {
  auto& h = *reinterpret_cast<blackout_trace_header*>(header);
  h.state = BLACKOUT_SEALED;
  h.checksum = 0;
  h.lock = h.next_thread = h.next_where = h.next_site = h.next_file = h.next_process = h.shared = 0;
  h.next_address = 0;
  std::fill(std::begin(h.files), std::end(h.files), blackout_trace_file{});
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, header, BLACKOUT_HEADER_SIZE);
  XXH3_64bits_update(&state, seal.data(), seal.size());
  h.checksum = XXH3_64bits_digest(&state);
}

Result<void> writeAll(int fd, std::string_view bytes, off_t at, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t n = pwrite(fd, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return fail(fmt::format("{}: can't be written: {}", path, std::strerror(n < 0 ? errno : ENOSPC)),
                  ExitCode::Inconclusive);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += n;
  }
  return {};
}

}  // namespace

struct TraceWriter::Spool {
  std::string path;
  int fd = -1;
  std::uint64_t size = 0;  // of the events in it
  Result<void> written;
  Spool() = default;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() {
    if (fd >= 0) ::close(fd);
  }
};

Result<void> TraceWriter::spoolTo(const std::string& path) {
  assert(events_.empty());
  spool_ = std::make_shared<Spool>();
  spool_->path = path;
  spool_->fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (spool_->fd < 0) return fail(fmt::format("{}: can't be created: {}", path, std::strerror(errno)));
  return {};
}

std::uint64_t TraceWriter::size() const { return events_.size() + (spool_ ? spool_->size : 0); }

void TraceWriter::appended() {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  header().committed = size();
  if (spool_ && events_.size() >= kMost) flush();
}

void TraceWriter::flush() {
  if (spool_->written)
    spool_->written =
        writeAll(spool_->fd, events_, static_cast<off_t>(BLACKOUT_HEADER_SIZE + spool_->size), spool_->path);
  spool_->size += events_.size();
  events_.clear();
}

TraceWriter::TraceWriter() : header_(BLACKOUT_HEADER_SIZE) {
  blackout_trace_header& h = header();
  std::memcpy(h.magic, BLACKOUT_TRACE_MAGIC, sizeof h.magic);
  h.version = BLACKOUT_TRACE_VERSION;
  h.header_size = BLACKOUT_HEADER_SIZE;
  h.event_size = sizeof(Event);
  h.state = BLACKOUT_RECORDING;
  h.next_thread = h.next_where = h.next_site = h.next_file = h.next_process = 1;
}

EventNo TraceWriter::event(EventKind kind, ThreadNo thread, PmAddr addr, std::uint64_t value, unsigned len,
                           StackId where) {
  Event e{static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(len), thread.value(), where.value(), addr, value};
  auto n = static_cast<EventNo>(size() / sizeof e);
  events_.append(reinterpret_cast<const char*>(&e), sizeof e);
  appended();
  return n;
}

EventNo TraceWriter::blob(EventKind kind, ThreadNo thread, PmAddr addr, std::string_view payload, unsigned len) {
  EventNo n = event(kind, thread, addr, payload.size(), len);
  events_.append(payload);
  events_.append((sizeof(Event) - payload.size() % sizeof(Event)) % sizeof(Event), '\0');
  appended();
  return n;
}

SiteNo TraceWriter::site(const Site& site) {
  SiteNo n(header().next_site++);
  blob(EventKind::Site, 0, n.value(), encodeSite(site));
  return n;
}

StackId TraceWriter::where(SiteNo site, std::span<const std::uint64_t> frames) {
  StackId n(header().next_where++);
  ByteWriter payload;
  payload.fixed(site.value());
  payload.fixed(static_cast<std::uint32_t>(frames.size()));
  for (std::uint64_t frame : frames) payload.fixed(frame);
  blob(EventKind::Where, 0, n.value(), payload.take());
  return n;
}

void TraceWriter::module(const LoadedModule& m) {
  blob(EventKind::Module, 0, m.bias, encodeModule(m), (m.instrumented ? 1U : 0U) | (m.trapped ? 2U : 0U));
}

FileNo TraceWriter::file(std::string_view path, std::uint64_t size, bool before) {
  FileNo n(header().next_file++);
  blob(EventKind::FileNew, 0, pmAddr(n, 0), path, before ? 1 : 0);
  event(EventKind::FileSize, 0, pmAddr(n, 0), size);
  if (n < BLACKOUT_MAX_FILES) {
    header().files[n.value()].size = size;
    header().files[n.value()].live = 1;
  }
  return n;
}

void TraceWriter::remove(FileNo file) {
  event(EventKind::FileUnlink, 0, pmAddr(file, 0));
  if (file < BLACKOUT_MAX_FILES) header().files[file.value()].live = 0;
}

void TraceWriter::identify(FileNo file, Identity copy, Identity original) {
  blackout_trace_file& row = header().files[file.value()];
  row.device = copy.device;
  row.inode = copy.inode;
  row.original_device = original.device;
  row.original_inode = original.inode;
}

void TraceWriter::fileData(PmAddr addr, std::string_view bytes) {
  constexpr std::size_t kPage = 4096;
  std::size_t from = 0;
  while (from < bytes.size()) {
    auto zero = [&](std::size_t at) {
      std::string_view page = bytes.substr(at, kPage);
      return page.find_first_not_of('\0') == std::string_view::npos;
    };
    if (zero(from)) {
      from += kPage;
      continue;
    }
    std::size_t to = from;
    while (to < bytes.size() && !zero(to)) to += kPage;
    to = std::min(to, bytes.size());
    blob(EventKind::FileData, 0, addr + from, bytes.substr(from, to - from));
    from = to;
  }
}

void TraceWriter::store(EventKind kind, ThreadNo thread, PmAddr addr, std::string_view bytes, StackId where) {
  while (!bytes.empty()) {
    std::size_t len = std::min<std::size_t>(8 - (addr & 7), bytes.size());
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), len);
    bytes.remove_prefix(len);
    event(kind, thread, addr, value, static_cast<unsigned>(len) | (bytes.empty() ? 0U : BLACKOUT_WIDE), where);
    addr += len;
  }
}

std::string TraceWriter::bytes() const {
  assert(!spool_);
  return std::string(header_.data(), header_.size()) + events_;
}

std::string TraceWriter::sealedBytes() const {
  assert(!spool_);
  std::string seal = sealOf(events_);
  std::vector<char> header = header_;
  sealHeader(header.data(), seal);
  return std::string(header.data(), header.size()) + events_ + seal;
}

Result<void> TraceWriter::save(const std::string& path, bool sealed) {
  if (spool_) {
    assert(path == spool_->path && !sealed);
    flush();
    if (!spool_->written) return spool_->written;
    return writeAll(spool_->fd, {header_.data(), header_.size()}, 0, path);
  }
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(fmt::format("{}: can't be created: {}", path, std::strerror(errno)));
  auto written = writeAll(fd, sealed ? sealedBytes() : bytes(), 0, path);
  ::close(fd);
  return written;
}

Result<void> appendSites(const std::string& path, std::span<const std::pair<SiteNo, Site>> sites) {
  if (sites.empty()) return {};
  TraceWriter records;
  std::size_t before = records.bytes().size();
  for (const auto& [number, site] : sites) records.blob(EventKind::Site, 0, number.value(), encodeSite(site));
  std::string bytes = records.bytes().substr(before);
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  std::uint64_t committed = 0;
  constexpr off_t kCommitted = offsetof(blackout_trace_header, committed);
  Result<void> ok;
  if (pread(fd, &committed, sizeof committed, kCommitted) != sizeof committed)
    ok = fail(fmt::format("{}: the trace is cut short inside its header", path), ExitCode::Inconclusive);
  if (ok) ok = writeAll(fd, bytes, static_cast<off_t>(BLACKOUT_HEADER_SIZE + committed), path);
  committed += bytes.size();
  if (ok) ok = writeAll(fd, {reinterpret_cast<const char*>(&committed), sizeof committed}, kCommitted, path);
  ::close(fd);
  return ok;
}

Result<void> sealTrace(const std::string& path, int waitStatus, std::uint32_t problems) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  struct Close {
    int fd;
    ~Close() { ::close(fd); }
  } closer{fd};
  std::vector<char> header(BLACKOUT_HEADER_SIZE);
  struct stat st{};
  if (fstat(fd, &st) != 0 || pread(fd, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
    return fail(fmt::format("{}: the trace is cut short inside its header", path), ExitCode::Inconclusive);
  auto& h = *reinterpret_cast<blackout_trace_header*>(header.data());
  if (h.committed % sizeof(Event) != 0 || h.committed > static_cast<std::uint64_t>(st.st_size) - BLACKOUT_HEADER_SIZE)
    return fail(fmt::format("{}: the trace is cut short", path), ExitCode::Inconclusive);

  Event end{BLACKOUT_EV_End, 0, 0, 0, 0, static_cast<std::uint64_t>(waitStatus)};
  auto at = static_cast<off_t>(BLACKOUT_HEADER_SIZE + h.committed);
  std::string_view endBytes(reinterpret_cast<const char*>(&end), sizeof end);
  if (auto ok = writeAll(fd, endBytes, at, path); !ok) return ok;
  h.committed += sizeof end;
  h.problems |= problems;
  at += static_cast<off_t>(sizeof end);
  // What a recorder reserved beyond its last event goes.
  if (ftruncate(fd, at) != 0) return fail(fmt::format("{}: {}", path, std::strerror(errno)), ExitCode::Inconclusive);

  void* base = mmap(nullptr, static_cast<std::size_t>(at), PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return fail(fmt::format("{}: {}", path, std::strerror(errno)), ExitCode::Inconclusive);
  // What was read is no memory of ours any more.
  auto forget = [&](std::string_view block) {
    constexpr std::uintptr_t kPage = 4096;
    auto begin = reinterpret_cast<std::uintptr_t>(block.data()) & -kPage;
    auto end = reinterpret_cast<std::uintptr_t>(block.data() + block.size()) & -kPage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  };
  std::string seal = sealOf({static_cast<const char*>(base) + BLACKOUT_HEADER_SIZE, h.committed}, forget);
  munmap(base, static_cast<std::size_t>(at));
  sealHeader(header.data(), seal);
  if (auto ok = writeAll(fd, seal, at, path); !ok) return ok;
  return writeAll(fd, {header.data(), header.size()}, 0, path);
}

}  // namespace blackout
