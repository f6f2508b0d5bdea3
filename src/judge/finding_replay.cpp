#include "judge/finding_replay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "events/trace.h"
#include "model/image.h"
#include "run/launch.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

// What the crash left, as the trace that the file has.
struct Recorded {
  std::unique_ptr<const Trace> trace;  // the index refers to it
  Index index;
};

Result<Recorded> openRecording(const ReplayFile& file) {
  auto bytes = Trace::fromBytes(std::as_bytes(std::span(file.trace)), "the replay file");
  if (!bytes) return tl::unexpected(bytes.error());
  auto trace = std::make_unique<const Trace>(std::move(*bytes));
  auto model = parseModelOptions(file.model);
  if (!model) return fail(fmt::format("the replay file's model: {}", model.error().sentence));
  auto index = Index::build(*trace, *model);
  if (!index) return tl::unexpected(index.error());
  if (file.at > trace->end()) return fail("the replay file is damaged; make it again with 'blackout check'");
  return Recorded{std::move(trace), std::move(*index)};
}

}  // namespace

struct FindingReplay::Parts {
  explicit Parts(const ReplayFile& f, PrivateFolder p) : file(f), folder(std::move(p)) {}
  const ReplayFile& file;
  PrivateFolder folder;  // of the standard input
  std::optional<Recorded> recorded;
  TrackedBytes tracked;
  std::optional<Baseline> baseline;
  RecoveryProgram program;
  std::unique_ptr<ProcessRunner> runner;
};

namespace {

// A word for a shell.
std::string shellWord(const std::string& word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<void> writeFile(const fs::path& path, const FileImage& file) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool ok = fd >= 0 && ftruncate(fd, static_cast<off_t>(file.size)) == 0;
  for (std::uint64_t page : file.bytes.pages()) {
    std::uint64_t at = page * SparseBytes::kPage;
    if (!ok || at >= file.size) continue;
    std::uint64_t size = std::min(SparseBytes::kPage, file.size - at);
    ok = pwrite(fd, file.bytes.page(page)->data(), size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
  }
  int error = errno;
  if (fd >= 0) ::close(fd);
  return ok ? Result<void>()
            : fail(fmt::format("{}: the pool can't be kept there: {}", path.string(), std::strerror(error)));
}

// A program that joins a run of the worker works on files of the run's own and goes on with its count of steps: makes
// both. Returns the shell's words that bring the files back to what the crash left, to be said before each start.
Result<std::string> joinableRun(const fs::path& worker) {
  auto broken = [](std::string_view why) { return fail(fmt::format("the run can't be prepared for gdb: {}", why)); };
  fs::path from = worker / "pools", to = worker / "run" / "pools";
  std::error_code error;
  fs::create_directories(worker / "run", error);
  fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) return broken(error.message());

  // The runtime knows files by what they are, not by their names.
  std::string table(BLACKOUT_HEADER_SIZE, '\0');
  if (!std::ifstream(worker / "table", std::ios::binary).read(table.data(), static_cast<std::streamsize>(table.size())))
    return broken("its table of files can't be read");
  auto& header = *reinterpret_cast<blackout_trace_header*>(table.data());
  std::string refresh =
      fmt::format("find {} -mindepth 1 -maxdepth 1 ! -name pools ! -name table -exec rm -rf {{}} + ; ",
                  shellWord((worker / "run").string()));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from, error)) {
    if (!entry.is_regular_file(error)) continue;
    fs::path copy = to / fs::relative(entry.path(), from, error);
    struct stat old{}, now{};
    if (stat(entry.path().c_str(), &old) != 0 || stat(copy.c_str(), &now) != 0) return broken(std::strerror(errno));
    for (blackout_trace_file& file : header.files) {
      if (file.live == 0 || file.inode != old.st_ino || file.device != old.st_dev) continue;
      file.inode = now.st_ino;
      file.device = now.st_dev;
    }
    refresh += fmt::format("cp {} {}; ", shellWord(entry.path().string()), shellWord(copy.string()));
  }
  if (!(std::ofstream(worker / "run" / "table", std::ios::binary) << table).flush())
    return broken("its table of files can't be written");

  int fd = ::open((worker / "control").c_str(), O_WRONLY | O_CLOEXEC);
  std::uint64_t none = 0, most = UINT64_MAX;
  bool ok = fd >= 0 && pwrite(fd, &none, sizeof none, offsetof(blackout_worker, steps)) == sizeof none &&
            pwrite(fd, &most, sizeof most, offsetof(blackout_worker, step_limit)) == sizeof most;
  int why = errno;
  if (fd >= 0) ::close(fd);
  if (!ok) return broken(std::strerror(why));
  return refresh;
}

}  // namespace

