#!/usr/bin/env python3
"""Writes an assembly file with some thousand forms of instructions that have a memory operand, each as a fragment that
ends in a jump to form_exit, and a table of them: what a test must put where before it executes one. The table's layout
is that of instruction_forms.h."""

import itertools
import sys

GENERAL = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"] + [f"r{n}" for n in range(8, 16)]
NONE = 255
BUFFER = 0x20000000  # kBuffer of instruction_forms.h

# As in instruction_forms.h.
SETUPS = ["Plain", "String", "BitString", "Divide", "Compare", "Indices", "Jump", "Table", "SaveState", "LoadState",
          "Mxcsr", "X87Control", "Call", "Direct64"]

# Feature: leaf, subleaf, register (eax 0, ebx 1, ecx 2, edx 3), bit of cpuid.
FEATURES = {
    "base": (0, 0, 0, 0), "sse3": (1, 0, 2, 0), "ssse3": (1, 0, 2, 9), "sse4.1": (1, 0, 2, 19), "sse4.2": (1, 0, 2, 20),
    "movbe": (1, 0, 2, 22), "popcnt": (1, 0, 2, 23), "aes": (1, 0, 2, 25), "xsave": (1, 0, 2, 27), "avx": (1, 0, 2, 28),
    "f16c": (1, 0, 2, 29), "fma": (1, 0, 2, 12), "cx16": (1, 0, 2, 13), "pclmul": (1, 0, 2, 1),
    "bmi1": (7, 0, 1, 3), "avx2": (7, 0, 1, 5), "bmi2": (7, 0, 1, 8), "avx512f": (7, 0, 1, 16),
    "avx512dq": (7, 0, 1, 17), "adx": (7, 0, 1, 19), "clflushopt": (7, 0, 1, 23), "clwb": (7, 0, 1, 24),
    "avx512bw": (7, 0, 1, 30), "avx512vl": (7, 0, 1, 31), "vbmi2": (7, 0, 2, 6), "gfni": (7, 0, 2, 8),
    "vnni": (7, 0, 2, 11), "movdiri": (7, 0, 2, 27), "movdir64b": (7, 0, 2, 28), "xsavec": (13, 1, 0, 1),
    "xsaveopt": (13, 1, 0, 0), "lzcnt": (0x80000001, 0, 2, 5),
    "sse4a": (0x80000001, 0, 2, 6), "clzero": (0x80000008, 0, 1, 0),
}


class Mode:
    """An addressing mode: base + index * scale + displacement."""

    def __init__(self, text, base=None, index=None, scale=1, displacement=0):
        self.text, self.base, self.index, self.scale, self.displacement = text, base, index, scale, displacement


MODES = [
    Mode("(%r9)", "r9"),
    Mode("24(%r10)", "r10", displacement=24),
    Mode("-200(%rbx)", "rbx", displacement=-200),
    Mode("64(%rsi)", "rsi", displacement=64),
    Mode("(%r11,%rcx,4)", "r11", "rcx", 4),
    Mode("0x1234(%rbp)", "rbp", displacement=0x1234),
    Mode("-0x777(%r12,%r13,2)", "r12", "r13", 2, -0x777),
    Mode("(%r13)", "r13"),
    Mode("8(%rsp)", "rsp", displacement=8),
    Mode("(%rdi,%r15,8)", "rdi", "r15", 8),
    Mode("-128(%r14,%rbp)", "r14", "rbp", 1, -128),
    Mode("(%r12)", "r12"),
    Mode("0x10(,%r8,8)", None, "r8", 8, 0x10),
]
LOW = [Mode("-200(%rbx)", "rbx", displacement=-200), Mode("(%rsi)", "rsi"), Mode("(%rbp,%rcx)", "rbp", "rcx")]
ODD = [Mode("(%r9d)", "r9"), Mode("%gs:(%r9)", "r9"), Mode("%gs:16(%ebx)", "rbx", displacement=16),
       Mode("0x10(%eax,%ecx,2)", "rax", "rcx", 2, 0x10), Mode(f"{BUFFER + 0x1800}", None, displacement=BUFFER + 0x1800)]

forms = []
turn = itertools.count()


def add(text, feature="base", setup="Plain", align=1, modes=None, count=1, mode=None, **more):
    """One form per mode: {m} is the memory operand. Modes take turns, `count` of them."""
    if "{m}" not in text:
        forms.append(dict(text=text, mode=mode, feature=feature, setup=setup, align=align, **more))
        return
    chosen = modes if modes is not None else [MODES[next(turn) % len(MODES)] for _ in range(count)]
    for m in chosen:
        forms.append(dict(text=text.replace("{m}", m.text), mode=m, feature=feature, setup=setup, align=align, **more))


