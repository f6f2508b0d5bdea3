#include "infer/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/StringSaver.h"

namespace blackout {

namespace fs = std::filesystem;

namespace {

bool namesCxx(const fs::path& file) {
  static const std::set<std::string> endings = {".cc", ".cpp", ".cxx", ".c++", ".C", ".CC", ".cp", ".CPP"};
  return endings.contains(file.extension().string());
}

// Without what writes files: the output and the dependencies.
std::vector<std::string> withoutOutputs(const std::vector<std::string>& words) {
  static const std::set<std::string> withValue = {"-o", "-MF", "-MT", "-MQ", "-MJ", "--serialize-diagnostics"};
  static const std::set<std::string> alone = {"-c",  "-S", "-E",  "-MD", "-MMD",
                                              "-MP", "-M", "-MM", "-MG", "-save-temps"};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (withValue.contains(word)) {
      ++i;
      continue;
    }
    if (alone.contains(word) || word.starts_with("-save-temps=") || word.starts_with("-Wp,-M")) continue;
    if (word.size() > 2 && (word.starts_with("-o") || word.starts_with("-MF")) && word[2] != 'p') continue;
    kept.push_back(word);
  }
  return kept;
}

// The compiler's first sentence that says "error", or its first one.
std::string firstError(const fs::path& log) {
  std::ifstream in(log);
  std::string line, first;
  while (std::getline(in, line)) {
    if (line.find("error:") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler failed" : first;
}

struct Running {
  std::size_t job;
  fs::path object, log;
};

Result<pid_t> start(const CompileJob& job, const Compilation& how, const Running& files) {
  std::vector<std::string> words = {(how.wrappers / (job.cxx ? "blackout-clang++" : "blackout-clang")).string()};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  // What only another compiler knows is no reason to know nothing of the unit.
  for (const char* word : {"-w", "-Qunused-arguments", "-Wno-unknown-warning-option", "-Wno-error", "-c", "-o"})
    words.push_back(word);
  words.push_back(files.object.string());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, files.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!job.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, job.directory.c_str());
  pid_t pid = 0;
  int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(fmt::format("{}: {}", words[0], std::strerror(error)), ExitCode::Internal);
  return pid;
}

}  // namespace

Result<std::vector<CompileJob>> readCompileCommands(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto json = llvm::json::parse(text);
  auto wrong = [&](const char* what) { return fail(fmt::format("{} is not a compilation database: {}", path, what)); };
  if (!json) llvm::consumeError(json.takeError());
  const llvm::json::Array* rows = json ? json->getAsArray() : nullptr;
  if (rows == nullptr) return wrong("it is not a JSON array");
  std::vector<CompileJob> jobs;
  std::set<std::string> seen;
  const fs::path here = fs::absolute(fs::path(path)).parent_path();
  for (const llvm::json::Value& value : *rows) {
    const llvm::json::Object* row = value.getAsObject();
    const auto file = row != nullptr ? row->getString("file") : std::nullopt;
    if (!file) return wrong("an entry has no \"file\"");
    CompileJob job;
    job.file = file->str();
    job.directory = here;
    if (const auto directory = row->getString("directory")) job.directory = here / directory->str();
    std::vector<std::string> words;
    if (const llvm::json::Array* arguments = row->getArray("arguments")) {
      for (const llvm::json::Value& argument : *arguments) {
        const auto word = argument.getAsString();
        if (!word) return wrong("an argument is not a string");
        words.push_back(word->str());
      }
    } else if (const auto command = row->getString("command")) {
      llvm::BumpPtrAllocator memory;
      llvm::StringSaver saver(memory);
      llvm::SmallVector<const char*> split;
      llvm::cl::TokenizeGNUCommandLine(*command, saver, split);
      words.assign(split.begin(), split.end());
    }
    if (words.empty()) return wrong("an entry has neither \"command\" nor \"arguments\"");
    if (!seen.insert((job.directory / job.file).lexically_normal().string()).second) continue;
    const std::string compiler = fs::path(words[0]).filename().string();
    job.cxx = compiler.find("++") != std::string::npos || namesCxx(job.file);
    words.erase(words.begin());
    job.arguments = withoutOutputs(words);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

CompileJob jobForBitcode(const std::string& path) {
  // A name that begins with a minus is still a name.
  return {path, {}, {"-x", "ir", fs::absolute(fs::path(path)).string(), "-x", "none"}, false};
}

Result<void> addCompiled(ProgramBitcode& program, const std::vector<CompileJob>& jobs, const Compilation& how) {
  std::map<pid_t, Running> running;
  std::vector<std::string> failed(jobs.size());
  std::size_t begun = 0, done = 0;
  auto objectOf = [&](std::size_t n) { return how.folder / fmt::format("unit{}.o", n); };
  while (done < jobs.size()) {
    while (begun < jobs.size() && running.size() < std::max(1u, how.jobs)) {
      Running files{begun, objectOf(begun), how.folder / fmt::format("unit{}.log", begun)};
      auto pid = start(jobs[begun], how, files);
      if (!pid) return tl::unexpected(pid.error());
      running.emplace(*pid, files);
      ++begun;
    }
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR) continue;
    auto found = running.find(pid);
    if (found == running.end()) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failed[found->second.job] = firstError(found->second.log);
    running.erase(found);
    ++done;
    if (how.progress) how.progress(done, jobs.size());
  }
  for (std::size_t n = 0; n < jobs.size(); ++n) {
    if (!failed[n].empty()) {
      program.notes.push_back(fmt::format("{} can't be compiled, so it is left out: {}", jobs[n].file, failed[n]));
      continue;
    }
    const std::size_t before = program.units.size();
    if (auto added = addBitcode(program, objectOf(n).string()); !added) return added;
    for (std::size_t u = before; u < program.units.size(); ++u) program.units[u].holder = jobs[n].file;
  }
  return {};
}

}  // namespace blackout
