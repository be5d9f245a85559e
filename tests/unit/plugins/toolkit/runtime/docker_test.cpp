// SPDX-License-Identifier: Apache-2.0
// Docker's configuration: its file and its flags together, and the combinations with which dockerd does not start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

const std::string kDaemonJson = "/etc/docker/daemon.json";
const std::string kOverride = "/etc/systemd/system/docker.service.d/override.conf";

class RuntimeDockerFile : public ::testing::Test {
 protected:
  RuntimeDockerFile() {
    install(host_, "dockerd", "docker.io", "26.1.5");
    host_.file("/usr/bin/slipway-runtime", "x", 0755);
    host_.file("/usr/lib/systemd/system/docker.service", "[Service]\nExecStart=/usr/sbin/dockerd -H fd://\n");
    host_.file("/usr/sbin/dockerd", "x", 0755);
  }
  void flags(const std::string& flags) {
    host_.file(kOverride, "[Service]\nExecStart=\nExecStart=/usr/sbin/dockerd -H fd:// " + flags + "\n");
  }
  std::string planned(const Json& more = Json::object()) { return actions_of(host_, runtime_spec(more)); }
  std::string found() {
    const auto findings = Runtime().diagnose(runtime_spec(spec_), host_);
    std::string lines;
    for (const Finding& finding : findings->list()) lines += finding.name + ": " + finding.text + "\n";
    return lines;
  }
  FakeHost host_;
  Json spec_ = Json::object();
};

// Before the fix, dockerd 26 did not start: "specified both as a flag and in the configuration file: default-runtime".
TEST_F(RuntimeDockerFile, GetsNoDefaultRuntimeThatAFlagSets) {
  flags("--default-runtime=nvidia --add-runtime=nvidia=/usr/bin/slipway-runtime");
  spec_ = {{"set_as_default", true}};
  EXPECT_EQ(set_of(host_, runtime_spec(spec_)), (Json{{"features", {{"cdi", true}}}}));
  flags("--default-runtime custom");
  EXPECT_THAT(planned(spec_), HasSubstr("dockerd is started with --default-runtime=custom, which sets the default "
                                        "runtime"));
  EXPECT_THAT(planned(spec_), HasSubstr(kOverride + ":3"));
  EXPECT_THAT(found(), HasSubstr("runtime.docker: dockerd is started with --default-runtime=custom"));
  EXPECT_EQ(planned(), "merge /etc/docker/daemon.json\n") << "which runtime is the default is not to be changed";
}

TEST_F(RuntimeDockerFile, GetsNoRuntimeThatAFlagSets) {
  flags("--add-runtime=nvidia=/usr/bin/nvidia-container-runtime");
  EXPECT_THAT(planned(), HasSubstr("--add-runtime=nvidia=/usr/bin/nvidia-container-runtime"));
  EXPECT_EQ(planned({{"names", {"gpu"}}}), "merge /etc/docker/daemon.json\n");
}

// dockerd 20.10 looks up its file's default runtime only in that file. Before the fix, dockerd did not start. Found by
// random layouts: seed 3 of Docker 20.
TEST_F(RuntimeDockerFile, GetsTheRuntimeOfAFlagThatIsTheFilesDefault) {
  for (const auto& [version, in_file] : {std::pair("20.10.24", true), {"26.1.5", false}}) {
    install(host_, "dockerd", "docker.io", version);
    host_.file("/usr/bin/slipway-runtime", "x", 0755);
    flags("--add-runtime=nvidia=/usr/bin/slipway-runtime");
    const Json set = set_of(host_, runtime_spec({{"set_as_default", true}}));
    EXPECT_EQ(set["default-runtime"], "nvidia") << version << set;
    EXPECT_EQ(at_path(set, {"runtimes", "nvidia"}).is_object(), in_file) << version << set;
  }
}

