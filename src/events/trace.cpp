#include "events/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY  // for a checksum state on the stack
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "events/byte_stream.h"
#include "events/table_payloads.h"
#include "events/value.h"

namespace blackout {

namespace {

constexpr std::size_t kMaxPathLength = 4096;
// Of a trace that is read from its beginning to its end: after so much of it, what was read is let go.
constexpr std::size_t kWindow = std::size_t{16} << 20;
constexpr std::size_t kMayGrow = std::size_t{16} << 20;

}  // namespace

struct Trace::Mapping {
  void* base = nullptr;
  std::size_t size = 0;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (base != nullptr) munmap(base, size);
  }
};

Trace::Trace() = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

void Trace::forgetPages() const {
  if (mapping_ != nullptr && mapping_->base != nullptr) madvise(mapping_->base, mapping_->size, MADV_DONTNEED);
}

tl::unexpected<Error> Trace::damaged(EventNo n, std::string_view what) const {
  return fail(fmt::format("{}: the trace is damaged at event {} ({}); record it again", name_, n.value(), what));
}

Result<Trace> Trace::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(fmt::format("{}: {}; name a trace that 'blackout record' wrote", path, std::strerror(errno)));
  struct stat st{};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    ::close(fd);
    return fail(fmt::format("{}: not a file; name a trace that 'blackout record' wrote", path));
  }
  Trace trace;
  trace.name_ = path;
  trace.mapping_ = std::make_unique<Mapping>();
  // With addresses behind it for what readOn() finds.
  auto size = static_cast<std::size_t>(st.st_size);
  trace.mapping_->size = size + kMayGrow;
  if (st.st_size > 0) {
    void* base = mmap(nullptr, trace.mapping_->size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
      int error = errno;
      ::close(fd);
      return fail(fmt::format("{}: can't be mapped: {}", path, std::strerror(error)));
    }
    trace.mapping_->base = base;
    trace.bytes_ = {static_cast<const std::byte*>(base), size};
  }
  ::close(fd);
  if (auto loaded = trace.load(); !loaded) return tl::unexpected(loaded.error());
  return trace;
}

Result<Trace> Trace::fromBytes(std::span<const std::byte> bytes, std::string name) {
  Trace trace;
  trace.name_ = std::move(name);
  trace.bytes_ = bytes;
  if (auto loaded = trace.load(); !loaded) return tl::unexpected(loaded.error());
  return trace;
}

Result<void> Trace::load(bool asSealed) {
  if (bytes_.size() < sizeof BLACKOUT_TRACE_MAGIC - 1 ||
      std::memcmp(bytes_.data(), BLACKOUT_TRACE_MAGIC, sizeof BLACKOUT_TRACE_MAGIC - 1) != 0)
    return fail(fmt::format("{}: not a Blackout trace; name a file that 'blackout record' wrote", name_));
  if (bytes_.size() < BLACKOUT_HEADER_SIZE)
    return fail(fmt::format("{}: the trace is cut short inside its header; record it again", name_));
  header_ = reinterpret_cast<const blackout_trace_header*>(bytes_.data());
  if (header_->version != BLACKOUT_TRACE_VERSION)
    return fail(fmt::format("{}: a trace of format version {}, this is version {}; record it again", name_,
                            header_->version, BLACKOUT_TRACE_VERSION));
  if (header_->header_size != BLACKOUT_HEADER_SIZE || header_->event_size != sizeof(Event) ||
      (header_->state != BLACKOUT_RECORDING && header_->state != BLACKOUT_SEALED) ||
      // Only a sealed trace has a checksum: one that lost its state must not pass for a growing one.
      (header_->state == BLACKOUT_RECORDING && header_->checksum != 0))
    return fail(fmt::format("{}: the trace's header is damaged; record it again", name_));
  // A growing trace: all bytes before `committed` were written before it was raised.
  std::uint64_t committed = __atomic_load_n(&header_->committed, __ATOMIC_ACQUIRE);
  if (committed % sizeof(Event) != 0 || committed > bytes_.size() - BLACKOUT_HEADER_SIZE)
    return fail(
        fmt::format("{}: the trace is cut short: its header promises {} bytes of events, {} are there; "
                    "record it again",
                    name_, committed, bytes_.size() - BLACKOUT_HEADER_SIZE));
  if (committed / sizeof(Event) >= UINT32_MAX)
    return fail(fmt::format("{}: the trace has more than 4 billion events; record a shorter run", name_));
  events_ = reinterpret_cast<const Event*>(bytes_.data() + BLACKOUT_HEADER_SIZE);
  EventNo from = end_;
  end_ = static_cast<EventNo>(committed / sizeof(Event));
  if (from > end_) return fail(fmt::format("{}: the trace became shorter while it was read; record it again", name_));
  if (header_->state == BLACKOUT_SEALED && asSealed)
    if (auto ok = checkSeal(); !ok) return ok;
  return checkEvents(from);
}

