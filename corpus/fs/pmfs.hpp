// A small file system in persistent memory, in the manner of PMFS: an undo journal for metadata, a list of orphans for
// what is freed in several steps, trees of blocks, directories of one-line entries; file data is written to fresh
// blocks that the journal's transaction links in, so that a write is all or nothing. Which blocks are free is found out
// when it is mounted.
//
// Each BUG is one difference from the correct version:
//   1 the journal's tail is moved before the entry is durable
//   2 a place is changed before its log entry is durable
//   3 the journal is given up before what it protects is durable
//   4 rename: the new name and the old one in two transactions
//   5 link: the name and the count of links in two transactions
//   6 unlink: the directory's entry is cleared without the journal
//   7 truncate: the size is changed before the file is on the list of what is to be cut
//   8 rmdir: the parent's count of links is changed in a transaction of its own
//   9 a write links its blocks in before their bytes are flushed
//  10 a symbolic link's text is never flushed
//  11 a new inode is not part of the transaction that names it
//  12 mkfs: the magic number is durable before the root directory
//  13 recovery undoes the journal in the order in which it was written
//  14 a file that loses its last name while it is open is put on the list of orphans when it is closed only
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "blackout/fs.hpp"
#include "pm.h"

namespace pmfs {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kBlocks = 512;
constexpr std::uint64_t kFanout = kBlock / sizeof(std::uint64_t);
constexpr std::uint64_t kEntries = 250;
constexpr std::uint64_t kInodes = 64;
constexpr std::uint64_t kFirstData = 8;
constexpr std::uint64_t kRoot = 1;
constexpr std::uint64_t kMagic = 0x5346'4d50;

enum : std::uint64_t { kFree = 0, kFile = 1, kDirectory = 2, kLink = 3 };

struct LogEntry {
  std::uint64_t offset;
  std::uint64_t size;
  unsigned char data[48];
};
static_assert(sizeof(LogEntry) == PM_LINE);

struct Journal {
  alignas(PM_LINE) std::uint64_t tail;  // entries that are in force; 0: no transaction is open
  alignas(PM_LINE) LogEntry entries[kEntries];
};

struct Inode {
  alignas(PM_LINE) std::uint64_t kind;
  std::uint64_t size;
  std::uint64_t root;    // block of the tree's root, 0: none
  std::uint64_t height;  // levels of index blocks above the data
  alignas(PM_LINE) std::uint64_t links;
  std::uint64_t nextOrphan;
};

struct Dentry {
  std::uint64_t inode;  // 0: free
  char name[56];
};
static_assert(sizeof(Dentry) == PM_LINE);
constexpr std::uint64_t kDentries = kBlock / sizeof(Dentry);

struct Super {
  alignas(PM_LINE) std::uint64_t magic;
  alignas(PM_LINE) std::uint64_t orphans;  // the first inode of the list
};

struct Image {
  alignas(kBlock) Super super;
  alignas(kBlock) Journal journal;
  alignas(kBlock) Inode inodes[kInodes];
};
static_assert(sizeof(Image) <= kFirstData * kBlock);

class Files {
 public:
  static int mkfs(const char* path) {
    Image* image = map(path);
    std::memset(static_cast<void*>(image), 0, sizeof *image);
    pm_persist(image, sizeof *image);
#if BUG == 12
    image->super.magic = kMagic;
    pm_persist(&image->super.magic, sizeof image->super.magic);
#endif
    Inode& root = image->inodes[kRoot];
    root.kind = kDirectory;
    root.links = 2;
    pm_persist(&root, sizeof root);
#if BUG != 12
    image->super.magic = kMagic;
    pm_persist(&image->super.magic, sizeof image->super.magic);
#endif
    return 0;
  }

  static Files* mount(const char* path) {
    auto* files = new Files(map(path));
    if (files->image_->super.magic != kMagic) {
      delete files;
      return nullptr;
    }
    files->undo();
    files->findUsed();
    files->freeOrphans();
    return files;
  }

