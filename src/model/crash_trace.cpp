#include "model/crash_trace.h"

#include <map>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "model/image.h"
#include "model/tracked_bytes.h"

namespace blackout {

namespace {

void writeContent(TraceWriter& writer, FileNo number, const FileImage& file) {
  std::string bytes(SparseBytes::kPage, '\0');
  for (std::uint64_t page : file.bytes.pages()) {
    std::uint64_t offset = page * SparseBytes::kPage;
    if (offset >= file.size) continue;
    std::uint64_t size = std::min(SparseBytes::kPage, file.size - offset);
    file.bytes.read(offset, std::as_writable_bytes(std::span(bytes)).first(size));
    writer.fileData(pmAddr(number, offset), std::string_view(bytes).substr(0, size));
  }
}

// A run is asked for operations by their numbers, which are given in the order of their begins. Threads of
// their own keep the ones that had ended from ending the others.
constexpr ThreadNo kEndedThread = 1, kBegunThread = 2, kLaterThread = 3;

}  // namespace

Result<CrashTrace> crashTrace(const CrashState& state, std::span<const Index* const> indexes,
                              std::span<const ReplacedWord> replaced) {
  auto image = buildImage(state, indexes);
  if (!image) return tl::unexpected(image.error());
  for (FileImage& file : image->files)
    for (const ReplacedWord& word : replaced)
      if (fileOf(word.at) == file.number) file.bytes.write(offsetOf(word.at), std::as_bytes(std::span(&word.value, 1)));
  const Index& index = *indexes[0];
  const Trace& recording = index.trace();
  TrackedBytes tracked = TrackedBytes::of(index);
  Baseline baseline(index, tracked, {state[0].at});

  TraceWriter writer;
  std::map<std::string, FileNo, std::less<>> numbers;
  for (const FileImage& file : image->files) {
    FileNo number = writer.file(file.path, file.size, true);
    numbers.emplace(file.path, number);
    writeContent(writer, number, file);
  }
  for (OperationNo op : idRange<OperationNo>(tracked.operations())) {
    std::uint32_t reached = baseline.opState(0, op);
    if (reached == 0) break;
    writer.blob(EventKind::OpBegin, reached == 2 ? kEndedThread : kBegunThread, 0, "");
    if (reached != 2) continue;
    // What it returned may be asked for, too.
    writer.blob(EventKind::OpValues, kEndedThread, 0, index.operations().encodedResults(op), BLACKOUT_VALUES_RESULTS);
    writer.event(EventKind::OpEnd, kEndedThread, 0, 0, BLACKOUT_OP_VALUES);
  }

  CrashTrace out;
  out.at = writer.event(EventKind::ThreadBegin, kLaterThread, 1, 1);
  for (OperationNo op : idRange<OperationNo>(tracked.operations()))
    if (baseline.opState(0, op) == 0) writer.blob(EventKind::OpBegin, kLaterThread, 0, "");
  // Files that the recording had elsewhere in time keep their addresses too, should the restart make them.
  IdVector<FileNo, std::string> paths(recording.files().size());
  const Version survived = index.filesIn(state[0]);
  for (FileNo f = 1; f < paths.endId(); ++f) {
    bool there = index.files().existsAt(f, state[0].at, &survived);
    paths[f] = there ? std::string(index.files().pathAt(f, state[0].at, &survived)) : recording.files()[f].path;
    if (!numbers.contains(paths[f])) numbers.emplace(paths[f], writer.file(paths[f], 0, false));
  }
  for (EventNo n = 0; n < recording.end(); n = recording.next(n))
    if (const Event& e = recording[n]; kindOf(e) == EventKind::Map)
      writer.blob(EventKind::Map, kLaterThread, pmAddr(numbers.at(paths[fileOf(e.addr)]), offsetOf(e.addr)),
                  recording.payload(n));
  out.bytes = writer.sealedBytes();
  return out;
}

}  // namespace blackout
