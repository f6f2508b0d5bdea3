/* The contract between the pass and the runtime, in C: what instrumented code calls and what
 * it leaves in its binary. The pass emits exactly these symbols and layouts; the runtime
 * defines the functions. A change here raises BLACKOUT_CONTRACT_VERSION, and the runtime
 * refuses a module of another version by name.
 *
 * Site table. Every instrumented instruction has a row in the section `blackout_sites` of its
 * program file. Rows are position-independent (offsets are relative to the field that holds
 * them), so that they need no relocation and can be read from the file as well as from memory.
 */
#ifndef BLACKOUT_EVENTS_CONTRACT_H
#define BLACKOUT_EVENTS_CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLACKOUT_CONTRACT_VERSION 7u
#define BLACKOUT_SITE_SECTION "blackout_sites"

typedef enum blackout_site_kind {
#define BLACKOUT_SITE(code, Name, text, Class) BLACKOUT_SITE_##Name = code,
#include "site_kinds.def"
#undef BLACKOUT_SITE
} blackout_site_kind;

/* A place in the source. A site has one or more *sources*; each source is a run of places,
 * the innermost first, that ends where the next one with BLACKOUT_PLACE_SOURCE begins: the
 * following places are the calls into which the first was inlined. */
typedef struct blackout_place {
  uint64_t id;      /* of a source: the id that an unmerged instruction here has; else 0 */
  int32_t function; /* linkage name, offset from this field; 0: unknown */
  int32_t file;     /* path, offset from this field; 0: unknown */
  uint32_t line;    /* 0: unknown */
  uint32_t column;
  uint32_t discriminator;
  uint32_t flags; /* BLACKOUT_PLACE_SOURCE */
} blackout_place;
#define BLACKOUT_PLACE_SOURCE 1u

typedef struct blackout_site {
  uint64_t id;     /* the same in any build of the same source */
  uint32_t number; /* the runtime's; 0 in the file */
  uint16_t size;   /* bytes accessed; 0: varies */
  uint8_t kind;    /* blackout_site_kind */
  uint8_t flags;   /* BLACKOUT_SITE_ATOMIC, _TRAPPED, _BLIND */
  int32_t places;  /* blackout_place[], offset from this field */
  uint32_t place_count;
  int32_t type;     /* "Struct.field", offset from this field; 0: unknown */
  uint32_t element; /* of rep movs and rep stos: bytes that each repetition stores; else 0 */
} blackout_site;
#define BLACKOUT_SITE_ATOMIC 1u
#define BLACKOUT_SITE_TRAPPED 2u /* in code without a site table: its id is of events/trapped_id.h */
#define BLACKOUT_SITE_BLIND 4u   /* a locked store or exchange: nobody gets to know what was there before */

/* Kept bitcode. Each translation unit leaves one record in the section `blackout_bitcode` of its object file: LLVM
 * bitcode prepared for analysis (src/pass/prepare.h says how, src/ir/prepared.h with which metadata). The section
 * travels through archives and links; a program file has the records of all its units one after another, each aligned
 * to 8 bytes, with zeros between them. A record is this header, the source file's name, and the bitcode packed by zstd.
 */
#define BLACKOUT_BITCODE_SECTION "blackout_bitcode"
#define BLACKOUT_BITCODE_MAGIC "BLKOUTBC"
#define BLACKOUT_BITCODE_VERSION 1u
typedef struct blackout_bitcode {
  char magic[8];      /* BLACKOUT_BITCODE_MAGIC */
  uint32_t version;   /* BLACKOUT_BITCODE_VERSION: of the preparation and its metadata */
  uint32_t llvm;      /* LLVM's major version */
  uint64_t packed;    /* bytes behind the name */
  uint64_t unpacked;  /* bytes when unpacked */
  uint64_t checksum;  /* XXH3 (64 bits) of the packed bytes */
  uint32_t name_size; /* of the name that follows, without a zero */
  uint32_t reserved;
} blackout_bitcode;

/* One per program file, written by the runtime, read by the inline checks: an access through p
 * may be PM if p - base <= size (p may stand at the end of an object). Both are 0 outside a
 * recording, so nothing is ever called. */
typedef struct blackout_window {
  uintptr_t base;
  uintptr_t size;
} blackout_window;

