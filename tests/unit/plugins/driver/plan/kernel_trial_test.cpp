// SPDX-License-Identifier: Apache-2.0
// A new kernel that GRUB boots once before it becomes the default (`boot_gate: true`).
#include "driver/boot/kernel_trial.hpp"

#include <gmock/gmock.h>

#include <slipway/local_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "driver/boot/boot_default.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::TempDir;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kOld = "6.1.0-50-amd64";
const std::string kNew = "6.1.0-56-amd64";
const std::string kOldEntry = "gnulinux-advanced-u>gnulinux-6.1.0-50-amd64-advanced-u";
const std::string kNewEntry = "gnulinux-advanced-u>gnulinux-6.1.0-56-amd64-advanced-u";

class PlanKernelTrial : public ::testing::Test {
 protected:
  PlanKernelTrial() {
    facts.has_systemd = true;
    facts.kernel_trial = {.asked = true, .running = kOld, .entry = kOldEntry, .has_programs = true};
    facts.changed_kernel = kNew;
    target.live = true;
    receipt.kernel_release = kNew;
    receipt.further = {{kOld, false, "", {}}};
  }
  Plan plan() const {
    Plan plan;
    add_kernel_trial(facts, target, receipt, plan);
    return plan;
  }
  std::string text() const { return to_json(plan()).dump(); }
  void expect_not_tried(const std::string& why) const {
    EXPECT_THAT(plan().notes(), Contains(AllOf(HasSubstr("6.1.0-56-amd64 is not tried once"), HasSubstr(why))));
    EXPECT_THAT(text(), AllOf(Not(HasSubstr("next_entry=gnulinux")), Not(HasSubstr("GRUB_DEFAULT=\\\"gnulinux"))));
  }

  HostFacts facts;
  Target target;
  Receipt receipt;
};

TEST_F(PlanKernelTrial, BootsTheNewKernelOnceAndKeepsTheDefaultOnTheRunningOne) {
  EXPECT_THAT(text(), AllOf(HasSubstr("GRUB_DEFAULT=\\\"" + kOldEntry), HasSubstr("next_entry=" + kNewEntry),
                            HasSubstr("slipway_tried=" + kNew), HasSubstr("slipway-kernel-verified.service")));
  EXPECT_THAT(plan().notes(), Contains(HasSubstr("kernel 6.1.0-56-amd64 is booted once")));
}

// GRUB has cleared next_entry, and the machine is back on the default: the same plan does not try again.
TEST_F(PlanKernelTrial, OfAKernelThatWasTriedIsNotRepeated) {
  const std::string before = text();
  facts.kernel_trial.next_entry = kNewEntry;
  facts.kernel_trial.tried = kNew;
  facts.kernel_trial.owns_default = true;
  EXPECT_EQ(text(), before) << "the plan is the same right after an apply";
  facts.kernel_trial.next_entry.clear();
  facts.changed_kernel.clear();
  EXPECT_EQ(text(), before) << "an apply of the spec, or of a boot";
  EXPECT_THAT(before, HasSubstr(R"(["grep","-qxF","slipway_tried=6.1.0-56-amd64","/boot/grub/grubenv"])"));
}

TEST_F(PlanKernelTrial, EndsWhenTheBootOfTheNewKernelIsVerified) {
  facts.kernel_trial.running = kNew;
  facts.kernel_trial.entry = kNewEntry;
  facts.kernel_trial.owns_default = true;
  EXPECT_THAT(text(), AllOf(HasSubstr(kGrubFile), HasSubstr("as_recorded")));
  EXPECT_THAT(plan().notes(), Contains(HasSubstr("becomes the default when this boot is verified")));
  facts.kernel_trial.verified = true;
  std::vector<std::string> kinds;
  const Plan released = plan();
  for (const Action& action : released.actions()) kinds.push_back(action.kind() + " " + action.target());
  EXPECT_THAT(kinds, ::testing::ElementsAre("systemd-unit slipway-kernel-verified.service"));
}

TEST_F(PlanKernelTrial, LeavesAPersonsChoice) {
  facts.kernel_trial.own_choice = "GRUB_DEFAULT=saved in /etc/default/grub";
  expect_not_tried("GRUB_DEFAULT=saved in /etc/default/grub is the administrator's choice");
  facts.kernel_trial.own_choice.clear();
  facts.kernel_trial.next_entry = "memtest";
  expect_not_tried("next_entry=memtest");
}

TEST_F(PlanKernelTrial, IsNotPossibleWhereGrubCannotWriteOrIsNotThere) {
  facts.kernel_trial.not_writable = "/boot/grub is on btrfs";
  expect_not_tried("GRUB cannot write its environment block, since /boot/grub is on btrfs");
  facts.kernel_trial.has_programs = false;
  expect_not_tried("slipway does not know this boot loader");
}

