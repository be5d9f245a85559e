// SPDX-License-Identifier: Apache-2.0
// slipway-runtime, run like by an engine, on top of a runc that only records its command line.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "tests/component/engine/spawn.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSpec = R"(cdiVersion: "0.5.0"
kind: nvidia.com/gpu
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void]
devices:
  - name: "0"
    containerEdits:
      deviceNodes: [{path: /dev/null}]
      mounts: [{hostPath: /etc, containerPath: /gpu, options: [ro, rbind]}]
)";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(text_of(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class ShimTest : public ::testing::Test {
 protected:
  ShimTest() {
    program("bin/runc", "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + folder_.at("args").string() + "\nexit 7\n");
    folder_.file("cdi/nvidia.yaml", kSpec);
    settings("");
    folder_.directory("b");
    ask("0");
  }

  void program(const std::string& path, const std::string& text) {
    folder_.file(path, text);
    ::chmod(folder_.at(path).c_str(), 0755);
  }
  void settings(const std::string& more) {
    folder_.file("config.toml", more + "\n[nvidia-container-runtime.modes.cdi]\nspec-dirs = [\"" +
                                    folder_.at("cdi").string() + "\"]\n");
  }
  /// Writes a bundle whose container asks for these devices.
  void ask(const std::string& devices) {
    bundle(canonical(Json{{"ociVersion", "1.0.2"},
                          {"process", {{"args", {"sh"}}, {"env", {"NVIDIA_VISIBLE_DEVICES=" + devices}}}},
                          {"linux", {{"unknown", {{"kept", 1}}}}}}));
  }
  void bundle(const std::string& text) { folder_.file("b/config.json", text); }
  std::string bundle() const { return text_of(folder_.at("b/config.json")); }
  std::vector<std::string> files_of_bundle() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.at("b"))) names.push_back(entry.path().filename());
    return names;
  }

  int shim(std::vector<std::string> words) {
    words.insert(words.begin(), program_);
    const pid_t child = testing::spawn(
        {.words = std::move(words),
         .variables = {"PATH=" + path_, "NVIDIA_CTK_CONFIG_FILE_PATH=" + folder_.at("config.toml").string()},
         .err = folder_.at("said").string()});
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int create() {
    return shim({"--log", folder_.at("log").string(), "--log-format", log_format_, "create", "--bundle",
                 folder_.at("b").string(), "id"});
  }
  std::string output() const { return text_of(folder_.at("said")); }
  bool runc_ran() const { return fs::exists(folder_.at("args")); }

  testing::TempDir folder_;
  std::string log_format_ = "json";
  std::string path_ = folder_.at("bin").string();
  std::string program_ = SLIPWAY_RUNTIME;
};

TEST_F(ShimTest, EditsTheBundleAndBecomesRuncWithTheSameArguments) {
  EXPECT_EQ(create(), 7) << output();
  EXPECT_THAT(lines_of(folder_.at("args")), ElementsAre("--log", folder_.at("log").string(), "--log-format", "json",
                                                        "create", "--bundle", folder_.at("b").string(), "id"));
  const Json edited = Json::parse(bundle());
  EXPECT_EQ(edited["process"]["env"], Json({"NVIDIA_VISIBLE_DEVICES=void"}));
  EXPECT_EQ(edited["linux"]["devices"][0]["path"], "/dev/null");
  EXPECT_EQ(edited["linux"]["devices"][0]["minor"], 3);
  EXPECT_EQ(edited["linux"]["resources"]["devices"][0]["access"], "rwm");
  EXPECT_EQ(edited["mounts"][0]["destination"], "/gpu");
  EXPECT_EQ(edited["linux"]["unknown"]["kept"], 1);
  EXPECT_THAT(files_of_bundle(), ElementsAre("config.json")) << "nothing is left beside it";
}

