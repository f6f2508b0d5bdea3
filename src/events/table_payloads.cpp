#include "events/table_payloads.h"

#include "events/byte_stream.h"
#include "events/contract.h"

namespace blackout {

namespace {

bool isSiteKind(std::uint8_t k) { return !nameOf(static_cast<SiteKind>(k)).empty(); }

}  // namespace

std::string_view nameOf(SiteKind k) {
  switch (k) {
#define BLACKOUT_SITE(code, Name, text, Class) \
  case SiteKind::Name:                         \
    return text;
#include "events/site_kinds.def"
#undef BLACKOUT_SITE
  }
  return {};
}

std::string encodeSite(const Site& site) {
  ByteWriter out;
  out.fixed<std::uint64_t>(site.id);
  out.fixed<std::uint16_t>(site.size);
  out.fixed<std::uint8_t>(static_cast<std::uint8_t>(site.kind));
  out.fixed<std::uint8_t>(
      static_cast<std::uint8_t>((site.atomic ? BLACKOUT_SITE_ATOMIC : 0) | (site.trapped ? BLACKOUT_SITE_TRAPPED : 0)));
  std::uint32_t count = 0;
  for (const Source& s : site.sources) count += static_cast<std::uint32_t>(s.chain.size());
  out.fixed<std::uint32_t>(count);
  for (const Source& s : site.sources) {
    for (std::size_t i = 0; i < s.chain.size(); ++i) {
      const Place& p = s.chain[i];
      out.fixed<std::uint64_t>(i == 0 ? s.id : 0);
      out.fixed<std::uint32_t>(p.line);
      out.fixed<std::uint32_t>(p.column);
      out.fixed<std::uint32_t>(p.discriminator);
      out.fixed<std::uint32_t>(i == 0 ? BLACKOUT_PLACE_SOURCE : 0);
      out.terminated(p.function);
      out.terminated(p.file);
    }
  }
  out.terminated(site.type);
  if (site.trapped) out.terminated(site.module);
  return out.take();
}

Result<Site> decodeSite(std::string_view payload) {
  ByteReader in(payload);
  Site site;
  site.id = in.fixed<std::uint64_t>();
  site.size = in.fixed<std::uint16_t>();
  auto kind = in.fixed<std::uint8_t>();
  auto bits = in.fixed<std::uint8_t>();
  site.atomic = (bits & BLACKOUT_SITE_ATOMIC) != 0;
  site.trapped = (bits & BLACKOUT_SITE_TRAPPED) != 0;
  auto count = in.fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    auto id = in.fixed<std::uint64_t>();
    Place p;
    p.line = in.fixed<std::uint32_t>();
    p.column = in.fixed<std::uint32_t>();
    p.discriminator = in.fixed<std::uint32_t>();
    auto flags = in.fixed<std::uint32_t>();
    p.function = in.terminated();
    p.file = in.terminated();
    if (!in.ok()) break;
    if ((flags & BLACKOUT_PLACE_SOURCE) != 0 || site.sources.empty()) site.sources.push_back({id, {}});
    site.sources.back().chain.push_back(std::move(p));
  }
  site.type = in.terminated();
  if (site.trapped) site.module = in.terminated();
  if (!in.ok() || !isSiteKind(kind)) return fail("a site record is damaged");
  site.kind = static_cast<SiteKind>(kind);
  return site;
}

std::string encodeModule(const LoadedModule& module) {
  ByteWriter out;
  out.fixed<std::uint64_t>(module.begin);
  out.fixed<std::uint64_t>(module.end);
  out.terminated(module.path);
  return out.take();
}

}  // namespace blackout
