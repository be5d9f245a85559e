// SPDX-License-Identifier: Apache-2.0
#include "base/log/journal.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "journal_socket.hpp"

namespace slipway::base {
namespace {

using slipway::testing::fields_of;
using slipway::testing::JournalSocket;
using ::testing::ElementsAre;
using ::testing::Pair;

LogEvent warning() { return {LogLevel::warning, "mig", "apply", 7, "GPU 3 is busy", {}, {}}; }

TEST(JournalEntry, HasOneFieldPerLine) {
  EXPECT_EQ(journal_entry(warning()),
            "MESSAGE=mig: GPU 3 is busy\nPRIORITY=4\nSYSLOG_IDENTIFIER=slipway\nSLIPWAY_COMPONENT=mig\n"
            "SLIPWAY_PHASE=apply\nSLIPWAY_GENERATION=7\n");
}

TEST(JournalEntry, LeavesOutUnknownFields) {
  EXPECT_THAT(fields_of(journal_entry({LogLevel::info, {}, {}, {}, "here", {}, {}})),
              ElementsAre(Pair("MESSAGE", "here"), Pair("PRIORITY", "6"), Pair("SYSLOG_IDENTIFIER", "slipway")));
}

TEST(JournalEntry, HasTheLengthOfAValueWithLineEnds) {
  LogEvent event = warning();
  event.component.clear();
  event.message = "one\ntwo";
  EXPECT_TRUE(journal_entry(event).starts_with(std::string("MESSAGE\n\7\0\0\0\0\0\0\0one\ntwo\nPRIORITY=4\n", 35)));
}

// A line "PRIORITY=0" inside a message is not a field.
TEST(JournalEntry, GetsNoFieldsFromAMessage) {
  LogEvent event = warning();
  event.message = "x\nPRIORITY=0\n\x1b[2J";
  const auto fields = fields_of(journal_entry(event));
  EXPECT_EQ(fields.at("PRIORITY"), "4");
  EXPECT_EQ(fields.at("MESSAGE"), "mig: x\nPRIORITY=0\n\\x1b[2J");
}

TEST(SystemdJournal, GetsAnEntryAsOneDatagram) {
  const JournalSocket socket;
  ASSERT_TRUE(SystemdJournal(socket.path()).send(warning()));
  EXPECT_EQ(socket.entry(), journal_entry(warning()));
  EXPECT_EQ(socket.entry(), "");
}

TEST(SystemdJournal, ReportsALostEntry) {
  const slipway::testing::TempDir folder;
  EXPECT_FALSE(SystemdJournal(folder.at("nobody").string()).send(warning()));
  EXPECT_FALSE(SystemdJournal("/" + std::string(200, 'x')).send(warning())) << "longer than a socket's path";
  const JournalSocket socket;
  LogEvent long_one = warning();
  long_one.message.assign(std::size_t{4} << 20U, 'x');
  EXPECT_FALSE(SystemdJournal(socket.path()).send(long_one)) << "longer than a datagram";
}

TEST(SystemdJournal, IsTheDescriptorThatTheVariableNames) {
  struct stat info {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &info), 0);
  const std::string own = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  EXPECT_TRUE(is_journal(STDERR_FILENO, own.c_str()));
  EXPECT_FALSE(is_journal(STDERR_FILENO, nullptr));
  EXPECT_FALSE(is_journal(STDERR_FILENO, (own + "1").c_str()));
  EXPECT_FALSE(is_journal(STDERR_FILENO, std::to_string(info.st_ino).c_str()));
}

}  // namespace
}  // namespace slipway::base