TEST_F(ShimTest, KeepsModeAndOwnerOfTheBundlesFile) {
  ::chmod(folder_.at("b/config.json").c_str(), 0640);
  EXPECT_EQ(create(), 7);
  struct stat info {};
  ASSERT_EQ(::stat(folder_.at("b/config.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
}

TEST_F(ShimTest, LeavesTheBundleAloneWithoutARequest) {
  for (const char* devices : {"void", ""}) {
    ask(devices);
    const std::string before = bundle();
    EXPECT_EQ(create(), 7);
    EXPECT_EQ(bundle(), before);
  }
}

TEST_F(ShimTest, PassesOtherCommandsOnWithoutReadingAnything) {
  fs::remove_all(folder_.at("cdi"));
  bundle("no JSON");
  folder_.file("config.toml", "broken [");
  for (const char* command : {"kill", "delete", "state", "start", "exec"}) {
    EXPECT_EQ(shim({command, "--bundle", folder_.at("b").string()}), 7) << command;
    EXPECT_EQ(lines_of(folder_.at("args")).front(), command);
  }
  EXPECT_EQ(shim({"--version"}), 7);
  EXPECT_EQ(shim({}), 7);
}

TEST_F(ShimTest, ReportsTheExistingDevicesInRuncsLog) {
  ask("5");
  const std::string before = bundle();
  EXPECT_EQ(create(), 1);
  EXPECT_FALSE(runc_ran());
  EXPECT_EQ(bundle(), before);
  const Json line = Json::parse(text_of(folder_.at("log")));
  EXPECT_EQ(line["level"], "error");
  EXPECT_THAT(line["msg"].get<std::string>(), HasSubstr("there is no device nvidia.com/gpu=5; there are: 0"));
  EXPECT_THAT(output(), HasSubstr("NVIDIA_VISIBLE_DEVICES=5"));
}

TEST_F(ShimTest, ReportsThemAsTextInATextLog) {
  log_format_ = "text";
  folder_.file("log", "earlier\n");
  fs::remove_all(folder_.at("cdi"));
  EXPECT_EQ(create(), 1);
  const auto lines = lines_of(folder_.at("log"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1],
              HasSubstr("level=error msg=\"slipway-runtime: no CDI spec has devices of the kind nvidia.com/gpu"));
  EXPECT_THAT(lines[1], HasSubstr("slipway cdi generate --output"));
}

TEST_F(ShimTest, RefusesAnInvalidBundleWithoutTouchingIt) {
  for (const std::string text : {"", "[]", "{\"process\":", "{\"process\":{\"env\":[1]}}",
                                 "{\"process\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=0\"]},\"linux\":[]}"}) {
    bundle(text);
    EXPECT_EQ(create(), 1) << text;
    EXPECT_EQ(bundle(), text);
    EXPECT_FALSE(runc_ran()) << text;
    EXPECT_THAT(output(), HasSubstr("config.json")) << text;
  }
  fs::remove(folder_.at("b/config.json"));
  EXPECT_EQ(create(), 1);
  ASSERT_EQ(::mkfifo(folder_.at("b/config.json").c_str(), 0600), 0);
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("not a regular file"));
}

TEST_F(ShimTest, RefusesTheVariableOfAnUnprivilegedContainerOnRequest) {
  settings("accept-nvidia-visible-devices-envvar-when-unprivileged = false");
  const std::string before = bundle();
  EXPECT_EQ(create(), 7);
  EXPECT_EQ(bundle(), before);
  EXPECT_EQ(Json::parse(text_of(folder_.at("log")))["level"], "warning");
}

TEST_F(ShimTest, NamesAMistakeInTheSettings) {
  folder_.file("config.toml", "[nvidia-container-runtime]\nruntimes = 3\n");
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("nvidia-container-runtime.runtimes is not a list of texts"));
}

TEST_F(ShimTest, IsNeverItsOwnRunc) {
  fs::remove(folder_.at("bin/runc"));
  fs::create_symlink(SLIPWAY_RUNTIME, folder_.at("bin/runc"));
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("this root has none of runc, crun"));
  program("more/runc", "#!/bin/sh\nexit 5\n");
  path_ += ":" + folder_.at("more").string();
  EXPECT_EQ(create(), 5);
}

// Before the fix, NVIDIA's runtime, which reads the same list, started itself: 155 times in 5 s, and no container.
TEST_F(ShimTest, NeverStartsARuntimeForGpus) {
  program("bin/nvidia-container-runtime", "#!/bin/sh\nexit 9\n");
  settings("[nvidia-container-runtime]\nruntimes = [\"" + folder_.at("bin/nvidia-container-runtime").string() +
           "\", \"nvidia-container-runtime\", \"runc\"]\n");
  EXPECT_EQ(create(), 7) << "as runc ends";
  fs::remove(folder_.at("bin/runc"));
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("another runtime for GPUs cannot be named there"));
}

