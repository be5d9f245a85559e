// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/cdi/text.hpp"
#include "tests/unit/base/command_line/run_tool.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::run_tool;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<GenerateArguments> parse(const std::vector<std::string>& words, const std::map<std::string, std::string>& set) {
  SLIPWAY_TRY(read, command_line::read_words(generate_line(), words, [&](const std::string& name) {
                const auto found = set.find(name);
                return found == set.end() ? std::nullopt : std::optional(found->second);
              }));
  return generate_arguments(read);
}

TEST(CdiGenerateArguments, AreTakenFromNvidiaCtksVariablesWhereTheyAreNotGiven) {
  const std::map<std::string, std::string> set{{"NVIDIA_CTK_CDI_OUTPUT_FILE_PATH", "/var/run/cdi/nvidia.json"},
                                               {"NVIDIA_CTK_DRIVER_ROOT", "/run/nvidia/driver"},
                                               {"NVIDIA_CTK_CDI_GENERATE_MODE", "management"},
                                               {"NVIDIA_CTK_CDI_GENERATE_DEVICE_NAME_STRATEGIES", "uuid,type-index"},
                                               {"NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS", "enable-coherent-annotations"},
                                               {"NVIDIA_CTK_CDI_GENERATE_NO_ALL_DEVICE", "true"}};
  const auto arguments = parse({}, set);
  ASSERT_TRUE(arguments.ok()) << to_text(arguments.error());
  EXPECT_EQ(arguments->output, "/var/run/cdi/nvidia.json");
  EXPECT_TRUE(arguments->json && arguments->options.coherent && !arguments->options.all_device);
  EXPECT_EQ(arguments->driver_root + " " + arguments->dev_root, "/run/nvidia/driver /run/nvidia/driver");
  EXPECT_EQ(arguments->options.mode, Mode::management);
  EXPECT_THAT(arguments->options.names, ElementsAre(Naming::uuid, Naming::type_index));
  const auto given = parse({"--mode", "nvml", "--device-name-strategy=index", "--output", "", "--format", "yaml"}, set);
  ASSERT_TRUE(given.ok()) << to_text(given.error());
  EXPECT_EQ(given->options.mode, Mode::nvml);
  EXPECT_THAT(given->options.names, ElementsAre(Naming::index));
  EXPECT_EQ(given->output, "") << "an option counts, even an empty one";
}

TEST(CdiGenerateArguments, ThatAreInvalidAreNamed) {
  EXPECT_THAT(to_text(parse({}, {{"NVIDIA_CTK_CDI_GENERATE_MODE", "csv"}}).error()), HasSubstr("not 'csv'"));
  EXPECT_THAT(to_text(parse({"--container-library-dir", "lib64"}, {}).error()), HasSubstr("not an absolute path"));
  EXPECT_THAT(to_text(parse({"--feature-flag", "turbo"}, {}).error()), HasSubstr("turbo is not known"));
}

/// Collects the output of a tool.
class Printed final : public ToolIo {
 public:
  void print(std::string_view text) override { out += text; }
  void log(std::string_view) override {}
  void progress(std::string_view, std::uint64_t, std::uint64_t) override {}
  Result<Json> core(std::string_view, const Json&) override { return Json(); }
  std::string out;
};

const std::string kSpec = R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0",
  "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0", "hostPath": "/run/nvidia/driver/dev/nvidia0"}]}}],
  "containerEdits": {"mounts": [{"hostPath": "/run/nvidia/driver/usr/bin/nvidia-smi",
  "containerPath": "/usr/bin/nvidia-smi"}], "hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
  "args": ["nvidia-cdi-hook", "create-symlinks", "--link", "libcuda.so.1::/usr/lib64/libcuda.so"]}]}})";

nvidia::cdi::Spec transformed(const std::vector<std::string>& more) {
  FakeHost host;
  host.file("/spec.json", kSpec);
  Printed io;
  std::vector<std::string> words{"root", "--input", "/spec.json"};
  words.insert(words.end(), more.begin(), more.end());
  const auto status = run_tool(CdiTools(), "transform", words, host, io);
  EXPECT_TRUE(status.ok() && *status == 0) << (status.ok() ? "" : to_text(status.error()));
  return nvidia::cdi::parse_and_validate(io.out, "out").value();
}

TEST(CdiTransform, MovesThePathsOfTheHost) {
  const auto spec = transformed({"--from", "/run/nvidia/driver", "--to=/"});
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/usr/bin/nvidia-smi");
  EXPECT_EQ(spec.edits.mounts[0].container_path, "/usr/bin/nvidia-smi");
  EXPECT_EQ(spec.devices[0].edits.device_nodes[0].host_path, "/dev/nvidia0");
}

TEST(CdiTransform, MovesThePathsInContainers) {
  const auto spec = transformed({"--from", "/usr/lib64", "--to", "/opt/lib", "--relative-to", "container"});
  EXPECT_EQ(spec.edits.hooks[0].args.back(), "libcuda.so.1::/opt/lib/libcuda.so");
  EXPECT_EQ(spec.edits.hooks[0].path, "/usr/bin/nvidia-cdi-hook") << "a program of the host";
  const auto nodes = transformed({"--from", "/dev", "--to", "/nodes", "--relative-to", "container"});
  EXPECT_EQ(nodes.devices[0].edits.device_nodes[0].path, "/nodes/nvidia0");
  EXPECT_EQ(nodes.devices[0].edits.device_nodes[0].host_path, "/run/nvidia/driver/dev/nvidia0");
}

TEST(CdiTransform, NamesMissingArguments) {
  const FakeHost host;
  Printed io;
  EXPECT_THAT(to_text(run_tool(CdiTools(), "transform", {"tree"}, host, io).error()),
              HasSubstr("only the transformation `root`"));
  EXPECT_THAT(to_text(run_tool(CdiTools(), "transform", {"root", "--from", "a", "--to", "/"}, host, io).error()),
              HasSubstr("--from takes an absolute path"));
  EXPECT_THAT(to_text(run_tool(CdiTools(), "transform", {"root", "--from=/a", "--to=/b"}, host, io).error()),
              HasSubstr("--input FILE"));
}

}  // namespace
}  // namespace slipway::toolkit
