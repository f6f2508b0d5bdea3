#include "detect/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "detect/detectors.h"

namespace blackout {

namespace {

constexpr bool kOn = true;
constexpr bool kOff = false;
constexpr bool kWholeView = true;
constexpr bool kAnyView = false;

constexpr Detector kDetectors[] = {
    {"cross-failure-race",
     "restarts whose answer depends on bytes that were not durable, beyond what an atomic update explains", kOn,
     kWholeView, nullptr},
    {"uncommitted-read", "restarts that read data that no commit variable has committed yet", kOn, kWholeView, nullptr},
    {"stale-read", "restarts that read data from before the last two commits", kOn, kWholeView, nullptr},
    {"uninitialized-read", "restarts that read memory which was allocated and never written", kOn, kWholeView, nullptr},
    {"unprotected-store",
     "stores that no described mechanism protects, left on the other side of the operation than the restart finds "
     "(--mechanisms)",
     kOn, kWholeView, nullptr},
    {"unlogged-store", "stores inside a transaction to bytes that it has neither added nor allocated, or adds too late",
     kOn, kWholeView, detectUnloggedStore},
    {"never-persisted",
     "stores that are not durable when their operation ends, their memory is unmapped or the program ends", kOn,
     kWholeView, detectNeverPersisted},
    {"store-outside", "stores to a pool's mapping past the end of its file", kOn, kAnyView, detectStoreOutside},
    {"overwritten-unpersisted", "stores that another one replaced before they were durable", kOff, kWholeView,
     detectOverwrittenUnpersisted},
    {"open-transaction", "transactions that are still open when the program ends", kOn, kWholeView,
     detectOpenTransaction},
    {"clean-flush", "flushes of lines that had nothing to write back", kOn, kWholeView, detectCleanFlush},
    {"repeated-flush", "flushes of lines that were flushed already, without a store in between", kOn, kWholeView,
     detectRepeatedFlush},
    {"idle-fence", "fences with no flush and no non-temporal store to complete", kOn, kWholeView, detectIdleFence},
    {"logged-twice", "ranges that are added to a transaction that has them already", kOn, kWholeView,
     detectLoggedTwice},
    {"logged-unused", "ranges that a transaction logs and does not write", kOn, kWholeView, detectLoggedUnused},
    {"flush-outside", "flushes of memory in no pool", kOn, kWholeView, detectFlushOutside},
};

bool runs(std::size_t row, const DetectOptions& options) {
  return options.enabled[row] && !(options.blind && kDetectors[row].needsWholeView);
}

}  // namespace

std::span<const Detector> detectors() { return kDetectors; }

DetectOptions::DetectOptions() {
  for (const Detector& d : kDetectors) enabled.push_back(d.onByDefault);
}

Result<DetectOptions> parseDetectOptions(std::span<const std::string> words) {
  DetectOptions options;
  for (std::string_view word : words) {
    if (word == "all" || word == "none" || word == "-all") {
      options.enabled.assign(options.enabled.size(), word == "all");
      continue;
    }
    bool on = !word.starts_with('-');
    std::string_view name = on ? word : word.substr(1);
    auto row =
        std::find_if(std::begin(kDetectors), std::end(kDetectors), [&](const Detector& d) { return d.name == name; });
    if (row == std::end(kDetectors)) {
      std::string names;
      for (const Detector& d : kDetectors) names += fmt::format(", {}", d.name);
      return fail(fmt::format("no detector is called '{}'; there are: all, none{}", name, names));
    }
    options.enabled[static_cast<std::size_t>(row - std::begin(kDetectors))] = on;
  }
  return options;
}

std::string detectHelp() {
  std::string text = "detectors to switch on, or off with a '-' in front; all, none:";
  for (const Detector& d : kDetectors)
    text += fmt::format(" {} ({}{}),", d.name, d.help, d.onByDefault ? "" : "; off by default");
  text.back() = '.';
  return text;
}

std::vector<std::string> detectorNames(const DetectOptions& options, bool explored) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < std::size(kDetectors); ++row)
    if (runs(row, options) && (explored || kDetectors[row].run != nullptr)) names.emplace_back(kDetectors[row].name);
  return names;
}

bool wants(const DetectOptions& options, FindingKind kind) {
  for (std::size_t row = 0; row < std::size(kDetectors); ++row)
    if (kDetectors[row].name == nameOf(kind)) return runs(row, options);
  return true;
}

std::vector<Finding> detect(const Index& index, const DetectOptions& options) {
  assert(options.enabled.size() == std::size(kDetectors));
  std::vector<Finding> findings;
  for (std::size_t row = 0; row < std::size(kDetectors); ++row) {
    if (!runs(row, options) || kDetectors[row].run == nullptr) continue;
    for (Finding& f : kDetectors[row].run({index.trace(), index})) findings.push_back(std::move(f));
  }
  addCosts(index.trace(), findings);
  sortFindings(findings);
  return findings;
}

}  // namespace blackout
