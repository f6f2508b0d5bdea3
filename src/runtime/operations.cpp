// blackout.h: operations. In a recorded run, and in a traced restart, they are events of the trace. A restart may keep
// a history of its own operations besides, which goes to the worker's control block and becomes part of its outcome;
// and it may ask what became of the recorded ones.

#include <stdio.h>
#include <string.h>

#define __BLACKOUT__ 1
#include "blackout/blackout.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/trap/pages.h"

using namespace blackout::rt;

namespace {

bool keepsHistory = false;  // this process called blackout_history_begin

size_t padded(size_t size) { return (size + 7) / 8 * 8; }

// The values of one call, checked: how many bytes they take (trace_format.h), and these bytes.
class ValueList {
 public:
  // `function`: who is to be named if they are not possible.
  ValueList(const blackout_value* values, size_t count, const char* function) : values_(values), count_(count) {
    char text[160];
    if (count > BLACKOUT_MAX_VALUES) {
      snprintf(text, sizeof text, "%s: %zu values; pass at most %u", function, count, BLACKOUT_MAX_VALUES);
      stop(text, nullptr, 2);
    }
    for (size_t i = 0; i < count; ++i) {
      if (values[i].kind > BLACKOUT_VALUE_TEXT) {
        snprintf(text, sizeof text,
                 "%s: there is no kind of value %u; make values with blackout_uint, blackout_int, blackout_bytes or "
                 "blackout_text",
                 function, values[i].kind);
        stop(text, nullptr, 2);
      }
      // So large a size must not make the sum wrap around.
      size_t limit = BLACKOUT_MAX_VALUE_BYTES + 1;
      size_ += sizeof(blackout_value_head) + padded(sizeOf(values[i]) < limit ? sizeOf(values[i]) : limit);
    }
    if (size_ > BLACKOUT_MAX_VALUE_BYTES) {
      snprintf(text, sizeof text, "%s: more than %u KiB of values; pass a part of them, or a digest", function,
               BLACKOUT_MAX_VALUE_BYTES / 1024);
      stop(text, nullptr, 2);
    }
  }

  size_t size() const { return size_; }

  // A restart passes bytes that it has in PM: it reads them.
  void observed(const void* frame) const {
    for (size_t i = 0; i < count_; ++i)
      if (!isNumber(values_[i]) && mayBePm(values_[i].data, values_[i].size))
        observe(values_[i].data, values_[i].size, nullptr, frame, newGroup());
  }

  // Whether some of them lie in PM, where the thread's own stores may still wait.
  bool inPm() const {
    for (size_t i = 0; i < count_; ++i)
      if (!isNumber(values_[i]) && mayBePm(values_[i].data, values_[i].size)) return true;
    return false;
  }

  // Inside a Scope.
  void copyTo(uint8_t* to) const {
    for (size_t i = 0; i < count_; ++i) {
      const blackout_value& v = values_[i];
      blackout_value_head head = {v.kind, uint32_t(sizeOf(v))};
      memcpy(to, &head, sizeof head);
      to += sizeof head;
      if (isNumber(v))
        memcpy(to, &v.number, sizeof v.number);
      else if (trapping)
        readThrough(to, reinterpret_cast<uintptr_t>(v.data), v.size);
      else
        memcpy(to, v.data, v.size);
      memset(to + head.size, 0, padded(head.size) - head.size);
      to += padded(head.size);
    }
  }

 private:
  static bool isNumber(const blackout_value& v) {
    return v.kind == BLACKOUT_VALUE_UNSIGNED || v.kind == BLACKOUT_VALUE_SIGNED;
  }
  static size_t sizeOf(const blackout_value& v) { return isNumber(v) ? sizeof v.number : v.size; }

