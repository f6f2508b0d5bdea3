// The path that a call takes instead of the program's: a pool's private copy, or the run's own file.
#pragma once

#include <fcntl.h>
#include <limits.h>

#include "runtime/overlay.h"
#include "runtime/pools.h"
#include "runtime/recovery.h"

namespace blackout::rt {

// For a call that only looks at a path, or changes what is there without being an event.
struct ChosenPath {
  ChosenPath(int dirfd, const char* path, Use use = Use::Look) : fd(dirfd), path(path) {
    char canonical[PATH_MAX];
    Last last = use == Use::LookLink || use == Use::MakeName || use == Use::MakeFolder ? Last::Keep : Last::Follow;
    pool = redirect(dirfd, path, copy, canonical, last);
    if (!pool && !redirectToOverlay(dirfd, path, use, copy)) return;
    if (pool && isRestart()) observePath(canonical);
    if (pool && isRestart() && use >= Use::Change) {
      makePrivatePools();
      redirect(dirfd, path, copy, canonical, last);
    }
    fd = AT_FDCWD;
    this->path = copy;
  }
  int fd;
  const char* path;
  bool pool;
  char copy[PATH_MAX];
};

}  // namespace blackout::rt
