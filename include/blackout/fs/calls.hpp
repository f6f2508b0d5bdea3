// Operations on a file system as values: what a workload consists of, a harness executes and the model follows. As text
// each is a line: a name, paths and numbers.
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace blackout::fs {

enum class Operation {
  Creat,
  Mkdir,
  Write,
  Append,
  Fallocate,
  Symlink,
  Link,
  Unlink,
  Remove,
  Rename,
  Truncate,
  Rmdir,
  Open,
  Pwrite,
  Close,
};

// What an operation takes beside its path: a second path, and numbers.
struct OperationForm {
  Operation operation;
  const char* name;
  bool to;      // a second path: the new name; of a symbolic link what it says; of an open file what it is called then
  int numbers;  // write, pwrite, fallocate: offset, size; append, truncate: size
};

inline const std::vector<OperationForm>& operationForms() {
  static const std::vector<OperationForm> forms{
      {Operation::Creat, "creat", false, 0},
      {Operation::Mkdir, "mkdir", false, 0},
      {Operation::Write, "write", false, 2},
      {Operation::Append, "append", false, 1},
      {Operation::Fallocate, "fallocate", false, 2},
      {Operation::Symlink, "symlink", true, 0},
      {Operation::Link, "link", true, 0},
      {Operation::Unlink, "unlink", false, 0},
      {Operation::Remove, "remove", false, 0},
      {Operation::Rename, "rename", true, 0},
      {Operation::Truncate, "truncate", false, 1},
      {Operation::Rmdir, "rmdir", false, 0},
      {Operation::Open, "open", true, 0},
      {Operation::Pwrite, "pwrite", false, 2},
      {Operation::Close, "close", false, 0},
  };
  return forms;
}

inline const OperationForm& formOf(Operation operation) {
  return operationForms()[static_cast<std::size_t>(operation)];
}

struct Call {
  Operation operation = Operation::Creat;
  std::string path;          // pwrite, close: what the open file is called
  std::string to;            // link, rename: the new name; symlink: the name of the link, `path` is what it says;
                             // open: what the open file is called by the calls that follow, any word
  std::uint64_t offset = 0;  // write, pwrite, fallocate
  std::uint64_t size = 0;    // write, pwrite, append, fallocate, truncate
  char fill = 'a';           // the bytes that are written: given by the call's place in its workload

  friend bool operator==(const Call& a, const Call& b) {
    return a.operation == b.operation && a.path == b.path && a.to == b.to && a.offset == b.offset && a.size == b.size;
  }
};

inline std::string textOf(const Call& call) {
  const OperationForm& form = formOf(call.operation);
  std::string text = std::string(form.name) + ' ' + call.path;
  if (form.to) text += ' ' + call.to;
  if (form.numbers == 2) text += ' ' + std::to_string(call.offset);
  if (form.numbers != 0) text += ' ' + std::to_string(call.size);
  return text;
}

// No larger file comes of a workload: one that is read from a file is somebody's.
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 24;
constexpr std::size_t kMaxCalls = 10000;

// None: the line is no operation, and `why` says in a sentence what is wrong with it.
inline std::optional<Call> callOf(const std::string& line, std::string& why) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  for (const OperationForm& form : operationForms()) {
    if (name != form.name) continue;
    Call call;
    call.operation = form.operation;
    words >> call.path;
    if (form.to) words >> call.to;
    auto number = [&](std::uint64_t& n) {
      std::string word;
      words >> word;
      if (word.empty() || word.size() > 8 || word.find_first_not_of("0123456789") != std::string::npos) return false;
      n = std::stoull(word);
      return n <= kMaxFile;
    };
    bool good = !call.path.empty() && (!form.to || !call.to.empty());
    if (form.numbers == 2) good = good && number(call.offset);
    if (form.numbers != 0) good = good && number(call.size);
    std::string rest;
    if (good && !(words >> rest)) return call;
    why = std::string("\"") + form.name + "\" takes " + (form.to ? "two paths" : "a path") +
          (form.numbers == 2   ? ", an offset and a size"
           : form.numbers == 1 ? " and a size"
                               : "") +
          (form.numbers != 0 ? " (at most " + std::to_string(kMaxFile) + ")" : "");
    return std::nullopt;
  }
  why = "\"" + name + "\" is no operation; there are";
  for (const OperationForm& form : operationForms()) why += std::string(" ") + form.name;
  return std::nullopt;
}

// A workload's text: an operation on each line, # begins a comment. Bytes that calls write differ from call to call.
inline std::optional<std::vector<Call>> callsOf(const std::string& text, std::string& why) {
  std::vector<Call> calls;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::string wrong;
    auto call = callOf(line, wrong);
    if (!call || calls.size() == kMaxCalls) {
      why = "line " + std::to_string(number) + ": " + (call ? "too many operations" : wrong);
      return std::nullopt;
    }
    call->fill = static_cast<char>('a' + calls.size() % 26);
    calls.push_back(*call);
  }
  return calls;
}

}  // namespace blackout::fs
