// libFuzzer target: any bytes are refused in a sentence or read without a fault. The first byte
// says what the rest is: a whole file, or events to which a sound header is given, so that the
// fuzzer does not have to invent 64 kB of it. With a folder as BLACKOUT_CORPUS it first writes seeds.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "events/trace.h"
#include "report/trace_count.h"
#include "report/trace_text.h"
#include "sample_trace.h"

using namespace blackout;
using namespace blackout::test;

namespace {

enum Form : std::uint8_t { WholeFile, EventsOnly };

void look(const std::string& bytes) {
  auto trace = Trace::fromBytes(asBytes(bytes));
  if (!trace) {
    if (trace.error().sentence.empty()) __builtin_trap();
    return;
  }
  volatile std::uint64_t sum = readAll(*trace);
  (void)sum;
  // The printers take the reader at its word.
  EventPrinter printer(*trace);
  std::size_t size = printer.header().size();
  for (EventNo n = 0; n < trace->end(); n = trace->next(n)) size += printer.line(n).size();
  auto filter = TraceFilter::make(*trace, {});
  if (!filter || size == 0) __builtin_trap();
  countEvents(*trace, *filter, CountBy::Line);
  countEvents(*trace, *filter, CountBy::File);
  countEvents(*trace, *filter, CountBy::Operation);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("BLACKOUT_CORPUS");
  if (folder == nullptr) return 0;
  std::filesystem::create_directories(folder);
  auto seed = [&](const char* name, Form form, std::string_view bytes) {
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << static_cast<char>(form) << bytes;
  };
  TraceWriter sample = sampleTrace();
  seed("sealed", WholeFile, sample.sealedBytes());
  seed("events", EventsOnly, std::string_view(sample.bytes()).substr(BLACKOUT_HEADER_SIZE));
  TraceWriter small;
  FileNo f = small.file("p", 4096, true);
  small.store(EventKind::Store, 1, pmAddr(f, 64), "abc");
  seed("small", EventsOnly, std::string_view(small.bytes()).substr(BLACKOUT_HEADER_SIZE));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) == WholeFile) {
    look(rest);
    return 0;
  }
  rest.resize(rest.size() / sizeof(Event) * sizeof(Event));
  std::string file = TraceWriter().bytes();
  reinterpret_cast<blackout_trace_header*>(file.data())->committed = rest.size();
  look(file + rest);
  return 0;
}
