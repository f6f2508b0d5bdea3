// Extended attributes of files that are no pools are as they were before the recording, and those that a restart changes
// are its own. Where files in memory have none (Linux before 6.6), that is said; without any attributes here there is
// nothing to test.
//
// RUN: %cxx -O1 -std=c++20 %s -o %t && head -c 4096 /dev/zero > %t.img
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && touch file other
// RUN: python3 -c "import os; os.setxattr('file', 'user.kept', b'before'); os.setxattr('file', 'user.gone', b'before')" || exit 0
// RUN: %blackout check --jobs 2 --findings %t.found --pm %t.img -- %t %t.img %t.d > %t.out 2>&1; code=$?; \
// RUN:   touch /dev/shm/%basename_t.probe; python3 -c "import os; os.setxattr('/dev/shm/%basename_t.probe', 'user.k', b'v')" && want=0 || want=3; \
// RUN:   rm /dev/shm/%basename_t.probe; test $code = $want || { cat %t.out; exit 1; }; test $want = 0 || grep "extended attributes" %t.out
//
// The user's file has what the recorded run gave it.
// RUN: python3 -c "import os; assert os.listxattr('file') == ['user.kept'] and os.getxattr('file', 'user.kept') == b'recorded' and not os.listxattr('other')"
//
// Those of a pool are not followed, and stay what they are.
// RUN: %blackout check --findings %t.found --pm %t.img -- %t %t.img %t.d pool > %t.out 2>&1; test $? = 3 && grep "it changes the extended attributes of a pool" %t.out
// RUN: python3 -c "import os; assert not os.listxattr('%t.img')"
#include <errno.h>
#include <sys/xattr.h>

#include <string>

#include "Inputs/restart.h"

static std::string attribute(const char* path, const char* name) {
  char value[64];
  ssize_t n = getxattr(path, name, value, sizeof value);
  return n < 0 ? "(none)" : std::string(value, size_t(n));
}

int main(int argc, char** argv) {
  volatile uint64_t* pool = mapPool(argv[1]);
  if (chdir(argv[2]) != 0) return 9;
  if (argc > 3) {
    setxattr(argv[1], "user.k", "v", 1, 0);
  } else if (!blackout_recovering()) {
    if (setxattr("file", "user.kept", "recorded", 8, 0) != 0 || removexattr("file", "user.gone") != 0) return 9;
  } else {
    EXPECT(attribute("file", "user.kept") == "before" && attribute("file", "user.gone") == "before");
    EXPECT(setxattr("file", "user.kept", "restart", 7, XATTR_REPLACE) == 0);
    EXPECT(removexattr("file", "user.gone") == 0 && removexattr("file", "user.gone") == -1 && errno == ENODATA);
    EXPECT(attribute("file", "user.kept") == "restart" && attribute("file", "user.gone") == "(none)");
    int other = open("other", O_RDONLY);
    EXPECT(fsetxattr(other, "user.new", "restart", 7, XATTR_CREATE) == 0 && attribute("other", "user.new") == "restart");
    char names[64];
    EXPECT(listxattr("other", names, sizeof names) == 9 && strcmp(names, "user.new") == 0);
  }
  twoStores(pool);
}
