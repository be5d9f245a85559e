// SPDX-License-Identifier: Apache-2.0
// A driver upgrade and the boot after it, through the command line: the former driver stays in the store until a boot
// has verified the new one, so that going back needs no source. Boots of the simulated machine differ in its boot id.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string kOld = "535.183.06";
const std::string kNew = "535.261.03";
const std::string kFirstBoot = "11111111-1111-4111-8111-111111111111";
const std::string kSecondBoot = "22222222-2222-4222-8222-222222222222";
const std::string kThirdBoot = "33333333-3333-4333-8333-333333333333";
const std::string kModules = "usr/lib/slipway/store/driver/current/modules/6.1.0-50-amd64/kernel/nvidia.ko";

class BootProof : public ::testing::Test {
 protected:
  BootProof() { fs::copy(SLIPWAY_TEST_VERSIONS, source(), fs::copy_options::recursive); }

  std::string source() const { return root.folder().at("source").string(); }
  void want(const std::string& version, const std::string& head = "") const {
    root.folder().file("host.yaml", "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n" + head +
                                        "  components:\n    driver: {version: \"" + version +
                                        "\", modules: open, source: {repository: \"" + source() +
                                        "\", trust: unsigned}}\n");
  }
  void boot(const std::string& id) const {
    std::ifstream profile(std::string(SLIPWAY_SOURCES) + "/sim/profiles/h100x8.yaml");
    std::ostringstream text;
    text << profile.rdbuf() << "\nfiles: {/proc/sys/kernel/random/boot_id: \"" << id << "\\n\"}\n";
    root.folder().file("machine.yaml", text.str());
  }
  Ran run(const std::vector<std::string>& words) const {
    return root.run(words, root.folder().at("machine.yaml").string());
  }
  void expect_done(const std::vector<std::string>& words) const {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << words[0] << "\n" << ran.out << ran.err;
  }
  /// The old driver is generation 1, the new one generation 2; then the source and its downloads are gone.
  void upgrade() const {
    boot(kFirstBoot);
    want(kOld);
    expect_done({"apply"});
    want(kNew);
    expect_done({"apply"});
    ASSERT_EQ(installed(), kNew);
    lose_source();
  }
  void lose_source() const {
    fs::rename(source(), root.folder().at("elsewhere"));
    fs::remove_all(root.folder().at("cache"));
    root.folder().directory("cache");
  }
  void restore_source() const { fs::rename(root.folder().at("elsewhere"), source()); }
  std::string installed() const { return Json::parse(root.text("usr/lib/slipway/driver.json")).value("version", ""); }
  std::size_t layers() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(root.path("usr/lib/slipway/store/driver")))
      if (entry.is_directory() && entry.path().filename().string().starts_with("sha256-")) ++count;
    return count;
  }
  std::string generations() const { return run({"generations"}).out; }
  /// The installed driver does not work: its verify reports a missing module.
  void spoil() const { ASSERT_TRUE(fs::remove(root.path(kModules))); }

  DriverRoot root;
};

// Before the fix, the layers of the former driver were removed at once, and a rollback asked the source for them.
TEST_F(BootProof, RollbackAfterAnUpgradeNeedsNoSource) {
  upgrade();
  expect_done({"rollback"});
  EXPECT_EQ(installed(), kOld);
  EXPECT_TRUE(fs::exists(root.path(kModules)));
  EXPECT_FALSE(fs::exists(root.path("var/lib/slipway/unproven.json"))) << "the former driver is in use again";
  EXPECT_THAT(generations(), Not(HasSubstr("\n3"))) << "no third generation";
  EXPECT_THAT(run({"status"}).out, HasSubstr("Generation 1 is active"));
}

TEST_F(BootProof, OfAnUpgradeIsABootWithAnotherIdThatVerifies) {
  upgrade();
  const std::size_t both = layers();
  EXPECT_THAT(run({"status"}).out,
              AllOf(HasSubstr("Generation 2 is active"), HasSubstr("Generation 2 waits for a boot that verifies it")));
  expect_done({"verify", "--boot"});
  expect_done({"gc"});
  EXPECT_EQ(layers(), both) << "the same boot proves nothing, and gc takes nothing before";
  boot(kSecondBoot);
  expect_done({"apply", "--boot"});
  expect_done({"gc"});
  EXPECT_EQ(layers(), both) << "the boot is not verified yet";
  expect_done({"verify", "--boot"});
  EXPECT_THAT(run({"status"}).out, Not(HasSubstr("waits for a boot")));
  expect_done({"gc"});
  EXPECT_LT(layers(), both);
  EXPECT_FALSE(fs::exists(root.path("var/lib/slipway/unproven.json")));
  EXPECT_EQ(run({"rollback"}).code, 1) << "it needs the source now";
  EXPECT_EQ(installed(), kNew);
}

