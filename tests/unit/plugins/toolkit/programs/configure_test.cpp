// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "base/command_line/read_words.hpp"
#include "toolkit/programs/configure/arguments.hpp"
#include "toolkit/programs/configure/changes.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

const std::string kContainerd = "/etc/containerd/config.toml";
const std::string kRuncV2 =
    "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
    "runtime_type = \"io.containerd.runc.v2\"\n";

Result<ConfigureArguments> parse_configure_arguments(const Words& arguments) {
  SLIPWAY_TRY(words, command_line::read_words(configure_line(), arguments));
  return configure_arguments(words);
}

Result<std::vector<FileChange>> changes(const FakeHost& host, const Words& words) {
  SLIPWAY_TRY(arguments, parse_configure_arguments(words));
  SLIPWAY_TRY(plan, plan_configuration(arguments, host));
  return changes_of(plan, host);
}

/// A machine with a runtime for GPUs.
FakeHost machine() {
  FakeHost host;
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  return host;
}

std::string complaint(const Words& words) {
  const auto arguments = parse_configure_arguments(words);
  if (arguments) return "taken";
  EXPECT_EQ(arguments.error().where, "command line");
  return arguments.error().what + " | " + arguments.error().next;
}

TEST(ConfigureArguments, AreThoseOfNvidiaCtk) {
  const auto arguments = parse_configure_arguments(
      {"--runtime=containerd", "--config", "/c.toml", "--drop-in-config", "/d/n.toml", "--nvidia-runtime-name", "gpu",
       "--nvidia-runtime-path", "/opt/r", "--nvidia-set-as-default", "--cdi.enabled=true", "--executable-path",
       "/opt/c", "--config-source", "command", "--dry-run"});
  ASSERT_TRUE(arguments) << to_text(arguments.error());
  EXPECT_EQ(arguments->engine, "containerd");
  const RuntimeSettings& settings = arguments->settings;
  EXPECT_THAT(settings.names, ElementsAre("gpu"));
  EXPECT_EQ(settings.runtime_path, "/opt/r");
  EXPECT_TRUE(settings.set_as_default && settings.cdi && arguments->ask_engine && arguments->dry_run);
  const EnginePlace place = settings.place("containerd");
  EXPECT_EQ(place.config, "/c.toml");
  EXPECT_EQ(place.drop_in, "/d/n.toml");
  EXPECT_EQ(place.program, "/opt/c");
}

