// BLACKOUT_OPTIONS of what a run starts: its children, and the client of a server.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"

namespace blackout::rt {

namespace {

char optionsText[20000];

// Which words of BLACKOUT_OPTIONS are of use to a program that joins the run.
bool forChildren(const char* word) {
  const char* const ours[] = {"zygote=", "shadow=", "trace=", "drive="};
  for (const char* zygotes : ours)
    if (strncmp(word, zygotes, strlen(zygotes)) == 0) return false;
  return true;
}
// To a client no path is a pool, and no heap is persistent.
bool forClients(const char* word) { return strncmp(word, "pin=", 4) == 0 || strncmp(word, "before=", 7) == 0; }

// Not by getenv() and setenv(): a shell has functions of these names, which know its own variables.
constexpr char kOptions[] = "BLACKOUT_OPTIONS=";
char** findOptions() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (strncmp(*entry, kOptions, sizeof kOptions - 1) == 0) return entry;
  stop("BLACKOUT_OPTIONS is gone from the environment", nullptr, 3);
}

void setEnvironment(bool (*wanted)(const char* word), const char* more) {
  char** entry = findOptions();
  // The words that this process was started with, the first time: a second call takes the rest from them again.
  static const char* const words = *entry + sizeof kOptions - 1;
  memcpy(optionsText, kOptions, sizeof kOptions);
  size_t n = sizeof kOptions - 1;
  auto put = [&](const char* text, size_t size) {
    if (n + size + 1 >= sizeof optionsText) return;
    memcpy(optionsText + n, text, size);
    n += size;
    optionsText[n] = '\0';
  };
  for (const char* w = words; w != nullptr && *w != '\0';) {
    const char* end = strchrnul(w, ':');
    if (wanted(w) && end > w) {
      put(w, size_t(end - w));
      put(":", 1);
    }
    w = *end == '\0' ? end : end + 1;
  }
  put(more, strlen(more));
  put("worker=", 7);
  for (const char* c = workerFolder; *c != '\0'; ++c) {
    if (*c == ':' || *c == '%') {
      char code[4];
      snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(*c));
      put(code, 3);
    } else {
      put(c, 1);
    }
  }
  *entry = optionsText;
}

}  // namespace

void setRunEnvironment() { setEnvironment(forChildren, ""); }
void setClientEnvironment() { setEnvironment(forClients, "client=1:"); }

}  // namespace blackout::rt
