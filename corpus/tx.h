/* Transactions over a small heap, for the programs of the corpus that keep their data by them; in C and C++.
 *
 *   tx_begin(); tx_add(&node->key, 8); node->key = 3; tx_commit();
 *
 * Undo: before a range is changed in place its old contents are an entry of the log, durable, and then one more entry
 * is valid, durable. A commit makes what was added durable and then the log empty by one store; an abort, or a restart
 * that finds valid entries, puts the old contents back, newest first. A transaction in a transaction is part of
 * it: only the outermost commits, and an inner abort is that of all.
 *
 * Redo: stores are collected in a log. A commit makes them durable, then their number by one store, and only then makes
 * them in place; a restart that finds a number makes them again.
 *
 * The heap has a bit for each line. A block of tx_alloc() is zeros and needs not be added; tx_free() takes effect at
 * the commit. tx_alloc_atomic() is for programs without transactions: a constructor makes the block, durable,
 * and then one store into the program's own pointer publishes it.
 *
 * Nothing here is a bug of any variant, nothing is flushed twice, and no fence has nothing to order. */
#ifndef CORPUS_TX_H
#define CORPUS_TX_H

#include <string.h>

#include "pm.h"
#include "pmc.h"

#define TX_MAGIC 0x7478706f6f6cu
#define TX_ALIGNED __attribute__((aligned(64)))

/* For runs with a thousand operations. */
#ifdef CORPUS_LARGE
enum { TX_ENTRIES = 1024, TX_WORDS = 64, TX_TOUCHED = 2048, TX_BLOCKS = 1024 };
#else
enum {
  TX_ENTRIES = 48,  /* of the undo log */
  TX_WORDS = 8,     /* of the heap's bitmap */
  TX_TOUCHED = 256, /* lines that a transaction may change */
  TX_BLOCKS = 32    /* blocks that a transaction may allocate, and free */
};
#endif
enum {
  TX_OLD = 112, /* bytes in an entry; a longer range takes several */
  TX_REDO = 32  /* stores in the redo log */
};

struct tx_entry {
  void* place;
  uint64_t size;
  uint8_t old[TX_OLD];
} TX_ALIGNED;

struct tx_store {
  uint64_t* place;
  uint64_t value;
};

struct tx_pool {
  uint64_t magic;                     /* written last */
  TX_ALIGNED void* root;              /* the program's own; NULL in a new pool */
  TX_ALIGNED uint64_t valid;          /* entries of the undo log that a restart puts back */
  TX_ALIGNED uint64_t committed;      /* stores of the redo log that a restart makes again */
  TX_ALIGNED uint64_t used[TX_WORDS]; /* a bit for each line of the heap */
  struct tx_entry undo[TX_ENTRIES];
  TX_ALIGNED struct tx_store redo[TX_REDO];
  TX_ALIGNED char heap[TX_WORDS * 64][PM_LINE];
};

struct tx_block {
  void* place;
  size_t size;
};

/* Volatile: what a restart starts without. */
static struct {
  struct tx_pool* pool;
  unsigned depth;
  int aborted;
  unsigned touched_count, added_count, fresh_count, freed_count, redo_count;
  uintptr_t touched[TX_TOUCHED]; /* lines, each once */
  struct tx_block added[TX_ENTRIES];
  struct tx_block fresh[TX_BLOCKS]; /* allocated in this transaction */
  struct tx_block freed[TX_BLOCKS]; /* when it commits */
  struct tx_store redo[TX_REDO];
} tx;

/* ---- Lines to be flushed, each once. */

static inline void tx_touch(const void* addr, size_t len) {
  uintptr_t end = (uintptr_t)addr + len;
  for (uintptr_t line = (uintptr_t)addr & ~(uintptr_t)(PM_LINE - 1); line < end; line += PM_LINE) {
    unsigned i = 0;
    while (i < tx.touched_count && tx.touched[i] != line) ++i;
    if (i < tx.touched_count) continue;
    if (i == TX_TOUCHED) pm_die("too many lines in a transaction");
    tx.touched[tx.touched_count++] = line;
  }
}

