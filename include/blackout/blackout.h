/* Blackout's annotations for persistent-memory programs, in C and C++.
 *
 * None of them is needed: `blackout check` finds pool files by its --pm option and everything else by
 * watching. They tell it what only the program knows, and so sharpen what it says: where an operation
 * begins and ends, which bytes don't matter, memory that is persistent though no file of --pm is behind it, where
 * crashes and findings are wanted, and which variable commits which data.
 *
 * In a build without Blackout (__BLACKOUT__ is not defined) all of them are empty inline functions, so
 * they may stay in the source: no library is needed and no code is left. In a build by
 * blackout-clang, blackout-clang++ or CMake's blackout_instrument() they are functions of the runtime,
 * and outside of a recording they return at once.
 *
 * All are safe to call from any thread, and none changes errno or the program's memory.
 */
#ifndef BLACKOUT_BLACKOUT_H
#define BLACKOUT_BLACKOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __BLACKOUT__
#define BLACKOUT_ANNOTATION(declaration, otherwise) declaration;
#else
#define BLACKOUT_ANNOTATION(declaration, otherwise) \
  static inline declaration { otherwise }
#endif

/* Returns 1 while the program runs under `blackout record` or `blackout check`, 0 otherwise.
 *
 * For a harness that does less work, or prints less, when every store is recorded. A program whose
 * persistent behaviour depends on it is not the program that was checked. */
BLACKOUT_ANNOTATION(int blackout_active(void), return 0;)

/* From here on, the len bytes at addr are persistent memory, called name in reports.
 *
 * For memory that no mapped file of --pm provides: a device mapping, an anonymous stand-in of a
 * simulation, a large allocation. Contents at this moment count as durable. Pools that --pm matches are
 * found when they are mapped and need no call. While recording, the pages that hold the region are replaced by
 * pages of a file with the same contents, so it should be made of whole pages, and can't be on a stack. A
 * region that overlaps one that is already known is left as it is. */
BLACKOUT_ANNOTATION(void blackout_pm_register(void* addr, size_t len, const char* name), (void)addr; (void)len;
                    (void)name;)

/* The region registered at addr ends. What is not durable in it by now is reported as at an unmap. */
BLACKOUT_ANNOTATION(void blackout_pm_unregister(void* addr), (void)addr;)

/* An operation of this thread begins: a call of the program's public interface, such as an insert.
 *
 * name groups operations in reports ("insert"); argument is any number that identifies
 * this one, such as the key, and is shown. An operation promises that what it did is durable when it ends,
 * so that each store inside it that isn't is reported there, not at the exit of the program.
 * After a crash inside it a restart that prints what it finds must print what it would have printed after a crash
 * before the operation or after it: all of it, or nothing. (Recovery may print additional lines of its own.) So don't
 * mark as one operation what may be done in part; mark its parts.
 * Operations of one thread nest, and the innermost is what is judged; every begin needs its end. Don't mark operations
 * whose durability comes later (buffered inserts, epochs): mark the call that makes them durable instead. */
BLACKOUT_ANNOTATION(void blackout_op_begin(const char* name, uint64_t argument), (void)name; (void)argument;)

/* This thread's innermost operation ends, with this result: any number, such as the value found. */
BLACKOUT_ANNOTATION(void blackout_op_end(uint64_t result), (void)result;)

/* One argument or result of an operation: a number, or bytes. Made by the functions below; the bytes are the caller's
 * and are read during the call only. */
#define BLACKOUT_VALUE_UNSIGNED 0u
#define BLACKOUT_VALUE_SIGNED 1u
#define BLACKOUT_VALUE_BYTES 2u
#define BLACKOUT_VALUE_TEXT 3u
typedef struct blackout_value {
  uint32_t kind;    /* BLACKOUT_VALUE_* */
  uint64_t number;  /* of a number; a signed one is cast */
  const void* data; /* of bytes and text */
  size_t size;
} blackout_value;

