#include "events/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace blackout {

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

tl::unexpected<Error> Database::damaged() const {
  return fail(fmt::format("{}: is damaged, or no {} of '{}'; {}", path_, format_.called, format_.by, format_.again));
}

tl::unexpected<Error> Database::refused() const {
  int code = sqlite3_errcode(db_.get());
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return fail(
        fmt::format("{}: another '{}' is at work with it; wait for its end or name another folder", path_, format_.by));
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR || code == SQLITE_ROW ||
      code == SQLITE_DONE || code == SQLITE_OK)
    return damaged();
  return fail(fmt::format("{}: {}", path_, sqlite3_errmsg(db_.get())));
}

Result<void> Database::run(const char* sql) const {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return refused();
  return {};
}

Result<Database> Database::open(const DatabaseFormat& format, std::string path, bool write) {
  sqlite3* db = nullptr;
  // A reader may have to undo what a killed writer had begun; where it can't write there, it only reads.
  int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0), nullptr);
  Database database(format, std::move(path), db);
  if (code != SQLITE_OK)
    return fail(fmt::format("{}: can't be {}: {}", database.path_, write ? "written" : "read",
                            db == nullptr ? "no memory" : sqlite3_errmsg(db)));
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return database;
}

Result<bool> Database::makeTables() const {
  Statement any(*this, "SELECT count(*) FROM sqlite_master");
  if (!any || !any.row()) return refused();
  if (any.number(0) != 0) return false;
  std::string tables = fmt::format("PRAGMA application_id={};PRAGMA user_version={};{}", format_.application,
                                   format_.version, format_.tables);
  if (auto ok = run(tables.c_str()); !ok) return tl::unexpected(ok.error());
  return true;
}

Result<void> Database::check() const {
  Statement application(*this, "PRAGMA application_id");
  if (!application || !application.row()) return refused();
  if (application.number(0) != static_cast<std::uint64_t>(format_.application))
    return fail(fmt::format("{}: was not written by '{}'; {}", path_, format_.by, format_.another));
  Statement version(*this, "PRAGMA user_version");
  if (!version || !version.row()) return refused();
  if (version.number(0) != static_cast<std::uint64_t>(format_.version))
    return fail(fmt::format("{}: {} of format version {}, this is version {}; {}", path_, format_.called,
                            version.number(0), format_.version, format_.again));
  return {};
}

Statement::Statement(const Database& database, const char* sql) {
  sqlite3_prepare_v2(database.db_.get(), sql, -1, &statement_, nullptr);
}
Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::with(std::uint64_t v) {
  sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(v));
  return *this;
}
Statement& Statement::with(const std::string& v) {
  sqlite3_bind_text64(statement_, ++bound_, v.data(), v.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::withBytes(const std::string& v) {
  sqlite3_bind_blob64(statement_, ++bound_, v.data(), v.size(), SQLITE_TRANSIENT);
  return *this;
}

bool Statement::row() {
  last_ = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
  return last_ == SQLITE_ROW;
}
bool Statement::done() {
  if (last_ == 0) row();
  return last_ == SQLITE_DONE;
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
}
std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

}  // namespace blackout
