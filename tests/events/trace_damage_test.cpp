// Damage: a trace that was cut at any byte, or in which bits have flipped, is refused in one
// sentence or, while it is not sealed, read as far as it goes. Nothing crashes, and no flip in a
// sealed trace passes.

#include <gtest/gtest.h>

#include <random>

#include "events/table_payloads.h"
#include "events/trace.h"
#include "sample_trace.h"

namespace blackout {
namespace {

using test::asBytes;
using test::readAll;
using test::sampleTrace;

// Cut bytes in a buffer of their own, so that a sanitizer sees a read past the end.
std::string cut(const std::string& bytes, std::size_t size) {
  std::string copy(bytes.data(), size);
  copy.shrink_to_fit();
  return copy;
}

TEST(CutTrace, SealedIsRefusedAtEveryByte) {
  const std::string whole = sampleTrace().sealedBytes();
  ASSERT_TRUE(Trace::fromBytes(asBytes(whole)));
  // All cuts inside the header are one case by its size; a few of them, and all of the rest.
  for (std::size_t size = 0; size < whole.size(); size += size + 2048 < BLACKOUT_HEADER_SIZE ? 997 : 1) {
    std::string bytes = cut(whole, size);
    auto trace = Trace::fromBytes(asBytes(bytes));
    ASSERT_FALSE(trace) << "cut to " << size << " bytes was accepted";
    ASSERT_EQ(trace.error().exit, ExitCode::Usage);
    ASSERT_FALSE(trace.error().sentence.empty());
  }
}

TEST(CutTrace, UnsealedIsRefusedAtEveryByte) {
  const std::string whole = sampleTrace().bytes();
  auto trace = Trace::fromBytes(asBytes(whole));
  ASSERT_TRUE(trace);
  ASSERT_FALSE(trace->sealed());
  for (std::size_t size = 0; size < whole.size(); size += size + 2048 < BLACKOUT_HEADER_SIZE ? 997 : 1) {
    std::string bytes = cut(whole, size);
    ASSERT_FALSE(Trace::fromBytes(asBytes(bytes))) << "cut to " << size << " bytes was accepted";
  }
}

// A recorder that was killed: what it committed is there, and the file is longer or as long.
TEST(CutTrace, GrowingIsReadUpToEveryCommittedEvent) {
  const std::string whole = sampleTrace().bytes();
  auto reference = Trace::fromBytes(asBytes(whole));
  ASSERT_TRUE(reference);
  std::uint64_t events = 0;
  for (EventNo n = 0; n < reference->end(); n = reference->next(n), ++events) {
    const Event& e = (*reference)[n];
    // The halves of a 16-byte store are committed together; a wide store may end after any piece.
    bool continued = isStore(e) && (e.len & BLACKOUT_JOINED) != 0;
    std::string bytes = whole;
    auto& header = *reinterpret_cast<blackout_trace_header*>(bytes.data());
    header.committed = std::uint64_t{reference->next(n).value()} * sizeof(Event);
    auto trace = Trace::fromBytes(asBytes(bytes));
    if (continued) continue;
    ASSERT_TRUE(trace) << "after event " << n << ": " << trace.error().sentence;
    ASSERT_EQ(trace->eventCount(), events + 1);
    readAll(*trace);
  }
}

TEST(FlippedTrace, SealedIsAlwaysRefused) {
  const std::string whole = sampleTrace().sealedBytes();
  std::string bytes = whole;
  std::mt19937_64 random(1);
  auto refused = [&](std::size_t at, unsigned mask) {
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    auto trace = Trace::fromBytes(asBytes(bytes));
    bytes[at] = whole[at];
    return !trace;
  };
  // Every bit of what has meaning; one bit of some of the header's empty bytes.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    bool empty = at >= 256 && at < BLACKOUT_HEADER_SIZE;
    if (empty && at % 61 != 0) continue;
    for (unsigned bit = 0; bit < 8; ++bit)
      if (!empty || bit == at % 8) ASSERT_TRUE(refused(at, 1U << bit)) << "bit " << bit << " of byte " << at;
  }
  // The one byte that says whether the trace is sealed: a sealed trace can't turn into a growing one.
  for (unsigned mask = 1; mask < 256; ++mask)
    ASSERT_TRUE(refused(offsetof(blackout_trace_header, state), mask)) << "state xor " << mask;
  // Bytes that become anything.
  for (int i = 0; i < 20000; ++i) {
    std::size_t at =
        random() % 3 == 0 ? random() % 256 : BLACKOUT_HEADER_SIZE + random() % (whole.size() - BLACKOUT_HEADER_SIZE);
    unsigned mask = 1 + static_cast<unsigned>(random() % 255);
    ASSERT_TRUE(refused(at, mask)) << "byte " << at << " xor " << mask;
  }
}

// Tables stay as small as the file: a row takes two slots or more, so a number beyond the file's slots is
// damage, however slowly the numbers climb.
TEST(FlippedTrace, NumbersFarBeyondTheFileAreRefused) {
  TraceWriter w;
  for (std::uint64_t i = 1; i <= 50; ++i) w.blob(EventKind::Site, 0, i * 60000, encodeSite(test::sampleSite()));
  std::string bytes = w.sealedBytes();
  EXPECT_FALSE(Trace::fromBytes(asBytes(bytes)));
}

TEST(FlippedTrace, UnsealedNeverCrashes) {
  const std::string whole = sampleTrace().bytes();
  std::mt19937_64 random(2);
  unsigned accepted = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string bytes = whole;
    unsigned flips = 1 + static_cast<unsigned>(random() % 4);
    for (unsigned k = 0; k < flips; ++k) {
      std::size_t at =
          random() % 8 == 0 ? random() % 128 : BLACKOUT_HEADER_SIZE + random() % (whole.size() - BLACKOUT_HEADER_SIZE);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    }
    auto trace = Trace::fromBytes(asBytes(bytes));
    if (!trace) {
      ASSERT_FALSE(trace.error().sentence.empty());
      continue;
    }
    ++accepted;
    readAll(*trace);
  }
  EXPECT_GT(accepted, 0U) << "values and padding may flip unseen";
}

}  // namespace
}  // namespace blackout
