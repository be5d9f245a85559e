// SPDX-License-Identifier: Apache-2.0
// The trigger initramfs: the initrds of a root, and the command lines of its own tools.
#include <filesystem>

#include <gmock/gmock.h>

#include "action_fixture.hpp"
#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"
#include "tests/unit/sandbox/real_programs.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class InitramfsTrigger : public ActionTest {
 protected:
  void SetUp() override {
    if (!sandbox::check_in_root(*host)) GTEST_SKIP() << "namespaces are not allowed here";
    test::install_programs(root, {"/usr/bin/dash", "/usr/bin/env", "/usr/bin/cat", "/usr/bin/ls"});
    root.link("/usr/bin/sh", "dash");
    root.make_folder("/boot");
  }
  TriggerRun run(const std::string& trigger) {
    const auto done = Trigger(trigger).run(context);
    EXPECT_TRUE(done.ok()) << trigger << ": " << (done ? "" : to_text(done.error()));
    EXPECT_TRUE(fs.settle_directory_times().ok());
    return done.value_or(TriggerRun{});
  }
  void put_tool(const std::string& name, const std::string& script) {
    root.put("/usr/sbin/" + name, "#!/bin/sh\n" + script, 0755);
  }
};

TEST_F(InitramfsTrigger, RunsTheRootsUpdateInitramfsInAPrivateEnvironment) {
  root.put("/boot/initrd.img-6.1", "old");
  put_tool("update-initramfs", "echo \"$@\" > /boot/initrd.img-$3; env > /boot/env; ls /dev > /boot/dev; : > /tmp/x\n");
  EXPECT_TRUE(run("initramfs:6.1").done);
  EXPECT_EQ(root.content("/boot/initrd.img-6.1"), "-u -k 6.1\n");
  EXPECT_THAT(root.content("/boot/env"), HasSubstr("SOURCE_DATE_EPOCH=" + std::to_string(kEpoch)));
  EXPECT_THAT(root.content("/boot/dev"), Not(HasSubstr("sda")));
  EXPECT_EQ(root.info("/boot/initrd.img-6.1").st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(root.info("/boot").st_mtim.tv_sec, kEpoch);
  EXPECT_TRUE(std::filesystem::is_empty(root.at("/tmp")));
}

TEST_F(InitramfsTrigger, TakesDracutForAnImageOfItsOwn) {
  root.put("/boot/initramfs-6.1.img", "old");
  put_tool("dracut", "echo \"$@\" > /boot/initramfs-6.1.img\n");
  EXPECT_TRUE(run("initramfs:6.1").done);
  EXPECT_EQ(root.content("/boot/initramfs-6.1.img"),
            "--force --kver 6.1 --no-hostonly --reproducible /boot/initramfs-6.1.img\n");
}

/// Writes its options into the file that it should create.
constexpr const char* kDracut = "for image; do :; done; echo \"$@\" > $image\n";

// Before the fix, the initrd was skipped with "the root has no initrd for kernel 6.1 in /boot", and that initrd kept
// nouveau.
TEST_F(InitramfsTrigger, MakesTheInitrdOfABootableContainerBesideItsKernel) {
  const std::string image = "/usr/lib/modules/6.12.0-55.el10.x86_64/initramfs.img";
  root.put(image, "old");
  put_tool("dracut", kDracut);
  EXPECT_TRUE(run("initramfs:6.12.0-55.el10.x86_64").done);
  EXPECT_EQ(root.content(image), "--force --kver 6.12.0-55.el10.x86_64 --no-hostonly --reproducible " + image + "\n");
  EXPECT_EQ(root.info(image).st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(root.info("/usr/lib/modules/6.12.0-55.el10.x86_64").st_mtim.tv_sec, kEpoch);
}

TEST_F(InitramfsTrigger, MakesEachInitrdInFoldersOfTheBootLoaderSpecification) {
  const std::string image = "/0123456789abcdef0123456789abcdef/6.1/initrd";
  root.put("/boot" + image, "old");
  root.put("/efi" + image, "old");
  root.put("/boot/0123456789abcdef0123456789abcdef/6.2/initrd", "of another kernel");
  put_tool("dracut", kDracut);
  const TriggerRun done = run("initramfs:6.1");
  EXPECT_EQ(done.why, "");
  EXPECT_EQ(root.content("/boot" + image), "--force --kver 6.1 --no-hostonly --reproducible /boot" + image + "\n");
  EXPECT_EQ(root.content("/efi" + image), "--force --kver 6.1 --no-hostonly --reproducible /efi" + image + "\n");
  EXPECT_EQ(root.content("/boot/0123456789abcdef0123456789abcdef/6.2/initrd"), "of another kernel");
}

TEST_F(InitramfsTrigger, PrefersDracutToUpdateInitramfs) {
  root.put("/boot/initrd.img-6.1", "old");
  put_tool("dracut", kDracut);
  put_tool("update-initramfs", "exec dracut --force /boot/initrd.img-$3 $3\n");
  EXPECT_TRUE(run("initramfs:6.1").done);
  EXPECT_THAT(root.content("/boot/initrd.img-6.1"), HasSubstr("--kver 6.1"));
}

TEST_F(InitramfsTrigger, NamesUnifiedImagesWhichItLeavesAsTheyAre) {
  root.put("/boot/efi/EFI/Linux/0123456789abcdef-6.1.efi", "kernel and initrd");
  root.put("/boot/efi/EFI/Linux/0123456789abcdef-6.2.efi", "of another kernel");
  put_tool("dracut", kDracut);
  const std::string left = "/boot/efi/EFI/Linux/0123456789abcdef-6.1.efi stays as it is";
  EXPECT_THAT(Trigger("initramfs:6.1").foresee(*host).value().skipped, StartsWith(left));
  TriggerRun done = run("initramfs:6.1");
  EXPECT_FALSE(done.done);
  EXPECT_THAT(done.why, StartsWith(left));
  root.put("/boot/initramfs-6.1.img", "old");
  EXPECT_EQ(Trigger("initramfs:6.1").foresee(*host).value().tool, "the root's own dracut");
  done = run("initramfs:6.1");
  EXPECT_TRUE(done.done);
  EXPECT_THAT(done.why, StartsWith(left)) << "one of the two was made anew";
}

TEST_F(InitramfsTrigger, NamesInitrdsThatTheRootsToolDoesNotWrite) {
  root.put("/boot/0123456789abcdef0123456789abcdef/6.1/initrd", "old");
  put_tool("update-initramfs", "exit 1\n");
  EXPECT_THAT(
      run("initramfs:6.1").why,
      StartsWith("/boot/0123456789abcdef0123456789abcdef/6.1/initrd stays as it is: update-initramfs does not"));
}

TEST_F(InitramfsTrigger, NamesTheImagesOfMkinitcpioAndTheCommandThatMakesThem) {
  root.put("/boot/initramfs-linux.img", "old");
  put_tool("mkinitcpio", "exit 1\n");
  const TriggerRun done = run("initramfs:6.12.1-arch1-1");
  EXPECT_FALSE(done.done);
  EXPECT_THAT(done.why, StartsWith("/boot/initramfs-linux.img stays as it is: mkinitcpio makes it for the machine that "
                                   "it runs on; run `mkinitcpio -P`"));
}

TEST_F(InitramfsTrigger, IsSkippedWhereTheKernelHasNoInitrd) {
  put_tool("update-initramfs", "exit 1\n");
  const TriggerRun done = run("initramfs:6.1");
  EXPECT_FALSE(done.done);
  EXPECT_THAT(done.why, HasSubstr("no initrd for kernel 6.1"));
}

TEST_F(InitramfsTrigger, AFailureShowsTheToolsLastLines) {
  root.put("/boot/initrd.img-6.1", "old");
  put_tool("update-initramfs", "echo 'cannot find the moon' >&2; exit 3\n");
  const auto done = Trigger("initramfs:6.1").run(context);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("cannot find the moon"));
  EXPECT_THAT(to_text(done.error()), HasSubstr("status 3"));
}

TEST(InitrdWork, OfALiveMachineIsForTheMachineItself) {
  const TempRoot root;
  const auto host = *open_host({.root = root.folder(), .live = true});
  root.put("/usr/bin/mkinitcpio", "", 0755);
  EXPECT_TRUE(find_initrd_work(*host, "6.1").commands.empty()) << "it has neither an image nor a preset";
  root.put("/boot/initramfs-linux.img", "old");
  EXPECT_THAT(find_initrd_work(*host, "6.1").commands, ElementsAre(ElementsAre("mkinitcpio", "-P")));
  root.put("/efi/0123456789abcdef/6.1/initrd", "old");
  root.put("/usr/bin/dracut", "", 0755);
  EXPECT_THAT(find_initrd_work(*host, "6.1").commands,
              ElementsAre(ElementsAre("dracut", "--force", "--kver", "6.1", "/efi/0123456789abcdef/6.1/initrd")));
}

}  // namespace
}  // namespace slipway::core
