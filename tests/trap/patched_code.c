#include "patched_code.h"

#include <valgrind/valgrind.h>

/* Hidden inside: addressed relative to the instruction. */
__asm__(".set data, patched_data\n.hidden data");
__attribute__((aligned(64))) uint64_t patched_data[16];

#define FUNCTION(name, body)                                                                \
  __asm__(".text\n.p2align 4\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" body \
          "\nret\n.cfi_endproc\n"                                                           \
          ".size " #name ",.-" #name "\n" #name "_end:\n.p2align 4, 0xcc\n");               \
  __attribute__((visibility("hidden"))) void name(void);                                    \
  __attribute__((visibility("hidden"))) void name##_end(void);

/* Short ones, with something behind them that can move. inc leaves the carry as it was. */
FUNCTION(inc_moves, "lock incl (%rdi)\nsetc %al\nsetz %ah")
FUNCTION(inc_in_loop, "andl $7, %ecx\nincl %ecx\n1: lock incl (%rdi)\ndecl %ecx\njnz 1b")
FUNCTION(dec_word, "lock decw 2(%rdi)\nmov %eax, %edx")
FUNCTION(xchg_moves, "xchg %eax, (%rdi)\nmov %rax, %rdx\nadc %rcx, %rdx")
FUNCTION(xchg_byte, "xchg %al, 3(%rdi)\nlea 1(%rax), %r9")
FUNCTION(xchg_extended, "xchg %r14, (%r8)\nxor %r15d, %r14d")
FUNCTION(moves_relative, "lock incl (%rdi)\nmovl data+4(%rip), %eax\nlea data+8(%rip), %rdx")
FUNCTION(moves_relative_store, "lock decl (%rdi)\nmovl $0x12345678, data+12(%rip)")
FUNCTION(moves_access, "lock incl (%r8)\nmov %rcx, (%rdi)\nnop")
FUNCTION(moves_push, "lock incb (%rdi)\npush %rax\npush %rcx\npop %rax\npop %rdx")

/* And without: a branch leads to what would have to move, or it is one itself. */
FUNCTION(before_target, "andl $7, %ecx\nincl %ecx\nlock incl (%rdi)\n1: decl %ecx\nnop\njnz 1b")
FUNCTION(before_return, "xchg %eax, (%rdi)")
FUNCTION(before_branch, "lock incl (%rdi)\njc 1f\nlock decl (%rdi)\n1: nop\nnop\nnop")
FUNCTION(before_fence, "sfence\nsfence\nmfence\nmov %rax, %rdx")
FUNCTION(before_call, "lock incl (%rdi)\ncall 1f\n1: pop %rdx")
FUNCTION(jump_table,
         "and $3, %esi\nlea 9f(%rip), %rdx\nmovslq (%rdx,%rsi,4), %rax\nadd %rdx, %rax\njmp *%rax\n"
         "1: lock incl (%rdi)\nmov $1, %eax\nret\n2: lock addl $3, 8(%rdi)\nmov $2, %eax\nret\n"
         "3: xchg %ecx, (%rdi)\nmov $3, %eax\nret\n4: mfence\nmov $4, %eax\n"
         ".pushsection .rodata\n.p2align 2\n9: .long 1b-9b, 2b-9b, 3b-9b, 4b-9b\n.popsection")

/* Long enough by themselves. */
FUNCTION(xadd_relative, "lock xaddl %eax, data(%rip)\nsetc %dl")
FUNCTION(add_relative, "lock addl $0x11223344, data+4(%rip)\nsetc %dl\nseto %dh")
FUNCTION(add_relative_byte, "lock addw $5, data+2(%rip)\nsetc %dl")
FUNCTION(fence_on_stack, "lock orl $0, (%rsp)\nsetz %al")
FUNCTION(fence_below_stack, "mov %rax, -16(%rsp)\nlock addq $0, -16(%rsp)\nmov -16(%rsp), %rdx")
FUNCTION(arithmetic,
         "lock subq %rax, 8(%rdi)\nsetc %dl\nlock andl %ecx, 16(%rdi)\nsets %dh\nlock orq %r9, 24(%rdi,%rbx,8)\n"
         "lock xorb $0x55, 77(%rdi)\nlock negl 80(%rdi)\nsetc %al")
FUNCTION(reads_carry, "lock adcq %rax, 8(%rdi)\nsetc %dl\nlock sbbl $7, 16(%rdi)\nseto %dh")
FUNCTION(keeps_flags, "lock notl 8(%rdi)\nsetc %dl\nxchg %rax, 0x100(%rdi)\nseto %dh\nlock incq 0x20(%rdi)\nsetc %al")
FUNCTION(bits, "lock btsl $7, 8(%rdi)\nsetc %al\nlock btrq %rcx, 16(%rdi)\nsetz %dl\nlock btcl $3, 24(%rdi)\nsetc %dh")
FUNCTION(swaps,
         "mov %rcx, %r9\nlock cmpxchgl %edx, 4(%rdi)\nsetz %r10b\nlock cmpxchg8b 8(%rdi)\nsetz %r11b\n"
         "lock cmpxchg16b 16(%rdi)\nsetz %r12b\nmov 4(%rdi), %eax\nlock cmpxchgl %r9d, 4(%rdi)\nsetz %r13b")

FUNCTION(swap_keeps_flags, "lock cmpxchg8b 8(%rdi)\nsetc %r9b\nseto %r10b\nsets %r11b")
FUNCTION(long_swap_keeps_flags, "lock cmpxchg16b 16(%rdi)\nsetc %r9b\nseto %r10b\nsets %r11b")

/* Fences and flushes. */
FUNCTION(fences, "mfence\nmov %rax, %rdx\nsfence\nlea 1(%rdx), %rcx\n.byte 0x0f, 0xae, 0xf9\nadd %rcx, %rdx")
FUNCTION(load_fence, "lfence\nmov %rax, %rdx\n.byte 0x0f, 0xae, 0xe9\nnop")
FUNCTION(clflushes,
         "clflush (%rdi)\nmov %rax, %rdx\nclflush (%r8)\nnop\nclflush 8(%rdi,%rbx,4)\nclflush data(%rip)\n"
         "clflush 0x200(%rdi)")
FUNCTION(clwbs,
         "clwb (%rdi)\nmov %rax, %rdx\nclwb (%r8)\nclwb 8(%rdi,%rbx,4)\nclwb data+64(%rip)\nclwb (%rsp)\n"
         "clwb 0x200(%r8)")
FUNCTION(clflushopts, "clflushopt (%rdi)\nxor %edx, %edx\nclflushopt 1(%r8)\nnop\nclflushopt data(%rip)")

/* None: between registers, and bytes inside another instruction. */
FUNCTION(none,
         "xchg %rax, %rcx\nxchg %edx, %r9d\nxchg %rbx, %rbx\nmov $0xf8ae0f90, %eax\nmovabs $0x90fff8ae0ff007ff, %rdx\n"
         "lea 0x7f8ff00(%rip), %r10\nincl (%rdi)\nxadd %ecx, 4(%rdi)")

/* What lies below the stack pointer is the function's own, and vector registers too. */
FUNCTION(red_zone,
         "mov %rax, -8(%rsp)\nmov %rdx, -64(%rsp)\nmov %r9, -128(%rsp)\nlock incl (%rdi)\nnopl 0(%rax)\n"
         "mov -8(%rsp), %rdx\nmov -64(%rsp), %r9\nmov -128(%rsp), %rax\nsfence\nlea (%rax,%rdx), %r10\n"
         "xchg %r11, 8(%r8)\nmov -64(%rsp), %r12\nmov -128(%rsp), %r13\nmovdqu %xmm1, 64(%rdi)")

/* Two parts, far apart: the second leads back to what would have to move. */
FUNCTION(in_parts, "test $1, %al\njz in_parts_rest\nlock incl (%rdi)\nin_parts_back: mov %rax, %rdx\nnop")
__asm__(
    ".section .text.unlikely, \"ax\"\nin_parts_rest:\n.cfi_startproc\nxor $0x77, %eax\nincl 4(%rdi)\n"
    "jmp in_parts_back\n.cfi_endproc\n.text");
/* The same by a short jump of the neighbour. */
FUNCTION(beside, "test $1, %al\njz beside_rest\nlock incl (%rdi)\nbeside_back: mov %rax, %rdx\nnop")
__asm__("beside_rest:\n.cfi_startproc\nxor $0x77, %eax\njmp beside_back\n.cfi_endproc\n");
/* The second part knows a table of places in the first. */
FUNCTION(by_table_of_part, "test $1, %al\njz by_table_rest\nlock incl (%rdi)\nby_table_back: mov %rax, %rdx\nnop")
__asm__(
    "by_table_rest:\n.cfi_startproc\nlea 9f(%rip), %rdx\nmovslq (%rdx), %rcx\nadd %rdx, %rcx\nxor $0x77, %eax\n"
    "jmp *%rcx\n.cfi_endproc\n.pushsection .rodata\n.p2align 2\n9: .long by_table_back-9b\n.popsection");
/* Entered from anywhere: a second name inside, and a place whose address somebody has. */
FUNCTION(two_names, "lock incl (%rdi)\n.globl patched_second_name\npatched_second_name: mov %rax, %rdx\nnop")
FUNCTION(address_taken, "lock decl (%rdi)\naddress_taken_here: mov %rax, %rdx\nnop")
FUNCTION(takes_address, "lea address_taken_here(%rip), %rdx")
/* A jump that leaves for another function for good takes nothing away. */
FUNCTION(tail_jump, "lock incl (%rdi)\nmov %rax, %rdx\nadd $1, %rcx\njmp none")

/* An exception enters where no branch leads to. */
__asm__(
    ".text\n.p2align 4\n.type catching,@function\ncatching:\n.cfi_startproc\n.cfi_lsda 0x1b, catching_table\n"
    "sfence\ncatching_pad: mov %rax, %rdx\nnop\nret\n.cfi_endproc\n.size catching,.-catching\ncatching_end:\n"
    ".pushsection .gcc_except_table, \"a\"\n.p2align 2\ncatching_table: .byte 0xff, 0xff, 0x01\n"
    ".uleb128 2f-1f\n1: .uleb128 0\n.uleb128 3\n.uleb128 catching_pad-catching\n.uleb128 0\n2:\n.popsection\n");
__attribute__((visibility("hidden"))) void catching(void);
__attribute__((visibility("hidden"))) void catching_end(void);

/* No unwind table, but a size. */
__asm__(
    ".text\n.p2align 4\n.globl patched_bare\n.type patched_bare,@function\npatched_bare:\nlock addl $1, 8(%rdi)\n"
    "lock incl (%rdi)\nmov %rax, %rdx\nret\n.size patched_bare,.-patched_bare\npatched_bare_end:\n");
void patched_bare(void);
__attribute__((visibility("hidden"))) void patched_bare_end(void);

/* A jump over the lock prefix: the function is two functions at once. */
FUNCTION(skips_lock, "test $1, %al\njz 1f\nlock\n1: incl (%rdi)\nnop\nnop")
/* No function at all: a fence, a flush, a locked instruction; a prefix that locks nothing. */
__asm__(
    ".text\n.byte 0x0f, 0xae, 0xf8, 0x90, 0x66, 0x0f, 0xae, 0x37, 0x90, 0xf0, 0xff, 0x07, 0xf0, 0x90, 0x0f, 0x0b\n"
    ".p2align 4\n");
const int patched_unproved = 4;

uint64_t patched_request(uint64_t unanswered, uint64_t a, uint64_t b) {
  return VALGRIND_DO_CLIENT_REQUEST_EXPR(unanswered, 0x50430005, a, b, 3, 4, 5);
}

void patched_hammer(uint64_t counters[4], int times) {
  static int lock;
  for (int i = 0; i < times; ++i) {
    __atomic_fetch_add(&counters[0], (uint64_t)i | 1, __ATOMIC_SEQ_CST);
    __asm__ volatile("lock incq %0" : "+m"(counters[1]) : : "cc");
    uint64_t old = __atomic_load_n(&counters[2], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counters[2], &old, old + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST) != 0) __builtin_ia32_pause();
    counters[3] += 1;
    __asm__ volatile("sfence" : : : "memory");
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
}

void patched_xadd_loop(uint64_t* counter, uint64_t times) {
  uint64_t one = 1;
  __asm__ volatile("1: movl $1, %k0\nlock xaddq %0, (%1)\ndecq %2\njnz 1b"
                   : "+r"(one), "+r"(counter), "+r"(times)
                   :
                   : "memory", "cc");
}

void patched_xchg_loop(uint64_t* counter, uint64_t times) {
  uint64_t one = 1;
  __asm__ volatile("1: xchgq %0, (%1)\ndecq %2\njnz 1b" : "+r"(one), "+r"(counter), "+r"(times) : : "memory", "cc");
}

#define ROW(name, jumps, breakpoints, flags) {#name, name, name##_end, jumps, breakpoints, flags}
const struct patched_function patched_functions[] = {
    ROW(inc_moves, 1, 0, 0),
    ROW(inc_in_loop, 1, 0, VARIES),
    ROW(dec_word, 1, 0, 0),
    ROW(xchg_moves, 1, 0, 0),
    ROW(xchg_byte, 1, 0, 0),
    ROW(xchg_extended, 1, 0, 0),
    ROW(moves_relative, 1, 0, 0),
    ROW(moves_relative_store, 1, 0, 0),
    ROW(moves_access, 1, 0, 0),
    ROW(moves_push, 1, 0, 0),
    ROW(before_target, 0, 1, 0),
    ROW(before_return, 0, 1, 0),
    ROW(before_branch, 0, 2, VARIES),
    ROW(before_fence, 1, 2, 0),
    ROW(before_call, 0, 1, 0),
    ROW(jump_table, 1, 3, VARIES),
    ROW(xadd_relative, 1, 0, 0),
    ROW(add_relative, 1, 0, 0),
    ROW(add_relative_byte, 1, 0, 0),
    ROW(fence_on_stack, 1, 0, 0),
    ROW(fence_below_stack, 1, 0, 0),
    ROW(arithmetic, 5, 0, 0),
    ROW(reads_carry, 2, 0, 0),
    ROW(keeps_flags, 3, 0, 0),
    ROW(bits, 3, 0, 0),
    ROW(swaps, 4, 0, 0),
    ROW(swap_keeps_flags, 1, 0, 0),
    ROW(long_swap_keeps_flags, 1, 0, 0),
    ROW(fences, 3, 0, 0),
    ROW(load_fence, 0, 0, 0),
    ROW(clflushes, 5, 0, 0),
    ROW(clwbs, 6, 0, NEEDS_CLWB),
    ROW(clflushopts, 3, 0, NEEDS_CLFLUSHOPT),
    ROW(none, 0, 0, 0),
    ROW(red_zone, 3, 0, 0),
    ROW(in_parts, 0, 1, VARIES),
    ROW(beside, 0, 1, VARIES),
    ROW(by_table_of_part, 0, 1, VARIES),
    ROW(two_names, 0, 1, 0),
    ROW(address_taken, 0, 1, 0),
    ROW(takes_address, 0, 0, 0),
    ROW(tail_jump, 1, 0, 0),
    ROW(catching, 0, 1, 0),
    ROW(patched_bare, 1, 1, 0),
    ROW(skips_lock, 0, 0, 0),
};
const int patched_function_count = sizeof patched_functions / sizeof patched_functions[0];
