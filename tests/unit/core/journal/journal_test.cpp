// SPDX-License-Identifier: Apache-2.0
#include "core/journal/journal.hpp"

#include <csignal>
#include <fstream>
#include <iostream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::core {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  std::unique_ptr<Journal> open() { return std::move(*open_journal(path())); }
  std::string path() const { return folder_.at("journal.sqlite").string(); }
  static std::vector<Step> steps(const std::string& component, int count) {
    std::vector<Step> list;
    for (int i = 0; i < count; ++i)
      list.push_back({0, component, action::remove("/" + std::to_string(i)), {{"type", "absent"}}, false, false});
    return list;
  }
  slipway::testing::TempDir folder_;
};

// The journal has contents of files that only root may read; before the fix, every user could read it.
TEST_F(JournalTest, IsPrivateEvenIfAnEarlierSlipwayLeftItOpen) {
  const auto mode = [](const std::string& file) {
    struct stat info {};
    EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
    return info.st_mode & 0777U;
  };
  for (int run = 0; run < 2; ++run) {
    auto journal = open();
    auto list = steps("driver", 1);
    ASSERT_TRUE(journal->intend(list, {}));
    EXPECT_EQ(mode(path()), 0600U);
    EXPECT_EQ(mode(path() + "-wal"), 0600U);
    journal.reset();
    for (const char* end : {"", "-wal"}) ASSERT_EQ(::chmod((path() + end).c_str(), 0644), 0);
  }
}

TEST_F(JournalTest, CanBeOpenedOnlyOnce) {
  const auto first = open();
  const auto second = open_journal(path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::locked) << second.error().what;
}

TEST_F(JournalTest, GivesOpenStepsBackNewestFirstAfterItsHolderDied) {
  {
    auto journal = open();
    auto list = steps("driver", 3);
    ASSERT_TRUE(journal->intend(list, {"ldconfig"}));
    ASSERT_TRUE(journal->done(list[0].id));
  }
  auto journal = open();
  const auto open_steps = *journal->open_steps();
  ASSERT_EQ(open_steps.size(), 3U);
  EXPECT_EQ(open_steps[0].action.target(), "/2");
  EXPECT_EQ(open_steps[2].action.target(), "/0");
  EXPECT_TRUE(open_steps[2].done);
  EXPECT_FALSE(open_steps[0].done);
  EXPECT_EQ(*journal->pending(), std::vector<std::string>{"ldconfig"});
}

TEST_F(JournalTest, KeepsAPendingTriggerOnce) {
  auto journal = open();
  auto first = steps("a", 1);
  auto second = steps("b", 1);
  ASSERT_TRUE(journal->intend(first, {"ldconfig", "depmod:6.1"}));
  ASSERT_TRUE(journal->intend(second, {"ldconfig"}));
  EXPECT_EQ(*journal->pending(), (std::vector<std::string>{"ldconfig", "depmod:6.1"}));
  ASSERT_TRUE(journal->done("ldconfig"));
  EXPECT_EQ(*journal->pending(), std::vector<std::string>{"depmod:6.1"});
}

TEST_F(JournalTest, KeepsACommittedOwnershipUntilItIsWritten) {
  {
    auto journal = open();
    auto list = steps("driver", 2);
    ASSERT_TRUE(journal->intend(list, {}));
    ASSERT_TRUE(journal->commit({.component = "driver", .items = {}}, {{"section", {{"version", "1"}}}}));
  }
  auto journal = open();
  EXPECT_TRUE(journal->open_steps()->empty());
  ASSERT_EQ(journal->unwritten()->size(), 1U);
  ASSERT_TRUE(journal->written("driver"));
  EXPECT_TRUE(journal->unwritten()->empty());
}

Json entry() {
  return {{"frame", {{"spec", Json::object()}}}, {"kernels", {"6.1.0-50-amd64"}}, {"lock", nullptr},
          {"plugin", {{"version", "1"}}},        {"section", {{"version", "1"}}}, {"spec_file", "host.yaml"}};
}

// An image may contain a journal of its own.
TEST_F(JournalTest, RefusesInvalidEntries) {
  for (const char* member : {"frame", "kernels", "plugin", "section", "spec_file"}) {
    Json other = entry();
    other[member] = 7;
    auto journal = open();
    ASSERT_TRUE(journal->commit({.component = "driver", .items = {}}, other));
    EXPECT_EQ(journal->applied().error().code, ErrorCode::corrupt) << member;
    ASSERT_TRUE(journal->finish());
  }
}

TEST_F(JournalTest, KeepsAppliedEntriesUntilAGenerationHasThem) {
  {
    auto journal = open();
    ASSERT_TRUE(journal->commit({.component = "driver", .items = {}}, entry()));
    ASSERT_TRUE(journal->commit({.component = "gfd", .items = {}}, Json{}));
    ASSERT_TRUE(journal->written("driver"));
    ASSERT_TRUE(journal->written("gfd"));
  }
  auto journal = open();
  const auto applied = journal->applied();
  ASSERT_TRUE(applied.ok());
  EXPECT_EQ(applied->at("driver")["section"]["version"], "1");
  EXPECT_TRUE(applied->at("gfd").is_null()) << "it was removed";
  ASSERT_TRUE(journal->recorded());
  EXPECT_TRUE(journal->applied()->empty());
}

