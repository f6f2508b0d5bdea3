// Work in parts as jobs for Slurm: an array with an element for each part, and a job that merges what they have kept
// once all have ended.
#pragma once

#include <string>
#include <vector>

#include "events/error.h"

namespace blackout::cli {

struct SlurmJob {
  std::vector<std::string> words;    // the subcommand and its options, without --shard and --out
  std::vector<std::string> program;  // what stands behind --
  unsigned parts = 0;
  std::string folder;  // of --out: part 3 keeps its results in part-3 of it
};

// Writes FOLDER/array.sbatch and FOLDER/merge.sbatch, says how they are submitted, or submits them.
Result<ExitCode> writeSlurmJob(const SlurmJob& job, bool submit);

}  // namespace blackout::cli
