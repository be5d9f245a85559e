// SPDX-License-Identifier: Apache-2.0
// The kind merge: check, apply, drift, and undoing whole files and single keys.
#include <gmock/gmock.h>
#include <unistd.h>

#include "action_fixture.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::HasSubstr;

const std::string kPath = "/etc/containerd/config.toml";
const std::string kFile = "# mine\nversion = 2\n\n[grpc]\n  address = \"/run/x\" # here\n";

class MergeAction : public ActionTest {
 protected:
  static Action desired(Json set) { return action::merge({.path = kPath, .format = "toml", .set = std::move(set)}); }
  Action runtime = desired({{"grpc", {{"uid", 0}}}, {"plugins", {{"cri", {{"runtime", "nvidia"}}}}}});
};

TEST_F(MergeAction, ChangesOnlyItsKeysAndThenHasNothingToDo) {
  root.put(kPath, kFile, 0640);
  const Check before = check(runtime);
  EXPECT_EQ(before.standing, Standing::change);
  EXPECT_EQ(before.summary, "change /etc/containerd/config.toml: grpc.uid, plugins.cri.runtime");
  EXPECT_EQ(before.diff, "");  // not every user may read it
  apply_and_remember(runtime);
  EXPECT_EQ(root.content(kPath),
            "# mine\nversion = 2\n\n[grpc]\n  address = \"/run/x\" # here\n  uid = 0\n\n[plugins.cri]\nruntime = "
            "\"nvidia\"\n");
  EXPECT_EQ(root.mode(kPath), 0640U);
  EXPECT_EQ(check(runtime).standing, Standing::satisfied);
}

