// A crash test of a file system in user space, of which its author writes a class and nothing else:
//
//   struct Files {
//     static int mkfs(const char* image);      // makes a new file system; 0, or an errno below 0
//     static Files* mount(const char* image);  // recovers what a crash left; null: it can't
//     void unmount();                          // the object is deleted after it
//     int creat(const char* path);             // paths are as "A/foo", from the root on
//     int mkdir(const char* path);
//     int write(const char* path, std::uint64_t offset, const void* data, std::size_t size);
//     int unlink(const char* path);
//     int list(const char* path, Visit visit);  // calls visit(name) for each entry; "" is the root
//     int stat(const char* path, blackout::fs::Status& status);
//     int read(const char* path, std::uint64_t offset, void* data, std::size_t size);
//     // optional: rmdir(path), rename(path, to), truncate(path, size), fallocate(path, offset, size),
//     //           link(path, to), symlink(says, path), readlink(path, std::string&), append(path, data, size),
//     //           open(path): a number from 0 on for what is open now, pwrite(number, offset, data, size),
//     //           pread(number, offset, data, size), close(number): files that lose their name while they are open
//     //           fsck(): 0, or an errno below 0 if its own structures contradict each other; it changes nothing
//   };
//   BLACKOUT_FS(Files)
//
//   blackout fs --workload seq-1 --pm image -- ./harness image
//
// The macro is a main(). The recorded run makes a file system, mounts it, makes the operations of a workload, unmounts
// it and mounts it again; each is marked with its arguments and result (blackout.h). A restart after a simulated crash
// mounts what is there, reads every name, size, link and byte, and compares it with the model of a file system
// (fs/model.hpp): it must look as before the operation that was interrupted, or as after it. Then it works on: every
// file is written, in every directory something is made and removed, and in the end everything is removed. What a crash
// in mkfs leaves is promised to nobody and is not mounted. A class with
// an fsck() is asked after the mount, and when everything is removed.
//
// Operations that a class does not have return ENOSYS, and their workloads are counted as not supported; with
// --without fallocate,open nothing is missing without them. Links are not
// followed: an operation on the content of a symbolic link returns ELOOP.
//
// A file system in another language speaks by lines: fs/lines.hpp.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <type_traits>

#include "blackout/fs/workloads.hpp"
#include "blackout/lin/runtime.hpp"

namespace blackout::fs {

struct Status {
  Kind kind = Kind::File;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::uint64_t size = 0;
};

namespace runtime = blackout::lin::runtime;

[[noreturn]] inline void fail(const std::string& sentence) {
  std::printf("%s\n", sentence.c_str());
  std::fflush(stdout);
  std::exit(1);
}

inline std::string errorText(int error) { return error == 0 ? "0" : std::strerror(-error); }

// A method that the class may leave out.
#define BLACKOUT_FS_OPTIONAL(name, ...)                                                             \
  template <class F, class... Arguments>                                                            \
  auto name##Of(F& files, int, Arguments&&... arguments)->decltype(int(files.name(arguments...))) { \
    return files.name(arguments...);                                                                \
  }                                                                                                 \
  template <class F, class... Arguments>                                                            \
  int name##Of(F&, long, Arguments&&...) {                                                          \
    return -ENOSYS;                                                                                 \
  }
BLACKOUT_FS_OPTIONAL(rmdir)
BLACKOUT_FS_OPTIONAL(rename)
BLACKOUT_FS_OPTIONAL(truncate)
BLACKOUT_FS_OPTIONAL(fallocate)
BLACKOUT_FS_OPTIONAL(link)
BLACKOUT_FS_OPTIONAL(symlink)
BLACKOUT_FS_OPTIONAL(readlink)
BLACKOUT_FS_OPTIONAL(append)
BLACKOUT_FS_OPTIONAL(open)
BLACKOUT_FS_OPTIONAL(pwrite)
BLACKOUT_FS_OPTIONAL(pread)
BLACKOUT_FS_OPTIONAL(close)
BLACKOUT_FS_OPTIONAL(fsck)
#undef BLACKOUT_FS_OPTIONAL

// The numbers of open files, by what calls call them.
using OpenFiles = std::map<std::string, int>;