static inline void tx_persist_touched(void) {
  for (unsigned i = 0; i < tx.touched_count; ++i) pm_flush((const void*)tx.touched[i], 1);
  if (tx.touched_count > 0) pm_fence();
  tx.touched_count = 0;
}

/* ---- Undo transactions. */

static inline void tx_begin(void) {
  if (tx.depth++ > 0) return;
  PMC_START_TX();
  tx.aborted = 0;
  tx.touched_count = tx.added_count = tx.fresh_count = tx.freed_count = 0;
}

/* From here on [place, place + size) may be changed in place, up to the commit. */
static inline void tx_add(void* place, size_t size) {
  struct tx_pool* pool = tx.pool;
  if (tx.depth == 0 || tx.aborted) pm_die("no transaction");
  PMC_ADD_TO_TX(place, size);
  tx_touch(place, size);
  for (size_t done = 0; done < size; done += TX_OLD) {
    size_t piece = size - done < TX_OLD ? size - done : (size_t)TX_OLD;
    struct tx_entry* entry = &pool->undo[pool->valid];
    if (pool->valid == TX_ENTRIES) pm_die("the undo log is full");
    entry->place = (char*)place + done;
    entry->size = piece;
    memcpy(entry->old, (char*)place + done, piece);
    pm_persist(entry, offsetof(struct tx_entry, old) + piece);
    PM_PUBLISH(pool->valid, pool->valid + 1);
    pm_persist(&pool->valid, sizeof pool->valid);
  }
  tx.added[tx.added_count].place = place;
  tx.added[tx.added_count++].size = size;
}

static inline int tx_is_in(const struct tx_block* blocks, unsigned count, const void* place, size_t size) {
  for (unsigned i = 0; i < count; ++i)
    if ((const char*)place >= (char*)blocks[i].place &&
        (const char*)place + size <= (char*)blocks[i].place + blocks[i].size)
      return 1;
  return 0;
}

/* The same where the transaction may have added or allocated it before. */
static inline void tx_add_once(void* place, size_t size) {
  if (!tx_is_in(tx.added, tx.added_count, place, size) && !tx_is_in(tx.fresh, tx.fresh_count, place, size))
    tx_add(place, size);
}

static inline void tx_empty_undo(void) {
  PM_PUBLISH(tx.pool->valid, 0);
  pm_persist(&tx.pool->valid, sizeof tx.pool->valid);
}

static inline void tx_put_back(void) {
  struct tx_pool* pool = tx.pool;
  tx.touched_count = 0;
  for (uint64_t i = pool->valid; i-- > 0;) {
    struct tx_entry* entry = &pool->undo[i];
    memcpy(entry->place, entry->old, entry->size);
    tx_touch(entry->place, entry->size);
  }
  tx_persist_touched();
  tx_empty_undo();
}

/* Nothing has happened; what follows up to the outermost commit must not change anything. */
static inline void tx_abort(void) {
  if (tx.depth == 0) pm_die("no transaction");
  if (!tx.aborted && tx.pool->valid > 0) tx_put_back();
  if (!tx.aborted)
    for (unsigned i = 0; i < tx.fresh_count; ++i) PMC_SET_CLEAN(tx.fresh[i].place, tx.fresh[i].size);
  tx.aborted = 1;
  if (--tx.depth == 0) PMC_END_TX();
}

static inline void tx_clear_bits(void);

/* Returns whether the transaction was not aborted. */
static inline int tx_commit(void) {
  if (tx.depth == 0) pm_die("no transaction");
  if (tx.depth == 1 && !tx.aborted) {
    tx_clear_bits();
    tx_persist_touched();
    if (tx.pool->valid > 0) tx_empty_undo();
  }
  if (--tx.depth == 0) PMC_END_TX();
  return !tx.aborted;
}

