// SPDX-License-Identifier: Apache-2.0
// `slipway mig …`, with the command lines of a person or a script that uses nvidia-mig-parted.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;

class MigTools : public MigMachine {};

TEST_F(MigTools, ApplyAssertAndExportAgree) {
  make("a100-80x2");
  const std::string file = folder_.at("named.yaml");
  ASSERT_EQ(mig("generate-config -f " + file).status, 0);
  for (const char* name :
       {"all-1g.10gb", "all-balanced", "all-1g.10gb.me", "all-7g.80gb", "all-enabled", "all-disabled"}) {
    const std::string words = " -f " + file + " -c " + name;
    EXPECT_EQ(mig("assert" + words).status, 1) << name;
    const Ran applied = mig("apply" + words);
    EXPECT_EQ(applied.status, 0) << applied.errors;
    EXPECT_EQ(applied.output, "MIG configuration applied successfully\n");
    EXPECT_EQ(mig("assert" + words).output, "Selected MIG configuration currently applied\n");
    const Ran exported = mig("export");
    EXPECT_EQ(exported.status, 0);
    folder_.file("exported.yaml", exported.output);
    EXPECT_EQ(mig("assert -f " + folder_.at("exported.yaml")).status, 0) << exported.output;
  }
}

TEST_F(MigTools, ExportPrintsTheLayoutsOfTheGpus) {
  make("a100-80x2,mig=3g.40gb/2g.20gb/1g.10gb");
  EXPECT_EQ(mig("export").output,
            "version: v1\nmig-configs:\n  current:\n  - devices: all\n    mig-enabled: true\n    mig-devices:\n"
            "      1g.10gb: 1\n      2g.20gb: 1\n      3g.40gb: 1\n");
  ASSERT_EQ(sim("gpu 1 mig off").status, 0);
  const Ran json = mig("export -o json -l before");
  EXPECT_THAT(json.output, HasSubstr("\"before\": ["));
  EXPECT_THAT(json.output, HasSubstr("\"devices\": [\n          1\n        ],\n        \"mig-enabled\": false"));
}

TEST_F(MigTools, ReadStandardInputAndTheVariablesOfUpstream) {
  make("h100x1");
  EXPECT_EQ(run(machine_ + SLIPWAY_PROGRAM " mig generate-config | " + machine_ +
                SLIPWAY_PROGRAM " mig apply -f - -c all-3g.40gb")
                .status,
            0);
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}");
  EXPECT_EQ(run("MIG_PARTED_CONFIG_FILE=" + file + " MIG_PARTED_SELECTED_CONFIG=it " + machine_ +
                SLIPWAY_PROGRAM " mig assert")
                .status,
            0);
  EXPECT_EQ(run("MIG_PARTED_OUTPUT_FORMAT=json " + machine_ + SLIPWAY_PROGRAM " mig export").output.front(), '{');
}

// With --sim or -v a worker runs the tool; before the fix, the tool read /dev/null and had none of the shell's
// descriptors.
TEST_F(MigTools, ReadStandardInputAndDescriptorsInAWorkerAsWell) {
  const std::string machine = " --sim h100x1 --root " + folder_.path();
  const std::string program = SLIPWAY_PROGRAM " mig ";
  const Ran named = run("SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_PLUGINS " " + program + "generate-config" + machine);
  ASSERT_EQ(named.status, 0) << named.errors;
  folder_.file("named.yaml", named.output);
  for (const char* input :
       {"apply -f - -c all-3g.40gb < ", "assert -f - -c all-3g.40gb < ", "assert -f /dev/fd/9 -c all-3g.40gb 9< ",
        "assert --config-file=/dev/fd/9 -c all-3g.40gb 9< "}) {
    const std::string words = input;
    const std::string redirection = words.substr(words.find('<') - (words.find("9<") != std::string::npos));
    const std::string arguments = words.substr(0, words.size() - redirection.size());
    const Ran ran = run("SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_PLUGINS " " + program + arguments + machine + " " +
                        redirection + folder_.at("named.yaml"));
    EXPECT_EQ(ran.status, 0) << words << ran.errors;
  }
  const Ran piped = run("cat " + folder_.at("named.yaml") + " | SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_PLUGINS " " +
                        program + "assert -f /dev/fd/0 -c all-3g.40gb" + machine);
  EXPECT_EQ(piped.status, 0) << "a FIFO: " << piped.errors;
}

TEST_F(MigTools, SkipALostGpuAndNameIt) {
  make("h100x3");
  ASSERT_EQ(sim("gpu 1 lost").status, 0);
  const std::string file = config("devices: [0, 2], mig-enabled: true, mig-devices: {7g.80gb: 1}");
  const Ran applied = mig("apply -f " + file);
  EXPECT_EQ(applied.status, 0) << applied.errors;
  EXPECT_EQ(mig("assert -f " + file).status, 0);
  const Ran exported = mig("export");
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.errors, HasSubstr("warning: the driver cannot reach GPU 1"));
  EXPECT_THAT(exported.output, HasSubstr("devices: [0, 2]"));
  const Ran all = mig("assert -f " + config("devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}"));
  EXPECT_EQ(all.status, 1) << "nobody knows that of the one that is lost";
  EXPECT_EQ(mig("show --gpu 0").status, 0);
  const Ran shown = mig("show");
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("GPU 1: lost: the driver cannot reach it"));
  ASSERT_EQ(sim("gpu all lost").status, 0);
  EXPECT_EQ(mig("export").status, 1);
}

