"""The table: every way of writing, reading and ending, and what `blackout check` has to say of it.

Expectations are written from what the program does, never from what came out.
"""

import dataclasses
import fnmatch
import re

from programs import BUILDS, HERE


@dataclasses.dataclass
class Row:
    name: str
    group: str
    build: str
    program: str          # {ways}: the program in this row's build
    code: int             # 0, 1 or 3
    recover: str = None
    checker: str = None
    options: list = dataclasses.field(default_factory=list)
    place: str = None     # a function among the places of every finding
    severity: str = "shown"
    kind: str = None      # only findings of this kind count
    says: str = None      # matches something in the report
    flushes_more: bool = False  # a right version that flushes lines which nobody changed
    needs: tuple = ()     # builds that must be there
    files: dict = dataclasses.field(default_factory=dict)
    pool_exists: bool = True
    environment: dict = dataclasses.field(default_factory=dict)
    timeout: float = 180
    quick: bool = False
    open: str = None


MIXED = ("unit", "library", "late", "reverse")
ALL = ("compiled", "plain", "stripped", *MIXED)
USUAL = ("compiled", "plain", "unit", "library")
FEW = ("compiled", "plain")

# Ways of writers.cpp. A number: so many bytes.
WRITERS = {
    ALL: """direct memcpy:7 memcpy:100 snprintf read:16 mutex_locked movnti clwb_bytes clwb_locked fetch_add helper_sfence helper_clwb helper_store
            signal_handler thread fork clflush avx""",
    USUAL: """direct1 direct4 across_lines across_pages struct_48 struct_200 memcpy_across:20 memcpy_but_last_line:300 memmove:40 memset:70 strcpy:30 strncpy:40
            sprintf sscanf_number sscanf_text strtol_end qsort fgets getline fread:16 fread:4096 time clock_gettime stat getcwd uname readv read_raw
            read_assembly pwrite file_write file_fwrite map_twice map_twice_flush_other map_proc_fd map_linked map_hard_linked map_raw pmr_string
            pmr_string_append vector std_sort stream_read stream_number mutex_robust mutex_shared std_mutex semaphore_post condition_wait thread_create
            cmpxchg exchange cmpxchg16b movntdq masked rep_movsb:100 assembly clwb_mfence clwb_xchg clflushopt wrong_line flush_before fork_snprintf exec
            coroutine msync fsync recv poll waitpid""",
    FEW: """direct2 long_double bit_field mempcpy:30 memccpy:30 bcopy:30 swab:30 wmemcpy:10 stpcpy:30 strcat:30 strncat:30 strtok_r frexp modf fgetc strftime gmtime_r
            strerror_r inet_pton mbstowcs realpath random_r setjmp getcontext clock_gettime_cpu gettimeofday fstat gethostname getrlimit readlink getrandom
            pipe sigaction recvmsg getsockopt process_vm_writev file_writev file_fprintf file_dprintf file_sendfile file_splice
            file_copy_range map_assembly openat2_assembly file_assembly looked_up_syscall looked_up_map looked_up_pwrite exchange_names mremap vector_insert std_copy:50 std_fill:50 stream_getline to_chars string_copy mutex_trylock mutex_timedlock
            mutex_init mtx spin_lock rwlock_write rwlock_read semaphore_init semaphore_wait once barrier_init key_create thread_join fetch_or atomic_store
            lock_bts vmovntdq maskmovdqu sse avx512 scatter compress_store rep_stosq:5 assembly_add fxsave setcc thread_snprintf handler_full_mask
            blocked_signals close_all close_range vfork orphan timer generated_code movsq_backwards bts_far pop push x87 stmxcsr movbe xadd xchg_without_lock
            cmpxchg8b recvmmsg futex_wake_op futex_lock_pi fortified_dprintf pwritev64v2 mutex_owner_ends mutex_owner_exits statx epoll_wait
            ioctl getdents message_received thread_name signal_info socket_name punch_hole iconv times getrusage setitimer_old getcpu signal_stack_old statfs
            lock_asked poll_many epoll_many message_large sendfile_offset splice_offset copy_range_offset parts_in_pm message_control message_header
            assembly_again assembly_operand_again assembly_twice assembly_pointer movsl_four segment_base movs_backwards over_static over_stack stream_to_file stream_over
            memory_stream stream_buffer late_atexit late_static late_thread_local late_key late_cancelled late_daemon write_barrier own_filter
            load_small_stack insque lsearch strptime nrand48 sincos remquo getpwuid swprintf memfrob list_node map_node regex_replace path_copy vmsplice_in
            select select_time getresuid getaffinity timer_create timerfd_gettime signalfd sigpending sigmask_old waitid mincore getxattr name_to_handle
            sysinfo prlimit_old recvfrom_address death_signal file_writev_odd pwritev2_here mremap_second madvise_remove
            zero_range map_over fault_jump queued_signal spawn stosb_backwards btc_negative enter call_in_pm pushf fbstp fnsave fistp xsave pextr
            half_floats mask_moved shifts clzero""",
    ("compiled", "plain", "library", "late"): "looked_up_version looked_up_next",
    ("linked",): "helper_sfence helper_clwb helper_store zlib",
}
# Said, though what is written so is seen as well.
SAID_WRITERS = {"signal_stack": "signal stack", "interface_list": "ioctl"}
# Not followed, and said so: memory as a file.
UNSEEN_WRITERS = {"task_number": "the number of a process", "proc_self_mem": "/proc/self/mem", "deep_binding": "RTLD_DEEPBIND", "own_namespace": "dlmopen",
                  "child_vm_writev": "process_vm_readv", "remap_pages": "remap_file_pages"}
