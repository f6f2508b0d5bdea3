// Store buffers of threads under control (docs/semantics.md, "Store buffers"): what compiled code stores to PM, and its
// clflush and sfence, wait here in order, and take effect later, for all threads at once: when the schedule says so
// (schedule.h), when there is no more room, or before the thread does anything else that other threads can see. An
// event of the trace stands where it takes effect, so whoever reads a trace knows nothing of all this.
//
// A clflushopt or clwb covers up to the last of these: its own execution, its thread's last store or clflush to the
// line, its thread's last sfence (Jaaru, Figures 7 and 8). So its event comes at once, or right behind the last of
// those that still wait, and leaves with that.
//
// Where one thread runs buffers make no difference, and nothing waits. All of this is done with the right to append.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/recorder.h"
#include "runtime/regions.h"

namespace blackout::rt {

// Several threads run, and what they store waits.
extern bool buffering;
constexpr uint32_t kMostBuffers = 1026;   // of as many threads as can be under control
extern uint16_t waitingIn[kMostBuffers];  // how much waits, by the threads' numbers under control

// Whether anything of this thread waits.
inline bool waitsInBuffer() { return __builtin_expect(buffering, 0) && waitingIn[self.turns] != 0; }

// Instrumented code asks for stores to any memory from here on.
void startBuffers();
// Nothing waits any more, from here on; what did has taken effect.
void endBuffers();
// In the child of a fork: what waited is its parent's.
void forgetBuffers();

// Everything of this thread takes effect, of all threads. Without the right to append; nothing in a signal's handler
// that interrupted an event.
void emptyBuffer();
void emptyAllBuffers();

// The following in a Scope in which the buffer stays.
// A piece of a store that lies in one 8-byte unit of the region.
void delayStore(Region& region, uintptr_t p, uint64_t value, uint8_t size, uint32_t where);
void delayFlush(uint8_t kind, const Region& region, uintptr_t p, uint32_t where);
void delaySfence(uint32_t where);
// The thread's own newest store to these bytes, if it waits: the value, of all of them. Those of which a part waits
// take effect, as a processor has it: then, and where nothing waits, false.
bool ownStore(const Region& region, uintptr_t p, size_t size, uint64_t& value);
// The oldest that waits of this thread takes effect.
void leaveOldest(uint32_t thread);
// How often that can be done.
uint32_t leavingFrom(uint32_t thread);

}  // namespace blackout::rt
