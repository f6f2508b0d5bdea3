#include "events/site_table.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "events/contract.h"

namespace blackout {

namespace {

// A 64-bit ELF file in memory; every access is bounded.
class Elf {
 public:
  explicit Elf(std::string bytes) : bytes_(std::move(bytes)) {}

  std::size_t size() const { return bytes_.size(); }
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T v;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof v) return std::nullopt;
    std::memcpy(&v, bytes_.data() + offset, sizeof v);
    return v;
  }
  std::optional<std::string> textAt(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return std::nullopt;
    std::size_t end = bytes_.find('\0', offset);
    if (end == std::string::npos) return std::nullopt;
    return bytes_.substr(offset, end - offset);
  }
  // The file offset of a virtual address.
  std::optional<std::uint64_t> offsetOfAddress(std::uint64_t address) const {
    auto header = at<Elf64_Ehdr>(0);
    for (unsigned i = 0; header && i < header->e_phnum; ++i) {
      auto segment = at<Elf64_Phdr>(header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
      if (segment && segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
          address - segment->p_vaddr < segment->p_filesz)
        return segment->p_offset + (address - segment->p_vaddr);
    }
    return std::nullopt;
  }
  std::optional<Elf64_Shdr> section(std::string_view name) const {
    auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
      return std::nullopt;
    auto shdr = [&](unsigned i) { return at<Elf64_Shdr>(header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr)); };
    auto names = shdr(header->e_shstrndx);
    for (unsigned i = 0; names && i < header->e_shnum; ++i) {
      auto s = shdr(i);
      if (s && textAt(names->sh_offset + s->sh_name) == name) return s;
    }
    return std::nullopt;
  }

 private:
  std::string bytes_;
};

}  // namespace

Result<std::vector<Site>> readSiteTable(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(fmt::format("{}: can't be read", path));
  std::string bytes;
  in.seekg(0, std::ios::end);
  if (std::streamoff size = in.tellg(); in && size > 0) {
    bytes.resize(static_cast<std::size_t>(size));
    in.seekg(0);
    in.read(bytes.data(), size);
    bytes.resize(static_cast<std::size_t>(in.gcount()));
  }
  Elf elf(std::move(bytes));
  auto section = elf.section(BLACKOUT_SITE_SECTION);
  auto header = elf.at<Elf64_Ehdr>(0);
  if (section && header && header->e_type == ET_REL)
    return fail(fmt::format("{}: an object file, whose table is not linked yet; name the program or library", path));
  if (!section)
    return fail(fmt::format("{}: not instrumented; build it with blackout-clang or blackout-clang++", path));
  auto broken = [&] { return fail(fmt::format("{}: its site table is damaged; build it again", path)); };

  // Offsets in the table are relative to the virtual address of the field that holds them.
  auto text = [&](std::uint64_t field, std::int32_t offset) -> std::optional<std::string> {
    if (offset == 0) return std::string();
    auto at = elf.offsetOfAddress(field + static_cast<std::int64_t>(offset));
    return at ? elf.textAt(*at) : std::nullopt;
  };
  std::vector<Site> sites;
  std::uint64_t places = 0;
  for (std::uint64_t o = 0; o + sizeof(blackout_site) <= section->sh_size; o += sizeof(blackout_site)) {
    auto row = elf.at<blackout_site>(section->sh_offset + o);
    if (!row) return broken();
    std::uint64_t address = section->sh_addr + o;
    Site site{row->id, static_cast<SiteKind>(row->kind), row->size, (row->flags & BLACKOUT_SITE_ATOMIC) != 0, {}, {}};
    auto type = text(address + offsetof(blackout_site, type), row->type);
    if (!type || nameOf(site.kind).empty()) return broken();
    site.type = *type;
    std::uint64_t placeAddress = address + offsetof(blackout_site, places) + static_cast<std::int64_t>(row->places);
    // More places than the file could hold: rows that share them, in a file that wants our memory.
    places += row->place_count;
    if (places > elf.size() / 4) return broken();
    for (std::uint32_t i = 0; i < row->place_count; ++i, placeAddress += sizeof(blackout_place)) {
      auto at = elf.offsetOfAddress(placeAddress);
      auto place = at ? elf.at<blackout_place>(*at) : std::nullopt;
      if (!place) return broken();
      auto function = text(placeAddress + offsetof(blackout_place, function), place->function);
      auto file = text(placeAddress + offsetof(blackout_place, file), place->file);
      if (!function || !file) return broken();
      if ((place->flags & BLACKOUT_PLACE_SOURCE) != 0 || site.sources.empty()) site.sources.push_back({place->id, {}});
      site.sources.back().chain.push_back({*function, *file, place->line, place->column, place->discriminator});
    }
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace blackout
