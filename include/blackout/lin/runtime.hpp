// The annotations of blackout.h for harnesses, also in a program that was built without Blackout: there they are looked
// up in the runtime that Blackout loads with the program. And the marks of one call.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "blackout/harness.hpp"

namespace blackout::lin {

// What open() gave, until the end. An object with nothing to destroy is left alone: it may lie in the pool itself.
struct Closed {
  template <class T>
  void operator()(T* object) const {
    if constexpr (!std::is_trivially_destructible_v<T>) delete object;
  }
};
template <class T>
using Opened = std::unique_ptr<T, Closed>;
template <class T>
Opened<T> own(T* object) {
  [[maybe_unused]] static const void* volatile kept;  // what is left alone is no leak
  kept = object;
  return Opened<T>(object);
}

// The annotations, also in a program that was built without Blackout.
namespace runtime {

#ifdef __BLACKOUT__
inline void begin(const char* name, const blackout_value* values, std::size_t count) {
  blackout_op_begin_values(name, values, count);
}
inline void end(const blackout_value* values, std::size_t count) { blackout_op_end_values(values, count); }
inline void historyBegin() { blackout_history_begin(); }
inline bool recovering() { return blackout_recovering() != 0; }
inline void regionBegin() { blackout_roi_begin(); }
inline void regionEnd() { blackout_roi_end(); }
inline bool active() { return blackout_active() != 0; }
inline bool ended(std::uint64_t n) { return blackout_op_ended(n) != 0; }
inline bool begun(std::uint64_t n) { return blackout_op_begun(n) != 0; }
inline int result(std::uint64_t n, blackout_value* values, std::size_t room) {
  return blackout_op_result(n, values, room);
}
inline void expect(bool condition, const char* what) { blackout_expect(condition ? 1 : 0, what); }
#else
template <class Function>
Function* found(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
inline void begin(const char* name, const blackout_value* values, std::size_t count) {
  static auto* const call = found<void(const char*, const blackout_value*, std::size_t)>("blackout_op_begin_values");
  if (call != nullptr) call(name, values, count);
}
inline void end(const blackout_value* values, std::size_t count) {
  static auto* const call = found<void(const blackout_value*, std::size_t)>("blackout_op_end_values");
  if (call != nullptr) call(values, count);
}
inline void historyBegin() {
  static auto* const call = found<void()>("blackout_history_begin");
  if (call != nullptr) call();
}
inline void regionBegin() {
  static auto* const call = found<void()>("blackout_roi_begin");
  if (call != nullptr) call();
}
inline void regionEnd() {
  static auto* const call = found<void()>("blackout_roi_end");
  if (call != nullptr) call();
}
inline bool recovering() {
  static auto* const call = found<int()>("blackout_recovering");
  return call != nullptr && call() != 0;
}
inline bool active() {
  static auto* const call = found<int()>("blackout_active");
  return call != nullptr && call() != 0;
}
inline bool ended(std::uint64_t n) {
  static auto* const call = found<int(std::uint64_t)>("blackout_op_ended");
  return call == nullptr || call(n) != 0;
}
inline bool begun(std::uint64_t n) {
  static auto* const call = found<int(std::uint64_t)>("blackout_op_begun");
  return call == nullptr || call(n) != 0;
}
inline int result(std::uint64_t n, blackout_value* values, std::size_t room) {
  static auto* const call = found<int(std::uint64_t, blackout_value*, std::size_t)>("blackout_op_result");
  return call == nullptr ? -1 : call(n, values, room);
}
inline void expect(bool condition, const char* what) {
  static auto* const call = found<void(int, const char*)>("blackout_expect");
  if (call != nullptr) call(condition ? 1 : 0, what);
}
#endif

}  // namespace runtime

// Marks a call, and what it returns, whatever that is.
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class Call>
auto marked(const char* name, const blackout_value* arguments, std::size_t count, Call call) {
  using Result = decltype(call());
  runtime::begin(name, arguments, count);
  if constexpr (std::is_void_v<Result>) {
    call();
    const blackout_value none{};
    runtime::end(&none, 0);
  } else {
    Result result = call();
    if constexpr (IsOptional<Result>::value) {
      const blackout_value given = result ? value(*result) : blackout_value{};
      runtime::end(&given, result ? 1 : 0);
    } else {
      const blackout_value given = value(result);
      runtime::end(&given, 1);
    }
    return result;
  }
}
template <class Call, class... Arguments>
auto marked(const char* name, Call call, const Arguments&... arguments) {
  const blackout_value all[] = {value(arguments)..., blackout_value{}};
  return marked(name, all, sizeof...(arguments), call);
}

}  // namespace blackout::lin
