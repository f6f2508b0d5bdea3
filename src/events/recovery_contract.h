/* The contract between the runtime and the tool for recovery runs, in C.
 *
 * The tool starts the program once with BLACKOUT_OPTIONS=zygote=FOLDER:sockets=FD:... Before anything of
 * the program runs, the runtime becomes the zygote: it maps FOLDER/plan and waits on its first socket. A
 * byte w there makes it fork worker w, which maps FOLDER/w<w>/control and waits on socket FD + 1 + w. Any byte
 * there makes the worker fork a run, which goes on into the program; when it has ended and nothing of
 * it is left, the worker answers with a byte. A closed socket ends the zygote and the workers with their runs.
 *
 * A worker's folder: control (struct blackout_worker), pools/ (the image of the crash, laid out as the
 * shadow of a recording), trace (its header is the file table of the image; traced runs append to it),
 * run/ (what the run makes itself; removed after each).
 */
#ifndef BLACKOUT_EVENTS_RECOVERY_CONTRACT_H
#define BLACKOUT_EVENTS_RECOVERY_CONTRACT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLACKOUT_PLAN_MAGIC 0x4e414c505f4b4c42ull   /* "BLK_PLAN" */
#define BLACKOUT_WORKER_MAGIC 0x4b524f575f4b4c42ull /* "BLK_WORK" */
#define BLACKOUT_RECOVERY_VERSION 9u

/* What is tracked: the same for all workers, changed by the tool only while no run lives. All offsets are
 * bytes from the beginning of the plan. */
typedef struct blackout_plan_file {
  uint64_t slots; /* uint32_t per line of the file: 0 or the tracked line's number + 1; offset, 0: none */
  uint64_t lines; /* how many */
  uint64_t marks; /* uint8_t per BLACKOUT_PLAN_STRETCH lines: 0 if none of them is tracked; offset */
} blackout_plan_file;
#define BLACKOUT_PLAN_STRETCH 1024u /* lines: a page of slots */

typedef struct blackout_plan_mapping { /* where the recording had it */
  uint32_t file;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t address;
} blackout_plan_mapping;

typedef struct blackout_plan {
  uint64_t magic;
  uint32_t version;
  uint32_t tracked; /* lines */
  uint64_t masks;   /* uint64_t per tracked line; offset */
  uint32_t file_count;
  uint32_t path_count;
  uint64_t files; /* blackout_plan_file[file_count], by file number; offset */
  uint64_t paths; /* uint32_t[path_count], each the offset of a text, ascending; offset */
  uint32_t mapping_count;
  uint32_t operations;
  uint64_t mappings; /* blackout_plan_mapping[mapping_count]; offset */
  uint64_t results;  /* uint64_t[operations], each the offset of a blackout_plan_values, 0: it did not end; offset */
  uint64_t free_address; /* pools that the recording did not have are placed from here on */
  uint64_t size;
} blackout_plan;

/* What a recorded operation returned: `size` bytes of values (trace_format.h) follow. */
typedef struct blackout_plan_values {
  uint32_t size;
  uint32_t reserved;
} blackout_plan_values;

/* In a query's group: it is a range of blackout_checksum, not one mem* call. */
#define BLACKOUT_GROUP_CHECKSUM 0x80000000u

#define BLACKOUT_QUERY_BYTES 0u
#define BLACKOUT_QUERY_PATH 1u
#define BLACKOUT_QUERY_OP 2u

/* In a query's flags: what the run had said of itself with a stage of BLACKOUT_STAGE_POST. Neither INSIDE nor OUTSIDE:
 * no region of interest had begun yet. */
#define BLACKOUT_QUERY_SKIPPED 1u /* inside a region of blackout_skip_detection_begin, by this thread */
#define BLACKOUT_QUERY_INSIDE 2u  /* inside a region of interest */
#define BLACKOUT_QUERY_OUTSIDE 4u /* behind one */
#define BLACKOUT_QUERY_FLAGS 7u   /* all of them */

