// blackout-clang and blackout-clang++: clang 19 with Blackout's pass, runtime and header.
//
// The wrapper looks at the command line just far enough to know what the compiler is about to do
// (compile, link, or only answer a question), puts Blackout's options in front of the user's, and
// becomes the compiler. In front, so that any later option of the user's wins, and so that the runtime
// is the first library of the program: the dynamic linker then finds its mmap before libc's.
// The user's own arguments, response files included, are passed on untouched.

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

#if BLACKOUT_WRAPPER_CXX
constexpr const char* kName = "blackout-clang++";
constexpr const char* kOverride = "BLACKOUT_CXX";
constexpr const char* kConfigured = BLACKOUT_CLANGXX;
constexpr const char* kSearched[] = {"clang++-19", "clang++"};
#else
constexpr const char* kName = "blackout-clang";
constexpr const char* kOverride = "BLACKOUT_CC";
constexpr const char* kConfigured = BLACKOUT_CLANG;
constexpr const char* kSearched[] = {"clang-19", "clang"};
#endif

constexpr int kWrongUsage = 2;

constexpr const char* kHelp =
    R"(%s: clang 19 that instruments persistent-memory accesses for `blackout check`.

Takes every argument of clang, and these of its own:
  --blackout-help             this text
  --blackout-off              plain clang: no pass, no runtime, no definition of __BLACKOUT__
  --blackout-no-loads         leave loads alone: faster, enough for durability and performance findings
  --blackout-events=KIND,...  record more: lock, call, branch, alloc
  --blackout-no-bitcode       keep no bitcode for `blackout infer` in the object file: smaller files

The same words may stand in BLACKOUT_WRAPPER_OPTIONS, separated by spaces. %s names another
compiler than %s. The pass, the runtime and the header are found from the place
of this command: ../lib/blackout and ../include.
)";

[[noreturn]] void stop(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", kName, sentence.c_str());
  std::exit(kWrongUsage);
}

bool startsWith(std::string_view text, std::string_view beginning) { return text.starts_with(beginning); }

// Whether the word stands in a list of the form " a b c ".
bool listed(std::string_view list, std::string_view word) {
  return !word.empty() && list.find(" " + std::string(word) + " ") != list.npos;
}

// --- Response files --------------------------------------------------------------------------------

// Splits as clang does on Linux (TokenizeGNUCommandLine): white space separates, both quotes
// group, a backslash takes the next character as it is, in either quotes too.
Words splitResponse(const std::string& text) {
  Words words;
  std::string word;
  bool inWord = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (inWord) words.push_back(std::exchange(word, {}));
      inWord = false;
      continue;
    }
    inWord = true;
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        word += text[i];
      }
    } else {
      word += c;
    }
  }
  if (inWord) words.push_back(word);
  return words;
}

// A response file that doesn't exist is an ordinary argument, as for clang. Nested names are relative to the
// current folder. A file that includes itself is left to clang to refuse.
void expand(const std::string& word, Words& out, std::vector<fs::path>& open) {
  if (word.size() < 2 || word[0] != '@') {
    out.push_back(word);
    return;
  }
  std::error_code error;
  const fs::path path = fs::canonical(word.substr(1), error);
  if (error || !fs::is_regular_file(path, error)) {
    out.push_back(word);
    return;
  }
  for (const fs::path& outer : open)
    if (outer == path) return;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  open.push_back(path);
  for (const std::string& inner : splitResponse(text)) expand(inner, out, open);
  open.pop_back();
}

// --- What the command line asks for ----------------------------------------------------------------

// Our own options.
struct Choice {
  bool off = false;
  bool loads = true;
  bool bitcode = true;
  std::string events;
};

// What matters to us of the user's options.
struct Plan {
  bool inputs = false;      // anything to compile or to link
  bool onlyHeaders = true;  // every input is a header: the result is a precompiled header
  bool links = true;        // the link step is not switched off
  bool isStatic = false;
  bool debugInfo = false;     // any option that chooses how much debug information there is
  std::string foreignTarget;  // the option that asks for something else than x86-64 Linux
};

