// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <slipway/local_host.hpp>
#include <slipway/testing/temp_dir.hpp>
#include <slipway/unix_socket.hpp>

namespace slipway {
namespace {

using testing::TempDir;

class HostTest : public ::testing::Test {
 protected:
  HostTest() : host_(std::move(*open_host({.root = tree_.string(), .kernel_view = tree_.string()}))) {}

  void pci(const std::string& address, const std::string& vendor, const std::string& device_class,
           const std::string& driver = "", const std::string& numa_node = "-1") {
    const std::string real = "/sys/devices/pci0000:00/" + address;
    tree_.file(real + "/vendor", vendor + "\n");
    tree_.file(real + "/device", "0x2330\n");
    tree_.file(real + "/subsystem_vendor", "0x10de\n");
    tree_.file(real + "/subsystem_device", "0x16c1\n");
    tree_.file(real + "/class", device_class + "\n");
    tree_.file(real + "/numa_node", numa_node + "\n");
    if (!driver.empty()) tree_.link(real + "/driver", "../../../bus/pci/drivers/" + driver);
    tree_.link("/sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
  }

  TempDir tree_;
  std::unique_ptr<Host> host_;
};

TEST_F(HostTest, ReadsPciFunctionsFromSysfs) {
  pci("0000:65:00.0", "0x10de", "0x030200", "nvidia", "1");
  const std::vector<PciDevice> devices = host_->pci_devices({});
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].address, "0000:65:00.0");
  EXPECT_EQ(devices[0].vendor, 0x10de);
  EXPECT_EQ(devices[0].device, 0x2330);
  EXPECT_EQ(devices[0].subsystem_vendor, 0x10de);
  EXPECT_EQ(devices[0].subsystem_device, 0x16c1);
  EXPECT_EQ(devices[0].device_class, 0x030200U);
  EXPECT_EQ(devices[0].driver, "nvidia");
  EXPECT_EQ(devices[0].numa_node, 1);
}

TEST_F(HostTest, ListsPciFunctionsByAddressAndFilter) {
  pci("10000:00:00.0", "0x8086", "0x060400");
  pci("0000:ca:00.0", "0x10de", "0x068000");
  pci("0000:65:00.0", "0x10de", "0x030200");
  pci("0000:02:00.0", "0x15b3", "0x020700");
  std::vector<std::string> addresses;
  for (const PciDevice& device : host_->pci_devices({})) addresses.push_back(device.address);
  EXPECT_EQ(addresses, (std::vector<std::string>{"0000:02:00.0", "0000:65:00.0", "0000:ca:00.0", "10000:00:00.0"}));
  EXPECT_EQ(host_->pci_devices({.vendor = 0x10de}).size(), 2U);
  EXPECT_EQ(host_->pci_devices({.vendor = 0x10de, .base_class = 0x03}).size(), 1U);
  EXPECT_TRUE(host_->pci_devices({.vendor = 0x1002}).empty());
}

TEST_F(HostTest, LeavesOutAFunctionThatWentAwayMeanwhile) {
  pci("0000:65:00.0", "0x10de", "0x030200");
  tree_.link("/sys/bus/pci/devices/0000:66:00.0", "../../../devices/gone");
  EXPECT_EQ(host_->pci_devices({}).size(), 1U);
}

TEST_F(HostTest, KnowsNoNumaNodeAndNoDriverWhereTheKernelHasNone) {
  pci("0000:65:00.0", "0x10de", "0x030200");
  EXPECT_FALSE(host_->pci_devices({})[0].numa_node.has_value());
  EXPECT_EQ(host_->pci_devices({})[0].driver, "");
}

TEST_F(HostTest, FindsLoadedAndBuiltInModulesInEitherSpelling) {
  tree_.file("/proc/modules", "nvidia_uvm 1556480 0 - Live 0x0\nnvidia 60000000 2 nvidia_uvm, Live 0x0 (OE)\n");
  tree_.file("/sys/module/pci_hotplug/uevent", "");
  EXPECT_TRUE(host_->module_loaded("nvidia"));
  EXPECT_TRUE(host_->module_loaded("nvidia-uvm"));
  EXPECT_TRUE(host_->module_loaded("nvidia_uvm"));
  EXPECT_TRUE(host_->module_loaded("pci-hotplug"));
  EXPECT_FALSE(host_->module_loaded("nvidia_u"));
  EXPECT_FALSE(host_->module_loaded("nouveau"));
  EXPECT_FALSE(host_->module_loaded(""));
  EXPECT_FALSE(host_->module_loaded(".."));
}

TEST_F(HostTest, FindsTheMajorOfACharacterDeviceOnly) {
  tree_.file(
      "/proc/devices",
      "Character devices:\n  1 mem\n195 nvidia-frontend\n195 nvidia\n509 nvidia caps\n\nBlock devices:\n  8 sd\n");
  EXPECT_EQ(host_->character_major("nvidia"), 195U);
  EXPECT_EQ(host_->character_major("nvidia caps"), 509U);
  EXPECT_EQ(host_->character_major("sd"), std::nullopt);
  EXPECT_EQ(host_->character_major("nvid"), std::nullopt);
}

TEST_F(HostTest, ReadsOsReleaseWithItsQuotes) {
  tree_.file("/usr/lib/os-release", "ID=other\n");
  EXPECT_EQ(host_->os_release("ID"), "other");
  tree_.file("/etc/os-release",
             "# a comment\nPRETTY_NAME=\"Debian \\\"bookworm\\\"\"\nID=debian\nVERSION_ID='12'\nIDX=no\n");
  EXPECT_EQ(host_->os_release("ID"), "debian");
  EXPECT_EQ(host_->os_release("VERSION_ID"), "12");
  EXPECT_EQ(host_->os_release("PRETTY_NAME"), "Debian \"bookworm\"");
  EXPECT_EQ(host_->os_release("NONE"), "");
}

Fd listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listening.get(), 1), 0);
  return listening;
}

