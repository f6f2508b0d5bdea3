/* A persistent slab allocator with recovery, in C, and a table of objects that uses it.
 *
 *   alloc POOL [OPERATIONS]
 *
 * A slab has four blocks of one size and a bitmap of those that are taken. Slabs are cut off the pool by moving `top`
 * and listed by the size of their blocks. An object is made by taking a block, writing it, and storing its address in
 * the table of objects; block and contents are durable before that. It is dropped in the opposite order: first the
 * address, then the block's bit. So a crash in between leaves a block that is taken and that nothing leads to; recovery
 * walks the table and frees such blocks.
 *
 * BUG=1..5 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x62616c73u
#define POOL_SIZE (64u << 10)
#define SIZES 2u
#define BLOCKS 4u
#define OBJECTS 8u

typedef struct Slab {
  uint64_t size; /* of a block */
  struct Slab* next;
  uint64_t taken; /* bit i: block i */
  _Alignas(PM_LINE) char block[];
} Slab;

typedef struct {
  uint64_t size; /* with this header */
  uint64_t tag;
  uint64_t word[];
} Object;

typedef struct {
  uint64_t magic; /* written last */
  char* top;      /* what lies above was never used */
  _Alignas(PM_LINE) Slab* slabs[SIZES];
  _Alignas(PM_LINE) Object* object[OBJECTS];
} Root;

static const char* path;
static uint64_t operation_count = 10;
static Root* root;

/* What the workload has reached; volatile memory. */
static struct {
  unsigned slabs[SIZES], reuses, drops;
} reached;

/* Adds a slab of this size class. */
static void grow(unsigned class) {
  const uint64_t size = 64u << class;
  Slab* slab = (Slab*)root->top;
  if ((size_t)((char*)root + POOL_SIZE - root->top) < sizeof(Slab) + BLOCKS * size) pm_die("the pool is full");
  ++reached.slabs[class];
  root->top += sizeof(Slab) + BLOCKS * size; /* @LOST 1 */
#if BUG == 1
  /* ID, missing flush: `top` stays in the caches. After a crash the next slab is cut off where this one lies. */
#else
  pm_persist(&root->top, sizeof root->top);
#endif
  slab->size = size;
  slab->next = root->slabs[class];
  pm_persist(slab, sizeof *slab);
  PM_PUBLISH(root->slabs[class], slab);
  pm_persist(&root->slabs[class], sizeof root->slabs[class]);
}

static Slab* slab_of(const void* block) {
  for (unsigned class = 0; class < SIZES; ++class)
    for (Slab* slab = root->slabs[class]; slab; slab = slab->next)
      if ((const char*)block >= slab->block && (const char*)block < slab->block + BLOCKS * slab->size) return slab;
  return NULL;
}

static uint64_t bit_of(const Slab* slab, const void* block) {
  return UINT64_C(1) << (((const char*)block - slab->block) / slab->size);
}

/* Durable after the next fence. */
static void* take(unsigned class) {
  for (;; grow(class))
    for (Slab* slab = root->slabs[class]; slab; slab = slab->next)
      for (unsigned i = 0; i < BLOCKS; ++i) {
        if (slab->taken >> i & 1) continue;
        PM_PUBLISH(slab->taken, slab->taken | UINT64_C(1) << i); /* @LOST 2 @LOST 3 @LOST 5 */
#if BUG == 2
    /* ID, missing flush: the bit stays in the caches, and the block is linked. After a crash it is handed out again
     * and two objects overlap. */
#else
        pm_flush(&slab->taken, sizeof slab->taken);
#endif
        return slab->block + i * slab->size;
      }
}

static unsigned words_of(uint64_t size) { return (unsigned)((size - sizeof(Object)) / sizeof(uint64_t)); }
static uint64_t word_of(uint64_t tag, unsigned i) { return tag << 8 | i; }

static void make(unsigned slot, unsigned class, uint64_t tag) {
  Object* object = take(class);
  reached.reuses += object->size != 0;
  object->size = 64u << class;
  object->tag = tag;
  for (unsigned i = 0; i < words_of(object->size); ++i) object->word[i] = word_of(tag, i); /* @LOST 5 */
  pm_flush(object, object->size);
#if BUG == 5
  /* ID, missing fence: the write-back of block and bitmap has only begun when the table leads to the object. */
#else
  pm_fence();
#endif
  PM_PUBLISH(root->object[slot], object);
  pm_persist(&root->object[slot], sizeof root->object[slot]);
}

