// Files that are no pools: a restart sees them as they were before the recording, changes only copies of its own, and
// nothing of it is left. Restarts run side by side, with the same names for everything, and each checks itself.
//
// RUN: %cxx -O1 -std=c++20 %s -o %t && head -c 4096 /dev/zero > %t.img
// RUN: rm -rf %t.d && mkdir -p %t.d/old %t.d/folder %t.d/empty
// RUN: echo -n before > %t.d/log; echo -n before > %t.d/removed; echo -n before > %t.d/renamed
// RUN: echo -n same > %t.d/same; echo -n same > %t.d/locked; echo -n x > %t.d/folder/x; ln -s same %t.d/link
// RUN: %blackout check --jobs 2 --findings %t.found --pm %t.img -- %t %t.img %t.d 2>&1 | FileCheck %s
// CHECK-DAG: a restart reads {{.*}}.d/log, which the recorded run wrote; it sees it as it was before the recording
// CHECK-DAG: a restart reads {{.*}}.d/removed, which the recorded run wrote
// CHECK-DAG: a restart reads {{.*}}.d/made, which the recorded run wrote
// CHECK-NOT: a restart reads {{.*}}.d/same
// CHECK: restarts: {{ *[2-9]}} of
// CHECK: SUMMARY: blackout: no findings;{{.*}},tso=off{{$}}
//
// What is left is what the recorded run left.
// RUN: cd %t.d && find . | LC_ALL=C sort | FileCheck --check-prefix=LEFT %s
// RUN: cat log same renamed2 | FileCheck --check-prefix=CONTENT %s
// LEFT: {{^}}.{{$}}
// LEFT-NEXT: ./folder{{$}}
// LEFT-NEXT: ./folder/x{{$}}
// LEFT-NEXT: ./link{{$}}
// LEFT-NEXT: ./locked{{$}}
// LEFT-NEXT: ./log{{$}}
// LEFT-NEXT: ./made{{$}}
// LEFT-NEXT: ./made/inside{{$}}
// LEFT-NEXT: ./old{{$}}
// LEFT-NEXT: ./renamed2{{$}}
// LEFT-NEXT: ./same{{$}}
// LEFT-NOT: {{.}}
// CONTENT: {{^}}recordedsamebefore{{$}}
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "Inputs/restart.h"

namespace fs = std::filesystem;
using Names = std::set<std::string>;

static std::string content(const char* path) {
  std::ifstream file(path);
  return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "(none)";
}
static void write(const char* path, const char* text, bool append = false) {
  std::ofstream(path, append ? std::ios::app : std::ios::trunc) << text;
}
static Names names(const char* folder) {
  Names found;
  DIR* d = opendir(folder);
  if (d == nullptr) return {"(none)"};
  while (dirent* e = readdir(d))
    if (e->d_name[0] != '.') found.insert(e->d_name);
  closedir(d);
  Names again;
  for (const auto& e : fs::directory_iterator(folder)) again.insert(e.path().filename());
  EXPECT(found == again);
  return found;
}
static bool there(const char* path) { return access(path, F_OK) == 0; }

static void record() {
  write("log", "recorded");
  unlink("removed");
  rename("renamed", "renamed2");
  mkdir("made", 0700);
  write("made/inside", "recorded");
  rmdir("empty");
  write("scratch", "recorded");  // made and removed
  unlink("scratch");
  char name[] = "temporaryXXXXXX";
  close(mkstemp(name));
  unlink(name);
}

static void seesWhatWasBefore() {
  EXPECT(content("log") == "before");
  EXPECT(content("removed") == "before");
  EXPECT(content("renamed") == "before" && !there("renamed2"));
  EXPECT(!there("made") && content("made/inside") == "(none)");
  EXPECT(there("empty") && names("empty").empty());
  EXPECT(content("link") == "same");
  EXPECT(names(".") == Names({"empty", "folder", "link", "locked", "log", "old", "removed", "renamed", "same"}));
}

