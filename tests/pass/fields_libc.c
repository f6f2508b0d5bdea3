// Field keys of calls of libc's functions: of what is written, whichever argument that is.
// RUN: for o in 0 2; do %plain-cc -O$o -g -fno-builtin -fpass-plugin=%pass -shared -fPIC %s -o %t$o.so && %blackout sites %t$o.so | FileCheck %s || exit 1; done
#include <string.h>
#include <strings.h>
struct from { long source; };
struct to { long target; };
// CHECK: to.target{{$}}
// CHECK-NEXT: in by_memmove{{$}}
void by_memmove(struct to *t, struct from *f) { memmove(&t->target, &f->source, 8); }
// CHECK: to.target{{$}}
// CHECK-NEXT: in by_bcopy{{$}}
void by_bcopy(struct to *t, struct from *f) { bcopy(&f->source, &t->target, 8); }
// CHECK: to.target{{$}}
// CHECK-NEXT: in by_bzero{{$}}
void by_bzero(struct to *t) { bzero(&t->target, 8); }
