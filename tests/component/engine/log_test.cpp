// SPDX-License-Identifier: Apache-2.0
// `slipway log`: what was done on this machine.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOne = "    probe: {files: {/etc/probe.conf: one}}\n";
constexpr const char* kTwo = "    probe: {files: {/etc/probe.conf: two}}\n";

Json log_of(const ScratchHost& host) {
  const Ran ran = host.slipway({"log", "-o", "json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out)["entries"];
}

TEST(Log, TellsAppliesRollbacksAndRemovalsOfALiveRoot) {
  ScratchHost host;
  host.live = true;
  host.spec(kOne);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(kTwo);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"rollback"}).code, 0);
  ASSERT_EQ(host.slipway({"apply", "--only", "nothing-of-that-name"}).code, 64);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  const Json entries = log_of(host);
  ASSERT_EQ(entries.size(), 6U) << entries.dump(2);
  EXPECT_EQ(entries[0]["command"], "apply");
  EXPECT_EQ(entries[0]["result"], "done");
  EXPECT_EQ(entries[0]["generation"], 1);
  EXPECT_THAT(entries[0]["components"].dump(), HasSubstr("/etc/probe.conf"));
  EXPECT_THAT(entries[0]["time"].get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(entries[2]["result"], "nothing to do");
  EXPECT_EQ(entries[3]["command"], "rollback");
  EXPECT_EQ(entries[3]["generation"], 3);
  EXPECT_EQ(entries[4]["result"], "failed");
  EXPECT_THAT(entries[4]["error"].dump(), HasSubstr("nothing-of-that-name"));
  EXPECT_EQ(entries[5]["command"], "remove");
  const Ran text = host.slipway({"log", "1"});
  EXPECT_THAT(text.out, HasSubstr("remove"));
  EXPECT_THAT(text.out, Not(HasSubstr("rollback")));
}

TEST(Log, HasNothingOfARootThatIsNotLive) {
  const ScratchHost host;
  host.spec(kOne);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_TRUE(log_of(host).empty());
  EXPECT_FALSE(std::filesystem::exists(host.path("var/log")));
}

TEST(Log, ThatCannotBeWrittenKeepsNoApplyFromItsWork) {
  ScratchHost host;
  host.live = true;
  host.folder().file("log", "in the way\n");
  host.spec(kOne);
  const Ran applied = host.slipway({"apply"});
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_THAT(applied.err, HasSubstr("slipway log"));
}

TEST(Log, NamesAnApplyThatWasCutOff) {
  const ScratchHost host;
  host.folder().file(
      "log/history.jsonl",
      R"({"event":"begin","id":"1","command":"apply","time":"2026-01-01T00:00:00Z","pid":1,"boot_id":"x"})"
      "\n");
  EXPECT_EQ(log_of(host)[0]["result"], "cut off");
}

}  // namespace
}  // namespace slipway
