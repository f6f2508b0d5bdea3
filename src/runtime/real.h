// The functions that ours stand before: the next definition in lookup order, found once per use.
// Functions that are a bare system call are made by syscall() instead, because a sanitizer's runtime calls them
// before anything can be looked up.
#pragma once

#include <dlfcn.h>
#include <stddef.h>

namespace blackout::rt {

template <size_t N>
struct Name {
  constexpr Name(const char (&name)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = name[i];
  }
  char text[N];
};

// A system call with what the program gave: addresses of PM among it are followed (trap/syscalls.cpp), which the
// runtime's own calls are not.
long callForProgram(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

// One place per name, so that a fork server can look names up once for all its runs.
template <Name name>
inline constinit void* realFunction = nullptr;

template <Name name>
inline void* lookUp() {
  if (__builtin_expect(realFunction<name> == nullptr, 0)) realFunction<name> = dlsym(RTLD_NEXT, name.text);
  return realFunction<name>;
}
template <Name name, Name version>
inline void* lookUpVersion() {
  if (__builtin_expect(realFunction<name> == nullptr, 0))
    realFunction<name> = dlvsym(RTLD_NEXT, name.text, version.text);
  return realFunction<name>;
}

}  // namespace blackout::rt

#define BLACKOUT_REAL(name) reinterpret_cast<decltype(&::name)>(blackout::rt::lookUp<#name>())

// For functions with several symbol versions, of which dlsym would take the oldest.
#define BLACKOUT_REAL_VERSION(name, version) \
  reinterpret_cast<decltype(&::name)>(blackout::rt::lookUpVersion<#name, version>())

#define BLACKOUT_EXPORT extern "C" __attribute__((visibility("default")))