template <class F>
int execute(F& files, const Call& call, OpenFiles& opened) {
  const char* path = call.path.c_str();
  const char* to = call.to.c_str();
  bool writes =
      call.operation == Operation::Write || call.operation == Operation::Append || call.operation == Operation::Pwrite;
  std::string bytes(writes ? call.size : 0, call.fill);
  auto open = opened.find(call.path);
  switch (call.operation) {
    case Operation::Creat:
      return files.creat(path);
    case Operation::Mkdir:
      return files.mkdir(path);
    case Operation::Write:
      return files.write(path, call.offset, bytes.data(), bytes.size());
    case Operation::Append: {
      int result = appendOf(files, 0, path, bytes.data(), bytes.size());
      if (result != -ENOSYS) return result;
      Status status;
      if (int error = files.stat(path, status); error != 0) return error;
      return files.write(path, status.size, bytes.data(), bytes.size());
    }
    case Operation::Fallocate:
      return fallocateOf(files, 0, path, call.offset, call.size);
    case Operation::Symlink:
      return symlinkOf(files, 0, path, to);
    case Operation::Link:
      return linkOf(files, 0, path, to);
    case Operation::Unlink:
      return files.unlink(path);
    case Operation::Remove: {
      Status status;
      if (int error = files.stat(path, status); error != 0) return error;
      return status.kind == Kind::Directory ? rmdirOf(files, 0, path) : files.unlink(path);
    }
    case Operation::Rename:
      return renameOf(files, 0, path, to);
    case Operation::Truncate:
      return truncateOf(files, 0, path, call.size);
    case Operation::Rmdir:
      return rmdirOf(files, 0, path);
    case Operation::Open: {
      if (opened.count(call.to) != 0) return -EBUSY;
      int number = openOf(files, 0, path);
      if (number >= 0) opened[call.to] = number;
      return number < 0 ? number : 0;
    }
    case Operation::Pwrite:
      if (open == opened.end()) return -EBADF;
      return pwriteOf(files, 0, open->second, call.offset, bytes.data(), bytes.size());
    case Operation::Close: {
      if (open == opened.end()) return -EBADF;
      int number = open->second;
      opened.erase(open);
      return closeOf(files, 0, number);
    }
  }
  return -EINVAL;
}

// What is wrong with an open file, in words; empty: nothing.
template <class F>
std::string wrongIn(F& files, const OpenFiles& opened, const Model& model) {
  for (const auto& [name, content] : model.opened()) {
    auto open = opened.find(name);
    if (open == opened.end()) return name + " is not open";
    std::string bytes(content.size(), '\0');
    if (int error = preadOf(files, 0, open->second, std::uint64_t{0}, bytes.data(), bytes.size()); error != 0)
      return "the open file " + name + " can't be read: " + errorText(error);
    auto differs = std::mismatch(bytes.begin(), bytes.end(), content.begin());
    if (differs.first != bytes.end())
      return "the open file " + name + " has other bytes from offset " + std::to_string(differs.first - bytes.begin()) +
             " on";
  }
  return "";
}

// A damaged file system may have circles and names without number.
constexpr std::size_t kMostEntries = 4096;

// Everything that is there. `why` says what could not be read.
template <class F>
bool readTree(F& files, const std::string& directory, Tree& tree, std::string& why) {
  std::vector<std::string> names;
  int listed = files.list(directory.c_str(), [&](const char* name) {
    if (names.size() <= kMostEntries) names.emplace_back(name);
  });
  std::string prefix = directory.empty() ? "" : directory + '/';
  if (listed != 0) {
    why = "the directory " + (directory.empty() ? "of the root" : directory) + " can't be listed: " + errorText(listed);
    return false;
  }
  for (const std::string& name : names) {
    std::string path = prefix + name;
    if (tree.size() >= kMostEntries || path.size() > 4096) {
      why = "there is no end of names below " + path.substr(0, 200);
      return false;
    }
    Status status;
    if (int error = files.stat(path.c_str(), status); error != 0) {
      why = path + " is listed, and stat says: " + errorText(error);
      return false;
    }
    Entry entry{status.kind, status.inode, status.links, ""};
    int error = 0;
    if (status.kind == Kind::Link) {
      error = readlinkOf(files, 0, path.c_str(), entry.content);
    } else if (status.kind == Kind::File) {
      if (status.size > kMaxFile) {
        why = path + " has " + std::to_string(status.size) + " bytes";
        return false;
      }
      entry.content.resize(status.size);
      error = files.read(path.c_str(), 0, entry.content.data(), status.size);
    }
    if (error != 0) {
      why = path + " can't be read: " + errorText(error);
      return false;
    }
    if (!tree.emplace(path, entry).second) {
      why = path + " is listed twice";
      return false;
    }
    if (status.kind == Kind::Directory && !readTree(files, path, tree, why)) return false;
  }
  return true;
}

template <class F>
Tree treeOf(F& files, const std::string& when) {
  Tree tree;
  std::string why;
  if (!readTree(files, "", tree, why)) fail(when + ": " + why);
  return tree;
}

