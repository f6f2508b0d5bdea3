// The command as a user meets it: what is wrong gets one sentence and the right exit code, what is right
// is printed. Runs the built command on synthetic traces; programs under test are elsewhere.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sample_trace.h"

namespace blackout {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

std::string contentOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("blackout-cli-" + std::to_string(getpid()) + "-" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Arguments are passed through a shell: quote what needs it.
  Ran blackout(const std::string& arguments, fs::path out = {}) const {
    if (out.empty()) out = folder_ / "stdout";
    fs::path err = folder_ / "stderr";
    std::string command = "cd '" + folder_.string() + "' && NO_COLOR= '" BLACKOUT_COMMAND "' " + arguments + " >'" +
                          out.string() + "' 2>'" + err.string() + "' </dev/null";
    int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            fs::is_regular_file(out) ? contentOf(out) : std::string(), contentOf(err)};
  }
  // Refused: exit code, nothing on standard output, one line on standard error that says `what`.
  void expectRefused(const std::string& arguments, int code, const std::string& what) const {
    Ran r = blackout(arguments);
    EXPECT_EQ(r.code, code) << arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_NE(r.err.find(what), std::string::npos) << arguments << "\n" << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err.find("blackout"), 0U) << r.err;
  }
  std::string sample() const {
    std::string path = (folder_ / "sample.trace").string();
    EXPECT_TRUE(test::sampleTrace().save(path, true));
    return path;
  }
  void write(const char* name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  fs::path folder_;
};

// One thread, one pool, one store that nothing flushes.
TraceWriter unflushed() {
  TraceWriter w;
  FileNo f = w.file("/pool/p.img", 4096, true);
  w.module({"/bin/program", 0, 0x1000, 0x2000, true});
  StackId here = w.where(w.site(test::sampleSite()));
  w.event(EventKind::ThreadBegin, 1, 1, 1);
  std::string place(16, '\0');
  w.blob(EventKind::Map, 1, pmAddr(f, 0), place);
  w.store(EventKind::Store, 1, pmAddr(f, 64), "12345678", here);
  w.event(EventKind::End, 0, 0, 0);
  return w;
}

// The same, flushed and fenced.
TraceWriter flushed() {
  TraceWriter w;
  FileNo f = w.file("/pool/p.img", 4096, true);
  w.module({"/bin/program", 0, 0x1000, 0x2000, true});
  StackId here = w.where(w.site(test::sampleSite()));
  w.event(EventKind::ThreadBegin, 1, 1, 1);
  std::string place(16, '\0');
  w.blob(EventKind::Map, 1, pmAddr(f, 0), place);
  w.store(EventKind::Store, 1, pmAddr(f, 64), "12345678", here);
  w.event(EventKind::Clwb, 1, pmAddr(f, 64), 0, 0, here);
  w.event(EventKind::Sfence, 1, 0, 0, 0, here);
  w.event(EventKind::End, 0, 0, 0);
  return w;
}

TEST_F(Cli, HelpAndVersion) {
  EXPECT_EQ(blackout("--help").code, 0);
  EXPECT_NE(blackout("help").out.find("blackout check --pm POOL -- PROGRAM"), std::string::npos);
  EXPECT_EQ(blackout("--version").out, "blackout " BLACKOUT_VERSION "\n");
  EXPECT_EQ(blackout("").code, 2);
  EXPECT_EQ(blackout("").out, "");
  for (const char* command : {"check", "diff", "doctor", "fix", "fs", "help", "lin", "mechanisms", "merge", "record",
                              "replay", "report", "sites", "trace"}) {
    Ran a = blackout(std::string("help ") + command);
    Ran b = blackout(std::string(command) + " --help");
    EXPECT_EQ(a.code, 0);
    EXPECT_EQ(a.out, b.out);
    EXPECT_NE(blackout(std::string("help --man ") + command).out.find("# EXIT STATUS"), std::string::npos);
  }
  EXPECT_NE(blackout("help --completion bash").out.find("complete -o filenames -F _blackout blackout"),
            std::string::npos);
}

