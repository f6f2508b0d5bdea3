#include "run/launch.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace blackout {

namespace {

Result<std::string> runtimePath() { return libraryFile("libblackout.so"); }

}  // namespace

Result<std::string> libraryFile(const std::string& name) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& base : {self.parent_path().parent_path(), self.parent_path()}) {
    fs::path found = base / "lib" / "blackout" / name;
    if (fs::exists(found, error)) return found.string();
  }
  return fail(name + " is missing beside this command; install Blackout again");
}

Result<std::string> findProgram(const std::string& name, const std::string& where) {
  auto executable = [](const fs::path& p) {
    std::error_code error;
    return fs::is_regular_file(p, error) && access(p.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    std::error_code error;
    return fail(fs::exists(name, error) ? fmt::format("{}: can't be executed; check its permissions", name)
                                        : fmt::format("{}: no such program; check the path {}", name, where));
  }
  std::string path = std::getenv("PATH") == nullptr ? "/usr/bin:/bin" : std::getenv("PATH");
  for (std::size_t from = 0; from <= path.size();) {
    std::size_t end = std::min(path.find(':', from), path.size());
    fs::path candidate = fs::path(path.substr(from, end - from)) / name;
    if (executable(candidate)) return candidate.string();
    from = end + 1;
  }
  return fail(fmt::format("{}: no such program; check the name {}", name, where));
}

namespace {

// Whether the system gives it other rights than its user's, and therefore loads nothing of the user's into it. That
// happens at an exec of the file itself; for a script only its interpreter counts.
bool gainsRights(const std::string& path) {
  struct stat st{};
  struct statvfs mount{};
  if (stat(path.c_str(), &st) != 0 || (statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0))
    return false;
  bool user = (st.st_mode & S_ISUID) != 0 && st.st_uid != getuid();
  bool group = (st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != getgid();
  bool capabilities = getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return user || group || capabilities;
}

// The interpreter that a script's first line names; empty: it has none.
std::string interpreterOf(std::ifstream& file) {
  std::string line;
  file.clear();
  file.seekg(0);
  std::getline(file, line);
  if (line.rfind("#!", 0) != 0) return {};
  std::size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

Result<void> checkElf(std::ifstream& file, const Elf64_Ehdr& head, const std::string& path) {
  if (head.e_ident[EI_CLASS] == ELFCLASS32)
    return fail(fmt::format("{}: a 32-bit program: Blackout's runtime is for x86-64; build it for that (-m64)", path));
  if (head.e_machine != EM_X86_64)
    return fail(fmt::format("{}: a program for another processor: build it for x86-64", path));
  if (gainsRights(path))
    return fail(
        fmt::format("{}: a setuid or setgid program, or one with capabilities: the loader ignores preloaded "
                    "libraries, so Blackout's runtime can't be loaded; name a copy of it without them (cp makes one)",
                    path));
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(head.e_phoff + std::uint64_t{i} * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment))
      return fail(fmt::format("{}: a damaged program file: it is cut short; build it again", path));
    if (segment.p_type != PT_INTERP) continue;
    std::string loader(std::min<std::uint64_t>(segment.p_filesz, 4096), '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(loader.data(), static_cast<std::streamsize>(loader.size()));
    loader.resize(std::strlen(loader.c_str()));
    if (access(loader.c_str(), X_OK) != 0)
      return fail(fmt::format("{}: its loader {} is missing; build it for this system", path, loader));
    return {};
  }
  return fail(
      fmt::format("{}: a static program: Blackout's runtime can't be loaded into it; link it dynamically (without "
                  "-static or -static-pie)",
                  path));
}

}  // namespace

Result<Loaded> checkLoadable(const std::string& path) {
  Loaded loaded{path};
  constexpr int kNested = 5;  // scripts that interpret scripts, as deep as the kernel goes
  for (int i = 0; i < kNested; ++i) {
    std::ifstream file(loaded.path, std::ios::binary);
    // What can't be read may still be run; that it was not tracked shows afterwards.
    if (!file) return loaded;
    Elf64_Ehdr head{};
    file.read(reinterpret_cast<char*>(&head), sizeof head);
    if (file.gcount() >= static_cast<std::streamsize>(sizeof(Elf32_Ehdr)) &&
        std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
      auto ok = checkElf(file, head, loaded.path);
      if (ok) return loaded;
      return fail(loaded.script
                      ? fmt::format("{}: a script, whose interpreter can't be used: {}", path, ok.error().sentence)
                      : ok.error().sentence);
    }
    std::string interpreter = interpreterOf(file);
    if (interpreter.empty())
      return fail(
          fmt::format("{}: neither a program nor a script: a script's first line names its interpreter, as "
                      "#!/bin/sh",
                      loaded.path));
    if (access(interpreter.c_str(), X_OK) != 0)
      return fail(fmt::format("{}: its interpreter {} is missing; fix its first line", loaded.path, interpreter));
    loaded = {interpreter, true};
  }
  return fail(fmt::format("{}: too many scripts that interpret each other; name the program itself", path));
}

std::vector<char*> argumentsOf(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  return argv;
}

void allowRandomAddresses() {
  int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) & ~static_cast<unsigned long>(ADDR_NO_RANDOMIZE));
}

