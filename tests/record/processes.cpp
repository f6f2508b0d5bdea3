// Children of every making record into the same trace: a fork, an exec, posix_spawn with an empty
// environment or a part of it, system. None of them touches the user's pool.
//
// RUN: %cxx -O2 %s -o %t
// RUN: rm -f %t.img && head -c 8192 /dev/zero > %t.img && sha256sum %t.img > %t.sum
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img all
// RUN: sha256sum -c %t.sum
// RUN: %blackout trace %t.trace | FileCheck %s
// CHECK-DAG: store {{.*}} = 0x11
// CHECK-DAG: store {{.*}} = 0x22
// CHECK-DAG: store {{.*}} = 0x33
// CHECK-DAG: store {{.*}} = 0x44
// CHECK-DAG: store {{.*}} = 0x55
// CHECK: end {{.*}}exit code 0
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "Inputs/pool.h"

static void await(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) exit(1);
}

// How often a variable is in the environment, with something in its value.
static int count(const char* name, const char* value) {
  int found = 0;
  for (char** entry = environ; *entry != nullptr; ++entry)
    found += strncmp(*entry, name, strlen(name)) == 0 && strstr(*entry, value) != nullptr;
  return found;
}

int main(int, char** argv) {
  std::string mode = argv[2];
  if (mode == "environment")
    return count("LD_PRELOAD=", "libblackout.so") == 1 && count("LD_PRELOAD=", "") == 1 &&
                   count("BLACKOUT_OPTIONS=", "=") == 1 && count("OTHER=", "kept") == 1
               ? 0
               : 1;
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  if (mode != "all") {
    pool[std::stoul(mode)] = std::stoul(mode) * 0x11;
    return 0;
  }
  pool[1] = 0x11;
  char two[] = "2", three[] = "3";
  if (pid_t child = fork()) {
    await(child);
  } else {
    char* arguments[] = {argv[0], argv[1], two, nullptr};
    char* none[] = {nullptr};
    execve(argv[0], arguments, none);
    _exit(1);
  }
  pid_t spawned;
  char* arguments[] = {argv[0], argv[1], three, nullptr};
  char* none[] = {nullptr};
  if (posix_spawn(&spawned, argv[0], nullptr, nullptr, arguments, none) != 0) return 2;
  await(spawned);
  std::string preload = std::string("LD_PRELOAD=") + getenv("LD_PRELOAD");
  std::string options = std::string("BLACKOUT_OPTIONS=") + getenv("BLACKOUT_OPTIONS");
  char environment[] = "environment", other[] = "OTHER=kept", nothing[] = "LD_PRELOAD=";
  char* own[] = {argv[0], argv[1], environment, nullptr};
  char* with[][4] = {{other},
                     {other, preload.data()},
                     {options.data(), other},
                     {nothing, other, options.data()},
                     {preload.data(), other, options.data()}};
  for (auto& given : with) {
    if (posix_spawn(&spawned, argv[0], nullptr, nullptr, own, given) != 0) return 4;
    await(spawned);
  }
  if (system((std::string(argv[0]) + " " + argv[1] + " 4").c_str()) != 0) return 3;
  if (pid_t child = fork()) {
    await(child);
  } else {
    pool[5] = 0x55;
    _exit(0);
  }
  return 0;
}
