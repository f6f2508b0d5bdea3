// Valgrind's client request: the documented instruction sequence (here as an own macro), answered by the
// runtime. Its other special sequences, for other registers, are left alone.
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
#define PREAMBLE "rolq $3,  %%rdi ; rolq $13, %%rdi\n\trolq $61, %%rdi ; rolq $51, %%rdi\n\t"
#define REQUEST(result, unanswered, code, a, b)                                         \
  do {                                                                                  \
    volatile unsigned long args[6] = {code, (unsigned long)(a), (unsigned long)(b)};    \
    __asm__ volatile(PREAMBLE "xchgq %%rbx,%%rbx"                                       \
                     : "=d"(result)                                                     \
                     : "a"(&args[0]), "0"(unanswered)                                   \
                     : "cc", "memory");                                                 \
  } while (0)
// CHECK-LABEL: @flush_request(
// CHECK-NOT: asm
// CHECK: [[R:%.*]] = call i64 @__blackout_request(i64 0, ptr {{.*}}, ptr @blackout.site
// CHECK-NOT: asm
// CHECK: ret
unsigned long flush_request(void *p) {
  unsigned long result;
  REQUEST(result, 0UL, 0x50430004, p, 8);
  return result;
}
// CHECK-LABEL: @other(
// CHECK: asm
// CHECK-NOT: call {{.*}}__blackout_request
unsigned long other(void) {
  unsigned long result;
  __asm__ volatile(PREAMBLE "xchgq %%rcx,%%rcx" : "=a"(result)::"cc", "memory");
  return result;
}
