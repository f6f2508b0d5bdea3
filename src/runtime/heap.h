// The heap as PM, for programs that allocate what they mean to persist (the word heap=MiB). What instrumented code
// allocates comes from a pool of the runtime's own, /heap/blackout, mapped like any other pool, so that recording,
// images and recoveries need to know nothing of it; what std::string allocates inside libstdc++ and asprintf's texts
// are the program's, too; everybody else has libc's heap, and free() tells the two by the address.
//
// The allocator is simple, deterministic, and never gives memory out twice: a block that was freed stays what it
// was, so no crash makes two owners of one block, and the region must be as large as all allocations together. The
// region is cut into spans of 64 KiB. A span holds blocks of one size, in order, or is the first of a large block; its
// size stands in the span table, in the region, and is written once, stored and flushed when the span is opened. So an
// address alone tells a block's size, in a recovery too, where reading the table is an observation like any other.
// Everything else is volatile. Spans of a recording are filled with a byte (the word heapfill), as if they had always
// been; those of calloc are zeros. A recovery's are zeros, too. A recovery doesn't go on where the crash was, which
// would make it depend on the point: it opens its spans above all that the recording opened (the word heaptop) and
// above those of recoveries before it (kTop).
//
// A forked child's heap is its own, as ever: there the region becomes ordinary memory.
#pragma once

#include <stddef.h>

namespace blackout::rt {

// Code that allocates from it was loaded, and inRun() is true.
void beginHeap();

// A copy of a text and its zero in the persistent heap, if that is where the caller allocates; else null.
char* duplicate(const char* text, size_t size, const char* function, void* caller, const void* frame);

}  // namespace blackout::rt
