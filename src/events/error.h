// What went wrong, as a value: one sentence for the user that names the cure, and the exit
// code that it deserves. Every fallible function of the tool returns Result<T>.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace blackout {

// docs/design.md, "What it must be like".
enum class ExitCode : int { Clean = 0, Findings = 1, Usage = 2, Inconclusive = 3, Internal = 70 };

struct Error {
  std::string sentence;
  ExitCode exit = ExitCode::Usage;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string sentence, ExitCode exit = ExitCode::Usage) {
  return tl::unexpected<Error>(Error{std::move(sentence), exit});
}

}  // namespace blackout