Result<void> Trace::readOn() {
  struct stat st{};
  if (mapping_ == nullptr || stat(name_.c_str(), &st) != 0 || static_cast<std::size_t>(st.st_size) > mapping_->size) {
    auto again = open(name_);
    if (!again) return tl::unexpected(again.error());
    *this = std::move(*again);
    return {};
  }
  bytes_ = {static_cast<const std::byte*>(mapping_->base), static_cast<std::size_t>(st.st_size)};
  return load(false);
}

Result<void> Trace::checkSeal() const {
  auto broken = [&](std::string_view what) {
    return fail(fmt::format("{}: the trace is damaged ({}); record it again", name_, what));
  };
  std::size_t begin = BLACKOUT_HEADER_SIZE + std::size_t{end_.value()} * sizeof(Event);
  std::size_t left = bytes_.size() - begin;
  blackout_trace_seal seal{};
  if (left < sizeof seal) return broken("its checksums are missing");
  std::memcpy(&seal, bytes_.data() + begin, sizeof seal);
  std::size_t eventBytes = std::size_t{end_.value()} * sizeof(Event);
  std::size_t blocks = (eventBytes + BLACKOUT_SEAL_BLOCK - 1) / BLACKOUT_SEAL_BLOCK;
  if (seal.magic != BLACKOUT_SEAL_MAGIC || seal.count != blocks || left != sizeof seal + blocks * 8)
    return broken("its checksums have the wrong size");
  // The header with a checksum of 0, then the seal.
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  blackout_trace_header copy;
  std::memcpy(&copy, header_, sizeof copy);
  copy.checksum = 0;
  XXH3_64bits_update(&state, &copy, sizeof copy);
  XXH3_64bits_update(&state, bytes_.data() + sizeof copy, BLACKOUT_HEADER_SIZE - sizeof copy);
  XXH3_64bits_update(&state, bytes_.data() + begin, left);
  if (XXH3_64bits_digest(&state) != header_->checksum) return broken("the header's checksum differs");
  for (std::size_t b = 0; b < blocks; ++b) {
    std::size_t from = b * BLACKOUT_SEAL_BLOCK;
    std::size_t size = std::min<std::size_t>(BLACKOUT_SEAL_BLOCK, eventBytes - from);
    std::uint64_t expected = 0;
    std::memcpy(&expected, bytes_.data() + begin + sizeof seal + b * 8, 8);
    if (XXH3_64bits(bytes_.data() + BLACKOUT_HEADER_SIZE + from, size) != expected)
      return broken(
          fmt::format("the checksum of events {} to {} differs", from / sizeof(Event), (from + size) / sizeof(Event)));
    if ((from + size) % kWindow == 0) forgetPages();
  }
  forgetPages();
  return {};
}

Result<void> Trace::checkPiece(EventNo n) const {
  const Event& e = (*this)[n];
  unsigned len = bytesOf(e);
  if (len < 1 || len > 8) return damaged(n, "a store of no possible size");
  if ((e.addr & 7) + len > 8) return damaged(n, "a store across two 8-byte units");
  if (len < 8 && (e.value >> (8 * len)) != 0) return damaged(n, "a store with more bytes than its size");
  if ((e.len & BLACKOUT_JOINED) != 0) {
    // The halves of a 16-byte store: aligned, adjacent, of one thread.
    const Event* other = n + 1 < end_ ? &(*this)[n + 1] : nullptr;
    if (len != 8 || (e.addr & 15) != 0 || other == nullptr || other->kind != e.kind || bytesOf(*other) != 8 ||
        other->addr != e.addr + 8 || other->thread != e.thread || (other->len & BLACKOUT_JOINED) != 0)
      return damaged(n, "half of a 16-byte store");
  }
  return {};
}

