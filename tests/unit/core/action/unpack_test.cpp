// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>

#include "action_fixture.hpp"
#include "base/digest/digest.hpp"
#include "core/action/store/store.hpp"
#include "sandbox/build.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kStore = "/usr/lib/slipway/store/driver";

class UnpackAction : public ActionTest {
 protected:
  UnpackAction() {
    stager.trees[userspace] = {{"usr/lib/libcuda.so.1", "cuda"}, {"usr/bin/nvidia-smi", "smi"}};
    stager.trees[newer] = {{"usr/lib/libcuda.so.1", "newer cuda"}};
    stager.trees["NVIDIA for 6.1"] = {{"nvidia.ko", "module"}};
  }
  static action::Layer plain(const std::string& digest) {
    return {.as = "userspace", .source = "source", .descriptor = {{"digest", digest}, {"size", 5 << 20}}};
  }
  static action::Layer build(const std::string& source) {
    return {.as = "modules/6.1",
            .source = "source",
            .descriptor = {{"digest", source}},
            .build = to_json(action::Build{.name = "NVIDIA for 6.1"})};
  }
  Action desired() { return action::unpack({.name = "driver", .layers = {plain(userspace), build(source)}}); }

  const std::string userspace = base::digest_of("userspace");
  const std::string newer = base::digest_of("newer");
  const std::string source = base::digest_of("source");
};

TEST_F(UnpackAction, PutsLayersInPlaceAndSwitchesWithOneLink) {
  EXPECT_EQ(check(desired()).summary, "unpack userspace (5.0 MiB), compile NVIDIA for 6.1 into " + kStore);
  apply(desired());
  EXPECT_EQ(check(desired()).standing, Standing::satisfied);
  EXPECT_EQ(root.content(kStore + "/current/userspace/usr/lib/libcuda.so.1"), "cuda");
  EXPECT_EQ(root.content(kStore + "/current/modules/6.1/nvidia.ko"), "module");
  EXPECT_EQ(stager.calls, 2);
  const std::string folder = "sha256-" + base::digest_hex(userspace);
  EXPECT_TRUE(root.has(kStore + "/" + folder + "/usr/bin/nvidia-smi"));
  EXPECT_EQ(std::filesystem::read_symlink(root.at(kStore + "/current/userspace")), "../" + folder);
}

TEST_F(UnpackAction, IsInvisibleBeforePerformAndUnstageLeavesNoTrace) {
  const std::string before = root.listing(TempRoot::Times::files);
  const Image image = *kind(desired()).capture(desired(), context);
  ASSERT_TRUE(kind(desired()).stage(desired(), context).ok());
  EXPECT_FALSE(root.has(kStore + "/current"));
  EXPECT_EQ(check(desired()).standing, Standing::change);
  ASSERT_TRUE(kind(desired()).unstage(desired(), context).ok());
  restore(desired(), image);
  EXPECT_EQ(root.listing(TempRoot::Times::files), before);
}

// A component refuses modules that do not fit a kernel of the root while nothing can load them yet.
TEST_F(UnpackAction, LetsTheComponentCheckTheLayersBeforeTheyAreVisible) {
  const std::string before = root.listing(TempRoot::Times::files);
  const Action checked =
      action::unpack({.name = "driver", .layers = {plain(userspace), build(source)}, .check = {{"strictly", true}}});
  std::vector<std::string> seen;
  context.custom_check = [&](const Action& action) -> Result<bool> {
    EXPECT_EQ(action.kind(), "unpack");
    EXPECT_EQ(action.value("check"), Json({{"strictly", true}}));
    const std::string folder = action.value("staged").value("modules/6.1", "");
    seen.push_back(root.content(folder + "/nvidia.ko"));
    EXPECT_FALSE(root.has(kStore + "/current"));
    return Error{.code = ErrorCode::invalid, .what = "does not fit"};
  };
  const Image image = *kind(checked).capture(checked, context);
  const Status refused = kind(checked).stage(checked, context);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "does not fit");
  EXPECT_THAT(seen, ElementsAre("module"));
  ASSERT_TRUE(kind(checked).unstage(checked, context).ok());
  restore(checked, image);
  EXPECT_EQ(root.listing(TempRoot::Times::files), before);
  context.custom_check = [](const Action&) -> Result<bool> { return false; };
  EXPECT_EQ(kind(checked).stage(checked, context).error().code, ErrorCode::plugin_defect);
  context.custom_check = [](const Action&) -> Result<bool> { return true; };
  apply(checked);
  EXPECT_EQ(root.content(kStore + "/current/modules/6.1/nvidia.ko"), "module");
}