TEST_F(BootProof, LetsTheNextApplyRemoveTheFormerLayers) {
  upgrade();
  const std::size_t both = layers();
  boot(kSecondBoot);
  expect_done({"apply", "--boot"});
  expect_done({"verify", "--boot"});
  boot(kThirdBoot);
  expect_done({"apply", "--boot"});
  EXPECT_LT(layers(), both);
  EXPECT_EQ(run({"verify"}).code, 0);
}

TEST_F(BootProof, ThatFailsReturnsToTheFormerDriverInThatBootWithoutTheSource) {
  upgrade();
  spoil();
  boot(kSecondBoot);
  const Ran booted = run({"apply", "--boot"});
  EXPECT_EQ(booted.code, 0) << booted.out << booted.err;
  EXPECT_THAT(booted.out + booted.err,
              AllOf(HasSubstr("generation 2 did not pass its first boot"), HasSubstr("driver.modules"),
                    HasSubstr("set back to its state in generation 1"), HasSubstr("Generation 1 is active")));
  EXPECT_EQ(installed(), kOld);
  EXPECT_TRUE(fs::exists(root.path(kModules)));
  EXPECT_THAT(generations(), Not(HasSubstr("\n3")));
  expect_done({"verify", "--boot"});
  EXPECT_THAT(run({"status"}).out, HasSubstr("set back to its state in generation 1"));
}

TEST_F(BootProof, IsNotAskedForInTheBootThatAppliedTheUpgrade) {
  upgrade();
  spoil();
  EXPECT_EQ(run({"apply", "--boot"}).code, 0);
  EXPECT_EQ(installed(), kNew);
}

// An upgrade that is applied again by a unit at each boot must not move the machine back and forth for ever.
TEST_F(BootProof, ThatFailsAgainLeavesTheUpgradeAndSaysSo) {
  upgrade();
  spoil();
  boot(kSecondBoot);
  expect_done({"apply", "--boot"});
  ASSERT_EQ(installed(), kOld);
  restore_source();
  expect_done({"apply"});
  ASSERT_EQ(installed(), kNew);
  spoil();
  boot(kThirdBoot);
  const Ran booted = run({"apply", "--boot"});
  EXPECT_EQ(booted.code, 1) << booted.out << booted.err;
  EXPECT_THAT(booted.out, AllOf(HasSubstr("it stays now"), HasSubstr("`slipway rollback 1")));
  EXPECT_EQ(installed(), kNew);
  EXPECT_EQ(run({"verify", "--boot"}).code, 1);
  lose_source();
  expect_done({"rollback", "1"});
  EXPECT_EQ(installed(), kOld);
}

TEST_F(BootProof, DoesNotReturnWhereTheSpecKeepsFailedChanges) {
  boot(kFirstBoot);
  want(kOld, "  on_failed_verify: keep\n");
  expect_done({"apply"});
  want(kNew, "  on_failed_verify: keep\n");
  expect_done({"apply"});
  spoil();
  boot(kSecondBoot);
  EXPECT_EQ(run({"apply", "--boot"}).code, 1);
  EXPECT_EQ(installed(), kNew);
}

TEST_F(BootProof, OfTwoUpgradesInOneBootReturnsToTheDriverBeforeBoth) {
  boot(kFirstBoot);
  for (const std::string& version : {kOld, kNew, std::string("550.163.01")}) {
    want(version);
    expect_done({"apply"});
  }
  lose_source();
  spoil();
  boot(kSecondBoot);
  expect_done({"apply", "--boot"});
  EXPECT_EQ(installed(), kOld);
}

TEST_F(BootProof, KeepsNothingInARootWithoutABootId) {
  root.put("lib/modules/6.1.0-50-amd64/modules.builtin", "");
  want(kOld);
  EXPECT_EQ(root.slipway({"apply"}).code, 0);
  const std::size_t one = layers();
  want(kNew);
  EXPECT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_EQ(layers(), one);
  EXPECT_FALSE(fs::exists(root.path("var/lib/slipway/unproven.json")));
}

TEST_F(BootProof, OfADamagedRecordIsRepairedAndNoOtherFolderIsTouched) {
  upgrade();
  Json record = Json::parse(root.text("var/lib/slipway/unproven.json"));
  record["stores"]["driver"]["former"] = {"../../../../etc"};
  root.put("var/lib/slipway/unproven.json", record.dump());
  EXPECT_EQ(run({"gc"}).code, 1);
  EXPECT_EQ(root.slipway({"repair", "--yes"}).code, 0);
  expect_done({"gc"});
  EXPECT_EQ(installed(), kNew);
}

TEST_F(BootProof, GoesWithTheComponent) {
  upgrade();
  expect_done({"remove", "--all"});
  EXPECT_FALSE(fs::exists(root.path("usr/lib/slipway/store")));
  EXPECT_FALSE(fs::exists(root.path("var/lib/slipway")));
}

}  // namespace
}  // namespace slipway
