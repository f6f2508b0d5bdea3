// The table of system calls (system_calls.def).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

constexpr int kCallArguments = 6;

struct CallArgument {
  enum class Kind : uint8_t { Plain, Descriptor, Folder, Path, Reads, Writes, Bytes, Parts, Data, Mapping };
  Kind kind = Kind::Plain;
  // Reads, Writes, and Data of which the size is known: the argument that is the size, or counts what is so large.
  // Bytes: how many
  uint8_t number = 0;
  uint8_t unit = 0;   // 0: Data of which nobody knows the size here
  uint8_t extra = 0;  // bytes besides
  // Whether it is the address of data that the kernel accesses.
  constexpr bool isAddress() const { return kind >= Kind::Path && kind <= Kind::Data; }
  // No more than `most`.
  constexpr size_t bytes(const long* arguments, size_t most) const {
    auto count = size_t(arguments[number]);
    return count > most / unit ? most : count * unit + extra;
  }
};

// See system_calls.def.
enum class Becomes : uint8_t { Call, Own, Pinned, Paths, Unseen };

struct SystemCall {
  long number;
  const char* name;
  Becomes becomes;
  CallArgument arguments[kCallArguments];
  const char* what;  // Unseen

  constexpr uint8_t addresses() const {
    uint8_t bits = 0;
    for (int i = 0; i < kCallArguments; ++i) bits |= uint8_t(arguments[i].isAddress() ? 1 << i : 0);
    return bits;
  }
};

// Not a constant: the compiler stops at it.
void malformedRow();
consteval uint8_t smallNumber(const char*& w) {
  int n = 0;
  while (*w >= '0' && *w <= '9') n = 10 * n + (*w++ - '0');
  if (n == 0 || n > 255) malformedRow();
  return uint8_t(n);
}
consteval SystemCall systemCallRow(long number, const char* name, const char* words, Becomes becomes,
                                   const char* what = nullptr) {
  SystemCall call{number, name, becomes, {}, what};
  int n = 0;
  for (const char* w = words; *w != '\0'; ++n) {
    using Kind = CallArgument::Kind;
    CallArgument& argument = call.arguments[n];
    switch (*w++) {
      case '.':
        break;
      case 'f':
        argument.kind = Kind::Descriptor;
        break;
      case 'd':
        argument.kind = Kind::Folder;
        break;
      case 'p':
        argument.kind = Kind::Path;
        break;
      case 'r':
        argument = {Kind::Reads, uint8_t(*w++ - '0'), 1};
        break;
      case 'w':
        argument = {Kind::Writes, uint8_t(*w++ - '0'), 1};
        break;
      case '=':
        argument = {Kind::Bytes, uint8_t(*w++ - '0'), 1};
        break;
      case 'v':
        argument.kind = Kind::Parts;
        break;
      case 'a':
        argument.kind = Kind::Data;
        if (*w < '0' || *w > '5') break;
        argument.number = uint8_t(*w++ - '0');
        argument.unit = 1;
        if (*w == '*') argument.unit = smallNumber(++w);
        if (*w == '+') argument.extra = smallNumber(++w);
        break;
      case 'm':
        argument.kind = Kind::Mapping;
        break;
      default:
        malformedRow();
    }
    if (*w != '\0' && *w++ != ' ') malformedRow();
  }
  return call;
}

// In the order of their numbers.
inline constexpr SystemCall kSystemCalls[] = {
#define BLACKOUT_CALL(number, name, arguments) systemCallRow(number, #name, arguments, Becomes::Call),
#define BLACKOUT_OWN(number, name, arguments, ...) systemCallRow(number, #name, arguments, Becomes::Own),
#define BLACKOUT_PINNED(number, name, arguments, ...) systemCallRow(number, #name, arguments, Becomes::Pinned),
#define BLACKOUT_PATHS(number, name, arguments, use) systemCallRow(number, #name, arguments, Becomes::Paths),
#define BLACKOUT_UNSEEN(number, name, arguments, what) systemCallRow(number, #name, arguments, Becomes::Unseen, what),
#include "runtime/system_calls.def"
};
constexpr size_t kSystemCallCount = sizeof kSystemCalls / sizeof *kSystemCalls;

// Null: newer than the table.
constexpr const SystemCall* systemCall(long number) {
  size_t from = 0, to = kSystemCallCount;
  while (from < to) {
    size_t middle = (from + to) / 2;
    if (kSystemCalls[middle].number < number)
      from = middle + 1;
    else
      to = middle;
  }
  return from < kSystemCallCount && kSystemCalls[from].number == number ? &kSystemCalls[from] : nullptr;
}

}  // namespace blackout::rt