TEST_F(UnpackAction, IsRemovedWithoutATrace) {
  root.make_folder("/usr/lib");
  const std::string before = root.listing(TempRoot::Times::files);
  apply_and_remember(desired());
  take_away(desired());
  EXPECT_EQ(root.listing(TempRoot::Times::files), before);
}

TEST_F(UnpackAction, ANewVersionReusesExistingLayersAndIsRevertedByOneLink) {
  apply_and_remember(desired());
  const std::string before = std::filesystem::read_symlink(root.at(kStore + "/current"));
  const Action update = action::unpack({.name = "driver", .layers = {plain(newer), build(source)}});
  EXPECT_EQ(check(update).summary, "unpack userspace (5.0 MiB) into " + kStore);
  const Image image = apply(update);
  EXPECT_EQ(stager.calls, 3);
  EXPECT_EQ(root.content(kStore + "/current/userspace/usr/lib/libcuda.so.1"), "newer cuda");
  restore(update, image);
  EXPECT_EQ(std::filesystem::read_symlink(root.at(kStore + "/current")), before);
  EXPECT_EQ(check(desired()).standing, Standing::satisfied);
  EXPECT_EQ(check(update).summary, "switch " + kStore + "/current to layers that already exist");
}

TEST_F(UnpackAction, FormerLayersGoOnlyWhenTheyAreDropped) {
  apply(desired());
  const Action update = action::unpack({.name = "driver", .layers = {plain(newer)}});
  apply(update);
  root.make_folder(kStore + "/.staging-left-by-a-crash");
  EXPECT_TRUE(root.has(kStore + "/sha256-" + base::digest_hex(userspace)));
  ASSERT_TRUE(drop_unused_layers(fs, "driver").ok());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root.at(kStore)))
    names.push_back(entry.path().filename());
  EXPECT_EQ(names.size(), 4U);  // the layer, its list, the set, current
  EXPECT_EQ(check(update).standing, Standing::satisfied);
}

TEST_F(UnpackAction, LayersOfAKeptSetStayUntilItIsNoLongerKept) {
  apply(desired());
  const auto former = active_set(fs, "driver");
  ASSERT_TRUE(former);
  apply(action::unpack({.name = "driver", .layers = {plain(newer)}}));
  ASSERT_TRUE(drop_unused_layers(fs, "driver", {*former, "set-that-is-gone"}).ok());
  for (const Json& layer : desired().value("layers")) EXPECT_TRUE(has_layer(fs, "driver", layer));
  EXPECT_EQ(check(desired()).summary, "switch " + kStore + "/current to layers that already exist");
  ASSERT_TRUE(drop_unused_layers(fs, "driver").ok());
  EXPECT_FALSE(has_layer(fs, "driver", desired().value("layers")[0]));
  EXPECT_TRUE(layers_of_set(fs, "driver", *former)->empty());
}

TEST_F(UnpackAction, DroppingWithoutACurrentRemovesTheStore) {
  apply(desired());
  ASSERT_TRUE(fs.remove(kStore + "/current").ok());
  ASSERT_TRUE(drop_unused_layers(fs, "driver").ok());
  EXPECT_FALSE(root.has(kStore));
  EXPECT_TRUE(drop_unused_layers(fs, "driver").ok());
}