TEST_F(Cli, HelpOfKindsAndLimits) {
  Ran kind = blackout("help missing-flush");
  EXPECT_EQ(kind.code, 0);
  EXPECT_EQ(kind.out.find("missing-flush: flush missing (shown).\n"), 0U) << kind.out;
  EXPECT_NE(kind.out.find("What to do: flush the line"), std::string::npos);
  // What every report leaves out is in the docs, word for word.
  std::ifstream in(BLACKOUT_SOURCE "/docs/clean-run.md");
  std::string docs(std::istreambuf_iterator<char>(in), {});
  Ran limits = blackout("help limits");
  EXPECT_EQ(limits.code, 0);
  std::string text;
  for (char c : limits.out) text += c == '\n' ? ' ' : c;
  for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = docs.find("\n- ", at)) != std::string::npos; ++at) {
    std::string limit = docs.substr(at + 1, docs.find('\n', at + 1) - at - 1);
    EXPECT_NE(text.find(limit), std::string::npos) << limit;
    text.erase(std::min(text.find(limit), text.size()), limit.size());
    ++count;
  }
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(text.find(" - "), std::string::npos) << "not in docs/clean-run.md: " << text;
}

TEST_F(Cli, Doctor) {
  Ran machine = blackout("doctor");
  EXPECT_EQ(machine.code, 0) << machine.out;
  for (const char* what : {"fixed addresses: ", "namespaces: ", "seccomp filters: ", "memory files: ", "clang 19: "})
    EXPECT_NE(machine.out.find(what), std::string::npos) << what;
  Ran plain = blackout("doctor -- true");
  EXPECT_EQ(plain.code, 0);
  EXPECT_NE(plain.out.find("limited  compiled by Blackout: no"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("what to do: build it with -g"), std::string::npos) << plain.out;
  // This test has debug information, and can be loaded; a text can't.
  Ran own = blackout("doctor -- /proc/" + std::to_string(getpid()) + "/exe");
  EXPECT_NE(own.out.find("ok       debug information"), std::string::npos) << own.out;
  std::ofstream(folder_ / "text") << "neither\n";
  std::filesystem::permissions(folder_ / "text", std::filesystem::perms::owner_all);
  Ran text = blackout("doctor -- ./text");
  EXPECT_EQ(text.code, 3);
  EXPECT_NE(text.out.find("missing  program: ./text: neither a program nor a script"), std::string::npos) << text.out;
  EXPECT_EQ(blackout("doctor -- ./nothing").code, 3);
  expectRefused("doctor --", 2, "name the program after --");
}

// From the same table as the help: each option is in each of them.
TEST_F(Cli, CompletionIsThereForOtherShells) {
  std::string zsh = blackout("help --completion zsh").out, fish = blackout("help --completion fish").out;
  EXPECT_EQ(zsh.find("#compdef blackout\n"), 0U);
  for (const char* option : {"sarif", "baseline", "verbose", "gdb"}) {
    EXPECT_NE(zsh.find(std::string("'--") + option + ":"), std::string::npos) << option;
    EXPECT_NE(fish.find(std::string("-l ") + option + " "), std::string::npos) << option;
  }
  // Behind -- is what stands before the word that is completed: "--" itself is still blackout's.
  EXPECT_NE(zsh.find("for ((i = 2; i < CURRENT; i++)); do\n    if [[ $words[i] == -- ]]"), std::string::npos) << zsh;
  EXPECT_NE(fish.find("-n __fish_use_subcommand -f -a check -d 'run a program once"), std::string::npos);
}

TEST_F(Cli, CompletionIsValidBash) {
  blackout("help --completion bash");
  EXPECT_EQ(std::system(("bash -n '" + (folder_ / "stdout").string() + "'").c_str()), 0);
}

TEST_F(Cli, WrongUsage) {
  expectRefused("chekc", 2, "did you mean 'check'?");
  expectRefused("qqqqqq", 2, "'blackout help' lists them");
  expectRefused("help qqqqqq", 2, "'blackout help' lists the commands");
  expectRefused("report", 2, "name a report");
  expectRefused("diff", 2, "name two runs");
  expectRefused("diff /nowhere/1 /nowhere/2", 2, "/nowhere/1: can't be read");
  expectRefused("merge", 2, "name the runs");
  expectRefused("merge /nowhere/1", 2, "/nowhere/1/report.kept");
  expectRefused("report /dev/null", 2, "can't be read");
  expectRefused("fix", 2, "name a finding's file");
  expectRefused("fix /dev/null", 2, "/dev/null");
  expectRefused("check --quiet --verbose --pm p -- true", 2, "leave one out");
  expectRefused("check --baseline /dev/null --pm p -- true", 2, "name a report that --json wrote");
  expectRefused("check --json - --sarif - --pm p -- true", 2, "only one of them");
  expectRefused("help --completion tcsh", 2, "no such shell");
  expectRefused("check", 2, "put it after --");
  expectRefused("check --pm p --", 2, "put it after --");
  expectRefused("check --pm p /bin/true", 2, "put -- before the program");
  expectRefused("check --pm", 2, "--pm");
  expectRefused("check --pmm p -- /bin/true", 2, "did you mean --pm?");
  expectRefused("check --qqqqqqqqqq -- /bin/true", 2, "unknown option --qqqqqqqqqq");
  expectRefused("check --fail-on=bad --pm p -- /bin/true", 2, "shown, proved, suspected or perf");
  expectRefused("check --model arm --pm p -- /bin/true", 2, "--model arm");
  expectRefused("check --model x86:nt-order=maybe --pm p -- /bin/true", 2, "nt-order");
  expectRefused("check --model x86:tso=on --from-trace t", 2, "leave out --from-trace");
  expectRefused("check --model x86:tso=on --schedule system --pm p -- /bin/true", 2, "leave out --schedule system");
  expectRefused("check --model x86:tso=on --trap never --pm p -- /bin/true", 2, "leave out --trap never");
  expectRefused("check --schedule random,1,64/8 --pm p -- /bin/true", 2, "--model x86:tso=on");
  expectRefused("check --detect nothing-like-it --pm p -- /bin/true", 2, "nothing-like-it");
  expectRefused("check --stack-depth 1000 --pm p -- /bin/true", 2, "from 0 to 256");
  expectRefused("check --stack-depth x --pm p -- /bin/true", 2, "--stack-depth");
  expectRefused("check --only no/such/folder --pm p -- /bin/true", 2, "no such file or folder");
  expectRefused("record --pm p -- /bin/true", 2, "-o FILE");
  expectRefused("record --pm p -o - -- /bin/true", 2, "needs a file");
  expectRefused("trace", 2, "name a trace");
  expectRefused("trace a b", 2, "unexpected argument 'b'");
  expectRefused("trace a -- b", 2, "no program after --");
  expectRefused("sites", 2, "name a program file");
  expectRefused("infer --heap x -- /bin/true", 2, "--heap = x");
}

// The library that reads options takes them for very large numbers.
TEST_F(Cli, NumbersLessThanNoneAreRefused) {
  expectRefused("lin --operations -3 --pm pool -- ./harness pool", 2, "-3 is less than 0");
  expectRefused("check --schedules -1 --pm pool -- ./program pool", 2, "-1 is less than 0");
  expectRefused("check --preemptions=-2 --pm pool -- ./program pool", 2, "-2 is less than 0");
}

TEST_F(Cli, OptionsOfTheExplorationAreCheckedBeforeTheRun) {
  const std::string program = " --pm p -- /bin/true";
  expectRefused("check --points none" + program, 2, "--points none: it is enough, all");
  expectRefused("check --strategy best" + program, 2, "--strategy best");
  expectRefused("check --strategy lazy:3" + program, 2, "only sample takes a number");
  expectRefused("check --expect-exit one" + program, 2, "it is auto, zero or any");
  expectRefused("check --recover 'a | b'" + program, 2, "no shell is run");
  for (std::string option : {"--recover", "--checker", "--recover-drive"})
    expectRefused("check " + option + " ''" + program, 2, "an empty command; name a program and its arguments");
  for (std::string option : {"--jobs", "--max-runs", "--steps", "--heap", "--run-timeout", "--run-memory"})
    expectRefused("check " + option + " 0" + program, 2, option + ": it is a whole number, 1 or more");
  expectRefused("check --jobs 1" + std::string(308, '0') + program, 2, "--jobs: it is a whole number, 1 or more");
  expectRefused("check --time 0" + program, 2, "--time: it is a number of seconds, more than 0");
  expectRefused("check --failures 9" + program, 2, "--failures: it is a number from 1 to 8");
  expectRefused("check --recover a --checker b" + program, 2, "leave one out");
  expectRefused("check --checker a --pm 'p*' -- /bin/true", 2, "--pm must name one file");
  expectRefused("check --recover-stdin none" + program, 2, "can't be read");
  expectRefused("check --resume none" + program, 2, "no such file");
  expectRefused("check --findings /dev/null" + program, 2, "it is not a folder");
  expectRefused("check --failures 0" + program, 2, "see 'blackout help check'");
}

TEST_F(Cli, SuppressionsAreCheckedBeforeTheRun) {
  const std::string program = " --pm p -- touch ran";
  write("good", "# known\nnever-persisted:main\n");
  write("kind", "\nnever-persisted:f\nno-such-kind:f\n");
  write("pattern", "race: \n");
  write("colon", "race\n");
  write("binary", std::string("\0\1\2", 3));
  write("large", std::string((std::size_t{1} << 20) + 1, '#'));
  expectRefused("check --suppressions none" + program, 2, "--suppressions none: it can't be read");
  expectRefused("check --suppressions ." + program, 2, "--suppressions .: it can't be read");
  expectRefused(
      "check --suppressions good --suppressions kind" + program, 2,
      "--suppressions kind:3: no finding is called 'no-such-kind'; it is one of: race, semantic, performance, ");
  expectRefused("check --suppressions pattern" + program, 2, "pattern:1: 'race:' has no pattern");
  expectRefused("check --suppressions colon" + program, 2, "colon:1: 'race' has no colon");
  expectRefused("check --suppressions binary" + program, 2, "binary:1: it is not a text file");
  expectRefused("check --suppressions large" + program, 2, "large: it is larger than");
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(Cli, SuppressedFindingsDoNotCount) {
  ASSERT_TRUE(unflushed().save((folder_ / "t").string(), true));
  ASSERT_EQ(blackout("check --from-trace t").code, 1);
  Ran ready = blackout("check --from-trace t --print-suppressions");
  std::string head = "suppressions that would hide these:\n  ";
  std::size_t at = ready.err.find(head);
  ASSERT_NE(at, std::string::npos) << ready.err;
  at += head.size();
  write("known", ready.err.substr(at, ready.err.find('\n', at) - at));
  Ran r = blackout("check --from-trace t --suppressions known --print-suppressions --json -");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err.find(head), std::string::npos);
  auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["counts"]["suppressed"], 1);
  EXPECT_EQ(json["suppressions"][0]["findings"], 1);
  EXPECT_EQ(json["exit_code"], 0);
}