static __inline__ blackout_value blackout_value_of(uint32_t kind, uint64_t number, const void* data, size_t size) {
  blackout_value v;
  v.kind = kind;
  v.number = number;
  v.data = data;
  v.size = size;
  return v;
}
static __inline__ blackout_value blackout_uint(uint64_t number) {
  return blackout_value_of(BLACKOUT_VALUE_UNSIGNED, number, "", 0);
}
static __inline__ blackout_value blackout_int(int64_t number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return blackout_value_of(BLACKOUT_VALUE_SIGNED, bits, "", 0);
}
static __inline__ blackout_value blackout_bytes(const void* data, size_t size) {
  return blackout_value_of(BLACKOUT_VALUE_BYTES, 0, data, size);
}
static __inline__ blackout_value blackout_text(const char* text) {
  return blackout_value_of(BLACKOUT_VALUE_TEXT, 0, text, text ? strlen(text) : 0);
}

/* The same two calls with arguments and results of any kind, none or several:
 *
 *   blackout_value key[] = {blackout_text(name), blackout_int(-3)};
 *   blackout_op_begin_values("put", key, 2);
 *
 * At most 64 of them, and 64 KiB together; more ends the program with exit code 2. Begins and ends of either kind go
 * together. */
BLACKOUT_ANNOTATION(void blackout_op_begin_values(const char* name, const blackout_value* arguments, size_t count),
                    (void)name;
                    (void)arguments; (void)count;)
BLACKOUT_ANNOTATION(void blackout_op_end_values(const blackout_value* results, size_t count), (void)results;
                    (void)count;)

/* What the marked operations are those of: "map", "set", "queue", "stack", "register", "array" or "counter", empty (or
 * 0) at first. Call it in the recorded run before the first of them; it counts as an operation itself.
 *
 * Then restarts that record their operations (blackout_history_begin) are judged by it: some order of all operations,
 * those that had ended before the crash with their results, must explain every answer. Names and values:
 *
 *   map       insert(key, value) -> was it new; put(key, value); update(key, value) -> was it there;
 *             remove(key) -> was it there; get(key), scan(key) -> value or no result; contains(key) -> 0 or 1
 *   set       insert(key), remove(key), contains(key), scan(key)
 *   queue     enqueue(value), dequeue() -> value or no result        stack      push(value), pop()
 *   register  write(value), read() -> value                          array      write(index, value), read(index)
 *   counter   add(value), read() -> value
 *
 * An operation that returns nothing has no result. <blackout/lin.hpp> does all of this for a class. */
static __inline__ void blackout_specification(const char* name) {
  blackout_value named = blackout_text(name);
  blackout_op_begin_values("specification", &named, 1);
  blackout_op_end_values(&named, 0);
}

/* Which runs a call applies to. Any other number ends the program with exit code 2. */
#define BLACKOUT_STAGE_PRE 1  /* the recorded run */
#define BLACKOUT_STAGE_POST 2 /* a restart after a crash */
#define BLACKOUT_STAGE_BOTH 3

/* In all that follows, a call with a condition of 0 does nothing. An end without its begin does nothing, and the report
 * says so. */

/* Findings are wanted from here on. Without any call, the whole run is the region of interest.
 *
 * Everything before is still recorded and modelled, because a store left unflushed there is still
 * uncertain inside the region; it only isn't reported. Use it to leave out a long set-up.
 *
 * In the recorded run it restricts crashes and findings of the run itself; in a restart, the reads that detectors
 * across the failure judge. A byte is judged where a restart reads it first. A restart that fails is a finding
 * wherever it does. */
BLACKOUT_ANNOTATION(void blackout_roi_begin_if(int condition, int stage), (void)condition; (void)stage;)

/* Findings are wanted up to here. Another begin opens the region again; regions don't nest. */
BLACKOUT_ANNOTATION(void blackout_roi_end_if(int condition, int stage), (void)condition; (void)stage;)