TEST_F(UnpackAction, AStageThatACrashInterruptedIsRepeated) {
  ASSERT_TRUE(kind(desired()).stage(desired(), context).ok());
  root.put(kStore + "/.staging-sha256-" + base::digest_hex(userspace) + "/half", "written");
  apply(desired());
  EXPECT_FALSE(root.has(kStore + "/sha256-" + base::digest_hex(userspace) + "/half"));
  EXPECT_EQ(stager.calls, 4);
}

TEST_F(UnpackAction, PerformsAgainAfterACrashAtAnyPoint) {
  const Image image = apply(desired());
  ASSERT_TRUE(kind(desired()).perform(desired(), context).ok());
  ASSERT_TRUE(fs.remove(kStore + "/current").ok());
  ASSERT_TRUE(kind(desired()).perform(desired(), context).ok());
  EXPECT_EQ(check(desired()).standing, Standing::satisfied);
  restore(desired(), image);
  restore(desired(), image);
  EXPECT_FALSE(root.has("/usr"));
}

TEST_F(UnpackAction, AFailedStageIsReportedAndLeavesNoLayer) {
  stager.stage_error = Error{ErrorCode::corrupt, "the layer is cut short", {}, {}, {}};
  const Status staged = kind(desired()).stage(desired(), context);
  ASSERT_FALSE(staged.ok());
  EXPECT_EQ(staged.error().code, ErrorCode::corrupt);
  ASSERT_TRUE(kind(desired()).unstage(desired(), context).ok());
  EXPECT_EQ(check(desired()).standing, Standing::change);
}

TEST_F(UnpackAction, ABuildThatFailedBeforeIsAConflictAtPlanTime) {
  stager.failure = Error{ErrorCode::build_failed, "nv-pci.c:223: too few arguments", {}, {}, {}};
  stager.failed_layer = layer_key(desired().value("layers")[1]);
  const Check found = check(desired());
  EXPECT_EQ(found.standing, Standing::conflict);
  EXPECT_EQ(found.problem.value().code, ErrorCode::build_failed);
  EXPECT_EQ(check(action::unpack({.name = "driver", .layers = {plain(userspace)}})).standing, Standing::change);
}

TEST_F(UnpackAction, ABuildThatIsCompiledAlreadyIsNotAConflictAndThePlanSaysWhereItComesFrom) {
  stager.failed_layer = layer_key(desired().value("layers")[1]);
  stager.failure = Error{ErrorCode::build_failed, "with another compiler", {}, {}, {}};
  stager.compiled_layer = stager.failed_layer;
  const Check found = check(desired());
  EXPECT_EQ(found.standing, Standing::change);
  EXPECT_EQ(found.summary, "unpack userspace (5.0 MiB), take NVIDIA for 6.1 from the cache into " + kStore);
}

// Before the fix, a missing program was noticed only after the first component had changed.
TEST_F(UnpackAction, ABuildWhoseProgramsTheRootLacksIsAConflictAtPlanTimeThatNamesTheRoot) {
  action::Build desired;
  desired.name = "NVIDIA for 6.1";
  desired.argv = {"make"};
  desired.needs = {"/lib/modules/6.1/build"};
  desired.needs_hint = "apt-get install linux-headers-6.1 make";
  desired.collect = {{.from = "a.ko", .to = "a.ko", .strip = true}};
  action::Layer layer = build(source);
  layer.build = to_json(desired);
  const Action compile = action::unpack({.name = "driver", .layers = {layer}});
  for (const std::string path : {"/lib/modules/6.1/build", "make", "strip"}) {
    const Check found = check(compile);
    ASSERT_EQ(found.standing, Standing::conflict) << path;
    EXPECT_EQ(found.problem->what, "NVIDIA for 6.1 cannot be compiled: there is no " + path + " in " + root.folder());
    EXPECT_EQ(found.problem->next, "chroot " + root.folder() + " apt-get install linux-headers-6.1 make");
    root.put(path.starts_with('/') ? path + "/Makefile" : "/usr/bin/" + path, "", 0755);
  }
  const Check ready = check(compile);
  if (ready.problem) {  // no namespaces here
    EXPECT_EQ(ready.problem->code, ErrorCode::unsupported);
  }
}

