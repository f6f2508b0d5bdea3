// The patcher on libraries as they are installed: what it makes of them and how long it takes, that they still work,
// and what a locked instruction costs.
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "loaded_file.h"
#include "patched_code.h"
#include "runtime/recorder.h"
#include "runtime/trap/eh_frame.h"
#include "runtime/trap/functions.h"
#include "runtime/trap/instruction_shape.h"
#include "runtime/trap/patches.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {
constinit thread_local ThreadState self = {};
}  // namespace blackout::rt

using namespace blackout::rt;

namespace {

std::atomic<uint64_t> actions;
void action(const Patch&, ucontext_t&) { actions.fetch_add(1, std::memory_order_relaxed); }

void onTrap(int, siginfo_t*, void* context) {
  if (!patchTrapped(*static_cast<ucontext_t*>(context), action)) abort();
}

double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// Patched once, and for good: the process uses some of them itself.
struct PatchedLibrary {
  std::unique_ptr<LoadedFile> file;
  PatchCount count;
  double milliseconds = 0;
};

PatchedLibrary& patched(const std::string& name) {
  static auto* libraries = new std::map<std::string, PatchedLibrary>;
  PatchedLibrary& library = (*libraries)[name];
  if (library.file != nullptr) return library;
  library.file = std::make_unique<LoadedFile>(name);
  if (!library.file->loaded()) return library;
  double begin = seconds();
  library.count = patchModule(library.file->target(), action);
  library.milliseconds = (seconds() - begin) * 1e3;
  printf("%-20s %6u patched %6u jumps %5u unproved %s %8.2f ms\n", name.c_str(), library.count.patched,
         library.count.jumps, library.count.unproved, library.count.requests ? "pmemcheck" : "         ",
         library.milliseconds);
  fflush(stdout);
  return library;
}

class Libraries : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(loadZydis());
    struct sigaction a = {};
    a.sa_sigaction = onTrap;
    a.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGTRAP, &a, nullptr);
    self.active = false;
    actions = 0;
  }
};

TEST_F(Libraries, ArePatched) {
  for (const char* name :
       {"libpmem.so.1", "libpmem2.so.1", "libpmemobj.so.1", "libpmemblk.so.1", "libpmemlog.so.1", "libcrypto.so.3",
        "libstdc++.so.6", "libgcc_s.so.1", "libZydis.so.4.0", "libLLVM.so.19.1", "libglib-2.0.so.0", "libz.so.1",
        "libzstd.so.1", "libsqlite3.so.0", "libtbb.so.12", "libpython3.11.so.1.0", "libatomic.so.1"}) {
    PatchedLibrary& library = patched(name);
    if (!library.file->loaded()) continue;
    // Both have locked instructions. How long it takes is printed for bench/run.
    if (std::string(name) == "libpmemobj.so.1" || std::string(name) == "libstdc++.so.6")
      EXPECT_GT(library.count.patched, 0u) << name;
  }
}

