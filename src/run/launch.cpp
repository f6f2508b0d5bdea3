#include "run/launch.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace blackout {

// It lies beside the command: ../lib/blackout, in the build folder and when installed.
Result<std::string> runtimePath() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& base : {self.parent_path().parent_path(), self.parent_path()}) {
    fs::path found = base / "lib" / "blackout" / "libblackout.so";
    if (fs::exists(found, error)) return found.string();
  }
  return fail("libblackout.so is missing beside this command; install Blackout again");
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

std::string optionWord(const std::string& key, const std::string& value) {
  std::string out = ":" + key + "=";
  for (char c : value) {
    if (c == ':' || c == '%' || c == '\0')
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string driveWord(const std::vector<std::string>& command) {
  std::string text = std::to_string(command.size()) + '\0';
  for (const std::string& word : command) text += word + '\0';
  return optionWord("drive", text);
}

std::string trapWord(Trap trap) { return fmt::format(":trap={}", static_cast<unsigned>(trap)); }

void setEnvironment(const std::string& preload, const std::string& words) {
  const char* others = std::getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", others == nullptr ? preload.c_str() : (preload + ":" + others).c_str(), 1);
  setenv("BLACKOUT_OPTIONS", words.c_str(), 1);
  setenv("PMEM_IS_PMEM_FORCE", "1", 0);
  setenv("PMEM2_FORCE_GRANULARITY", "CACHE_LINE", 0);  // the same for libpmem2
}

FixedAddresses::FixedAddresses() : was_(personality(0xffffffff)) {
  possible_ = was_ != -1 && personality(static_cast<unsigned long>(was_) | ADDR_NO_RANDOMIZE) != -1;
}

void FixedAddresses::restore() {
  if (possible_ && was_ != -1) personality(static_cast<unsigned long>(was_));
  was_ = -1;
}

}  // namespace blackout
