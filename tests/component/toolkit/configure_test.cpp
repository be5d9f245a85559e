// SPDX-License-Identifier: Apache-2.0
// `slipway toolkit runtime configure …` on roots of the test, with a user's command lines.
#include <fstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

#include "program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using testing::shell;
using ::testing::StartsWith;

const std::string kContainerd = "/etc/containerd/config.toml";
const std::string kDropIn = "/etc/containerd/conf.d/99-nvidia.toml";

class Configure : public ::testing::Test {
 protected:
  Configure() { program("/usr/bin/slipway-runtime", "exit 0"); }

  testing::TempDir root;

  void program(const std::string& path, const std::string& lines) {
    root.file(path, "#!/bin/sh\n" + lines + "\n");
    ::chmod(root.at(path).c_str(), 0755);
  }
  /// Registers it as installed in dpkg, for the component.
  void install(const std::string& name, const std::string& package, const std::string& version) {
    program("/usr/bin/" + name, "exit 1");
    root.file("/var/lib/dpkg/status",
              "Package: " + package + "\nStatus: install ok installed\nVersion: " + version + "\n");
  }
  std::string text_of(const std::string& path) const {
    std::ifstream in(root.at(path));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  ino_t inode_of(const std::string& path) const {
    struct stat info {};
    EXPECT_EQ(::stat(root.at(path).c_str(), &info), 0) << path;
    return info.st_ino;
  }
  Ran configure(const std::string& words) const {
    return shell(SLIPWAY_PROGRAM " toolkit runtime configure --root " + root.string() + " " + words + " 2>&1");
  }
  /// Returns the component's result in a copy of this root.
  std::string applied(const std::string& section, const std::string& path) const {
    const testing::TempDir copy;
    const std::string existing = (copy.path() / "root").string();
    EXPECT_EQ(shell("cp -a " + root.string() + " " + existing).status, 0);
    copy.file("/host.yaml",
              "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: a}\nspec:\n  components:\n    runtime: {" +
                  section + "}\n");
    const Ran ran = shell(SLIPWAY_PROGRAM " apply --yes --without-slipway --root " + existing + " --cache " +
                          copy.at("/cache").string() + " -f " + copy.at("/host.yaml").string() + " 2>&1");
    EXPECT_EQ(ran.status, 0) << ran.output;
    std::ifstream in(existing + path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

/// Version, and the CRI plugin's key.
class ConfigureContainerd : public Configure, public ::testing::WithParamInterface<std::tuple<int, std::string>> {
 protected:
  ConfigureContainerd() {
    const auto& [version, plugin] = GetParam();
    const std::string table = "plugins.\"" + plugin + "\".containerd";
    mine = (version == 1 ? "" : "version = " + std::to_string(version) + "\n") + "# mine\n[" + table +
           "]\n  snapshotter = \"zfs\"   # stays\n[" + table +
           ".runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n[" + table +
           ".runtimes.runc.options]\n  SystemdCgroup = true\n[" + table +
           ".runtimes.kata]\n  runtime_type = \"io.containerd.kata.v2\"\n";
    root.file(kContainerd, mine);
  }
  std::string mine;
};

TEST_P(ConfigureContainerd, AddsAHandlerThatInheritsAndLeavesTheRest) {
  const Ran first = configure("--runtime containerd");
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_THAT(first.output, StartsWith(kContainerd + "\n  plugins."));
  EXPECT_THAT(first.output, HasSubstr("systemctl restart containerd.service"));
  const std::string now = text_of(kContainerd);
  EXPECT_THAT(now, StartsWith(mine));
  const std::string added = now.substr(mine.size());
  EXPECT_THAT(added, HasSubstr("SystemdCgroup = true"));
  EXPECT_THAT(added, HasSubstr("BinaryName = \"/usr/bin/slipway-runtime\""));
  EXPECT_THAT(added, Not(HasSubstr("enable_cdi")));

  const ino_t inode = inode_of(kContainerd);
  const Ran second = configure("--runtime containerd");
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.output, "nothing to change\n");
  EXPECT_EQ(text_of(kContainerd), now);
  EXPECT_EQ(inode_of(kContainerd), inode) << "it was not even written again";
}

TEST_P(ConfigureContainerd, WritesTheSameAsTheComponent) {
  install("containerd", "containerd", std::get<0>(GetParam()) == 3 ? "2.1.0" : "1.7.24");
  const std::string wanted = applied("engines: [containerd], set_as_default: true", kContainerd);
  const Ran ran = configure("--runtime containerd --nvidia-set-as-default --cdi.enabled");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(text_of(kContainerd), wanted);
  EXPECT_THAT(wanted, HasSubstr("default_runtime_name = \"nvidia\""));
}

INSTANTIATE_TEST_SUITE_P(Versions, ConfigureContainerd,
                         ::testing::Values(std::make_tuple(1, "cri"), std::make_tuple(2, "io.containerd.grpc.v1.cri"),
                                           std::make_tuple(3, "io.containerd.cri.v1.runtime")));

TEST_F(Configure, WritesADropInThatContainerdImportsAsTheComponentDoes) {
  install("containerd", "containerd", "1.7.24");
  root.file(kContainerd,
            "version = 2 # mine\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"pause\"\n"
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"a\"\n");
  const std::string section = "engines: [containerd], cdi: false, containerd_drop_in: " + kDropIn;
  const std::string drop_in = applied(section, kDropIn);
  const std::string top = applied(section, kContainerd);
  const std::string words = "--runtime containerd --drop-in-config " + kDropIn;
  const Ran ran = configure(words);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(text_of(kDropIn), drop_in);
  EXPECT_EQ(text_of(kContainerd), top);
  EXPECT_THAT(drop_in, HasSubstr("sandbox_image = \"pause\"")) << "this containerd reads the table from one file only";
  EXPECT_THAT(top, HasSubstr("imports = [\"/etc/containerd/conf.d/*.toml\"]"));
  EXPECT_EQ(configure(words).output, "nothing to change\n");
}

// Before the fix, verify named an edit that plans did not see, with useless remedies: the component asks for the
// default handler's value, and the user had changed both.
TEST_F(Configure, AdoptsAnEditThatMatchesTheSpec) {
  install("containerd", "containerd", "1.7.24");
  const std::string table = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc";
  root.file(kContainerd,
            "version = 2\n" + table + "]\nruntime_type = \"a\"\n" + table + ".options]\nSystemdCgroup = true\n");
  const testing::TempDir beside;
  beside.file("/host.yaml",
              "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: a}\nspec:\n  components:\n    runtime: "
              "{engines: [containerd]}\n");
  const auto slipway = [&](const std::string& command, const std::string& words) {
    return shell(SLIPWAY_PROGRAM " " + command + " --root " + root.string() + " --cache " +
                 beside.at("/cache").string() + words + " 2>&1");
  };
  const std::string spec = " --without-slipway -f " + beside.at("/host.yaml").string();
  ASSERT_EQ(slipway("apply", spec).status, 0);
  std::string text = text_of(kContainerd);
  for (std::size_t at = 0; (at = text.find("SystemdCgroup = true", at)) != std::string::npos;)
    text.replace(at, 20, "SystemdCgroup = false");
  root.file(kContainerd, text);
  EXPECT_EQ(slipway("verify", "").status, 1);
  const Ran plan = slipway("plan", spec);
  EXPECT_EQ(plan.status, 2) << plan.output;
  EXPECT_THAT(plan.output, HasSubstr("an edit now matches what the spec asks for, so slipway manages it again"));
  EXPECT_EQ(slipway("apply", spec).status, 0);
  EXPECT_EQ(slipway("plan", spec).status, 0);
  const Ran verify = slipway("verify", "");
  EXPECT_EQ(verify.status, 0) << verify.output;
  EXPECT_EQ(text_of(kContainerd), text);
}

TEST_F(Configure, WritesDockersFileAsTheComponentDoes) {
  install("dockerd", "docker.io", "26.1.5");
  root.file("/etc/docker/daemon.json", "{\n    \"log-level\": \"warn\"\n}\n");
  const std::string wanted = applied("engines: [docker]", "/etc/docker/daemon.json");
  const Ran ran = configure("--cdi.enabled");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(text_of("/etc/docker/daemon.json"), wanted);
  EXPECT_THAT(wanted, HasSubstr("\"log-level\": \"warn\""));
  EXPECT_THAT(ran.output, HasSubstr("systemctl restart docker.service"));
}

TEST_F(Configure, WritesCriosDropInAsTheComponentDoes) {
  install("crio", "cri-o", "1.30.0");
  root.file("/etc/crio/crio.conf", "[crio.runtime]\ndefault_runtime = \"crun\"\n");
  root.file("/etc/crio/crio.conf.d/10-crun.conf",
            "[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/bin/crun\"\nmonitor_path = \"/usr/bin/conmon\"\n");
  const std::string wanted = applied("engines: [crio]", "/etc/crio/crio.conf.d/99-nvidia.conf");
  const Ran ran = configure("--runtime crio");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(text_of("/etc/crio/crio.conf.d/99-nvidia.conf"), wanted);
  EXPECT_THAT(wanted, HasSubstr("monitor_path = \"/usr/bin/conmon\""));
  EXPECT_THAT(text_of("/etc/nvidia-container-runtime/config.toml"), HasSubstr("/usr/bin/crun"));
}

TEST_F(Configure, LeavesABrokenFileAsItIsAndNamesTheLine) {
  const std::string broken = "version = 2\n[plugins\n";
  root.file(kContainerd, broken);
  const ino_t inode = inode_of(kContainerd);
  const Ran ran = configure("--runtime containerd --drop-in-config " + kDropIn);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr(kContainerd + ":2:"));
  EXPECT_EQ(text_of(kContainerd), broken);
  EXPECT_EQ(inode_of(kContainerd), inode);
  EXPECT_FALSE(std::filesystem::exists(root.at(kDropIn))) << "nothing else was written either";
}

TEST_F(Configure, WritesNothingInADryRun) {
  root.file(kContainerd, "version = 2\n");
  const Ran files = shell(SLIPWAY_PROGRAM " toolkit runtime configure --runtime containerd --dry-run --root " +
                          root.string() + " 2>/dev/null");
  EXPECT_EQ(files.status, 0);
  EXPECT_THAT(files.output, StartsWith("version = 2\n"));
  EXPECT_THAT(files.output, HasSubstr("BinaryName"));
  EXPECT_EQ(text_of(kContainerd), "version = 2\n");
}

TEST_F(Configure, KeepsTheModeAndTheLinkToAFile) {
  root.file("/srv/daemon.json", "{}\n");
  root.link("/etc/docker/daemon.json", "/srv/daemon.json");
  ::chmod(root.at("/srv/daemon.json").c_str(), 0600);
  EXPECT_EQ(configure("").status, 0);
  EXPECT_THAT(text_of("/srv/daemon.json"), HasSubstr("slipway-runtime"));
  EXPECT_TRUE(std::filesystem::is_symlink(root.at("/etc/docker/daemon.json")));
  struct stat info {};
  ASSERT_EQ(::stat(root.at("/srv/daemon.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(Configure, InheritsTheEnginesRunningConfigurationOnRequest) {
  const std::string path = root.at("/containerd").string();
  program("/containerd",
          R"([ "$1" = --version ] && { echo "containerd x v1.7.24 y"; exit; }
printf 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "asked"\n')");
  const std::string words = "--runtime containerd --nvidia-runtime-path /r --config-source command --executable-path " +
                            path + " --config " + root.at("/config.toml").string();
  const Ran ran = shell(SLIPWAY_RUNTIME_CONFIGURE " " + words + " 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(text_of("/config.toml"), HasSubstr("runtime_type = \"asked\""));
  program("/containerd", "echo out of order >&2; exit 3");
  const Ran failed = shell(SLIPWAY_RUNTIME_CONFIGURE " " + words + " 2>&1");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.output, HasSubstr("ended with status 3: out of order"));
}

TEST_F(Configure, IsFoundUnderEveryName) {
  const std::string options = " --runtime containerd --nvidia-runtime-path /r --dry-run --root " + root.string();
  for (const char* way : {SLIPWAY_PROGRAM " toolkit runtime configure", SLIPWAY_PROGRAM " runtime configure",
                          SLIPWAY_RUNTIME_CONFIGURE}) {
    const Ran ran = shell(way + options + " 2>/dev/null");
    EXPECT_EQ(ran.status, 0) << way;
    EXPECT_THAT(ran.output, HasSubstr("BinaryName = \"/r\"")) << way;
  }
  EXPECT_THAT(shell(SLIPWAY_PROGRAM " toolkit runtime --help 2>&1").output, HasSubstr("\n  configure  adds a runtime"));
  EXPECT_THAT(configure("--help").output, HasSubstr("--nvidia-set-as-default"));
  EXPECT_EQ(configure("--runtim x").status, 64);
}

// containerd prints the result of all its files: bookworm's 1.6 reads versions 1 and 2.
class ConfigureForContainerd : public ConfigureContainerd {};

TEST_P(ConfigureForContainerd, IsAcceptedByContainerd) {
  if (shell("containerd --version 2>/dev/null").status != 0) GTEST_SKIP() << "containerd is not installed";
  for (const std::string& drop_in : {std::string(), std::string("--drop-in-config ") + root.at(kDropIn).string()}) {
    if (!drop_in.empty() && std::get<0>(GetParam()) == 1) continue;  // version 1 has no imports
    root.file(kContainerd, mine);
    const Ran ran = shell(SLIPWAY_RUNTIME_CONFIGURE " --runtime containerd --nvidia-runtime-path /r --config " +
                          root.at(kContainerd).string() + " " + drop_in + " 2>&1");
    EXPECT_EQ(ran.status, 0) << ran.output;
    const Ran dump = shell("containerd --config " + root.at(kContainerd).string() + " config dump 2>/dev/null");
    ASSERT_EQ(dump.status, 0) << text_of(kContainerd);
    EXPECT_THAT(dump.output, HasSubstr("snapshotter = \"zfs\""));
    EXPECT_THAT(dump.output, HasSubstr("runtimes.kata]"));
    const auto handler = dump.output.find("runtimes.nvidia]");
    ASSERT_NE(handler, std::string::npos) << dump.output;
    const std::string nvidia = dump.output.substr(handler, dump.output.find("runtimes.runc]", handler) - handler);
    EXPECT_THAT(nvidia, HasSubstr("runtime_type = \"io.containerd.runc.v2\""));
    EXPECT_THAT(nvidia, HasSubstr("BinaryName = \"/r\""));
    EXPECT_THAT(nvidia, HasSubstr("SystemdCgroup = true"));
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, ConfigureForContainerd,
                         ::testing::Values(std::make_tuple(1, "cri"), std::make_tuple(2, "io.containerd.grpc.v1.cri")));

}  // namespace
}  // namespace slipway
