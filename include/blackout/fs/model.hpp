// A file system in a few maps: what every other one must look like after the same operations. Links are not followed
// (O_NOFOLLOW: an operation on the content of one gives ELOOP); owners, modes and times are none of its business.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "blackout/fs/calls.hpp"

namespace blackout::fs {

enum class Kind { File, Directory, Link };

// What `stat` and the content of one file tell; `size` and `content` of a directory are nothing.
struct Entry {
  Kind kind = Kind::File;
  std::uint64_t inode = 0;
  std::uint64_t links = 1;
  std::string content;  // of a link: what it says
};

// Every path of a file system but its root, and what is there.
using Tree = std::map<std::string, Entry>;

class Model {
 public:
  Model() { nodes_[kRoot] = Node{Kind::Directory, {}, {}, 2}; }

  // 0, or an errno as a negative number: as the system's calls would, in their order of looking.
  int apply(const Call& call) {
    switch (call.operation) {
      case Operation::Creat:
        return creat(call.path);
      case Operation::Mkdir:
        return make(call.path, Node{Kind::Directory, {}, {}, 2});
      case Operation::Symlink:
        return make(call.to, Node{Kind::Link, call.path, {}, 1});
      case Operation::Write:
        return write(call.path, call.offset, call.size, call.fill);
      case Operation::Append:
        return append(call.path, call.size, call.fill);
      case Operation::Fallocate:
        return fallocate(call.path, call.offset + call.size);
      case Operation::Truncate:
        return truncate(call.path, call.size);
      case Operation::Link:
        return link(call.path, call.to);
      case Operation::Unlink:
        return unlink(call.path);
      case Operation::Rmdir:
        return rmdir(call.path);
      case Operation::Remove: {
        Place place = find(call.path);
        bool directory = place.error == 0 && place.node != 0 && nodes_[place.node].kind == Kind::Directory;
        return directory ? rmdir(call.path) : unlink(call.path);
      }
      case Operation::Rename:
        return rename(call.path, call.to);
      case Operation::Open:
        return openFile(call.path, call.to);
      case Operation::Pwrite:
        return pwrite(call.path, call.offset, call.size, call.fill);
      case Operation::Close:
        return close(call.path);
    }
    return -EINVAL;
  }

  // What each open file has in it, by what it is called.
  std::map<std::string, std::string> opened() const {
    std::map<std::string, std::string> all;
    for (const auto& [name, node] : opened_) all[name] = nodes_.at(node).content;
    return all;
  }

  Tree tree() const {
    Tree all;
    list(kRoot, "", all);
    return all;
  }

 private:
  struct Node {
    Kind kind = Kind::File;
    std::string content;
    std::map<std::string, std::uint64_t> entries;
    std::uint64_t links = 1;
  };
  static constexpr std::uint64_t kRoot = 1;

  // Where a path leads: the directory that it lies in, its last name, and what is there (0: nothing).
  struct Place {
    int error = 0;
    std::uint64_t parent = 0;
    std::string name;
    std::uint64_t node = 0;
    std::set<std::uint64_t> above;  // the directories that it goes through, its parent among them
  };

  Place find(const std::string& path) const {
    Place place;
    place.parent = kRoot;
    std::size_t begin = 0;
    for (;;) {
      place.above.insert(place.parent);
      std::size_t end = path.find('/', begin);
      place.name = path.substr(begin, end == std::string::npos ? end : end - begin);
      const Node& directory = nodes_.at(place.parent);
      auto entry = directory.entries.find(place.name);
      place.node = entry == directory.entries.end() ? 0 : entry->second;
      if (end == std::string::npos) return place;
      if (place.node == 0 || nodes_.at(place.node).kind != Kind::Directory) {
        place.error = place.node == 0 ? -ENOENT : -ENOTDIR;
        return place;
      }
      place.parent = place.node;
      begin = end + 1;
    }
  }

