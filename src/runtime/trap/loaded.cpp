#include "runtime/trap/loaded.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/trapped_id.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/trap/eh_frame.h"
#include "runtime/trap/functions.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/own_stack.h"
#include "runtime/trap/stub_memory.h"

namespace blackout::rt {

namespace {

struct Extent {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
};

struct Loaded {
  uintptr_t begin;
  uintptr_t end;
  uintptr_t bias;
  uint32_t nameHash;
  bool present;  // seen in the walk that is under way
  bool runtime;  // ours, or libc's
  bool searched;
  PatchCount patches;
  Extent code;  // empty: it is left alone
  bool near;    // there is memory for its stubs
};
constexpr int kMaxLoaded = 1024;
// Constant: it is in use before the constructors of this library.
constinit Loaded loaded[kMaxLoaded] = {};
int loadedCount = 0;

Extent extentOf(const dl_phdr_info& info) {
  Extent e;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    uintptr_t from = info.dlpi_addr + p.p_vaddr;
    if (from < e.begin) e.begin = from;
    if (from + p.p_memsz > e.end) e.end = from + p.p_memsz;
  }
  return e;
}

const char* baseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}
bool begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// The language's own libraries, whose locks and calls are interposed by name, and what is ours.
bool isRuntimeName(const char* name) {
  static const char* const kNames[] = {"libc.so",        "libc-",         "ld-linux",  "ld-2",        "libm.so",
                                       "libdl.so",       "libpthread.so", "librt.so",  "libgcc_s.so", "libstdc++.so",
                                       "libblackout.so", "libZydis",      "libZycore", "linux-vdso",  "libasan.so",
                                       "libtsan.so",     "libubsan.so"};
  for (const char* n : kNames)
    if (begins(name, n)) return true;
  return false;
}

// What runs before anything can be handled, or is ours.
bool isOwnName(const char* name) {
  static const char* const kNames[] = {"ld-linux",   "ld-2",    "libblackout", "libZydis", "libZycore",
                                       "linux-vdso", "libasan", "libtsan",     "libubsan"};
  for (const char* n : kNames)
    if (begins(name, n)) return true;
  return false;
}

Extent codeOf(const dl_phdr_info& info) {
  Extent e;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || (p.p_flags & PF_R) == 0) continue;
    if (e.end != 0) return {};  // code in several pieces: nobody makes such files
    e = {info.dlpi_addr + p.p_vaddr, info.dlpi_addr + p.p_vaddr + p.p_filesz};
  }
  return e;
}

// A text among the names that the file's dynamic symbols and needed libraries have.
bool namesDynamic(const dl_phdr_info& info, const char* text) {
  const char* strings = nullptr;
  size_t size = 0;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* d = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; ++d) {
      // The loader has made an address of it, except in the vdso.
      if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRSZ) size = d->d_un.d_val;
    }
  }
  Extent e = extentOf(info);
  auto at = reinterpret_cast<uintptr_t>(strings);
  if (strings == nullptr || at < e.begin || at + size > e.end) return false;
  return memmem(strings, size, text, strlen(text)) != nullptr;
}
bool isCompiled(const dl_phdr_info& info) { return namesDynamic(info, "__blackout_register_module"); }

struct Need {
  bool first = true;
  bool needed = false;
};
int lookAt(dl_phdr_info* info, size_t, void* argument) {
  auto& need = *static_cast<Need*>(argument);
  bool program = need.first;
  need.first = false;
  const char* name = baseName(info->dlpi_name == nullptr ? "" : info->dlpi_name);
  if (isCompiled(*info) || (!program && isRuntimeName(name))) return 0;
  // libpmem's functions are the runtime's own (libpmem.cpp); libpmem2 and all that use one of them are not.
  bool works = namesDynamic(*info, "libpmem.so") || namesDynamic(*info, "libpmem2.so") || begins(name, "libpmem2.so");
  need.needed |= program || works;
  return 0;
}

constinit LoaderEvents loaderEvents = {};