SIZES = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 200, 255, 256, 257, 300)
PLACES = {"exec": "write_direct", "spawn": "write_direct", **{way: "write_late" for way in ("late_atexit", "late_static", "late_thread_local", "late_key", "late_cancelled")}}
FLUSHES_MORE = {"message_control", "getrusage", "statfs", "poll_many", "epoll_many", "setitimer_old", "times", "statx", "getdents", "signal_info", "socket_name", "getcontext", "getpwuid", "list_node", "map_node", "waitid", "name_to_handle", "xsave", "uname", "fstat", "stat", "sigaction", "setjmp", "fxsave"}

READERS = {
    ALL: "direct memcmp strcmp atoi printf write fwrite cout string fork pread map_twice map_readonly thread signal_handler",
    USUAL: """direct8 loop memcpy struct_copy atomic atomic_exchange atomic_cas atomic_add sse avx assembly assembly_operand rep_movsb strlen strchr strtol sscanf
            snprintf qsort bsearch regexec puts fputs writev dprintf write_raw write_assembly cout_write string_view string_assign string_append stringstream
            from_chars sort is_sorted binary_search hash write_pipe send write_file process_vm_readv read fread ifstream sendfile splice map_prot_read
            map_private map_private_readonly map_proc_fd map_symlink map_hard_link pread_link pread_hard_link map_raw thread_libc signal_handler_libc
            coroutine fork_libc vfork_exec spawn exec system popen exit_code fmemopen""",
    FEW: """gather masked prefetch_then_load repe_cmpsb strstr memchr strdup strcasecmp strcoll strtod snprintf_number mbstowcs setenv string_compare stream_write
            istringstream accumulate printf_number putchar fwrite_unbuffered cout_number cerr stderr perror vmsplice sendmsg open_by_name_in_pm readv read_raw
            copy_file_range map_populate map_nofollow map_dev_fd mremap mprotect relative alternate_stack fork_twice cmp_by_dd lodsb repne_scasb xlat push_pop
            bit_test_far compare_memory call_through_table blocked_signals blocked_signals_raw thread_blocked_signals handler_full_mask own_segv_handler
            segv_ignored close_all close_range no_descriptors other_user chdir madvise child_writes file_to_mapping mapping_to_file two_mappings map_part
            unmap_map rename grow lock_fcntl lock_ofd lock_flock lock_lockf mlock direct_io passed_descriptor dup openat looked_up_pread env_without_preload map_assembly pread_assembly grow_assembly
            rename_assembly unlink_assembly fork_assembly sendmmsg fortified_read fortified_pread preadv64v2 stream_mapped call_indirect pcmpistri ldmxcsr movdqa_nt message_queue
            thread_name link_target arguments command_line fnmatch wide_output iconv socket_option signal_mask getopt name_in_pool semaphores
            futex_compare set_timer poll_asked set_xattr set_limit utimens send_from tee memory_file mremap_second preadv2_here dont_need
            fault_jump leave x87 fbld cmov divide crc_instruction broadcast test_vector failing_exchange regex_match path wide_copy task_folder""",
    ("compiled", "plain", "library", "late"): "looked_up_version looked_up_next",
    ("linked",): "crc32",
}
# What a restart prints is its answer. No operation is marked, so a wrong one is only suspected (decision 0008).
ANSWERS = set("""printf printf_number puts fputs putchar fwrite fwrite_unbuffered write write_raw write_assembly writev dprintf cout cout_number cout_write cerr
            stderr perror""".split())