// Options whose value is the next argument, so that the value isn't taken for an input.
bool takesValue(std::string_view option) {
  return listed(
      " -o -x -D -U -I -L -F -B -T -u -e -z -A -G -l -MF -MT -MQ -MJ -Xclang -Xlinker -Xassembler"
      " -Xpreprocessor -Xanalyzer -Xopenmp-target -mllvm -include -imacros -include-pch -isystem -iquote"
      " -idirafter -isysroot -iprefix -iwithprefix -iwithprefixbefore -iwithsysroot -cxx-isystem -target"
      " --sysroot --param --config -arch -rpath -dumpdir -working-directory -resource-dir"
      " --serialize-diagnostics -serialize-diagnostics -Tbss -Tdata -Ttext -ftrapv-handler -current_version"
      " -framework -install_name --assert --define-macro --include-directory --output --language --std ",
      option);
}

bool stopsBeforeLink(std::string_view option) {
  return startsWith(option, "-fmodule-header=") ||
         listed(
             " -c -S -E -M -MM -r -fsyntax-only --precompile --analyze -emit-ast --compile --assemble --preprocess"
             " -extract-api --emit-static-lib -emit-merged-ifs -verify-pch -rewrite-objc -module-file-info"
             " -fmodule-header ",
             option);
}

// -Wl,-r and its spellings: the linker makes an object file.
bool asksRelocatable(std::string_view option) {
  if (!startsWith(option, "-Wl,")) return false;
  for (size_t begin = 4; begin <= option.size();) {
    const size_t end = std::min(option.find(',', begin), option.size());
    const std::string_view one = option.substr(begin, end - begin);
    if (one == "-r" || one == "--relocatable" || one == "-Ur") return true;
    begin = end + 1;
  }
  return false;
}

// -gz, -gcolumn-info and their like say how, not whether: with them alone there is no debug
// information, and a finding without a line is no use.
bool choosesDebugInfo(std::string_view option) {
  if (listed(" -g -gfull -gused -gdwarf -gmlt -gdbx -gsce -glldb -gcodeview -gmodules --debug ", option)) return true;
  if (option.size() == 3 && startsWith(option, "-g") && std::isdigit(static_cast<unsigned char>(option[2])))
    return true;
  return startsWith(option, "-ggdb") || startsWith(option, "-gdwarf-") || startsWith(option, "-gline-");
}

bool isHeaderLanguage(std::string_view language) { return language.ends_with("-header"); }

bool isHeaderName(const std::string& input) {
  return listed(" .h .hh .H .hp .hxx .hpp .HPP .h++ .tcc ", fs::path(input).extension().string());
}

bool isForeignTriple(std::string_view triple) {
  return !(startsWith(triple, "x86_64") || startsWith(triple, "amd64")) || triple.find("linux") == triple.npos ||
         triple.ends_with("gnux32");
}