/* ---- Redo transactions: one at a time, and not in the others. */

static inline void tx_redo_set(uint64_t* place, uint64_t value) {
  if (tx.depth > 0) pm_die("a redo transaction in an undo transaction");
  if (tx.redo_count == TX_REDO) pm_die("the redo log is full");
  tx.redo[tx.redo_count].place = place;
  tx.redo[tx.redo_count++].value = value;
}

static inline void tx_redo_apply(void) {
  struct tx_pool* pool = tx.pool;
  tx.touched_count = 0;
  for (uint64_t i = 0; i < pool->committed; ++i) {
    PM_PUBLISH(*pool->redo[i].place, pool->redo[i].value);
    tx_touch(pool->redo[i].place, sizeof(uint64_t));
  }
  tx_persist_touched();
  PM_PUBLISH(pool->committed, 0);
  pm_persist(&pool->committed, sizeof pool->committed);
}

static inline void tx_redo_commit(void) {
  struct tx_pool* pool = tx.pool;
  if (tx.redo_count == 0) return;
  for (unsigned i = 0; i < tx.redo_count; ++i) pool->redo[i] = tx.redo[i];
  pm_persist(pool->redo, tx.redo_count * sizeof *pool->redo);
  PM_PUBLISH(pool->committed, tx.redo_count);
  pm_persist(&pool->committed, sizeof pool->committed);
  tx.redo_count = 0;
  tx_redo_apply();
}

/* ---- The heap. A block is a run of lines in one word of the bitmap. */

static inline uint64_t tx_mask(size_t size) {
  size_t lines = (size + PM_LINE - 1) / PM_LINE;
  if (lines == 0 || lines > 63) pm_die("no block has this size");
  return ((uint64_t)1 << lines) - 1;
}

static inline void* tx_find(size_t size, unsigned* word, uint64_t* bits) {
  uint64_t mask = tx_mask(size);
  for (unsigned w = 0; w < TX_WORDS; ++w)
    for (unsigned i = 0; i < 64 && (i == 0 || mask >> (64 - i) == 0); ++i)
      if ((tx.pool->used[w] & mask << i) == 0) {
        *word = w;
        *bits = mask << i;
        return tx.pool->heap[w * 64 + i];
      }
  pm_die("the heap is full");
  return NULL;
}

static inline void tx_where(const void* block, size_t size, unsigned* word, uint64_t* bits) {
  size_t line = (size_t)((const char*)block - tx.pool->heap[0]) / PM_LINE;
  *word = (unsigned)(line / 64);
  *bits = tx_mask(size) << line % 64;
}

static inline void* tx_alloc(size_t size) {
  unsigned word;
  uint64_t bits;
  void* block = tx_find(size, &word, &bits);
  tx_add_once(&tx.pool->used[word], sizeof tx.pool->used[word]);
  tx.pool->used[word] |= bits;
  if (tx.fresh_count == TX_BLOCKS) pm_die("too many blocks in a transaction");
  tx.fresh[tx.fresh_count].place = block;
  tx.fresh[tx.fresh_count++].size = size;
  PMC_ADD_TO_TX(block, size);
  memset(block, 0, size);
  tx_touch(block, size);
  return block;
}

static inline void tx_free(void* block, size_t size) {
  if (tx.depth == 0 || tx.aborted) pm_die("no transaction");
  if (tx.freed_count == TX_BLOCKS) pm_die("too many blocks in a transaction");
  tx.freed[tx.freed_count].place = block;
  tx.freed[tx.freed_count++].size = size;
}

/* Only now, so that no block is used again by the transaction that may yet need it back. */
static inline void tx_clear_bits(void) {
  unsigned word;
  uint64_t bits;
  for (unsigned i = 0; i < tx.freed_count; ++i) {
    tx_where(tx.freed[i].place, tx.freed[i].size, &word, &bits);
    tx_add_once(&tx.pool->used[word], sizeof tx.pool->used[word]);
    tx.pool->used[word] &= ~bits;
  }
}

