// SPDX-License-Identifier: Apache-2.0
// `slipway toolkit cdi …`, with a user's command lines.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using testing::Ran;

Ran slipway(const std::string& words) { return testing::shell(SLIPWAY_PROGRAM " " + words + " 2>&1"); }

TEST(ToolkitTools, ListTheDevicesOfSpecs) {
  const testing::TempDir folder;
  folder.file("a.yaml", "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n");
  folder.file("broken.yaml", "kind: [");
  const Ran ran = testing::shell(SLIPWAY_PROGRAM " toolkit cdi list --spec-dir " + folder.string() + " 2>/dev/null");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "a.b/c=d\n");
  EXPECT_THAT(slipway("toolkit cdi list --spec-dir " + folder.string()).output, HasSubstr("broken.yaml"));
}

// Before the fix, a name in a foreign spec moved the cursor of the tool's terminal.
TEST(ToolkitTools, PrintControlCharactersOfFilesAsEscapes) {
  const testing::TempDir folder;
  folder.file("a.yaml",
              "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: \"a\\e[31mred\", containerEdits: {env: [A=1]}}]\n");
  for (const std::string& words : {"list --spec-dir " + folder.string(), "validate " + folder.at("a.yaml").string()}) {
    const Ran ran = slipway("toolkit cdi " + words);
    EXPECT_THAT(ran.output, HasSubstr("a\\x1b[31mred")) << words;
    EXPECT_THAT(ran.output, Not(HasSubstr("\x1b"))) << words;
  }
}

// Before the fix, a tool whose plugin has another name used the program with all commands, which takes five times as
// long.
TEST(ToolkitTools, AreStartedWithoutTheMainProgram) {
  namespace fs = std::filesystem;
  const testing::TempDir folder;
  folder.file("specs/a.yaml", "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n");
  const fs::path bin = fs::path(SLIPWAY_PROGRAM).parent_path();
  fs::create_directories(folder.at("bin"));
  fs::create_directories(folder.at("lib/slipway/plugins"));
  for (const char* program : {"slipway", "slipway-worker"}) fs::copy(bin / program, folder.at("bin") / program);
  const fs::path plugins = folder.at("lib/slipway/plugins");
  for (const char* plugin : {"gfd.so", "toolkit.so"})
    fs::copy(bin / "../lib/slipway/plugins" / plugin, plugins / plugin);
  const std::string call = folder.at("bin/slipway").string() + " cdi list --spec-dir " + folder.at("specs").string();
  EXPECT_EQ(testing::shell(call + " 2>&1").output, "a.b/c=d\n");
  fs::copy(plugins / "toolkit.so", plugins / "twin.so");
  EXPECT_THAT(testing::shell(call + " 2>&1").output, HasSubstr("slipway-engine"))
      << "which of two plugins is meant is for that program to tell";
}

// Before the fix, a device in two files was simply missing in the list.
TEST(ToolkitTools, NameDuplicateDevicesAndTheRemedy) {
  const testing::TempDir folder;
  const std::string spec = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n";
  const auto device = [](const std::string& name) {
    return "- {name: \"" + name + "\", containerEdits: {env: [A=1]}}\n";
  };
  folder.file("etc/nvidia.com-gpu.yaml", spec + device("0") + device("1") + device("all"));
  folder.file("etc/nvidia.yaml", spec + device("0") + device("1") + device("2"));
  folder.file("run/later.yaml", spec + device("0") + device("3"));
  const std::string etc = folder.at("etc").string();
  const Ran ran = slipway("toolkit cdi list --spec-dir " + etc + " --spec-dir " + folder.at("run").string());
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr(etc + "/nvidia.com-gpu.yaml and " + etc +
                                    "/nvidia.yaml both have nvidia.com/gpu=0 and another device, so engines find"));
  EXPECT_THAT(ran.output, HasSubstr("`systemctl disable --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service`"));
  EXPECT_THAT(ran.output, HasSubstr("nvidia.com/gpu=2\nnvidia.com/gpu=3\nnvidia.com/gpu=all\n"));
  EXPECT_THAT(ran.output, Not(HasSubstr("gpu=0\n"))) << "one of a higher rank does not settle it";
}

// Below /dev, where tests have their folders if there is enough memory, a simulated machine shows its own devices.
testing::TempDir outside_of_dev() {
  const char* const given = std::getenv("TMPDIR");
  const std::string before = given == nullptr ? "" : given;
  ::setenv("TMPDIR", "/var/tmp", 1);
  testing::TempDir folder;
  if (given == nullptr)
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", before.c_str(), 1);
  return folder;
}

