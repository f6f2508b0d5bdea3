// Talking to a server. A process of its own waits until the server is ready, runs the client (the command of --drive),
// and ends the server with SIGTERM, once it has nothing left to do. Beside a recording this process is the tool's
// child, beside a recovery run the worker's; the server is every other process below the same parent. Free of the rest
// of the runtime, because the tool uses it too; only the client of a recovery run has the runtime inside.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "events/recovery_contract.h"

namespace blackout::rt {

struct Drive {
  pid_t server = 0;                     // its first process
  const uint32_t* listening = nullptr;  // shared memory, set by listening() in the server
  char* const* command = nullptr;       // words[0] is the path of a program
  int output = -1;                      // standard output and error of the client; its standard input is empty
  uint32_t readyMs = 0;                 // how long the server may take to be ready; 0: for ever
  // How long a server that never listens has to sleep to be taken for ready; ten times that if it wakes by itself.
  uint32_t momentMs = 0;
  uint32_t patienceMs = 0;  // how long it may go on behind the client, and again behind SIGTERM
};

// What the caller is to be: the driver. Returns when the server is gone, or its end is not the driver's to bring about.
void drive(const Drive& order, blackout_drive& result);

// How the server ended, where ending by what it was sent is ending well.
int serverStatus(int waitStatus, const blackout_drive& result);
// What the client exited with; a signal as in a shell.
int clientCode(int waitStatus);

}  // namespace blackout::rt
