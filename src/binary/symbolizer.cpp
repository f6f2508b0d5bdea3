#include "binary/symbolizer.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/Error.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "binary/trapped_sites.h"
#include "binary/user_frame.h"
#include "events/trace.h"

namespace blackout {

namespace {

std::string_view baseName(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Our own code inside the program: the hooks, and everything in the runtime's library.
bool isRuntime(const Frame& f) {
  return f.function.starts_with("__blackout_") || baseName(f.module).starts_with("libblackout");
}

// Below main and below a thread's first function there is only libc's set-up.
bool isSetUp(const Frame& f) {
  static constexpr std::array names = {"_start",       "__libc_start_main", "__libc_start_call_main",
                                       "start_thread", "__clone",           "clone",
                                       "clone3",       "__clone3"};
  std::string_view name = f.function;
  name = name.substr(0, name.find('@'));
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  return f.file.empty() && baseName(f.module).starts_with("ld-linux");
}

// A stripped libc names its thread start by nothing at all, or by the exported symbol before it.
bool isNamelessLibc(const Frame& f) {
  std::string_view base = baseName(f.module);
  return f.file.empty() && (base.starts_with("libc.so") || base.starts_with("libc-") || base.starts_with("libpthread"));
}

std::string known(const std::string& text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

}  // namespace

struct Symbolizer::Engine {
  // Made for the first address that nobody has asked for yet.
  llvm::symbolize::LLVMSymbolizer& symbolizer() {
    if (!made_) made_.emplace();
    return *made_;
  }

 private:
  std::optional<llvm::symbolize::LLVMSymbolizer> made_;
};

namespace {

// What was found of the addresses in a program file, as long as the file is the same.
struct FileFrames {
  std::array<std::uint64_t, 6> identity{};
  std::unordered_map<std::uint64_t, std::vector<Frame>> at;  // by address in the file
};

// Empty: it is gone or unreadable.
std::optional<std::array<std::uint64_t, 6>> identityOf(const std::string& path) {
  struct stat s{};
  if (stat(path.c_str(), &s) != 0) return std::nullopt;
  return std::array<std::uint64_t, 6>{s.st_dev,
                                      s.st_ino,
                                      static_cast<std::uint64_t>(s.st_size),
                                      static_cast<std::uint64_t>(s.st_mtim.tv_sec),
                                      static_cast<std::uint64_t>(s.st_mtim.tv_nsec),
                                      static_cast<std::uint64_t>(s.st_ctim.tv_nsec)};
}

// Of all files; one lock is enough, because what it guards is short.
class KnownFrames {
 public:
  std::optional<std::vector<Frame>> find(const std::string& path, const std::array<std::uint64_t, 6>& identity,
                                         std::uint64_t address) {
    std::lock_guard lock(mutex_);
    auto file = files_.find(path);
    if (file == files_.end() || file->second.identity != identity) return std::nullopt;
    auto at = file->second.at.find(address);
    return at == file->second.at.end() ? std::nullopt : std::optional(at->second);
  }
  void keep(const std::string& path, const std::array<std::uint64_t, 6>& identity, std::uint64_t address,
            const std::vector<Frame>& frames) {
    constexpr std::size_t kMost = 100'000;  // addresses
    std::lock_guard lock(mutex_);
    if (count_ >= kMost) {
      files_.clear();
      count_ = 0;
    }
    FileFrames& file = files_[path];
    if (file.identity != identity) {
      count_ -= file.at.size();
      file = {identity, {}};
    }
    count_ += file.at.try_emplace(address, frames).second ? 1 : 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, FileFrames> files_;  // by path
  std::size_t count_ = 0;
};

KnownFrames& knownFrames() {
  static KnownFrames known;
  return known;
}

}  // namespace

// What one trace asks for.
struct Symbolizer::Cache {
  std::unordered_map<std::uint64_t, std::vector<Frame>> frames;                           // by return address
  std::map<std::string, std::optional<std::array<std::uint64_t, 6>>, std::less<>> files;  // by path
};

std::shared_ptr<Symbolizer::Engine> Symbolizer::makeEngine() { return std::make_shared<Engine>(); }
Symbolizer::Symbolizer(const Trace& trace, std::shared_ptr<Engine> engine)
    : trace_(trace), engine_(std::move(engine)), cache_(std::make_unique<Cache>()) {}
Symbolizer::~Symbolizer() = default;

std::vector<Frame> framesOf(const Source& source) {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < source.chain.size(); ++i) {
    const Place& p = source.chain[i];
    frames.push_back({llvm::demangle(p.function), p.file, p.line, p.column, {}, i + 1 < source.chain.size()});
  }
  return frames;
}

Frame frameAt(const Trace& trace, StackId where) {
  const CallStack* w = trace.callStack(where);
  const Site* site = w == nullptr ? nullptr : trace.site(w->site);
  if (site == nullptr || site->sources.empty() || site->sources.front().chain.empty()) return {};
  std::vector<Frame> frames = framesOf(site->sources.front());
  Frame frame = frames[userFrame(frames)];
  frame.module = site->module;
  return frame;
}

const std::vector<Frame>& Symbolizer::lookUp(std::uint64_t returnAddress) {
  auto [at, isNew] = cache_->frames.try_emplace(returnAddress);
  std::vector<Frame>& frames = at->second;
  if (!isNew || returnAddress == 0) return frames;
  // The call is the instruction before; an address may have been reused by a later dlopen.
  std::uint64_t pc = returnAddress - 1;
  const LoadedModule* module = nullptr;
  for (const LoadedModule& m : trace_.modules())
    if (pc >= m.begin && pc < m.end) module = &m;
  if (module == nullptr) return frames;

  auto [file, first] = cache_->files.try_emplace(module->path);
  if (first) file->second = identityOf(module->path);
  if (file->second)
    if (auto found = knownFrames().find(module->path, *file->second, pc - module->bias))
      return frames = std::move(*found);

  llvm::object::SectionedAddress address{pc - module->bias, llvm::object::SectionedAddress::UndefSection};
  auto info = engine_->symbolizer().symbolizeInlinedCode(module->path, address);
  if (!info) {
    // The program file is gone or unreadable: the frame is still worth its module's name.
    llvm::consumeError(info.takeError());
    frames.push_back({{}, {}, 0, 0, module->path, false});
    return frames;
  }
  std::uint32_t count = info->getNumberOfFrames();
  for (std::uint32_t i = 0; i < count; ++i) {
    const llvm::DILineInfo& line = info->getFrame(i);
    std::string function = withoutClone(known(line.FunctionName));
    // A function without a name is known by where it is, as debuggers write it.
    if (function.empty() && i + 1 == count)
      function = fmt::format("{}+{:#x}", baseName(module->path), pc - module->bias);
    frames.push_back({std::move(function), known(line.FileName), line.Line, line.Column, module->path, i + 1 < count});
  }
  if (file->second) knownFrames().keep(module->path, *file->second, pc - module->bias, frames);
  return frames;
}

std::vector<Frame> Symbolizer::stackOf(StackId where) {
  std::vector<Frame> stack;
  const CallStack* w = trace_.callStack(where);
  if (w == nullptr) return stack;
  const Site* site = trace_.site(w->site);
  if (site != nullptr && !site->sources.empty()) {
    stack = framesOf(site->sources.front());
    for (Frame& f : stack) f.module = site->module;
  } else if (site != nullptr && site->trapped)
    stack.push_back({{}, {}, 0, 0, site->module, false});
  else if (!w->frames.empty())
    stack.emplace_back();  // an unknown function, so that its caller is not taken for it

  append(stack, w->frames);
  return stack;
}

std::vector<Frame> Symbolizer::stackOf(const Outcome& outcome) {
  std::vector<std::uint64_t> frames = outcome.frames;
  // A signal's first address is no return address: it is the instruction itself.
  if (!frames.empty() && outcome.ending == Ending::Signalled) ++frames.front();
  std::vector<Frame> stack;
  append(stack, frames);
  return stack;
}

void Symbolizer::append(std::vector<Frame>& stack, std::span<const std::uint64_t> returnAddresses) {
  auto atMain = [&] { return !stack.empty() && stack.back().function == "main"; };
  bool done = atMain();
  for (std::uint64_t address : returnAddresses) {
    for (const Frame& f : lookUp(address)) {
      if (done) break;
      if (isRuntime(f)) continue;
      done = isSetUp(f);
      if (done) break;
      stack.push_back(f);
      done = atMain();
    }
    if (done) break;
  }
  while (stack.size() > 1 && isNamelessLibc(stack.back())) stack.pop_back();
}

std::vector<std::vector<Frame>> Symbolizer::mergedWith(StackId where) const {
  std::vector<std::vector<Frame>> others;
  const CallStack* w = trace_.callStack(where);
  const Site* site = w == nullptr ? nullptr : trace_.site(w->site);
  for (std::size_t i = 1; site != nullptr && i < site->sources.size(); ++i)
    others.push_back(framesOf(site->sources[i]));
  return others;
}

}  // namespace blackout