CONDITIONS = "o no b ae e ne be a s ns p np l ge le g".split()
WIDTHS = [("b", "%al %cl %dl %bl %sil %r9b %r15b %spl".split()), ("w", "%ax %cx %bx %si %r9w %r14w %sp".split()),
          ("l", "%eax %ecx %edx %ebx %ebp %r9d %r12d %esp".split()),
          ("q", "%rax %rcx %rdx %rbx %rbp %r9 %r13 %rsp".split())]


def scalar():
    for suffix, registers in WIDTHS:
        reg = itertools.cycle(registers)
        for op in "mov add adc sub sbb and or xor cmp".split():
            for _ in range(2):
                add(f"{op}{suffix} {next(reg)}, {{m}}")
                add(f"{op}{suffix} {{m}}, {next(reg)}")
            add(f"{op}{suffix} $0x55, {{m}}")
            if suffix != "b":
                add(f"{op}{suffix} $0x5566, {{m}}")
        for r in registers:  # each register as data, with each of some modes
            add(f"mov{suffix} {r}, {{m}}", count=4)
            add(f"mov{suffix} {{m}}, {r}", count=4)
        add(f"test{suffix} {next(reg)}, {{m}}", count=2)
        add(f"test{suffix} $0x12, {{m}}")
        for op in "inc dec neg not".split():
            add(f"{op}{suffix} {{m}}", count=2)
            add(f"lock {op}{suffix} {{m}}")
        for op in "add adc sub sbb and or xor".split():
            add(f"lock {op}{suffix} {next(reg)}, {{m}}")
            add(f"lock {op}{suffix} $3, {{m}}")
        for op in "shl shr sar rol ror rcl rcr".split():
            add(f"{op}{suffix} {{m}}")
            add(f"{op}{suffix} $5, {{m}}")
            add(f"{op}{suffix} %cl, {{m}}", undefined=0x811)
        add(f"xchg{suffix} {next(reg)}, {{m}}", count=3)
        add(f"xadd{suffix} {next(reg)}, {{m}}", count=2)
        add(f"lock xadd{suffix} {next(reg)}, {{m}}", count=2)
        add(f"cmpxchg{suffix} {next(reg)}, {{m}}", setup="Compare", count=2)
        add(f"lock cmpxchg{suffix} {next(reg)}, {{m}}", setup="Compare", count=3)
        add(f"mul{suffix} {{m}}", undefined=0xd4)
        add(f"imul{suffix} {{m}}", undefined=0xd4)
        add(f"div{suffix} {{m}}", setup="Divide", undefined=0x8d5)
        add(f"idiv{suffix} {{m}}", setup="Divide", undefined=0x8d5)
        if suffix == "b":
            continue
        add(f"imul{suffix} {{m}}, {registers[1]}", undefined=0xd4)
        add(f"imul{suffix} $77, {{m}}, {registers[2]}", undefined=0xd4)
        add(f"imul{suffix} $7777, {{m}}, {registers[3]}", undefined=0xd4)
        for op in "bt bts btr btc".split():
            add(f"{op}{suffix} $13, {{m}}")
            add(f"{op}{suffix} {registers[2]}, {{m}}", setup="BitString", special=registers[2],
                modes=MODES[:2] + MODES[7:8])
        for op in "bts btr btc".split():
            add(f"lock {op}{suffix} $3, {{m}}")
            add(f"lock {op}{suffix} %r8{dict(w='w', l='d', q='')[suffix]}, {{m}}", setup="BitString", special="%r8",
                modes=MODES[:2])
        for op in "shld shrd".split():
            add(f"{op}{suffix} $7, {registers[0]}, {{m}}")
            add(f"{op}{suffix} %cl, {registers[0]}, {{m}}", undefined=0x8d5)
        for condition in CONDITIONS:
            add(f"cmov{condition}{suffix} {{m}}, {next(reg)}")
        add(f"movbe{suffix} {registers[0]}, {{m}}", "movbe")
        add(f"movbe{suffix} {{m}}, {registers[1]}", "movbe")
        add(f"bsf{suffix} {{m}}, {registers[0]}", undefined=0x895)
        add(f"bsr{suffix} {{m}}, {registers[0]}", undefined=0x895)
        add(f"popcnt{suffix} {{m}}, {next(reg)}", "popcnt")
        add(f"lzcnt{suffix} {{m}}, {next(reg)}", "lzcnt", undefined=0x894)
        add(f"tzcnt{suffix} {{m}}, {next(reg)}", "bmi1", undefined=0x894)
    for condition in CONDITIONS:
        add(f"set{condition} {{m}}")
    for high in "ah ch dh bh".split():
        add(f"movb %{high}, {{m}}", modes=LOW)
        add(f"movb {{m}}, %{high}", modes=LOW)
        add(f"addb %{high}, {{m}}", modes=LOW)
    for op in ("movzbw {m}, %ax", "movzbl {m}, %ecx", "movzbq {m}, %rdx", "movzwl {m}, %ebx", "movzwq {m}, %r9",
               "movsbw {m}, %r8w",
               "movsbl {m}, %esi", "movsbq {m}, %rsp", "movswl {m}, %eax", "movswq {m}, %rbp", "movslq {m}, %rdi",
               "movslq {m}, %rcx", "movw %ds, {m}", "movnti %eax, {m}", "movnti %r12, {m}", "movnti %rsp, {m}"):
        add(op, count=2)
    for text in ("movq %rcx, {m}", "movl {m}, %edx", "addl $5, {m}", "lock xaddl %edx, {m}", "movb %dl, {m}",
                 "incq {m}"):
        add(text, modes=ODD)
    for text in ("vmovdqu {m}, %ymm9", "vmovdqu %ymm3, {m}"):
        add(text, "avx", modes=ODD)
    add("cmpxchg8b {m}", setup="Compare", modes=MODES[:4] + MODES[7:8], align=8)
    add("lock cmpxchg8b {m}", setup="Compare", modes=MODES[:4], align=8)
    add("cmpxchg16b {m}", "cx16", "Compare", 16, modes=MODES[:2] + MODES[7:8])
    add("lock cmpxchg16b {m}", "cx16", "Compare", 16, modes=MODES[:2] + MODES[11:12])
    for suffix, register in (("b", "%eax"), ("w", "%ecx"), ("l", "%edx"), ("q", "%rbx"), ("b", "%r9"), ("l", "%esp")):
        add(f"crc32{suffix} {{m}}, {register}", "sse4.2")
    for text in ("andnl {m}, %eax, %ecx", "andnq {m}, %r9, %rbx", "blsil {m}, %edx", "blsrq {m}, %rax",
                 "blsmskq {m}, %r12",
                 "bextrl %eax, {m}, %ecx"):
        add(text, "bmi1", undefined=0x94, count=2)
    for text in ("rorxq $5, {m}, %rax", "sarxq %rcx, {m}, %rdx", "shlxl %eax, {m}, %ebp", "shrxq %r9, {m}, %rbx",
                 "pdepq {m}, %rax, %rcx", "pextq {m}, %rbx, %rdx", "mulxq {m}, %rax, %rcx", "bzhiq %rax, {m}, %rcx"):
        add(text, "bmi2", count=2, undefined=0x14 if text.startswith("bzhi") else 0)
    add("adcxq {m}, %rax", "adx")
    add("adoxq {m}, %rsp", "adx")
    for n in range(4):
        address = BUFFER + 0x1900 + n * 8
        for width, r in (("b", "al"), ("w", "ax"), ("l", "eax"), ("q", "rax")):
            add(f"movabs{width} {address}, %{r}")
            add(f"movabs{width} %{r}, {address}")
    stackless = [m for m in MODES if m.base != "rsp"]
    add("pushq {m}", modes=stackless[:6], stack=1)
    add("pushw {m}", modes=stackless[:2], stack=1)
    add("popq {m}", modes=stackless[:6], stack=1)
    add("popw {m}", modes=stackless[:2], stack=1)
    add("jmpq *{m}", setup="Jump", modes=stackless[:4], stack=1)
    add("callq *{m}", setup="Call", modes=stackless[:4], stack=1)
    add("pushq 8(%rsp)", setup="Plain", mode=Mode("8(%rsp)", "rsp", displacement=8))
    add("popq 8(%rsp)", setup="Plain", mode=Mode("8(%rsp)", "rsp", displacement=8))
    add("xlatb", setup="Table")
    for text, feature in (("clflush {m}", "base"), ("clflushopt {m}", "clflushopt"), ("clwb {m}", "clwb")):
        add(text, feature, count=2)
    add("clzero", "clzero", mode=Mode("", "rax"))
    add("movdiri %eax, {m}", "movdiri", align=4)
    add("movdiri %r9, {m}", "movdiri", align=8)
    for r in ("%r8", "%rax", "%rsi"):
        add(f"movdir64b {{m}}, {r}", "movdir64b", "Direct64", special=r, modes=MODES[:2])


