// SPDX-License-Identifier: Apache-2.0
// `slipway log`: the history of this machine.
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

TEST(Log, ReportsAppliesRollbacksAndRemovalsOfALiveRoot) {
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
  EXPECT_EQ(entries[3]["generation"], 1);
  EXPECT_EQ(entries[4]["result"], "failed");
  EXPECT_THAT(entries[4]["error"].dump(), HasSubstr("nothing-of-that-name"));
  EXPECT_EQ(entries[5]["command"], "remove");
  const Ran text = host.slipway({"log", "1"});
  EXPECT_THAT(text.out, HasSubstr("remove"));
  EXPECT_THAT(text.out, Not(HasSubstr("rollback")));
}

constexpr const char* kImageLog = "var/log/slipway/history.jsonl";

Json image_log(const ScratchHost& host) {
  const Ran ran = host.bare({"log", "--root", host.folder().at("root").string(), "-o", "json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out, nullptr, false)["entries"];
}

// Before the fix, a machine that was booted from an image had no log of the work done in it.
TEST(Log, OfAnImageIsInTheRootAndHidesTheBuildMachine) {
  const ScratchHost host;
  host.spec(kOne);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"apply"}).code, 0) << "it changes nothing, and leaves no event";
  host.spec(kTwo);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_TRUE(log_of(host).empty());
  const Json entries = image_log(host);
  ASSERT_EQ(entries.size(), 2U) << entries.dump(2);
  EXPECT_EQ(entries[1]["command"], "apply");
  EXPECT_EQ(entries[1]["generation"], 2);
  EXPECT_EQ(entries[1]["spec"], "host.yaml");
  for (const char* word : {"time", "user", "pid", "boot_id", "root", "arguments", "ended", "seconds", "id"})
    EXPECT_FALSE(entries[1].contains(word)) << word;
  const Ran text = host.bare({"log", "1", "--root", host.folder().at("root").string()});
  EXPECT_THAT(text.out, HasSubstr("no time  apply: done, generation 2 (slipway "));
  EXPECT_THAT(text.out, HasSubstr("building the image)"));
  EXPECT_THAT(host.text(kImageLog), Not(HasSubstr(host.folder().at("").string())));
}

TEST(Log, OfAnImageHasTheTimeOfItsSource) {
  const ScratchHost host;
  host.spec(kOne);
  ::setenv("SOURCE_DATE_EPOCH", "1767225600", 1);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  ::unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_EQ(image_log(host)[0]["time"], "2026-01-01T00:00:00Z");
}

TEST(Log, OfAnImageGoesWithTheLastComponentUnlessAMachineWroteToItAsWell) {
  const ScratchHost host;
  host.spec(kOne);
  const auto before = host.tree();
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.tree(), before);
  const std::string line = R"({"event":"begin","id":"1","command":"apply","pid":1,"boot_id":"x"})";
  host.put(kImageLog, line + "\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_THAT(host.text(kImageLog), ::testing::StartsWith(line));
  EXPECT_EQ(image_log(host)[2]["command"], "remove");
}

// Before the fix, a removal that was killed after the state was removed left the log for good, and /var with it.
TEST(Log, OfAnImageGoesWithTheNextRunAfterARemovalThatWasInterrupted) {
  ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  const auto before = host.tree();
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const std::string log = host.text(kImageLog);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  host.put(kImageLog, log);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

TEST(Log, OfARootIsReadAsUntrusted) {
  const ScratchHost host;
  host.put(kImageLog, R"({"event":"image","command":"\u001b[2Jevil\nforged","components":[5,{"changes":{}},[]],)"
                      R"("generation":1e99,"arguments":"x","made":["/etc",7]})"
                      "\n[1]\n{\"pid\":1e99,\"id\":7}\n" +
                          std::string(2'000, '[') + "\n");
  const Ran text = host.bare({"log", "--root", host.folder().at("root").string()});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\\x1b[2Jevil\\nforged"));
  EXPECT_EQ(image_log(host).size(), 2U);
  std::filesystem::resize_file(host.path(kImageLog), 5U << 20U);
  EXPECT_EQ(host.bare({"log", "--root", host.folder().at("root").string()}).code, 1) << "too long";
  std::filesystem::remove(host.path(kImageLog));
  ASSERT_EQ(::mkfifo(host.path(kImageLog).c_str(), 0600), 0);
  EXPECT_EQ(host.bare({"log", "--root", host.folder().at("root").string()}).code, 1) << "nobody waits";
  host.spec(kOne);
  const Ran applied = host.slipway({"apply"});
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_THAT(applied.err, HasSubstr("the image's log could not be written"));
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

TEST(Log, NamesAnApplyThatWasInterrupted) {
  const ScratchHost host;
  host.folder().file(
      "log/history.jsonl",
      R"({"event":"begin","id":"1","command":"apply","time":"2026-01-01T00:00:00Z","pid":1,"boot_id":"x"})"
      "\n");
  EXPECT_EQ(log_of(host)[0]["result"], "cut off");
}

}  // namespace
}  // namespace slipway
