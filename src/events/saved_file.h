// What Blackout keeps in a file and reads again later, maybe somebody else's: a header that says what it is, and a
// body. All such files have this one form:
//
//   magic (8 bytes) · version · 0 (4 each) · size of the body · XXH3-64 of what follows · the body, by zstd
//
// Reading checks the sum, and what the body may grow to is bounded: a file from a stranger is refused in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

struct SavedFormat {
  std::string_view magic;  // 8 characters
  std::uint32_t version = 0;
  std::uint64_t largestBody = 0;
  std::string_view called;   // "replay file"
  std::string_view instead;  // of what is none: "name one that 'blackout check' wrote"
  std::string_view again;    // instead of an old or damaged one: "make it again with 'blackout check'"
};

Result<std::string> packFile(const SavedFormat& format, std::string_view body);
// The body. `name` is what complaints call the file.
Result<std::string> unpackFile(const SavedFormat& format, std::string_view bytes, const std::string& name);
tl::unexpected<Error> damagedFile(const SavedFormat& format, const std::string& name);

// All of a file's bytes; the error has the system's reason alone.
Result<std::string> readWholeFile(const std::string& path);

// Bytes by zstd alone, for what stays in memory or is part of a body.
Result<std::string> pack(std::string_view bytes);
Result<std::string> unpack(std::string_view packed, std::uint64_t largest);

}  // namespace blackout
