// SPDX-License-Identifier: Apache-2.0
// State that another version of slipway wrote: an earlier one's is taken over whole, a later one's is left alone.
// recorded/format-1 is a root as slipway left it before the format had the writer's version in it: two generations of
// the component probe over files of the user's.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

const std::string kDesired =
    "    probe: {files: {/etc/probe.conf: \"two\\n\", /new/file: \"two\"}, "
    "merges: {/etc/engine.toml: '{\"a\": {\"set\": \"two\", \"new\": 2}}'}, "
    "units: {probe.service: \"[Service]\\nExecStart=/bin/true\\n\"}}\n";

class Recorded : public ScratchHost {
 public:
  Recorded() {
    namespace fs = std::filesystem;
    const fs::path from = SLIPWAY_TEST_RECORDED;
    const auto how =
        fs::copy_options::recursive | fs::copy_options::copy_symlinks | fs::copy_options::overwrite_existing;
    fs::copy(from, path(""), how);
    // git keeps no modes: the files are as slipway made them, except for the checkout's umask.
    for (const auto& entry : fs::recursive_directory_iterator(path("")))
      if (!entry.is_symlink()) fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
    spec(kDesired);
  }
};

// Except slipway's own unit, which every version may write differently.
TEST(StateOfAnEarlierFormat, IsReadAndItsComponentsAreUnchanged) {
  const Recorded host;
  const auto before = host.tree();
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("Generation 2 is active"));
  const Ran plan = host.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("probe: nothing to do")) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("slipway-boot: 3 changes\n  + change /etc/systemd/system/slipway-boot.service"));
  EXPECT_EQ(host.slipway({"verify", "--deep"}).code, 0);
  EXPECT_EQ(host.tree(), before);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"plan"}).code, 0);
}

TEST(StateOfAnEarlierFormat, IsConvertedByTheNextApplyWithNothingLost) {
  const Recorded host;
  EXPECT_EQ(host.text("var/lib/slipway/format"), "1\n");
  const auto before = host.tree();
  const Ran applied = host.slipway({"rollback", "1"});
  ASSERT_EQ(applied.code, 0) << applied.out << applied.err;
  EXPECT_THAT(host.text("var/lib/slipway/format"), ::testing::MatchesRegex("3 [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(host.text("etc/probe.conf"), "one\n");
  EXPECT_THAT(host.text("etc/engine.toml"), HasSubstr("set = \"one\""));
  const auto after = host.tree();
  for (const auto& [path, what] : before) EXPECT_TRUE(after.contains(path)) << path << " is lost";
  const Json written = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  const std::string earlier = before.at("var/lib/slipway/generations/1.json");
  for (const char* key : {"spec", "lock", "spec_file"})
    EXPECT_EQ(written[key], Json::parse(earlier.substr(earlier.find('{')))[key]) << key;
  for (const std::string same : {"generations/2.json", "origin.json"})
    EXPECT_EQ(after.at("var/lib/slipway/" + same), before.at("var/lib/slipway/" + same));
}

TEST(StateOfAnEarlierFormat, StillRestoresTheFilesFromBeforeSlipway) {
  const Recorded host;
  const Ran removed = host.slipway({"remove", "--all"});
  ASSERT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_EQ(host.text("etc/probe.conf"), "the user's\n");
  EXPECT_EQ(host.text("etc/engine.toml"), "# ours and theirs\n[a]\nkept = 1\nset = \"before\"\n");
  for (const char* gone : {"new", "etc/systemd", "var"}) EXPECT_FALSE(std::filesystem::exists(host.path(gone))) << gone;
}

TEST(StateOfALaterSlipway, IsRefusedByEachCommandWithAdviceAndStaysAsItIs) {
  const Recorded host;
  host.put("var/lib/slipway/format", "4 0.9.2\n");
  const auto before = host.tree();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"plan"},
                                                {"apply"},
                                                {"verify"},
                                                {"doctor", "-f", host.folder().at("host.yaml").string()},
                                                {"status"},
                                                {"rollback"},
                                                {"rollback", "1"},
                                                {"remove", "--all"},
                                                {"remove", "probe"},
                                                {"gc"},
                                                {"apply", "--boot"}}) {
    const Ran ran = host.slipway(words);
    EXPECT_EQ(ran.code, 1) << words[0] << ran.out;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("written by slipway 0.9.2 (format 4")) << words[0];
    EXPECT_THAT(ran.out + ran.err, HasSubstr("install slipway 0.9.2 or a later one")) << words[0];
    EXPECT_EQ(host.tree(), before) << words[0];
  }
}

TEST(StateOfALaterSlipway, WithoutAVersionIsRefusedToo) {
  const Recorded host;
  for (const char* format : {"4\n", "what\n", ""}) {
    host.put("var/lib/slipway/format", format);
    const auto before = host.tree();
    const Ran ran = host.slipway({"apply"});
    EXPECT_EQ(ran.code, 1) << format;
    const bool is_number = std::string(format) == "4\n";
    EXPECT_THAT(ran.err,
                HasSubstr(is_number ? "install the slipway that provisioned this root" : "run `slipway repair"))
        << format;
    EXPECT_EQ(host.tree(), before) << format;
  }
}

}  // namespace
}  // namespace slipway