  int make(const std::string& path, Node node) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.node != 0) return -EEXIST;
    if (node.kind == Kind::Directory) ++nodes_[place.parent].links;
    nodes_[next_] = std::move(node);
    nodes_[place.parent].entries[place.name] = next_++;
    return 0;
  }

  // The file whose content is to be changed, or an error.
  int open(const std::string& path, Node*& node) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.node == 0) return -ENOENT;
    node = &nodes_[place.node];
    return node->kind == Kind::Directory ? -EISDIR : node->kind == Kind::Link ? -ELOOP : 0;
  }

  int creat(const std::string& path) {
    Node* node = nullptr;
    int error = open(path, node);
    if (error != -ENOENT) return error;
    return make(path, Node{});
  }
  int write(const std::string& path, std::uint64_t offset, std::uint64_t size, char fill) {
    Node* node = nullptr;
    if (int error = open(path, node); error != 0) return error;
    fillIn(*node, offset, size, fill);
    return 0;
  }
  static void fillIn(Node& node, std::uint64_t offset, std::uint64_t size, char fill) {
    if (node.content.size() < offset + size) node.content.resize(offset + size, '\0');
    std::fill_n(node.content.begin() + static_cast<std::ptrdiff_t>(offset), size, fill);
  }
  int append(const std::string& path, std::uint64_t size, char fill) {
    Node* node = nullptr;
    if (int error = open(path, node); error != 0) return error;
    node->content.append(size, fill);
    return 0;
  }
  int fallocate(const std::string& path, std::uint64_t end) {
    Node* node = nullptr;
    if (int error = open(path, node); error != 0) return error;
    if (node->content.size() < end) node->content.resize(end, '\0');
    return 0;
  }
  int truncate(const std::string& path, std::uint64_t size) {
    Node* node = nullptr;
    if (int error = open(path, node); error != 0) return error;
    node->content.resize(size, '\0');
    return 0;
  }

  int link(const std::string& from, const std::string& to) {
    Place old = find(from);
    if (old.error != 0) return old.error;
    if (old.node == 0) return -ENOENT;
    Place fresh = find(to);
    if (fresh.error != 0) return fresh.error;
    if (fresh.node != 0) return -EEXIST;
    if (nodes_[old.node].kind == Kind::Directory) return -EPERM;
    ++nodes_[old.node].links;
    nodes_[fresh.parent].entries[fresh.name] = old.node;
    return 0;
  }

  bool isOpen(std::uint64_t node) const {
    return std::any_of(opened_.begin(), opened_.end(), [&](const auto& open) { return open.second == node; });
  }

  // A file without a name is there until nobody has it open any more.
  void drop(std::uint64_t node) {
    Node& n = nodes_[node];
    if (n.kind == Kind::Directory || (--n.links == 0 && !isOpen(node))) nodes_.erase(node);
  }

  int openFile(const std::string& path, const std::string& name) {
    if (opened_.count(name) != 0) return -EBUSY;
    Node* node = nullptr;
    if (int error = open(path, node); error != 0) return error;
    opened_[name] = find(path).node;
    return 0;
  }
  int pwrite(const std::string& name, std::uint64_t offset, std::uint64_t size, char fill) {
    auto open = opened_.find(name);
    if (open == opened_.end()) return -EBADF;
    fillIn(nodes_[open->second], offset, size, fill);
    return 0;
  }
  int close(const std::string& name) {
    auto open = opened_.find(name);
    if (open == opened_.end()) return -EBADF;
    std::uint64_t node = open->second;
    opened_.erase(open);
    if (nodes_[node].links == 0 && !isOpen(node)) nodes_.erase(node);
    return 0;
  }

  int unlink(const std::string& path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.node == 0) return -ENOENT;
    if (nodes_[place.node].kind == Kind::Directory) return -EISDIR;
    nodes_[place.parent].entries.erase(place.name);
    drop(place.node);
    return 0;
  }
  int rmdir(const std::string& path) {
    Place place = find(path);
    if (place.error != 0) return place.error;
    if (place.node == 0) return -ENOENT;
    if (nodes_[place.node].kind != Kind::Directory) return -ENOTDIR;
    if (!nodes_[place.node].entries.empty()) return -ENOTEMPTY;
    nodes_[place.parent].entries.erase(place.name);
    --nodes_[place.parent].links;
    drop(place.node);
    return 0;
  }

  int rename(const std::string& from, const std::string& to) {
    Place old = find(from);
    if (old.error != 0) return old.error;
    Place fresh = find(to);
    if (fresh.error != 0) return fresh.error;
    if (old.node == 0) return -ENOENT;
    bool directory = nodes_[old.node].kind == Kind::Directory;
    if (directory && fresh.above.count(old.node) != 0) return -EINVAL;  // into itself
    if (fresh.node != 0 && old.above.count(fresh.node) != 0) return -ENOTEMPTY;
    if (fresh.node == old.node) return 0;
    if (fresh.node != 0) {
      const Node& there = nodes_[fresh.node];
      if (directory && there.kind != Kind::Directory) return -ENOTDIR;
      if (!directory && there.kind == Kind::Directory) return -EISDIR;
      if (directory && !there.entries.empty()) return -ENOTEMPTY;
      if (directory) --nodes_[fresh.parent].links;
      drop(fresh.node);
    }
    nodes_[old.parent].entries.erase(old.name);
    nodes_[fresh.parent].entries[fresh.name] = old.node;
    if (directory) {
      --nodes_[old.parent].links;
      ++nodes_[fresh.parent].links;
    }
    return 0;
  }

  void list(std::uint64_t directory, const std::string& prefix, Tree& all) const {
    for (const auto& [name, number] : nodes_.at(directory).entries) {
      const Node& node = nodes_.at(number);
      std::string path = prefix + name;
      all[path] = Entry{node.kind, number, node.links, node.content};
      if (node.kind == Kind::Directory) list(number, path + '/', all);
    }
  }

  std::map<std::uint64_t, Node> nodes_;
  std::map<std::string, std::uint64_t> opened_;
  std::uint64_t next_ = kRoot + 1;
};

