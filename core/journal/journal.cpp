// SPDX-License-Identifier: Apache-2.0
#include "core/journal/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::core {
namespace {

constexpr mode_t kJournalMode = 0600;  // it contains the contents of files that only root may read
constexpr int kOpenFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

std::string folder_with_slash(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The kernel also reports a full filesystem when its inodes are used up, which `df` does not show.
Error write_error(std::string_view doing, const std::string& path, int number) {
  Error error = system_error(doing, path, number);
  struct statvfs info {};
  const bool counts = number == ENOSPC && ::statvfs(folder_with_slash(path).c_str(), &info) == 0 && info.f_files != 0;
  if (counts && info.f_favail == 0) {
    error.what += " (no inodes left)";
    error.next = "remove files from that filesystem (`df -i` shows its inodes), then run the same command again";
  }
  return error;
}

// A write-ahead log needs one flush for each commit, a rollback journal four. Exclusive locking needs no shared memory,
// so that this works on every filesystem. The log is never merged into the main file, which stays empty: if a power cut
// leaves only one of the two files of a finished journal, that one contains nothing.
constexpr const char* kPragmas =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0";
// The tables as SQLite stores them, in the order of their names.
constexpr std::string_view kAppliedTable = "CREATE TABLE applied(component TEXT PRIMARY KEY, entry TEXT NOT NULL)";
constexpr std::string_view kOtherTables = R"(CREATE TABLE pending(id INTEGER PRIMARY KEY, trigger TEXT NOT NULL UNIQUE);
CREATE TABLE sealed(component TEXT PRIMARY KEY, ownership TEXT NOT NULL);
CREATE TABLE step(
  id INTEGER PRIMARY KEY, component TEXT NOT NULL, action TEXT NOT NULL, image TEXT NOT NULL,
  removal INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0))";

/// True for an entry as an apply writes it (applied_entry() of core/engine/records/generations.hpp), or null. The
/// journal of an image may contain anything else.
bool is_entry(const Json& entry) {
  if (entry.is_null()) return true;
  const auto is_object = [&](const char* name) { return entry.contains(name) && entry[name].is_object(); };
  const auto is_text = [](const Json& value) { return value.is_string(); };
  return entry.is_object() && is_object("frame") && is_object("plugin") && is_object("section") &&
         entry["frame"].value("spec", Json()).is_object() && entry.contains("spec_file") &&
         entry["spec_file"].is_string() && entry.contains("kernels") && entry["kernels"].is_array() &&
         std::ranges::all_of(entry["kernels"], is_text);
}

/// A prepared statement with 1-based binds, finalised by the destructor.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql) {
    sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(int index, const std::string& text) {
    sqlite3_bind_text(statement_, index, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int index, std::int64_t number) {
    sqlite3_bind_int64(statement_, index, number);
    return *this;
  }
  int step() { return statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_); }
  std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    return bytes == nullptr ? std::string{} : reinterpret_cast<const char*>(bytes);
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;
  ~SqliteJournal() override { sqlite3_close(db_); }

  /// Creates the tables. The journal of an image may contain endless views, columns that take hours to compute, or
  /// pages that share a child page: data is read only from slipway's own tables in an undamaged file.
  Status prepare(bool makes) {
    SLIPWAY_CHECK(execute(kPragmas));
    const std::string others(kOtherTables);
    const std::string all = std::string(kAppliedTable) + ";\n" + others;
    if (makes && is_empty()) SLIPWAY_CHECK(execute(("BEGIN;" + others + ";COMMIT").c_str()));
    if (schema() == others) SLIPWAY_CHECK(execute(kAppliedTable.data()));  // state format 2 had no such table
    Statement check(db_, "PRAGMA quick_check(1)");
    if ((schema() != all && !(is_empty() && !makes)) || check.step() != SQLITE_ROW || check.text(0) != "ok")
      return error("open");
    return {};
  }

  /// True when nothing was ever written to the file, or a power cut lost the write.
  bool is_empty() const { return schema().empty() && sqlite3_errcode(db_) == SQLITE_OK; }

