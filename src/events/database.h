// An SQLite file as Blackout keeps them: what it says of itself is checked, and a file from a stranger gets no say in
// what is done. Complaints are sentences that name the file and say what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "events/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace blackout {

struct DatabaseFormat {
  int application = 0;  // four letters
  int version = 0;
  std::string_view by;       // who writes it: "blackout fs"
  std::string_view called;   // "results"
  std::string_view another;  // instead of one that is none: "name another folder"
  std::string_view again;    // instead of an old or damaged one: "begin again with an empty folder"
  const char* tables = nullptr;
};

class Database {
 public:
  // `write`: it is made if there is none.
  static Result<Database> open(const DatabaseFormat& format, std::string path, bool write);

  const std::string& path() const { return path_; }
  Result<void> run(const char* sql) const;
  // Inside a transaction: the tables of an empty file. True: it was empty.
  Result<bool> makeTables() const;
  // Whether it is what the format says.
  Result<void> check() const;
  // What SQLite said last.
  tl::unexpected<Error> refused() const;
  tl::unexpected<Error> damaged() const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Database(const DatabaseFormat& format, std::string path, sqlite3* db)
      : format_(format), path_(std::move(path)), db_(db) {}

  DatabaseFormat format_;
  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

// A statement with its values; every use is short.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  explicit operator bool() const { return statement_ != nullptr; }
  Statement& with(std::uint64_t v);
  Statement& with(const std::string& v);
  Statement& withBytes(const std::string& v);

  // True: there is a row (another one). When it is false, `done` says whether that is because all was done.
  bool row();
  // Of a statement without rows.
  bool done();

  std::uint64_t number(int column) const;
  std::string bytes(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int last_ = 0;
};

}  // namespace blackout
