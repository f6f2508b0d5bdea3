#include "model/x86_model.h"

#include <algorithm>

namespace blackout {

void X86Model::event(EventNo n, const Event& e, Histories& histories) {
  switch (kindOf(e)) {
    case EventKind::Clflush:
      clflush(n, e, histories);
      break;
    case EventKind::Clflushopt:
    case EventKind::Clwb:
      clwb(n, e, histories);
      break;
    case EventKind::FlushOutside:
      thread(e).flushed = true;
      break;
    case EventKind::Sfence:
    case EventKind::Mfence: {
      // Real code fences after clflush, which needs none; and an mfence may be there to order a
      // store with a later load. Neither is waste.
      const ThreadState& t = thread(e);
      if (!t.flushed && t.nt.empty() && (kindOf(e) == EventKind::Sfence || !t.stored))
        histories.waste(n, WasteKind::IdleFence);
      fence(n, e, histories);
      break;
    }
    case EventKind::Rmw:  // the fence before its store; the one after it finds nothing new
    case EventKind::RmwFence:
      if (rmwFences_) fence(n, e, histories);
      break;
    case EventKind::Lock:
    case EventKind::Unlock:
      // glibc's lock is a plain store until the program has created a thread.
      if (rmwFences_ && threadCreated_) fence(n, e, histories);
      break;
    case EventKind::ThreadCreate:
      threadCreated_ = true;
      break;
    case EventKind::SyncStart:
      thread(e).syncStart = storeCount_;
      break;
    case EventKind::Msync:
    case EventKind::Fsync:
      sync(n, e, histories);
      break;
    // These guarantee nothing. Every kind is named, so that the compiler asks about a new one.
    case EventKind::Store:
    case EventKind::StoreNt:
    case EventKind::StoreOutside:
    case EventKind::Load:
    case EventKind::LoadRange:
    case EventKind::Lfence:
    case EventKind::FileNew:
    case EventKind::FileData:
    case EventKind::FileSize:
    case EventKind::FileRename:
    case EventKind::FileUnlink:
    case EventKind::FileZero:
    case EventKind::Map:
    case EventKind::Unmap:
    case EventKind::Discard:
    case EventKind::Ignore:
    case EventKind::OpBegin:
    case EventKind::OpEnd:
    case EventKind::OpValues:
    case EventKind::RoiBegin:
    case EventKind::RoiEnd:
    case EventKind::Request:
    case EventKind::ThreadBegin:
    case EventKind::ThreadEnd:
    case EventKind::Fork:
    case EventKind::Exec:
    case EventKind::Switch:
    case EventKind::ThreadJoin:
    case EventKind::End:
    case EventKind::Call:
    case EventKind::Branch:
    case EventKind::Alloc:
    case EventKind::Free:
    case EventKind::SkipPointsBegin:
    case EventKind::SkipPointsEnd:
    case EventKind::ExtraPoint:
    case EventKind::Complete:
    case EventKind::SkipDetectionBegin:
    case EventKind::SkipDetectionEnd:
    case EventKind::CommitVar:
    case EventKind::CommitRange:
    case EventKind::TxBegin:
    case EventKind::TxEnd:
    case EventKind::TxAdd:
    case EventKind::TxRemove:
    case EventKind::TxIgnore:
    case EventKind::Site:
    case EventKind::Where:
    case EventKind::Module:
    case EventKind::Patched:
    case EventKind::Unfollowed:
    case EventKind::Lost:
      break;
  }
}

void X86Model::stored(StoreNo s, EventNo, const Event& last, Histories&) {
  storeCount_ = s + 1;
  ThreadState& t = thread(last);
  t.stored = true;
  if (kindOf(last) == EventKind::StoreNt) t.nt.push_back(s);
}

void X86Model::clflush(EventNo n, const Event& e, Histories& histories) {
  thread(e).flushed = true;
  LineId line = histories.touch(lineOf(e.addr));
  auto& hint = histories.flushHint(line);
  StoreNo last = histories.lastCached(line);
  if (!histories.hasOpenCached(line))
    histories.waste(n, hint.flushed ? WasteKind::AgainFlush : WasteKind::CleanFlush);
  else
    histories.guaranteeCached(line, last, n);
  hint.flushed = true;
}

void X86Model::clwb(EventNo n, const Event& e, Histories& histories) {
  ThreadState& t = thread(e);
  t.flushed = true;
  LineId line = histories.touch(lineOf(e.addr));
  auto& hint = histories.flushHint(line);
  StoreNo last = histories.lastCached(line);

  // Is a flush of this line pending for this thread already? The hint leads to the line's last
  // flush; only if that was another thread's must the pending flushes be searched.
  PendingFlush* pending = nullptr;
  if (hint.flushed) {
    if (hint.thread == threadOf(e)) {
      if (hint.index < t.pending.size() && t.pending[hint.index].line == line) pending = &t.pending[hint.index];
    } else {
      auto it = std::find_if(t.pending.begin(), t.pending.end(), [&](const auto& p) { return p.line == line; });
      if (it != t.pending.end()) pending = &*it;
    }
  }
  bool covered = pending != nullptr && last == pending->last;
  if (covered || !histories.hasOpenCached(line)) {
    histories.waste(n, hint.flushed ? WasteKind::AgainFlush : WasteKind::CleanFlush);
  } else if (pending != nullptr) {
    pending->last = last;
  } else {
    t.pending.push_back({line, last});
    pending = &t.pending.back();
  }
  if (pending != nullptr) {
    hint.index = static_cast<std::uint32_t>(pending - t.pending.data());
    hint.thread = threadOf(e);
  }
  hint.flushed = true;
}

void X86Model::fence(EventNo n, const Event& e, Histories& histories) {
  ThreadState& t = thread(e);
  for (const PendingFlush& p : t.pending) histories.guaranteeCached(p.line, p.last, n);
  for (StoreNo s : t.nt) histories.guaranteeNt(s, n);
  t.pending.clear();
  t.nt.clear();
  t.flushed = false;
  t.stored = false;
}

// A flush and fence of the range alone: what the thread has pending elsewhere stays pending. One call
// may end in several events, one per mapping in its range, so a start serves until the next one. A
// trace without starts gets the benefit of the doubt: all stores before the return.
void X86Model::sync(EventNo n, const Event& e, Histories& histories) {
  ThreadState& t = thread(e);
  StoreNo bound = t.syncStart == kNoStore ? storeCount_ : t.syncStart;
  PmAddr begin = kindOf(e) == EventKind::Fsync ? pmAddr(fileOf(e.addr), 0) : e.addr;
  std::uint64_t size = kindOf(e) == EventKind::Fsync ? BLACKOUT_MAX_FILE_SIZE : e.value;
  // A range ends with its file, whatever a foreign tracer wrote.
  size = std::min<std::uint64_t>(size, BLACKOUT_MAX_FILE_SIZE - offsetOf(begin));
  if (size == 0) return;
  LineNo first = lineOf(begin);
  LineNo past = lineOf(begin + size - 1) + 1;
  for (LineId line : histories.openLines(first, past)) histories.guaranteeCachedBelow(line, bound, n);
  for (StoreNo s : t.nt) {
    LineNo line = histories.lineOfStore(s);
    if (s < bound && line >= first && line < past) histories.guaranteeNt(s, n);
  }
}

}  // namespace blackout