// Before the fix, the tool printed a config of null, which apply rejects.
TEST_F(MigTools, ExportIsAnErrorWhereThereIsNoGpu) {
  make("empty");
  const Ran ran = mig("export");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.errors, HasSubstr("there is no GPU on this machine"));
}

TEST_F(MigTools, AssertReportsDifferences) {
  make("h100x2");
  const Ran ran = mig("assert -f " + config("devices: [1], mig-enabled: true, mig-devices: {7g.80gb: 1}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.errors, HasSubstr("assertion failure: selected configuration not currently applied"));
  EXPECT_THAT(ran.errors, HasSubstr("GPU 1 (0000:2a:00.0): MIG disabled -> 1 x 7g.80gb"));
}

TEST_F(MigTools, AssertValidConfigAsksNoGpu) {
  const std::string file = config("devices: all, mig-enabled: false");
  const Ran valid = run("SLIPWAY_NVML=/nowhere " SLIPWAY_PROGRAM " mig assert -a -c it -f " + file);
  EXPECT_EQ(valid.status, 0) << valid.errors;
  EXPECT_EQ(valid.output, "Selected MIG configuration is valid\n");
  const Ran unknown = run(SLIPWAY_PROGRAM " mig assert --valid-config -c that -f " + file);
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("there is no config 'that'"));
}

TEST_F(MigTools, ModeOnlyChangesNoInstances) {
  make("h100x2,mig=3g.40gb");
  ASSERT_EQ(sim("gpu 1 mig off").status, 0);
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}");
  EXPECT_EQ(mig("assert -m -f " + file).status, 1);
  EXPECT_EQ(mig("apply -m -f " + file).status, 0);
  EXPECT_EQ(mig("assert -m -f " + file).output, "Selected MIG mode settings from configuration currently applied\n");
  EXPECT_EQ(mig("assert -f " + file).status, 1);
  EXPECT_THAT(mig("export").output, HasSubstr("3g.40gb: 2")) << "that GPU had the right mode";
}

TEST_F(MigTools, SkipResetAcceptsAPendingMode) {
  make("a100-80x1");
  ASSERT_EQ(sim("gpu 0 no-reset on").status, 0);
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}");
  const Ran whole = mig("apply -f " + file);
  EXPECT_EQ(whole.status, 1);
  EXPECT_THAT(whole.errors, HasSubstr("waits for a reset"));
  const Ran mode = mig("apply -m -s -f " + file);
  EXPECT_EQ(mode.status, 0) << mode.errors;
  EXPECT_THAT(mode.errors, HasSubstr("takes MIG mode enabled at its next reset"));
}

TEST_F(MigTools, RestoreMakesTheInstancesOfACheckpointAgain) {
  make("h100x2,mig=3g.40gb/2g.20gb/1g.10gb");
  const std::string file = folder_.at("before.json");
  EXPECT_EQ(mig("checkpoint -f " + file).output, "MIG configuration checkpointed successfully\n");
  const std::string before = sim("show").output;
  ASSERT_EQ(mig("apply -f " + config("devices: all, mig-enabled: false")).status, 0);
  const Ran restored = mig("restore -f " + file);
  EXPECT_EQ(restored.status, 0) << restored.errors;
  EXPECT_EQ(restored.output, "MIG configuration restored successfully\n");
  const auto sorted = [](const std::string& text) {
    std::istringstream lines(text);
    std::multiset<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    return all;
  };
  EXPECT_EQ(sorted(sim("show").output), sorted(before)) << "the same places, too";
  make("h100x2");
  folder_.file("other.json", "{}");
  EXPECT_EQ(mig("restore -f " + folder_.at("other.json")).status, 1);
}

