// SPDX-License-Identifier: Apache-2.0
#include "core/journal/journal.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
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
      list.push_back(
          {0, component, {{"kind", "file"}, {"target", "/" + std::to_string(i)}}, {{"type", "absent"}}, false, false});
    return list;
  }
  slipway::testing::TempDir folder_;
};

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
  EXPECT_EQ(open_steps[0].action["target"], "/2");
  EXPECT_EQ(open_steps[2].action["target"], "/0");
  EXPECT_TRUE(open_steps[2].done);
  EXPECT_FALSE(open_steps[0].done);
  EXPECT_EQ(*journal->pending(), std::vector<std::string>{"ldconfig"});
}

TEST_F(JournalTest, OwesATriggerOnceHoweverOftenItIsNamed) {
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
    ASSERT_TRUE(journal->commit("driver", {{"component", "driver"}}));
  }
  auto journal = open();
  EXPECT_TRUE(journal->open_steps()->empty());
  ASSERT_EQ(journal->unwritten()->size(), 1U);
  ASSERT_TRUE(journal->written("driver"));
  EXPECT_TRUE(journal->unwritten()->empty());
}

TEST_F(JournalTest, LeavesNothingBehindWhenTheApplyIsOver) {
  auto journal = open();
  auto list = steps("driver", 1);
  ASSERT_TRUE(journal->intend(list, {}));
  ASSERT_TRUE(journal->commit("driver", Json{}));
  ASSERT_TRUE(journal->finish());
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  EXPECT_NE(::access((path() + "-wal").c_str(), F_OK), 0);
}

TEST_F(JournalTest, SaysNothingOnceAPowerCutLeftOnlyOneOfItsFilesAfterTheEnd) {
  for (const char* gone : {"", "-wal"}) {
    {
      auto journal = open();
      auto list = steps("driver", 500);  // more than SQLite would fold into the main file by itself
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

// On a full disk it said "cannot write to the journal of applies: not an error".
TEST_F(JournalTest, SaysWhyAStepCouldNotBeMarked) {
  auto journal = open();
  auto list = steps("driver", 1);
  ASSERT_TRUE(journal->intend(list, {}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{1, before.rlim_max};  // bytes in a file
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Status marked = journal->done(list[0].id);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().what.find("not an error"), std::string::npos) << marked.error().what;
}

TEST_F(JournalTest, SaysThatAFileOfAnotherFormatIsNoJournal) {
  folder_.file("journal.sqlite", std::string(8192, 'x'));
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::corrupt);
  EXPECT_EQ(journal.error().where, path());
}

}  // namespace
}  // namespace slipway::core