// A socket remains when its program is killed.
TEST_F(HostTest, KnowsWhetherAProcessListensAtASocket) {
  EXPECT_FALSE(service_runs(*host_, "gfd"));
  tree_.directory("/run/slipway/service");
  const std::string path = tree_.at("/run/slipway/service/gfd.sock").string();
  {
    const Fd listening = listen_at(path);
    EXPECT_TRUE(service_runs(*host_, "gfd"));
    EXPECT_FALSE(service_runs(*host_, "validator"));
    tree_.link("/outside.sock", path);
    EXPECT_FALSE(connect_to(*host_, "/outside.sock")) << "its target is a path inside of the root, where there is none";
  }
  EXPECT_FALSE(service_runs(*host_, "gfd"));
  EXPECT_EQ(connect_to(*host_, "/run/slipway/service/gfd.sock").error().code, ErrorCode::unreachable);
}

// Before the fix, a simulated machine without a root of its own asked this machine's kubelet for the users of its GPUs.
TEST_F(HostTest, HasNoListenersInABorrowedRoot) {
  const std::string path = tree_.at("listens.sock").string();
  const Fd listening = listen_at(path);
  const auto here = open_host({.root = "/", .live = true});
  ASSERT_TRUE(here.ok());
  EXPECT_FALSE((*here)->borrows_root());
  EXPECT_TRUE(connect_to(**here, path).ok());
  const auto simulated = open_host({.root = "/", .kernel_view = tree_.string()});
  ASSERT_TRUE(simulated.ok());
  EXPECT_TRUE((*simulated)->borrows_root());
  EXPECT_EQ(connect_to(**simulated, path).error().code, ErrorCode::not_found);
  EXPECT_FALSE(host_->borrows_root()) << "a root of its own";
}

TEST_F(HostTest, SaysWhichFolderShowsItsKernel) {
  EXPECT_EQ(host_->kernel_folder(), tree_.string());
  EXPECT_EQ((*open_host({.root = "/", .live = true}))->kernel_folder(), "/");
  EXPECT_EQ((*open_host({.root = tree_.string()}))->kernel_folder(), "");
}

TEST_F(HostTest, OfToolsIsTheMachineThatTheEnvironmentNames) {
  const char* const sim = std::getenv("SLIPWAY_SIM");
  const char* const library = std::getenv("SLIPWAY_NVML");
  ASSERT_TRUE(sim == nullptr && library == nullptr);
  EXPECT_TRUE(host_of_tools().live);
  setenv("SLIPWAY_NVML", "/opt/libnvidia-ml.so.1", 1);
  EXPECT_TRUE(host_of_tools().live) << "another driver of this machine";
  setenv("SLIPWAY_SIM", "/tmp/m", 1);
  EXPECT_FALSE(host_of_tools().live);
  EXPECT_EQ(host_of_tools().kernel_view, "/");
  unsetenv("SLIPWAY_SIM");
  unsetenv("SLIPWAY_NVML");
}

}  // namespace
}  // namespace slipway
