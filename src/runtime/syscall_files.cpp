#include "runtime/syscall_files.h"

#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace blackout::rt {

namespace {

template <class T>
T* pointer(long a) {
  return reinterpret_cast<T*>(a);
}
const char* path(long a) { return pointer<const char>(a); }
long address(void* p) { return reinterpret_cast<long>(p); }

}  // namespace

bool callOnFile(long number, const long (&a)[6], long& r) {
  auto is = [&](long value) {
    r = value;
    return true;
  };
  switch (number) {
    case SYS_open:
      return is(open(path(a[0]), int(a[1]), mode_t(a[2])));
    case SYS_creat:
      return is(creat(path(a[0]), mode_t(a[1])));
    case SYS_openat:
      return is(openat(int(a[0]), path(a[1]), int(a[2]), mode_t(a[3])));
    case SYS_openat2: {
      const auto* how = pointer<const open_how>(a[2]);
      // With rules for the way of its own: the kernel must see the path itself.
      if (how == nullptr || how->resolve != 0 || a[3] != long(sizeof *how)) return false;
      return is(openat(int(a[0]), path(a[1]), int(how->flags), mode_t(how->mode)));
    }
    case SYS_close:
      return is(close(int(a[0])));
    case SYS_dup:
      return is(dup(int(a[0])));
    case SYS_dup2:
      return is(dup2(int(a[0]), int(a[1])));
    case SYS_dup3:
      return is(dup3(int(a[0]), int(a[1]), int(a[2])));
    case SYS_fcntl:
      return is(fcntl(int(a[0]), int(a[1]), a[2]));
    case SYS_flock:
      return is(flock(int(a[0]), int(a[1])));
    case SYS_read:
      return is(read(int(a[0]), pointer<void>(a[1]), size_t(a[2])));
    case SYS_write:
      return is(write(int(a[0]), pointer<void>(a[1]), size_t(a[2])));
    case SYS_pread64:
      return is(pread(int(a[0]), pointer<void>(a[1]), size_t(a[2]), a[3]));
    case SYS_pwrite64:
      return is(pwrite(int(a[0]), pointer<void>(a[1]), size_t(a[2]), a[3]));
    case SYS_readv:
      return is(readv(int(a[0]), pointer<const iovec>(a[1]), int(a[2])));
    case SYS_writev:
      return is(writev(int(a[0]), pointer<const iovec>(a[1]), int(a[2])));
    case SYS_preadv:
      return is(preadv(int(a[0]), pointer<const iovec>(a[1]), int(a[2]), a[3]));
    case SYS_pwritev:
      return is(pwritev(int(a[0]), pointer<const iovec>(a[1]), int(a[2]), a[3]));
    case SYS_ftruncate:
      return is(ftruncate(int(a[0]), a[1]));
    case SYS_truncate:
      return is(truncate(path(a[0]), a[1]));
    case SYS_fallocate:
      return is(fallocate(int(a[0]), int(a[1]), a[2], a[3]));
    case SYS_copy_file_range:
      return is(copy_file_range(int(a[0]), pointer<off_t>(a[1]), int(a[2]), pointer<off_t>(a[3]), size_t(a[4]),
                                unsigned(a[5])));
    case SYS_sendfile:
      return is(sendfile(int(a[0]), int(a[1]), pointer<off_t>(a[2]), size_t(a[3])));
    case SYS_splice:
      return is(splice(int(a[0]), pointer<off_t>(a[1]), int(a[2]), pointer<off_t>(a[3]), size_t(a[4]), unsigned(a[5])));
    case SYS_vmsplice:
      return is(vmsplice(int(a[0]), pointer<const iovec>(a[1]), size_t(a[2]), unsigned(a[3])));
    case SYS_process_vm_readv:
      return is(process_vm_readv(pid_t(a[0]), pointer<const iovec>(a[1]), size_t(a[2]), pointer<const iovec>(a[3]),
                                 size_t(a[4]), size_t(a[5])));
    case SYS_process_vm_writev:
      return is(process_vm_writev(pid_t(a[0]), pointer<const iovec>(a[1]), size_t(a[2]), pointer<const iovec>(a[3]),
                                  size_t(a[4]), size_t(a[5])));
    case SYS_fsync:
      return is(fsync(int(a[0])));
    case SYS_fdatasync:
      return is(fdatasync(int(a[0])));
    case SYS_mmap:
      return is(address(mmap(pointer<void>(a[0]), size_t(a[1]), int(a[2]), int(a[3]), int(a[4]), a[5])));
    case SYS_munmap:
      return is(munmap(pointer<void>(a[0]), size_t(a[1])));
    case SYS_mremap:
      return is(address(mremap(pointer<void>(a[0]), size_t(a[1]), size_t(a[2]), int(a[3]), pointer<void>(a[4]))));
    case SYS_mprotect:
      return is(mprotect(pointer<void>(a[0]), size_t(a[1]), int(a[2])));
    case SYS_msync:
      return is(msync(pointer<void>(a[0]), size_t(a[1]), int(a[2])));
    case SYS_madvise:
      return is(madvise(pointer<void>(a[0]), size_t(a[1]), int(a[2])));
    case SYS_unlink:
      return is(unlink(path(a[0])));
    case SYS_unlinkat:
      return is(unlinkat(int(a[0]), path(a[1]), int(a[2])));
    case SYS_rename:
      return is(rename(path(a[0]), path(a[1])));
    case SYS_renameat:
      return is(renameat(int(a[0]), path(a[1]), int(a[2]), path(a[3])));
    case SYS_renameat2:
      return is(renameat2(int(a[0]), path(a[1]), int(a[2]), path(a[3]), unsigned(a[4])));
    case SYS_stat:
      return is(stat(path(a[0]), pointer<struct stat>(a[1])));
    case SYS_fstat:
      return is(fstat(int(a[0]), pointer<struct stat>(a[1])));
    case SYS_lstat:
      return is(lstat(path(a[0]), pointer<struct stat>(a[1])));
    case SYS_newfstatat:
      return is(fstatat(int(a[0]), path(a[1]), pointer<struct stat>(a[2]), int(a[3])));
    case SYS_statx:
      return is(statx(int(a[0]), path(a[1]), int(a[2]), unsigned(a[3]), pointer<struct statx>(a[4])));
    case SYS_access:
      return is(access(path(a[0]), int(a[1])));
    case SYS_faccessat:
      return is(faccessat(int(a[0]), path(a[1]), int(a[2]), 0));
    case SYS_mkdir:
      return is(mkdir(path(a[0]), mode_t(a[1])));
    case SYS_chdir:
      return is(chdir(path(a[0])));
    default:
      return false;
  }
}

}  // namespace blackout::rt