/* The same for the recorded run, unconditionally. */
BLACKOUT_ANNOTATION(void blackout_roi_begin(void), )
BLACKOUT_ANNOTATION(void blackout_roi_end(void), )

/* What comes after this doesn't matter any more.
 *
 * In the recorded run: no crash and no finding from here on; the program goes on. In a restart: it ends here as if it
 * had exited with 0. What it has printed with stdio is kept (flush C++ streams that are not synchronised with it), but
 * no handler of atexit() and no destructor runs. Use it when recovery is done and the rest would only cost time. */
BLACKOUT_ANNOTATION(void blackout_complete(int condition, int stage), (void)condition; (void)stage;)

/* There is no crash between these two, in any thread. Regions nest.
 *
 * For code that is known to be right, or whose crashes are of no interest. It hides real bugs. What was stored inside
 * can still be lost by a crash after the region. */
BLACKOUT_ANNOTATION(void blackout_skip_failures_begin(int condition), (void)condition;)
BLACKOUT_ANNOTATION(void blackout_skip_failures_end(int condition), (void)condition;)

/* There is a crash here, too.
 *
 * Blackout finds the points at which a crash can make a difference to what memory holds; this is for a moment that
 * differs by something else. Nothing happens outside the region of interest and where crashes are skipped. */
BLACKOUT_ANNOTATION(void blackout_failure_point(int condition), (void)condition;)

/* The last store of this thread to persistent memory is a linearization point: with it, what the operation does becomes
 * visible to others. Call it right after that store (of a compare-and-swap: only if it stored).
 *
 * `blackout lin` guesses these points; one that is marked is tried in any case, and --show-points says which marked
 * ones the guess would have missed. There is a crash here, too, as of blackout_failure_point(). */
BLACKOUT_ANNOTATION(void blackout_lp(void), )

/* What this thread does between these two is trusted: no finding is about it. Regions of one thread nest.
 *
 * In the recorded run that means its stores, flushes and fences; in a restart, what it reads there first. Recording,
 * model and crashes are the same as without. It hides real bugs. */
BLACKOUT_ANNOTATION(void blackout_skip_detection_begin(int condition, int stage), (void)condition; (void)stage;)
BLACKOUT_ANNOTATION(void blackout_skip_detection_end(int condition, int stage), (void)condition; (void)stage;)

/* The size bytes at variable are a commit variable: what it holds tells recovery which data is consistent.
 *
 * A restart reads it whatever a crash left of it, and that is no mistake. Call it in the recorded run, before the
 * variable is stored to; in a restart it does nothing. It must be persistent memory; anything else ends the program
 * with exit code 2.
 *
 * Data is consistent if it was written after the last but one store to the variable that survived and was durable at
 * the last. So it is for a flag, a version, the number of the newest checkpoint; not for a count of entries, of which
 * the first are older than the last two counts. */
BLACKOUT_ANNOTATION(void blackout_commit_var(const void* variable, size_t size), (void)variable; (void)size;)

/* The commit variable at variable tells whether the size bytes at addr are consistent: they are if they were made
 * durable between its last two stores. May be called for several ranges; both must be persistent memory. If a program
 * has one commit variable and names no range of it, it speaks for all of persistent memory. */
BLACKOUT_ANNOTATION(void blackout_commit_range(const void* variable, const void* addr, size_t size), (void)variable;
                    (void)addr; (void)size;)

/* The contents of the len bytes at addr don't matter until they are stored again.
 *
 * For an allocator's free: nothing is reported about bytes that are dead, and the next store to one of
 * them makes that byte matter again. */
BLACKOUT_ANNOTATION(void blackout_discard(const void* addr, size_t len), (void)addr; (void)len;)

/* The contents of the len bytes at addr never matter, up to the end of the run.
 *
 * For what lies in a pool but is rebuilt at every start: locks, caches, statistics. It hides real bugs if recovery
 * does read these bytes. */
