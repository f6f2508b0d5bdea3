#include "cli/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "report/output_file.h"

namespace blackout::cli {

namespace {

namespace fs = std::filesystem;

// One word for a shell, whatever is in it.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

// What sbatch prints, its last line break left out.
Result<std::string> outputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return fail("--submit: no process can be started");
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  if (pclose(pipe) != 0) return fail("--submit: sbatch failed; the jobs are written, and can be submitted by hand");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<ExitCode> writeSlurmJob(const SlurmJob& job, bool submit) {
  if (job.folder.empty()) return fail("--slurm: the jobs need a folder for their results; name one with --out");
  constexpr unsigned kMost = 1000;  // elements of an array, as Slurm comes
  if (job.parts > kMost) return fail(fmt::format("--slurm {}: at most {} parts", job.parts, kMost));
  if (job.program.empty()) return fail("--slurm: name the program after --");
  std::error_code error;
  fs::create_directories(job.folder, error);
  const std::string folder = fs::absolute(job.folder, error).string();
  const std::string blackout = fs::read_symlink("/proc/self/exe", error).string();
  const std::string here = fs::current_path(error).string();
  // A part with findings did its work as well as one without.
  constexpr const char* kEnd = "code=$?\n[ $code -eq 1 ] || [ $code -eq 3 ] || exit $code\n";
  std::string array = fmt::format(
      "#!/bin/sh\n#SBATCH --job-name=blackout\n#SBATCH --array=1-{0}\n#SBATCH --output={1}/part-%a.log\n"
      "part=${{SLURM_ARRAY_TASK_ID:?is not set; submit this file with sbatch}}\ncd {2} || exit 1\n"
      "{3} {4} --shard \"$part/{0}\" --out {5}/part-\"$part\" -- {6}\n{7}",
      job.parts, folder, quoted(here), quoted(blackout), quoted(job.words), quoted(folder), quoted(job.program), kEnd);
  std::string parts;
  for (unsigned i = 1; i <= job.parts; ++i) parts += fmt::format(" {}/part-{}", quoted(folder), i);
  std::string merge = fmt::format(
      "#!/bin/sh\n#SBATCH --job-name=blackout-merge\n#SBATCH --output={0}/merge.log\ncd {1} || exit 1\n"
      "{2} fs --out {3} --merge{4}\n{5}",
      folder, quoted(here), quoted(blackout), quoted(folder), parts, kEnd);
  const std::string arrayFile = folder + "/array.sbatch", mergeFile = folder + "/merge.sbatch";
  for (const auto& [path, text] : {std::pair(arrayFile, array), std::pair(mergeFile, merge)}) {
    auto file = OutputFile::prepare(path, "--out");
    if (!file) return tl::unexpected(file.error());
    if (auto ok = file->write(text); !ok) return tl::unexpected(ok.error());
  }
  if (!submit) {
    fmt::print("id=$(sbatch --parsable {})\nsbatch --dependency=afterany:\"${{id%%;*}}\" {}\n", quoted(arrayFile),
               quoted(mergeFile));
    return ExitCode::Clean;
  }
  auto id = outputOf("sbatch --parsable " + quoted(arrayFile));
  if (!id) return tl::unexpected(id.error());
  auto merged = outputOf(fmt::format("sbatch --parsable --dependency=afterany:{} {}",
                                     quoted(id->substr(0, id->find(';'))), quoted(mergeFile)));
  if (!merged) return tl::unexpected(merged.error());
  fmt::print("jobs {} and {}; the report will be in {}/latest\n", *id, *merged, folder);
  return ExitCode::Clean;
}

}  // namespace blackout::cli