def strings():
    rep, either = ("", "rep "), ("", "repe ", "repne ")
    for op, prefixes in (("movs", rep), ("stos", rep), ("lods", rep), ("scas", either), ("cmps", either)):
        for prefix in prefixes:
            for suffix in "bwlq":
                add(f"{prefix}{op}{suffix}", setup="String", repeated=int(prefix != ""))


def sse():
    for op in "movups movaps movupd movapd movdqu movdqa".split():
        aligned = 16 if op in ("movaps", "movapd", "movdqa") else 1
        for n in (0, 7, 13):
            add(f"{op} %xmm{n}, {{m}}", align=aligned, count=2)
            add(f"{op} {{m}}, %xmm{n}", align=aligned, count=2)
    for op in "movlps movhps movlpd movhpd movss movsd movd movq".split():
        add(f"{op} %xmm3, {{m}}", count=2)
        add(f"{op} {{m}}, %xmm9", count=2)
    for op in "movntps movntpd movntdq".split():
        add(f"{op} %xmm5, {{m}}", align=16, count=2)
    add("movntdqa {m}, %xmm4", "sse4.1", align=16)
    add("movntss %xmm2, {m}", "sse4a")
    add("movntsd %xmm2, {m}", "sse4a")
    add("lddqu {m}, %xmm2", "sse3")
    add("movddup {m}, %xmm2", "sse3")
    add("movshdup {m}, %xmm2", "sse3", align=16)
    add("maskmovdqu %xmm3, %xmm4", mode=Mode("", "rdi"))
    for op in ("addps addpd addss addsd mulps mulpd mulss mulsd subps divps divss divsd minps maxpd sqrtps sqrtsd "
               "rcpps rsqrtss andps andnps orpd xorps unpcklps unpckhpd paddb paddw paddd paddq psubb psubusw pmullw "
               "pmulhuw "
               "pmuludq pmaddwd pand pandn por pxor pcmpeqb pcmpgtd packsswb packuswb punpcklbw punpckhqdq psadbw "
               "pavgb pminub pmaxsw psllw "
               "psrlq psrad cvtdq2ps cvtps2dq cvttps2dq cvtdq2pd cvtps2pd cvtpd2ps cvtss2sd cvtsd2ss").split():
        add(f"{op} {{m}}, %xmm{next(turn) % 16}", align=16)
    for text in ("shufps $0x1b, {m}, %xmm1", "shufpd $1, {m}, %xmm10", "pshufd $0x1b, {m}, %xmm2",
                 "pshuflw $0x4e, {m}, %xmm3",
                 "cmpps $1, {m}, %xmm4", "cmpsd $2, {m}, %xmm5", "pinsrw $3, {m}, %xmm6", "ucomiss {m}, %xmm1",
                 "comisd {m}, %xmm2",
                 "cvtss2si {m}, %eax", "cvttsd2si {m}, %rcx", "cvtsi2ss {m}, %xmm1", "cvtsi2sdq {m}, %xmm1",
                 "cvtpi2ps {m}, %xmm3",
                 "cvtpi2pd {m}, %xmm3"):
        add(text, align=16)
    for op in "pshufb phaddw phsubd pmulhrsw psignb pabsd".split():
        add(f"{op} {{m}}, %xmm{next(turn) % 16}", "ssse3", align=16)
    add("palignr $5, {m}, %xmm1", "ssse3", align=16)
    for op in "pmulld pminsd pmaxud pcmpeqq ptest pmovzxbw pmovsxdq phminposuw packusdw".split():
        add(f"{op} {{m}}, %xmm{next(turn) % 16}", "sse4.1", align=16)
    for text in ("pblendw $0x5a, {m}, %xmm1", "blendvps %xmm0, {m}, %xmm2", "pblendvb %xmm0, {m}, %xmm3",
                 "roundps $1, {m}, %xmm4",
                 "dpps $0xff, {m}, %xmm5", "insertps $0x10, {m}, %xmm6", "mpsadbw $1, {m}, %xmm7",
                 "pinsrb $3, {m}, %xmm8",
                 "pinsrd $1, {m}, %xmm9", "pinsrq $1, {m}, %xmm10", "pextrb $3, %xmm1, {m}", "pextrw $3, %xmm2, {m}",
                 "pextrd $3, %xmm3, {m}", "pextrq $1, %xmm14, {m}", "extractps $2, %xmm5, {m}"):
        add(text, "sse4.1", align=16)
    for text in ("pcmpgtq {m}, %xmm1", "pcmpestri $0x0c, {m}, %xmm2", "pcmpistrm $0x0c, {m}, %xmm3",
                 "pcmpistri $0x40, {m}, %xmm1"):
        add(text, "sse4.2", align=16)
    for text in ("aesenc {m}, %xmm1", "aesdeclast {m}, %xmm2", "aeskeygenassist $3, {m}, %xmm3"):
        add(text, "aes", align=16)
    add("pclmulqdq $1, {m}, %xmm1", "pclmul", align=16)
    for text in ("movq {m}, %mm1", "movq %mm2, {m}", "movd %mm2, {m}", "paddb {m}, %mm3", "pmullw {m}, %mm4",
                 "movntq %mm1, {m}",
                 "pshufw $0x1b, {m}, %mm5", "cvtps2pi {m}, %mm6"):
        add(text, align=8)
    add("maskmovq %mm1, %mm2", mode=Mode("", "rdi"))
    add("ldmxcsr {m}", setup="Mxcsr", count=2)
    add("stmxcsr {m}", count=2)


