// SPDX-License-Identifier: Apache-2.0
#include "core/journal/state_folder.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "core/journal/journal.hpp"
#include "core/journal/state_dir.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

class StateFolder : public ::testing::Test {
 protected:
  StateFolder() { folder_.directory("root"); }
  RootFs root() const { return {*RootDir::open(folder_.at("root").string()), 0}; }
  bool existing(const std::string& path) const { return fs::exists(folder_.at("root" + path)); }
  void come_and_go() const {
    RootFs fs = root();
    StateDir state(fs);
    ASSERT_TRUE(state.prepare());
    ASSERT_TRUE(state.exists());
    ASSERT_TRUE(state.leave());
  }
  bool empty() const { return fs::is_empty(folder_.at("root")); }
  slipway::testing::TempDir folder_;
};

/// If root runs the tests: another user, who owns a folder and its contents, until the end of the block.
class AnotherUser {
 public:
  explicit AnotherUser(const fs::path& folder) : folder_(folder) {
    if (::geteuid() != 0) return;
    constexpr uid_t kNobody = 65534;
    EXPECT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      EXPECT_EQ(::lchown(entry.path().c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(::seteuid(kNobody), 0);
  }
  AnotherUser(const AnotherUser&) = delete;
  AnotherUser& operator=(const AnotherUser&) = delete;
  ~AnotherUser() {
    EXPECT_EQ(::seteuid(::getuid()), 0);
    if (::geteuid() != 0) return;
    EXPECT_EQ(::chown(folder_.c_str(), 0, 0), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      EXPECT_EQ(::lchown(entry.path().c_str(), 0, 0), 0);
  }

 private:
  fs::path folder_;
};

TEST_F(StateFolder, RemovesTheFoldersThatItMade) {
  come_and_go();
  EXPECT_TRUE(empty());
}

TEST_F(StateFolder, KeepsFoldersThatExistedBefore) {
  folder_.directory("root/var/lib");
  come_and_go();
  EXPECT_TRUE(existing("/var/lib"));
  EXPECT_TRUE(fs::is_empty(folder_.at("root/var/lib")));
}

TEST_F(StateFolder, LeavesAFolderToWhichAnotherProgramWrote) {
  RootFs fs = root();
  StateDir state(fs);
  ASSERT_TRUE(state.prepare());
  folder_.file("root/var/lib/dpkg/status", "theirs");
  folder_.file("root/var/log/syslog", "theirs");
  ASSERT_TRUE(state.leave());
  EXPECT_FALSE(existing("/var/lib/slipway"));
  EXPECT_TRUE(existing("/var/lib/dpkg/status"));
  EXPECT_TRUE(existing("/var/log/syslog"));
}

// Before the fix, the state folder was then removed alone, and the next run no longer had a record of the folders above
// it.
TEST_F(StateFolder, StaysWhileItsOriginIsUnreadable) {
  for (const std::string unreadable : {"root/var/lib", "root/var/lib/slipway/origin.json"}) {
    RootFs files = root();
    StateDir state(files);
    ASSERT_TRUE(state.prepare());
    const AnotherUser owner(folder_.at(""));  // root reads everything
    fs::permissions(folder_.at(unreadable), fs::perms(0300));
    EXPECT_EQ(state.leave().error().code, ErrorCode::denied) << unreadable;
    EXPECT_TRUE(existing("/var/lib/slipway/origin.json"));
    fs::permissions(folder_.at(unreadable), fs::perms(0755));
    EXPECT_TRUE(state.leave());
    EXPECT_TRUE(empty());
  }
}

TEST_F(StateFolder, IsCleanedUpAfterAnInterruption) {
  for (const std::string folder : {"", "/var", "/var/lib"}) {
    folder_.file("root" + folder + "/.slipway-state/slipway/origin.json", "{");
    come_and_go();
    EXPECT_FALSE(existing(folder + "/.slipway-state"));
  }
}

TEST(GenerationText, KeepsAllKernelsAndAcceptsASingleOne) {
  Generation generation;
  EXPECT_TRUE(generation_from_json(to_json(generation)).kernels.empty());
  generation.kernels = {"6.1.0-50-amd64"};
  EXPECT_FALSE(to_json(generation).contains("kernels")) << "as slipway 0.1.0 wrote and reads it";
  EXPECT_EQ(generation_from_json(to_json(generation)).kernels, generation.kernels);
  generation.kernels.emplace_back("6.1.0-56-amd64");
  EXPECT_EQ(to_json(generation)["kernel"], "6.1.0-50-amd64");
  EXPECT_EQ(generation_from_json(to_json(generation)).kernels, generation.kernels);
}

// Before the fix, opening one blocked forever, with the root locked.
TEST_F(StateFolder, APipeAtANameOfTheStateIsAnErrorAndDoesNotBlock) {
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  const std::string place = folder_.at("root/var/lib/slipway/").string();
  fs::create_directories(place + "components");
  ASSERT_EQ(::mkfifo((place + "components/driver.json").c_str(), 0644), 0);
  const auto all = state.ownerships();
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, ErrorCode::invalid);
  EXPECT_NE(all.error().what.find("not a regular file"), std::string::npos) << all.error().what;
  EXPECT_FALSE(all.error().next.empty());
  fs::remove(place + "format");
  ASSERT_EQ(::mkfifo((place + "format").c_str(), 0644), 0);
  EXPECT_FALSE(state.prepare().ok());
}

// Before the fix, the error was "json.exception.type_error.302", without a file.
TEST_F(StateFolder, AnInvalidRecordIsNamed) {
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  for (const char* text : {"[]", R"({"component": 5})", R"({"items": [[]]})", R"({"items": 1})"}) {
    folder_.file("root/var/lib/slipway/components/driver.json", text);
    const auto all = state.ownerships();
    ASSERT_FALSE(all.ok()) << text;
    EXPECT_EQ(all.error().code, ErrorCode::corrupt);
    EXPECT_EQ(all.error().where, "/var/lib/slipway/components/driver.json");
  }
  folder_.file("root/var/lib/slipway/generations/1.json", R"({"number": "one"})");
  const auto generation = state.generation(1);
  ASSERT_FALSE(generation.ok());
  EXPECT_EQ(generation.error().where, "/var/lib/slipway/generations/1.json");
}

TEST_F(StateFolder, RecordsHaveATotalLimit) {
  RootFs fs = root();
  StateDir state(fs);
  ASSERT_TRUE(state.prepare());
  const std::string components = "root/var/lib/slipway/components/";
  for (int i = 0; i < 3; ++i)
    folder_.file(components + std::to_string(i) + ".json", "{\"component\": \"" + std::to_string(i) + "\"}");
  EXPECT_TRUE(state.ownerships().ok());
  for (int i = 0; i < 3; ++i)
    std::filesystem::resize_file(folder_.at(components + std::to_string(i) + ".json"), 30U << 20U);
  EXPECT_EQ(state.ownerships().error().code, ErrorCode::corrupt);
  EXPECT_NE(state.ownerships().error().what.find("3 records of 94371840 bytes"), std::string::npos);
  for (int i = 0; i < 1001; ++i) folder_.file(components + std::to_string(i) + ".json", "{}");
  EXPECT_NE(state.ownerships().error().what.find("1001 records"), std::string::npos);
}

// Before the fix, slipway as user root trusted a state that the owner of the root filesystem had written, and recovery
// created a setuid file from it.
TEST_F(StateFolder, IsNotTrustedWhereAnotherUserCouldHaveWrittenIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  folder_.file("root/var/lib/slipway/journal.sqlite", "");
  ASSERT_TRUE(state.check_journal());
  ASSERT_TRUE(state.check_format());
  for (const std::string place : {"root", "root/var", "root/var/lib/slipway"}) {
    ASSERT_EQ(::chown(folder_.at(place).c_str(), 1000, 1000), 0);
    EXPECT_EQ(state.prepare().error().code, ErrorCode::denied) << place;
    EXPECT_EQ(state.check_format().error().code, ErrorCode::denied) << place;
    EXPECT_EQ(state.check_journal().error().code, ErrorCode::denied) << place;
    ASSERT_EQ(::chown(folder_.at(place).c_str(), 0, 0), 0);
  }
  ASSERT_EQ(::chown(folder_.at("root/var/lib/slipway/journal.sqlite").c_str(), 1000, 1000), 0);
  EXPECT_EQ(state.check_journal().error().code, ErrorCode::denied);
  EXPECT_TRUE(state.check_format());
}

TEST_F(StateFolder, AJournalThatIsNotAFileIsAnError) {
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  EXPECT_TRUE(state.check_journal()) << "there is none";
  for (const std::string ending : {"", "-wal", "-shm", "-journal"}) {
    const std::string path = folder_.at("root/var/lib/slipway/journal.sqlite" + ending).string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(state.check_journal().error().code, ErrorCode::invalid) << ending;
    fs::remove(path);
    fs::create_symlink("origin.json", path);
    EXPECT_EQ(state.check_journal().error().code, ErrorCode::invalid) << ending;
    fs::remove(path);
  }
}

/// Returns a rollback journal that SQLite takes for an interrupted transaction's, and which names another file as its
/// super-journal (SQLite's file format; readSuperJournal() of its pager).
std::string journal_that_names(const std::string& file) {
  const auto word = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> static_cast<unsigned>(shift));
    return bytes;
  };
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  std::string journal = magic + word(0) + word(0) + word(2) + word(512) + word(4096);
  journal.resize(512, '\0');
  std::uint32_t sum = 0;
  for (const char c : file) sum += static_cast<std::uint32_t>(c);
  return journal + word(0x40000000 / 4096 + 1) + file + word(static_cast<std::uint32_t>(file.size())) + word(sum) +
         magic;
}

