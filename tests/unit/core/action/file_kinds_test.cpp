// SPDX-License-Identifier: Apache-2.0
// The kinds file, directory, symlink and remove.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "action_fixture.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;

class FileAction : public ActionTest {
 protected:
  Action desired(const std::string& content, unsigned mode = 0644, const std::string& on_drift = "keep") {
    return action::file({.path = "/etc/modprobe.d/x.conf", .content = content, .mode = mode, .on_drift = on_drift});
  }
};

TEST_F(FileAction, CreatesAFileOnceAndThenHasNothingToDo) {
  const Action action = desired("options x\n");
  const Check before = check(action);
  EXPECT_EQ(before.standing, Standing::change);
  EXPECT_EQ(before.summary, "create /etc/modprobe.d/x.conf (0644)");
  EXPECT_EQ(before.diff,
            "--- /etc/modprobe.d/x.conf\n+++ /etc/modprobe.d/x.conf (planned)\n@@ -0,0 +1 @@\n+options x\n");
  apply(action);
  EXPECT_EQ(check(action).standing, Standing::satisfied);
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "options x\n");
}

TEST_F(FileAction, IsUndoneToTheLastByte) {
  root.put("/etc/other", "x");
  const std::string before = root.listing(kFiles);
  const Action action = desired("a");
  apply_and_remember(action);
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(FileAction, ReplacesAFileThatItNeverWroteAndRestoresIt) {
  root.put("/etc/modprobe.d/x.conf", "theirs\n", 0600);
  const std::string before = root.listing(kFiles);
  const Action action = desired("ours\n");
  apply_and_remember(action);
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "ours\n");
  EXPECT_EQ(root.mode("/etc/modprobe.d/x.conf"), 0644U);
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(FileAction, KeepsAnEditOfTheUserAndReportsIt) {
  apply_and_remember(desired("ours\n"));
  root.put("/etc/modprobe.d/x.conf", "edited\n");
  const Check found = check(desired("ours, but newer\n"));
  EXPECT_EQ(found.standing, Standing::drift_kept);
  EXPECT_THAT(found.diff, ::testing::HasSubstr("-edited\n+ours, but newer\n"));
  EXPECT_TRUE(*kind(desired("")).drifted(desired(""), context));
}

TEST_F(FileAction, WithAnAcceptedEditIsChanged) {
  apply_and_remember(desired("ours\n"));
  root.put("/etc/modprobe.d/x.conf", "edited\n");
  const Check kept = check(desired("ours\n"));
  EXPECT_EQ(kept.edit.value().path, "/etc/modprobe.d/x.conf");
  kind(desired("")).adopt(kept.edit->state, context.record, context.original);
  EXPECT_FALSE(*kind(desired("")).drifted(desired(""), context));
  EXPECT_EQ(check(desired("ours\n")).standing, Standing::change);
  EXPECT_FALSE(check(desired("ours\n")).edit);
  const Image image = apply(desired("ours\n"));
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "ours\n");
  restore(desired("ours\n"), image);
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "edited\n");
}

TEST_F(FileAction, DistinguishesForeignLinks) {
  apply_and_remember(desired("ours\n"));
  std::vector<Json> states;
  for (const char* target : {"one", "two"}) {
    ASSERT_TRUE(fs.remove("/etc/modprobe.d/x.conf").ok());
    root.link("/etc/modprobe.d/x.conf", target);
    states.push_back(check(desired("ours\n")).edit.value().state);
  }
  EXPECT_EQ(states[0], Json({{"points_to", "one"}}));
  EXPECT_NE(states[0], states[1]);
}

TEST_F(FileAction, FollowsItsOwnPlanWhenTheFileIsUnedited) {
  apply_and_remember(desired("one\n"));
  EXPECT_EQ(check(desired("two\n")).standing, Standing::change);
  EXPECT_FALSE(*kind(desired("")).drifted(desired("two\n"), context));
}

TEST_F(FileAction, SavesAnEditBesideWhenItIsToBeReplaced) {
  apply_and_remember(desired("ours\n", 0644, "replace"));
  root.put("/etc/modprobe.d/x.conf", "edited\n");
  const std::string edited = root.listing(kFiles);
  const Action action = desired("ours\n", 0644, "replace");
  EXPECT_THAT(check(action).summary, ::testing::HasSubstr("x.conf.slipway-saved"));
  const Image image = apply(action);
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "ours\n");
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf.slipway-saved"), "edited\n");
  EXPECT_FALSE(root.has("/etc/modprobe.d/x.conf.slipway-saved.slipway-new"));
  restore(action, image);
  drop_bookkeeping();
  EXPECT_EQ(root.listing(kFiles), edited);
}

TEST_F(FileAction, ADeletedFileComesBack) {
  apply_and_remember(desired("ours\n"));
  ASSERT_TRUE(fs.remove("/etc/modprobe.d/x.conf").ok());
  EXPECT_EQ(check(desired("ours\n")).standing, Standing::change);
}