// Everything that is there is used and then removed: what looks right must work, too.
template <class F>
void workOn(F& files, const Tree& tree, const std::string& when) {
  auto must = [&](int result, const std::string& what) {
    if (result != 0) fail(when + ", " + what + " gives: " + errorText(result));
  };
  for (const auto& [path, entry] : tree) {
    if (entry.kind == Kind::File) {
      std::uint64_t end = entry.content.size();
      must(files.write(path.c_str(), end, "xyz", 3), "a write at the end of " + path);
      char back[4] = "";
      must(files.read(path.c_str(), end, back, 3), "reading the end of " + path);
      if (std::strcmp(back, "xyz") != 0) fail(when + ", what is written at the end of " + path + " is not read again");
      Status status;
      must(files.stat(path.c_str(), status), "stat of " + path);
      // A file with two names may have been written by its other name.
      if (status.size < end + 3) fail(when + ", " + path + " does not grow when it is written at its end");
      // What lies between its end and what is written behind it was never written: it is 0, whatever was there once.
      constexpr std::uint64_t kGap = 2 * kBlock;
      std::string gap(kGap, 'x');
      must(files.write(path.c_str(), status.size + kGap, "xyz", 3), "a write behind the end of " + path);
      must(files.read(path.c_str(), status.size, gap.data(), gap.size()), "reading behind the end of " + path);
      if (gap.find_first_not_of('\0') != std::string::npos)
        fail(when + ", a file that grows has bytes that nobody wrote: " + path);
    } else if (entry.kind == Kind::Directory) {
      std::string probe = path + "/probe";
      must(files.creat(probe.c_str()), "making a file in " + path);
      Status status;
      must(files.stat(probe.c_str(), status), "stat of a new file in " + path);
      for (const auto& [other, there] : tree)
        if (there.inode == status.inode) fail(when + ", a new file gets the inode number of " + other);
      must(files.unlink(probe.c_str()), "removing that file from " + path);
    }
  }
  for (auto it = tree.rbegin(); it != tree.rend(); ++it) {
    const auto& [path, entry] = *it;
    int result = entry.kind == Kind::Directory ? rmdirOf(files, 0, path.c_str()) : files.unlink(path.c_str());
    if (entry.kind == Kind::Directory && result == -ENOSYS) return;
    must(result, "removing " + path);
  }
  if (!treeOf(files, when).empty()) fail(when + ", something is left when everything was removed");
}

// What the file system says of itself, if it does.
template <class F>
void askFsck(F& files, const std::string& when) {
  int said = fsckOf(files, 0);
  if (said != 0 && said != -ENOSYS) fail(when + ", fsck says: " + errorText(said));
}

// A run of the workload: mkfs, mount, the calls, unmount, and mount once more.
constexpr std::size_t kBeforeCalls = 2;
constexpr std::size_t kAfterCalls = 2;

inline std::string stepText(const std::vector<Call>& calls, std::size_t step) {
  if (step == 0) return "mkfs";
  if (step == 1) return "mount";
  if (step < kBeforeCalls + calls.size()) return textOf(calls[step - kBeforeCalls]);
  return step == kBeforeCalls + calls.size() ? "unmount" : "mount again";
}

template <class F>
int record(const char* image, const std::vector<Call>& calls) {
  auto marked = [](const std::string& text, const auto& action) {
    std::size_t blank = text.find(' ');
    std::string name = text.substr(0, blank);
    std::string rest = blank == std::string::npos ? "" : text.substr(blank + 1);
    const blackout_value argument = blackout_text(rest.c_str());
    runtime::begin(name.c_str(), &argument, rest.empty() ? 0 : 1);
    int result = action();
    const blackout_value given = blackout_int(result);
    runtime::end(&given, 1);
    return result;
  };
  std::unique_ptr<F> files;
  auto mount = [&] {
    files.reset(F::mount(image));
    return files == nullptr ? -EIO : 0;
  };
  if (int error = marked("mkfs", [&] { return F::mkfs(image); }); error != 0) fail("mkfs gives: " + errorText(error));
  if (marked("mount", mount) != 0) fail("a new file system can't be mounted");
  Model model;
  OpenFiles opened;
  for (const Call& call : calls) {
    int result = marked(textOf(call), [&] { return execute(*files, call, opened); });
    if (result == -ENOSYS) {
      std::printf("not supported: %s\n", textOf(call).c_str());
      return 0;
    }
    if (int right = model.apply(call); result != right)
      fail(textOf(call) + " gives " + errorText(result) + ", and should give " + errorText(right));
    if (std::string wrong = wrongIn(*files, opened, model); !wrong.empty())
      fail("without a crash, after " + textOf(call) + ": " + wrong);
  }
  std::string difference = differenceOf(treeOf(*files, "without a crash"), model.tree());
  if (!difference.empty())
    fail("without a crash, after " + stepText(calls, kBeforeCalls + calls.size() - 1) + ": " + difference);
  askFsck(*files, "without a crash");
  // What the workload has left open is closed first.
  int closed = marked("unmount", [&] {
    int result = 0;
    for (const auto& [name, number] : opened)
      if (int error = closeOf(*files, 0, number); error != 0) result = error;
    files->unmount();
    files.reset();
    return result;
  });
  if (closed != 0) fail("close gives: " + errorText(closed));
  if (marked("mount again", mount) != 0) fail("what was unmounted can't be mounted again");
  difference = differenceOf(treeOf(*files, "without a crash"), model.tree());
  if (!difference.empty()) fail("without a crash, mounted again: " + difference);
  return 0;
}

