// Just enough of C and C++ to put a statement beside another one: what a line of the source stores to, where a
// statement begins and ends, what parameters a function takes. Text only, so it says "unknown" wherever the text alone
// does not tell: a change of the source must never be a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blackout {

using SourceLines = std::vector<std::string>;

// What a statement stores to, as it is written there.
struct StoredTo {
  std::string expression;
  bool pointer = false;  // it is the address; false: it is the object
  std::string size;      // in bytes, as an expression; empty: that of the object
  std::size_t from = 0;  // in the line: where the part of the statement begins that was understood
  bool operator==(const StoredTo&) const = default;
};

// `column`: of the assignment, the call or the macro, from 1, as debug information has it.
std::optional<StoredTo> storedTo(std::string_view line, std::uint32_t column);

// "node" of "node->record[i]"; empty: it does not begin with a pointer.
std::string pointerOf(std::string_view expression);
// "node->record" of "node->record[i]"; empty: it does not end with an index.
std::string arrayOf(std::string_view expression);

// A statement of its own: it begins a line, and is not all that a loop or a condition has.
bool beginsStatement(const SourceLines& lines, std::uint32_t line, std::size_t from);
// The line in which the statement ends that has this place, if nothing follows it there.
std::optional<std::uint32_t> endOfStatement(const SourceLines& lines, std::uint32_t line, std::size_t from);
// Whether the block of one line is still open at a later one.
bool inSameBlock(const SourceLines& lines, std::uint32_t from, std::uint32_t to);

// The parameters of the function whose body has this line; none: its head is not found above.
std::optional<std::vector<std::string>> parametersOf(const SourceLines& lines, std::uint32_t line,
                                                     const std::string& name);
// "const T" of "const T* what"; empty: it is no pointer.
std::string pointeeOf(std::string_view parameter);

// Whether a name is called, or declared, in one of the lines up to this one.
bool hasCall(const SourceLines& lines, std::uint32_t upTo, const std::string& name);

}  // namespace blackout