TEST_F(PlanKernelTrial, IsForRunningMachinesWithTheGateAndANewerKernelAlone) {
  facts.kernel_trial.asked = false;
  EXPECT_THAT(plan().actions(), IsEmpty());
  facts.kernel_trial.asked = true;
  target.live = false;
  EXPECT_THAT(plan().actions(), IsEmpty());
  target.live = true;
  facts.changed_kernel.clear();
  EXPECT_THAT(text(), Not(HasSubstr("next_entry=gnulinux"))) << "a person may have booted the older kernel";
  facts.changed_kernel = kNew;
  receipt.further.clear();
  EXPECT_THAT(text(), Not(HasSubstr("next_entry=gnulinux"))) << "the running kernel has no modules to come back to";
  receipt.kernel_release = kOld;
  EXPECT_THAT(text(), Not(HasSubstr("next_entry=gnulinux")));
}

TEST(GrubEnvironment, CanBeWrittenOnPlainDisksAlone) {
  const std::string root = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";
  const auto why = [](const std::string& mounts) { return why_grub_cannot_write(mounts, "/boot/grub"); };
  EXPECT_EQ(why(root), "");
  EXPECT_EQ(why(root + "30 22 259:1 / /boot rw - xfs /dev/nvme0n1p1 rw\n"), "");
  EXPECT_EQ(why(root + "30 22 8:9 / /bootstrap rw - btrfs /dev/sdb1 rw\n"), "");
  EXPECT_THAT(why(root + "30 22 0:30 / /boot rw - btrfs /dev/sda2 rw\n"), HasSubstr("/boot/grub is on btrfs"));
  EXPECT_THAT(why("22 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n"), HasSubstr("/dev/mapper/vg-root"));
  EXPECT_THAT(why(root + "30 22 9:0 / /boot rw - ext4 /dev/md0 rw\n"),
              HasSubstr("/dev/md0, which is not a plain disk"));
  EXPECT_THAT(why(""), HasSubstr("it is not known"));
  EXPECT_THAT(why("a - b\n-\n"), HasSubstr("it is not known"));
}

TEST(GrubEnvironment, IsReadOnlyWhereTheGateIsInForce) {
  TempDir folder;
  folder.file("view/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  folder.file("root/boot/grub/grubenv",
              "# GRUB Environment Block\nnext_entry=" + kNewEntry + "\nslipway_tried=" + kNew + "\n########");
  folder.file("root/boot/grub/grub.cfg",
              "submenu 'Advanced' $menuentry_id_option 'gnulinux-advanced-u' {\n"
              "\tmenuentry 'Debian' $menuentry_id_option 'gnulinux-6.1.0-50-amd64-advanced-u' {\n"
              "\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=u ro\n\t}\n}\n");
  folder.file("root/usr/sbin/update-grub", "");
  folder.file("root/usr/bin/grub-editenv", "");
  const auto host =
      open_host({.root = folder.at("root").string(), .live = true, .kernel_view = folder.at("view").string()});
  ASSERT_TRUE(host);
  EXPECT_EQ(read_kernel_trial(**host, kOld), KernelTrial{});
  folder.file("root/etc/systemd/system/boot-complete.target.requires/slipway-verify.service", "");
  const KernelTrial expected{
      .asked = true, .running = kOld, .entry = kOldEntry, .next_entry = kNewEntry, .tried = kNew, .has_programs = true};
  EXPECT_EQ(read_kernel_trial(**host, kOld), expected);
  EXPECT_EQ(Json(expected).get<KernelTrial>(), expected);
  folder.file("root/run/slipway/verified-boot", "");
  folder.file(std::string("root") + kGrubFile, "");
  EXPECT_TRUE(read_kernel_trial(**host, kOld).verified);
  EXPECT_TRUE(read_kernel_trial(**host, kOld).owns_default);
}

// update-grub reads the default as a line of a shell, as root; os-prober takes ids from other systems on the disk.
TEST(GrubDefault, SkipsAnEntryWhoseIdAShellWouldExpand) {
  const TempDir folder;
  folder.file("root/boot/grub/grub.cfg",
              "menuentry 'Other' $menuentry_id_option 'osprober-gnulinux-/boot/$(cmd)/vmlinuz-6.1.0-50-amd64--u' {\n"
              "\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=u ro\n}\n");
  folder.file("root/usr/sbin/update-grub", "");
  const auto host = open_host({.root = folder.at("root").string()});
  ASSERT_TRUE(host);
  EXPECT_EQ(read_boot_default(**host, kOld, {}, "").entry, "");
}

}  // namespace
}  // namespace slipway::driver