TEST_F(ShimTest, LogsTheGivenDevices) {
  folder_.file("config.toml", "[nvidia-container-runtime]\ndebug = \"" + folder_.at("debug").string() +
                                  "\"\n[nvidia-container-runtime.modes.cdi]\nspec-dirs = [\"" +
                                  folder_.at("cdi").string() + "\"]\n");
  EXPECT_EQ(create(), 7);
  EXPECT_THAT(text_of(folder_.at("debug")), HasSubstr("nvidia.com/gpu=0, asked for by NVIDIA_VISIBLE_DEVICES=0"));
  EXPECT_THAT(text_of(folder_.at("log")), IsEmpty());
}

// Before the fix, the hook with the driver's CUDA version was removed before the version was looked up.
TEST_F(ShimTest, ChecksRequirementsWithADisabledHook) {
  folder_.file("cdi/nvidia.yaml",
               "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: [{name: \"0\", containerEdits: {env: [A=b]}}]\n"
               "containerEdits: {hooks: [{hookName: createContainer, path: /h, args: [h, enable-cuda-compat, "
               "--host-cuda-version=12.0]}]}\n");
  settings("[features]\ndisable-cuda-compat-lib-hook = true\n");
  const auto ask_for = [&](const std::string& requirement) {
    bundle(canonical(Json{{"ociVersion", "1.0.2"},
                          {"process", {{"env", {"NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_REQUIRE_CUDA=" + requirement}}}}}));
  };
  ask_for("cuda>=12.5");
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("requires cuda>=12.5 (NVIDIA_REQUIRE_CUDA)"));
  EXPECT_FALSE(runc_ran());
  ask_for("cuda>=11.0");
  EXPECT_EQ(create(), 7) << output();
  EXPECT_FALSE(Json::parse(bundle()).contains("hooks"));
}

/// Mode jit-cdi: a copy of the program with a stand-in for `slipway` beside it, which records its arguments, and prints
/// a spec that is not in a file. The files have GPUs that no longer exist.
class JitShim : public ShimTest {
 protected:
  JitShim() {
    program_ = folder_.at("bin/slipway-runtime").string();
    fs::copy_file(SLIPWAY_RUNTIME, program_);
    settings("[nvidia-container-runtime]\nmode = \"jit-cdi\"\n" +
             std::string("[nvidia-container-cli]\nroot = \"/\"\n") +
             "[nvidia-container-runtime.modes.jit-cdi]\nnvcdi-disable-hooks = [\"chmod\"]");
    made(R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": "1", "containerEdits":)"
         R"( {"deviceNodes": [{"path": "/dev/zero"}]}}], "containerEdits": {"env": ["MADE=now"]}})");
    ask("1");
  }
  void made(const std::string& text, const std::string& more = "") {
    folder_.file("made", text);
    program("bin/slipway", "#!/bin/sh\necho \"$@\" >>" + folder_.at("asked").string() + "\n/bin/cat " +
                               folder_.at("made").string() + "\n" + more + "\n");
  }
  std::vector<std::string> asked() const { return lines_of(folder_.at("asked")); }
};

TEST_F(JitShim, MakesTheSpecWhenTheContainerStarts) {
  EXPECT_EQ(create(), 7) << output();
  const Json edited = Json::parse(bundle());
  EXPECT_EQ(edited["linux"]["devices"][0]["path"], "/dev/zero");
  EXPECT_THAT(edited["process"]["env"], ::testing::Contains("MADE=now"));
  ASSERT_EQ(asked().size(), 1U);
  EXPECT_THAT(asked()[0], HasSubstr("cdi generate --format=json --mode=nvml --vendor=nvidia.com --class=gpu"));
  EXPECT_THAT(asked()[0], HasSubstr("--disable-hook=chmod --device-id=1"));
}