typedef struct blackout_query {
  uint32_t kind;
  uint32_t subject;
  uint64_t mask;
  uint64_t site;
  uint32_t group;
  uint32_t where; /* traced runs */
  uint32_t event; /* traced runs: slots of the trace so far */
  uint32_t flags; /* BLACKOUT_QUERY_SKIPPED and the like */
} blackout_query;

/* How the run ended by itself; 0: the wait status says. HUNG is said by the worker too, of a run that waits or loops
 * for ever. */
#define BLACKOUT_ENDED_HUNG 1u
#define BLACKOUT_ENDED_EXPECTATION 2u
#define BLACKOUT_ENDED_BROKEN 3u
/* Said by the worker. */
#define BLACKOUT_ENDED_TIMEOUT 4u
/* It took more of the machine than a run may (output, memory, processes, a file). */
#define BLACKOUT_ENDED_BOUND 5u

#define BLACKOUT_USED_THREADS 1u
#define BLACKOUT_USED_PROCESSES 2u
#define BLACKOUT_USED_TIME 4u
#define BLACKOUT_USED_RANDOM 8u
#define BLACKOUT_USED_RECORDED 16u
#define BLACKOUT_USED_STORED 32u   /* it stored to PM */
#define BLACKOUT_USED_TIMERS 64u   /* it asked for signals by the clock */
#define BLACKOUT_USED_SOCKETS 128u /* others than pairs */
#define BLACKOUT_USED_HEAP 256u    /* a process of it has the persistent heap */
#define BLACKOUT_USED_BESIDE 512u  /* it stored to PM while another of its threads could go on */

/* How far a client got with its server, and what the server was sent after it (runtime/drive.h). */
#define BLACKOUT_DRIVE_WAITS 0u       /* for the server to be ready */
#define BLACKOUT_DRIVE_NEVER_READY 1u /* the time for that was over */
#define BLACKOUT_DRIVE_NO_SERVER 2u   /* it ended before it was ready */
#define BLACKOUT_DRIVE_TALKS 3u
#define BLACKOUT_DRIVE_ENDED 4u /* client_status says how */

typedef struct blackout_drive {
  uint32_t state;        /* BLACKOUT_DRIVE_* */
  int32_t client_status; /* as wait(2) gives it */
  uint32_t sent;         /* 0, SIGTERM or SIGKILL */
} blackout_drive;

/* What a run's frames are of, the less telling first: an exit with a code other than 0 of one of its children, its own,
 * a fatal signal or a bound. */
#define BLACKOUT_END_CHILD_EXIT 1u
#define BLACKOUT_END_EXIT 2u
#define BLACKOUT_END_FATAL 3u

/* In `asks`, instead of the number of the thread that asks. */
#define BLACKOUT_ASKS_TRIED 0xfffffffeu  /* it goes on, under the worker's eyes */
#define BLACKOUT_ASKS_DENIED 0xffffffffu /* the worker can't tell */

#define BLACKOUT_MAX_MODULE_NAMES 65536u
#define BLACKOUT_MAX_QUERIES (1u << 22)
#define BLACKOUT_MAX_OUTPUT 65536u
#define BLACKOUT_MAX_RUN_FRAMES 64u
#define BLACKOUT_MAX_PRINTED (16u << 20) /* bytes that a run may print */
#define BLACKOUT_MAX_TASKS 1024u         /* threads and processes that it may have at a time */
#define BLACKOUT_MAX_GROWTH (1ull << 30) /* bytes by which a file may be larger than the largest pool */
#define BLACKOUT_MAX_NAMES 10000u        /* files and folders that it may make */
#define BLACKOUT_MAX_OPERATIONS (1u << 20)
#define BLACKOUT_MAX_HISTORY (1u << 20) /* bytes */

/* The begin or the end of an operation of the run itself, once it asked for that (blackout_history_begin): the name,
 * padded with zeros to 8 bytes, and values (trace_format.h) follow. Records lie one behind the other in the order in
 * which they were begun. */