TEST_F(Cli, WhatTheTraceDoesNotHaveCantBeTrusted) {
  ASSERT_TRUE(unflushed().save((folder_ / "t").string(), true));
  expectRefused("check --from-trace t --trust libx.so", 2, "--trust libx.so: the program loaded nothing of that name");
  expectRefused("check --from-trace t --trust program", 2, "program is the program itself");
}

TEST_F(Cli, BadReplayFiles) {
  expectRefused("replay", 2, "name a replay file");
  expectRefused("replay none", 2, "name a replay file that 'blackout check' wrote");
  write("text", "not a replay file");
  expectRefused("replay text", 2, "text: not a replay file");
  write("cut", "BLKRPLAY\1\0\0\0");
  expectRefused("replay cut", 2, "cut short");
  expectRefused("replay text -- /bin/true", 2, "takes no program");
}

TEST_F(Cli, OutputsAreCheckedBeforeTheRun) {
  // The program would leave a mark.
  for (const char* option : {"--json", "--report", "--trace", "--keep-pool"})
    expectRefused(std::string("check --pm p ") + option + " no/such/folder/x -- touch ran", 2, option);
  expectRefused("record --pm p -o no/such/folder/x -- touch ran", 2, "-o");
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(Cli, BadTraces) {
  std::string whole = test::sampleTrace().sealedBytes();
  write("cut", whole.substr(0, whole.size() - 100));
  write("header", whole.substr(0, 1000));
  std::string flipped = whole;
  flipped[BLACKOUT_HEADER_SIZE + 100] ^= 1;
  write("flipped", flipped);
  write("foreign",
        "\x7f"
        "ELF");
  write("empty", "");
  for (std::string command : {"trace ", "check --from-trace "}) {
    expectRefused(command + "missing", 2, "No such file");
    expectRefused(command + ".", 2, "not a file");
    expectRefused(command + "cut", 2, "record it again");
    expectRefused(command + "header", 2, "cut short");
    expectRefused(command + "flipped", 2, "record it again");
    expectRefused(command + "foreign", 2, "not a Blackout trace");
    expectRefused(command + "empty", 2, "not a Blackout trace");
  }
  expectRefused("check --from-trace cut -- /bin/true", 2, "leave out the program");
  expectRefused("trace --kind stroe " + sample(), 2, "no such kind");
  expectRefused("trace --count-by x " + sample(), 2, "no such key");
  expectRefused("trace --from x " + sample(), 2, "--from");
}

TEST_F(Cli, BadPrograms) {
  expectRefused("sites missing", 2, "can't be read");
  expectRefused("sites /bin/true", 2, "build it with blackout-clang");
}

TEST_F(Cli, TracePrintsFiltersAndCounts) {
  Ran all = blackout("trace " + sample());
  EXPECT_EQ(all.code, 0);
  EXPECT_NE(all.out.find("file 1: /pool/a.img\n"), std::string::npos);
  Ran some = blackout("trace --kind clwb,sfence " + sample());
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 3 + 2) << some.out;
  Ran at = blackout("trace --at persist.c:7 --thread 1 --file a.img --line 0x1080 " + sample());
  EXPECT_NE(at.out.find("clwb"), std::string::npos);
  EXPECT_EQ(at.out.find("clflush"), std::string::npos);
  EXPECT_EQ(blackout("trace --count-by kind --kind flushes " + sample()).out,
            "         1 clflush\n         1 clflushopt\n         1 clwb\n");
  EXPECT_EQ(blackout("trace --count-by operation --kind stores " + sample()).out.substr(11, 3), "put");
  EXPECT_NE(blackout("trace --stacks --kind clwb " + sample()).out.find("flush_line /src/persist.c:7:5"),
            std::string::npos);
}