ANSWER = {"options": ["--fail-on", "suspected"], "severity": "suspected", "kind": "cross-failure-race"}
# Nobody sees what a ring reads, nor what is read of memory as a file.
UNSEEN_READERS = {"io_uring": "io_uring", "proc_self_mem": "/proc/self/mem", "deep_binding": "RTLD_DEEPBIND", "own_namespace": "dlmopen",
                  "process_in_child": "process_vm_readv", "remap_pages": "remap_file_pages"}
# Said, though what is read so is seen as well.
SAID_READERS = {"clone_raw": "clone", "spawn_with_pool": "posix_spawn"}

# Ways of endings.cpp, and what must be said of them.
ENDINGS = {
    "exit_1": "exits with 1", "exit_255": "exits with 255", "quick_exit": "exits with 3", "abort": "abort", "assert": "missing", "null_pointer": "SIGSEGV",
    "wild_pointer": "SIGSEGV", "null_function": "SIGSEGV", "wild_function": "SIGSEGV", "jump_into_pm": "SIGSEGV", "illegal_instruction": "SIGILL",
    "division": "SIGFPE", "exception": "the text is missing|abort", "exception_in_thread": "the text is missing|abort", "terminate": "abort",
    "kill": "SIGKILL", "kill_term": "SIGTERM", "raise_bus": "SIGBUS", "alarm": "SIGALRM", "recursion": "SIGSEGV|stack", "double_free": "double free",
    "stack_smash": "SIGSEGV|smash", "deadlock": "(?i)deadlock|blocked|hangs", "deadlock_pm": "(?i)deadlock|blocked|hangs",
    "deadlock_two": "(?i)deadlock|blocked|hangs", "semaphore": "(?i)deadlock|blocked|hangs", "condition": "(?i)deadlock|blocked|hangs",
    "join_blocked": "(?i)deadlock|blocked|hangs", "pause": "(?i)deadlock|blocked|hangs", "empty_pipe": "(?i)deadlock|blocked|hangs",
    "wait_for_child": "(?i)deadlock|blocked|hangs", "loop_pm": "hangs|endless", "loop_pm_pause": "hangs|endless", "loop_pm_writes": "hangs|endless",
    "loop_pm_libc": "hangs|endless", "loop_list": "hangs|endless", "loop": "hangs|endless", "loop_yield": "hangs|endless", "loop_empty": "hangs|endless",
    "poll_flag": "(?i)hangs|endless|deadlock|blocked", "poll_volatile": "hangs|endless", "loop_counting": "hangs|endless", "output": "output", "output_raw": "output", "memory": "memory", "memory_vector": "memory",
    "files": "files|bytes", "large_file": "files|bytes", "processes": "processes", "child_fails": "exits with 5", "child_crashes": "exits with 1",
    "handler_exits": "exits with 4", "atexit_exits": "exits with 6", "destructor_exits": "exits with 7", "prints_wrong": None, "sleep_long": "exits with 1|(?i:blocked|hangs)",
}
# An endless loop in plain code whose state never repeats can't be told from a long one; in compiled code its turns are counted.
ENDINGS_UNKNOWN = {"loop_counting": "time|clock|endless", "loop_pm_writes": "time|clock|endless"}
UNKNOWN_BUILDS = ("plain", "stripped")
# These never end by themselves: what is not told sooner is ended by the clock, and that need not take ten seconds.
BLOCKED = {way for way, says in ENDINGS.items() if says and re.search("blocked|endless", says)} | {
    "output", "output_raw", "large_file", "processes", "jump_into_pm"}
