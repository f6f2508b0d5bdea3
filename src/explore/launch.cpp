#include "explore/launch.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

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

Result<std::string> findProgram(const std::string& name) {
  auto executable = [](const fs::path& p) {
    std::error_code error;
    return fs::is_regular_file(p, error) && access(p.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    std::error_code error;
    return fail(fs::exists(name, error) ? fmt::format("{}: can't be executed; check its permissions", name)
                                        : fmt::format("{}: no such program; check the path behind --", name));
  }
  std::string path = std::getenv("PATH") == nullptr ? "/usr/bin:/bin" : std::getenv("PATH");
  for (std::size_t from = 0; from <= path.size();) {
    std::size_t end = std::min(path.find(':', from), path.size());
    fs::path candidate = fs::path(path.substr(from, end - from)) / name;
    if (executable(candidate)) return candidate.string();
    from = end + 1;
  }
  return fail(fmt::format("{}: no such program; check the name behind --", name));
}

Result<void> checkLoadable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return {};  // a script: its interpreter is what is loaded
  struct stat st{};
  if (stat(path.c_str(), &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) != 0 && geteuid() != 0)
    return fail(
        fmt::format("{}: setuid programs are not supported: Blackout's runtime can't be loaded into them", path));
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(head.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type == PT_INTERP) return {};
  }
  return fail(
      fmt::format("{}: a static program: Blackout's runtime can't be loaded into it; link it dynamically", path));
}

std::string optionWord(const std::string& key, const std::string& value) {
  std::string out = ":" + key + "=";
  for (char c : value) {
    if (c == ':' || c == '%')
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

void setEnvironment(const std::string& preload, const std::string& words) {
  const char* others = std::getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", others == nullptr ? preload.c_str() : (preload + ":" + others).c_str(), 1);
  setenv("BLACKOUT_OPTIONS", words.c_str(), 1);
  setenv("PMEM_IS_PMEM_FORCE", "1", 0);
}

FixedAddresses::FixedAddresses() : was_(personality(0xffffffff)) {
  possible_ = was_ != -1 && personality(static_cast<unsigned long>(was_) | ADDR_NO_RANDOMIZE) != -1;
}

void FixedAddresses::restore() {
  if (possible_ && was_ != -1) personality(static_cast<unsigned long>(was_));
  was_ = -1;
}

}  // namespace blackout