def x87():
    for text in ("flds {m}", "fldl {m}", "fldt {m}", "filds {m}", "fildl {m}", "fildll {m}", "fsts {m}", "fstl {m}",
                 "fstps {m}",
                 "fstpl {m}", "fstpt {m}", "fists {m}", "fistl {m}", "fistps {m}", "fistpl {m}", "fistpll {m}",
                 "fadds {m}", "faddl {m}",
                 "fmuls {m}", "fsubl {m}", "fsubrs {m}", "fdivl {m}", "fdivrs {m}", "fiadds {m}", "fimull {m}",
                 "fcoms {m}", "fcompl {m}",
                 "ficoms {m}", "fbld {m}", "fbstp {m}", "fisttpl {m}", "fisttpll {m}", "fnstcw {m}", "fnstsw {m}"):
        add(text, count=2)
    add("fldcw {m}", setup="X87Control")
    add("fnstenv {m}")
    add("fnsave {m}")


def state():
    add("fxsave {m}", setup="SaveState", align=64)
    add("fxsave64 {m}", setup="SaveState", align=64)
    add("fxrstor {m}", setup="LoadState", align=64)
    add("fxrstor64 {m}", setup="LoadState", align=64)
    usable = [m for m in MODES if m.base in ("r9", "r10", "r13")]
    add("xsave {m}", "xsave", "SaveState", 64, modes=usable)
    add("xsave64 {m}", "xsave", "SaveState", 64, modes=usable)
    add("xrstor {m}", "xsave", "LoadState", 64, modes=usable)
    add("xrstor64 {m}", "xsave", "LoadState", 64, modes=usable)
    add("xsavec {m}", "xsavec", "SaveState", 64, modes=usable)
    add("xsaveopt {m}", "xsaveopt", "SaveState", 64, modes=usable)


