#include "runtime/recovery.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/address_map.h"
#include "runtime/options.h"

namespace blackout::rt {

blackout_worker* worker = nullptr;
const blackout_plan* plan = nullptr;
const char* workerFolder = nullptr;
bool firstOfRun = true;
const bool* madeFiles = nullptr;

namespace {

const uint8_t* planBytes() { return reinterpret_cast<const uint8_t*>(plan); }

}  // namespace

void mapPlan(const char* path) {
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  struct stat st;
  if (fd < 0 || syscall(SYS_fstat, fd, &st) != 0) stop("the plan of a recovery can't be opened:", path, 3);
  void* p = reinterpret_cast<void*>(syscall(SYS_mmap, kPlanBase, size_t(st.st_size), PROT_READ, MAP_SHARED, fd, 0L));
  syscall(SYS_close, fd);
  if (p == MAP_FAILED) stop("no address space for the plan of a recovery", nullptr, 3);
  plan = static_cast<const blackout_plan*>(p);
  if (plan->magic != BLACKOUT_PLAN_MAGIC || plan->version != BLACKOUT_RECOVERY_VERSION)
    stop("the plan of a recovery is of another version of Blackout:", path, 3);
}

const uint32_t* trackedSlots(uint32_t file, uint64_t& lines) {
  if (file >= plan->file_count || madeFiles[file]) return nullptr;
  const auto& f = reinterpret_cast<const blackout_plan_file*>(planBytes() + plan->files)[file];
  lines = f.lines;
  return f.slots == 0 ? nullptr : reinterpret_cast<const uint32_t*>(planBytes() + f.slots);
}

const uint8_t* trackedMarks(uint32_t file) {
  return planBytes() + reinterpret_cast<const blackout_plan_file*>(planBytes() + plan->files)[file].marks;
}

uint64_t realNanoseconds() {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

namespace {

void addSentence(char* to, size_t room, const char* text, const char* detail) {
  char line[1024];
  int n = snprintf(line, sizeof line, "%s%s%s\n", text, detail ? " " : "", detail ? detail : "");
  if (n <= 0 || size_t(n) >= sizeof line) return;
  size_t used = strnlen(to, room);
  if (strstr(to, line) != nullptr || used + size_t(n) + 1 > room) return;
  memcpy(to + used, line, size_t(n) + 1);
}

}  // namespace

void note(const char* text, const char* detail) { addSentence(worker->notes, sizeof worker->notes, text, detail); }
void unseen(const char* text, const char* detail) { addSentence(worker->unseen, sizeof worker->unseen, text, detail); }
void noteRunModule(const char* path) { addSentence(worker->modules, sizeof worker->modules, path, nullptr); }

}  // namespace blackout::rt
