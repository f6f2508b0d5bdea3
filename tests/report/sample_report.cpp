#include "sample_report.h"

namespace blackout::test {

Report sampleReport(const std::string& folder) {
  const std::string list = folder + "/list.cpp";
  Report r;
  r.command = {"./list", "pool.img", "with space"};
  r.pools = {{"/pool/pool.img", 8192, false, false}, {"/pool/log", 0, true, true}};
  r.run = {.events = 12345,
           .stores = 4321,
           .loads = 0,
           .flushes = 1,
           .fences = 99,
           .operations = 7,
           .threads = 2,
           .lines = 300,
           .points = 42,
           .log10States = 123.456,
           .model = "model=x86,tso=off",
           .waitStatus = 3 << 8};

  ByteValue old(8), now(8);
  now[0] = std::byte{0x40};
  now[1] = std::byte{0x20};
  SeenStore head{
      1, 70, {"/pool/pool.img", 0x1040, 8, "List.head", old, now}, {"List::push(int)", list, 11, 8, "", false}, 1};

  Finding lost =
      makeFinding(FindingKind::NeverPersisted, NotDurable{NotDurable::When::OperationEnded, head, 8, false, true});
  NumberedPlace written;
  written.label = "written here";
  written.where = 1;
  written.siteId = 0x1122334455667788;
  written.access = "store";
  written.size = 8;
  written.type = "List.head";
  written.stack = {{"List::push(int)", list, 11, 8, "", true},
                   {"insertAll(List&)", list, 60, 3, "/bin/list", false},
                   {"main", folder + "/main.cpp", 9, 0, "/bin/list", false}};
  written.alsoFrom = {{{"List::append(int)", list, 90, 8, "", false}}};
  NumberedPlace ends;
  ends.label = "the operation ends here";
  ends.where = 2;
  ends.siteId = 0x99;
  ends.stack = {{"", "", 0, 0, "/lib/libother.so", false}};
  NumberedPlace exit;
  exit.label = "the program ends";
  lost.places = {written, ends, exit};
  lost.counts = {3, 1000};
  lost.evidence = {DurableTooLate{90}, DurableWithRmwFences{}, TriedDurable{CureKind::Flush}};
  lost.examples = {{"/pool/pool.img", 0x1040, 8, "List.head"}, {"/pool/pool.img", 0x2000, 1, "Node.next"}};
  lost.operation = "push\x1b[31m";
  r.findings.push_back(lost);

  Finding outside = makeFinding(FindingKind::StoreOutside, StoredPastTheEnd{4});
  NumberedPlace unknown;
  unknown.label = "written here";
  unknown.where = 3;
  unknown.siteId = 7;
  outside.places = {unknown};
  outside.counts = {1, 0};
  r.findings.push_back(outside);

  CrashCause cause;
  cause.kind = FindingKind::MissingFlush;
  cause.firstIs = FirstStore::Lost;
  cause.first = head;
  cause.read = SeenRead{head.bytes, old, 3, {std::nullopt, head}};
  Finding shown = makeFinding(FindingKind::MissingFlush, cause);
  NumberedPlace crash = ends;
  crash.label = "the power fails after this";
  crash.incidental = true;
  NumberedPlace fails;
  fails.label = "the restart fails here";
  fails.incidental = true;
  fails.stack = {{"List::pop()", list, 12, 1, "", false}};
  for (unsigned i = 0; i < 5; ++i)
    fails.stack.push_back({"caller" + std::to_string(i), "/gone/x.c", i + 1, 0, "", false});
  shown.places = {written, crash, fails};
  shown.shownBy = ShownBy{"crashes with SIGSEGV", 3, {{1, 77, 2, {head}}}, 12, 3, {"hello", "what\x1b[0m"}};
  shown.evidence = {OldValueRead{old}, FineIfPersisted{1}, NeverFlushed{1}, MaySeeSeveral{}};
  shown.crashState = CrashState{CrashLevel(77, UnnamedLines::Newest, {{65, {2, {4}}}})};
  shown.replay = folder + "/found/finding-1.blackout";
  r.findings.push_back(shown);

  // A read that breaks a rule has a crash state, and no failure that would show it.
  NumberedPlace commits = written;
  commits.label = "committed last here";
  commits.siteId = 0x1122334455667799;
  BadReadClaim bad;
  bad.writer = head;
  bad.commit = head;
  bad.commit->place = 2;
  bad.read = SeenRead{head.bytes, now, 0, {}};
  Finding bare = makeFinding(FindingKind::UncommittedRead, bad);
  bare.places = {written, commits};
  bare.evidence = {ReadAfterCrash{2, 77, 3, 12}, InferredCommit{"List.valid is tested before"}};
  bare.crashState =
      CrashState{CrashLevel(77, UnnamedLines::Newest, {{65, {2, {4}}}}), CrashLevel(9, UnnamedLines::Least)};
  r.findings.push_back(bare);

  ExploredCrashes& e = r.exploration.emplace();
  e.strategy = "sample";
  e.command = {"./list", "--fsck"};
  e.crashesInARow = 2;
  e.points = 42;
  e.completePoints = 41;
  e.runs = 1234;
  e.states = 5678;
  e.failing = 12;
  e.assumptions = {{"log.cpp:9", false, false, false, false, false, 20, 6.02, 106, 3}};
  e.notExplored = {"States that the strategy sample does not choose.", "12 events could not be recorded."};
  e.loads = {{"list.cpp:12", {"before the recording", "list.cpp:11"}, 3}};

  Finding fence = makeFinding(FindingKind::IdleFence);
  NumberedPlace here;
  here.label = "fenced here";
  here.where = 4;
  here.siteId = 0x55;
  here.access = "sfence";
  for (unsigned i = 0; i < 12; ++i)
    here.stack.push_back({"level" + std::to_string(i), "/gone/x.c", i + 1, 0, "", false});
  fence.places = {here};
  fence.counts = {99, 99};
  fence.cost = Cost{99, 199, "fence"};
  r.findings.push_back(fence);
  fence.places[0].siteId = 0x56;
  fence.places[0].stack.resize(1);
  fence.counts = {100, 100};
  fence.cost = Cost{100, 199, "fence"};
  r.findings.push_back(fence);

  r.detectors = {"never-persisted", "idle-fence"};
  r.notes = {"The program itself ended with exit code 3, without a simulated crash."};
  r.incomplete = {"12 events could not be recorded."};
  r.hiddenByOnly = 1;
  r.suppressions = {{"known.txt", 3, "idle-fence:drain*", 2},
                    {"known.txt", 4, "race:src/\x1b.c", 0},
                    {"other.txt", 1, "performance:libpm.so", 1}};
  r.readySuppressions = {"never-persisted:List::push(int)", "idle-fence:level0"};
  r.trusted = {"/opt/lib/libpm.so"};
  sortFindings(r.findings);

  SeenTrace& trace = r.traces.emplace_back();
  trace.total = 12345;
  trace.places = {{"List::push(int)", list, 11, 8, "", false}, {"pm_flush", folder + "/pm.h", 4, 1, "", false}};
  trace.events = {{60, 1, "op-begin", "\"push\\x1b[31m\"", 0, 50},
                  {64, 2, "store", "8 bytes at offset 0x2000 of pool.img = 7", 0, 0},
                  {66, 2, "clwb", "the line at offset 0x2000 of pool.img", 2, 0},
                  {70, 1, "store", "List.head = 8256 (was 0)", 1, 0},
                  {74, 2, "sfence", "", 2, 1},
                  {77, 1, "op-end", "", 0, 0}};
  trace.operations = {{1,
                       "push\x1b[31m",
                       {Value::ofUnsigned(5), Value::ofText("k\"")},
                       Values{Value::ofSigned(-1)},
                       60,
                       EventNo(77U),
                       0},
                      {2, "get", {}, std::nullopt, 62, {}, 0}};
  trace.points = {
      {66, 1, 0.301, {{"/pool/pool.img", 0x2000, 1, 0, {64}, 2, true}}},
      {77, 1, 0.301, {{"/pool/pool.img", 0x1040, 3, 2, {70}, 2, true}, {"/pool/pool.img", 0x2000, 1, 1, {}, 1, true}}},
      {90, 9, 7.5, {{"/pool/pool.img", 0x1040, 99, 2, {70, 80}, 4096, false}}}};
  for (Finding& f : r.findings)
    if (f.shownBy || f.kind == FindingKind::NeverPersisted) f.trace = 1;
  return r;
}

}  // namespace blackout::test
