// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <slipway/testing/failing_host.hpp>
#include <slipway/testing/fake_host.hpp>

#include "base/kernels/grub_menu.hpp"
#include "base/kernels/kernels.hpp"

namespace slipway::base {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

// The text of Debian 12's grub-mkconfig, shortened.
std::string grub_cfg(const std::string& fallback) {
  return "if [ -s $prefix/grubenv ]; then\n  set have_grubenv=true\n  load_env\nfi\n"
         "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\n   set next_entry=\n"
         "else\n   set default=\"" +
         fallback +
         "\"\nfi\n"
         "function load_video {\n  insmod all_video\n}\n"
         "menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {\n"
         "\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=1 ro  quiet\n\tinitrd\t/boot/initrd.img-6.1.0-56-amd64\n}\n"
         "submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-1' {\n"
         "\tmenuentry 'Debian GNU/Linux, with Linux 6.1.0-56-amd64' $menuentry_id_option 'gnulinux-6.1.0-56-amd64' {\n"
         "\t\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 ro\n\t}\n"
         "\tmenuentry 'Debian GNU/Linux, with Linux 6.1.0-50-amd64' $menuentry_id_option 'gnulinux-6.1.0-50-amd64' {\n"
         "\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 ro\n\t}\n}\n"
         "menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {\n\tfwsetup\n}\n";
}

class NextBootTest : public ::testing::Test {
 protected:
  NextBootTest() { host.kernel("6.1.0-50-amd64").kernel("6.1.0-56-amd64").kernel("6.1.0-9-amd64"); }
  std::string next() const { return next_boot(host).release; }
  std::string how() const { return next_boot(host).how; }