typedef struct blackout_module {
  blackout_window stores;
  blackout_window loads;
  uint32_t recording; /* 1: fences, flushes and locked instructions are wanted */
  uint32_t version;   /* BLACKOUT_CONTRACT_VERSION of the pass */
  int64_t* turns;     /* null, or what each turn of a loop takes one from; at 0 the hook below is called */
  uint32_t switches;  /* 1: threads are under control, and atomic and volatile accesses are steps of theirs */
  uint32_t reserved;
} blackout_module;

#pragma GCC visibility push(default)

/* Called by a constructor of every instrumented program file, before others. */
void __blackout_register_module(blackout_module* module, blackout_site* begin, blackout_site* end);
void __blackout_unregister_module(blackout_module* module);

/* Hooks keep the caller's registers, so that the path that doesn't call one stays as it was. */
#if defined(__clang__)
#define BLACKOUT_HOOK __attribute__((preserve_most))
#else
#define BLACKOUT_HOOK
#endif

/* The hook makes the access itself, so that its place in the trace is its place in memory order. */
BLACKOUT_HOOK void __blackout_store1(void* p, uint8_t v, blackout_site* site);
BLACKOUT_HOOK void __blackout_store2(void* p, uint16_t v, blackout_site* site);
BLACKOUT_HOOK void __blackout_store4(void* p, uint32_t v, blackout_site* site);
BLACKOUT_HOOK void __blackout_store8(void* p, uint64_t v, blackout_site* site);
BLACKOUT_HOOK uint8_t __blackout_load1(const void* p, blackout_site* site);
BLACKOUT_HOOK uint16_t __blackout_load2(const void* p, blackout_site* site);
BLACKOUT_HOOK uint32_t __blackout_load4(const void* p, blackout_site* site);
BLACKOUT_HOOK uint64_t __blackout_load8(const void* p, blackout_site* site);

/* Around any other access of `size` bytes at p (vectors, locked instructions, non-temporal
 * stores, inline assembly): the program's own instruction runs between the two, alone, on the
 * address that enter returns: PM itself is protected. The site's kind says what it is. leave's `stored` is 0 for a
 * compare-and-swap that failed. */
BLACKOUT_HOOK void* __blackout_enter(void* p, size_t size, blackout_site* site);
BLACKOUT_HOOK void __blackout_leave(void* p, size_t size, blackout_site* site, int stored);

/* A vector store under a mask, or a scatter: of the elements at `data`, those whose bit is set go to their pointers, as
 * one store. */
BLACKOUT_HOOK void __blackout_store_lanes(void* const* pointers, const void* data, uint64_t mask, size_t element,
                                          blackout_site* site);

/* A locked instruction on memory that the window excludes: a fence. */
BLACKOUT_HOOK void __blackout_rmw_fence(void* p, blackout_site* site);
BLACKOUT_HOOK void __blackout_flush(const void* p, blackout_site* site);
/* Before a flush of what may be PM: the address to flush instead, where that does not fault. */
BLACKOUT_HOOK void* __blackout_flush_place(void* p);
BLACKOUT_HOOK void __blackout_fence(blackout_site* site);

/* Before an atomic or volatile access to p, and where a thread says that it waits for others (pause): another one may
 * go on first. */
BLACKOUT_HOOK void __blackout_switch(const void* p);
BLACKOUT_HOOK void __blackout_yield(void);

/* A restart's loops have made all turns that were left (blackout_module's `turns`). */
BLACKOUT_HOOK void __blackout_turns_over(void);

/* A Valgrind client request: args[0] is its code. Returns what the request returns. */
uint64_t __blackout_request(uint64_t unanswered, uint64_t* args, blackout_site* site);

void __blackout_call(const void* callee, blackout_site* site);
void __blackout_branch(int taken, blackout_site* site);
void __blackout_alloc(const void* p, size_t size, blackout_site* site);
void __blackout_free(const void* p, blackout_site* site);
void __blackout_lock(const void* lock, blackout_site* site);
void __blackout_unlock(const void* lock, blackout_site* site);

/* Inline assembly ran that may have flushed or fenced; what can't be told. */
void __blackout_unfollowed(blackout_site* site);

/* libc's functions over memory: the same signature with the site in front. */
void* __blackout_memcpy(blackout_site* site, void* d, const void* s, size_t n);
void* __blackout_memmove(blackout_site* site, void* d, const void* s, size_t n);
void* __blackout_memset(blackout_site* site, void* d, int c, size_t n);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
