#include "cli/record_options.h"

#include <fmt/format.h>

#include "cli/words.h"
#include "run/launch.h"

namespace blackout::cli {

void declareRecordOptions(CLI::App& app, RecordOptions& options) {
  app.add_option("--pm", options.pm,
                 "a pool: a file, a folder or a glob of files that the program maps as persistent memory; may be "
                 "given more than once")
      ->type_name("POOL")
      ->allow_extra_args(false);
  app.add_flag("--loads", options.loads, "record loads too");
  app.add_flag("--locks", options.locks, "record locks and unlocks too");
  app.add_option("--stack-depth", options.stackDepth, "calls to keep with each event; 0: none")
      ->type_name("N")
      ->check(CLI::Validator(
          [](std::string& text) { return CLI::Range(0, 256)(text).empty() ? "" : "it is a number from 0 to 256"; },
          ""));
  app.add_option_function<std::string>(
         "--trap",
         [&options](const std::string& text) {
           if (text == "auto")
             options.trap = Trap::IfNeeded;
           else if (text == "always")
             options.trap = Trap::Always;
           else if (text == "never")
             options.trap = Trap::Never;
           else
             throw CLI::ValidationError("--trap: it is auto, always or never");
         },
         "whether code that was not built with blackout-clang is followed, by protecting persistent memory and "
         "catching its faults. auto (default), always: all of it; never: none, so that no check of a program is clean, "
         "because what libc and its like read is not seen")
      ->type_name("WHEN");
  app.add_flag_callback(
      "--no-patches", [&options] { options.patches = false; },
      "an instruction of code that was not built with blackout-clang which has faulted on persistent memory some "
      "times is replaced, in memory, by a jump to code that follows it without a fault: the same is found, faster. A "
      "program that reads its own code sees the jump; with this option none is made");
  app.add_flag_callback("--patches", [&options] { options.patches = true; }, "such jumps are made (default)");
  app.add_option_function<std::string>(
         "--schedule",
         [&options](const std::string& text) {
           auto schedule = Schedule::parse(text);
           if (!schedule) throw CLI::ValidationError("--schedule", schedule.error().sentence);
           options.schedule = *schedule;
           options.pinTime = schedule->controlled();
         },
         "which of the program's threads goes on at which step: random,SEED[,RATE] (another one at one step in RATE), "
         "turns,STEPS, priorities,SEED,DEPTH,STEPS, list,SWITCH,... as a report prints it, or system, which leaves "
         "the threads to the system. A switch is STEP>THREAD, THREADnSTEP>THREAD (by steps of that thread) or "
         "THREADsSTORES>THREAD (after so many of its stores to persistent memory); +SWITCH,... behind another "
         "schedule goes on with a list. /N behind the numbers: threads have store buffers, as with check --model "
         "x86:tso=on, of each of which the oldest store takes effect at one step in N; of a list /0, where "
         "STEPeTHREAD says when. By default random,1,64: two runs are the same")
      ->type_name("SCHEDULE");
  app.add_flag("--rep-bytes", options.repBytes,
               "the instructions rep movs and rep stos store element by element, for rep movsb byte by byte, so that a "
               "crash may fall between any two; without it they store 8 aligned bytes at a time, which no manual "
               "promises");
  app.add_option("--keep-pool", options.keepPool,
                 "keep the pools as the program left them: a file, or a folder for several; your own pools are never "
                 "changed")
      ->type_name("PATH");
  app.add_option_function<std::string>(
         "--drive",
         [&options](const std::string& text) {
           auto words = splitWords(text, "--drive");
           if (!words) throw CLI::ValidationError(words.error().sentence);
           options.drive = std::move(*words);
         },
         "the program is a server: this command talks to it once it is ready (it listens on a socket, or sleeps for "
         "0.1 s waiting for input, or for 1 s if it polls for that), and when it has ended the server "
         "gets SIGTERM; quotes as in a shell, but no shell is run. A server that does not end on that is killed after "
         "5 s")
      ->type_name("COMMAND");
  app.add_option("--ready", options.readySeconds,
                 "seconds that the server may take to be ready for --drive; 10 by default")
      ->type_name("SECONDS")
      ->check(CLI::Validator(
          [](std::string& text) {
            return CLI::Range(1, 86400)(text).empty() ? "" : "it is a number of seconds from 1 to 86400";
          },
          ""));
}

Result<void> takeClient(std::vector<std::string>& command, const std::string& option) {
  if (command.empty()) return {};
  auto found = findProgram(command[0], "of " + option);
  if (!found) return tl::unexpected(found.error());
  command[0] = std::move(*found);
  return {};
}

Result<void> takeProgram(RecordOptions& options, const ProgramCommand& program, const std::string& subcommand) {
  if (!program.given || program.words.empty())
    return fail(fmt::format("no program to run; put it after --: blackout {} --pm POOL -- ./program args", subcommand));
  options.command = program.words;
  return takeClient(options.drive, "--drive");
}

}  // namespace blackout::cli