// Amazon Linux: OPTIONS and DOCKER_ADD_RUNTIMES are set in files beside the unit.
TEST_F(RuntimeDockerFile, KnowsTheFlagsOfTheUnitsEnvironmentFiles) {
  host_.file("/etc/sysconfig/docker",
             "OPTIONS=\"--default-ulimit nofile=32768:65536\"\n"
             "DOCKER_ADD_RUNTIMES=\"--default-runtime=custom\"\n");
  host_.file(kOverride,
             "[Service]\nEnvironmentFile=-/etc/sysconfig/docker\nExecStart=\n"
             "ExecStart=/usr/sbin/dockerd -H fd:// $OPTIONS $DOCKER_ADD_RUNTIMES\n");
  EXPECT_THAT(planned({{"set_as_default", true}}), HasSubstr("--default-runtime=custom"));
}

TEST_F(RuntimeDockerFile, KeepsTheFlagThatEnablesCdi) {
  flags("--feature cdi=true");
  EXPECT_FALSE(set_of(host_, runtime_spec()).contains("features"));
  flags("--feature containerd-snapshotter=false");
  EXPECT_THAT(planned(), HasSubstr("--feature"));
}

// Before the fix, dockerd 26 did not start: "cannot configure both path and runtimeType for the same runtime".
TEST_F(RuntimeDockerFile, KeepsARuntimeOfAnotherKind) {
  host_.file(kDaemonJson, R"({"runtimes": {"nvidia": {"runtimeType": "io.containerd.runsc.v1"}}})");
  EXPECT_THAT(planned(), HasSubstr("the runtime nvidia of Docker is of another kind (it has runtimeType)"));
  EXPECT_THAT(found(), HasSubstr("runtime.docker: the runtime nvidia of Docker is of another kind"));
  EXPECT_EQ(planned({{"names", {"gpu"}}}), "merge /etc/docker/daemon.json\n");
}

TEST_F(RuntimeDockerFile, GetsNoRuntimeWithANameThatDockerKeepsForItself) {
  EXPECT_THAT(planned({{"engines", {"docker"}}, {"names", {"runc"}}}),
              HasSubstr("keeps the runtime name runc for itself"));
}

TEST_F(RuntimeDockerFile, IsReadWithAByteOrderMarkAndRefusedAsUtf16) {
  host_.file(kDaemonJson, "\xef\xbb\xbf{\"debug\": true}");
  EXPECT_EQ(planned(), "merge /etc/docker/daemon.json\n");
  host_.file(kDaemonJson, std::string("\xff\xfe{\0}\0", 6));
  EXPECT_THAT(planned(), HasSubstr("the file is UTF-16"));
  EXPECT_THAT(planned(), HasSubstr("convert it to UTF-8"));
}

// Before the fix, the number ended the plugin with an internal error, and the lists ended the program by a signal.
TEST_F(RuntimeDockerFile, ThatIsInvalidIsRefusedWithThePlace) {
  host_.file(kDaemonJson, "{\n \"x\": 1e400}");
  EXPECT_THAT(planned(), HasSubstr(kDaemonJson + ":2:"));
  EXPECT_THAT(planned(), HasSubstr("number overflow parsing '1e400'"));
  host_.file(kDaemonJson, "{\"x\": " + std::string(100000, '[') + std::string(100000, ']') + "}");
  EXPECT_THAT(planned(), HasSubstr("nests deeper than 200 levels"));
}

TEST_F(RuntimeDockerFile, DoesNotKeepOtherEnginesFromBeingConfigured) {
  host_.file("/usr/bin/containerd", "x", 0755);
  host_.file(kDaemonJson, "no JSON");
  EXPECT_EQ(planned(), "merge /etc/containerd/config.toml\ncustom all else\n") << "what docker got earlier stays";
  EXPECT_THAT(plan_of(host_, runtime_spec())->notes(),
              ::testing::Contains(HasSubstr("docker is left as it is: the file is not JSON")));
  EXPECT_THAT(found(), HasSubstr("runtime.docker: the file is not JSON"));
  EXPECT_THAT(planned({{"engines", {"containerd", "docker"}}}), HasSubstr("the file is not JSON"));
}

}  // namespace
}  // namespace slipway::toolkit