BLACKOUT_ANNOTATION(void blackout_ignore(const void* addr, size_t len), (void)addr; (void)len;)

/* Returns 1 in a restart after a simulated crash, 0 in the recorded run and without Blackout.
 *
 * For a harness that is operation and recovery in one binary (harness.hpp). A program that
 * recovers because this says so, and not because of what it finds in its pool, is not the program that was checked. */
BLACKOUT_ANNOTATION(int blackout_recovering(void), return 0;)

/* What holds here in every run, said in a few words: "every key has its value".
 *
 * In a restart after a simulated crash a false condition ends the run, and Blackout reports it with the crash
 * that caused it. In the recorded run it ends the program as abort() does. */
BLACKOUT_ANNOTATION(void blackout_expect(int condition, const char* what), (void)condition; (void)what;)

/* In a restart after a simulated crash: whether operation number n of the recorded run (from 0, in the order of
 * their blackout_op_begin) had begun, and whether it had ended. One that had ended was promised and must be
 * there; one that had not begun must not; in between either is right. Elsewhere both return 1.
 *
 * Ask after everything else was read, and only what is needed: each answer is one more thing on which recoveries
 * differ. */
BLACKOUT_ANNOTATION(int blackout_op_begun(uint64_t n), (void)n; return 1;)
BLACKOUT_ANNOTATION(int blackout_op_ended(uint64_t n), (void)n; return 1;)

/* In a restart after a simulated crash: what operation number n of the recorded run returned, if it had ended. Returns
 * how many values that are, and puts the first `room` of them into `values`, whose bytes are read-only and stay where
 * they are; -1 if it had not ended, or there is no such operation. Elsewhere -1. Asks what blackout_op_ended(n) asks.
 */
BLACKOUT_ANNOTATION(int blackout_op_result(uint64_t n, blackout_value* values, size_t room), (void)n; (void)values;
                    (void)room; return -1;)

/* In a restart after a simulated crash: from here on the operations that this process marks are part of how the restart
 * ended, with their arguments and results. (Without it a restart's operations say nothing.) Two restarts that print the
 * same but answer an operation differently are different then, and what a restart may answer after a crash inside an
 * operation of the recorded run is judged as what it prints is: without printing, and with values of any kind.
 *
 * Of all of a restart's operations together 1 MiB is kept: a restart with more is not judged. Elsewhere it does
 * nothing. */
BLACKOUT_ANNOTATION(void blackout_history_begin(void), )

/* In a restart after a simulated crash: recovery is done, and what is there looks as before the operation of the
 * recorded run that the crash interrupted (0), or as after it (1). To be said before the restart changes anything else.
 *
 * With --mechanisms, stores that no mechanism protects and that the restart uses must then be on the same side
 * (unprotected-store). <blackout/fs.hpp> says it of a file system. */
static __inline__ void blackout_recovered(int after) {
  blackout_op_begin("recovered", after ? 1 : 0);
  blackout_op_end(0);
}

/* The len bytes at addr are about to be read whole, to be trusted only if a checksum over them is right.
 *
 * So that a record of n pieces that were not flushed does not cost the product of what may have survived of each:
 * Blackout tries all pieces, none, each alone missing, each alone present and a sample, and says so. */
BLACKOUT_ANNOTATION(void blackout_checksum(const void* addr, size_t len), (void)addr; (void)len;)

/* Root slot i (0 to 63) of the persistent heap (`blackout check --heap`): a place in persistent memory that the
 * program finds again after a crash, NULL at first. Without Blackout it is ordinary memory. */
#ifdef __BLACKOUT__
void** blackout_root(unsigned i);
#else
static inline void** blackout_root(unsigned i) {
  static void* slots[64];
  return &slots[i % 64];
}
#endif

#undef BLACKOUT_ANNOTATION

#ifdef __cplusplus
}
#endif
#endif