// Before the fix, `slipway` took the name for an option of its own, and its error had lines of a file that only root
// may read.
TEST_F(JitShim, TakesNoOptionsFromAContainer) {
  for (const char* name : {"nvidia.com/gpu=--sim=/etc/shadow", "nvidia.com/gpu=-h", "nvidia.com/gpu=-v"}) {
    ask(name);
    EXPECT_EQ(create(), 1) << name;
    EXPECT_THAT(output(), HasSubstr("is not a name of a CDI device")) << name;
    EXPECT_FALSE(fs::exists(folder_.at("asked"))) << name;
  }
  EXPECT_FALSE(runc_ran());
}

// Before the fix, an outdated file gave the container a lost GPU.
TEST_F(JitShim, IgnoresDevicesOfFiles) {
  ask("0");
  const std::string before = bundle();
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("there is no device nvidia.com/gpu=0; there are: 1"));
  EXPECT_EQ(bundle(), before);
  EXPECT_FALSE(runc_ran());
}

// Before the fix, the program's warnings about its spec were dropped: no message said that `all` was incomplete.
TEST_F(JitShim, LogsDevicesThatAreMissingFromTheSpec) {
  made(text_of(folder_.at("made")), "echo 'cdi: warning: GPU 1 is lost, so the CDI specs are without it' >&2");
  EXPECT_EQ(create(), 7) << output();
  EXPECT_THAT(text_of(folder_.at("log")),
              HasSubstr("`slipway cdi generate`: GPU 1 is lost, so the CDI specs are without it"));
}

TEST_F(JitShim, ExplainsWhyNoSpecCanBeMade) {
  made("", "echo 'error: GPU 1 (0000:2a:00.0) is lost' >&2; exit 1");
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("no CDI spec of nvidia.com/gpu can be made for this machine"));
  EXPECT_THAT(output(), HasSubstr("GPU 1 (0000:2a:00.0) is lost"));
  made("half a sp");
  EXPECT_EQ(create(), 1);
  fs::remove(folder_.at("bin/slipway"));
  EXPECT_EQ(create(), 1);
  EXPECT_THAT(output(), HasSubstr("install slipway beside slipway-runtime"));
  EXPECT_FALSE(runc_ran());
}

TEST_F(JitShim, MakesEachKindByItsMode) {
  const std::pair<const char*, const char*> kinds[] = {
      {"gds", "gds"}, {"mofed", "mofed"}, {"gdrcopy", "gdrcopy"}, {"nvswitch", "nvswitch"}, {"imex-channel", "imex"}};
  for (const auto& [name, mode] : kinds) {
    SCOPED_TRACE(name);
    const std::string kind = std::string("nvidia.com/") + name;
    folder_.file("cdi/" + std::string(name) + ".yaml",
                 "cdiVersion: 0.5.0\nkind: " + kind + "\ndevices: [{name: a, containerEdits: {env: [OLD=file]}}]\n");
    made(R"({"cdiVersion": "0.5.0", "kind": ")" + kind +
         R"(", "devices": [{"name": "0", "containerEdits": {"env": ["NEW=)" + name + "\"]}}]}");
    ask(kind + "=0");
    EXPECT_EQ(create(), 7) << output();
    EXPECT_THAT(Json::parse(bundle())["process"]["env"], ::testing::Contains(std::string("NEW=") + name));
    EXPECT_THAT(asked().back(),
                HasSubstr("--mode=" + std::string(mode) + " --vendor=nvidia.com --class=" + std::string(name)));
    EXPECT_EQ(asked().back().find("--device-id=0") != std::string::npos, std::string(mode) == "imex");
    ask(kind + "=a");
    EXPECT_EQ(create(), 1) << "what only a file has";
  }
}

TEST_F(JitShim, LeavesOtherVendorsToTheirFiles) {
  folder_.file("cdi/other.yaml",
               "cdiVersion: 0.5.0\nkind: example.com/nic\ndevices: [{name: a, containerEdits: {env: [NIC=a]}}]\n");
  ask("example.com/nic=a");
  EXPECT_EQ(create(), 7) << output();
  EXPECT_FALSE(fs::exists(folder_.at("asked")));
}

TEST_F(JitShim, MakesNoSpecWithoutARequest) {
  ask("void");
  EXPECT_EQ(create(), 7);
  EXPECT_FALSE(fs::exists(folder_.at("asked")));
}

}  // namespace
}  // namespace slipway
