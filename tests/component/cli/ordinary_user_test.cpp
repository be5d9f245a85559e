// SPDX-License-Identifier: Apache-2.0
// The message for a user who may not write to a root: the permission is missing, and the disk is not read-only.
#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";

class OrdinaryUser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
    namespace fs = std::filesystem;
    fs::permissions(root.folder().at(""), fs::perms(0755));
    ASSERT_EQ(root.run({"apply"}).code, 0);
  }
  /// Runs the command as the user nobody, on root's root.
  Ran as_nobody(const std::string& words, const std::string& folder) const {
    const std::string out = root.folder().at("nobody.out").string();
    const std::string command = "env -C / HOME=/nonexistent SLIPWAY_PLUGIN_PATH=" + root.plugins +
                                " SLIPWAY_LOG_DIR=/nonexistent/log " + kNobody + root.program + " " + words +
                                " --root " + folder + " >" + out + " 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    std::ifstream in(out);
    std::ostringstream text;
    text << in.rdbuf();
    return {WEXITSTATUS(status), text.str(), ""};
  }
  Ran as_nobody(const std::string& words) const { return as_nobody(words, root.folder().at("root").string()); }
  std::string spec() const { return " -f " + root.folder().at("host.yaml").string(); }

  DriverRoot root;
};

// SQLite calls a file that this user may not write read-only; before the fix, the message did too.
TEST_F(OrdinaryUser, SeesWhichPermissionToChangeARootIsMissing) {
  const auto before = root.tree();
  root.driver("version: \"535.261.03\", modules: open, load: [nvidia], source: {repository: " + testing::kPackage +
              ", trust: unsigned}");
  for (const std::string& words : {"apply --sim h100x8 --cache " + root.folder().at("own").string() + spec(),
                                   std::string("remove --all --sim h100x8")}) {
    const Ran ran = as_nobody(words);
    EXPECT_EQ(ran.code, 1) << words << "\n" << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("Permission denied")) << words;
    EXPECT_THAT(ran.out, HasSubstr("as root (sudo)")) << words;
    EXPECT_THAT(ran.out, Not(HasSubstr("ead-only"))) << words;
  }
  EXPECT_EQ(root.tree(), before);
}

TEST_F(OrdinaryUser, SeesWhereInAnotherRootPermissionIsMissing) {
  root.folder().directory("empty");
  const std::string empty = root.folder().at("empty").string();
  const Ran ran = as_nobody("apply --sim h100x8" + spec(), empty);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("Permission denied"));
  EXPECT_THAT(ran.out, HasSubstr(empty + "/")) << "not a path of this machine";
}

// slipway's records contain contents of files that only root may read: before the fix, plan and status were refused
// because of that.
TEST_F(OrdinaryUser, SeesAForeignRootWithoutItsRecordsAndAnExplanation) {
  const Ran status = as_nobody("status");
  EXPECT_EQ(status.code, 0) << status.out;
  EXPECT_THAT(status.out, HasSubstr("can be read only by root"));
  EXPECT_THAT(status.out, HasSubstr("this user may not read slipway's records of this root: run `slipway status"));
  EXPECT_THAT(status.out, Not(HasSubstr("othing is provisioned")));
  const Json value = Json::parse(as_nobody("status -o json").out);
  EXPECT_EQ(value["without_records"], true);
  EXPECT_EQ(value["generation"], 0);
  const Ran plan = as_nobody("plan --sim h100x8" + spec());
  EXPECT_EQ(plan.code, 0) << plan.out;
  EXPECT_THAT(plan.out, HasSubstr("so this plan lacks removals and edits"));
  EXPECT_THAT(plan.out, HasSubstr("Nothing to do."));
  root.driver("version: \"535.261.03\", modules: open, load: [nvidia], source: {repository: " + testing::kPackage +
              ", trust: unsigned}");
  EXPECT_EQ(as_nobody("plan --sim h100x8" + spec()).code, 2);
  EXPECT_THAT(root.run({"plan"}).out, Not(HasSubstr("so this plan lacks removals and edits"))) << "root reads all";
}

TEST_F(OrdinaryUser, NeedsRootForTheRecords) {
  for (const std::string words : {"verify", "generations", "plan --sim h100x8"}) {
    const Ran ran = as_nobody(words);
    EXPECT_EQ(ran.code, 1) << words << "\n" << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("as root (sudo)")) << words;
  }
}

TEST_F(OrdinaryUser, OnAReadOnlyFilesystemGetsTheSameErrorAsRoot) {
  const std::string folder = root.folder().at("root").string();
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    GTEST_SKIP() << "this machine lets nobody mount";
  ASSERT_EQ(::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr), 0);
  ASSERT_EQ(::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
  const Ran ran = root.run({"remove", "--all"});
  ::umount2(folder.c_str(), MNT_DETACH);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("Read-only file system"));
  EXPECT_THAT(ran.err, HasSubstr("remount the filesystem read-write"));
}

}  // namespace
}  // namespace slipway
