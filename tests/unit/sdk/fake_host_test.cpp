// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <slipway/testing/failing_host.hpp>
#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/summary.hpp>

namespace slipway::testing {
namespace {

constexpr std::chrono::seconds kLimit{1};

TEST(FakeHost, IsAnEmptyOfflineRootAtFirst) {
  const FakeHost host;
  EXPECT_FALSE(host.live());
  EXPECT_FALSE(host.has_kernel_view());
  EXPECT_EQ(host.hardware(), "assume");
  EXPECT_TRUE(host.list("/")->empty());
  EXPECT_EQ(host.kernel_release().error().code, ErrorCode::not_found);
  EXPECT_EQ(host.run({"true"}, kLimit).error().code, ErrorCode::offline);
}

TEST(FakeHost, ShowsTheFilesAndLinksItWasGiven) {
  FakeHost host;
  host.file("/etc/name", "node\n", 0600).link("/alias", "/etc/name").directory("/var/empty");
  EXPECT_EQ(*host.read("/alias"), "node\n");
  EXPECT_EQ(host.info("/etc/name")->mode, 0600U);
  EXPECT_TRUE(host.list("/var/empty")->empty());
  host.without("/etc/name");
  EXPECT_FALSE(host.exists("/alias"));
}

TEST(FakeHost, MayBeMadeByAFunction) {
  const auto make = [] {
    FakeHost host;
    host.file("/etc/name", "node").live("6.1");
    return host;
  };
  const FakeHost host = make();
  EXPECT_EQ(*host.read("/etc/name"), "node");
  EXPECT_EQ(*host.kernel_release(), "6.1");
}

TEST(FakeHost, HasAKernelsViewOnceSomethingIsInIt) {
  FakeHost host;
  host.pci(
      {.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200, .driver = "nvidia"});
  host.pci({.address = "0000:02:00.0", .vendor = 0x15b3, .device_class = 0x020700, .numa_node = 1});
  host.module_loaded_now("nvidia").module_loaded_now("nvidia_uvm").module_built_in("pci_hotplug");
  host.device_major("nvidia", 195).device_major("nvidia-caps", 509);
  EXPECT_EQ(host.hardware(), "detect");
  EXPECT_EQ(host.hardware("require").hardware(), "require");
  ASSERT_EQ(host.pci_devices({}).size(), 2U);
  EXPECT_EQ(host.pci_devices({})[0].numa_node, 1);
  EXPECT_EQ(host.pci_devices({.vendor = 0x10de, .base_class = 3})[0].driver, "nvidia");
  EXPECT_TRUE(host.module_loaded("nvidia"));
  EXPECT_TRUE(host.module_loaded("nvidia-uvm"));
  EXPECT_TRUE(host.module_loaded("pci_hotplug"));
  EXPECT_FALSE(host.module_loaded("nouveau"));
  EXPECT_EQ(host.character_major("nvidia"), 195U);
  EXPECT_EQ(host.character_major("nvidia-caps"), 509U);
}

TEST(FakeHost, HasKernelsAndARelease) {
  FakeHost host;
  host.os_release({{"ID", "debian"}, {"VERSION_ID", "12"}}).kernel("6.1.0-50-amd64");
  EXPECT_EQ(host.os_release("VERSION_ID"), "12");
  EXPECT_EQ(*host.kernel_release(), "6.1.0-50-amd64");
  EXPECT_EQ(*host.live("6.1.0-56-amd64").kernel_release(), "6.1.0-56-amd64");
  EXPECT_EQ(*host.asked_kernel("6.1.0-50-amd64").kernel_release(), "6.1.0-50-amd64");
  EXPECT_EQ(host.arch("aarch64").arch(), "aarch64");
}

TEST(FakeHost, HasDevicesThatOpenOrDoNot) {
  FakeHost host;
  host.device("/dev/nvidia0", 195, 0).device("/dev/nvidiactl", 195, 255, 0600, false);
  EXPECT_EQ(host.info("/dev/nvidiactl")->device_minor, 255U);
  EXPECT_EQ(host.info("/dev/nvidiactl")->type, FileInfo::Type::character_device);
  EXPECT_TRUE(host.opens("/dev/nvidia0").ok());
  EXPECT_EQ(host.opens("/dev/nvidiactl").error().code, ErrorCode::denied);
  EXPECT_EQ(host.opens("/dev/nvidia1").error().code, ErrorCode::not_found);
  EXPECT_EQ(*host.list("/dev"), (std::vector<std::string>{"nvidia0", "nvidiactl"}));
}

TEST(FakeHost, AnswersForProgramsAndRemembersThem) {
  FakeHost host;
  host.live("6.1").answers({"nvidia-smi", "-L"}, {.output = "GPU 0\n"});
  host.fails({"modprobe", "nvidia"}, Error{.code = ErrorCode::timed_out, .what = "slow"});
  EXPECT_EQ(host.run({"nvidia-smi", "-L"}, kLimit)->output, "GPU 0\n");
  EXPECT_EQ(host.run({"modprobe", "nvidia"}, kLimit).error().code, ErrorCode::timed_out);
  EXPECT_NE(host.run({"other", "one"}, kLimit).error().what.find("other one"), std::string::npos);
  EXPECT_EQ(host.ran().size(), 3U);
  EXPECT_EQ(host.ran()[1], (std::vector<std::string>{"modprobe", "nvidia"}));
}

TEST(FakeHost, CanBeHandedToAWorkerByItsConfig) {
  FakeHost host;
  host.file("/etc/name", "node").live("6.1.0-50-amd64");
  const auto same = std::move(*open_host(host.config()));
  EXPECT_EQ(*same->read("/etc/name"), "node");
  EXPECT_EQ(*same->kernel_release(), "6.1.0-50-amd64");
}

TEST(FailingHost, FailsTheChosenCall) {
  FakeHost machine;
  machine.file("/a", "1").file("/b", "2");
  FailingHost host(machine);
  host.fail("read", 2);
  EXPECT_TRUE(host.read("/a").ok());
  EXPECT_TRUE(host.info("/a").ok());
  EXPECT_EQ(host.read("/a").error().code, ErrorCode::io);
  EXPECT_TRUE(host.read("/a").ok());
  EXPECT_EQ(host.calls(), 4U);
  EXPECT_EQ(host.calls("read"), 3U);
}

TEST(FailingHost, FailsAtAPathAndAtTheNthCallOfAnyKind) {
  FakeHost machine;
  machine.file("/a", "1").live("6.1").answers({"true"}, {});
  FailingHost host(machine);
  host.fail_at("/a", system_error("read", "/a", EACCES)).fail_at("true").fail(5);
  EXPECT_EQ(host.read("/a").error().code, ErrorCode::denied);
  EXPECT_FALSE(host.exists("/a"));
  EXPECT_FALSE(host.run({"true"}, kLimit).ok());
  EXPECT_TRUE(host.list("/").ok());
  EXPECT_FALSE(host.list("/").ok());
  EXPECT_FALSE(host.opens("/dev/none").ok());
}

TEST(Summary, SaysAPlanInALinePerAction) {
  Plan plan;
  plan.add(action::file({.path = "/etc/a", .content = "x"}));
  plan.add(action::kernel_module("nvidia"));
  plan.note("two things");
  EXPECT_EQ(summary(plan), "file /etc/a\nkernel-module nvidia\nnote: two things\n");
}

}  // namespace
}  // namespace slipway::testing
