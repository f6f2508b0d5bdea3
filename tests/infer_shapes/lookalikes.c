// What looks like a guardian and is none: nothing that is read depends on it.
//
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

#include "Inputs/pm.h"

struct Cell {
  uint64_t value;
  int flag, after, joined, constant, shown, returned, silent, stored, asked, loop;
};
void persist_cell(struct Cell* c) { persist(&c->value); }

/* Read, but not tested. */
uint64_t not_tested(struct Cell* c) { return c->flag + c->value; }

/* Tested after the read. */
uint64_t tested_after(struct Cell* c) {
  uint64_t v = c->value;
  return c->after ? v : 0;
}

/* Both ways come together before the read. */
uint64_t joined(struct Cell* c, int* counter) {
  if (c->joined)
    ++*counter;
  else
    --*counter;
  return c->value;
}

/* A condition that is none. */
uint64_t constant(struct Cell* c) {
  int one = 1;
  if (one || c->constant) return c->value;
  return 0;
}

/* Tested to be shown. */
void shown(struct Cell* c) { printf("%s\n", c->shown ? "yes" : "no"); }

/* Given to the caller, which doesn't test it. */
int returned(struct Cell* c) { return c->returned; }
uint64_t calls_returned(struct Cell* c) {
  int r = returned(c);
  uint64_t v = c->value;
  return v + (uint64_t)r;
}

/* Decides over a write only. */
void decides_over_write(struct Cell* c) {
  if (c->silent) c->stored = 1;
}

/* The way that it decides over ends the program: nothing is read there. */
void ends(struct Cell* c) {
  if (c->asked) {
    puts("no");
    exit(1);
  }
}

/* The loop is left, and the next turn reads: but not because of a test before it in the same turn. */
uint64_t left(struct Cell* c, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += c[i].value;
    if (c[i].loop) puts("loop");
  }
  return sum;
}

/* A volatile struct, which nothing flushes. */
struct Handle {
  int open;
  struct Cell* cell;
};
uint64_t through_handle(struct Handle* h) {
  if (!h->open) return 0;
  return h->cell->value;
}

// CHECK: 0 guardians; 1 more field
