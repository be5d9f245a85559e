// SPDX-License-Identifier: Apache-2.0
#include "core/engine/advice.hpp"

#include <gtest/gtest.h>

#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

SessionOptions on(const std::string& root) {
  SessionOptions options;
  options.root = root;
  return options;
}

TEST(Advice, ForThisMachineStaysAsItIs) { EXPECT_EQ(advised("run `slipway apply`", on("/")), "run `slipway apply`"); }

TEST(Advice, RepeatsTheSpecOnThisMachineAsWell) {
  SessionOptions options = on("/");
  options.spec = "host.yaml";
  EXPECT_EQ(advised("`slipway apply`, then `slipway verify`", options),
            "`slipway apply -f host.yaml`, then `slipway verify`");
}

TEST(Advice, NamesTheRootInEveryCommandThatActsOnOne) {
  EXPECT_EQ(advised("run `slipway apply`, then `slipway verify --deep`", on("/srv/rootfs")),
            "run `slipway apply --root /srv/rootfs`, then `slipway verify --root /srv/rootfs --deep`");
  EXPECT_EQ(advised("`slipway init > host.yaml`", on("r")), "`slipway init --root r > host.yaml`");
  EXPECT_EQ(advised("`slipway service gfd`", on("r")), "`slipway service --root r gfd`");
  EXPECT_EQ(advised("reset it (`slipway pause -- nvidia-smi -r -i 3`)", on("r")),
            "reset it (`slipway pause --root r -- nvidia-smi -r -i 3`)");
}

// Before the fix, a tool with --sim advised an apply to this machine.
TEST(Advice, AboutASimulatedMachineChangesNoFileOfThisOne) {
  SessionOptions options = on("/");
  options.sim = "h100x8";
  EXPECT_EQ(advised("`slipway apply`, `slipway plan`", options),
            "`slipway apply --root DIR --sim h100x8`, `slipway plan --sim h100x8`");
  options.live = true;
  EXPECT_EQ(advised("`slipway apply`", options), "`slipway apply --sim h100x8`") << "as the command line said";
}

TEST(Advice, LeavesCommandsAloneThatNeedNoRootOption) {
  for (const std::string text :
       {"`slipway driver build` makes one", "`slipway plugin list`", "`slipway apply --root /other`", "slipway apply"})
    EXPECT_EQ(advised(text, on("/srv/rootfs")), text);
}

TEST(Advice, AgainstKeptEditsNamesTheirPaths) {
  EXPECT_EQ(edit_remedies({"/etc/a"}),
            "`slipway apply --replace-edits=/etc/a` replaces it, `slipway accept /etc/a` makes it the new state");
  EXPECT_EQ(advised(edit_remedies({"/etc/a", "/etc/b c"}), on("r")),
            "`slipway apply --root r --replace-edits=/etc/a --replace-edits='/etc/b c'` replaces them, "
            "`slipway accept --root r /etc/a '/etc/b c'` makes them the new state");
}

TEST(Advice, RepeatsMachineKernelAndSpecWhereTheyWereNamed) {
  SessionOptions options = on("r");
  options.sim = "h100x8";
  options.kernels = {"6.1.0-50-amd64"};
  options.spec = "my host.yaml";
  EXPECT_EQ(advised("`slipway plan` shows it", options),
            "`slipway plan --root r --sim h100x8 --kernel 6.1.0-50-amd64 -f 'my host.yaml'` shows it");
  EXPECT_EQ(advised("`slipway status`", options), "`slipway status --root r --sim h100x8`") << "it takes no --kernel";
  EXPECT_EQ(advised("`slipway plan --kernel 6.2`", options),
            "`slipway plan --root r --sim h100x8 -f 'my host.yaml' --kernel 6.2`");
  options.kernels.emplace_back("6.1.0-56-amd64");
  EXPECT_EQ(advised("`slipway verify`", options),
            "`slipway verify --root r --sim h100x8 --kernel 6.1.0-50-amd64 --kernel 6.1.0-56-amd64`");
  options.without_slipway = true;
  options.kernels.clear();
  EXPECT_EQ(advised("`slipway apply`, `slipway verify`", options),
            "`slipway apply --root r --sim h100x8 -f 'my host.yaml' --without-slipway`, "
            "`slipway verify --root r --sim h100x8`");
  options.without_slipway = false;
  options.root = "/host";
  options.live = true;
  options.kernels.clear();
  options.sim = options.spec = "";
  EXPECT_EQ(advised("`slipway pause -- nvidia-smi -r`", options),
            "`slipway pause --root /host --live -- nvidia-smi -r`");
  EXPECT_EQ(advised("`slipway apply`", options), "`slipway apply --root /host --live`");
  EXPECT_EQ(advised("`slipway plan --live`", options), "`slipway plan --root /host --live`") << "not twice";
}

TEST(Advice, ForAnImageThatIsTheRootHasNoOptionThatPauseLacks) {
  SessionOptions options = on("/");
  options.live = false;
  EXPECT_EQ(advised("`slipway apply`, `slipway pause -- true`", options),
            "`slipway apply --image`, `slipway pause -- true`");
}

// Before the fix, `runtime.verify: it is not TOML` named no file.
TEST(Advice, OfAnErrorNamesTheFileItIsAbout) {
  const Error error{ErrorCode::invalid, "it is not TOML: a key", "/etc/a.toml:3:5", "correct the file", {}};
  EXPECT_EQ(text_with_file(error), "/etc/a.toml:3:5: it is not TOML: a key");
  EXPECT_EQ(text_with_file({ErrorCode::invalid, "cannot read /etc/a.toml", "/etc/a.toml", {}, {}}),
            "cannot read /etc/a.toml");
  EXPECT_EQ(text_with_file({ErrorCode::invalid, "no package", "spec.components.driver.source", {}, {}}), "no package");
}

TEST(Advice, IsNotRepeated) {
  const std::string once = advised("`slipway apply`", on("r"));
  EXPECT_EQ(advised(once, on("r")), once);
}

TEST(CommandInRoot, NamesTheRootOfARootsOwnPrograms) {
  EXPECT_EQ(sandbox::command_in_root("apt-get install make gcc-12; or take another kernel", "/r"),
            "chroot /r apt-get install make gcc-12; or take another kernel");
  EXPECT_EQ(sandbox::command_in_root("run `depmod 6.1`, or `ldconfig`", "/r"),
            "run `depmod -b /r 6.1`, or `ldconfig -r /r`");
  // They would remove the driver of the machine that builds the image.
  EXPECT_EQ(sandbox::command_in_root("remove it: `dkms remove nvidia/550.54.14 --all`", "/r"),
            "remove it: `chroot /r dkms remove nvidia/550.54.14 --all`");
  EXPECT_EQ(sandbox::command_in_root("remove it: `/usr/bin/nvidia-uninstall`", "/r"),
            "remove it: `chroot /r /usr/bin/nvidia-uninstall`");
  EXPECT_EQ(sandbox::command_in_root("the package that owns it (`dpkg -S /usr/lib/a` or `rpm -qf /usr/lib/a`)", "/r"),
            "the package that owns it (`chroot /r dpkg -S /usr/lib/a` or `chroot /r rpm -qf /usr/lib/a`)");
  EXPECT_EQ(sandbox::command_in_root("remove `this`depmod `that`", "/r"), "remove `this`depmod `that`");
}

}  // namespace
}  // namespace slipway::core
