// Saved files and the bytes in them: what is written is read, what is damaged, cut or hostile is refused, and memory is
// not spent on what a file only promises.
#include "events/saved_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "events/byte_stream.h"

namespace blackout {
namespace {

constexpr SavedFormat kFormat{"BLK_TEST", 7, 1000, "test file", "name another", "make it again"};

std::string whole(std::string_view body = "the body") { return *packFile(kFormat, body); }
std::string errorOf(std::string_view bytes) {
  auto body = unpackFile(kFormat, bytes, "name");
  return body ? "" : body.error().sentence;
}

TEST(SavedFile, ComesBackAsItWas) {
  for (const std::string& body : {std::string(), std::string("the body"), std::string(1000, '\0')})
    EXPECT_EQ(unpackFile(kFormat, whole(body), "name"), body);
}

TEST(SavedFile, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf(""), "name: not a test file; name another");
  EXPECT_EQ(errorOf("BLK_TES"), "name: not a test file; name another");
  EXPECT_EQ(errorOf("BLK_TEST"), "name: the test file is damaged or cut short; make it again");
  SavedFormat later = kFormat;
  later.version = 8;
  EXPECT_EQ(unpackFile(later, whole(), "name").error().sentence,
            "name: a test file of format version 7, this is version 8; make it again");
}

TEST(SavedFile, ACutOrAFlippedByteIsSeen) {
  const std::string bytes = whole();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_NE(errorOf(bytes.substr(0, i)), "") << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_NE(errorOf(flipped), "") << i;
    }
  }
  EXPECT_NE(errorOf(bytes + "x"), "");
}

TEST(SavedFile, ABodyBeyondTheBoundIsRefused) {
  EXPECT_EQ(errorOf(whole(std::string(1001, 'x'))), "name: the test file is damaged or cut short; make it again");
}

TEST(Packed, WhatPromisesTooMuchIsRefused) {
  std::string zeros(1 << 20, '\0');
  std::string packed = *pack(zeros);
  EXPECT_EQ(unpack(packed, zeros.size()), zeros);
  EXPECT_FALSE(unpack(packed, zeros.size() - 1));
  EXPECT_FALSE(unpack(packed.substr(0, packed.size() - 1), zeros.size()));
  EXPECT_FALSE(unpack(packed + packed, zeros.size()));
  EXPECT_FALSE(unpack("", 100));
  EXPECT_FALSE(unpack("no frame of zstd", 100));
}

TEST(ByteStream, ReadsWhatWasWritten) {
  ByteWriter out;
  out.fixed<std::uint16_t>(0x1234);
  for (std::uint64_t n : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, UINT64_MAX}) out.number(n);
  out.text("text");
  out.terminated(std::string_view("cut\0off", 7));
  out.padded("123456789");
  out.padded("12345678");
  std::string bytes = out.take();
  EXPECT_EQ(bytes.size(), 2U + 1 + 1 + 2 + 10 + 5 + 4 + 16 + 8);
  ByteReader in(bytes);
  EXPECT_EQ(in.fixed<std::uint16_t>(), 0x1234);
  EXPECT_EQ(in.number(), 0U);
  EXPECT_EQ(in.number(127), 127U);
  EXPECT_EQ(in.number(), 128U);
  EXPECT_EQ(in.number(), UINT64_MAX);
  EXPECT_EQ(in.text(), "text");
  EXPECT_EQ(in.terminated(), "cut");
  EXPECT_EQ(in.padded(9), "123456789");
  EXPECT_EQ(in.left(), 8U);
  EXPECT_FALSE(in.finished());
  EXPECT_EQ(in.padded(8), "12345678");
  EXPECT_TRUE(in.finished());
}

// After the first read that does not fit everything is empty.
TEST(ByteStream, WhatDoesNotFitEmptiesTheRest) {
  auto broken = [](std::string_view bytes, auto read) {
    ByteReader in(bytes);
    read(in);
    return !in.ok() && in.atEnd() && in.fixed<std::uint8_t>() == 0 && in.text().empty() && !in.finished();
  };
  EXPECT_TRUE(broken("123", [](ByteReader& in) { EXPECT_EQ(in.fixed<std::uint32_t>(), 0U); }));
  EXPECT_TRUE(broken("\x80", [](ByteReader& in) { EXPECT_EQ(in.number(), 0U); }));
  EXPECT_TRUE(broken("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", [](ByteReader& in) { in.number(); }));
  EXPECT_TRUE(broken("\x05rest", [](ByteReader& in) { EXPECT_EQ(in.number(4), 0U); }));
  EXPECT_TRUE(broken("\x02rest", [](ByteReader& in) { EXPECT_FALSE(in.flag()); }));
  EXPECT_TRUE(broken("\x05rest", [](ByteReader& in) { EXPECT_EQ(in.count(), 0U); }));
  EXPECT_TRUE(broken("\x03rest", [](ByteReader& in) { EXPECT_EQ(in.count(2), 0U); }));
  EXPECT_TRUE(broken("\x05rest", [](ByteReader& in) { EXPECT_EQ(in.text(), ""); }));
  EXPECT_TRUE(broken("no zero", [](ByteReader& in) { EXPECT_EQ(in.terminated(), ""); }));
  EXPECT_TRUE(broken("123", [](ByteReader& in) { in.padded(3); }));
  EXPECT_TRUE(broken("rest", [](ByteReader& in) { in.reject(); }));
  ByteReader in("\x04rest");
  EXPECT_EQ(in.count(), 4U);
  EXPECT_EQ(in.number(UINT32_MAX), std::uint64_t{'r'});
}

RC_GTEST_PROP(ByteStream, AnyNumberComesBack, (std::uint64_t n, std::string text)) {
  ByteWriter out;
  out.number(n);
  out.text(text);
  std::string bytes = out.take();
  ByteReader in(bytes);
  RC_ASSERT(in.number() == n);
  RC_ASSERT(in.text() == text);
  RC_ASSERT(in.finished());
}

}  // namespace
}  // namespace blackout