#define BLACKOUT_HISTORY_BEGIN 0u
#define BLACKOUT_HISTORY_END 1u
typedef struct blackout_history_record {
  uint32_t size;   /* of all of it, whole 8 bytes; written last: 0 in one that is not finished */
  uint32_t what;   /* BLACKOUT_HISTORY_* */
  uint32_t thread; /* from 1 */
  uint32_t name_size;
} blackout_history_record;

/* A thread of a run in which everybody waits for ever. */
#define BLACKOUT_MAX_WAITING 16u
typedef struct blackout_waiting {
  char what[56]; /* "a lock or a condition" */
  uint64_t frame_count;
  uint64_t frames[BLACKOUT_MAX_RUN_FRAMES];
} blackout_waiting;

#define BLACKOUT_TRACED_READS 2u

typedef struct blackout_worker {
  uint64_t magic;
  uint32_t version;
  uint32_t number;

  /* Set by the tool before each run. */
  uint32_t traced; /* 1: its events are recorded; BLACKOUT_TRACED_READS: and each read of tracked bytes is logged */
  uint32_t timeout_ms;
  uint64_t step_limit;
  uint64_t run;          /* counts the worker's runs */
  uint64_t memory_limit; /* bytes that it may have, besides its pools */
  uint32_t hangs;        /* that is known: it may be ended (TIMEOUT) when it observes nothing more */
  uint32_t names_made;   /* set by the run: files and folders of its own */

  /* Set by the run. */
  uint64_t steps;
  int64_t turns_left;     /* of loops in instrumented code, until the hook is called (contract.h) */
  uint64_t turns_rounds;  /* how often it was, and nothing new was observed in between */
  uint64_t turns_queries; /* query_count when it was called last */
  uint64_t query_count;   /* may exceed BLACKOUT_MAX_QUERIES: the rest was not kept */
  uint64_t exec_began;    /* on the real clock, in nanoseconds: another program is about to be executed */
  uint64_t exec_time;     /* from there until they were loaded, of all of them */
  uint32_t ended;         /* BLACKOUT_ENDED_* */
  uint32_t used;          /* BLACKOUT_USED_* */
  uint32_t owns;          /* it made files of its own below run/ */
  uint32_t frame_count;
  uint32_t end_kind; /* BLACKOUT_END_*: what the frames are of */
  int32_t end_code;  /* of an exit */
  uint64_t frames[BLACKOUT_MAX_RUN_FRAMES];
  uint64_t fault_address;
  char text[512];
  char notes[4096];      /* sentences, each ended by a newline */
  char unseen[4096];     /* the same: what it did that could not be observed */
  uint64_t history_size; /* bytes; may exceed BLACKOUT_MAX_HISTORY: the run was ended then */
  uint32_t history_threads;
  uint32_t asks;      /* 0, or a thread that is over its steps asks the worker whether it loops for ever */
  uint32_t listening; /* 0, or the kernel's number of a process of the run that listens on a socket; a futex */

  /* Set by the worker. */
  uint32_t process; /* the kernel's number of the worker itself */
  blackout_drive drive;
  int32_t wait_status;
  uint32_t instrumented; /* the program has instrumented code */
  uint64_t output_size;  /* may exceed BLACKOUT_MAX_OUTPUT: the rest was not kept */
  char output[BLACKOUT_MAX_OUTPUT];

  uint64_t waiting_count; /* may exceed BLACKOUT_MAX_WAITING: the rest was not kept */
  blackout_waiting waiting[BLACKOUT_MAX_WAITING];

  /* Program files that processes of its runs executed or loaded, each ended by a newline; never reset. */
  char modules[BLACKOUT_MAX_MODULE_NAMES];

  /* One per operation of the recording, set by the tool: 0 not begun, 1 begun, 2 ended. */
  uint8_t operations[BLACKOUT_MAX_OPERATIONS];
  uint8_t history[BLACKOUT_MAX_HISTORY]; /* set by the run */
  blackout_query queries[BLACKOUT_MAX_QUERIES];
} blackout_worker;

#ifdef __cplusplus
}
#endif
#endif