TEST(ConfigureArguments, HaveNvidiaCtksDefaultsAndOtherNames) {
  const auto none = parse_configure_arguments({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->engine, "docker");
  EXPECT_THAT(none->settings.names, ElementsAre("nvidia"));
  EXPECT_FALSE(none->settings.cdi || none->settings.set_as_default || none->ask_engine || none->dry_run);
  EXPECT_EQ(none->root, "/");
  const auto others = parse_configure_arguments(
      {"--runtime", "crio", "--set-as-default", "--enable-cdi=false", "--runtime-path", "nvidia-container-runtime"});
  ASSERT_TRUE(others);
  EXPECT_TRUE(others->settings.set_as_default);
  EXPECT_FALSE(others->settings.cdi);
  EXPECT_EQ(others->settings.runtime_path, "/usr/bin/nvidia-container-runtime");
}

TEST(ConfigureArguments, NameTheirErrors) {
  EXPECT_THAT(complaint({"--runtim", "crio"}), HasSubstr("did you mean --runtime?"));
  EXPECT_THAT(complaint({"--runtime", "podman"}), HasSubstr("containerd, crio or docker"));
  EXPECT_THAT(complaint({"--runtime"}), HasSubstr("needs a value"));
  EXPECT_THAT(complaint({"--dry-run=maybe"}), HasSubstr("true or false"));
  EXPECT_THAT(complaint({"--runtime=docker", "--drop-in-config=/a"}),
              HasSubstr("Docker does not support --drop-in-config"));
  EXPECT_THAT(complaint({"--runtime=crio", "--drop-in-config=a"}), HasSubstr("absolute"));
  EXPECT_THAT(complaint({"--runtime=containerd", "--drop-in-config=/d/x.txt"}), HasSubstr("would not read '/d/x.txt'"));
  EXPECT_THAT(complaint({"--nvidia-runtime-name", "A B"}), HasSubstr("'A B' is not a name of a runtime"));
  EXPECT_THAT(complaint({"--runtime=containerd", "--nvidia-runtime-path=r"}), HasSubstr("absolute"));
  EXPECT_THAT(complaint({"--config-mode=oci-hook"}), HasSubstr("not supported"));
  EXPECT_THAT(complaint({"--config-source=air"}), HasSubstr("file or command"));
  EXPECT_THAT(complaint({"--config-source=command", "--root=/r"}), HasSubstr("--root"));
  EXPECT_THAT(complaint({"--root=/r", "--config=c.toml"}), HasSubstr("absolute"));
  EXPECT_THAT(complaint({"--nvidia-runtime-name="}), HasSubstr("empty"));
}

TEST(Configure, ReportsChangedKeys) {
  FakeHost host = machine();
  host.file(kContainerd, kRuncV2);
  const auto first = changes(host, {"--runtime=containerd", "--cdi.enabled"});
  ASSERT_TRUE(first) << to_text(first.error());
  ASSERT_EQ(first->size(), 1U);
  EXPECT_EQ(first->front().path, kContainerd);
  EXPECT_EQ(first->front().lines.size(), 3U);
  EXPECT_EQ(first->front().lines.back(), R"(plugins."io.containerd.grpc.v1.cri".enable_cdi = true)");
  EXPECT_THAT(first->front().content, ::testing::StartsWith(kRuncV2));
  host.file(kContainerd, first->front().content);
  const auto second = changes(host, {"--runtime=containerd", "--cdi.enabled"});
  ASSERT_TRUE(second);
  EXPECT_THAT(second->front().lines, IsEmpty());
}

TEST(Configure, WritesTheDropInBeforeTheFileThatImportsIt) {
  FakeHost host = machine();
  host.file(kContainerd, kRuncV2);
  const auto found = changes(host, {"--runtime=containerd", "--drop-in-config=/etc/containerd/conf.d/n.toml"});
  ASSERT_TRUE(found) << to_text(found.error());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->front().path, "/etc/containerd/conf.d/n.toml");
  EXPECT_THAT(found->back().lines, ElementsAre(R"(imports = ["/etc/containerd/conf.d/*.toml"])"));
}

// nvidia-ctk rewrites a drop-in completely, also one of another program.
TEST(Configure, KeepsTheOtherKeysOfAForeignDropIn) {
  FakeHost host = machine();
  host.file("/etc/crio/crio.conf", "");
  host.file("/etc/crio/crio.conf.d/10-own.conf", "# mine\n[crio.runtime]\nlog_level = \"debug\"\n");
  const auto found = changes(host, {"--runtime=crio", "--drop-in-config=/etc/crio/crio.conf.d/10-own.conf"});
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_THAT(found->front().content, HasSubstr("# mine\n[crio.runtime]\nlog_level = \"debug\"\n"));
  EXPECT_THAT(found->front().content, HasSubstr("runtime_path = \"/usr/bin/slipway-runtime\""));
}

TEST(Configure, GivesDockerARuntimeAndCdiOnRequest) {
  FakeHost host = machine();
  host.file("/etc/docker/daemon.json", "{\n  \"log-level\": \"warn\"\n}\n");
  const auto plain = changes(host, {});
  ASSERT_TRUE(plain) << to_text(plain.error());
  const Json value = Json::parse(plain->front().content);
  EXPECT_EQ(value["runtimes"]["nvidia"], Json::parse(R"({"args":[],"path":"/usr/bin/slipway-runtime"})"));
  EXPECT_EQ(value["log-level"], "warn");
  EXPECT_FALSE(value.contains("features") || value.contains("default-runtime"));
  const auto all = changes(host, {"--cdi.enabled", "--nvidia-set-as-default", "--nvidia-runtime-path=r"});
  ASSERT_TRUE(all);
  EXPECT_EQ(Json::parse(all->front().content)["features"]["cdi"], true);
  EXPECT_EQ(Json::parse(all->front().content)["default-runtime"], "nvidia");
  EXPECT_EQ(Json::parse(all->front().content)["runtimes"]["nvidia"]["path"], "r");
}

TEST(Configure, NeedsARuntimeProgramOrCdi) {
  FakeHost host;
  host.file(kContainerd, kRuncV2);
  const auto none = changes(host, {"--runtime=containerd"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().next, HasSubstr("--cdi.enabled"));
  const auto by_cdi = changes(host, {"--runtime=containerd", "--cdi.enabled"});
  ASSERT_TRUE(by_cdi) << to_text(by_cdi.error());
  EXPECT_THAT(by_cdi->front().content, ::testing::Not(HasSubstr("BinaryName")));
}

// The former low-level runtime goes on creating the containers, as when the component runtime is applied.
TEST(Configure, KeepsCrunAsTheProgramBehindTheRuntime) {
  FakeHost host = machine();
  host.file(kContainerd, kRuncV2 +
                             "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
                             "BinaryName = \"/usr/bin/crun\"\n");
  const auto found = changes(host, {"--runtime=containerd"});
  ASSERT_TRUE(found) << to_text(found.error());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->back().path, "/etc/nvidia-container-runtime/config.toml");
  EXPECT_THAT(found->back().content, HasSubstr("/usr/bin/crun"));
}

TEST(Configure, NamesTheLineOfABrokenFile) {
  FakeHost host = machine();
  host.file(kContainerd, "version = 2\n[plugins\n");
  const auto toml = changes(host, {"--runtime=containerd"});
  ASSERT_FALSE(toml);
  EXPECT_THAT(toml.error().where, HasSubstr(kContainerd + ":2:"));
  host.file("/etc/docker/daemon.json", "{\n\"a\": 1,\n}\n");
  const auto json = changes(host, {"--runtime=docker"});
  ASSERT_FALSE(json);
  EXPECT_THAT(json.error().where, HasSubstr("/etc/docker/daemon.json:3:"));
}

}  // namespace
}  // namespace slipway::toolkit
