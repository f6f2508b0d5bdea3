// What the program does that the runtime can't follow: said once each, in the trace of a recording.
#pragma once

namespace blackout::rt {

// `what` is the end of a sentence that begins with the program's name. `flushes`: it may have flushed or fenced.
void unfollowed(const char* what, bool flushes = false);

// Says what could not be said when it was noticed. Not inside an event.
void sayKept();

}  // namespace blackout::rt