// Under the loader's lock, or before there is a second thread.
int take(dl_phdr_info* info, size_t, void* argument) {
  Extent e = extentOf(*info);
  if (e.end == 0) return 0;
  for (int i = 0; i < loadedCount; ++i)
    if (loaded[i].begin == e.begin && loaded[i].end == e.end) {
      loaded[i].present = true;
      return 0;
    }
  if (loadedCount == kMaxLoaded) return 0;
  Loaded& l = loaded[loadedCount];
  char buffer[PATH_MAX];
  const char* path = moduleName(*info, buffer);
  l = {e.begin, e.end, info->dlpi_addr, blackout_name_hash(path), true, isRuntimeName(baseName(path)), false, {},
       {},      false};
  FunctionRange sanitizer = sanitizerCode(*info);
  if (!isOwnName(baseName(path)) && sanitizer.begin >= sanitizer.end) l.code = codeOf(*info);
  FrameTable table = frameTableOf(*info);
  if (table.header != nullptr) addFrameTable(table);
  if (!l.runtime) loaderEvents.loaded(*info);
  if (!l.runtime && !isCompiled(*info)) {
    l.patches = patchModule({e.begin, e.end, info}, *static_cast<PatchAction*>(argument));
    l.searched = true;
  }
  __atomic_store_n(&loadedCount, loadedCount + 1, __ATOMIC_RELEASE);
  return 0;
}

void takeAll(PatchAction action) {
  for (int i = 0; i < loadedCount; ++i) loaded[i].present = false;
  dl_iterate_phdr(take, &action);
  for (int i = 0; i < loadedCount; ++i) {
    Loaded& l = loaded[i];
    if (l.present || l.begin == 0) continue;
    forgetAccessPatches(l.begin, l.end);
    forgetPatches(l.begin, l.end);
    forgetFrameTables(l.begin, l.end);
    forgetInstructions(l.begin, l.end);
    loaderEvents.unloaded(l.begin);
    l = {};
  }
  // When all have what they need near them.
  if (options.patches == 0) return;
  for (int i = 0; i < loadedCount; ++i) {
    Loaded& l = loaded[i];
    if (l.near || l.code.begin >= l.code.end) continue;
    keepStubMemory(l.begin, l.end);
    l.near = true;
  }
}

const Loaded* holding(uintptr_t pc) {
  for (int i = __atomic_load_n(&loadedCount, __ATOMIC_ACQUIRE) - 1; i >= 0; --i)
    if (pc >= loaded[i].begin && pc < loaded[i].end) return &loaded[i];
  return nullptr;
}

uintptr_t loaderBreak = 0;
PatchAction patchAction = nullptr;

struct Instrumented {
  uintptr_t inside;
  uintptr_t sitesBegin;
  uintptr_t sitesEnd;
};
int searchOne(dl_phdr_info* info, size_t, void* argument) {
  const auto& wanted = *static_cast<const Instrumented*>(argument);
  Extent e = extentOf(*info);
  if (wanted.inside < e.begin || wanted.inside >= e.end) return 0;
  for (int i = 0; i < loadedCount; ++i)
    if (loaded[i].begin == e.begin && !loaded[i].searched) {
      loaded[i].patches = patchModule({e.begin, e.end, info, wanted.sitesBegin, wanted.sitesEnd}, patchAction);
      loaded[i].searched = true;
    }
  return 1;
}

// Replaces the loader's function, which does nothing but return.
void breakLoader() {
  auto at = _r_debug.r_brk;
  if (at == 0 || *reinterpret_cast<const uint8_t*>(at) != 0xc3) return;
  uintptr_t page = at & ~uintptr_t{4095};
  if (syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  *reinterpret_cast<volatile uint8_t*>(at) = 0xcc;
  syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC);
  loaderBreak = at;
}

}  // namespace

namespace {

// The file that is mapped at `address`, by a line of /proc/self/maps: "begin-end rw-p 00000000 fe:01 4711      /path".
bool fileAt(uintptr_t address, char (&path)[PATH_MAX]) {
  long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  char text[PATH_MAX + 256];
  size_t have = 0;
  bool found = false;
  for (long n; !found && (n = syscall(SYS_read, fd, text + have, sizeof text - 1 - have)) > 0;) {
    have += size_t(n);
    text[have] = '\0';
    char* line = text;
    for (char* eol; !found && (eol = strchr(line, '\n')) != nullptr; line = eol + 1) {
      *eol = '\0';
      char* at = line;
      uintptr_t begin = strtoul(at, &at, 16);
      uintptr_t end = strtoul(at + 1, &at, 16);
      const char* name = strchr(at, '/');
      found = begin <= address && address < end && name != nullptr && strlen(name) < sizeof path;
      if (found) strcpy(path, name);
    }
    have -= size_t(line - text);
    memmove(text, line, have);
  }
  syscall(SYS_close, fd);
  return found;
}

}  // namespace

