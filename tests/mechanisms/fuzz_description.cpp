// Descriptions that nobody checked: reading one and looking up its names never does more than refuse.
#include <cstdlib>
#include <fstream>

#include "mechanisms/description.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* folder = std::getenv("BLACKOUT_CORPUS"))
    std::ofstream(std::string(folder) + "/journal")
        << "[journal.undo]\nhead = \"journal.base + journal.head\"\ntail = \"journal.base + journal.tail\"\n"
           "area = { at = \"&journal.base\", size = \"sizeof(journal)\" }\n"
           "entry = { struct = \"log_entry\", target = \"log_entry.addr\", size = 8, data = \"log_entry.data[]\" }\n"
           "commit = { field = \"journal.tail\", value = 1 }\npreallocated = true\n"
           "[journal.redo]\ntail = \"journal.tail\"\narea = { at = 0, size = 64 }\n"
           "entry = { struct = \"log_entry\", target = \"log_entry.addr\", size = 8, transaction = \"log_entry.addr % "
           "4\" }\n"
           "commit = { record = \"log_entry.addr\", value = 2 }\n"
           "[struct.s]\nsize = 64\nat = [1, 2]\nfields = { a = { offset = 0, size = 8, count = 2 } }\n"
           "[replica.r]\ncopies = [\"&s.a\", \"s.a[1] * 2\"]\nsize = 8\n[cow.c]\npointer = \"s.a[]\"\nsize = 8\n"
           "[log.l]\ntail = \"s.a[0]\"\nunit = 4096\nlink = \"journal.head\"\n";
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace blackout;
  auto description = Description::parse({reinterpret_cast<const char*>(data), size}, "fuzzed");
  if (!description) return 0;
  StructLayouts layouts;
  StructLayout journal;
  journal.name = "journal";
  journal.size = 32;
  for (std::uint64_t i = 0; const char* name : {"base", "head", "tail", "size"})
    journal.members.push_back({name, 8 * i++, 8, 1, false, kNoLayout});
  layouts.add(journal);
  StructLayout entry;
  entry.name = "log_entry";
  entry.size = 64;
  entry.members = {{"addr", 0, 8, 1, false, kNoLayout}, {"data", 16, 1, 48, true, kNoLayout}};
  layouts.add(entry);
  if (!description->bind(layouts)) return 0;
  for (const MechanismDescription& m : description->mechanisms)
    if (m.tail)
      (void)m.tail->evaluate({[](const FieldRef& f) { return std::optional(f.place.offset); },
                              [](const FieldRef& f) { return std::optional(f.place.size); }});
  return 0;
}