  Status intend(std::vector<Step>& steps, const std::vector<std::string>& triggers) override {
    SLIPWAY_CHECK(execute("BEGIN IMMEDIATE"));
    for (Step& step : steps) {
      Statement insert(db_, "INSERT INTO step(component, action, image, removal) VALUES(?,?,?,?)");
      insert.bind(1, step.component).bind(2, canonical(step.action.json())).bind(3, canonical(step.image));
      insert.bind(4, static_cast<std::int64_t>(step.removal));
      if (insert.step() != SQLITE_DONE) return rolled_back("write to");
      step.id = sqlite3_last_insert_rowid(db_);
    }
    for (const std::string& trigger : triggers) {
      Statement insert(db_, "INSERT OR IGNORE INTO pending(trigger) VALUES(?)");
      if (insert.bind(1, trigger).step() != SQLITE_DONE) return rolled_back("write to");
    }
    return execute("COMMIT");
  }

  // No sync here: undoing a step that was not done is harmless, so losing this mark costs nothing.
  Status done(std::int64_t step) override {
    SLIPWAY_CHECK(execute("PRAGMA synchronous=OFF"));
    Statement update(db_, "UPDATE step SET done=1 WHERE id=?");
    const Status result = carried_out(update.bind(1, step));  // before the next call replaces the error
    SLIPWAY_CHECK(execute("PRAGMA synchronous=FULL"));
    return result;
  }

  Status commit(const Ownership& owned, const Json& applied) override {
    SLIPWAY_CHECK(execute("BEGIN IMMEDIATE"));
    if (!drop(owned.component)) return rolled_back("write to");
    Statement insert(db_, "INSERT OR REPLACE INTO sealed(component, ownership) VALUES(?,?)");
    insert.bind(1, owned.component).bind(2, canonical(to_json(owned)));
    if (insert.step() != SQLITE_DONE) return rolled_back("write to");
    Statement entry(db_, "INSERT OR REPLACE INTO applied(component, entry) VALUES(?,?)");
    if (entry.bind(1, owned.component).bind(2, canonical(applied)).step() != SQLITE_DONE)
      return rolled_back("write to");
    return execute("COMMIT");
  }

  Result<std::map<std::string, Json>> applied() override {
    std::map<std::string, Json> entries;
    Statement select(db_, "SELECT component, entry FROM applied ORDER BY component");
    int status = SQLITE_ROW;
    while ((status = select.step()) == SQLITE_ROW) {
      Json entry = parse_foreign(select.text(1));
      if (!is_entry(entry)) return error("read");
      entries.emplace(select.text(0), std::move(entry));
    }
    if (status != SQLITE_DONE) return error("read");
    return entries;
  }

  Status recorded() override { return execute("DELETE FROM applied"); }

  Status drop(const std::string& component) override {
    Statement erase(db_, "DELETE FROM step WHERE component=?");
    return carried_out(erase.bind(1, component));
  }

  Status written(const std::string& component) override {
    Statement erase(db_, "DELETE FROM sealed WHERE component=?");
    return carried_out(erase.bind(1, component));
  }

  Result<std::vector<Ownership>> unwritten() override try {
    std::vector<Ownership> ownerships;
    Statement select(db_, "SELECT ownership FROM sealed ORDER BY component");
    int status = SQLITE_ROW;
    while ((status = select.step()) == SQLITE_ROW) {
      const Json value = parse_foreign(select.text(0));
      if (value.is_discarded()) return error("read");
      ownerships.push_back(ownership_from_json(value));
    }
    if (status != SQLITE_DONE) return error("read");
    return ownerships;
  } catch (const Json::exception&) {
    return error("read");
  }

  Result<std::vector<Step>> open_steps() override {
    std::vector<Step> steps;
    Statement select(db_, "SELECT id, component, action, image, removal, done FROM step ORDER BY id DESC");
    int status = SQLITE_ROW;
    while ((status = select.step()) == SQLITE_ROW) {
      Step step;
      step.id = select.number(0);
      step.component = select.text(1);
      step.action = Action(parse_foreign(select.text(2)));
      step.image = parse_foreign(select.text(3));
      if (step.action.json().is_discarded() || step.image.is_discarded()) return error("read");
      step.removal = select.number(4) != 0;
      step.done = select.number(5) != 0;
      steps.push_back(std::move(step));
    }
    if (status != SQLITE_DONE) return error("read");
    return steps;
  }