const char* moduleName(const dl_phdr_info& info, char (&path)[PATH_MAX]) {
  const char* name = info.dlpi_name;
  if (name == nullptr || *name == '\0') {
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    // The loader itself was executed, with the program's name as an argument (ld.so ./program).
    if (strncmp(baseName(path), "ld-linux", 8) == 0) fileAt(reinterpret_cast<uintptr_t>(info.dlpi_phdr), path);
    return path;
  }
  bool file = strchr(name, '/') != nullptr;
  return file && BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3")(name, path) != nullptr ? path : name;
}

bool worksPlainly() {
  Need need;
  dl_iterate_phdr(lookAt, &need);
  return need.needed;
}

namespace {

struct Program {
  bool asked = false;
  bool plain = false;
  Extent extent;
};
constinit Program program;
int lookAtProgram(dl_phdr_info* info, size_t, void*) {
  program = {true, !isCompiled(*info), extentOf(*info)};
  return 1;  // it is the first
}

}  // namespace

bool isPlainProgram() {
  if (!program.asked) dl_iterate_phdr(lookAtProgram, nullptr);
  return program.plain;
}
bool isPlainProgram(uintptr_t begin, uintptr_t end) {
  return isPlainProgram() && program.extent.begin >= begin && program.extent.begin < end;
}

void searchInstrumented(uintptr_t inside, uintptr_t sitesBegin, uintptr_t sitesEnd) {
  Instrumented wanted{inside, sitesBegin, sitesEnd};
  if (sitesBegin != sitesEnd) dl_iterate_phdr(searchOne, &wanted);
}

void followLoader(PatchAction action, LoaderEvents events) {
  patchAction = action;
  loaderEvents = events;
  takeAll(action);
  breakLoader();
}

bool loaderTrapped(ucontext_t& context, PatchAction action) {
  auto& g = context.uc_mcontext.gregs;
  if (loaderBreak == 0 || uintptr_t(g[REG_RIP]) - 1 != loaderBreak) return false;
  g[REG_RIP] = *reinterpret_cast<greg_t*>(g[REG_RSP]);
  g[REG_RSP] += 8;
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) {
    // Files are searched, which a program's stack for signals has no room for.
    withStack([&] {
      takeAll(action);
      loaderEvents.changed();
    });
  }
  return true;
}

const PatchCount* patchesOf(uintptr_t begin) {
  const Loaded* l = holding(begin);
  return l == nullptr || !l->searched ? nullptr : &l->patches;
}

bool carriesRequests(uintptr_t pc) {
  const Loaded* l = holding(pc);
  return l != nullptr && l->patches.requests;
}

bool patchableCode(uintptr_t pc, CodeFile& file) {
  const Loaded* l = holding(pc);
  if (l == nullptr || pc < l->code.begin || pc >= l->code.end) return false;
  file = {l->code.begin, l->code.end, l->runtime};
  return true;
}

bool inRuntime(uintptr_t pc) {
  const Loaded* l = holding(pc);
  return l != nullptr && l->runtime;
}

bool biasOf(uint32_t nameHash, uintptr_t& bias) {
  for (int i = __atomic_load_n(&loadedCount, __ATOMIC_ACQUIRE) - 1; i >= 0; --i)
    if (loaded[i].begin != 0 && loaded[i].nameHash == nameHash) {
      bias = loaded[i].bias;
      return true;
    }
  return false;
}

bool locate(uintptr_t pc, uint32_t& nameHash, uintptr_t& bias) {
  const Loaded* l = holding(pc);
  if (l == nullptr) return false;
  nameHash = l->nameHash;
  bias = l->bias;
  return true;
}

}  // namespace blackout::rt