// The first difference between two trees, in words; empty: they are alike. Numbers of inodes may be any, as long as two
// paths have the same one in both trees or in neither.
inline std::string differenceOf(const Tree& found, const Tree& wanted) {
  auto kindText = [](Kind kind) {
    return kind == Kind::File ? "a file" : kind == Kind::Directory ? "a directory" : "a symbolic link";
  };
  for (const auto& [path, entry] : wanted)
    if (found.count(path) == 0) return "there is no " + path;
  std::map<std::uint64_t, std::uint64_t> number;  // of an inode in the one tree: in the other
  for (const auto& [path, entry] : found) {
    auto there = wanted.find(path);
    if (there == wanted.end()) return path + " is there";
    const Entry& right = there->second;
    if (entry.kind != right.kind) return path + " is " + kindText(entry.kind);
    if (entry.links != right.links)
      return path + " has " + std::to_string(entry.links) + " links instead of " + std::to_string(right.links);
    if (entry.content.size() != right.content.size())
      return path + " has " + std::to_string(entry.content.size()) + " bytes instead of " +
             std::to_string(right.content.size());
    auto differs = std::mismatch(entry.content.begin(), entry.content.end(), right.content.begin());
    if (differs.first != entry.content.end())
      return path + " has other bytes from offset " + std::to_string(differs.first - entry.content.begin()) + " on";
    auto [known, fresh] = number.emplace(entry.inode, right.inode);
    if (!fresh && known->second != right.inode)
      return path + " has the inode number " + std::to_string(entry.inode) + " of another file";
  }
  std::set<std::uint64_t> numbers;
  for (const auto& [mine, theirs] : number)
    if (!numbers.insert(theirs).second) return "two names of one file have different inode numbers";
  return "";
}

}  // namespace blackout::fs