// Before the fix, a package with a patched source, of the same driver version, was rejected because of the old source's
// failure.
TEST_F(UnpackAction, AFailedBuildDoesNotAffectAnotherSourceOfTheSameName) {
  stager.failure = Error{ErrorCode::build_failed, "nv-pci.c:223: too few arguments", {}, {}, {}};
  stager.failed_layer = layer_key(desired().value("layers")[1]);
  const Action mended = action::unpack({.name = "driver", .layers = {plain(userspace), build(newer)}});
  EXPECT_EQ(check(mended).standing, Standing::change);
}

TEST_F(UnpackAction, NamesThatLeaveTheStoreOrCollideAreRefused) {
  for (const std::string as : {"../etc", "/etc", "a//b", "", "a/.."}) {
    action::Layer layer = plain(userspace);
    layer.as = as;
    const Action bad = action::unpack({.name = "driver", .layers = {layer}});
    EXPECT_FALSE(kind(bad).check(bad, context).ok()) << as;
  }
  action::Layer below = plain(userspace);
  below.as = "userspace/x";
  const Action collides = action::unpack({.name = "driver", .layers = {plain(userspace), below}});
  EXPECT_FALSE(kind(collides).check(collides, context).ok());
  const Action escapes = action::unpack({.name = "../../etc", .layers = {plain(userspace)}});
  EXPECT_FALSE(kind(escapes).check(escapes, context).ok());
}

TEST_F(UnpackAction, DeepInspectionNamesEveryDifference) {
  apply(desired());
  EXPECT_THAT(*kind(desired()).inspect(desired(), context), ElementsAre());
  const std::string layer = kStore + "/sha256-" + base::digest_hex(userspace);
  root.put(layer + "/usr/lib/libcuda.so.1", "CUDA");
  root.put(layer + "/usr/lib/extra", "");
  std::filesystem::remove(root.at(layer + "/usr/bin/nvidia-smi"));
  EXPECT_EQ(check(desired()).standing, Standing::satisfied);  // the quick check does not read the files
  EXPECT_THAT(*kind(desired()).inspect(desired(), context),
              ElementsAre(layer + "/usr/bin/nvidia-smi is missing", layer + "/usr/lib/libcuda.so.1 has another content",
                          layer + "/usr/lib/extra was not in the layer when it was unpacked"));
}

TEST_F(UnpackAction, TwoRootsGetTheSameTree) {
  TempRoot second;
  RootFs other(second.dir(), kEpoch);
  apply(desired());
  ActionContext elsewhere{other, *host, stager, {}, {}, {}, {}};
  ASSERT_TRUE(kind(desired()).stage(desired(), elsewhere).ok());
  ASSERT_TRUE(kind(desired()).perform(desired(), elsewhere).ok());
  EXPECT_EQ(root.listing(TempRoot::Times::none), second.listing(TempRoot::Times::none));
}

TEST(Store, ABuildsFolderDependsOnItsSource) {
  Json layer{{"descriptor", {{"digest", base::digest_of("a")}}}, {"build", {{"name", "x"}}}};
  const std::string first = layer_key(layer);
  layer["descriptor"]["digest"] = base::digest_of("b");
  EXPECT_NE(layer_key(layer), first);
  layer["build"] = nullptr;
  EXPECT_EQ(layer_key(layer), base::digest_of("b"));
}

TEST(TreeList, IsTheSameForEqualTreesAndReportsTypesApart) {
  TempRoot one;
  one.put("/b", "x");
  one.link("/a", "b");
  one.make_folder("/c");
  const std::string list = *list_tree(one.dir());
  EXPECT_THAT(list, HasSubstr(R"({"mode":511,"path":"a","points_to":"b","type":"symlink"})"));
  EXPECT_THAT(list, HasSubstr(R"("path":"b","size":1,"type":"regular")"));
  TempRoot two;
  two.make_folder("/c");
  two.link("/a", "b");
  two.put("/b", "x");
  EXPECT_EQ(*list_tree(two.dir()), list);
}

}  // namespace
}  // namespace slipway::core