template <class F>
int recover(const char* image, const std::vector<Call>& calls) {
  // Before mkfs has ended no file system is promised, and nobody mounts what is there.
  if (!runtime::ended(0)) return 0;
  // How many steps had ended. Asked for after everything else was read: the same reads are one restart whatever it
  // says.
  auto ended = [&] {
    std::size_t low = 0, high = kBeforeCalls + calls.size() + kAfterCalls;
    while (low < high) {
      std::size_t middle = low + (high - low) / 2;
      if (runtime::ended(middle))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  std::unique_ptr<F> files(F::mount(image));
  if (files == nullptr) fail("it can't be mounted after a crash in or after: " + stepText(calls, ended() - 1));
  Tree tree;
  std::string why;
  bool whole = readTree(*files, "", tree, why);
  std::size_t done = ended();
  std::string when =
      "after a crash in: " + stepText(calls, done < kBeforeCalls + calls.size() + kAfterCalls ? done : done - 1);
  if (!whole) fail(when + ": " + why);
  Model model;
  std::size_t made = done < kBeforeCalls ? 0 : done - kBeforeCalls;
  for (std::size_t i = 0; i < made && i < calls.size(); ++i) model.apply(calls[i]);
  std::string before = differenceOf(tree, model.tree());
  if (done < kBeforeCalls || made >= calls.size()) {
    if (!before.empty()) fail(when + ": " + before);
  } else {
    Model later = model;
    later.apply(calls[made]);
    std::string after = differenceOf(tree, later.tree());
    if (!before.empty() && !after.empty())
      fail(when + ": neither before it (" + before + ") nor after it (" + after + ")");
    // What no mechanism protects must be on the same side. Where the two look the same nobody can tell.
    if (before.empty() != after.empty()) {
      const blackout_value side = blackout_uint(after.empty() ? 1 : 0);
      runtime::begin("recovered", &side, 1);
      const blackout_value none{};
      runtime::end(&none, 0);
    }
  }
  askFsck(*files, when);
  workOn(*files, tree, when);
  askFsck(*files, when + ", everything was removed");
  files->unmount();
  return 0;
}

// The workload of a file (empty: the first of one operation), or what a restart has to do after it.
template <class F>
int runWorkload(const char* image, const std::string& workloadFile) {
  std::vector<Call> calls = workload(1, 0);
  if (!workloadFile.empty()) {
    std::ifstream file(workloadFile);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::string why;
    auto read = callsOf(text, why);
    if (!file || !read) {
      std::fprintf(stderr, "%s: %s\n", workloadFile.c_str(), !file ? "can't be read" : why.c_str());
      return 2;
    }
    calls = *read;
  }
  if (runtime::recovering()) return recover<F>(image, calls);
  int code = record<F>(image, calls);
  // Without Blackout the rest follows at once.
  return code != 0 || runtime::active() ? code : recover<F>(image, calls);
}

template <class F>
int run(int argc, char** argv) {
  std::string workloadFile;
  const char* image = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--workload") == 0 && i + 1 < argc)
      workloadFile = argv[++i];
    else if (image == nullptr && argv[i][0] != '-')
      image = argv[i];
    else
      image = nullptr, i = argc;
  }
  if (image == nullptr) {
    std::fprintf(stderr, "usage: %s IMAGE [--workload FILE]\n", argv[0]);
    return 2;
  }
  return runWorkload<F>(image, workloadFile);
}

}  // namespace blackout::fs

#define BLACKOUT_FS(Files) \
  int main(int argc, char** argv) { return blackout::fs::run<Files>(argc, argv); }
