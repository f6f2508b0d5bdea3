#include "runtime/trap/patches.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/trap/fence_search.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/near_memory.h"
#include "runtime/trap/stub_memory.h"
#include "runtime/trap/stubs.h"

namespace blackout::rt {

namespace {

constexpr uint8_t kBreakpoint = 0xcc;
constexpr uintptr_t kPage = 4096;

size_t wholePages(size_t bytes) { return (bytes + kPage - 1) & -kPage; }

// The patches of one file, in the order of addresses; their stubs are in the same order. Whoever looks something up in
// a file is executing it, so it isn't being unloaded; and a slot that is being changed for another file has no range.
struct Patched {
  uintptr_t begin;
  uintptr_t end;  // 0: free. Written last, and zeroed first
  Row* rows;
  size_t count;
  size_t rowBytes;  // mapped
  uintptr_t stubs;
  uintptr_t stubsEnd;
};
constexpr int kMaxFiles = 1024;
constinit Patched files[kMaxFiles] = {};
constinit int used = 0;

const Row* lastRow(const Patched& file, uintptr_t address, uintptr_t (*key)(const Row&)) {
  size_t low = 0;
  size_t high = file.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (key(file.rows[middle]) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? nullptr : &file.rows[low - 1];
}

const Row* rowAt(uintptr_t pc) {
  int n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  for (int i = 0; i < n; ++i) {
    const Patched& file = files[i];
    if (pc >= __atomic_load_n(&file.end, __ATOMIC_ACQUIRE) || pc < file.begin) continue;
    const Row* row = lastRow(file, pc, [](const Row& r) { return r.patch.pc; });
    return row != nullptr && row->patch.pc == pc ? row : nullptr;
  }
  return nullptr;
}

Patched* freeSlot() {
  for (int i = 0; i < kMaxFiles; ++i)
    if (files[i].end == 0) {
      if (i >= used) __atomic_store_n(&used, i + 1, __ATOMIC_RELEASE);
      return &files[i];
    }
  return nullptr;
}

// Code of the file, while it is being written; false: it can't be.
bool setWritable(const dl_phdr_info& info, bool writable) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0) continue;
    uintptr_t begin = (info.dlpi_addr + p.p_vaddr) & -kPage;
    uintptr_t end = wholePages(info.dlpi_addr + p.p_vaddr + p.p_memsz);
    int own = ((p.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((p.p_flags & PF_W) != 0 ? PROT_WRITE : 0) | PROT_EXEC;
    if (!writable) {
      syscall(SYS_mprotect, begin, end - begin, own);
    } else if (syscall(SYS_mprotect, begin, end - begin, own | PROT_WRITE) != 0 &&
               syscall(SYS_mprotect, begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
      // Some kernels refuse code that is writable and executable at once.
      return false;
    }
  }
  return true;
}

// Bytes behind the jump that nothing leads to: loud if something does.
void replace(const Row& row, uint8_t room) {
  auto* at = reinterpret_cast<uint8_t*>(row.patch.pc);
  if (row.breakpoint) {
    *at = kBreakpoint;
    return;
  }
  auto distance = int32_t(row.stub - (row.patch.pc + kJumpLength));
  *at = 0xe9;
  memcpy(at + 1, &distance, sizeof distance);
  memset(at + kJumpLength, kBreakpoint, room - kJumpLength);
}

uint8_t roomOf(const Row& row) { return row.patch.kind == BLACKOUT_SITE_Request ? row.patch.length : row.copied; }

uintptr_t mapAnywhere(size_t size, int protection) {
  long p = syscall(SYS_mmap, nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == -1 ? 0 : uintptr_t(p);
}

void unmap(const Patched& file) {
  if (file.rows != nullptr) syscall(SYS_munmap, file.rows, file.rowBytes);
  if (file.stubs != 0) syscall(SYS_munmap, file.stubs, file.stubsEnd - file.stubs);
}

// Stubs and rows of everything found. Without memory near the file, breakpoints are all that can be had.
bool prepare(const PatchTarget& target, PatchAction action, FenceSearch& search, Patched& file) {
  size_t size = wholePages(search.found.size() * kMaxStub);
  bool jumps = prepareStubs();
  file.rowBytes = wholePages(search.found.size() * sizeof(Row));
  file.rows = reinterpret_cast<Row*>(mapAnywhere(file.rowBytes, PROT_READ | PROT_WRITE));
  file.stubs = mapNear(target.begin, target.end, size);
  if (file.stubs == 0) file.stubs = takeKeptMemory(target.begin, target.end, size);
  if (file.stubs == 0) {
    jumps = false;
    file.stubs = mapAnywhere(size, PROT_READ | PROT_WRITE);
  }
  if (file.stubs != 0) file.stubsEnd = file.stubs + size;
  if (file.rows == nullptr || file.stubs == 0) return false;
  uintptr_t at = file.stubs;
  for (const Fence& fence : search.found) {
    Row& row = file.rows[file.count];
    row.action = action;
    row.stub = at;
    row.breakpoint = !jumps || fence.room < kJumpLength;
    size_t written = writeStub(fence, row);
    if (written == 0 && !row.breakpoint) {
      row.breakpoint = true;
      written = writeStub(fence, row);
    }
    if (written == 0) continue;
    at += written;
    ++file.count;
  }
  uintptr_t end = wholePages(at);
  if (end < file.stubsEnd) syscall(SYS_munmap, end, file.stubsEnd - end);
  file.stubsEnd = end;
  return end == file.stubs || syscall(SYS_mprotect, file.stubs, end - file.stubs, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace

PatchCount patchModule(const PatchTarget& target, PatchAction action) {
  FenceSearch search;
  search.sitesBegin = target.sitesBegin;
  search.sitesEnd = target.sitesEnd;
  PatchCount count;
  if (!searchFences(*target.info, search)) return count;
  uint32_t found = ordering(search.found);
  count.unproved = search.unproved;
  count.requests = search.requests;
  if (search.found.size() == 0) return count;

  Patched file{target.begin, target.end, nullptr, 0, 0, 0, 0};
  Patched* slot = freeSlot();
  if (slot == nullptr || !prepare(target, action, search, file) || !setWritable(*target.info, true)) {
    unmap(file);
    count.unproved += found;
    return count;
  }
  // A breakpoint may be executed as soon as it is written.
  slot->begin = file.begin;
  slot->rows = file.rows;
  slot->count = file.count;
  slot->rowBytes = file.rowBytes;
  slot->stubs = file.stubs;
  slot->stubsEnd = file.stubsEnd;
  __atomic_store_n(&slot->end, file.end, __ATOMIC_RELEASE);
  for (size_t i = 0; i < file.count; ++i) {
    replace(file.rows[i], roomOf(file.rows[i]));
    if (file.rows[i].patch.kind == kPauseKind) continue;
    ++count.patched;
    if (!file.rows[i].breakpoint) ++count.jumps;
  }
  setWritable(*target.info, false);
  count.unproved += found - count.patched;
  return count;
}

void forgetPatches(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < used; ++i) {
    Patched file = files[i];
    if (file.end == 0 || file.begin < begin || file.end > end) continue;
    __atomic_store_n(&files[i].end, uintptr_t(0), __ATOMIC_SEQ_CST);
    files[i].stubs = files[i].stubsEnd = 0;
    forgetInstructions(file.stubs, file.stubsEnd);  // those that faulted there
    unmap(file);
  }
}

const Patch* patchAt(uintptr_t pc) {
  const Row* row = rowAt(pc);
  return row == nullptr ? nullptr : &row->patch;
}

bool patchTrapped(ucontext_t& context, PatchAction action) {
  greg_t& rip = context.uc_mcontext.gregs[REG_RIP];
  const Row* row = rowAt(uintptr_t(rip) - 1);
  if (row == nullptr || !row->breakpoint) return false;
  rip = greg_t(row->patch.pc);
  act(*row, action, context);
  rip = greg_t(row->copy);
  return true;
}

uintptr_t placeInProgram(uintptr_t pc) {
  int n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  for (int i = 0; i < n; ++i) {
    const Patched& file = files[i];
    if (__atomic_load_n(&file.end, __ATOMIC_ACQUIRE) == 0 || pc < file.stubs || pc >= file.stubsEnd) continue;
    const Row* row = lastRow(file, pc, [](const Row& r) { return r.stub; });
    // The test before the copy, and the call behind it, belong to the first instruction.
    bool inCopy = pc >= row->copy && pc <= row->copy + row->copied;
    return inCopy ? row->patch.pc + (pc - row->copy) : row->patch.pc;
  }
  return pc;
}

uintptr_t placeOfOriginal(uintptr_t pc) {
  int n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  for (int i = 0; i < n; ++i) {
    const Patched& file = files[i];
    if (pc >= __atomic_load_n(&file.end, __ATOMIC_ACQUIRE) || pc < file.begin) continue;
    const Row* row = lastRow(file, pc, [](const Row& r) { return r.patch.pc; });
    bool inside = row != nullptr && !row->breakpoint && pc - row->patch.pc < row->copied;
    return inside ? row->copy + (pc - row->patch.pc) : pc;
  }
  return pc;
}

bool copyOfPatch(uintptr_t pc, FunctionRange& copy) {
  int n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  for (int i = 0; i < n; ++i) {
    const Patched& file = files[i];
    if (__atomic_load_n(&file.end, __ATOMIC_ACQUIRE) == 0 || pc < file.stubs || pc >= file.stubsEnd) continue;
    const Row* row = lastRow(file, pc, [](const Row& r) { return r.stub; });
    if (row->breakpoint || pc < row->copy || pc >= row->copy + row->copied) return false;
    copy = {row->copy, row->copy + row->copied + kJumpLength};
    return true;
  }
  return false;
}

}  // namespace blackout::rt
