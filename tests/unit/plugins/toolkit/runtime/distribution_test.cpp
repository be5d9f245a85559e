// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/runtime/containerd/config.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::summary;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kK3s = "/var/lib/rancher/k3s/agent/etc/containerd";
const std::string kRke2 = "/var/lib/rancher/rke2/agent/etc/containerd";

/// A running machine with this version of containerd.
void run_containerd(FakeHost& host, const std::string& program, const std::string& version) {
  be_node(host).file(program, "x", 0755);
  host.answers({program, "--version"},
               {0, "containerd github.com/containerd/containerd " + version + " x\n", "", false});
}

std::string made(int version, const std::string& folder) {
  const std::string plugin = version == 3 ? "io.containerd.cri.v1.runtime" : "io.containerd.grpc.v1.cri";
  return "version = " + std::to_string(version) + "\n" +
         (folder.empty() ? "" : "imports = [\"" + folder + "/*.toml\"]\n") + "[plugins.\"" + plugin +
         "\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n[plugins.\"" + plugin +
         "\".containerd.runtimes.runc.options]\nSystemdCgroup = true\n";
}

Json handler_in(const Json& file, int version) {
  return at_path(file, cri_plugin(version) + KeyPath{"containerd", "runtimes", "nvidia"});
}

TEST(RuntimeK3s, PutsAFileIntoTheFolderThatNewerOnesImport) {
  FakeHost host;
  run_containerd(host, "/var/lib/rancher/k3s/data/current/bin/containerd", "v2.1.5-k3s1");
  host.file(kK3s + "/config.toml", made(3, kK3s + "/config-v3.toml.d"));
  host.file("/etc/systemd/system/k3s-agent.service", "[Service]\nExecStart=/usr/local/bin/k3s agent\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "custom K3s takes its configuration\nfile " + kK3s +
                                "/config-v3.toml.d/99-nvidia.toml\ncustom K3s answers\n");
  EXPECT_EQ(plan->actions()[1].value("triggers"), Json({"restart:k3s-agent.service"}));
  const Json file = parse_toml(plan->actions()[1].text("content"), "f").value();
  EXPECT_EQ(at_path(handler_in(file, 3), {"options", "SystemdCgroup"}), true) << plan->actions()[1].text("content");
}

// Before the fix, the configuration was written below /var/lib/rancher/k3s, which a K3s with another data folder never
// reads.
TEST(RuntimeK3s, IsConfiguredBelowItsDataFolder) {
  const std::string unit = "/etc/systemd/system/k3s.service";
  const std::string planned = "file /mnt/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml\n";
  FakeHost host;
  host.file("/usr/local/bin/k3s", "x", 0755);
  host.file(unit, "[Service]\nExecStart=/usr/local/bin/k3s server --data-dir /mnt/k3s\n");
  EXPECT_EQ(actions_of(host), planned);
  host.file(unit, "[Service]\nExecStart=/usr/local/bin/k3s \\\n    server \\\n\t'--data-dir=/mnt/k3s' \\\n\n");
  EXPECT_EQ(actions_of(host), planned);
  host.file(unit,
            "[Service]\nEnvironmentFile=-/etc/default/%N\nEnvironmentFile=-/etc/systemd/system/k3s.service.env\n"
            "ExecStart=/usr/local/bin/k3s server\n");
  host.file("/etc/systemd/system/k3s.service.env", "K3S_DATA_DIR=/mnt/k3s\n");
  EXPECT_EQ(actions_of(host), planned);
  host.without("/etc/systemd/system/k3s.service.env");
  host.file("/etc/rancher/k3s/config.yaml", "token: x\ndata-dir: \"/mnt/k3s\" # big disk\n");
  EXPECT_EQ(actions_of(host), planned);
}