  void unmount() { munmap(image_, kBlocks * kBlock); }

  int creat(const char* path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode != 0) {
      std::uint64_t kind = inode(place.inode).kind;
      return kind == kDirectory ? -EISDIR : kind == kLink ? -ELOOP : 0;
    }
    return make(place, kFile, 1, nullptr);
  }

  int mkdir(const char* path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode != 0) return -EEXIST;
    return make(place, kDirectory, 2, nullptr);
  }

  int symlink(const char* says, const char* path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode != 0) return -EEXIST;
    if (std::strlen(says) >= kBlock) return -ENAMETOOLONG;
    return make(place, kLink, 1, says);
  }

  int write(const char* path, std::uint64_t offset, const void* data, std::size_t size) {
    std::uint64_t number = 0;
    if (int error = fileAt(path, number); error != 0) return error;
    return put(number, offset, static_cast<const char*>(data), size);
  }

  int append(const char* path, const void* data, std::size_t size) {
    std::uint64_t number = 0;
    if (int error = fileAt(path, number); error != 0) return error;
    return put(number, inode(number).size, static_cast<const char*>(data), size);
  }

  // Bytes that were never written are 0 and need no block.
  int fallocate(const char* path, std::uint64_t offset, std::uint64_t size) {
    std::uint64_t number = 0;
    if (int error = fileAt(path, number); error != 0) return error;
    if (inode(number).size >= offset + size) return 0;
    set(inode(number).size, offset + size);
    return commit();
  }

  int truncate(const char* path, std::uint64_t size) {
    std::uint64_t number = 0;
    if (int error = fileAt(path, number); error != 0) return error;
    Inode& file = inode(number);
    if (size >= file.size) {
      if (size > file.size) set(file.size, size);
      return commit();
    }
    set(file.size, size);
#if BUG == 7
    commit();
#endif
    addOrphan(number);
    commit();
    freeOrphans();
    return 0;
  }

  int link(const char* path, const char* to) {
    Place old = find(path);
    if (old.error != 0) return old.error;
    if (old.inode == 0) return -ENOENT;
    Place fresh = find(to);
    if (fresh.error != 0) return fresh.error;
    if (fresh.inode != 0) return -EEXIST;
    if (inode(old.inode).kind == kDirectory) return -EPERM;
    if (int error = addName(fresh, old.inode); error != 0) return error;
#if BUG == 5
    commit();
#endif
    set(inode(old.inode).links, inode(old.inode).links + 1);
    return commit();
  }

  int unlink(const char* path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    if (inode(place.inode).kind == kDirectory) return -EISDIR;
#if BUG == 6
    place.entry->inode = 0;
    pm_persist(place.entry, sizeof *place.entry);
#else
    set(place.entry->inode, 0);
#endif
    dropLink(place.inode);
    commit();
    freeOrphans();
    return 0;
  }

  int rmdir(const char* path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    if (inode(place.inode).kind != kDirectory) return -ENOTDIR;
    if (!isEmpty(place.inode)) return -ENOTEMPTY;
    set(place.entry->inode, 0);
#if BUG == 8
    commit();
#endif
    removeDirectory(place.inode, place.parent);
    commit();
    freeOrphans();
    return 0;
  }

  int rename(const char* path, const char* to) {
    Place old = find(path);
    if (old.error != 0) return old.error;
    Place fresh = find(to);
    if (fresh.error != 0) return fresh.error;
    if (old.inode == 0) return -ENOENT;
    bool directory = inode(old.inode).kind == kDirectory;
    if (directory && fresh.isBelow(old.inode)) return -EINVAL;
    if (fresh.inode != 0 && old.isBelow(fresh.inode)) return -ENOTEMPTY;
    if (fresh.inode == old.inode) return 0;
    if (fresh.inode != 0) {
      bool there = inode(fresh.inode).kind == kDirectory;
      if (directory && !there) return -ENOTDIR;
      if (!directory && there) return -EISDIR;
      if (there && !isEmpty(fresh.inode)) return -ENOTEMPTY;
      set(fresh.entry->inode, old.inode);
      if (there)
        removeDirectory(fresh.inode, fresh.parent);
      else
        dropLink(fresh.inode);
    } else if (int error = addName(fresh, old.inode); error != 0) {
      return error;
    }
#if BUG == 4
    commit();
#endif
    set(old.entry->inode, 0);
    if (directory && old.parent != fresh.parent) {
      set(inode(old.parent).links, inode(old.parent).links - 1);
      set(inode(fresh.parent).links, inode(fresh.parent).links + 1);
    }
    commit();
    freeOrphans();
    return 0;
  }

  template <class Visit>
  int list(const char* path, Visit visit) {
    std::uint64_t number = kRoot;
    if (*path != '\0') {
      Place place = find(path);
      if (place.error != 0) return place.error;
      if (place.inode == 0) return -ENOENT;
      number = place.inode;
    }
    if (inode(number).kind != kDirectory) return -ENOTDIR;
    eachEntry(number, [&](Dentry& entry) {
      if (entry.inode != 0) visit(entry.name);
      return false;
    });
    return 0;
  }

  int stat(const char* path, blackout::fs::Status& status) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    const Inode& file = inode(place.inode);
    using blackout::fs::Kind;
    if (file.kind == kFree || file.kind > kLink) return -EIO;
    status = {file.kind == kFile        ? Kind::File
              : file.kind == kDirectory ? Kind::Directory
                                        : Kind::Link,
              place.inode, file.links, file.size};
    return 0;
  }

  int read(const char* path, std::uint64_t offset, void* data, std::size_t size) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    get(place.inode, offset, static_cast<char*>(data), size);
    return 0;
  }

  int readlink(const char* path, std::string& says) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    if (inode(place.inode).kind != kLink || inode(place.inode).size >= kBlock) return -EINVAL;
    says.resize(inode(place.inode).size);
    get(place.inode, 0, says.data(), says.size());
    return 0;
  }

  // The number of an open file is that of its inode.
  int open(const char* path) {
    std::uint64_t number = 0;
    if (int error = fileAt(path, number); error != 0) return error;
    ++opened_[number];
    return static_cast<int>(number);
  }

  int pwrite(int file, std::uint64_t offset, const void* data, std::size_t size) {
    auto number = static_cast<std::uint64_t>(file);
    return isOpen(number) ? put(number, offset, static_cast<const char*>(data), size) : -EBADF;
  }

  int pread(int file, std::uint64_t offset, void* data, std::size_t size) {
    auto number = static_cast<std::uint64_t>(file);
    if (!isOpen(number)) return -EBADF;
    get(number, offset, static_cast<char*>(data), size);
    return 0;
  }

  int close(int file) {
    auto number = static_cast<std::uint64_t>(file);
    if (!isOpen(number)) return -EBADF;
    --opened_[number];
#if BUG == 14
    if (!isOpen(number) && inode(number).links == 0) {
      addOrphan(number);
      commit();
    }
#endif
    freeOrphans();
    return 0;
  }

  // Each inode that is in use has as many names as it says, or it has none and is on the list of orphans, until the
  // last one who has it open closes it.
  int fsck() {
    std::vector<std::uint64_t> names(kInodes, 0);
    std::vector<std::uint64_t> waiting{kRoot};
    bool damaged = false;
    while (!waiting.empty() && !damaged) {
      std::uint64_t directory = waiting.back();
      waiting.pop_back();
      eachEntry(directory, [&](Dentry& entry) {
        if (entry.inode >= kInodes) return damaged = true;
        if (entry.inode != 0 && ++names[entry.inode] == 1 && inode(entry.inode).kind == kDirectory)
          waiting.push_back(entry.inode);
        return false;
      });
    }
    for (std::uint64_t i = kRoot + 1; i < kInodes && !damaged; ++i) {
      if (inode(i).kind == kFree) continue;
      damaged = inode(i).kind == kDirectory ? names[i] != 1 : names[i] != inode(i).links;
      damaged |= names[i] == 0 && !isOpen(i);
    }
    return damaged ? -EUCLEAN : 0;
  }

 private:
  // Where a path leads: the directory, its entry there, and what that names (0: nothing).
  struct Place {
    int error = 0;
    std::uint64_t parent = kRoot;
    std::string name;
    Dentry* entry = nullptr;
    std::uint64_t inode = 0;
    std::vector<std::uint64_t> above;  // all directories on the way
    bool isBelow(std::uint64_t directory) const {
      for (std::uint64_t d : above)
        if (d == directory) return true;
      return false;
    }
  };

  explicit Files(Image* image) : image_(image) {}

  static Image* map(const char* path) { return static_cast<Image*>(pm_map(path, kBlocks * kBlock)); }

  char* block(std::uint64_t n) { return reinterpret_cast<char*>(image_) + n * kBlock; }
  Inode& inode(std::uint64_t n) { return image_->inodes[n]; }

  // --- the journal

  void log(void* place, std::size_t size) {
    Journal& journal = image_->journal;
    if (journal.tail == kEntries) pm_die("the journal is full");
    LogEntry& entry = journal.entries[journal.tail];
    entry.offset = static_cast<std::uint64_t>(static_cast<char*>(place) - reinterpret_cast<char*>(image_));
    entry.size = size;
    std::memcpy(entry.data, place, size);
#if BUG == 1
    pm_flush(&entry, sizeof entry);
#else
    pm_persist(&entry, sizeof entry);
#endif
    PM_PUBLISH(journal.tail, journal.tail + 1);
    pm_persist(&journal.tail, sizeof journal.tail);
    changed_.push_back({place, size});
  }

  void set(std::uint64_t& place, std::uint64_t value) {
#if BUG == 2
    std::uint64_t old = place;
    place = value;
    pm_flush(&place, sizeof place);
    std::uint64_t now = place;
    place = old;
    log(&place, sizeof place);
    place = now;
#else
    log(&place, sizeof place);
    place = value;
#endif
  }

  // To be durable when the transaction is: what needs no entry, because nothing leads to it yet.
  void fresh(const void* place, std::size_t size) { changed_.push_back({place, size}); }

  int commit() {
    if (image_->journal.tail == 0 && changed_.empty()) return 0;
#if BUG != 3
    for (const Range& r : changed_) pm_flush(r.place, r.size);
    pm_fence();
#endif
    endJournal();
#if BUG == 3
    for (const Range& r : changed_) pm_flush(r.place, r.size);
    pm_fence();
#endif
    changed_.clear();
    for (std::uint64_t b : freed_) used_[b] = false;
    freed_.clear();
    return 0;
  }

  void endJournal() {
    PM_PUBLISH(image_->journal.tail, std::uint64_t{0});
    pm_persist(&image_->journal.tail, sizeof image_->journal.tail);
  }

  // What an interrupted transaction changed is as it was before.
  void undo() {
    Journal& journal = image_->journal;
    if (journal.tail == 0) return;
    if (journal.tail > kEntries) pm_die("the journal's tail is damaged");
    auto back = [&](const LogEntry& entry) {
      if (entry.offset >= kBlocks * kBlock || entry.size > sizeof entry.data) pm_die("a journal entry is damaged");
      char* place = reinterpret_cast<char*>(image_) + entry.offset;
      std::memcpy(place, entry.data, entry.size);
      pm_flush(place, entry.size);
    };
#if BUG == 13
    for (std::uint64_t i = 0; i < journal.tail; ++i) back(journal.entries[i]);
#else
    for (std::uint64_t i = journal.tail; i-- > 0;) back(journal.entries[i]);
#endif
    pm_fence();
    endJournal();
  }

  int abort(int error) {
    undo();
    changed_.clear();
    freed_.clear();
    findUsed();
    return error;
  }

  // --- blocks

  std::uint64_t take() {
    for (std::uint64_t b = kFirstData; b < kBlocks; ++b)
      if (!used_[b]) {
        used_[b] = true;
        return b;
      }
    return 0;
  }

  void findUsed() {
    used_.assign(kBlocks, false);
    for (std::uint64_t i = 1; i < kInodes; ++i)
      if (inode(i).kind != kFree && inode(i).root != 0) markUsed(inode(i).root, inode(i).height);
  }
  void markUsed(std::uint64_t b, std::uint64_t height) {
    if (b < kFirstData || b >= kBlocks) pm_die("a block number is damaged");
    used_[b] = true;
    if (height == 0) return;
    const auto* index = reinterpret_cast<std::uint64_t*>(block(b));
    for (std::uint64_t i = 0; i < kFanout; ++i)
      if (index[i] != 0) markUsed(index[i], height - 1);
  }

  static std::uint64_t reach(std::uint64_t height) {
    std::uint64_t blocks = 1;
    while (height-- > 0) blocks *= kFanout;
    return blocks;
  }

  // The place of the number of a file's n-th block; null: there is none. With `make` the way to it is made, and is part
  // of the transaction.
  std::uint64_t* slot(Inode& file, std::uint64_t n, bool make) {
    if (file.root == 0 && !make) return nullptr;
    while (n >= reach(file.height)) {
      if (!make) return nullptr;
      if (file.root != 0) {
        std::uint64_t index = take();
        if (index == 0) return nullptr;
        std::memset(block(index), 0, kBlock);
        reinterpret_cast<std::uint64_t*>(block(index))[0] = file.root;
        fresh(block(index), kBlock);
        set(file.root, index);
      }
      set(file.height, file.height + 1);
    }
    std::uint64_t* at = &file.root;
    for (std::uint64_t height = file.height; height > 0; --height) {
      if (*at == 0) {
        if (!make) return nullptr;
        std::uint64_t index = take();
        if (index == 0) return nullptr;
        std::memset(block(index), 0, kBlock);
        fresh(block(index), kBlock);
        set(*at, index);
      }
      at = reinterpret_cast<std::uint64_t*>(block(*at)) + n / reach(height - 1) % kFanout;
    }
    return at;
  }

  int put(std::uint64_t number, std::uint64_t offset, const char* data, std::size_t size) {
    Inode& file = inode(number);
    for (std::size_t done = 0; done < size;) {
      std::uint64_t at = offset + done;
      std::uint64_t inside = at % kBlock;
      std::size_t part = std::min<std::size_t>(size - done, kBlock - inside);
      std::uint64_t* where = slot(file, at / kBlock, true);
      std::uint64_t written = where == nullptr ? 0 : take();
      if (written == 0) return abort(-ENOSPC);
      if (*where != 0)
        std::memcpy(block(written), block(*where), kBlock);
      else
        std::memset(block(written), 0, kBlock);
      std::memcpy(block(written) + inside, data + done, part);
#if BUG == 9
      late_.push_back({block(written), kBlock});
#else
      fresh(block(written), kBlock);
#endif
      if (*where != 0) freed_.push_back(*where);
      set(*where, written);
      done += part;
    }
    if (offset + size > file.size) set(file.size, offset + size);
    commit();
#if BUG == 9
    for (const Range& r : late_) pm_flush(r.place, r.size);
    pm_fence();
    late_.clear();
#endif
    return 0;
  }

  void get(std::uint64_t number, std::uint64_t offset, char* data, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      std::uint64_t at = offset + done;
      std::size_t part = std::min<std::size_t>(size - done, kBlock - at % kBlock);
      std::uint64_t* where = slot(inode(number), at / kBlock, false);
      if (where == nullptr || *where == 0)
        std::memset(data + done, 0, part);
      else
        std::memcpy(data + done, block(*where) + at % kBlock, part);
      done += part;
    }
  }

  // --- names

  // Calls visit for every entry of a directory until it returns true; that one, or null.
  template <class Visit>
  Dentry* eachEntry(std::uint64_t directory, Visit visit) {
    Inode& d = inode(directory);
    for (std::uint64_t n = 0; n < d.size / kBlock; ++n) {
      std::uint64_t* where = slot(d, n, false);
      if (where == nullptr || *where == 0) continue;
      auto* entries = reinterpret_cast<Dentry*>(block(*where));
      for (std::uint64_t i = 0; i < kDentries; ++i)
        if (visit(entries[i])) return &entries[i];
    }
    return nullptr;
  }

  bool isEmpty(std::uint64_t directory) {
    return eachEntry(directory, [](const Dentry& entry) { return entry.inode != 0; }) == nullptr;
  }

  Place find(const std::string& path) {
    Place place;
    std::size_t begin = 0;
    for (;;) {
      place.above.push_back(place.parent);
      std::size_t end = path.find('/', begin);
      place.name = path.substr(begin, end == std::string::npos ? end : end - begin);
      if (place.name.size() >= sizeof(Dentry::name)) {
        place.error = -ENAMETOOLONG;
        return place;
      }
      place.entry = eachEntry(place.parent, [&](const Dentry& entry) {
        return entry.inode != 0 && std::strncmp(entry.name, place.name.c_str(), sizeof entry.name) == 0;
      });
      place.inode = place.entry == nullptr ? 0 : place.entry->inode;
      if (place.inode >= kInodes) pm_die("a directory's entry is damaged");
      if (end == std::string::npos) return place;
      if (place.inode == 0 || inode(place.inode).kind != kDirectory) {
        place.error = place.inode == 0 ? -ENOENT : -ENOTDIR;
        return place;
      }
      place.parent = place.inode;
      begin = end + 1;
    }
  }

  // The file whose content is to be changed.
  int fileAt(const char* path, std::uint64_t& number) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.inode == 0) return -ENOENT;
    number = place.inode;
    std::uint64_t kind = inode(number).kind;
    return kind == kDirectory ? -EISDIR : kind == kLink ? -ELOOP : 0;
  }

  // Part of the open transaction. The name is written where nobody looks until the inode's number is there.
  int addName(const Place& place, std::uint64_t number) {
    Inode& directory = inode(place.parent);
    Dentry* entry = eachEntry(place.parent, [](const Dentry& e) { return e.inode == 0; });
    if (entry == nullptr) {
      std::uint64_t* where = slot(directory, directory.size / kBlock, true);
      std::uint64_t added = where == nullptr ? 0 : take();
      if (added == 0) return abort(-ENOSPC);
      std::memset(block(added), 0, kBlock);
      fresh(block(added), kBlock);
      set(*where, added);
      set(directory.size, directory.size + kBlock);
      entry = reinterpret_cast<Dentry*>(block(added));
    }
    std::memset(entry->name, 0, sizeof entry->name);
    std::memcpy(entry->name, place.name.data(), place.name.size());
    fresh(entry, sizeof *entry);
    set(entry->inode, number);
    return 0;
  }

  int make(const Place& place, std::uint64_t kind, std::uint64_t links, const char* says) {
    std::uint64_t number = kRoot + 1;
    while (number < kInodes && inode(number).kind != kFree) ++number;
    if (number == kInodes) return -ENOSPC;
    Inode& made = inode(number);
#if BUG == 11
    made.kind = kind;
    made.size = made.root = made.height = made.nextOrphan = 0;
    made.links = links;
#else
    set(made.kind, kind);
    set(made.size, 0);
    set(made.root, 0);
    set(made.height, 0);
    set(made.links, links);
    set(made.nextOrphan, 0);
#endif
    if (says != nullptr) {
      std::uint64_t text = take();
      if (text == 0) return abort(-ENOSPC);
      std::size_t size = std::strlen(says);
      std::memset(block(text), 0, kBlock);
      std::memcpy(block(text), says, size);
#if BUG != 10
      fresh(block(text), kBlock);
#endif
      set(made.root, text);
      set(made.size, size);
    }
    if (kind == kDirectory) set(inode(place.parent).links, inode(place.parent).links + 1);
    if (int error = addName(place, number); error != 0) return error;
    return commit();
  }

  // --- what is freed in several steps

  void addOrphan(std::uint64_t number) {
    set(inode(number).nextOrphan, image_->super.orphans);
    set(image_->super.orphans, number);
  }

  void dropLink(std::uint64_t number) {
    set(inode(number).links, inode(number).links - 1);
#if BUG == 14
    if (isOpen(number)) return;
#endif
    if (inode(number).links == 0) addOrphan(number);
  }

  void removeDirectory(std::uint64_t number, std::uint64_t parent) {
    set(inode(number).links, 0);
    set(inode(parent).links, inode(parent).links - 1);
    addOrphan(number);
  }

  bool isOpen(std::uint64_t number) const { return number < kInodes && opened_[number] != 0; }

  // Blocks behind the end of each orphan are given back, and it with them if it has no name any more; what is still
  // open waits. Each step is a transaction, so that a crash leaves the rest for the next time.
  void freeOrphans() {
    for (std::uint64_t* from = &image_->super.orphans; *from != 0;) {
      std::uint64_t number = *from;
      if (number >= kInodes) pm_die("the list of orphans is damaged");
      Inode& file = inode(number);
      if (file.links == 0 && isOpen(number)) {
        from = &file.nextOrphan;
        continue;
      }
      std::uint64_t size = file.links == 0 ? 0 : file.size;
      cut(file, size);
      if (file.links == 0) set(file.kind, kFree);
      set(*from, file.nextOrphan);
      commit();
    }
  }

  void freeTree(std::uint64_t b, std::uint64_t height) {
    freed_.push_back(b);
    if (height == 0) return;
    const auto* index = reinterpret_cast<std::uint64_t*>(block(b));
    for (std::uint64_t i = 0; i < kFanout; ++i)
      if (index[i] != 0) freeTree(index[i], height - 1);
  }

  void cut(Inode& file, std::uint64_t size) {
    if (size == 0) {
      if (file.root == 0) return;
      freeTree(file.root, file.height);
      set(file.root, 0);
      set(file.height, 0);
      return;
    }
    std::uint64_t keep = (size + kBlock - 1) / kBlock;
    for (std::uint64_t n = reach(file.height); file.root != 0 && n-- > keep;) {
      std::uint64_t* where = slot(file, n, false);
      if (where == nullptr || *where == 0) continue;
      freed_.push_back(*where);
      set(*where, 0);
      if (image_->journal.tail > kEntries / 2) commit();
    }
    // What is behind the end must be 0 when the file grows again.
    std::uint64_t* last = size % kBlock == 0 ? nullptr : slot(file, keep - 1, false);
    if (last == nullptr || *last == 0) return;
    std::uint64_t written = take();
    if (written == 0) pm_die("no block is left to cut a file");
    std::memcpy(block(written), block(*last), size % kBlock);
    std::memset(block(written) + size % kBlock, 0, kBlock - size % kBlock);
    fresh(block(written), kBlock);
    freed_.push_back(*last);
    set(*last, written);
  }

  struct Range {
    const void* place;
    std::size_t size;
  };
  Image* image_;
  std::vector<Range> changed_;
#if BUG == 9
  std::vector<Range> late_;
#endif
  std::vector<std::uint64_t> opened_ = std::vector<std::uint64_t>(kInodes, 0);  // how often, by inode
  std::vector<bool> used_;
  std::vector<std::uint64_t> freed_;  // when the transaction ends
};

}  // namespace pmfs
