// The lines of what restarts print, and which of them count. Recovery may say in words what it did, so an answer is
// right if it is a right one but for the restart's own words. Which lines are those is told by what right answers look
// like: a line of a form that the answers of restarts with nothing to recover have is data, and one that they don't
// have is the restart's own. Forms leave out what varies, numbers and quoted text: "entry 0" is judged wherever
// "entry 100" is data.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "findings/facts.h"

namespace blackout {

// The line without what varies from one time to the next: numbers and quoted text.
std::string formOf(std::string_view line);

std::vector<std::string_view> linesOf(std::string_view text);

class AnswerLines {
 public:
  enum class Right : std::uint8_t {
    Any,
    Settled,  // nothing was under way that a restart might have to say something about
    Final,    // that on what the program left when it ended
  };
  // Right answers, before anything is asked.
  void add(std::string_view output, Right right);

  // Whether an answer is this right one, apart from messages on either side and the restart's own words. `ownWords`: it
  // may have some.
  bool same(std::string_view answer, std::string_view right, bool ownWords) const;
  // Whether it is made of lines of two right ones: it has all that both have, and nothing that neither has.
  bool mixes(std::string_view answer, std::string_view before, std::string_view after, bool ownWords) const;
  // The lines by which an answer differs from two right ones.
  std::vector<WrongLine> wrong(std::string_view answer, std::string_view before, std::string_view after) const;
  // Whether the line counts, however it got there.
  bool isData(std::string_view line) const;
  // A line with nothing variable in it, which right answers have or not without any other difference, and which no
  // settled answer has: "count dirty, recalculating".
  bool isMessage(std::string_view line) const;

 private:
  void learn() const;
  std::vector<std::string_view> withoutMessages(std::string_view text) const;

  std::set<std::string, std::less<>> right_;
  std::set<std::string, std::less<>> settled_;
  std::string final_;
  // Of the answers; made when first asked for.
  mutable bool learned_ = false;
  mutable std::set<std::string, std::less<>> data_;      // forms
  mutable std::set<std::string, std::less<>> messages_;  // lines
};

// How a line of the one that the other doesn't have varies in the other.
enum class Variation : std::uint8_t { None, Numbers, Quotes };
Variation variationOf(std::string_view answer, std::string_view other);

// Whether two answers differ only where one prints one value and the other another, or words for them.
bool differOnlyByValue(std::string_view answer, std::uint64_t value, std::string_view right, std::uint64_t rightValue);

}  // namespace blackout