Result<void> Trace::checkEvents(EventNo from) {
  if (from == 0) {
    sites_.resize(1);
    callStacks_.resize(1);
    files_.resize(1);
    sizes_.resize(1);
  }
  std::uint64_t count = 0;
  EventNo n = from;
  for (; n < end_; ++count) {
    const Event& e = (*this)[n];
    EventGroup group = groupOf(e);
    if (group == EventGroup::None) return damaged(n, fmt::format("no event kind {}", e.kind));
    std::uint64_t slots = 1;
    if (hasPayload(e)) {
      if (e.value > std::uint64_t{end_ - n - 1U} * sizeof(Event)) return damaged(n, "a payload longer than the trace");
      slots = slotsOf(e);
    }
    if (!callStacks_.has(stackOf(e))) return damaged(n, "it refers to a place that is not in the trace");
    if (!threads_[e.thread]) {
      if (e.thread != 0) threads_.set(e.thread);
      lastThread_ = std::max(lastThread_, threadOf(e));
    }
    ++counts_[e.kind];
    // Nearly all events are these.
    if (group == EventGroup::Store) {
      if (auto ok = checkPiece(n); !ok) return ok;
      if (!inFile(e.addr, bytesOf(e))) return damaged(n, "a store outside its file");
    } else if (group == EventGroup::Flush) {
      if (!inTable(e.addr)) return damaged(n, "a flush of no file");
    } else if (group != EventGroup::Fence) {
      if (isRare(group)) rare_.push_back(n);
      if (auto ok = checkRest(n, group); !ok) return ok;
    }
    n += static_cast<std::uint32_t>(slots);
  }
  eventCount_ += count;
  return {};
}

Result<void> Trace::checkRest(EventNo n, EventGroup group) {
  const Event& e = (*this)[n];
  // A range of `value` bytes stays among the addresses of one file.
  auto inAddresses = [&] { return e.value <= BLACKOUT_MAX_FILE_SIZE - offsetOf(e.addr); };
  switch (group) {
    case EventGroup::Load:
      if (!inTable(e.addr)) return damaged(n, "a load from no file");
      if (kindOf(e) == EventKind::LoadRange && !inAddresses()) return damaged(n, "a load past any file");
      break;
    case EventGroup::Outside:
      if (kindOf(e) == EventKind::StoreOutside && (!inTable(e.addr) || bytesOf(e) < 1 || bytesOf(e) > 8))
        return damaged(n, "a store to no mapping");
      break;
    case EventGroup::Store:
    case EventGroup::Flush:
    case EventGroup::Fence:
    case EventGroup::Lock:
    case EventGroup::Thread:
    case EventGroup::Control:
    case EventGroup::Trouble:
      break;
    case EventGroup::Sync:
      if (kindOf(e) != EventKind::SyncStart && !inTable(e.addr)) return damaged(n, "a sync of no file");
      if (kindOf(e) == EventKind::Msync && !inAddresses()) return damaged(n, "a sync past any file");
      break;
    case EventGroup::Mark:
      switch (kindOf(e)) {
        case EventKind::Discard:
        case EventKind::Ignore:
        case EventKind::CommitVar:
        case EventKind::TxIgnore:
          if (!inTable(e.addr) || !inAddresses()) return damaged(n, "a range outside any file");
          break;
        case EventKind::CommitRange:
        case EventKind::TxAdd:
        case EventKind::TxRemove: {
          if (e.value != sizeof(OwnedRange)) return damaged(n, "a range without its size");
          auto [size, owner] = range(n);
          bool variable = kindOf(e) != EventKind::CommitRange || (fileOf(owner) != 0 && files_.has(fileOf(owner)));
          if (!inTable(e.addr) || size > BLACKOUT_MAX_FILE_SIZE - offsetOf(e.addr) || !variable)
            return damaged(n, "a range outside any file");
          break;
        }
        case EventKind::OpValues:
          if (e.len > BLACKOUT_VALUES_RESULTS || !areValues(payload(n)))
            return damaged(n, "values of no possible shape");
          break;
        default:
          break;
      }
      break;
    case EventGroup::Map:
      if (!inTable(e.addr)) return damaged(n, "a mapping of no file");
      if (kindOf(e) == EventKind::Map && e.value != sizeof(MappedAt))
        return damaged(n, "a mapping without its address");
      if (kindOf(e) == EventKind::Unmap && !inAddresses()) return damaged(n, "an unmapping past any file");
      break;
    case EventGroup::File:
      if (kindOf(e) == EventKind::FileNew) {
        if (fileOf(e.addr) != files_.endId() || offsetOf(e.addr) != 0 || files_.size() >= BLACKOUT_MAX_FILES)
          return damaged(n, "a pool file out of turn");
        if (e.value > kMaxPathLength) return damaged(n, "a pool file's name too long");
        files_.push_back({fileOf(e.addr), std::string(payload(n)), (e.len & 1) != 0, false, n});
        sizes_.push_back(0);
        break;
      }
      if (!inTable(e.addr)) return damaged(n, "no such pool file");
      if (kindOf(e) == EventKind::FileSize) {
        if (e.value > BLACKOUT_MAX_FILE_SIZE) return damaged(n, "a pool file of impossible size");
        sizes_[fileOf(e.addr)] = e.value;
      } else if (kindOf(e) == EventKind::FileRename) {
        if (e.value > kMaxPathLength) return damaged(n, "a pool file's name too long");
        files_[fileOf(e.addr)].path = payload(n);
      } else if (kindOf(e) == EventKind::FileUnlink) {
        files_[fileOf(e.addr)].removed = true;
      } else if (!inFile(e.addr, e.value)) {
        return damaged(n, "content outside its file");
      }
      break;
    case EventGroup::Table:
      if (auto ok = readTable(n); !ok) return ok;
      break;
    case EventGroup::None:
      break;
  }
  return {};
}