  Result<std::vector<std::string>> pending() override {
    std::vector<std::string> triggers;
    Statement select(db_, "SELECT trigger FROM pending ORDER BY id");
    int status = SQLITE_ROW;
    while ((status = select.step()) == SQLITE_ROW) triggers.push_back(select.text(0));
    if (status != SQLITE_DONE) return error("read");
    return triggers;
  }

  Status done(const std::string& trigger) override {
    Statement erase(db_, "DELETE FROM pending WHERE trigger=?");
    return carried_out(erase.bind(1, trigger));
  }

  Status finish() override {
    sqlite3_close(db_);
    db_ = nullptr;
    for (const std::string& path : {path_, path_ + "-wal"})
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error("remove", path, errno);
    return {};
  }

  Error error(std::string_view doing) const {
    const int code = sqlite3_errcode(db_);
    if (code == SQLITE_BUSY)
      return Error{ErrorCode::locked,
                   "another slipway is changing this root",
                   path_,
                   "wait until it has ended, then run the same command again",
                   {}};
    if (code == SQLITE_FULL) return write_error(doing, path_, ENOSPC);
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) return write_error(doing, path_, why_not_writable());
    const bool foreign = code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE;  // the file was readable
    const bool broken = foreign || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    return Error{broken ? ErrorCode::corrupt : ErrorCode::io,
                 "cannot " + std::string(doing) + " the journal of applies: " +
                     (foreign ? "slipway did not write its content" : sqlite3_errmsg(db_)),
                 path_,
                 broken ? "run `slipway repair`: it sets that file aside; the next `slipway plan` then compares what "
                          "the cut-off apply had changed"
                        : "check the disk below that path, then run the same command again",
                 {}};
  }

 private:
  std::string schema() const {
    Statement select(db_, "SELECT group_concat(sql, char(59, 10)) FROM (SELECT sql FROM sqlite_schema ORDER BY name)");
    return select.step() == SQLITE_ROW ? select.text(0) : std::string();
  }
  Status carried_out(Statement& change) { return change.step() == SQLITE_DONE ? Status{} : Status{error("write to")}; }
  Status execute(const char* sql) {
    return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status{} : Status{error("write to")};
  }
  /// Returns an errno for the reason. SQLite reports a file that this user may not write as read-only, and a file that
  /// it could not create as missing.
  int why_not_writable() const {
    for (const std::string& path : {path_, folder_with_slash(path_)})
      if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT) return errno;
    const int told = sqlite3_system_errno(db_);
    if (told == ENOENT && !Fd(::open((path_ + "-wal").c_str(), kOpenFlags | O_CREAT, kJournalMode))) return errno;
    return told != 0 ? told : EIO;
  }
  Error rolled_back(std::string_view doing) {
    Error cause = error(doing);
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    return cause;
  }

  sqlite3* db_;
  std::string path_;
};

/// SQLite gives the log beside a database the database's mode, and the database itself the mode 0644.
Status make_private(const std::string& path) {
  for (const auto& [file, flags] : {std::pair(path, O_CREAT), std::pair(path + "-wal", 0)}) {
    const Fd fd(::open(file.c_str(), kOpenFlags | flags, kJournalMode));
    if (!fd && flags == 0 && errno == ENOENT) continue;
    if (!fd || ::fchmod(fd.get(), kJournalMode) != 0) return write_error("open", file, errno);
  }
  return {};
}

Result<std::unique_ptr<SqliteJournal>> opened(const std::string& path, bool makes) {
  SLIPWAY_CHECK(make_private(path));
  sqlite3* db = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
  const int opened = sqlite3_open_v2(path.c_str(), &db, kFlags, nullptr);
  auto journal = std::make_unique<SqliteJournal>(db, path);
  if (opened != SQLITE_OK) return journal->error("open");
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  SLIPWAY_CHECK(journal->prepare(makes));
  return journal;
}

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(const std::string& path) {
  SLIPWAY_TRY(journal, opened(path, true));
  return std::unique_ptr<Journal>(std::move(journal));
}

Result<std::unique_ptr<Journal>> look_at_journal(const std::string& path) {
  SLIPWAY_TRY(journal, opened(path, false));
  return journal->is_empty() ? std::unique_ptr<Journal>() : std::unique_ptr<Journal>(std::move(journal));
}

}  // namespace slipway::core