TEST_F(MigTools, RunHooksAroundAnApply) {
  make("h100x1");
  const std::string diary = folder_.at("diary");
  std::string hooks = "version: v1\nhooks:\n";
  for (const char* name : {"apply-start", "pre-apply-mode", "pre-apply-config", "apply-exit"})
    hooks += std::string("  ") + name + ":\n  - workdir: " + folder_.path() +
             "\n    command: /bin/sh\n    args: [-c, 'echo " + name +
             " $OWN $MIG_PARTED_SELECTED_CONFIG $MIG_PARTED_MODE_CHANGE_ONLY $HOME >> diary']\n"
             "    envs: {OWN: mine, MIG_PARTED_SELECTED_CONFIG: other}\n";
  folder_.file("hooks.yaml", hooks);
  const std::string words = "apply -c it -k " + folder_.at("hooks.yaml") + " -f " +
                            config("devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}");
  const Ran ran = mig(words);
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(content(diary),
            "apply-start mine it false\npre-apply-mode mine it false\npre-apply-config mine it false\n"
            "apply-exit mine it false\n");
  EXPECT_EQ(run("rm " + diary).status, 0);
  EXPECT_EQ(mig(words).status, 0);
  EXPECT_EQ(content(diary), "apply-start mine it false\napply-exit mine it false\n") << "nothing was to be changed";
}

// Before the fix, hooks that any user could have written ran as root.
TEST_F(MigTools, RunNoHooksThatAnotherUserCouldHaveWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  make("h100x1");
  const std::string file = folder_.at("hooks.yaml");
  const std::string mark = folder_.at("ran");
  folder_.file("hooks.yaml", "hooks: {apply-start: [{command: /usr/bin/touch, args: [" + mark + "]}]}\n");
  const std::string words = "apply -k " + file + " -f " + config("devices: all, mig-enabled: false");
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  Ran refused = mig(words);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr("every user may write to " + file));
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::chown(file.c_str(), 65534, 0), 0);
  refused = mig(words);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr(file + " belongs to user 65534"));
  EXPECT_NE(run("test -e " + mark).status, 0);
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  EXPECT_EQ(mig(words).status, 0);
  EXPECT_EQ(run("test -e " + mark).status, 0) << "root's own hooks run";
}

