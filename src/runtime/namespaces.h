// A network and kernel objects of its own for a recovery run that asks for them, so that runs of several workers can
// all listen on the same port or use the same key.
#pragma once

namespace blackout::rt {

// Before the run's first internet socket, or its first System V or message queue object. Nothing elsewhere: a
// client is in those of its server already.
void makePrivateNetwork();
void makePrivateIpc();

}  // namespace blackout::rt