Plan scan(const Words& words) {
  Plan plan;
  std::string language;  // of the last -x; empty: by the name's ending
  const auto input = [&](const std::string& name, bool linkerOnly) {
    plan.inputs = true;
    const bool header = !linkerOnly && (language.empty() ? isHeaderName(name) : isHeaderLanguage(language));
    if (!header) plan.onlyHeaders = false;
  };
  const auto setLanguage = [&](std::string_view name) { language = name == "none" ? "" : name; };
  const auto setTarget = [&](const std::string& option, std::string_view triple) {
    plan.foreignTarget = isForeignTriple(triple) ? option + std::string(triple) : "";
  };
  bool onlyInputs = false;  // after "--"
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (onlyInputs || word == "-" || word.empty() || word[0] != '-') {
      input(word, false);
      continue;
    }
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    if (word == "--") onlyInputs = true;
    if (stopsBeforeLink(word)) plan.links = false;
    if (word == "-static" || word == "--static" || word == "-static-pie") plan.isStatic = true;
    if (choosesDebugInfo(word)) plan.debugInfo = true;
    if (word == "-m32" || word == "-m16" || word == "-mx32") plan.foreignTarget = word;
    if (word == "-m64") plan.foreignTarget.clear();
    if (word == "-target") setTarget("-target ", value);
    if (startsWith(word, "--target=")) setTarget("--target=", std::string_view(word).substr(9));
    if (word == "-x" || word == "--language")
      setLanguage(value);
    else if (startsWith(word, "-x"))
      setLanguage(std::string_view(word).substr(2));
    // Libraries and linker options bring the linker into action just as objects do.
    if (startsWith(word, "-l") || startsWith(word, "-Wl,") || word == "-Xlinker") input(word, true);
    if (asksRelocatable(word == "-Xlinker" ? "-Wl," + value : word)) plan.links = false;
    if (takesValue(word)) ++i;
  }
  return plan;
}

// True if the word is ours; the user's arguments go on without it.
bool takeOwnOption(const std::string& word, Choice& choice) {
  if (!startsWith(word, "--blackout-")) return false;
  constexpr std::string_view kEvents = "--blackout-events=";
  if (word == "--blackout-help") {
    std::printf(kHelp, kName, kOverride, kConfigured);
    std::exit(0);
  }
  if (word == "--blackout-off") {
    choice.off = true;
  } else if (word == "--blackout-no-loads") {
    choice.loads = false;
  } else if (word == "--blackout-no-bitcode") {
    choice.bitcode = false;
  } else if (startsWith(word, kEvents)) {
    std::string kinds = word.substr(kEvents.size());
    for (size_t begin = 0; begin <= kinds.size();) {
      const size_t end = std::min(kinds.find(',', begin), kinds.size());
      const std::string kind = kinds.substr(begin, end - begin);
      if (kind != "lock" && kind != "call" && kind != "branch" && kind != "alloc")
        stop("--blackout-events knows lock, call, branch and alloc, not '" + kind + "'");
      begin = end + 1;
    }
    choice.events += (choice.events.empty() ? "" : ",") + kinds;
  } else {
    stop("there is no option " + word + "; --blackout-help lists them");
  }
  return true;
}

// --- What we add -----------------------------------------------------------------------------------

struct Parts {
  fs::path pass, runtimeFolder, runtime, include;
};

Parts findParts() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) stop("/proc is not mounted, so the command cannot find its own parts; mount it");
  const fs::path root = self.parent_path().parent_path();
  Parts parts;
  parts.runtimeFolder = root / "lib" / "blackout";
  parts.pass = parts.runtimeFolder / "BlackoutPass.so";
  parts.runtime = parts.runtimeFolder / "libblackout.so";
  parts.include = root / "include";
  for (const fs::path& part : {parts.pass, parts.runtime})
    if (!fs::exists(part, error))
      stop(part.string() + " is missing: Blackout is only partly built or installed; run make, or make install, again");
  return parts;
}

