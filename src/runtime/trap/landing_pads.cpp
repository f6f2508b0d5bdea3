#include "runtime/trap/landing_pads.h"

#include "runtime/trap/eh_frame_reader.h"

namespace blackout::rt {

namespace {

// A reader from this address to the end of its segment; a failed one if it is in none.
Reader readerAt(const dl_phdr_info& info, uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    uintptr_t begin = info.dlpi_addr + p.p_vaddr;
    if (p.p_type != PT_LOAD || address < begin || address - begin >= p.p_filesz) continue;
    return {reinterpret_cast<const uint8_t*>(address), reinterpret_cast<const uint8_t*>(begin + p.p_filesz)};
  }
  return {nullptr, nullptr, false};
}

uintptr_t placeOf(const Reader& reader) { return reinterpret_cast<uintptr_t>(reader.at); }

// The FDE of the function, by the sorted pairs of .eh_frame_hdr in the one form that linkers write. 0: none.
uintptr_t entryOf(const FrameTable& table, uintptr_t function) {
  if (table.header == nullptr) return 0;
  auto base = reinterpret_cast<uintptr_t>(table.header);
  Reader reader{table.header, table.header + table.headerSize};
  auto version = reader.take<uint8_t>();
  auto frames = reader.take<uint8_t>();
  auto counted = reader.take<uint8_t>();
  auto encoding = reader.take<uint8_t>();
  if (version != 1 || counted != 0x03 || encoding != 0x3b) return 0;
  if (frames != kOmitted) reader.encoded(frames, base);
  size_t count = reader.take<uint32_t>();
  if (!reader.sound || count > size_t(reader.end - reader.at) / 8) return 0;
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    Reader pair{reader.at + middle * 8, reader.end};
    uintptr_t begin = pair.encoded(encoding, base);
    if (begin == function) return pair.encoded(encoding, base);
    if (begin < function)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

// The encodings of addresses and of the language's table in the CIE.
bool readEncodings(Reader cie, uint8_t& addresses, uint8_t& language) {
  addresses = 0;
  language = kOmitted;
  cie.take<uint32_t>();
  if (cie.take<uint32_t>() != 0) return false;
  auto version = cie.take<uint8_t>();
  const uint8_t* letters = cie.at;
  while (cie.take<uint8_t>() != 0) {
  }
  cie.uleb();
  cie.sleb();
  if (version == 1)
    cie.take<uint8_t>();
  else
    cie.uleb();
  if (!cie.sound) return false;
  if (*letters != 'z') return *letters == 0;
  cie.uleb();
  for (++letters; *letters != 0; ++letters) switch (*letters) {
      case 'R':
        addresses = cie.take<uint8_t>();
        break;
      case 'L':
        language = cie.take<uint8_t>();
        break;
      case 'P': {
        auto personality = cie.take<uint8_t>();
        if (personality != kOmitted) cie.encoded(personality & ~kIndirect);
        break;
      }
      case 'S':
        break;
      default:
        return false;
    }
  return cie.sound;
}

}  // namespace

bool forEachLandingPad(const dl_phdr_info& info, const FrameTable& table, uintptr_t function,
                       bool (*body)(uintptr_t place, void*), void* argument) {
  uintptr_t entry = entryOf(table, function);
  if (entry == 0) return false;
  Reader fde = readerAt(info, entry);
  if (fde.take<uint32_t>() == 0xffffffff) return false;
  uintptr_t here = placeOf(fde);
  uintptr_t common = here - fde.take<uint32_t>();
  uint8_t addresses = 0;
  uint8_t language = kOmitted;
  if (!fde.sound || !readEncodings(readerAt(info, common), addresses, language)) return false;
  if (language == kOmitted) return true;
  if ((language & kIndirect) != 0) return false;
  fde.encoded(addresses);
  fde.encoded(addresses & kFormat);
  fde.uleb();
  // "None" is a zero, before anything is added to it.
  Reader raw = fde;
  if (raw.encoded(language & kFormat) == 0) return raw.sound;

  Reader lsda = readerAt(info, fde.encoded(language));
  auto started = lsda.take<uint8_t>();
  uintptr_t start = started == kOmitted ? function : lsda.encoded(started);
  if (lsda.take<uint8_t>() != kOmitted) lsda.uleb();
  auto encoding = lsda.take<uint8_t>();
  uint64_t size = lsda.uleb();
  Reader calls{lsda.at, lsda.at};
  lsda.skip(size);
  calls.end = lsda.at;
  if (!lsda.sound) return false;
  while (calls.at < calls.end) {
    calls.encoded(encoding);
    calls.encoded(encoding);
    uintptr_t pad = calls.encoded(encoding);
    calls.uleb();
    if (!calls.sound) return false;
    if (pad != 0 && !body(start + pad, argument)) return false;
  }
  return true;
}

}  // namespace blackout::rt