Result<void> Trace::readTable(EventNo n) {
  const Event& e = (*this)[n];
  std::string_view bytes = payload(n);
  ByteReader in(bytes);
  if (kindOf(e) == EventKind::Module) {
    LoadedModule m;
    m.bias = e.addr;
    m.begin = in.fixed<std::uint64_t>();
    m.end = in.fixed<std::uint64_t>();
    m.path = in.terminated();
    m.instrumented = (e.len & 1) != 0;
    m.trapped = (e.len & 2) != 0;
    if (!in.ok()) return damaged(n, "a program file's record");
    modules_.push_back(std::move(m));
    return {};
  }
  if (kindOf(e) == EventKind::Patched) {
    auto patched = in.fixed<std::uint32_t>();
    in.fixed<std::uint32_t>();  // of these by a jump
    auto unproved = in.fixed<std::uint32_t>();
    if (!in.ok() || modules_.empty() || modules_.back().begin != e.addr)
      return damaged(n, "a record of replaced instructions");
    modules_.back().patched = patched;
    modules_.back().unproved = unproved;
    return {};
  }
  auto room = [&](auto& table) {
    // Numbers are handed out one by one and a row takes two slots or more: a number beyond the slots
    // is damage, and the tables stay as small as the file.
    if (e.addr == 0 || e.addr > end_.value()) return false;
    if (e.addr >= table.size()) table.resize(e.addr + 1);
    return true;
  };
  if (kindOf(e) == EventKind::Site) {
    auto site = decodeSite(bytes);
    if (!site || !room(sites_)) return damaged(n, "a site's record");
    sites_[SiteNo(e.addr)] = std::move(*site);
    return {};
  }
  CallStack w;
  w.site = SiteNo(in.fixed<std::uint32_t>());
  auto count = in.fixed<std::uint32_t>();
  if (!in.ok() || in.left() / 8 < count || w.site == 0 || !sites_.has(w.site) || !room(callStacks_))
    return damaged(n, "a place's record");
  w.frames = {reinterpret_cast<const std::uint64_t*>(bytes.data() + 8), count};
  callStacks_[StackId(e.addr)] = w;
  return {};
}

MappedAt Trace::mapping(EventNo n) const { return ByteReader(payload(n)).fixed<MappedAt>(); }

OwnedRange Trace::range(EventNo n) const { return ByteReader(payload(n)).fixed<OwnedRange>(); }

std::string_view Trace::payload(EventNo n) const {
  return {reinterpret_cast<const char*>(&(*this)[n + 1]), (*this)[n].value};
}

const Site* Trace::siteOf(const Event& e) const {
  const CallStack* w = callStack(stackOf(e));
  return w == nullptr ? nullptr : site(w->site);
}

}  // namespace blackout
