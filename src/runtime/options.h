// BLACKOUT_OPTIONS, parsed once before anything of the program runs.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

constexpr int kMaxPatterns = 32;

struct Options {
#define BLACKOUT_FLAG(name, initial, help) uint64_t name = initial;
#define BLACKOUT_TEXT(name, help) const char* name = nullptr;
#include "events/options.def"
#undef BLACKOUT_FLAG
#undef BLACKOUT_TEXT
  struct Pattern {
    const char* text;
    bool glob;
  };
  Pattern patterns[kMaxPatterns] = {};  // all of "pm" and "glob"
  int patternCount = 0;
};

extern Options options;

// Reads the environment, once. A wrong word ends the process with one line and exit code 2.
void readOptions();

// One line on standard error, async-signal-safe; then nothing or _exit(code).
void say(const char* text, const char* detail = nullptr);
// Who is to know that this process ends by stop(): the trace of a recording is told and this returns; a restart ends by
// its own way, with the line that would be printed, and nothing is. Null: nobody.
extern void (*toldOfStop)(const char* line);
[[noreturn]] void stop(const char* text, const char* detail, int code);

}  // namespace blackout::rt