  const blackout_value* values_;
  size_t count_;
  size_t size_ = 0;
};

// Whether anybody wants to know of operations now.
bool wanted() { return recordsEvents() || keepsHistory; }

void keep(uint32_t what, const char* name, size_t nameSize, const ValueList& values, const void* frame) {
  values.observed(frame);
  Scope scope;  // nested or not: this goes elsewhere
  size_t size = sizeof(blackout_history_record) + padded(nameSize) + values.size();
  uint64_t at = __atomic_fetch_add(&worker->history_size, size, __ATOMIC_RELAXED);
  if (at + size > BLACKOUT_MAX_HISTORY)
    endRun(BLACKOUT_ENDED_BROKEN,
           "a restart recorded more than 1 MiB of operations after blackout_history_begin: mark fewer, or pass less",
           frame);
  if (self.inHistory == 0) self.inHistory = __atomic_add_fetch(&worker->history_threads, 1, __ATOMIC_RELAXED);
  auto* record = reinterpret_cast<blackout_history_record*>(worker->history + at);
  record->what = what;
  record->thread = self.inHistory;
  record->name_size = uint32_t(nameSize);
  auto* to = reinterpret_cast<uint8_t*>(record + 1);
  if (nameSize != 0) memcpy(to, name, nameSize);
  values.copyTo(to + padded(nameSize));
  __atomic_store_n(&record->size, uint32_t(size), __ATOMIC_RELEASE);
}

void appendValues(uint8_t len, const ValueList& values) {
  if (uint8_t* to = beginBlob(BLACKOUT_EV_OpValues, len, 0, values.size(), 0)) {
    values.copyTo(to);
    commitBlob(values.size());
  }
}

// `plain`: the two-number calls, whose number lies in the event itself.
void begins(const char* name, const ValueList& values, const uint64_t* plain, const void* frame) {
  switchPoint(name);
  size_t n = name == nullptr ? 0 : strnlen(name, 256);
  if (keepsHistory) keep(BLACKOUT_HISTORY_BEGIN, name, n, values, frame);
  if (!recordsEvents()) return;
  // An operation has begun once it has: nothing is waited for. One that ends, has ended when all before it took effect.
  Scope scope(values.inPm() ? Buffered::Leaves : Buffered::Stays);
  if (scope.nested) return;
  if (plain == nullptr) appendValues(BLACKOUT_VALUES_ARGUMENTS, values);
  appendBlob(BLACKOUT_EV_OpBegin, plain == nullptr ? BLACKOUT_OP_VALUES : 0, plain == nullptr ? 0 : *plain, name, n);
}

void ends(const ValueList& values, const uint64_t* plain, const void* frame) {
  switchPoint(plain);
  if (keepsHistory) keep(BLACKOUT_HISTORY_END, nullptr, 0, values, frame);
  if (!recordsEvents()) return;
  Scope scope;
  if (scope.nested) return;
  if (plain == nullptr) appendValues(BLACKOUT_VALUES_RESULTS, values);
  append(BLACKOUT_EV_OpEnd, plain == nullptr ? BLACKOUT_OP_VALUES : 0, 0, 0, plain == nullptr ? 0 : *plain);
}

}  // namespace

BLACKOUT_EXPORT void blackout_op_begin(const char* name, uint64_t argument) {
  if (!wanted()) return;
  blackout_value value = blackout_uint(argument);
  begins(name, ValueList(&value, 1, ""), &argument, BLACKOUT_FRAME());
}
BLACKOUT_EXPORT void blackout_op_end(uint64_t result) {
  if (!wanted()) return;
  blackout_value value = blackout_uint(result);
  ends(ValueList(&value, 1, ""), &result, BLACKOUT_FRAME());
}
BLACKOUT_EXPORT void blackout_op_begin_values(const char* name, const blackout_value* arguments, size_t count) {
  if (!wanted()) return;
  begins(name, ValueList(arguments, count, "blackout_op_begin_values"), nullptr, BLACKOUT_FRAME());
}
BLACKOUT_EXPORT void blackout_op_end_values(const blackout_value* results, size_t count) {
  if (!wanted()) return;
  ends(ValueList(results, count, "blackout_op_end_values"), nullptr, BLACKOUT_FRAME());
}

BLACKOUT_EXPORT void blackout_history_begin() {
  if (isRestart()) keepsHistory = true;
}

BLACKOUT_EXPORT int blackout_op_begun(uint64_t n) {
  return !isRestart() || operationReached(n, 1, BLACKOUT_FRAME()) ? 1 : 0;
}
BLACKOUT_EXPORT int blackout_op_ended(uint64_t n) {
  return !isRestart() || operationReached(n, 2, BLACKOUT_FRAME()) ? 1 : 0;
}

BLACKOUT_EXPORT int blackout_op_result(uint64_t n, blackout_value* values, size_t room) {
  // What it returned is the same after every crash; only whether it had ended is not.
  if (!isRestart() || !operationReached(n, 2, BLACKOUT_FRAME())) return -1;
  const auto* bytes = reinterpret_cast<const uint8_t*>(plan);
  uint64_t offset = reinterpret_cast<const uint64_t*>(bytes + plan->results)[n];
  if (offset == 0) return -1;
  const auto* list = reinterpret_cast<const blackout_plan_values*>(bytes + offset);
  const auto* at = reinterpret_cast<const uint8_t*>(list + 1);
  const auto* end = at + list->size;
  int count = 0;
  for (; at < end; ++count) {
    const auto* head = reinterpret_cast<const blackout_value_head*>(at);
    at += sizeof *head;
    if (size_t(count) < room) {
      blackout_value v = {head->kind, 0, nullptr, 0};
      if (head->kind == BLACKOUT_VALUE_UNSIGNED || head->kind == BLACKOUT_VALUE_SIGNED) {
        memcpy(&v.number, at, sizeof v.number);
      } else {
        v.data = at;
        v.size = head->size;
      }
      values[count] = v;
    }
    at += padded(head->size);
  }
  return count;
}
