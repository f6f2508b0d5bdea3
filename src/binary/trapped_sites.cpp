#include "binary/trapped_sites.h"

#include <fmt/format.h>

#include <filesystem>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "events/trapped_id.h"
#include "ir/accesses.h"
#include "ir/sources.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

std::string textOf(const std::string& text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

llvm::symbolize::LLVMSymbolizer::Options symbolizerOptions() {
  llvm::symbolize::LLVMSymbolizer::Options options;
  options.Demangle = false;  // linkage names, as the site table has them
  return options;
}

}  // namespace

struct TrappedSites::Engine {
  llvm::symbolize::LLVMSymbolizer symbolizer{symbolizerOptions()};
};

TrappedSites::TrappedSites() : engine_(std::make_unique<Engine>()) {}
TrappedSites::~TrappedSites() = default;

void TrappedSites::addModule(const std::string& path) { modules_.try_emplace(blackout_name_hash(path.c_str()), path); }

const Site* TrappedSites::at(std::uint64_t trappedId) {
  auto [it, isNew] = sites_.try_emplace(trappedId);
  if (!isNew) return it->second.get();
  auto module = modules_.find(blackout_trapped_name(trappedId));
  if (module == modules_.end()) return nullptr;
  auto site = std::make_unique<Site>();
  site->id = trappedId;
  site->kind = static_cast<SiteKind>(blackout_trapped_kind(trappedId));
  site->trapped = true;
  site->module = module->second;
  llvm::object::SectionedAddress address{blackout_trapped_offset(trappedId),
                                         llvm::object::SectionedAddress::UndefSection};
  Source source;
  if (auto info = engine_->symbolizer.symbolizeInlinedCode(module->second, address)) {
    for (std::uint32_t i = 0; i < info->getNumberOfFrames(); ++i) {
      const llvm::DILineInfo& line = info->getFrame(i);
      source.chain.push_back(
          {withoutClone(textOf(line.FunctionName)), textOf(line.FileName), line.Line, line.Column, line.Discriminator});
    }
  } else {
    llvm::consumeError(info.takeError());  // the file is gone or unreadable: its name is all there is to say
  }
  // A function without a name is known by where it is, as debuggers write it.
  if (source.chain.empty()) source.chain.emplace_back();
  if (source.chain.back().function.empty())
    source.chain.back().function =
        fmt::format("{}+{:#x}", fs::path(site->module).filename().string(), blackout_trapped_offset(trappedId));
  if (source.chain.front().line != 0) {
    const Place& p = source.chain.front();
    site->id = siteId({p.function, p.file, p.line, p.column, p.discriminator},
                      classOf(static_cast<blackout_site_kind>(site->kind)));
  }
  source.id = site->id;
  site->sources.push_back(std::move(source));
  it->second = std::move(site);
  byId_.try_emplace(it->second->id, it->second.get());
  return it->second.get();
}

const Site* TrappedSites::known(std::uint64_t id) const {
  auto it = byId_.find(id);
  return it == byId_.end() ? nullptr : it->second;
}

Result<void> TrappedSites::nameSites(const Trace& trace) {
  std::vector<std::pair<SiteNo, Site>> named;
  for (const LoadedModule& m : trace.modules()) addModule(m.path);
  for (SiteNo n = 1; n < trace.siteEnd(); ++n) {
    const Site& raw = *trace.site(n);
    if (!raw.trapped || !raw.module.empty()) continue;
    const Site* site = at(raw.id);
    if (site == nullptr) continue;
    named.emplace_back(n, *site);
    named.back().second.size = raw.size;
  }
  return appendSites(trace.name(), named);
}

}  // namespace blackout
