// The functions that ours stand before: the next definition in lookup order, found once per use.
// Functions that are a bare system call are made by syscall() instead, because a sanitizer's runtime calls them
// before anything can be looked up.
#pragma once

#include <dlfcn.h>

#define BLACKOUT_REAL(name)                                                                     \
  ([]() -> decltype(&::name) {                                                                  \
    static decltype(&::name) found = nullptr;                                                   \
    if (found == nullptr) found = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return found;                                                                               \
  }())

// For functions with several symbol versions, of which dlsym would take the oldest.
#define BLACKOUT_REAL_VERSION(name, version)                                                              \
  ([]() -> decltype(&::name) {                                                                            \
    static decltype(&::name) found = nullptr;                                                             \
    if (found == nullptr) found = reinterpret_cast<decltype(&::name)>(dlvsym(RTLD_NEXT, #name, version)); \
    return found;                                                                                         \
  }())

#define BLACKOUT_EXPORT extern "C" __attribute__((visibility("default")))
