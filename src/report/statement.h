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

// The last line of a statement that begins a line, has its lines for itself and is a call alone, whose arguments do
// nothing; none: it is another one, or the text does not tell.
std::optional<std::uint32_t> plainCallAt(const SourceLines& lines, std::uint32_t line);

// Where a statement stands.
struct StatementPlace {
  bool begins = false;     // its line
  bool ends = false;       // its last line: but for a comment nothing follows
  bool body = false;       // it is all that a loop or a condition has: with another one it needs braces
  std::uint32_t last = 0;  // the line in which it ends
  std::size_t end = 0;     // in it, behind the semicolon
  // Other statements can be lines of their own before and after it.
  bool alone() const { return begins && ends && !body; }
  bool operator==(const StatementPlace&) const = default;
};
// The statement that begins at a place; none: no statement does, for all that the text tells.
std::optional<StatementPlace> statementAt(const SourceLines& lines, std::uint32_t line, std::size_t from);
// Whether the block of one line is still open at a later one.
bool inSameBlock(const SourceLines& lines, std::uint32_t from, std::uint32_t to);

// The parameters of the function whose body has this line; none: its head is not found above.
std::optional<std::vector<std::string>> parametersOf(const SourceLines& lines, std::uint32_t line,
                                                     const std::string& name);
// "const T" of "const T* what"; empty: it is no pointer.
std::string pointeeOf(std::string_view parameter);

// What a file includes above a line, and in all cases in which it has that line: "pm.h".
std::vector<std::string> includesAbove(const SourceLines& lines, std::uint32_t line);

// Whether a name is called, or declared, in one of the lines up to this one.
bool hasCall(const SourceLines& lines, std::uint32_t upTo, const std::string& name);

}  // namespace blackout