def avx():
    for reg, size in (("xmm", 16), ("ymm", 32)):
        for op in "vmovups vmovaps vmovupd vmovapd vmovdqu vmovdqa".split():
            aligned = size if op in ("vmovaps", "vmovapd", "vmovdqa") else 1
            for n in (1, 12):
                add(f"{op} %{reg}{n}, {{m}}", "avx", align=aligned, count=2)
                add(f"{op} {{m}}, %{reg}{n}", "avx", align=aligned, count=2)
        for op in "vmovntps vmovntpd vmovntdq".split():
            add(f"{op} %{reg}6, {{m}}", "avx", align=size)
        for op in "vaddps vaddpd vmulps vsubpd vdivps vminps vmaxpd vandps vxorpd vunpcklps vaddsubps vhaddpd".split():
            add(f"{op} {{m}}, %{reg}{next(turn) % 16}, %{reg}{next(turn) % 16}", "avx")
        for op in "addb addq subusw mullw and xor cmpeqb cmpgtd shufb sadbw muludq".split():
            add(f"vp{op} {{m}}, %{reg}{next(turn) % 16}, %{reg}{next(turn) % 16}", "avx2")
        add(f"vpackuswb {{m}}, %{reg}3, %{reg}12", "avx2")
        for op in "vfmadd132ps vfmadd213pd vfmsub231ps vfnmadd132pd".split():
            add(f"{op} {{m}}, %{reg}2, %{reg}11", "fma")
        for op in "vmaskmovps vmaskmovpd".split():
            add(f"{op} %{reg}1, %{reg}2, {{m}}", "avx", count=3)
            add(f"{op} {{m}}, %{reg}2, %{reg}13", "avx", count=2)
        for op in "vpmaskmovd vpmaskmovq".split():
            add(f"{op} %{reg}1, %{reg}14, {{m}}", "avx2", count=3)
            add(f"{op} {{m}}, %{reg}2, %{reg}3", "avx2", count=2)
        add(f"vbroadcastss {{m}}, %{reg}9", "avx")
        add(f"vpbroadcastb {{m}}, %{reg}9", "avx2")
        add(f"vpbroadcastq {{m}}, %{reg}9", "avx2")
        add(f"vpsllvd {{m}}, %{reg}1, %{reg}2", "avx2")
        add(f"vpshufd $0x1b, {{m}}, %{reg}4", "avx2")
        add(f"vblendvps %{reg}1, {{m}}, %{reg}2, %{reg}3", "avx")
        add(f"vptest {{m}}, %{reg}3", "avx")
        add(f"vlddqu {{m}}, %{reg}3", "avx")
        add(f"vcmpps $17, {{m}}, %{reg}3, %{reg}5", "avx")
        add(f"vroundpd $1, {{m}}, %{reg}5", "avx")
        add(f"vcvtdq2ps {{m}}, %{reg}5", "avx")
        add(f"vcvtps2ph $0, %{reg}5, {{m}}", "f16c")
        add(f"vcvtph2ps {{m}}, %{reg}5", "f16c")
        add(f"vgf2p8mulb {{m}}, %{reg}5, %{reg}6", "gfni")
    for text in ("vmovss %xmm1, {m}", "vmovss {m}, %xmm1", "vmovsd %xmm12, {m}", "vmovsd {m}, %xmm2",
                 "vmovd {m}, %xmm3", "vmovd %xmm3, {m}",
                 "vmovq {m}, %xmm3", "vmovq %xmm13, {m}", "vmovlps %xmm1, {m}", "vmovlps {m}, %xmm1, %xmm2",
                 "vmovhpd {m}, %xmm1, %xmm2",
                 "vmovhpd %xmm5, {m}", "vaddss {m}, %xmm1, %xmm2", "vmulsd {m}, %xmm1, %xmm2", "vucomisd {m}, %xmm2",
                 "vcvtsi2sdq {m}, %xmm1, %xmm2",
                 "vcvttss2si {m}, %rax", "vbroadcastf128 {m}, %ymm2", "vinsertf128 $1, {m}, %ymm3, %ymm4",
                 "vextractf128 $1, %ymm4, {m}",
                 "vperm2f128 $0x21, {m}, %ymm3, %ymm4", "vpermilps $0x1b, {m}, %ymm3", "vpinsrb $3, {m}, %xmm1, %xmm2",
                 "vpextrq $1, %xmm4, {m}",
                 "vpextrw $1, %xmm4, {m}", "vmovddup {m}, %ymm4", "vstmxcsr {m}"):
        add(text, "avx")
    add("vldmxcsr {m}", "avx", "Mxcsr")
    for text in ("vbroadcasti128 {m}, %ymm2", "vinserti128 $1, {m}, %ymm3, %ymm4", "vextracti128 $1, %ymm14, {m}",
                 "vpermd {m}, %ymm3, %ymm4",
                 "vpermq $0x1b, {m}, %ymm3", "vpmovzxbw {m}, %ymm3", "vpmovsxdq {m}, %ymm3", "vmovntdqa {m}, %ymm3"):
        add(text, "avx2", align=32)
    add("vmaskmovdqu %xmm3, %xmm14", "avx", mode=Mode("", "rdi"))
    gather = [Mode("(%r9,{i},{s})", "r9"), Mode("0x123(%r14,{i},{s})", "r14", displacement=0x123),
              Mode("8(%rsp,{i},{s})", "rsp", displacement=8)]
    for mode, scale in zip(gather, (1, 4, 8)):
        for op, index, size in (("vpgatherdd", "ymm2", 4), ("vgatherdps", "xmm9", 4)):
            reg = index[:3]
            m = mode.text.replace("{i}", "%" + index).replace("{s}", str(scale))
            add(f"{op} %{reg}1, {m}, %{reg}3", "avx2", "Indices", mode=mode, vector=int(index[3:]), indexSize=size)
        for op, index, size, data in (("vpgatherdq", "xmm10", 4, "ymm"), ("vpgatherqd", "ymm5", 8, "xmm"),
                                      ("vgatherqpd", "ymm5", 8, "ymm"),
                                      ("vpgatherqd", "xmm5", 8, "xmm"), ("vgatherdpd", "xmm5", 4, "xmm")):
            m = mode.text.replace("{i}", "%" + index).replace("{s}", str(scale))
            add(f"{op} %{data}1, {m}, %{data}3", "avx2", "Indices", mode=mode, vector=int(index[3:]), indexSize=size)
        for op, index, size, data in (("vpgatherdd", "zmm20", 4, "zmm"), ("vpgatherdq", "ymm20", 4, "zmm"),
                                      ("vpgatherqd", "zmm3", 8, "ymm"),
                                      ("vgatherqpd", "zmm31", 8, "zmm"), ("vgatherdps", "zmm8", 4, "zmm")):
            m = mode.text.replace("{i}", "%" + index).replace("{s}", str(scale))
            add(f"{op} {m}, %{data}17{{%k1}}", "avx512f", "Indices", mode=mode, vector=int(index[3:]), indexSize=size)
            scatter = op.replace("gather", "scatter")
            add(f"{scatter} %{data}17, {m}{{%k3}}", "avx512f", "Indices", mode=mode, vector=int(index[3:]),
                indexSize=size)
        for op, index, size, data in (("vpgatherdd", "xmm20", 4, "xmm"), ("vpgatherqq", "ymm20", 8, "ymm")):
            m = mode.text.replace("{i}", "%" + index).replace("{s}", str(scale))
            add(f"{op} {m}, %{data}17{{%k1}}", "avx512vl", "Indices", mode=mode, vector=int(index[3:]), indexSize=size)
            add(f"{op.replace('gather', 'scatter')} %{data}1, {m}{{%k1}}", "avx512vl", "Indices", mode=mode,
                vector=int(index[3:]), indexSize=size)