static void changesItsOwn() {
  // Contents.
  write("log", "+restart", true);
  EXPECT(content("log") == "before+restart");
  write("link", "through a link");
  EXPECT(content("same") == "through a link");
  EXPECT(truncate("same", 4) == 0 && content("same") == "thro");
  // Names.
  EXPECT(unlink("removed") == 0 && !there("removed"));
  EXPECT(unlink("removed") == -1 && errno == ENOENT);
  EXPECT(rename("renamed", "again") == 0 && content("again") == "before" && !there("renamed"));
  EXPECT(rename("again", "log") == 0 && content("log") == "before");
  EXPECT(link("log", "second") == 0);
  write("second", "both");
  EXPECT(content("log") == "both");
  EXPECT(symlink("log", "soft") == 0 && content("soft") == "both");
  EXPECT(fs::canonical("soft") == fs::current_path() / "log");
  char target[16];
  EXPECT(readlink("soft", target, sizeof target) == 3 && memcmp(target, "log", 3) == 0);
  EXPECT(readlinkat(AT_FDCWD, "soft", target, 2) == 2 && memcmp(target, "lo", 2) == 0);
  EXPECT(readlinkat(AT_FDCWD, "log", target, sizeof target) == -1 && errno == EINVAL);
  // Folders.
  EXPECT(mkdir("folder", 0700) == -1 && errno == EEXIST);
  EXPECT(rmdir("folder") == -1 && errno == ENOTEMPTY);
  EXPECT(fs::remove_all("folder") == 2 && !there("folder"));
  EXPECT(mkdir("folder", 0700) == 0 && names("folder").empty() && !there("folder/x"));
  EXPECT(rename("folder", "folder2") == 0 && there("folder2") && !there("folder"));
  EXPECT(mkdir("made", 0700) == 0 && mkdir("made/deep", 0700) == 0 && chdir("made/deep") == 0);
  write("file", "deep");
  EXPECT(fs::current_path().filename() == "deep" && content("../deep/file") == "deep" && chdir("../..") == 0);
  EXPECT(open("nowhere/file", O_CREAT | O_RDWR, 0600) == -1 && errno == ENOENT);
  EXPECT(names(".") == Names({"empty", "folder2", "link", "locked", "log", "made", "old", "same", "second", "soft"}));
}

static void locks() {
  int fd = open("pid", O_CREAT | O_EXCL | O_RDWR, 0600);
  EXPECT(fd >= 0);
  EXPECT(open("pid", O_CREAT | O_EXCL | O_RDWR, 0600) == -1 && errno == EEXIST);
  // One that is open for reading only, and a folder: each restart has its own.
  int reader = open("locked", O_RDONLY);
  EXPECT(flock(reader, LOCK_EX | LOCK_NB) == 0);
  char text[8] = {};
  EXPECT(read(reader, text, 4) == 4 && strcmp(text, "same") == 0);
  int other = open("locked", O_RDONLY);
  EXPECT(flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
  int folder = open("old", O_RDONLY | O_DIRECTORY);
  EXPECT(flock(folder, LOCK_EX | LOCK_NB) == 0);
  struct flock range{};
  range.l_type = F_WRLCK;
  int writer = open("same", O_RDWR);
  EXPECT(fcntl(writer, F_SETLK, &range) == 0);
  EXPECT(fchmod(reader, 0400) == 0);
  int shared = shm_open("/blackout-test", O_CREAT | O_EXCL | O_RDWR, 0600);
  EXPECT(shared >= 0);
  sem_t* named = sem_open("/blackout-test", O_CREAT | O_EXCL, 0600, 1);
  EXPECT(named != SEM_FAILED && sem_wait(named) == 0 && sem_trywait(named) == -1);
}

// Children share what the restart made, executed ones too.
static void children() {
  pid_t child = fork();
  if (child == 0) {
    write("by-child", "child");
    _exit(content("log") == "both" ? 0 : 1);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0 && content("by-child") == "child");
  EXPECT(system("test \"$(cat log)\" = both && echo shell > by-shell && rm by-child && ! test -e removed") == 0);
  EXPECT(content("by-shell") == "shell\n" && !there("by-child"));
  write("/tmp/blackout-test-of-restarts", "gone with the restart");
}

int main(int, char** argv) {
  volatile uint64_t* pool = mapPool(argv[1]);
  if (chdir(argv[2]) != 0) return 9;
  if (!blackout_recovering()) {
    record();
  } else {
    seesWhatWasBefore();
    changesItsOwn();
    locks();
    children();
  }
  twoStores(pool);
}