// Before the fix, after a kill while SQLite created the journal, slipway refused everything until `slipway repair`.
TEST_F(StateFolder, AnIncompleteJournalIsReplaced) {
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  std::string begun("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);  // no page of an empty file needs to be saved
  begun.resize(512, '\0');
  folder_.file("root/var/lib/slipway/journal.sqlite", "");
  folder_.file("root/var/lib/slipway/journal.sqlite-journal", begun);
  EXPECT_TRUE(state.check_journal());
  EXPECT_TRUE(open_journal(state.journal_path()).ok());
  EXPECT_FALSE(fs::exists(folder_.at("root/var/lib/slipway/journal.sqlite-journal")));
}

// Before the fix, SQLite removed that file before slipway checked the journal: any file of the building machine.
TEST_F(StateFolder, AJournalThatNamesAFileElsewhereIsNotOpened) {
  RootFs files = root();
  StateDir state(files);
  ASSERT_TRUE(state.prepare());
  const std::string victim = folder_.at("victim").string();
  const auto attack = [&] {
    folder_.file("victim", "of this machine");
    const std::string journal = folder_.at("root/var/lib/slipway/journal.sqlite").string();
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(journal + ending);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(journal.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, "CREATE TABLE step(id)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    folder_.file("root/var/lib/slipway/journal.sqlite-journal", journal_that_names(victim));
  };
  attack();
  (void)open_journal(state.journal_path());
  EXPECT_FALSE(fs::exists(victim)) << "the attack by itself";
  attack();
  const Status checked = state.check_journal();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(fs::exists(victim));
}

}  // namespace
}  // namespace slipway::core