def avx512():
    for reg, size, feature in (("zmm", 64, "avx512f"), ("ymm", 32, "avx512vl"), ("xmm", 16, "avx512vl")):
        for op in "vmovups vmovaps vmovupd vmovapd vmovdqu32 vmovdqu64 vmovdqa32 vmovdqa64 vmovdqu8 vmovdqu16".split():
            aligned = size if "mova" in op or "dqa" in op else 1
            needs = "avx512bw" if op in ("vmovdqu8", "vmovdqu16") else feature
            add(f"{op} %{reg}17, {{m}}", needs, align=aligned, count=2)
            add(f"{op} {{m}}, %{reg}18", needs, align=aligned, count=2)
            add(f"{op} %{reg}1, {{m}}{{%k1}}", needs, align=aligned, count=3)
            add(f"{op} %{reg}30, {{m}}{{%k7}}", needs, align=aligned)
            add(f"{op} {{m}}, %{reg}2{{%k2}}", needs, align=aligned, count=2)
            add(f"{op} {{m}}, %{reg}22{{%k3}}{{z}}", needs, align=aligned, count=2)
        for op in "vmovntps vmovntpd vmovntdq".split():
            add(f"{op} %{reg}26, {{m}}", feature, align=size)
        for op, n in (("ps", 4), ("pd", 8)):
            lanes = size // n
            for name in "vadd vmul vsub vdiv vmin vfmadd213".split():
                add(f"{name}{op} {{m}}, %{reg}21, %{reg}2", feature)
                add(f"{name}{op} {{m}}, %{reg}21, %{reg}2{{%k1}}", feature)
                add(f"{name}{op} {{m}}{{1to{lanes}}}, %{reg}1, %{reg}19{{%k1}}{{z}}", feature)
            add(f"vcmp{op} $1, {{m}}, %{reg}21, %k2{{%k3}}", feature, count=2)
        for op, n in (("d", 4), ("q", 8)):
            lanes = size // n
            for name in "vpadd vpsub vpand vpxor vpmins vpternlog".split():
                immediate = "$0x5a, " if "tern" in name else ""
                add(f"{name}{op} {immediate}{{m}}, %{reg}21, %{reg}2", feature)
                add(f"{name}{op} {immediate}{{m}}{{1to{lanes}}}, %{reg}1, %{reg}19{{%k1}}", feature)
            add(f"vpcmp{op} $1, {{m}}, %{reg}21, %k2{{%k3}}", feature)
            add(f"vpcompress{op} %{reg}5, {{m}}{{%k1}}", feature, count=3)
            add(f"vpcompress{op} %{reg}25, {{m}}", feature)
            add(f"vpexpand{op} {{m}}, %{reg}5{{%k1}}", feature, count=2)
            add(f"vpermt2{op} {{m}}, %{reg}5, %{reg}6{{%k1}}", feature)
            add(f"vpbroadcast{op} {{m}}, %{reg}16{{%k1}}", feature)
            add(f"vptestm{op} {{m}}, %{reg}16, %k3", feature)
        for op in ("vcompressps", "vcompresspd"):
            add(f"{op} %{reg}5, {{m}}{{%k2}}", feature, count=2)
        for op in ("vpcompressb", "vpcompressw"):
            add(f"{op} %{reg}5, {{m}}{{%k2}}", "vbmi2", count=2)
        for op in "vpaddb vpsubusw vpcmpeqb vpmaxuw vpshufb".split():
            target = "%k4" if "cmp" in op else f"%{reg}9"
            add(f"{op} {{m}}, %{reg}21, {target}{{%k1}}", "avx512bw", count=2)
        add(f"vpcmpub $1, {{m}}, %{reg}21, %k2{{%k3}}", "avx512bw", count=2)
        for op in "vpmovdb vpmovdw vpmovqd vpmovusdb vpmovsqw".split():
            add(f"{op} %{reg}5, {{m}}", feature)
            add(f"{op} %{reg}25, {{m}}{{%k1}}", feature, count=2)
        add(f"vpmovwb %{reg}25, {{m}}{{%k1}}", "avx512bw")
        add(f"vpmovzxbw {{m}}, %{reg}25{{%k1}}", "avx512bw")
        add(f"vcvtps2ph $0, %{reg}25, {{m}}{{%k1}}", feature, count=2)
        add(f"vpdpbusd {{m}}, %{reg}25, %{reg}4{{%k1}}", "vnni")
        add(f"vcvtqq2pd {{m}}, %{reg}25", "avx512dq")
    for n in (1, 4):
        for suffix, feature in (("b", "avx512dq"), ("w", "avx512f"), ("d", "avx512bw"), ("q", "avx512bw")):
            add(f"kmov{suffix} %k{n}, {{m}}", feature)
            add(f"kmov{suffix} {{m}}, %k{n}", feature)
    for feature, texts in (
            ("avx512f", (
                "vextractf32x4 $1, %zmm5, {m}", "vextracti64x4 $1, %zmm25, {m}{%k1}",
                "vbroadcasti32x4 {m}, %zmm25", "vinserti64x4 $1, {m}, %zmm5, %zmm6", "vmovss %xmm16, {m}",
                "vmovss %xmm16, {m}{%k1}", "vmovsd {m}, %xmm16{%k1}{z}", "vmovd {m}, %xmm16",
                "vmovq %xmm16, {m}", "vaddss {m}, %xmm16, %xmm1{%k1}", "vucomiss {m}, %xmm20",
                "vcvtsd2usi {m}, %rax")),
            ("avx512dq", (
                "vextractf32x8 $1, %zmm25, {m}{%k1}", "vbroadcastf64x2 {m}, %zmm25{%k1}",
                "vpextrd $1, %xmm20, {m}"))):
        for text in texts:
            add(text, feature, count=2)