Result<FindingReplay> FindingReplay::prepare(const ReplayFile& file) {
  auto folder = PrivateFolder::make();
  if (!folder) return tl::unexpected(folder.error());
  auto parts = std::make_shared<Parts>(file, std::move(*folder));
  auto recorded = openRecording(file);
  if (!recorded) return tl::unexpected(recorded.error());
  parts->recorded.emplace(std::move(*recorded));
  const Index& index = parts->recorded->index;
  parts->tracked = TrackedBytes::of(index);
  parts->baseline.emplace(index, parts->tracked, std::vector<EventNo>{file.at});
  parts->program.command = file.command;
  parts->program.patterns = file.pools;
  parts->program.options = RuntimeOptions(file.runtimeOptions);
  if (!file.input.empty()) {
    fs::path input = parts->folder.path() / "stdin";
    if (!(std::ofstream(input, std::ios::binary) << file.input).flush())
      return fail(fmt::format("{}: can't be written", input.string()));
    parts->program.input = input.string();
  }
  auto runner = ProcessRunner::start(parts->program, *parts->baseline, 1,
                                     {.steps = file.stepLimit, .seconds = static_cast<unsigned>(file.seconds)});
  if (!runner) return tl::unexpected(runner.error());
  parts->runner = std::move(*runner);
  return FindingReplay(std::move(parts));
}

Result<Replayed> FindingReplay::run() {
  auto ended = parts_->runner->run({});
  if (!ended) return tl::unexpected(ended.error());
  OracleRules rules{.exitCodeCounts = parts_->file.exitCodeCounts, .stepLimit = parts_->file.stepLimit};
  Replayed replayed;
  replayed.outcome = std::move(ended->outcome);
  replayed.now = judge(replayed.outcome, rules);
  replayed.expected = judge(parts_->file.expected, rules);
  replayed.sameAnswer = blackout::sameAnswer(replayed.outcome, parts_->file.expected);
  return replayed;
}

Result<std::vector<std::string>> FindingReplay::debuggerCommand() {
  auto gdb = findProgram("gdb");
  if (!gdb) return fail("gdb is not installed; install it, or replay without --gdb");
  auto launcher = Launcher::find(parts_->file.command);
  if (!launcher) return tl::unexpected(launcher.error());
  fs::path worker = parts_->runner->folderOf(0);
  auto refresh = joinableRun(worker);
  if (!refresh) return tl::unexpected(refresh.error());

  RuntimeOptions options;
  options.set("worker", worker.string()).pools(parts_->file.pools).append(parts_->program.options);
  // gdb itself must not have the runtime inside, so the environment is set by what starts the program.
  std::string inner = *refresh + "exec env";
  // As a restart has it, but for what only the zygote of many needs.
  for (const auto& [name, value] : launcher->environment(Role::Recording, options))
    inner += fmt::format(" {}={}", name, shellWord(value));
  inner += " \"$0\" \"$@\"";
  if (!parts_->program.input.empty()) inner += " < " + shellWord(parts_->program.input);
  std::vector<std::string> command{*gdb, "-q", "-ex", "set exec-wrapper sh -c " + shellWord(inner)};
  auto execute = [&](std::string text) { command.insert(command.end(), {"-ex", std::move(text)}); };
  if (parts_->file.expected.ending == Ending::Expectation) {
    // It ends the run without a signal, so gdb would not stop there by itself.
    execute("set breakpoint pending on");
    execute("break blackout::rt::endRun");
  }
  command.insert(command.end(), {"--args", launcher->program()});
  command.insert(command.end(), parts_->file.command.begin() + 1, parts_->file.command.end());
  return command;
}

Result<std::uint64_t> keepPools(const ReplayFile& file, const std::string& to, std::uint64_t most) {
  auto recorded = openRecording(file);
  if (!recorded) return tl::unexpected(recorded.error());
  auto image = buildImage(CrashLevel(file.at, UnnamedLines::Least), recorded->index);
  if (!image) return tl::unexpected(image.error());
  std::uint64_t bytes = 0;
  for (const FileImage& f : image->files) bytes += f.bytes.pages().size() * SparseBytes::kPage;
  if (bytes > most) return bytes;
  std::error_code error;
  bool folder = image->files.size() != 1 || fs::is_directory(to, error);
  if (folder) fs::create_directories(to, error);
  std::set<std::string> names;
  for (const FileImage& f : image->files) {
    // Pools of one name in several folders stay apart.
    std::string name = fs::path(f.path).filename().string(), alone = name;
    for (unsigned n = 2; !names.insert(name).second; ++n) name = fmt::format("{}-{}", alone, n);
    if (auto ok = writeFile(folder ? fs::path(to) / name : fs::path(to), f); !ok) return tl::unexpected(ok.error());
  }
  return bytes;
}

}  // namespace blackout