static void drop(unsigned slot) {
  ++reached.drops;
  Object* object = root->object[slot];
  Slab* slab = slab_of(object);
#if BUG == 4
  /* UD, wrong order: the block is freed first, and one fence for both leaves it open which comes first. A crash may
   * leave an object in a free block. */
  PM_PUBLISH(slab->taken, slab->taken & ~bit_of(slab, object));
  PM_PUBLISH(root->object[slot], NULL); /* @LOST 4 */
  pm_flush(&slab->taken, sizeof slab->taken);
  pm_persist(&root->object[slot], sizeof root->object[slot]);
#else
  PM_PUBLISH(root->object[slot], NULL); /* @LOST 3 */
  pm_persist(&root->object[slot], sizeof root->object[slot]);
  PM_PUBLISH(slab->taken, slab->taken & ~bit_of(slab, object));
  pm_persist(&slab->taken, sizeof slab->taken);
#endif
}

/* The bits of the blocks in this slab that the table leads to. */
static uint64_t reachable(const Slab* slab) {
  uint64_t bits = 0;
  for (unsigned slot = 0; slot < OBJECTS; ++slot)
    if (root->object[slot] && slab_of(root->object[slot]) == slab) bits |= bit_of(slab, root->object[slot]);
  return bits;
}

static void format(void) {
  root->top = (char*)root + sizeof(Root);
  PM_PUBLISH(root->magic, (uint64_t)MAGIC); /* in the same line as top, so it comes after it */
  pm_persist(root, PM_LINE);
}

static void setup(void) {
  root = pm_map(path, POOL_SIZE);
  if (root->magic == MAGIC) pm_die("the pool holds objects already: remove it first");
  format();
}

/* Frees what is taken and not reachable. Another crash leaves less to do for the next time. */
static void recover(void) {
  root = pm_map(path, POOL_SIZE);
  if (root->magic != MAGIC) return format();
#if BUG == 3
  /* UD, not atomic: recovery trusts the bitmap. A block that was taken or freed during the crash is lost for ever. */
#else
  for (unsigned class = 0; class < SIZES; ++class)
    for (Slab* slab = root->slabs[class]; slab; slab = slab->next) {
      const uint64_t bits = slab->taken & reachable(slab);
      if (bits == slab->taken) continue;
      PM_PUBLISH(slab->taken, bits);
      pm_persist(&slab->taken, sizeof slab->taken);
    }
#endif
}

/* Operation i makes an object in this slot, or drops the one that is there. */
static unsigned slot_of(uint64_t i) {
  static const unsigned slots[] = {0, 1, 2, 3, 4, 6, 1, 4, 5, 6};
  return slots[i % 10];
}
static unsigned class_of(unsigned slot) { return slot >= 6; }

static void operations(void) {
  for (uint64_t i = 0; i < operation_count; ++i) {
    const unsigned slot = slot_of(i);
    blackout_op_begin(root->object[slot] ? "drop" : "make", slot);
    if (root->object[slot])
      drop(slot);
    else
      make(slot, class_of(slot), i + 1);
    blackout_op_end(0);
  }
  if (operation_count >= 10)
    pm_expect(reached.slabs[0] >= 2 && reached.slabs[1] && reached.reuses && reached.drops,
              "the workload reaches everything");
}

static void verify(void) {
  for (unsigned class = 0; class < SIZES; ++class)
    for (const Slab* slab = root->slabs[class]; slab; slab = slab->next) {
      pm_expect((const char*)slab >= (char*)root + sizeof(Root) && (const char*)slab < root->top &&
                    slab->block + BLOCKS * slab->size <= root->top,
                "every slab lies below the top");
      pm_expect(slab->size == 64u << class, "every slab has blocks of the size it is listed for");
      const uint64_t bits = reachable(slab);
      pm_expect((bits & ~slab->taken) == 0, "no object is in a free block");
      pm_expect((slab->taken & ~bits) == 0, "no block is lost");
    }
  uint64_t tags[OBJECTS] = {0};
  for (unsigned slot = 0; slot < OBJECTS; ++slot) {
    const Object* object = root->object[slot];
    if (!object) continue;
    pm_expect(slab_of(object) != NULL, "every object is in a slab");
    pm_expect(object->size == 64u << class_of(slot), "every object has its size");
    for (unsigned i = 0; i < words_of(object->size); ++i)
      pm_expect(object->word[i] == word_of(object->tag, i), "every object is whole");
    tags[slot] = object->tag;
  }

  uint64_t expected[OBJECTS] = {0};
  int whole = 0;
  int allowed = 0;
  for (uint64_t n = 0; !allowed; ++n) {
    unsigned same = 0;
    while (same < OBJECTS && expected[same] == tags[same]) ++same;
    if (same == OBJECTS) {
      whole = 1;
      allowed = pm_done(n, operation_count);
    }
    if (n == operation_count) break;
    expected[slot_of(n)] = expected[slot_of(n)] ? 0 : n + 1;
  }
  pm_expect(whole, "the objects are those after a whole number of operations");
  pm_expect(allowed, "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: alloc POOL [OPERATIONS]");
  path = argv[1];
  if (argc > 2) operation_count = strtoull(argv[2], NULL, 10);
  return pm_test(setup, operations, recover, verify);
}