/* Makes a block, of whatever its memory holds, by `construct`, which has it durable when it returns; then *slot leads
 * to it, durable, and it is allocated, both or neither. */
static inline void* tx_alloc_atomic(void** slot, size_t size, void (*construct)(void* block, void* argument),
                                    void* argument) {
  unsigned word;
  uint64_t bits;
  void* block = tx_find(size, &word, &bits);
  construct(block, argument);
  tx_redo_set(&tx.pool->used[word], tx.pool->used[word] | bits);
  tx_redo_set((uint64_t*)slot, (uint64_t)(uintptr_t)block);
  tx_redo_commit();
  return block;
}

/* The way back: *slot leads to `instead`, and its block is free, both or neither. */
static inline void tx_free_atomic(void** slot, size_t size, void* instead) {
  unsigned word;
  uint64_t bits;
  tx_where(*slot, size, &word, &bits);
  tx_redo_set((uint64_t*)slot, (uint64_t)(uintptr_t)instead);
  tx_redo_set(&tx.pool->used[word], tx.pool->used[word] & ~bits);
  tx_redo_commit();
}

/* Both at once: a new block, made by `construct`, in the place of that which *slot leads to. */
static inline void* tx_replace_atomic(void** slot, size_t size, void (*construct)(void* block, void* argument),
                                      void* argument) {
  unsigned word, old_word;
  uint64_t bits, old_bits;
  void* block = tx_find(size, &word, &bits);
  construct(block, argument);
  tx_where(*slot, size, &old_word, &old_bits);
  if (word == old_word) {
    tx_redo_set(&tx.pool->used[word], (tx.pool->used[word] | bits) & ~old_bits);
  } else {
    tx_redo_set(&tx.pool->used[word], tx.pool->used[word] | bits);
    tx_redo_set(&tx.pool->used[old_word], tx.pool->used[old_word] & ~old_bits);
  }
  tx_redo_set((uint64_t*)slot, (uint64_t)(uintptr_t)block);
  tx_redo_commit();
  return block;
}

/* For a verify: whether all of a block is allocated, and how many lines are. */
static inline int tx_is_allocated(const void* block, size_t size) {
  unsigned word;
  uint64_t bits;
  const char* begin = (const char*)block;
  if (begin < tx.pool->heap[0] || begin + size > (const char*)(tx.pool + 1) || (uintptr_t)begin % PM_LINE) return 0;
  tx_where(block, size, &word, &bits);
  return (tx.pool->used[word] & bits) == bits;
}

static inline unsigned tx_lines(size_t size) { return (unsigned)((size + PM_LINE - 1) / PM_LINE); }

static inline unsigned tx_allocated_lines(void) {
  unsigned lines = 0;
  for (unsigned w = 0; w < TX_WORDS; ++w) lines += (unsigned)__builtin_popcountll(tx.pool->used[w]);
  return lines;
}

/* ---- The pool. */

static inline void tx_recover(void) {
  if (tx.pool->committed > 0) tx_redo_apply();
  if (tx.pool->valid > 0) tx_put_back();
}

/* Maps the pool, made if it is missing or was left unfinished, and recovered: in either case between transactions. Its
 * root is NULL until the program has made it. */
static inline struct tx_pool* tx_open(const char* path) {
  struct tx_pool* pool = (struct tx_pool*)pm_map(path, sizeof(struct tx_pool));
  tx.pool = pool;
  tx.depth = tx.redo_count = 0;
  PMC_IGNORE_IN_TX(pool->undo, sizeof pool->undo);
  PMC_IGNORE_IN_TX(&pool->valid, sizeof pool->valid);
  if (pool->magic != TX_MAGIC) { /* new bytes are 0: no root, no log, nothing used */
    PM_PUBLISH(pool->magic, TX_MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
  } else {
    tx_recover();
  }
  return pool;
}

#endif
