// Random small programs for property tests: a list of numbers, each read as one event, so that a
// failing case shrinks by dropping numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "model/model_options.h"

namespace blackout::test {

using Genes = std::vector<std::uint32_t>;

struct StartFile {
  std::string path;
  std::uint64_t size = 0;
};

struct RandomProgram {
  // The files that are there before; several threads, all kinds of events that matter to the model, and if wanted the
  // marks that say where a crash is wanted.
  RandomProgram(const Genes& genes, const std::vector<StartFile>& files, bool withContent, bool withMarks = false);

  std::string bytes;
  std::unique_ptr<Trace> trace;
};

// One of all combinations of options that are ready.
ModelOptions randomOptions(std::uint32_t gene);

}  // namespace blackout::test