  FakeHost host;
};

TEST(GrubMenu, OfEndlessSubmenusIsReadNoDeeperThanMenusAre) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "submenu x {\n";
  for (int i = 0; i < 200'000; ++i) text += "}\n";
  EXPECT_EQ(parse_grub_menu(text).entries.size(), 1U);
}

TEST_F(NextBootTest, IsTheNewestKernelWithoutABootLoader) {
  EXPECT_EQ(next(), "6.1.0-56-amd64");
  EXPECT_THAT(how(), HasSubstr("the newest"));
}

TEST_F(NextBootTest, FollowsDebiansLink) {
  host.link("/vmlinuz", "boot/vmlinuz-6.1.0-50-amd64");
  EXPECT_EQ(next(), "6.1.0-50-amd64");
}

TEST_F(NextBootTest, IsGrubsDefaultByIndexTitleAndId) {
  const std::map<std::string, std::string> expected{
      {"0", "6.1.0-56-amd64"},
      {"1", "6.1.0-56-amd64"},
      {"1>1", "6.1.0-50-amd64"},
      {"Debian GNU/Linux", "6.1.0-56-amd64"},
      {"gnulinux-advanced-1>gnulinux-6.1.0-50-amd64", "6.1.0-50-amd64"},
      {"Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux 6.1.0-50-amd64", "6.1.0-50-amd64"}};
  for (const auto& [fallback, release] : expected) {
    host.file("/boot/grub/grub.cfg", grub_cfg(fallback));
    EXPECT_EQ(next(), release) << fallback;
    EXPECT_EQ(how(), "the default of /boot/grub/grub.cfg");
  }
}

TEST_F(NextBootTest, IsTheSavedEntryOfGrubenv) {
  host.file("/boot/grub/grub.cfg", grub_cfg("${saved_entry}"));
  EXPECT_EQ(next(), "6.1.0-56-amd64") << "nothing is saved";
  const std::string saved = "# GRUB Environment Block\nsaved_entry=gnulinux-advanced-1>gnulinux-6.1.0-50-amd64\n";
  host.file("/boot/grub/grubenv", saved + "####");
  EXPECT_EQ(next(), "6.1.0-50-amd64");
  EXPECT_EQ(how(), "saved_entry of /boot/grub/grubenv");
  host.file("/boot/grub/grubenv", saved + "next_entry=0\n####");
  EXPECT_EQ(next(), "6.1.0-56-amd64") << "once";
}

TEST_F(NextBootTest, IsUnknownForAMenuWithoutAKernel) {
  for (const std::string& fallback : {std::string("2"), std::string("7"), std::string("no such")}) {
    host.file("/boot/grub/grub.cfg", grub_cfg(fallback));
    EXPECT_EQ(next(), "") << fallback;
    EXPECT_THAT(how(), HasSubstr("'" + fallback + "', and its menu has no such entry with a kernel release"));
  }
  host.file("/boot/grub/grub.cfg", "insmod blscfg\nblscfg\n");
  EXPECT_EQ(next(), "");
  EXPECT_THAT(how(), HasSubstr("blscfg"));
}

TEST_F(NextBootTest, IsUnknownToAUserWhoMayNotReadTheMenu) {
  host.file("/boot/grub/grub.cfg", grub_cfg("1>1"));
  const auto ordinary = slipway::testing::FailingHost(host).fail_at("/boot/grub/grub.cfg",
                                                                    {ErrorCode::denied, "not for you", {}, {}, {}});
  EXPECT_EQ(next_boot(ordinary).release, "");
  EXPECT_EQ(next_boot(ordinary).how, "only root may read /boot/grub/grub.cfg");
}

TEST_F(NextBootTest, IsSystemdBootsDefault) {
  const std::string entries = "/boot/loader/entries/";
  host.file(entries + "debian-6.1.0-50-amd64.conf", "title Debian\nversion 6.1.0-50-amd64\nlinux /debian/6.1/linux\n");
  host.file(entries + "debian-6.1.0-9-amd64.conf", "title Debian\nlinux   /vmlinuz-6.1.0-9-amd64\n");
  host.file("/boot/loader/loader.conf", "# a note\ntimeout 3\n");
  EXPECT_EQ(next(), "6.1.0-50-amd64");
  host.file("/boot/loader/loader.conf", "default debian-6.1.0-9*\n");
  EXPECT_EQ(next(), "6.1.0-9-amd64");
  EXPECT_EQ(how(), "the default of /boot/loader/loader.conf");
  host.file("/boot/loader/loader.conf", "default @saved\n");
  EXPECT_EQ(next(), "");
  EXPECT_THAT(how(), HasSubstr("@saved, whose value only the firmware has"));
  host.file("/boot/loader/loader.conf", "default fedora-*\n");
  EXPECT_THAT(how(), HasSubstr("names a default that has no entry"));
}

TEST_F(NextBootTest, OfSystemdBootLeavesCountersOut) {
  host.file("/boot/loader/entries/m-6.1.0-50-amd64+3-1.conf", "linux /vmlinuz-6.1.0-50-amd64\n");
  host.file("/boot/loader/loader.conf", "default m-6.1.0-50-amd64.conf\n");
  EXPECT_EQ(next(), "6.1.0-50-amd64");
}

// Before the fix, a release name of a megabyte, two hundred times, kept a privileged `slipway status` busy for minutes.
TEST_F(NextBootTest, OfHostileEntriesIsFoundQuickly) {
  for (int i = 0; i < 1000; ++i)
    host.file("/boot/loader/entries/" + std::to_string(i) + ".conf", "version " + std::string(10'000, '1') + "a\n");
  host.file("/boot/loader/loader.conf", "default *\n");
  EXPECT_EQ(next(), "");
  EXPECT_THAT(how(), HasSubstr("names no kernel release"));
}

TEST(GrubMenu, OfHostileTextHasNoEntriesAndDoesNotHang) {
  for (const char* text : {"}}}}", "menuentry {", "menuentry 'a", "submenu 'x' {\nmenuentry 'y' {\n", "set default="})
    EXPECT_FALSE(grub_entry(parse_grub_menu(text), "0>0>0")) << text;
}

}  // namespace
}  // namespace slipway::base