# Right, but each restart takes its time: half a gibibyte of memory, thousands of files, an interpreter or two programs that are loaded for each combination of lines.
SLOW = {"end.memory", "end.memory_vector", "end.files", "by.python_read", "by.sh_cp"}
ENDING_BUILDS = {"deadlock_pm": USUAL, "abort": ALL, "exit_1": ALL, "null_function": USUAL, "wild_function": USUAL, "loop_pm": USUAL, "loop": USUAL}

# Ways of heap.cpp.
HEAPS = "direct posix_memalign strdup realloc asprintf snprintf string string_append vector list map pthread_create time mutex threads"

# Ways of pointers.cpp; of a pointer that is kept encoded nobody can say where it was stored.
POINTERS = "global stack mapping local thread_local thread_stack"
ENCODED = "xored_global xored_stack xored_local xored_mapping xored_thread_local"

# Restarts by other programs: the command, and the builds of the program behind it.
COMMANDS = {
    "env": ("env A=1 {ways} pool check", USUAL),
    "env_empty": ("env -i {ways} pool check", FEW),
    "nice": ("nice {ways} pool check", FEW),
    "timeout": ("timeout 9 {ways} pool check", FEW),
    "stdbuf": ("stdbuf -o0 {ways} pool check", FEW),
    "sh": ("sh -c '{ways} pool check'", USUAL),
    "sh_exit": ("sh -c '{ways} pool check; exit $?'", FEW),
    "bash": ("bash -c '{ways} pool check || exit 1'", FEW),
    "sh_pipe": ("sh -c '{ways} pool read printf | grep -q -e alpha -e nothing'", FEW),
    "sh_twice": ("sh -c '{ways} pool check && {ways} pool read atoi'", FEW),
    "sh_cp": ("sh -c 'cp pool copy && {ways} copy check'", FEW),
    "sh_dd": ("sh -c 'test $(dd if=pool bs=1 count=1 2>/dev/null | od -An -tu1) = 0 || dd if=pool bs=1 skip=4096 count=4 2>/dev/null | grep -q 4711'", ("plain",)),
    "grep": ("sh -c 'test $(head -c1 pool | od -An -tu1) = 0 || grep -q gamma pool'", ("plain",)),
    "python_mmap": ("python3 {folder}/by_mmap.py pool", ("plain", "compiled")),
    "python_read": ("python3 {folder}/by_read.py pool", ("plain", "compiled")),
    "python_pread": ("python3 {folder}/by_pread.py pool", ("plain", "compiled")),
    "python_shebang": ("{folder}/by_mmap.py pool", ("plain",)),
    "python_subprocess": ("python3 {folder}/by_subprocess.py {ways} pool", FEW),
    "perl": ("perl {folder}/by_perl.pl pool", ("plain",)),
    "script": ("{folder}/script {ways} pool", FEW),
    "by_link": ("{ways} linked check", FEW),
    "by_hard_link": ("{ways} hard-linked check", FEW),
    "by_full_path": ("{ways} {folder}/pool check", FEW),
    "by_dots": ("{ways} ../{folder.name}/./pool check", FEW),
    "setsid": ("setsid -w {ways} pool check", FEW),
    "nohup": ("nohup {ways} pool check", FEW),
    "flock": ("flock lockfile {ways} pool check", FEW),
    "flock_pool": ("flock pool {ways} pool check", FEW),
    "terminal": ("script -qec '{ways} pool check' /dev/null", FEW),
    "make": ("make -s -f {folder}/rules check WAYS={ways}", FEW),
    "redirected": ("sh -c '{ways} /dev/fd/0 check <>pool'", FEW),
    "coprocess": ("bash -c 'coproc P {{ {ways} pool check; echo $?; }}; read code <&${{P[0]}}; wait; exit $code'", FEW),
    "loader": ("sh -c '/lib64/ld-linux-x86-64.so.2 {ways} pool check'", FEW),
    "fork_server": ("xargs -a arguments {ways} pool", FEW),
}
CHECKERS = {"checker_script": ("{folder}/script {ways}", FEW), "checker_python": ("{folder}/by_mmap.py", FEW), "checker_env": ("env python3 {folder}/by_pread.py", FEW)}
JUDGE = "sys.exit(0 if pool[0] == 0 or pool[4096:4101] == b'4711 ' else 1)\n"
FILES = {
    "by_mmap.py": "#!/usr/bin/env python3\nimport mmap, os, sys\npool = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)\n" + JUDGE,
    "by_read.py": "import sys\npool = open(sys.argv[1], 'rb').read()\n" + JUDGE,
    "by_pread.py": "import os, sys\nfile = os.open(sys.argv[1], os.O_RDONLY)\nsys.exit(0 if os.pread(file, 1, 0) == b'\\0' or os.pread(file, 5, 4096) == b'4711 ' else 1)\n",
    "by_subprocess.py": "import subprocess, sys\nsys.exit(subprocess.run([sys.argv[1], sys.argv[2], 'check']).returncode)\n",
    "by_perl.pl": "open(F, '<', $ARGV[0]); binmode F; read(F, $all, 65536); exit(substr($all, 0, 1) eq \"\\0\" || substr($all, 4096, 4) eq '4711' ? 0 : 1);\n",
    "script": "#!/bin/sh\nprogram=$1\nshift\nif \"$program\" \"$1\" check; then exit 0; fi\nexit 1\n",
    "arguments": "check\n",
    "rules": "check:\n\t$(WAYS) pool check\n",
}