// The journal of an earlier slipway's interrupted apply has no table for it.
TEST_F(JournalTest, ConvertsAnEarlierFormat) {
  {
    auto journal = open();
    auto list = steps("driver", 1);
    ASSERT_TRUE(journal->intend(list, {}));
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "DROP TABLE applied", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  auto journal = open();
  EXPECT_EQ(journal->open_steps()->size(), 1U);
  EXPECT_TRUE(journal->applied()->empty());
}

TEST_F(JournalTest, LeavesNothingBehindWhenTheApplyIsOver) {
  auto journal = open();
  auto list = steps("driver", 1);
  ASSERT_TRUE(journal->intend(list, {}));
  ASSERT_TRUE(journal->drop("driver"));
  ASSERT_TRUE(journal->finish());
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  EXPECT_NE(::access((path() + "-wal").c_str(), F_OK), 0);
}

TEST_F(JournalTest, IsEmptyWithOnlyOneOfItsFiles) {
  for (const char* gone : {"", "-wal"}) {
    {
      auto journal = open();
      auto list = steps("driver", 500);  // more than SQLite would merge into the main file by itself
      for (auto& step : list) step.image["content"] = std::string(20'000, 'x');
      ASSERT_TRUE(journal->intend(list, {"ldconfig"}));
    }
    ASSERT_EQ(::unlink((path() + gone).c_str()), 0);
    auto journal = open();
    EXPECT_TRUE(journal->open_steps()->empty()) << "without " << gone;
    EXPECT_TRUE(journal->pending()->empty());
    ASSERT_TRUE(journal->finish());
  }
}

// Before the fix, the error on a full disk was "cannot write to the journal of applies: not an error".
TEST_F(JournalTest, ExplainsWhyAStepCouldNotBeMarked) {
  auto journal = open();
  auto list = steps("driver", 1);
  ASSERT_TRUE(journal->intend(list, {}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{1, before.rlim_max};  // limit for the bytes of a file
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Status marked = journal->done(list[0].id);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().what.find("not an error"), std::string::npos) << marked.error().what;
}

/// Opens a journal on a filesystem with that many free inodes, and reports the result in this process's exit status.
[[noreturn]] void open_with_inodes(const char* folder, int left) {
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("tmpfs", folder, "tmpfs", 0, "nr_inodes=8") == 0;
  if (!mounted) ::_exit(77);
  int made = 0;
  const auto filler = [&](int number) { return std::string(folder) + "/" + std::to_string(number); };
  while (Fd(::open(filler(made).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600))) ++made;
  for (int i = 0; i < left; ++i) ::unlink(filler(--made).c_str());
  const auto opened = open_journal(std::string(folder) + "/journal.sqlite");
  const bool right = !opened && opened.error().code == ErrorCode::no_space &&
                     opened.error().what.ends_with("No space left on device (no inodes left)") &&
                     opened.error().next.find("df -i") != std::string::npos;
  if (!right) std::cerr << (opened ? "it was opened" : to_text(opened.error())) << '\n';
  ::_exit(right ? 0 : 1);
}

// Before the fix, with one inode left, the journal was created, and the message about its log was "No such file or
// directory".
TEST_F(JournalTest, SaysThatThereAreNoInodesLeft) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
  for (int left = 0; left < 2; ++left) {
    const pid_t child = ::fork();
    if (child == 0) open_with_inodes(folder_.at("").c_str(), left);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
    EXPECT_EQ(WEXITSTATUS(status), 0) << left << " inodes left";
  }
}

TEST_F(JournalTest, RefusesAFileOfAnotherFormat) {
  folder_.file("journal.sqlite", std::string(8192, 'x'));
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::corrupt);
  EXPECT_EQ(journal.error().where, path());
}

/// Creates a file that an image may contain, with these statements.
void write_database(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// Before the fix, the next apply read an endless view forever, with the root locked; a computed column could take any
// time.
TEST_F(JournalTest, OfAnImageIsRefusedUnlessItsTablesAreOurs) {
  for (const char* sql :
       {"CREATE VIEW step AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT x AS id, 'driver' AS component, '{}' AS action, '{}' AS image, 0 AS removal, 0 AS done FROM c",
        "CREATE TABLE step(id INTEGER PRIMARY KEY, component TEXT, action TEXT AS (printf('%.*c', 1000, '1')), "
        "image TEXT, removal INTEGER, done INTEGER); INSERT INTO step(component, image) VALUES('driver', '{}')"}) {
    ::unlink(path().c_str());
    write_database(path(), sql);
    const auto journal = open_journal(path());
    ASSERT_FALSE(journal) << sql;
    EXPECT_EQ(journal.error().code, ErrorCode::corrupt) << to_text(journal.error());
  }
}

/// Returns the number of the page at the top of the steps.
std::size_t top_page(const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_stmt* select = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name='step'", -1, &select, nullptr);
  EXPECT_EQ(sqlite3_step(select), SQLITE_ROW);
  const auto page = static_cast<std::size_t>(sqlite3_column_int(select, 0));
  sqlite3_finalize(select);
  sqlite3_close(db);
  return page;
}

// A page that many others share is read once for each: a small file has more rows than can be counted.
TEST_F(JournalTest, OfAnImageWhosePagesAreSharedIsRefused) {
  {
    auto journal = open();
    auto list = steps("driver", 200);
    for (auto& step : list) step.image["content"] = std::string(1000, 'x');
    ASSERT_TRUE(journal->intend(list, {}));
  }
  write_database(path(), "PRAGMA journal_mode=DELETE");
  const std::size_t top = top_page(path());
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  std::string page(4096, '\0');
  const auto place = static_cast<std::streamoff>((top - 1) * page.size());
  file.seekg(place);
  file.read(page.data(), static_cast<std::streamsize>(page.size()));
  ASSERT_EQ(page[0], 5) << "an inner page of a table";
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(page[i]); };
  page.replace(at(14) * 256U + at(15), 4,
               page.substr(at(12) * 256U + at(13), 4));  // the second child is the first one again
  file.seekp(place);
  file.write(page.data(), static_cast<std::streamsize>(page.size()));
  file.close();
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::corrupt) << to_text(journal.error());
}

}  // namespace
}  // namespace slipway::core
