// One run of the program under test, recorded: on private copies of its pools, without address
// randomisation, with the runtime loaded, and checked afterwards. What came of it is a sealed trace and
// honest sentences about what it does not hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"
#include "run/launch.h"
#include "run/private_pools.h"
#include "run/schedule.h"

namespace blackout {

class Trace;

struct RecordOptions {
  std::vector<std::string> pm;       // paths, folders, globs; may be empty if the program registers memory
  std::vector<std::string> command;  // the program and its arguments
  std::string tracePath;             // where the trace is kept; empty: it goes with the Recording
  std::string keepPool;              // where the resulting pools are kept: a file, or a folder for several
  bool loads = false;
  bool locks = false;
  bool steps = false;   // every step at which another thread could go on
  int stackDepth = -1;  // -1: the runtime's default
  Trap trap = Trap::IfNeeded;
  bool patches = true;               // code that is followed by traps may be patched where it accesses PM often
  bool repBytes = false;             // every repetition of rep movs and rep stos is a store of its own
  unsigned heap = 0;                 // MiB of persistent heap; 0: the heap is ordinary memory
  std::optional<unsigned> heapFill;  // the byte that its fresh memory is filled with
  // The client that talks to the program once it is ready, and ends it (runtime/drive.h); empty: it is no server.
  std::vector<std::string> drive;
  unsigned readySeconds = 10;
  Schedule schedule = Schedule::usual();
  bool pinTime = false;                // time and random numbers are the run's own, so that another run has the same
  bool quiet = false;                  // what the program prints is thrown away
  bool mayRefuse = false;              // a program that fails before it maps any PM is a recording too, of nothing
  bool outputToStandardError = false;  // what the program prints, too: standard output is somebody else's
};

struct Recording {
  std::string tracePath;
  std::shared_ptr<const Trace> trace;  // as it was read; null: only its path is known
  int waitStatus = 0;
  bool readInput = false;  // it read from the file that is its standard input; of a pipe that is not known
  std::vector<std::string> notes;
  std::vector<std::string> incomplete;  // why the trace is not whole
  // Not empty: code that isn't instrumented touched PM, and nothing can be said about durability.
  std::string unseenReason;
  std::shared_ptr<PrivateFolder> folder;  // of the trace, if nobody keeps it
};

Result<Recording> record(const RecordOptions& options);

// How far into its persistent heap the recorded program allocated, in bytes; 0: it has none. Restarts allocate above.
std::uint64_t heapTop(const Trace& trace);

}  // namespace blackout
