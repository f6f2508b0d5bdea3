#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "findings/numbers.h"

namespace blackout::cli {

std::string durationText(double seconds) {
  if (seconds < 1) return fmt::format("{:.1f} s", seconds);
  auto s = static_cast<std::uint64_t>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return s % 60 == 0 ? fmt::format("{} min", s / 60) : fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::string progressText(const ProgressState& p) {
  std::string text;
  if (p.level > 1) text += fmt::format("crash {} in a row: ", p.level);
  text += fmt::format("point {} of {} · {}, {}/s · {}", grouped(p.done), grouped(p.total), counted(p.runs, "restart"),
                      grouped(static_cast<std::uint64_t>(p.runsPerSecond)),
                      p.failing == 0 ? std::string("no failure") : counted(p.failing, "failure"));
  if (p.done > 0 && p.done < p.total)
    text += fmt::format(" · {} left",
                        durationText(p.seconds * static_cast<double>(p.total - p.done) / static_cast<double>(p.done)));
  return text;
}

std::string progressText(const Campaign::Progress& p) {
  std::string text =
      fmt::format("workload {} of {} · {} only made · {}", grouped(p.done), grouped(p.of), grouped(p.onlyMade),
                  p.findings == 0 ? std::string("no finding") : counted(p.findings, "finding"));
  const double made = static_cast<double>(p.done - p.before);
  if (made > 0 && p.seconds > 0) text += fmt::format(" · {:.1f}/s", made / p.seconds);
  if (made > 0 && p.done < p.of)
    text += fmt::format(" · {} left", durationText(p.seconds * static_cast<double>(p.of - p.done) / made));
  return text;
}

ProgressLine::ProgressLine(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

void ProgressLine::show(const ProgressState& state) { show(progressText(state), state.seconds); }

void ProgressLine::show(const std::string& text, double seconds) {
  if (terminal_) {
    fmt::print(out_, "\r\033[K{}", text);
    std::fflush(out_);
    shown_ = true;
  } else if (seconds >= next_) {
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
    while (next_ <= seconds) next_ += 10;
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(out_, "\r\033[K");
  std::fflush(out_);
  shown_ = false;
}

}  // namespace blackout::cli