TEST_F(FileAction, ShowsNoDiffOfRestrictedFiles) {
  EXPECT_EQ(check(desired("password\n", 0600)).diff, "");
  root.put("/etc/modprobe.d/x.conf", "password\n", 0640);
  EXPECT_EQ(check(desired("other\n")).diff, "");
}

TEST_F(FileAction, AFolderInItsPlaceIsAConflict) {
  root.make_folder("/etc/modprobe.d/x.conf");
  const Check found = check(desired("x"));
  EXPECT_EQ(found.standing, Standing::conflict);
  EXPECT_EQ(found.problem.value().code, ErrorCode::conflict);
}

TEST_F(FileAction, StageThenUnstageLeavesTheRootAsItWas) {
  const std::string before = root.listing(kFiles);
  const Action action = desired("x");
  const Image image = *kind(action).capture(action, context);
  ASSERT_TRUE(kind(action).stage(action, context).ok());
  ASSERT_TRUE(kind(action).unstage(action, context).ok());
  restore(action, image);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(FileAction, PerformsASecondTimeAfterACrash) {
  const Action action = desired("x");
  apply(action);
  ASSERT_TRUE(kind(action).stage(action, context).ok());  // a crash between the journal and this line
  EXPECT_TRUE(kind(action).perform(action, context).ok());
  EXPECT_FALSE(root.has("/etc/modprobe.d/x.conf.slipway-new"));
  ASSERT_TRUE(fs.remove("/etc/modprobe.d/x.conf").ok());
  EXPECT_TRUE(kind(action).perform(action, context).ok());  // and between this line and stage
  EXPECT_EQ(root.content("/etc/modprobe.d/x.conf"), "x");
}

TEST_F(FileAction, AnUnknownOwnerIsAConflictThatNamesIt) {
  root.put("/etc/passwd", "root:x:0:0::/root:/bin/sh\nnvpd:x:117:122::/:/bin/false\n");
  root.put("/etc/group", "root:x:0:\nnvpd:x:122:\n");
  Action action = action::file({.path = "/run/x", .content = "", .owner = "nobody-here", .group = "root"});
  const Check found = check(action);
  EXPECT_EQ(found.standing, Standing::conflict);
  EXPECT_THAT(found.problem.value().what, ::testing::HasSubstr("no user 'nobody-here'"));
}

TEST_F(FileAction, OwnersAreLookedUpInTheRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  root.put("/etc/passwd", "nvpd2:x:7:7::/:/bin/false\nnvpd:x:117:122::/:/bin/false\n");
  root.put("/etc/group", "nvpd:x:122:\n");
  apply(action::file({.path = "/srv/x", .content = "", .owner = "nvpd", .group = "nvpd"}));
  EXPECT_EQ(root.info("/srv/x").st_uid, 117U);
  EXPECT_EQ(root.info("/srv/x").st_gid, 122U);
}

class DirectoryAction : public ActionTest {};

TEST_F(DirectoryAction, MakesAFolderAndRemovesItOnlyWhenItIsEmpty) {
  const std::string before = root.listing(kFiles);
  const Action action = action::directory("/etc/cdi/deep", 0750);
  apply_and_remember(action);
  EXPECT_EQ(root.mode("/etc/cdi/deep"), 0750U);
  EXPECT_EQ(check(action).standing, Standing::satisfied);
  root.put("/etc/cdi/deep/users", "x");
  restore(action, context.original);
  EXPECT_TRUE(root.has("/etc/cdi/deep/users"));
  ASSERT_TRUE(fs.remove("/etc/cdi/deep/users").ok());
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(DirectoryAction, SetsTheModeOfAFolderThatWasThereAndGivesItBack) {
  root.put("/etc/cdi/users", "x");
  ::chmod(root.at("/etc/cdi").c_str(), 0700);
  const Action action = action::directory("/etc/cdi", 0755);
  EXPECT_EQ(check(action).summary, "set the folder /etc/cdi to mode 0755");
  apply_and_remember(action);
  EXPECT_EQ(root.mode("/etc/cdi"), 0755U);
  take_away(action);
  EXPECT_EQ(root.mode("/etc/cdi"), 0700U);
  EXPECT_EQ(root.content("/etc/cdi/users"), "x");
}

TEST_F(DirectoryAction, AcceptsALinkToAFolderAndRefusesAFile) {
  root.make_folder("/usr/lib");
  ::chmod(root.at("/usr/lib").c_str(), 0755);
  root.link("/lib", "usr/lib");
  EXPECT_EQ(check(action::directory("/lib")).standing, Standing::satisfied);
  root.put("/etc/cdi", "a file");
  EXPECT_EQ(check(action::directory("/etc/cdi")).standing, Standing::conflict);
}

class SymlinkAction : public ActionTest {};

TEST_F(SymlinkAction, MakesALinkAndRemovesIt) {
  const std::string before = root.listing(kFiles);
  const Action action = action::symlink("/usr/lib/libcuda.so.1", "libcuda.so.535");
  apply_and_remember(action);
  EXPECT_EQ(std::filesystem::read_symlink(root.at("/usr/lib/libcuda.so.1")), "libcuda.so.535");
  EXPECT_EQ(check(action).standing, Standing::satisfied);
  EXPECT_EQ(root.info("/usr/lib/libcuda.so.1").st_mtim.tv_sec, kEpoch);
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(SymlinkAction, NeverOverwritesAnotherType) {
  root.put("/usr/lib/libcuda.so.1", "installed by hand");
  const Action action = action::symlink("/usr/lib/libcuda.so.1", "libcuda.so.535");
  EXPECT_EQ(check(action).standing, Standing::conflict);
  EXPECT_FALSE(kind(action).perform(action, context).ok());
  EXPECT_EQ(root.content("/usr/lib/libcuda.so.1"), "installed by hand");
}

TEST_F(SymlinkAction, ChangesAForeignLinkButKeepsAnEditOfItsOwn) {
  root.link("/l", "theirs");
  EXPECT_EQ(check(action::symlink("/l", "ours")).summary, "link /l -> ours (was theirs)");
  apply_and_remember(action::symlink("/l", "ours"));
  EXPECT_EQ(check(action::symlink("/l", "newer")).standing, Standing::change);
  ASSERT_TRUE(fs.remove("/l").ok());
  root.link("/l", "edited");
  EXPECT_EQ(check(action::symlink("/l", "newer")).standing, Standing::drift_kept);
  EXPECT_TRUE(*kind(action::symlink("/l", "")).drifted(action::symlink("/l", ""), context));
  EXPECT_EQ(check(action::symlink("/l", "newer")).edit.value().state, Json({{"points_to", "edited"}}));
}

class RemoveAction : public ActionTest {};

TEST_F(RemoveAction, RemovesAFileAndRestoresItWithModeAndTime) {
  root.put("/etc/modules-load.d/nouveau.conf", "nouveau\n", 0640);
  const std::string before = root.listing(kFiles);
  const Action action = action::remove("/etc/modules-load.d/nouveau.conf");
  EXPECT_EQ(check(action).standing, Standing::change);
  apply_and_remember(action);
  EXPECT_FALSE(root.has("/etc/modules-load.d/nouveau.conf"));
  EXPECT_EQ(check(action).standing, Standing::satisfied);
  EXPECT_FALSE(*kind(action).drifted(action, context));
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(RemoveAction, LeavesAFileThatWasAddedLater) {
  root.put("/etc/x", "first");
  const Action action = action::remove("/etc/x");
  apply_and_remember(action);
  root.put("/etc/x", "somebody's");
  EXPECT_TRUE(*kind(action).drifted(action, context));
}

TEST_F(RemoveAction, DoesNotRemoveAFolderWithSomethingInIt) {
  root.put("/etc/x/y", "");
  EXPECT_EQ(check(action::remove("/etc/x")).standing, Standing::conflict);
}

class ServiceFileAction : public ActionTest {};

// Before the fix, the labels that gfd's service had written outlived the component's removal.
TEST_F(ServiceFileAction, IsWrittenByOthersAndGoesWithTheComponent) {
  root.put("/etc/other", "x");
  const std::string before = root.listing(kFiles);
  const Action action = action::service_file("/etc/features.d/labels");
  EXPECT_EQ(check(action).standing, Standing::change);
  apply_and_remember(action);
  EXPECT_FALSE(root.has("/etc/features.d/labels"));
  for (const char* written : {"a=1\n", "a=2\n"}) {
    root.put("/etc/features.d/labels", written);
    EXPECT_EQ(check(action).standing, Standing::satisfied);
    EXPECT_FALSE(*kind(action).drifted(action, context));
  }
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(ServiceFileAction, RestoresWhatWasThereBefore) {
  root.put("/etc/features.d/labels", "somebody's\n", 0600);
  const std::string before = root.listing(kFiles);
  const Action action = action::service_file("/etc/features.d/labels");
  apply_and_remember(action);
  EXPECT_EQ(root.content("/etc/features.d/labels"), "somebody's\n");
  root.put("/etc/features.d/labels", "the service's\n", 0644);
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(ServiceFileAction, IsNoFolder) {
  root.put("/etc/features.d/labels/x", "");
  EXPECT_EQ(check(action::service_file("/etc/features.d/labels")).standing, Standing::conflict);
}

TEST(ActionKinds, AnUnknownKindIsAnErrorThatListsTheKnownOnes) {
  const auto found = action_kind("teleport");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
  EXPECT_THAT(found.error().what, ::testing::AllOf(::testing::HasSubstr("file"), ::testing::HasSubstr("merge")));
}

// Before the fix, an ordinary user's plan of a machine gave every file to that user.
TEST(FindOwner, OfAnotherUsersRootIsResolvedInsideIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const test::TempRoot root;
  const test::TempRoot own;
  ASSERT_EQ(::chmod(root.folder().c_str(), 0755), 0);
  ASSERT_EQ(::chown(own.folder().c_str(), 65534, 65534), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(77);
    const auto theirs = find_owner(*open_host({.root = root.folder()}).value(), "root", "root");
    const auto ours = find_owner(*open_host({.root = own.folder()}).value(), "root", "root");
    ::_exit(theirs && theirs->uid == 0 && ours && ours->uid == 65534 && ours->gid == 65534 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace slipway::core
