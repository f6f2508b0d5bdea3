#include "run/doctor.h"

#include <elf.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "binary/uninstrumented.h"
#include "events/site_table.h"
#include "run/launch.h"

namespace blackout {

namespace {

// Whether a child can do it: this process must not change.
bool childCan(const std::function<bool()>& tried) {
  pid_t child = fork();
  if (child == 0) _exit(tried() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The file that a command's name stands for; empty: there is none.
std::string commandNamed(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* folders = std::getenv("PATH");
  std::string all = folders == nullptr ? "" : folders;
  for (std::size_t from = 0; from <= all.size();) {
    std::size_t end = std::min(all.find(':', from), all.size());
    std::string file = all.substr(from, end - from) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    from = end + 1;
  }
  return {};
}

// Of an ELF file: whether it has a section of this name.
bool hasSection(const std::string& path, std::string_view wanted) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  auto read = [&](std::uint64_t at, void* to, std::size_t size) {
    file.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(size)));
  };
  if (!read(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  auto section = [&](unsigned n, Elf64_Shdr& to) {
    return read(head.e_shoff + std::uint64_t{n} * sizeof to, &to, sizeof to);
  };
  constexpr std::uint64_t kLongest = 1 << 20;
  Elf64_Shdr names{};
  if (!section(head.e_shstrndx, names) || names.sh_size > kLongest) return false;
  std::string text(names.sh_size, '\0');
  if (!read(names.sh_offset, text.data(), text.size())) return false;
  for (unsigned n = 0; n < head.e_shnum; ++n) {
    Elf64_Shdr one{};
    if (section(n, one) && one.sh_name < text.size() && wanted == text.c_str() + one.sh_name) return true;
  }
  return false;
}

Diagnosis fine(std::string what, std::string means) {
  return {Diagnosis::Is::Fine, std::move(what), std::move(means), {}};
}

}  // namespace

std::vector<Diagnosis> examineMachine() {
  std::vector<Diagnosis> out;
  auto row = [&](bool can, std::string what, std::string works, Diagnosis::Is otherwise, std::string means,
                 std::string advice) {
    out.push_back(can ? fine(std::move(what), std::move(works))
                      : Diagnosis{otherwise, std::move(what), std::move(means), std::move(advice)});
  };
  using enum Diagnosis::Is;
  row(childCan([] {
        int now = personality(0xffffffff);
        return now != -1 && personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1;
      }),
      "fixed addresses", "programs have the same addresses in every run", Limited,
      "volatile addresses differ from run to run, and reports say so",
      "in a container, allow the system call personality (docker: --security-opt seccomp=unconfined)");
  row(childCan([] {
        return unshare(CLONE_NEWNET | CLONE_NEWIPC) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0;
      }),
      "namespaces", "restarts have a network and System V objects of their own", Limited,
      "restarts share the machine's network: two of a server get in each other's way, and results may be inconclusive",
      "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a container --security-opt "
      "seccomp=unconfined)");
  row(childCan([] {
        std::uint32_t action = SECCOMP_RET_TRAP;
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
      }),
      "seccomp filters", "system calls of programs that are not compiled by Blackout are followed", Limited,
      "system calls that are made without libc are not seen in programs that are not compiled by Blackout",
      "use a kernel with CONFIG_SECCOMP_FILTER, or build with blackout-clang");
  row(childCan([] { return memfd_create("blackout", MFD_CLOEXEC) >= 0; }), "memory files",
      "images of persistent memory are kept in memory", Missing, "nothing can be restarted",
      "use a kernel with memfd_create (Linux 3.17)");
  unsigned long maps = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> maps;
  constexpr unsigned long kUsual = 65530;
  row(maps >= kUsual, "memory mappings", fmt::format("a process may have {} of them", maps), Limited,
      fmt::format("a process may have only {} of them: large pools of trapped programs can't be protected page by page",
                  maps),
      "sysctl vm.max_map_count=65530");
  std::string clang = commandNamed("clang-19");
  row(!clang.empty(), "clang 19", "blackout-clang and blackout-clang++ can compile (" + clang + ")", Limited,
      "programs can only be checked as they are, without fields and types in reports, and slower",
      "apt-get install clang-19");
  std::string gdb = commandNamed("gdb");
  row(!gdb.empty(), "gdb", "'blackout replay --gdb' works", Limited, "'blackout replay --gdb' has no debugger",
      "apt-get install gdb");
  return out;
}

std::vector<Diagnosis> examineProgram(const std::string& name) {
  std::vector<Diagnosis> out;
  using enum Diagnosis::Is;
  std::string path = commandNamed(name);
  if (path.empty()) {
    out.push_back(
        {Missing, "program", name + ": there is no such program, or it can't be executed", "name one that can"});
    return out;
  }
  auto loaded = checkLoadable(path);
  if (!loaded) {
    out.push_back({Missing, "program", loaded.error().sentence, {}});
    return out;
  }
  out.push_back(fine("program", loaded->script ? path + " is a script; what counts is its interpreter, " + loaded->path
                                               : path + " can be loaded with Blackout's runtime"));
  auto sites = readSiteTable(loaded->path);
  bool instrumented = sites.has_value() && !sites->empty();
  if (instrumented)
    out.push_back(fine("compiled by Blackout", fmt::format("it has {} sites in its own code", sites->size())));
  else
    out.push_back(
        {Limited, "compiled by Blackout",
         hasUnseenFlushes(loaded->path)
             ? "no: it flushes by itself, and is followed by traps, which is slower, and without fields in reports"
             : "no: it is followed by traps, which is slower, and without fields in reports",
         "build it with blackout-clang or blackout-clang++, if its sources are at hand"});
  bool debug = hasSection(loaded->path, ".debug_info") || hasSection(loaded->path, ".debug_line");
  if (debug || instrumented)
    out.push_back(fine("debug information", debug ? "reports have lines and functions" : "the sites have it"));
  else
    out.push_back({Limited, "debug information", "no: reports have functions at best, and no lines",
                   "build it with -g, and don't strip it"});
  return out;
}

}  // namespace blackout