def write(out):
    lines = ["  .text", "  .p2align 6"]
    for n, f in enumerate(forms):
        lines += [f"form_{n}:", f"  {f['text']}", f"form_end_{n}:", "  jmp form_exit"]
    lines += ["  .section .rodata"]
    for n, f in enumerate(forms):
        quoted = f["text"].replace('"', '\\"')
        lines += [f"text_{n}: .asciz \"{quoted}\""]
    lines += ["  .section .data.rel.ro,\"aw\"", "  .p2align 3", "  .globl forms", "forms:"]
    number = lambda register: NONE if register is None else GENERAL.index(register)
    for n, f in enumerate(forms):
        mode = f.get("mode") or Mode("")
        special = f.get("special")
        special = NONE if special is None else GENERAL.index(wide(special))
        leaf, subleaf, register, bit = FEATURES[f["feature"]]
        lines += [f"  .quad text_{n}, form_{n}, form_end_{n}",
                  f"  .long {mode.displacement}, {leaf}",
                  "  .byte " + ", ".join(str(v) for v in (
                      number(mode.base), number(mode.index), mode.scale, f["align"], SETUPS.index(f["setup"]), special,
                                                          subleaf, register,
                      bit, f.get("vector", 0), f.get("indexSize", 0), f.get("stack", 0), f.get("repeated", 0), 0)),
                  f"  .short {f.get('undefined', 0)}"]
    lines += ["  .globl formCount", "formCount:", f"  .quad {len(forms)}", "  .section .note.GNU-stack,\"\",@progbits"]
    out.write("\n".join(lines) + "\n")


def wide(register):
    """The 64-bit register of %al, %ax, %eax, %r8d..."""
    name = register.lstrip("%")
    if name in GENERAL:
        return name
    for full in GENERAL:
        short = full[1:]
        if name in ("e" + short, short) or name in (full + "d", full + "w", full + "b") or name == short[:1] + "l":
            return full
    raise ValueError(register)


scalar()
strings()
sse()
x87()
state()
avx()
avx512()
with open(sys.argv[1], "w") as file:
    write(file)
