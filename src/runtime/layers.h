// The three layers of files that are no pools, and the way of a path through them (overlay.h says what they are for).
// The upper ones first: what the run made (<worker>/run/files), what was there before the recording (<before>/files),
// and the file system as it is. A layer holds canonical paths; folders are seen through. A link to kGone says that
// there is nothing, whatever the layers below have.
#pragma once

#include <limits.h>
#include <stddef.h>

namespace blackout::rt::layers {

constexpr char kGone[] = "(gone)";       // nothing is there
constexpr char kTooLarge[] = "(large)";  // not kept: as the recording left it

enum Layer { kOwn, kBefore, kReal, kLayers };

enum class Kind { Nothing, File, Folder, Link, Other };

struct Roots {
  char base[PATH_MAX];  // exists; everything that is made lies below it
  char path[kLayers][PATH_MAX];
  char listings[PATH_MAX];  // folders made up for opendir
  char opaque[PATH_MAX];    // marks of folders that hide the ones of the layers below them
  bool before;
};

// Of this process, found once.
const Roots& roots();

// A path followed through the layers.
struct Found {
  char canonical[PATH_MAX];
  Kind kind = Kind::Folder;  // of the uppermost that shows
  int layer = kReal;         // which has it
  bool below = false;        // a layer below kOwn shows it too
  bool parent = true;        // its folder exists
  bool recorded = false;     // the recording changed it, or a folder above it
  bool tooLarge = false;
  bool live[kLayers] = {};  // which layers have it as a folder
  bool kernels = false;
};

// Absolute: `joined` as it is written, `out` without ".", ".." and "//"; no link is followed here. PATH_MAX bytes each.
bool absolute(int dirfd, const char* path, char* joined, char* out);
// Follows a path, the last link too if that is wanted. False: it can't be followed (errno).
bool follow(int dirfd, const char* path, bool lastLink, Found& f);
// One name further down, which may be a link.
void descend(Found& f, const char* name, size_t size);

// Where a canonical path lies in a layer. PATH_MAX bytes, as in all that follows.
void inLayer(int layer, const char* canonical, char* out);
// The folder that holds the last name.
void parentOf(const char* path, char* out);
bool below(const char* path, const char* folder);
bool linkText(const char* path, char* out);
// Makes the folders above the last name of a private path.
bool makeParents(char* path);
// A folder is about to be made there: what an old one held must not show in it.
void makeOpaque(const char* canonical);
// The user's path for a private one, in place.
void publicPath(char* path);

}  // namespace blackout::rt::layers
