#include "runtime/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace blackout::rt {

Options options;
void (*toldOfStop)(const char* line) = nullptr;

namespace {

// The decoded text of all options; small, and never freed.
char storage[16384];

void put(const char* text) { syscall(SYS_write, 2, text, strlen(text)); }

[[noreturn]] void printHelp() {
  put("Words of BLACKOUT_OPTIONS, separated by ':' (write %3A for ':' and %25 for '%' inside one):\n");
  char line[512];
#define BLACKOUT_FLAG(name, initial, help)                                                  \
  snprintf(line, sizeof line, "  %-10s %s (default %d)\n", #name "=N", help, int(initial)); \
  put(line);
#define BLACKOUT_TEXT(name, help)                                   \
  snprintf(line, sizeof line, "  %-10s %s\n", #name "=TEXT", help); \
  put(line);
#include "events/options.def"
#undef BLACKOUT_FLAG
#undef BLACKOUT_TEXT
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

void set(char* key, char* value) {
#define BLACKOUT_FLAG(name, initial, help)                                                 \
  if (strcmp(key, #name) == 0) {                                                           \
    char* end = nullptr;                                                                   \
    options.name = strtoull(value, &end, 10);                                              \
    if (*value == '\0' || *end != '\0') stop("BLACKOUT_OPTIONS: not a number:", value, 2); \
    return;                                                                                \
  }
#define BLACKOUT_TEXT(name, help)                                                                                     \
  if (strcmp(key, #name) == 0) {                                                                                      \
    options.name = value;                                                                                             \
    if (strcmp(key, "pm") == 0 || strcmp(key, "glob") == 0) {                                                         \
      if (options.patternCount == kMaxPatterns) stop("BLACKOUT_OPTIONS: too many words 'pm' and 'glob'", nullptr, 2); \
      options.patterns[options.patternCount++] = {value, *key == 'g'};                                                \
    }                                                                                                                 \
    return;                                                                                                           \
  }
#include "events/options.def"
#undef BLACKOUT_FLAG
#undef BLACKOUT_TEXT
  stop("BLACKOUT_OPTIONS: no such option (BLACKOUT_OPTIONS=help=1 lists them):", key, 2);
}

}  // namespace

void say(const char* text, const char* detail) {
  char line[1024];
  int n = snprintf(line, sizeof line, "blackout: %s%s%s\n", text, detail ? " " : "", detail ? detail : "");
  if (n > 0) syscall(SYS_write, 2, line, size_t(n) < sizeof line ? size_t(n) : sizeof line - 1);
}

void stop(const char* text, const char* detail, int code) {
  if (toldOfStop != nullptr) {
    char line[512];
    snprintf(line, sizeof line, "%s%s%s", text, detail ? " " : "", detail ? detail : "");
    toldOfStop(line);
  }
  say(text, detail);
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

void readOptions() {
  static bool done = false;
  // Not by getenv(): a shell has a function of that name, which knows its own variables.
  const char* text = nullptr;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (strncmp(*entry, "BLACKOUT_OPTIONS=", 17) == 0) text = *entry + 17;
  if (done || text == nullptr) return;
  done = true;
  if (strlen(text) >= sizeof storage) stop("BLACKOUT_OPTIONS is too long", nullptr, 2);
  char* out = storage;
  while (*text != '\0') {
    char* key = out;
    char* value = nullptr;
    while (*text != '\0' && *text != ':') {
      if (*text == '=' && value == nullptr) {
        *out++ = '\0';
        value = out;
        ++text;
      } else if (*text == '%' && hexDigit(text[1]) >= 0 && hexDigit(text[2]) >= 0) {
        *out++ = char(hexDigit(text[1]) * 16 + hexDigit(text[2]));
        text += 3;
      } else {
        *out++ = *text++;
      }
    }
    *out++ = '\0';
    if (*text == ':') ++text;
    if (*key == '\0' && value == nullptr) continue;
    if (value == nullptr) stop("BLACKOUT_OPTIONS: a word without '=':", key, 2);
    set(key, value);
  }
  if (options.stack > 64) options.stack = 64;
  if (options.pagebudget < 1) options.pagebudget = 1;
  if (options.pagebudget > 32765) options.pagebudget = 32765;
  if (options.help != 0) printHelp();
}

}  // namespace blackout::rt