// Before the fix, the error was "cannot open dp.yaml": the file was looked up from another folder than the caller's.
TEST(ToolkitTools, FindRelativePathsFromTheWorkingDirectory) {
  const testing::TempDir folder = outside_of_dev();
  folder.file("dp.yaml", "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n");
  folder.file("specs/a.yaml", "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n");
  std::filesystem::create_directory(folder.at("machine"));
  const auto here = [&](const std::string& words) {
    const Ran ran = testing::shell("cd " + folder.string() + " && " SLIPWAY_PROGRAM " " + words + " 2>&1");
    EXPECT_EQ(ran.status, 0) << words << ran.output;
    return ran.output;
  };
  EXPECT_THAT(here("deviceplugin resources --config-file dp.yaml --sim t4x4"), HasSubstr("16 ids of 4 devices"));
  EXPECT_THAT(here("deviceplugin resources --config-file dp.yaml --sim t4x4 --root machine"), HasSubstr("16 ids"));
  EXPECT_THAT(here("gfd labels --config-file dp.yaml --sim t4x4"), HasSubstr("gpu.replicas=4"));
  EXPECT_THAT(here("gfd labels --machine-type-file specs/a.yaml --sim t4x4"), HasSubstr("gpu.machine=cdiVersion"));
  EXPECT_EQ(here("toolkit cdi list --spec-dir specs"), "a.b/c=d\n");
  EXPECT_EQ(here("cdi list --spec-dir=./specs -v --sim t4x4"), "a.b/c=d\n");
  EXPECT_THAT(here("cdi validate specs/a.yaml --sim t4x4"), HasSubstr("specs/a.yaml: valid"));
  EXPECT_THAT(here("cdi transform root --from /a --to /b --input specs/a.yaml --output b.json && cat b.json"),
              HasSubstr("a.b/c"));
}

// Before the fix, the advice was "Set config_name to one of them", for which a tool has no place.
TEST(ToolkitTools, ChooseOneOfSeveralConfigsByItsName) {
  const testing::TempDir folder = outside_of_dev();
  folder.file("cm.yaml",
              "apiVersion: v1\nkind: ConfigMap\ndata:\n  plain: \"version: v1\"\n"
              "  shared: \"version: v1\\nsharing: {timeSlicing: {replicas: 4}}\"\n");
  const std::string file = " --config-file " + folder.at("cm.yaml").string();
  for (const std::string tool : {"deviceplugin resources --sim t4x4", "gfd labels --sim t4x4"}) {
    const Ran several = slipway(tool + file);
    EXPECT_NE(several.status, 0) << tool;
    EXPECT_THAT(several.output, HasSubstr("there are several configs (plain, shared)")) << tool;
    EXPECT_THAT(several.output, HasSubstr("--config-name")) << tool;
    const Ran wrong = slipway(tool + file + " --config-name spare");
    EXPECT_THAT(wrong.output, HasSubstr("there is no config 'spare'")) << tool;
    EXPECT_THAT(wrong.output, HasSubstr("plain, shared")) << tool;
  }
  EXPECT_THAT(slipway("deviceplugin resources --sim t4x4 --config-name shared" + file).output,
              HasSubstr("16 ids of 4 devices"));
  EXPECT_THAT(slipway("gfd labels --sim t4x4 --config-name shared" + file).output, HasSubstr("gpu.replicas=4"));
}

// Before the fix, GPUs were offered unshared, without a message.
TEST(ToolkitTools, WarnOfUnknownSharedResources) {
  const testing::TempDir folder = outside_of_dev();
  folder.file("dp.yaml", "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpus, replicas: 2}]}}\n");
  for (const std::string tool : {"deviceplugin resources", "gfd labels"})
    EXPECT_THAT(
        slipway(tool + " --sim t4x4 --config-file " + folder.at("dp.yaml").string()).output,
        HasSubstr("is offered as nvidia.com/gpus, so this entry shares nothing; did you mean 'nvidia.com/gpu'?"))
        << tool;
}

TEST(ToolkitTools, ListTheExistingDevicesForAnUnknownOne) {
  EXPECT_THAT(slipway("toolkit").output, HasSubstr("its components with tools are cdi and runtime"));
  EXPECT_THAT(slipway("toolkit runtime list").output, HasSubstr("runtime has no tool 'list'"));
  EXPECT_THAT(slipway("toolkit runtime list").output, HasSubstr("its tools are configure"));
  const Ran invented = slipway("toolkit cdi invent");
  EXPECT_NE(invented.status, 0);
  EXPECT_THAT(invented.output, HasSubstr("its tools are generate, list, transform, validate"));
  EXPECT_THAT(slipway("toolkit cdi generate --help").output, HasSubstr("--driver-root"));
}

TEST(ToolkitTools, NameAFileThatIsNotASpec) {
  const testing::TempDir folder;
  folder.file("broken.yaml", "kind: [");
  const Ran ran = slipway("toolkit cdi validate " + folder.at("broken.yaml").string());
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("broken.yaml:1:"));
  const Ran missing = slipway("cdi validate " + folder.at("nosuch.yaml").string());
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.output, HasSubstr("error: "));
  EXPECT_THAT(missing.output, ::testing::Not(HasSubstr("warning")));
  const Ran both =
      slipway("cdi validate " + folder.at("nosuch.yaml").string() + " " + folder.at("broken.yaml").string());
  EXPECT_EQ(both.status, 1);
  EXPECT_THAT(both.output, HasSubstr("error: 2 of 2 files are not CDI specs"));
  EXPECT_THAT(both.output, HasSubstr("broken.yaml:1:"));
}

// Before the fix, `cdi list --spec-dir nosuch` printed nothing and succeeded.
TEST(ToolkitTools, NameTheFolderThatIsMissing) {
  const testing::TempDir folder;
  const Ran none = slipway("cdi list --spec-dir " + folder.at("nosuch").string());
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.output, HasSubstr("nosuch"));
  const Ran one = slipway("cdi list --spec-dir " + folder.string() + " --spec-dir " + folder.at("nosuch").string());
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.output, HasSubstr("warning: left out"));
}

}  // namespace
}  // namespace slipway