TEST_F(Cli, TraceReadsAGrowingTrace) {
  write("growing", test::sampleTrace().bytes() + std::string(5000, '\0'));
  Ran r = blackout("trace growing");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("not ended"), std::string::npos);
  // --follow stops at the end of a trace that has one.
  Ran f = blackout("trace --follow " + sample());
  EXPECT_EQ(f.code, 0);
  EXPECT_EQ(f.out, blackout("trace " + sample()).out);
}

TEST_F(Cli, CheckOfACleanTrace) {
  ASSERT_TRUE(flushed().save((folder_ / "t").string(), true));
  Ran r = blackout("check --from-trace t --fail-on=perf --json report.json");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("SUMMARY: blackout: no findings;"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("was made durable"), std::string::npos) << r.err;
  auto json = nlohmann::json::parse(contentOf(folder_ / "report.json"));
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["run"]["stores"], 1);
}

TEST_F(Cli, CheckOfABuggyTrace) {
  ASSERT_TRUE(unflushed().save((folder_ / "t").string(), true));
  Ran r = blackout("check --from-trace t");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_EQ(r.err.find("blackout: findings: 1 suspected\n/src/list.cpp:42:14: warning: "), 0U) << r.err;
  EXPECT_NE(r.err.find("\nsuspected: store never made durable [never-persisted]"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("/src/list.cpp:42:14 in List::push(int)"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find('\033'), std::string::npos);
  EXPECT_EQ(blackout("check --from-trace t --fail-on=shown").code, 0);
  // The same twice; the text in a file, JSON on standard output.
  Ran again = blackout("check --from-trace t --report report.txt --json -");
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(contentOf(folder_ / "report.txt"), r.err);
  auto json = nlohmann::json::parse(again.out);
  EXPECT_EQ(json["findings"][0]["kind"], "never-persisted");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(again.err.find("SUMMARY: blackout: 1 suspected"), 0U) << again.err;
  Ran off = blackout("check --from-trace t --detect=-never-persisted");
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_NE(off.err.find("Durability was not judged"), std::string::npos) << off.err;
  // Nothing of it is in our own code.
  fs::create_directory(folder_ / "mine");
  Ran only = blackout("check --from-trace t --only mine");
  EXPECT_EQ(only.code, 0) << only.err;
  EXPECT_NE(only.err.find("--only left out 1 finding"), std::string::npos) << only.err;
  EXPECT_EQ(only.err.find("was made durable"), std::string::npos) << "hidden findings prove nothing";
}

TEST_F(Cli, CheckOfAnUnfinishedTraceIsInconclusive) {
  ASSERT_TRUE(flushed().save((folder_ / "t").string(), false));
  Ran r = blackout("check --from-trace t");
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("inconclusive: The trace has no end"), std::string::npos) << r.err;
}

TEST_F(Cli, AProgramThatDiedByItselfIsInconclusive) {
  TraceWriter w = flushed();
  w.event(EventKind::End, 0, 0, 11);
  ASSERT_TRUE(w.save((folder_ / "t").string(), true));
  Ran r = blackout("check --from-trace t");
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("The program itself ended with signal SIGSEGV (Segmentation fault), without a simulated crash."),
            std::string::npos)
      << r.err;
}

TEST_F(Cli, AFullDiskIsSaid) {
  ASSERT_TRUE(flushed().save((folder_ / "t").string(), true));
  Ran r = blackout("check --from-trace t --json /dev/full");
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("No space left on device"), std::string::npos);
  // A result on standard output that could not be written is none either.
  for (const std::string& arguments : {std::string("help"), std::string("trace t")}) {
    r = blackout(arguments, "/dev/full");
    EXPECT_EQ(r.code, 3) << arguments;
    EXPECT_EQ(r.err, "blackout: can't write the output: No space left on device\n") << arguments;
  }
}

TEST_F(Cli, TheListOfCommandsIsReadable) {
  Ran r = blackout("--help");
  ASSERT_EQ(r.code, 0) << r.err;
  // A name as long as the column would stand against what the command does.
  EXPECT_NE(r.out.find("\n  mechanisms  propose"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\n  fs          check"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace blackout
