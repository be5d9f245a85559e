// SPDX-License-Identifier: Apache-2.0
// Components that set keys in files of other programs: applied, shared, edited by hand, removed again.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfig = "/etc/engine/config.toml";
constexpr const char* kText =
    "# what the administrator wrote\n"
    "version = 2\n"
    "\n"
    "[plugins.\"io.containerd.grpc.v1.cri\"]   # keep\n"
    "  sandbox_image = \"pause:3.9\"\n";

std::string merges(const std::string& keys) { return "{merges: {" + std::string(kConfig) + ": '" + keys + "'}}\n"; }

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() { host_.put("etc/engine/config.toml", kText); }

  void spec(const std::string& probe, const std::string& bystander = "") {
    std::string text;
    if (!probe.empty()) text += "    probe: " + merges(probe);
    if (!bystander.empty()) text += "    bystander: " + merges(bystander);
    host_.spec(text);
  }
  Ran apply() { return host_.slipway({"apply"}); }
  std::string config() const { return host_.text("etc/engine/config.toml"); }

  ScratchHost host_;
};

TEST_F(MergeTest, SetsItsKeysKeepsAllOtherBytesAndThenHasNothingToDo) {
  spec(R"({"root": "/data", "plugins": {"io.containerd.grpc.v1.cri": {"enable_cdi": true}}})");
  const Ran plan = host_.slipway({"plan"});
  EXPECT_EQ(plan.code, 2);
  EXPECT_THAT(plan.out, HasSubstr("enable_cdi")) << plan.err;
  ASSERT_EQ(apply().code, 0);
  EXPECT_THAT(config(), HasSubstr("enable_cdi = true"));
  std::istringstream lines(kText);
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(config(), HasSubstr(line));
  const Ran again = apply();
  EXPECT_THAT(again.out, HasSubstr("Nothing to do")) << again.err;
}

TEST_F(MergeTest, RestoresTheFileByteForByteOnRemoval) {
  const auto before = host_.tree();
  spec(R"({"root": "/data", "version": 3, "plugins": {"a.b": {"c": [1, 2]}}})");
  ASSERT_EQ(apply().code, 0);
  ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host_.text("etc/engine/config.toml"), kText);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(MergeTest, TwoComponentsShareAFileAndAreRemovedInAnyOrder) {
  for (const bool probe_first : {true, false}) {
    spec(R"({"root": "/data"})", R"({"state": "/run/state"})");
    const Ran both = apply();
    ASSERT_EQ(both.code, 0) << both.err;
    EXPECT_THAT(config(), HasSubstr("/data"));
    EXPECT_THAT(config(), HasSubstr("/run/state"));
    if (probe_first) {
      spec("", R"({"state": "/run/state"})");
    } else {
      spec(R"({"root": "/data"})");
    }
    const Ran one = apply();
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(config(), HasSubstr(probe_first ? "/run/state" : "/data"));
    EXPECT_THAT(config(), Not(HasSubstr(probe_first ? "/data" : "/run/state")));
    ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
    EXPECT_EQ(config(), kText);
  }
}

// Before the fix, the plan named the key, the apply left it in place, and then no record had its owner.
TEST_F(MergeTest, RestoresAKeyThatItsComponentNoLongerSets) {
  spec(R"({"root": "/data", "plugins": {"io.containerd.grpc.v1.cri": {"enable_cdi": true}}})");
  ASSERT_EQ(apply().code, 0);
  spec(R"({"root": "/data"})");
  const Ran fewer = apply();
  EXPECT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_THAT(config(), Not(HasSubstr("enable_cdi")));
  EXPECT_THAT(config(), HasSubstr("/data"));
  EXPECT_THAT(apply().out, HasSubstr("Nothing to do"));
  ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(config(), kText);
}

TEST_F(MergeTest, RefusesTwoComponentsThatWantTheSameKey) {
  const auto before = host_.tree();
  spec(R"({"root": "/data"})", R"({"root": "/other"})");
  const Ran refused = host_.slipway({"plan"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out + refused.err, HasSubstr("both want root in /etc/engine/config.toml"));
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(MergeTest, KeepsAKeyThatAUserChangedAndRestoresTheOthers) {
  spec(R"({"root": "/data", "state": "/run/state"})");
  ASSERT_EQ(apply().code, 0);
  std::string text = config();
  text.replace(text.find("/run/state"), sizeof("/run/state") - 1, "/mine");
  host_.put("etc/engine/config.toml", text + "[debug]\nlevel = \"info\"\n");
  const Ran again = apply();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(config(), HasSubstr("/mine"));
  ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  EXPECT_THAT(config(), Not(HasSubstr("/data")));
  EXPECT_THAT(config(), HasSubstr("/mine"));
  EXPECT_THAT(config(), HasSubstr("level = \"info\""));
}

TEST_F(MergeTest, RollbackBringsTheFormerValueBack) {
  spec(R"({"root": "/data"})");
  ASSERT_EQ(apply().code, 0);
  const std::string first = config();
  spec(R"({"root": "/other"})");
  ASSERT_EQ(apply().code, 0);
  EXPECT_THAT(config(), HasSubstr("/other"));
  const Ran back = host_.slipway({"rollback"});
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(config(), first);
}

TEST_F(MergeTest, RefusesAFileThatDoesNotParseAndNamesThePlace) {
  host_.put("etc/engine/config.toml", "version = 2\nroot = [1,\n");
  const auto before = host_.tree();
  spec(R"({"root": "/data"})");
  const Ran refused = apply();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("/etc/engine/config.toml:2:"));
  EXPECT_EQ(host_.tree(), before);
}

// An image's author writes its records: before the fix, a record without a key ended slipway.
TEST_F(MergeTest, ADamagedRecordIsAnErrorThatNamesTheFile) {
  spec(R"({"root": "/data"})");
  ASSERT_EQ(apply().code, 0);
  const std::string state = "var/lib/slipway/components/probe.json";
  for (const char* const part : {"original", "record"}) {
    const std::string whole = host_.text(state);
    Json damaged = Json::parse(whole);
    for (Json& item : damaged["items"])
      if (item["action"]["kind"] == "merge")
        item[part]["keys"].push_back({{"key", Json::array()}, {"edit", Json::object()}});
    host_.put(state, damaged.dump());
    spec(R"({"root": "/other"})");
    const Ran plan = host_.slipway({"plan"});
    EXPECT_EQ(plan.code, 1) << plan.out;
    EXPECT_THAT(plan.err + plan.out, HasSubstr("the record of slipway's keys in /etc/engine/config.toml is damaged"));
    host_.put(state, whole);
  }
}

}  // namespace
}  // namespace slipway
