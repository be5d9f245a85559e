// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/modprobe_config.hpp"

#include <gmock/gmock.h>

#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestHost;

/// Returns "WHERE TEXT", with "!" where it prevents loading and "later" where it is read after slipway's own file.
std::vector<std::string> lines_of_host(const Host& host) {
  std::vector<std::string> texts;
  for (const auto& line : read_modprobe_config(host))
    texts.push_back(line.where + " " + line.text() + (line.prevents_loading() ? " !" : "") +
                    (line.later ? " later" : ""));
  return texts;
}

TEST(ModprobeConfig, HasTheLinesAboutTheDriversModulesWithTheirPlaces) {
  TestHost host;
  host.root().file("/etc/modprobe.d/x.conf",
                   "# install nvidia /bin/false\n\n\tinstall  nvidia   /bin/false\nblacklist nvidia_uvm\n"
                   "install nouveau /bin/false\ninstall nvidia-modeset /sbin/modprobe -i nvidia-modeset\n"
                   "softdep nvidia pre: vfio\n");
  host.root().file("/run/modprobe.d/zz.conf", "alias nvidia* off\noptions nvidia-drm \\\n modeset=1\n");
  EXPECT_THAT(lines_of_host(*host.offline()),
              ElementsAre("/etc/modprobe.d/x.conf:3 install nvidia /bin/false ! later",
                          "/etc/modprobe.d/x.conf:4 blacklist nvidia-uvm later",
                          "/etc/modprobe.d/x.conf:6 install nvidia-modeset /sbin/modprobe -i nvidia-modeset later",
                          "/run/modprobe.d/zz.conf:1 alias nvidia off ! later",
                          "/run/modprobe.d/zz.conf:1 alias nvidia-uvm off ! later",
                          "/run/modprobe.d/zz.conf:1 alias nvidia-modeset off ! later",
                          "/run/modprobe.d/zz.conf:1 alias nvidia-drm off ! later",
                          "/run/modprobe.d/zz.conf:1 alias nvidia-peermem off ! later",
                          "/run/modprobe.d/zz.conf:2 options nvidia-drm modeset=1 later"));
}

// kmod reads them by name over all folders; of two files with one name it takes the one in /etc.
TEST(ModprobeConfig, IsReadInTheOrderOfModprobe) {
  TestHost host;
  host.root().file("/etc/modprobe.d/slipway-nvidia.conf", "options nvidia A=0\n");
  host.root().file("/etc/modprobe.d/b.conf", "options nvidia A=1\n");
  host.root().file("/usr/lib/modprobe.d/b.conf", "install nvidia /bin/false\n");
  host.root().file("/usr/lib/modprobe.d/a.conf", "options nvidia A=2\n");
  host.root().file("/usr/lib/modprobe.d/slipway-nvidia.conf", "install nvidia /bin/false\n");
  host.root().file("/usr/local/lib/modprobe.d/t.conf", "options nvidia A=3\n");
  host.root().file("/etc/modprobe.d/readme.txt", "install nvidia /bin/false\n");
  EXPECT_THAT(
      lines_of_host(*host.offline()),
      ElementsAre("/usr/lib/modprobe.d/a.conf:1 options nvidia A=2", "/etc/modprobe.d/b.conf:1 options nvidia A=1",
                  "/usr/local/lib/modprobe.d/t.conf:1 options nvidia A=3 later"));
}

TEST(ModprobeConfig, OfALiveMachineHasTheKernelsCommandLine) {
  TestHost host;
  host.view().file("/proc/cmdline",
                   "BOOT_IMAGE=/vmlinuz ro module_blacklist=nouveau,nvidia_uvm,nvidia-drm nvidia.NVreg_A=1 "
                   "modprobe.blacklist=nvidia\n");
  EXPECT_THAT(lines_of_host(*host.live()),
              ElementsAre("/proc/cmdline module_blacklist=nvidia_uvm !", "/proc/cmdline options nvidia NVreg_A=1 later",
                          "/proc/cmdline blacklist nvidia"));
  EXPECT_THAT(lines_of_host(*host.offline()), IsEmpty()) << "the machine that builds an image does not boot it";
}

TEST(ModprobeConfig, OfAHostileRootIsBounded) {
  TestHost host;
  std::string text;
  for (int n = 0; n < 1000; ++n) text += "options nvidia A=" + std::string(1000, 'x') + "\n";
  host.root().file("/etc/modprobe.d/x.conf", text + "\\");
  const auto lines = read_modprobe_config(*host.offline());
  EXPECT_EQ(lines.size(), 64U);
  EXPECT_EQ(lines.front().rest.size(), 256U);
}

TEST(ModprobeOptions, AreTakenApartWithTheirQuotes) {
  EXPECT_THAT(options_in("A=1 B=\"x y\"\tC= D"),
              ElementsAre(std::pair("A", "1"), std::pair("B", "x y"), std::pair("C", "")));
  EXPECT_THAT(options_in("A=1 A=2"), ElementsAre(std::pair("A", "2")));
}

TEST(ModprobeOptions, AreTheSameInEachFormOfANumber) {
  for (const auto& [one, other] : {std::pair("1", "0x1"), std::pair("Y", "1"), std::pair("0", "N"),
                                   std::pair("-1", "4294967295"), std::pair("0660", "432"), std::pair("a", "a")})
    EXPECT_TRUE(same_value(one, other)) << one << " " << other;
  for (const auto& [one, other] : {std::pair("1", "0"), std::pair("", "0"), std::pair("1a", "1")})
    EXPECT_FALSE(same_value(one, other)) << one << " " << other;
}

}  // namespace
}  // namespace slipway::driver