TEST_F(MergeAction, IsUndoneByteForByte) {
  root.put(kPath, kFile, 0640);
  const std::string before = root.listing(kFiles);
  apply_and_remember(runtime);
  take_away(runtime);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(MergeAction, AFileThatItCreatedIsRemoved) {
  EXPECT_THAT(check(runtime).summary, HasSubstr("create /etc/containerd/config.toml with grpc.uid"));
  EXPECT_THAT(check(runtime).diff, HasSubstr("+uid = 0"));
  apply_and_remember(runtime);
  EXPECT_EQ(root.mode(kPath), 0644U);
  take_away(runtime);
  EXPECT_EQ(root.listing(kFiles), "");
}

TEST_F(MergeAction, AFileThatItCreatedStaysWithForeignKeys) {
  apply_and_remember(runtime);
  root.put(kPath, root.content(kPath) + "theirs = 1\n");
  restore(runtime, context.original);
  EXPECT_THAT(root.content(kPath), HasSubstr("theirs = 1"));
  EXPECT_THAT(root.content(kPath), ::testing::Not(HasSubstr("nvidia")));
}

TEST_F(MergeAction, TouchesOnlyUnchangedKeys) {
  root.put(kPath, kFile);
  apply_and_remember(runtime);
  std::string edited = root.content(kPath);
  edited.replace(edited.find("\"nvidia\""), 8, "\"runc\"");
  root.put(kPath, "# by hand\n" + edited);
  restore(runtime, context.original);
  EXPECT_EQ(root.content(kPath), "# by hand\n" + kFile + "\n[plugins.cri]\nruntime = \"runc\"\n");
}

TEST_F(MergeAction, AKeyThatAUserChangedIsKeptAndTheOthersAreSet) {
  root.put(kPath, kFile);
  apply_and_remember(runtime);
  std::string edited = root.content(kPath);
  edited.replace(edited.find("\"nvidia\""), 8, "\"runc\"");
  root.put(kPath, edited);
  const Check kept = check(runtime);
  EXPECT_EQ(kept.standing, Standing::drift_kept);
  EXPECT_THAT(kept.summary, HasSubstr("keep plugins.cri.runtime"));

  const Action more = desired({{"grpc", {{"uid", 7}}}, {"plugins", {{"cri", {{"runtime", "nvidia"}}}}}});
  EXPECT_EQ(check(more).standing, Standing::change);
  apply_and_remember(more);
  EXPECT_THAT(root.content(kPath), HasSubstr("uid = 7"));
  EXPECT_THAT(root.content(kPath), HasSubstr("runtime = \"runc\""));
  EXPECT_EQ(check(more).standing, Standing::drift_kept);  // still distinguished from slipway's content
}

TEST_F(MergeAction, AKeyWithAnAcceptedEditIsSetAndRemoved) {
  const Action one = desired({{"version", 3}});
  root.put(kPath, kFile);
  const std::string before = root.listing(kFiles);
  for (const std::string edited : {"version = 9", "# version = 9"}) {
    apply_and_remember(one);
    std::string text = root.content(kPath);
    root.put(kPath, text.replace(text.find("version = 3"), 11, edited));
    const Edit edit = check(one).edit.value();
    EXPECT_EQ(edit.path, kPath);
    EXPECT_EQ(edit.state["keys"][0]["value"], edited.starts_with('#') ? Json() : Json(9));
    kind(one).adopt(edit.state, context.record, context.original);
    EXPECT_EQ(check(one).standing, Standing::change);
    restore(one, context.original);
    EXPECT_THAT(root.content(kPath), HasSubstr("version = 2"));
    root.put(kPath, kFile);
    context.record = context.original = Json();
  }
}

TEST_F(MergeAction, KeysOfAnEarlierActionAreGivenUp) {
  root.put(kPath, kFile);
  const std::string before = root.listing(kFiles);
  apply_and_remember(desired({{"version", 3}, {"grpc", {{"uid", 0}}}}));
  const Action later = desired({{"grpc", {{"uid", 1}}}});
  EXPECT_THAT(check(later).summary, HasSubstr("version"));
  apply_and_remember(later);
  EXPECT_EQ(root.content(kPath), "# mine\nversion = 2\n\n[grpc]\n  address = \"/run/x\" # here\n  uid = 1\n");
  EXPECT_EQ(check(later).standing, Standing::satisfied);
  take_away(later);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(MergeAction, AFailedSecondApplyGoesBackToTheFirst) {
  root.put(kPath, kFile);
  apply_and_remember(runtime);
  const std::string first = root.content(kPath);
  const Action later = desired({{"grpc", {{"uid", 9}}}});
  const Image image = apply(later);
  restore(later, image);
  EXPECT_EQ(root.content(kPath), first);
  restore(later, image);
  EXPECT_EQ(root.content(kPath), first);
}

TEST_F(MergeAction, TwoComponentsShareAFile) {
  root.put(kPath, kFile);
  const std::string before = root.listing(kFiles);
  const Action other = desired({{"debug", {{"level", "info"}}}, {"version", 3}});
  const Image first = apply(runtime);
  const Image second = apply(other);
  restore(runtime, first);
  EXPECT_THAT(root.content(kPath), HasSubstr("version = 3"));
  EXPECT_THAT(root.content(kPath), ::testing::Not(HasSubstr("nvidia")));
  restore(other, second);
  EXPECT_EQ(root.content(kPath), kFile);
}

TEST_F(MergeAction, EditsTheFileBehindALink) {
  root.put("/data/config.toml", kFile);
  root.link(kPath, "/data/config.toml");
  apply_and_remember(runtime);
  EXPECT_THAT(root.content("/data/config.toml"), HasSubstr("uid = 0"));
  EXPECT_TRUE(S_ISLNK(root.info(kPath).st_mode));
  EXPECT_EQ(check(runtime).standing, Standing::satisfied);
  take_away(runtime);
  EXPECT_EQ(root.content("/data/config.toml"), kFile);
}

TEST_F(MergeAction, ABrokenFileIsAConflictWithItsPlaceAndNothingIsWritten) {
  root.put(kPath, "version = 2\nbroken = \n");
  const std::string before = root.listing(kFiles);
  const Check found = check(runtime);
  EXPECT_EQ(found.standing, Standing::conflict);
  EXPECT_THAT(found.problem.value().what, HasSubstr("/etc/containerd/config.toml:2:"));
  EXPECT_FALSE(kind(runtime).stage(runtime, context).ok());
  EXPECT_FALSE(kind(runtime).perform(runtime, context).ok());
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(MergeAction, AnEditBetweenStageAndPerformIsNotLost) {
  root.put(kPath, kFile);
  ASSERT_TRUE(kind(runtime).stage(runtime, context).ok());
  root.put(kPath, kFile + "late = true\n");
  ASSERT_TRUE(kind(runtime).perform(runtime, context).ok());
  EXPECT_THAT(root.content(kPath), HasSubstr("late = true"));
  EXPECT_EQ(check(runtime).standing, Standing::satisfied);
}

TEST_F(MergeAction, RemovalOfAKeyIsAnActionToo) {
  root.put(kPath, kFile);
  const Action gone = desired({{"version", nullptr}, {"never", nullptr}});
  apply_and_remember(gone);
  EXPECT_THAT(root.content(kPath), ::testing::Not(HasSubstr("version")));
  EXPECT_EQ(check(gone).standing, Standing::satisfied);
  take_away(gone);
  EXPECT_EQ(root.content(kPath), kFile);
  EXPECT_EQ(check(desired({{"never", nullptr}})).standing, Standing::satisfied);
}

TEST_F(MergeAction, JsonAndYamlFilesAreMergedToo) {
  root.put("/etc/docker/daemon.json", "{\n    \"debug\": true\n}\n");
  root.put("/etc/kubelet.yaml", "kind: Kubelet # x\n");
  apply(action::merge({.path = "/etc/docker/daemon.json", .format = "json", .set = {{"cdi", true}}}));
  apply(action::merge({.path = "/etc/kubelet.yaml", .format = "yaml", .set = {{"gates", {{"A", true}}}}}));
  EXPECT_EQ(root.content("/etc/docker/daemon.json"), "{\n    \"debug\": true,\n    \"cdi\": true\n}\n");
  EXPECT_EQ(root.content("/etc/kubelet.yaml"), "kind: Kubelet # x\ngates:\n  A: true\n");
}

}  // namespace
}  // namespace slipway::core