namespace {

// While it lives, new programs get the same addresses in every run, where that can be had.
class FixedAddresses {
 public:
  FixedAddresses() : was_(personality(0xffffffff)) {
    possible_ = was_ != -1 && personality(static_cast<unsigned long>(was_) | ADDR_NO_RANDOMIZE) != -1;
  }
  ~FixedAddresses() {
    if (possible_) personality(static_cast<unsigned long>(was_));
  }
  FixedAddresses(const FixedAddresses&) = delete;
  FixedAddresses& operator=(const FixedAddresses&) = delete;
  bool possible() const { return possible_; }

 private:
  int was_;
  bool possible_ = false;
};

// Which of its functions over memory glibc chooses: the same on every processor that has AVX2, and never non-temporal
// stores, so that a run's stores don't depend on the machine. src/runtime/copy_shape.h has their shapes.
constexpr std::string_view kLibcShapes =
    "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-RTM,-ERMS,AVX_Fast_Unaligned_Load:"
    "glibc.cpu.x86_non_temporal_threshold=0xfffffffffffffff";

// Large heaps by huge pages where the kernel gives them on advice only, as many systems give them to everybody: most of
// a restart of libpmemobj's programs is the heap that they fill at their start, page by page (docs/benchmarks.md).
constexpr std::string_view kLibcHeap = "glibc.malloc.hugetlb=1";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

Result<Launcher> Launcher::find(const std::vector<std::string>& command) {
  Launcher launcher;
  launcher.command_ = command;
  auto program = findProgram(command.at(0));
  if (!program) return tl::unexpected(program.error());
  launcher.program_ = std::move(*program);
  auto loaded = checkLoadable(launcher.program_);
  if (!loaded) return tl::unexpected(loaded.error());
  launcher.loaded_ = std::move(*loaded);
  auto preload = runtimePath();
  if (!preload) return tl::unexpected(preload.error());
  launcher.preload_ = std::move(*preload);
  return launcher;
}

std::vector<std::pair<std::string, std::string>> Launcher::environment(Role role, const RuntimeOptions& options) const {
  std::string others = variable("LD_PRELOAD");
  // The user's own options come first, ours after them.
  std::vector<std::pair<std::string, std::string>> out = {
      {"LD_PRELOAD", others.empty() ? preload_ : preload_ + ":" + others},
      {"BLACKOUT_OPTIONS", variable("BLACKOUT_OPTIONS") + options.text()}};
  auto unlessGiven = [&](const char* name, const char* value) {
    if (std::getenv(name) == nullptr) out.emplace_back(name, value);
  };
  unlessGiven("PMEM_IS_PMEM_FORCE", "1");
  // The user's own tunables of a kind stay as they are.
  std::string tunables = variable("GLIBC_TUNABLES");
  for (auto [kind, ours] : {std::pair("glibc.cpu.", kLibcShapes), std::pair("glibc.malloc.", kLibcHeap)})
    if (tunables.find(kind) == std::string::npos) tunables += (tunables.empty() ? "" : ":") + std::string(ours);
  out.emplace_back("GLIBC_TUNABLES", tunables);
  unlessGiven("PMEM2_FORCE_GRANULARITY", "CACHE_LINE");  // the same for libpmem2
  if (role == Role::Recording) return out;
  // Functions are bound once, by the zygote, instead of by every run.
  unlessGiven("LD_BIND_NOW", "1");
  // A sanitizer would start a helper for its report, a process more in every run that fails, and leave in a way that
  // shows no stack: frames and places are ours to find.
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "MSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    std::string given = variable(name);
    out.emplace_back(name, (given.empty() ? "" : given + ":") + "symbolize=0:abort_on_error=1");
  }
  return out;
}

Result<Launched> Launcher::start(Role role, const RuntimeOptions& options, const std::function<void()>& inChild,
                                 const std::function<void(pid_t)>& forked) const {
  auto none = [&](std::string_view what, int error) {
    return fail(fmt::format("{}: {}: {}", program_, what, std::strerror(error)), ExitCode::Internal);
  };
  std::vector<char*> argv = argumentsOf(command_);
  auto variables = environment(role, options);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return none("no pipe", errno);
  Launched launched;
  {
    FixedAddresses fixed;
    launched.fixedAddresses = fixed.possible();
    launched.pid = fork();
    if (launched.pid == 0) {
      inChild();
      std::signal(SIGXFSZ, SIG_DFL);  // ignored by the command line, and nothing of the program's
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      execv(program_.c_str(), argv.data());
      int error = errno;
      ssize_t ignored = write(report[1], &error, sizeof error);
      (void)ignored;
      _exit(127);
    }
  }
  int forkError = errno;
  ::close(report[1]);
  if (launched.pid > 0 && forked) forked(launched.pid);
  int error = 0;
  ssize_t n = 0;
  if (launched.pid > 0) do
      n = read(report[0], &error, sizeof error);
    while (n < 0 && errno == EINTR);
  ::close(report[0]);
  if (launched.pid < 0) return none("no process can be made", forkError);
  if (n != sizeof error) return launched;
  while (waitpid(launched.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  // By the time of a restart there is a recording worth telling of.
  return fail(fmt::format("{}: can't be started: {}", program_, std::strerror(error)),
              role == Role::Recording ? ExitCode::Usage : ExitCode::Inconclusive);
}

}  // namespace blackout
