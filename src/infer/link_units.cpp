#include "infer/link_units.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "infer/program_code.h"
#include "infer/straighten.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace blackout {

static std::string nameOf(const KeptUnit& unit) {
  return unit.source.empty() || unit.source == unit.holder ? unit.holder : unit.source + " (in " + unit.holder + ")";
}

// LLVM's own handler would print, and end the process on an error.
static void keepFirstError(const DiagnosticInfo* info, void* at) {
  auto* text = static_cast<std::string*>(at);
  if (info->getSeverity() != DS_Error || !text->empty()) return;
  raw_string_ostream out(*text);
  DiagnosticPrinterRawOStream printer(out);
  info->print(printer);
}

static bool isPrepared(const Module& m) {
  return m.getNamedMetadata("blackout.prepared") != nullptr || m.getModuleFlag("blackout.prepared") != nullptr;
}

static std::string faultIn(const KeptUnit& unit) {
  LLVMContext context;
  // The reader drops debug information that is not valid, and the places with it.
  bool dropped = false;
  context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo* info, void* at) {
        if (info->getKind() == DK_DebugMetadataInvalid) *static_cast<bool*>(at) = true;
      },
      &dropped);
  Expected<std::unique_ptr<Module>> read = parseBitcodeFile(MemoryBufferRef(unit.bitcode, unit.source), context);
  if (!read)
    return "its bitcode can't be read (" + toString(read.takeError()) +
           "); compile it again with this version's wrappers";
  bool brokenDebugInfo = false;
  if (dropped || verifyModule(**read, nullptr, &brokenDebugInfo) || brokenDebugInfo)
    return "its bitcode is not valid; compile it again";
  if (!isPrepared(**read))
    return "its bitcode was not prepared for analysis; compile it with blackout-clang or blackout-clang++";
  // What the verifier doesn't look at shows when the code is read.
  straighten(**read);
  ProgramCode code(**read);
  return "";
}

// Why a unit can't be used; empty: it can. LLVM's reader trusts its input, and may crash or hang on damaged bitcode or
// end the process: that is left to a process of its own.
static std::string faultOf(const KeptUnit& unit) {
  const std::string damaged = "its bitcode is damaged; compile it again";
  constexpr unsigned kMostSeconds = 60;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return faultIn(unit);
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return faultIn(unit);
  }
  if (child == 0) {
    // No word of its own, no handler of the tool, no core.
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM}) std::signal(signal, SIG_DFL);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) dup2(null, STDERR_FILENO);
    alarm(kMostSeconds);
    std::string fault = faultIn(unit).substr(0, 4096);
    bool said = write(ends[1], fault.data(), fault.size()) == static_cast<ssize_t>(fault.size());
    _exit(said ? 0 : 1);
  }
  close(ends[1]);
  std::string fault;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) != 0;) {
    if (n > 0)
      fault.append(part, static_cast<std::size_t>(n));
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? fault : damaged;
}

static std::unique_ptr<Module> readUnit(const KeptUnit& unit, LLVMContext& context, std::vector<std::string>& notes) {
  if (std::string fault = faultOf(unit); !fault.empty()) {
    notes.push_back(nameOf(unit) + " is left out: " + fault);
    return nullptr;
  }
  return cantFail(parseBitcodeFile(MemoryBufferRef(unit.bitcode, unit.source), context));
}

// Two strong definitions of one name, as in two programs that are analysed at once, are two functions: each unit's
// calls lead to its own.
static void keepApart(Module& unit, const Module& all) {
  auto isDefined = [](const GlobalValue* v) { return v != nullptr && !v->isDeclaration() && v->hasExternalLinkage(); };
  for (GlobalValue& v : unit.global_values()) {
    if (!isDefined(&v) || !v.hasName() || !isDefined(all.getNamedValue(v.getName()))) continue;
    if (auto* object = dyn_cast<GlobalObject>(&v)) object->setComdat(nullptr);
    std::string name = v.getName().str();
    for (int k = 2; all.getNamedValue(v.getName()) != nullptr; ++k) v.setName(name + "." + std::to_string(k));
  }
}

std::unique_ptr<Module> linkUnits(const ProgramBitcode& program, LLVMContext& context,
                                  std::vector<std::string>& notes) {
  std::string error;
  context.setDiagnosticHandlerCallBack(keepFirstError, &error);
  // A class that many units know is one type: less to link.
  context.enableDebugTypeODRUniquing();
  auto all = std::make_unique<Module>("program", context);
  Linker linker(*all);
  std::set<std::string_view> seen;  // a unit that two files hold, as an archive and the program that it is linked to
  for (const KeptUnit& unit : program.units) {
    if (!seen.insert(unit.bitcode).second) continue;
    std::unique_ptr<Module> m = readUnit(unit, context, notes);
    if (m == nullptr) continue;
    // Flags that contradict each other would stop the linker, and say nothing that is needed here.
    if (NamedMDNode* flags = m->getModuleFlagsMetadata()) flags->eraseFromParent();
    if (all->empty() && all->global_empty()) {
      all->setDataLayout(m->getDataLayout());
      all->setTargetTriple(m->getTargetTriple());
    }
    keepApart(*m, *all);
    error.clear();
    if (linker.linkInModule(std::move(m)))
      notes.push_back(nameOf(unit) + " is left out: it can't be linked with the others (" +
                      (error.empty() ? "unknown reason" : error) + ")");
  }
  context.setDiagnosticHandlerCallBack(nullptr);
  return all;
}

}  // namespace blackout