// The quick lengths are those of the decoder, and nothing that orders or flushes is missed.
TEST_F(Libraries, ShapesAgreeWithTheDecoder) {
  size_t instructions = 0;
  size_t unknown = 0;
  size_t ordering = 0;
  // Not patched by other tests, or before they are.
  for (const char* name : {"libZydis.so.4.0", "libz.so.1", "libzstd.so.1", "libLLVM-14.so.1", "libssl.so.3",
                           "libpmempool.so.1", "librpmem.so.1", PATCHED_CODE_FOLDER "/libpatched_code_gcc.so"}) {
    LoadedFile file(name);
    if (!file.loaded()) continue;
    const dl_phdr_info& info = *file.target().info;
    MappedArray<FunctionRange> functions;
    ASSERT_TRUE(functionsOf(info, frameTableOf(info), functions));
    for (const FunctionRange& f : functions)
      for (auto p = f.begin; p < f.end;) {
        ZydisDecodedInstruction i;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (!decode(reinterpret_cast<const void*>(p), f.end - p, i, operands)) break;
        Shape shape = shapeOf(reinterpret_cast<const uint8_t*>(p), reinterpret_cast<const uint8_t*>(f.end));
        bool orders = (i.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || i.mnemonic == ZYDIS_MNEMONIC_SFENCE ||
                      i.mnemonic == ZYDIS_MNEMONIC_MFENCE || i.mnemonic == ZYDIS_MNEMONIC_CLWB ||
                      i.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i.mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
                      (i.mnemonic == ZYDIS_MNEMONIC_XCHG && (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
                                                             operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY));
        ++instructions;
        ordering += orders;
        if (shape.length == 0)
          ++unknown;
        else
          ASSERT_EQ(shape.length, i.length) << name << " at " << std::hex << p - info.dlpi_addr;
        if (orders) ASSERT_TRUE(shape.ordering) << name << " at " << std::hex << p - info.dlpi_addr;
        p += i.length;
      }
  }
  EXPECT_GT(ordering, 50u);
  EXPECT_LT(unknown, instructions / 1000);
}

TEST_F(Libraries, CarryRequests) {
  PatchedLibrary& library = patched("libpmemobj.so.1");
  if (!library.file->loaded()) GTEST_SKIP() << "not installed";
  EXPECT_TRUE(library.count.requests);
  EXPECT_GT(library.count.patched, 100u);
  EXPECT_FALSE(patched("libstdc++.so.6").count.requests);
}

TEST_F(Libraries, CryptographyStillWorks) {
  PatchedLibrary& library = patched("libcrypto.so.3");
  if (!library.file->loaded()) GTEST_SKIP() << "not installed";
  auto sha256 = library.file->find<unsigned char* (*)(const void*, size_t, unsigned char*)>("SHA256");
  ASSERT_NE(sha256, nullptr);
  for (bool active : {false, true}) {
    self.active = active;
    unsigned char digest[32];
    ASSERT_NE(sha256("abc", 3, digest), nullptr);
    std::string text;
    for (unsigned char c : digest) {
      char hex[3];
      snprintf(hex, sizeof hex, "%02x", c);
      text += hex;
    }
    EXPECT_EQ(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
  EXPECT_GT(actions, 0u);
}

TEST_F(Libraries, PoolsStillWork) {
  for (const char* name : {"libpmem.so.1", "libpmem2.so.1"}) patched(name);
  PatchedLibrary& library = patched("libpmemobj.so.1");
  if (!library.file->loaded()) GTEST_SKIP() << "not installed";
  struct Oid {
    uint64_t pool, offset;
  };
  auto create = library.file->find<void* (*)(const char*, const char*, size_t, mode_t)>("pmemobj_create");
  auto open = library.file->find<void* (*)(const char*, const char*)>("pmemobj_open");
  auto root = library.file->find<Oid (*)(void*, size_t)>("pmemobj_root");
  auto copy = library.file->find<void* (*)(void*, void*, const void*, size_t)>("pmemobj_memcpy_persist");
  auto close = library.file->find<void (*)(void*)>("pmemobj_close");
  auto check = library.file->find<int (*)(const char*, const char*)>("pmemobj_check");
  ASSERT_TRUE(create && open && root && copy && close && check);
  char path[] = "/tmp/patched_pool_XXXXXX";
  int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  ::close(fd);
  for (bool active : {false, true}) {
    self.active = active;
    unlink(path);
    void* pool = create(path, "patched", 8 << 20, 0600);
    ASSERT_NE(pool, nullptr);
    Oid oid = root(pool, 64);
    char* object = static_cast<char*>(pool) + oid.offset;
    copy(pool, object, "forty-two", 10);
    close(pool);
    EXPECT_EQ(check(path, "patched"), 1);
    pool = open(path, "patched");
    ASSERT_NE(pool, nullptr);
    EXPECT_STREQ(static_cast<char*>(pool) + root(pool, 64).offset, "forty-two");
    close(pool);
  }
  unlink(path);
  EXPECT_GT(actions, 0u);
}

// Exceptions and threads of a patched libstdc++.
TEST_F(Libraries, ExceptionsStillWork) {
  patched("libstdc++.so.6");
  patched("libgcc_s.so.1");
  std::atomic<int> caught = 0;
  auto body = [&](bool active) {
    for (int i = 0; i < 1000; ++i) {
      self.active = active;
      try {
        (void)std::stoi("no number");
      } catch (const std::invalid_argument&) {
        ++caught;
      }
    }
  };
  std::thread one(body, false), two(body, true);
  one.join();
  two.join();
  EXPECT_EQ(caught, 2000);
}

// The best of some runs, in nanoseconds for one time.
double cost(void (*loop)(uint64_t*, uint64_t)) {
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    uint64_t counter = 0;
    double begin = seconds();
    loop(&counter, 100000);
    best = std::min(best, (seconds() - begin) * 1e9 / 100000);
  }
  return best;
}

// Figures for bench/run, which has their limits.
TEST_F(Libraries, LockedInstructionsActOnlyWhenActive) {
  LoadedFile file(PATCHED_CODE_FOLDER "/libpatched_code_gcc.so");
  ASSERT_TRUE(file.loaded());
  auto* xadd = file.find<void (*)(uint64_t*, uint64_t)>("patched_xadd_loop");
  auto* xchg = file.find<void (*)(uint64_t*, uint64_t)>("patched_xchg_loop");
  double xaddBefore = cost(xadd), xchgBefore = cost(xchg);
  patchModule(file.target(), action);
  double xaddAfter = cost(xadd), xchgAfter = cost(xchg);
  EXPECT_EQ(actions, 0u);
  self.active = true;
  double xaddActive = cost(xadd);
  printf("lock xadd: %.2f ns, patched %.2f, with an action %.2f; xchg: %.2f ns, patched %.2f\n", xaddBefore, xaddAfter,
         xaddActive, xchgBefore, xchgAfter);
  EXPECT_GT(actions, 0u);
}

}  // namespace