Words additions(const Choice& choice, const Plan& plan, const Parts& parts) {
  // Any of these may be unused in a given step (assembly, linking only), and configure scripts
  // take every warning for an error.
  Words words = {"--start-no-unused-arguments"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  // -fplugin too: -fpass-plugin alone is loaded after -mllvm options are parsed.
  add({"-fplugin=" + parts.pass.string(), "-fpass-plugin=" + parts.pass.string()});
  // By -Xclang and not by -mllvm alone, which the assembler would see too, and it knows no plugins.
  const auto addPassOption = [&](const std::string& option) { add({"-Xclang", "-mllvm", "-Xclang", option}); };
  if (!choice.loads) addPassOption("-blackout-loads=0");
  if (!choice.bitcode) addPassOption("-blackout-bitcode=0");
  if (!choice.events.empty()) addPassOption("-blackout-events=" + choice.events);
  // -idirafter, so that our folder (it may be /usr/include) shadows nothing and #include_next works.
  add({"-D__BLACKOUT__=1", "-idirafter", parts.include.string()});
  if (!plan.debugInfo) add({"-g"});
  // Every type that is used, not only those whose constructor is compiled here: field keys need the members.
  add({"-fstandalone-debug"});
  // The runtime takes a stack at every recorded event: it walks frame pointers.
  add({"-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"});
  if (plan.links && !plan.onlyHeaders) {
    // -Xlinker and not -Wl: a path may have a comma. Not needed by any symbol of a C program with no PM
    // access of its own, and wanted all the same: its libraries may have some.
    const auto addLinker = [&](const std::string& option) { add({"-Xlinker", option}); };
    addLinker("--push-state");
    addLinker("--no-as-needed");
    add({parts.runtime.string()});
    addLinker("--pop-state");
    addLinker("-rpath");
    addLinker(parts.runtimeFolder.string());
  }
  add({"--end-no-unused-arguments"});
  return words;
}

[[noreturn]] void become(const Words& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto attempt = [&](const char* compiler) {
    argv[0] = const_cast<char*>(compiler);
    execvp(compiler, argv.data());
    if (errno == E2BIG) stop("the command line is too long; put the arguments in a response file (@file)");
  };
  if (const char* compiler = std::getenv(kOverride); compiler && *compiler) {
    attempt(compiler);
    stop(std::string("cannot run ") + compiler + " (" + std::strerror(errno) + "), which " + kOverride + " names");
  }
  attempt(kConfigured);
  for (const char* compiler : kSearched) attempt(compiler);
  stop(std::string("cannot find clang 19; install the package clang-19, or set ") + kOverride);
}

}  // namespace

int main(int argc, char** argv) {
  const Words all(argv + 1, argv + argc);
  // The driver's inner calls (-cc1, -cc1as) are complete command lines.
  if (!all.empty() && startsWith(all[0], "-cc1")) {
    Words words = {""};
    words.insert(words.end(), all.begin(), all.end());
    become(words);
  }

  Choice choice;
  if (const char* options = std::getenv("BLACKOUT_WRAPPER_OPTIONS")) {
    for (const std::string& word : splitResponse(options))
      if (!takeOwnOption(word, choice))
        stop("BLACKOUT_WRAPPER_OPTIONS takes --blackout-... options only, not '" + word + "'");
  }
  Words users, expanded;
  for (const std::string& word : all) {
    if (takeOwnOption(word, choice)) continue;
    users.push_back(word);
    std::vector<fs::path> open;
    Words inner;
    expand(word, inner, open);
    for (const std::string& one : inner)
      if (startsWith(one, "--blackout-"))
        stop(one + " is in the response file " + word.substr(1) +
             "; give it on the command line or in BLACKOUT_WRAPPER_OPTIONS");
    expanded.insert(expanded.end(), inner.begin(), inner.end());
  }

  Words words = {""};
  const Plan plan = scan(expanded);
  // Without an input the compiler only answers a question (--version, -print-prog-name=ld), and a
  // library of ours would be an input.
  if (!choice.off && plan.inputs) {
    if (!plan.foreignTarget.empty())
      stop(plan.foreignTarget +
           " is not supported: Blackout instruments x86-64 Linux programs only; leave it out, or add "
           "--blackout-off for what need not be checked");
    if (plan.isStatic && plan.links)
      stop(
          "static programs are not supported, because the runtime is a shared library; link without -static, or add "
          "--blackout-off for what need not be checked");
    const Words ours = additions(choice, plan, findParts());
    words.insert(words.end(), ours.begin(), ours.end());
  }
  words.insert(words.end(), users.begin(), users.end());
  become(words);
}
