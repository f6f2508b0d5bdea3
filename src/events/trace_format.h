/* The contract between the runtime and the tool, in C: the layout of a trace file, which is
 * also the shared memory through which it is written. docs/trace-format.md is its description
 * for authors of other tracers.
 *
 *   header (control block)   BLACKOUT_HEADER_SIZE bytes
 *   events                   slots of 24 bytes, `committed` bytes of them
 *   seal                     once recording has ended: checksums
 *
 * An event becomes visible by the store of `committed` after its bytes: a reader never sees half
 * of one, whenever it looks and however the program ends.
 */
#ifndef BLACKOUT_EVENTS_TRACE_FORMAT_H
#define BLACKOUT_EVENTS_TRACE_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLACKOUT_TRACE_MAGIC "BLACKOUT"
#define BLACKOUT_TRACE_VERSION 1u
#define BLACKOUT_SEAL_MAGIC 0x4c4145535f4b4c42ull /* "BLK_SEAL" */
#define BLACKOUT_SEAL_BLOCK (1u << 20)            /* bytes of events under one checksum */

/* PM addresses: bytes are named by file and offset, whatever maps them. */
#define BLACKOUT_FILE_SHIFT 40
#define BLACKOUT_MAX_FILE_SIZE (1ull << BLACKOUT_FILE_SHIFT)
#define BLACKOUT_LINE 64u

typedef struct blackout_event {
  uint8_t kind;    /* blackout_event_kind */
  uint8_t len;     /* low bits: bytes; high bits: BLACKOUT_JOINED, BLACKOUT_WIDE */
  uint16_t thread; /* number of the thread, from 1; 0: the recorder itself */
  uint32_t where;  /* number of a where record, from 1; 0: unknown */
  uint64_t addr;
  uint64_t value;
} blackout_event;

#define BLACKOUT_LEN_MASK 0x0f
#define BLACKOUT_WIDE 0x40   /* the next event is a further piece of the same wide store */
#define BLACKOUT_JOINED 0x80 /* the next event is the other half of one atomic 16-byte store */

typedef enum blackout_event_kind {
#define BLACKOUT_EVENT(code, Name, text, Group, Body, doc) BLACKOUT_EV_##Name = code,
#include "event_kinds.def"
#undef BLACKOUT_EVENT
} blackout_event_kind;

typedef enum blackout_trace_state {
  BLACKOUT_RECORDING = 1, /* a program may still be writing */
  BLACKOUT_SEALED = 2     /* complete, with checksums */
} blackout_trace_state;

/* Why a recording is not whole: bits of `problems`. */
/* len of a discard: 0, the content is nobody's until it is stored again. */
#define BLACKOUT_DISCARD_CLEAN 1u   /* it stays what it is, but need not be durable */
#define BLACKOUT_DISCARD_DEFINED 2u /* it counts as it is: what was said of it before holds no more */

#define BLACKOUT_PROBLEM_DISK 1u         /* no room for the trace: recording stopped there */
#define BLACKOUT_PROBLEM_FILES 2u        /* more pool files than the table holds */
#define BLACKOUT_PROBLEM_SIGNAL 4u       /* a signal handler touched PM while an event was being recorded */
#define BLACKOUT_PROBLEM_CONTRACT 8u     /* a program file was built for another version of Blackout */
#define BLACKOUT_PROBLEM_UNSUPPORTED 16u /* the program did something that the runtime can't follow */
#define BLACKOUT_PROBLEM_THREADS 32u     /* more threads than fit in an event */
#define BLACKOUT_PROBLEM_STOPPED 128u    /* the runtime ended the program, and said why */
#define BLACKOUT_PROBLEM_SCHEDULE 256u   /* control over the threads was lost: from some step on the system decided */
#define BLACKOUT_PROBLEM_UNEXPLAINED 64u /* the trace replayed did not give the pools that the program left */

/* Values of operations, in op-values events, in the plan of recovery runs and in the histories of restarts: one after
 * the other, each a head and its bytes, padded with zeros to 8. A number has 8 bytes. Kinds as in blackout.h. */
#define BLACKOUT_VALUE_UNSIGNED 0u
#define BLACKOUT_VALUE_SIGNED 1u
#define BLACKOUT_VALUE_BYTES 2u
#define BLACKOUT_VALUE_TEXT 3u
#define BLACKOUT_MAX_VALUES 64u         /* of one list */
#define BLACKOUT_MAX_VALUE_BYTES 65536u /* of one list, heads and padding included */

typedef struct blackout_value_head {
  uint32_t kind;
  uint32_t size;
} blackout_value_head;

/* len of an op-values event. */
#define BLACKOUT_VALUES_ARGUMENTS 0u
#define BLACKOUT_VALUES_RESULTS 1u
/* len of an op-begin or op-end: its values are in the op-values event before it, of the same thread. */
#define BLACKOUT_OP_VALUES 1u

/* Lengths of a switch event from which on it is a step, at which this thread could go on or could not. */
#define BLACKOUT_SWITCH_STEP 4u
#define BLACKOUT_SWITCH_WAITS 5u
/* The oldest of what waits in a thread's store buffer takes effect; and how much waits in each. */
#define BLACKOUT_SWITCH_LEAVES 6u
#define BLACKOUT_SWITCH_BUFFERS 7u

#define BLACKOUT_MAX_FILES 1024
#define BLACKOUT_HEAP_PATH "/heap/blackout" /* of the pool that holds a persistent heap */

typedef struct blackout_trace_file {
  uint64_t device; /* of the private copy that the program works on */
  uint64_t inode;
  uint64_t size;
  uint32_t live; /* 0: free row or removed file */
  uint32_t reserved;
  uint64_t original_device; /* of the user's file that was copied; 0: none */
  uint64_t original_inode;
} blackout_trace_file;

typedef struct blackout_trace_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* BLACKOUT_HEADER_SIZE */
  uint32_t event_size;  /* sizeof(blackout_event) */
  uint32_t state;       /* blackout_trace_state */
  uint64_t committed;   /* bytes of whole events */
  uint32_t problems;
  uint32_t reserved0;
  uint64_t lost;     /* events that could not be recorded */
  uint64_t checksum; /* sealed: of this header with this field 0, and of the seal */

  /* The recorder's own, 0 in a sealed trace. */
  uint32_t lock; /* 0 or the kernel's id of the owner */
  uint32_t next_thread;
  uint32_t next_where;
  uint32_t next_site;
  uint32_t next_file;
  uint32_t next_process;
  uint32_t shared;       /* more than one thread or process may write */
  uint32_t listening;    /* 0, or the kernel's number of a process that listens on a socket; a futex */
  uint64_t next_address; /* where the next pool is mapped */
  blackout_trace_file files[BLACKOUT_MAX_FILES];
} blackout_trace_header;

#define BLACKOUT_HEADER_SIZE 65536u

typedef struct blackout_trace_seal {
  uint64_t magic;
  uint64_t count; /* of the XXH3-64 checksums that follow, one per started block of events */
} blackout_trace_seal;

#ifdef __cplusplus
}
static_assert(sizeof(blackout_event) == 24);
static_assert(sizeof(blackout_trace_header) <= BLACKOUT_HEADER_SIZE);
#endif
#endif