TEST_F(MigTools, ChangeNothingWhenAHookFails) {
  make("h100x1");
  folder_.file("hooks.yaml",
               "hooks:\n  pre-apply-config:\n  - {command: /bin/sh, args: [-c, 'echo no kubelet; exit 3']}\n"
               "  apply-exit:\n  - {command: /bin/sh, args: [-c, 'touch " +
                   folder_.at("exited") + "']}\n  apply-end: []\n");
  const Ran ran = mig("apply -k " + folder_.at("hooks.yaml") + " -f " +
                      config("devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("the hook pre-apply-config failed: /bin/sh: exit status 3"));
  EXPECT_THAT(ran.errors, HasSubstr("said:  no kubelet"));
  EXPECT_THAT(ran.errors, HasSubstr("there is no hook 'apply-end'"));
  EXPECT_THAT(mig("export").output, HasSubstr("mig-enabled: false"));
  EXPECT_EQ(run("test -e " + folder_.at("exited")).status, 0) << "what apply-start has stopped is started again";
  folder_.file("hooks.yaml", "hooks: {apply-start: [{args: [a]}]}\n");
  EXPECT_THAT(mig("apply -k " + folder_.at("hooks.yaml") + " -f " + config("devices: all, mig-enabled: false")).errors,
              HasSubstr("this hook has no command"));
}

// Mistakes of nvidia-mig-parted (v0.15.0), each with the answer that users expect.

TEST_F(MigTools, RefuseAProfileThatNoGpuHasAndDestroyNothing) {
  make("a100-40x1,mig=1g.5gb");
  const Ran ran = mig("apply -f " + config("devices: all, mig-enabled: true, mig-devices: {1g.10gb: 2, 1g.99gb: 1}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("has no MIG profile '1g.99gb'"));
  EXPECT_THAT(mig("export").output, HasSubstr("1g.5gb: 7"));
}

TEST_F(MigTools, AssertAConfigThatCoversSomeGpusOnly) {
  make("h100x2,mig=1g.10gb");
  EXPECT_EQ(mig("assert -f " + config("devices: [0], mig-enabled: true, mig-devices: {1g.10gb: 7}")).status, 0);
}

TEST_F(MigTools, LeaveTheInstancesOfOtherGpusAloneWhenAModeChanges) {
  make("a100-80x2,mig=1g.10gb");
  ASSERT_EQ(sim("gpu 1 mig off").status, 0);
  ASSERT_EQ(sim("forget-calls").status, 0);
  EXPECT_EQ(mig("apply -f " + config("devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}")).status, 0);
  EXPECT_THAT(sim("calls").output, ::testing::Not(HasSubstr("Destroy")));
}

TEST_F(MigTools, PutTheFormerLayoutBackWhenTheNewOneFails) {
  make("h100x2,mig=3g.40gb");
  ASSERT_EQ(sim("gpu 1 create-fails 1").status, 0);
  const Ran ran = mig("apply -f " + config("devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("GPU 0 (0000:18:00.0) has its former layout again: 2 x 3g.40gb"));
  EXPECT_THAT(ran.errors, HasSubstr("GPU 1 (0000:2a:00.0) has its former layout again: 2 x 3g.40gb"));
  EXPECT_THAT(mig("export").output,
              HasSubstr("devices: all\n    mig-enabled: true\n    mig-devices:\n      3g.40gb: 2"));
}

TEST_F(MigTools, CompareByMeaning) {
  make("a100-40x1,mig=1g.5gb");
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {1c.1g.5gb: 7, 2g.10gb: 0}");
  EXPECT_EQ(mig("assert -f " + file).status, 0);
  ASSERT_EQ(sim("forget-calls").status, 0);
  EXPECT_EQ(mig("apply -f " + file).status, 0);
  EXPECT_THAT(sim("calls").output, ::testing::Not(HasSubstr("Destroy")));
}

TEST_F(MigTools, AssertIgnoresAGpuWithoutMig) {
  make("mixedx4");
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {7g.40gb: 1}");
  const Ran applied = mig("apply -f " + file);
  EXPECT_EQ(applied.status, 0) << applied.errors;
  const Ran asserted = mig("assert -f " + file);
  EXPECT_EQ(asserted.status, 0) << asserted.errors;
  const Ran named = mig("apply -f " + config("devices: [3], mig-enabled: true, mig-devices: {}"));
  EXPECT_EQ(named.status, 1);
  EXPECT_THAT(named.errors, HasSubstr("is not capable of MIG"));
}

TEST_F(MigTools, NameTheUsersOfAGpuAndDestroyNothing) {
  make("h100x1,mig=1g.10gb");
  ASSERT_EQ(sim("process add 0 4711 10 compute trainer 13 0").status, 0);
  const Ran ran = mig("apply -f " + config("devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("held:  trainer (pid 4711) on 1g.10gb at 6"));
  EXPECT_THAT(mig("export").output, HasSubstr("1g.10gb: 7"));
}

/// Returns name and number of the calls of a run.
std::vector<std::pair<std::string, int>> calls_in(const std::string& shown) {
  std::vector<std::pair<std::string, int>> calls;
  std::istringstream words(shown);
  for (std::string line; std::getline(words, line);) {
    std::istringstream parts(line);
    std::string name;
    int count = 0;
    if (parts >> name >> count && name.starts_with("nvml")) calls.emplace_back(name, count);
  }
  return calls;
}

// With instances that change, and with a mode that changes.
TEST_F(MigTools, LeaveOneOfBothLayoutsWhenAnyCallFails) {
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {3g.40gb: 1, 2g.20gb: 1}");
  for (const std::string profile : {"h100x1,mig=3g.40gb/1g.10gb/1g.10gb", "a100-80x1"}) {
    make(profile);
    const std::string before = mig("export").output;
    ASSERT_EQ(sim("forget-calls").status, 0);
    ASSERT_EQ(mig("apply -f " + file).status, 0);
    const auto calls = calls_in(sim("calls").output);
    const std::string after = mig("export").output;
    ASSERT_GT(calls.size(), 10U);
    ASSERT_NE(before, after);
    for (const auto& [name, count] : calls)
      for (int call = 1; call <= count; ++call) {
        make(profile);
        const std::string which = profile + ": " + name + " call " + std::to_string(call);
        ASSERT_EQ(sim("function " + name + " fail-call " + std::to_string(call)).status, 0);
        const Ran ran = mig("apply -f " + file);
        ASSERT_EQ(sim("function " + name + " fail-call 0").status, 0);
        const std::string now = mig("export").output;
        EXPECT_EQ(now, ran.status == 0 ? after : before) << which << "\n" << ran.errors;
        EXPECT_EQ(mig("apply -f " + file).status, 0) << which;
      }
  }
}

TEST_F(MigTools, RefuseWrongWordsAndFiles) {
  EXPECT_EQ(mig("apply").status, 64);
  EXPECT_EQ(mig("apply -f a --mode").status, 64);
  EXPECT_EQ(mig("export -o toml").status, 64);
  EXPECT_EQ(mig("apply -f /nowhere/config.yaml").status, 1);
  folder_.file("config.yaml", "version: v1\nmig-configs:\n  it:\n  - {devices: all, mig-enabled: maybe}\n");
  const Ran broken = mig("apply -f " + folder_.at("config.yaml"));
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.errors, HasSubstr("config.yaml:4:33"));
}

}  // namespace
}  // namespace slipway
