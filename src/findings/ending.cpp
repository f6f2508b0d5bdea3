#include "findings/ending.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

namespace blackout {

std::string endingText(int waitStatus) {
  if (WIFEXITED(waitStatus)) {
    int code = WEXITSTATUS(waitStatus);
    return code == 0 ? std::string() : fmt::format("exit code {}", code);
  }
  if (WIFSIGNALED(waitStatus)) {
    int number = WTERMSIG(waitStatus);
    const char* name = sigabbrev_np(number);
    const char* description = sigdescr_np(number);
    if (name == nullptr || description == nullptr) return fmt::format("signal {}", number);
    return fmt::format("signal SIG{} ({})", name, description);
  }
  return fmt::format("wait status {}", waitStatus);
}

void tellEnding(Report& report, bool anyExit) {
  if (!report.run.waitStatus) return;
  int status = *report.run.waitStatus;
  std::string text = endingText(status);
  if (text.empty()) return;
  std::string sentence = fmt::format("The program itself ended with {}, without a simulated crash.", text);
  if (!WIFEXITED(status))
    report.incomplete.push_back(sentence + " What it would have done next was not seen; fix that first.");
  else if (anyExit)
    report.notes.push_back(std::move(sentence));
  else
    report.incomplete.push_back(
        sentence + " It may not have done what it should; fix that first, or give --expect-exit any if it is right.");
}

}  // namespace blackout