TEST(RuntimeK3s, ExtendsTheBaseTemplateOfOlderOnes) {
  FakeHost host;
  run_containerd(host, "/var/lib/rancher/rke2/bin/containerd", "v1.7.11-k3s2");
  host.file(kRke2 + "/config.toml", made(2, ""));
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  const auto plan = plan_of(host, runtime_spec({{"engines", {"rke2"}}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_THAT(summary(*plan),
              StartsWith("file " + kRke2 + "/config.toml.tmpl\ncustom RKE2 answers\nnote: CDI stays off"));
  const std::string content = plan->actions()[0].text("content");
  const auto base = content.find("{{ template \"base\" . }}\n");
  ASSERT_NE(base, std::string::npos);
  const Json behind = parse_toml(content.substr(content.find('\n', base)), "the template's end").value();
  EXPECT_EQ(at_path(handler_in(behind, 2), {"options", "BinaryName"}), "/usr/bin/slipway-runtime");
  EXPECT_FALSE(at_path(behind, cri_plugin(2)).contains("enable_cdi")) << "the base has that table already";
}

TEST(RuntimeK3s, KeepsTheHandlerThatK3sAdds) {
  FakeHost host;
  run_containerd(host, "/var/lib/rancher/k3s/data/current/bin/containerd", "v1.7.11-k3s2");
  host.file(kK3s + "/config.toml", made(2, ""));
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_TRUE(plan->actions().empty()) << summary(*plan);
  EXPECT_THAT(plan->notes().front(), HasSubstr("K3s adds the handler nvidia by itself"));
}

TEST(RuntimeK3s, KeepsATemplateOfTheUser) {
  FakeHost host;
  run_containerd(host, "/var/lib/rancher/k3s/data/current/bin/containerd", "v1.7.11-k3s2");
  host.file(kK3s + "/config.toml", made(2, ""));
  host.file(kK3s + "/config.toml.tmpl", "version = 2\nroot = \"{{ .NodeConfig.Containerd.Root }}\"\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().where, kK3s + "/config.toml.tmpl");
  EXPECT_THAT(plan.error().next, HasSubstr("{{ template \"base\" . }}"));
}

TEST(RuntimeK3s, IsRecognizedByThePathsThatNvidiasInstallerIsGiven) {
  FakeHost host;
  run_containerd(host, "/var/lib/rancher/k3s/data/current/bin/containerd", "v2.1.5-k3s1");
  host.file(kK3s + "/config.toml", made(3, kK3s + "/config-v3.toml.d"));
  const Json env{{"CONTAINERD_CONFIG", kK3s + "/config-v3.toml.tmpl"},
                 {"CONTAINERD_SOCKET", "/run/k3s/containerd/containerd.sock"},
                 {"RUNTIME", "containerd"}};
  const auto plan = plan_of(host, runtime_spec({{"env", env}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_THAT(summary(*plan), HasSubstr("file " + kK3s + "/config-v3.toml.d/99-nvidia.toml\n"));
}

TEST(RuntimeK0s, PutsAFileIntoItsFolderInItsOwnVersion) {
  FakeHost host;
  run_containerd(host, "/var/lib/k0s/bin/containerd", "v1.7.27");
  host.file("/etc/k0s/containerd.toml", "# k0s_managed=true\nversion = 2\n");
  host.file("/run/k0s/containerd-cri.toml", made(2, ""));
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "file /etc/k0s/containerd.d/99-nvidia.toml\ncustom k0s answers\n");
  const Json file = parse_toml(plan->actions()[0].text("content"), "f").value();
  EXPECT_EQ(file["version"], 2);
  EXPECT_EQ(at_path(handler_in(file, 2), {"options", "SystemdCgroup"}), true);
  EXPECT_EQ(at_path(file, cri_plugin(2))["enable_cdi"], true);
}

TEST(RuntimeK0s, TreatsAConfigurationThatTheAdminTookOverAsAnyOther) {
  FakeHost host;
  run_containerd(host, "/var/lib/k0s/bin/containerd", "v1.7.27");
  host.file("/etc/k0s/containerd.toml", made(2, ""));
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_THAT(summary(*plan), HasSubstr("merge /etc/k0s/containerd.toml\n"));
}

TEST(RuntimeMicroK8s, ChangesTheFileWithItsVariables) {
  const std::string args = "/var/snap/microk8s/current/args";
  FakeHost host;
  host.file(args + "/containerd-template.toml",
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = \"${SNAPSHOTTER}\"\n"
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"${RUNTIME_TYPE}\"\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "merge " + args + "/containerd-template.toml\n");
  EXPECT_EQ(plan->actions()[0].value("triggers"), Json({"restart:snap.microk8s.daemon-containerd.service"}));
  EXPECT_EQ(handler_in(plan->actions()[0].value("set"), 2)["runtime_type"], "${RUNTIME_TYPE}");
}

}  // namespace
}  // namespace slipway::toolkit