# In `make test`: a sample of every kind of row.
QUICK = ["write.direct.*", "write.memcpy:100.*", "write.helper_*.compiled.*", "write.helper_*.late.*", "special.recorded_by_env.compiled.*", "by.env.plain.*", "by.sh.compiled.*",
         "by.checker_script.plain.*", "end.abort.compiled.*", "end.null_function.plain.*", "end.loop_pm.compiled.*", "read.strcmp.unit.*", "read.cout.late.*", "read.direct.*", "pointer.local.*", "pointer.xored_local.*",
         *(f"write.{way}.{build}.*" for build in FEW for way in ("memcpy:7", "snprintf", "read:16", "mutex_locked", "movnti", "clwb_locked", "qsort", "fork", "pmr_string")),
         *(f"read.{way}.{build}.*" for build in FEW for way in ("memcmp", "printf", "atoi", "string", "qsort", "pread", "fork", "signal_handler", "map_twice"))]


def open_rows(names):
    """Rows that are known to be wrong, and why: open.txt. Each line must go when its rows are right."""
    marks = {}
    for line in (HERE / "open.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern, reason = line.split(" ", 1)
        group, way, builds, versions = pattern.split(".")
        for build in builds.split("|"):
            for version in versions.split("|"):
                matching = fnmatch.filter(names, f"{group}.{way}.{build}.{version}")
                assert matching, f"open.txt: there is no row {group}.{way}.{build}.{version}"
                marks.update((name, reason.strip()) for name in matching)
    return marks


def both(name, group, build, program, **what):
    """The bug and its right version: `program` has a {version}."""
    for version in ("bug", "right"):
        yield Row(f"{name}.{build}.{version}", group, build, program.replace("{version}", version), 1 if version == "bug" else 0,
                  needs=(build,), **{**what, "says": what.get("says") if version == "bug" else None})


def split(table):
    for builds, ways in table.items():
        for way in ways.split():
            for build in builds:
                yield way, build


def write_rows():
    ways = [*split(WRITERS)]
    for size in SIZES:
        ways += [(f"{way}:{size}", build) for way in ("memcpy", "memset", "strcpy") for build in FEW]
    for way, build in ways:
        function = way.split(":")[0]
        place = None if build == "stripped" else PLACES.get(way, f"write_{function}")
        for row in both(f"write.{way}", "write", build, f"{{ways}} pool write {way} {{version}}", recover="{ways} pool check", place=place,
                        flushes_more=way in FLUSHES_MORE):
            # Machine code that assembly spells as bytes: the pass can't tell what it does.
            if way == "clwb_bytes" and build in ("compiled", "reverse") and row.code == 0:
                row = dataclasses.replace(row, code=3, says="the assembly at")
            # A flush within a string of assembly that stores again behind it.
            if way in ("assembly_again", "assembly_operand_again") and build in ("compiled", "reverse"):
                row = dataclasses.replace(row, code=3, says="the assembly at")
            # It is refused, and the program goes another way, which is seen.
            if way == "exchange_names" and row.code == 0:
                row = dataclasses.replace(row, code=3, says="RENAME_EXCHANGE")
            # What a child does that is left behind with the pool is not seen to its end.
            if way == "orphan" and row.code == 0:
                row = dataclasses.replace(row, code=3, says="left a process behind")
            yield row

    # A flush in code that was made at run time is not found: the right version can't be told from the bug.
    for build in FEW:
        for row in both("write.generated_flush", "write", build, "{ways} pool write generated_flush {version}", recover="{ways} pool check"):
            yield dataclasses.replace(row, code=3, says="(?i)generated|made at run time|JIT|no file|anonymous")
    for way, says in SAID_WRITERS.items():
        for build in FEW:
            for row in both(f"write.{way}", "write", build, f"{{ways}} pool write {way} {{version}}", recover="{ways} pool check", place=f"write_{way}"):
                yield row if row.code == 1 else dataclasses.replace(row, code=3, says=says)
    for way, says in UNSEEN_WRITERS.items():
        for build in FEW:
            for row in both(f"write.{way}", "write", build, f"{{ways}} pool write {way} {{version}}", recover="{ways} pool check"):
                yield dataclasses.replace(row, code=3, says=says)


def read_rows():
    for way, build in split(READERS):
        place = None if build == "stripped" else "fill_data"
        answer = ANSWER if way in ANSWERS else {}
        yield from both(f"read.{way}", "read", build, "{ways} pool fill {version}", recover=f"{{ways}} pool read {way}", place=place, **answer)
    for way, says in UNSEEN_READERS.items():
        for build in FEW:
            for row in both(f"read.{way}", "read", build, "{ways} pool fill {version}", recover=f"{{ways}} pool read {way}"):
                yield dataclasses.replace(row, code=3, says=says)
    for way, says in SAID_READERS.items():
        for build in FEW:
            for row in both(f"read.{way}", "read", build, "{ways} pool fill {version}", recover=f"{{ways}} pool read {way}", place="fill_data"):
                yield row if row.code == 1 else dataclasses.replace(row, code=3, says=says)


def waits(way, build):
    """What is not told sooner is ended by the clock, and that need not take ten seconds; turns of loops take their time."""
    if way == "loop_counting" and build not in UNKNOWN_BUILDS:
        return ["--steps", "1000000"]
    return ["--run-timeout", "2"] if way in BLOCKED else []


def end_rows():
    for way, says in ENDINGS.items():
        for build in ENDING_BUILDS.get(way, FEW):
            place = None if build == "stripped" else "fill_data"
            for row in both(f"end.{way}", "end", build, "{ways} pool fill {version}", recover=f"{{ways}} pool end {way}", place=place, says=says):
                if way in ENDINGS_UNKNOWN and build in UNKNOWN_BUILDS and row.code == 1:
                    row = dataclasses.replace(row, code=3, place=None, says=ENDINGS_UNKNOWN[way])
                if way == "prints_wrong":
                    row = dataclasses.replace(row, **ANSWER)
                yield dataclasses.replace(row, options=[*row.options, *waits(way, build)])


def heap_rows():
    for way in HEAPS.split():
        for build in FEW:
            yield from both(f"heap.{way}", "heap", build, f"{{heap}} {way} {{version}}", options=["--heap", "4"], place=f"heap_{way}", pool_exists=False,
                            flushes_more=way in ("list", "map"))


def pointer_rows():
    for way in f"{POINTERS} {ENCODED}".split():
        for build in FEW:
            for row in both(f"pointer.{way}", "pointer", build, f"{{pointers}} pool store {way} {{version}}", recover=f"{{pointers}} pool follow {way}",
                            place="store_pointer", kind="stale-pointer"):
                if way in ENCODED.split() and row.code == 1:
                    row = dataclasses.replace(row, code=3, place=None, kind=None, says="kept encoded")
                yield row


def command_rows():
    for group, table in (("recover", COMMANDS), ("checker", CHECKERS)):
        for way, (command, builds) in table.items():
            for build in builds:
                yield from both(f"by.{way}", "by", build, "{ways} pool fill {version}", **{group: command}, place="fill_data", files=FILES)


    # Where it looks at the program through the kernel, nobody sees what; it must not fail of being watched.
    for row in both("by.gdb", "by", "plain", "{ways} pool fill {version}", recover="gdb -batch -ex run --args {ways} pool check", files=FILES):
        yield dataclasses.replace(row, code=3, says="controls another process", timeout=120)


def special_rows():
    for build in FEW:
        def unclear(name, program, says, **what):
            for row in both(f"special.{name}", "special", build, program):
                yield dataclasses.replace(row, code=3, says=says, **what)
        fill = "{ways} pool fill {version}"
        # Restarts that prove nothing.
        yield from unclear("all_fail", fill, "inconclusive", recover="false")
        yield from unclear("all_fail_sh", fill, "inconclusive", recover="sh -c 'exit 3'")
        # The restart crashes on the pool as it was left: that is shown, and of no store.
        for row in both("special.all_crash", "special", build, fill, recover="sh -c 'kill -SEGV $$'", says="SIGSEGV", kind="program-bug"):
            yield dataclasses.replace(row, code=1)
        # Can't be started at all: wrong usage.
        for row in [*unclear("no_such_program", fill, "no such program", recover="{folder}/nowhere pool check"),
                    *unclear("not_executable", fill, "can't be executed", recover="{folder}/pool"),
                    *unclear("bad_interpreter", fill, "interpreter", recover="{folder}/bad", files={"bad": "#!/no/where\n"})]:
            yield dataclasses.replace(row, code=2)
        yield from unclear("always_wrong_arguments", fill, "inconclusive", recover="{ways} pool read nonsense")
        yield from unclear("recording_fails", "{ways} pool write nonsense {version}", "inconclusive", recover="{ways} pool check")
        # Refused as it was before the run: no crash is to blame for that.
        yield from both("special.refused_before", "special", build, fill, recover="{ways} pool require", place="fill_data")
        # The right version, called by a wrapper in the recording.
        # A process is left behind, and nobody waits for it.
        for row in both("special.left_behind", "special", build, fill, recover="sh -c 'head -c 9000 pool >/dev/null; {ways} pool read pause & exit 0'"):
            yield dataclasses.replace(row, code=3, place=None, says="leaves a process behind|it starts other processes")
        yield from both("special.recorded_by_sh", "special", build, "sh -c '{ways} pool fill {version}'", recover="{ways} pool check", place="fill_data")
        yield from both("special.recorded_by_env", "special", build, "env A=1 {ways} pool fill {version}", recover="{ways} pool check", place="fill_data")
        yield from both("special.recorded_by_link", "special", build, "{ways} linked fill {version}", recover="{ways} pool check", place="fill_data")
        yield from both("special.recorded_by_hard_link", "special", build, "{ways} hard-linked fill {version}", recover="{ways} pool check", place="fill_data")


def rows():
    table = [row for made in (write_rows, read_rows, end_rows, heap_rows, pointer_rows, command_rows, special_rows) for row in made()]
    names = [row.name for row in table]
    assert len(set(names)) == len(names), {name for name in names if names.count(name) > 1}
    assert all(row.build in BUILDS for row in table)
    marks = open_rows(names)
    for row in table:
        row.open = marks.get(row.name)
        if ".".join(row.name.split(".")[:2]) in SLOW:
            row.timeout = 900
        row.quick = any(fnmatch.fnmatch(row.name, pattern) for pattern in QUICK)
    return table
