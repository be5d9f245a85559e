// SPDX-License-Identifier: Apache-2.0
// The confinement of slipway's own services, by `systemd-analyze security`, and whether docs/units.md has the same
// figures.
#include <cstdio>
#include <regex>
#include <set>
#include <sstream>

#include "deviceplugin/service/mps/system/unit.hpp"
#include "running_service.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;

struct Figure {
  const char* unit;
  double most;
};

constexpr Figure kFigures[] = {{"slipway-gfd.service", 2.5},
                               {"slipway-dcgm.service", 3.0},
                               {"slipway-deviceplugin.service", 2.5},
                               {"slipway-validator.service", 4.0},
                               {"slipway-runtime.service", 2.5},
                               {"slipway-cdi-refresh.service", 3.5},
                               {"slipway-runtime-mend.service", 6.5},
                               {"slipway-mps-nvidia.com-gpu.service", 3.5},
                               {"slipway-mps-aside-nvidia.com-gpu.aside-0.service", 2.0},
                               {"slipway-apply.service", 7.1},  // an apply: docs/units.md explains why it cannot be
                                                                // lower
                               {"slipway-verify.service", 5.0},
                               {"slipway-verify-late.service", 6.9},
                               {"slipway-boot.service", 7.1}};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), got);
  ::pclose(pipe);
  return text;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the unit file that systemd would write for a requested unit.
std::string unit_file_text(const deviceplugin::TransientUnit& unit) {
  std::string text = "[Service]\nExecStart=";
  for (const std::string& word : unit.argv) text += word + " ";
  text += "\n";
  for (const auto* lines : {&unit.properties, &unit.newest})
    for (const std::string& line : *lines) text += line + "\n";
  return text;
}

/// slipway's own components with a service, applied to an image.
class OwnUnits : public ::testing::Test {
 protected:
  void SetUp() override {
    apply(
        host_,
        "    cdi: {}\n    gfd: {}\n    dcgm: {}\n    deviceplugin: {}\n    validator: {}\n    runtime: {mode: nri}\n");
    // The unit of another mode of the same component.
    ScratchHost handler;
    apply(handler, "    cdi: {}\n    runtime: {on_drift: replace}\n");
    for (const std::string unit : {"slipway-runtime-mend.service", "slipway-runtime-mend.path"})
      host_.put("etc/systemd/system/" + unit, text_of(handler.path("etc/systemd/system/" + unit)));
    // systemd creates these from the same lines, when the device plugin requests them.
    const deviceplugin::MpsUnit mps{.resource = "nvidia.com/gpu",
                                    .environment = {"CUDA_MPS_PIPE_DIRECTORY=/run/nvidia/mps/nvidia.com/gpu/pipe"},
                                    .argv = {"/usr/bin/nvidia-cuda-mps-control", "-f"},
                                    .pipe_folder = "/run/nvidia/mps/nvidia.com/gpu/pipe",
                                    .log_folder = "/run/nvidia/mps/nvidia.com/gpu/log",
                                    .shm_folder = "/run/nvidia/mps/shm"};
    const deviceplugin::TransientUnit aside = deviceplugin::emptying_unit("/usr/lib/slipway/plugins/deviceplugin-empty",
                                                                          "/run/nvidia/mps/nvidia.com/.gpu.aside-0");
    host_.put("etc/systemd/system/slipway-apply.service", text_of(SLIPWAY_APPLY_UNIT));  // from the package
    for (const auto& unit : {daemon_unit(mps), aside})
      host_.put("etc/systemd/system/" + unit.name, unit_file_text(unit));
  }
  static void apply(ScratchHost& host, const std::string& components) {
    host.plugins = SLIPWAY_OWN_PLUGINS;
    host.put("usr/bin/containerd", "");
    std::filesystem::permissions(host.path("usr/bin/containerd"), std::filesystem::perms(0755));
    host.spec(components);
    const Ran ran = host.slipway({"apply"});
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  std::string file(const std::string& unit) const { return host_.path("etc/systemd/system/" + unit).string(); }
  ScratchHost host_;
};

// Before the fix, these units had a score of 9.6 of 10, UNSAFE.
TEST_F(OwnUnits, AreRestrictedAsDocumented) {
  const std::string page = text_of(SLIPWAY_SOURCES "/docs/units.md");
  for (const Figure& figure : kFigures) {
    const std::string told = output_of("systemd-analyze security --offline=yes --no-pager '" + file(figure.unit) + "'");
    std::smatch level;
    ASSERT_TRUE(std::regex_search(told, level, std::regex("exposure level for [^:]*: ([0-9.]+)"))) << told;
    EXPECT_LE(std::stod(level[1]), figure.most) << figure.unit << "\n" << told;
    EXPECT_NE(page.find("| `" + std::string(figure.unit) + "` | " + level[1].str() + " |"), std::string::npos)
        << "docs/units.md has another figure for " << figure.unit << " than " << level[1];
  }
}

// systemd ignores an unknown directive, or an invalid value, with a line in the journal.
TEST_F(OwnUnits, HaveNoLineThatSystemdIgnores) {
  ASSERT_TRUE(output_of("systemd-analyze --version").starts_with("systemd ")) << "systemd is to be installed";
  for (const Figure& figure : kFigures) {
    const std::string told = output_of("systemd-analyze verify --man=no '" + file(figure.unit) + "'");
    EXPECT_EQ(told.find("ignoring"), std::string::npos) << told;
  }
}

/// Returns the words after each "KEY=" of a unit.
std::set<std::string> words_of(const std::string& unit, const std::string& key) {
  std::set<std::string> words;
  std::istringstream lines(unit);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key + "=")) continue;
    std::istringstream rest(line.substr(key.size() + 1));
    for (std::string word; rest >> word;) words.insert(word);
  }
  return words;
}

// kubelet permanently rejects bound pods while a resource is not registered; when the plugin started 5 s after kubelet,
// all eight pods of a node were lost.
TEST_F(OwnUnits, OfTheDevicePluginAndTheBootStartBeforeKubelet) {
  const auto before = words_of(text_of(file("slipway-deviceplugin.service")), "Before");
  EXPECT_EQ(before,
            (std::set<std::string>{"k0scontroller.service", "k0sworker.service", "k3s-agent.service", "k3s.service",
                                   "kubelet.service", "rke2-agent.service", "rke2-server.service"}));
  const auto boot = words_of(text_of(file("slipway-boot.service")), "Before");
  for (const std::string& unit : before) EXPECT_TRUE(boot.contains(unit)) << unit;
  for (const auto& after : words_of(text_of(file("slipway-deviceplugin.service")), "After"))
    EXPECT_FALSE(before.contains(after)) << "an ordering cycle";
  EXPECT_TRUE(words_of(text_of(file("slipway-gfd.service")), "Before").empty()) << "nobody waits for labels";
}

// Units ordered after the target (kubelet, a join script) must not form a cycle, and other units must not wait.
TEST_F(OwnUnits, OfABootsVerifyStartAfterTheServicesAndDelayNoUnit) {
  const std::string verify = text_of(file("slipway-verify.service"));
  const auto after = words_of(verify, "After");
  for (const char* unit : {"slipway-boot.service", "slipway-deviceplugin.service", "slipway-gfd.service",
                           "slipway-dcgm.service", "slipway-validator.service", "slipway-runtime.service"})
    EXPECT_TRUE(after.contains(unit)) << unit;
  for (const auto& unit : words_of(text_of(file("slipway-boot.service")), "Before"))
    EXPECT_FALSE(after.contains(unit)) << unit << " may be ordered behind the target";
  EXPECT_EQ(words_of(verify, "Before"), std::set<std::string>{"shutdown.target"});
  EXPECT_TRUE(words_of(verify, "ConditionPathExists").empty()) << "a unit that is passed over counts as started";
  const std::string target = text_of(file("slipway-ready.target"));
  EXPECT_EQ(words_of(target, "Requires"), std::set<std::string>{"slipway-verify.service"});
  EXPECT_TRUE(words_of(target, "After").contains("slipway-verify.service"));
  for (const std::string& text : {verify, target})
    EXPECT_TRUE(words_of(text, "DefaultDependencies").contains("no")) << "multi-user.target would wait for it";
  EXPECT_EQ(std::filesystem::read_symlink(host_.path("etc/systemd/system/multi-user.target.wants/slipway-ready.target"))
                .filename(),
            "slipway-ready.target");
  EXPECT_FALSE(std::filesystem::exists(host_.path("etc/systemd/system/multi-user.target.requires")));
  EXPECT_TRUE(words_of(text_of(file("slipway-apply.service")), "OnSuccess").contains("slipway-ready.target"));
  EXPECT_EQ(output_of("systemd-analyze verify --man=no '" + file("slipway-ready.target") + "'").find("ignoring"),
            std::string::npos);
}

// Before the fix, checks that need kubelet or an engine were "not exercised" at a boot, and never repeated once those
// ran.
TEST_F(OwnUnits, OfALateVerifyAreStartedByEachEngineAndKubeletAndDelayNoUnit) {
  const std::string late = text_of(file("slipway-verify-late.service"));
  const auto engines = words_of(text_of(file("slipway-boot.service")), "Before");
  EXPECT_TRUE(engines.contains("kubelet.service"));
  EXPECT_TRUE(engines.contains("containerd.service"));
  EXPECT_EQ(words_of(late, "WantedBy"), engines);
  const auto after = words_of(late, "After");
  for (const std::string& unit : engines) {
    EXPECT_TRUE(after.contains(unit)) << unit;
    EXPECT_TRUE(
        std::filesystem::is_symlink(host_.path("etc/systemd/system/" + unit + ".wants/slipway-verify-late.service")))
        << unit;
  }
  EXPECT_TRUE(after.contains("slipway-verify.service"));
  EXPECT_EQ(words_of(late, "Before"), std::set<std::string>{"shutdown.target"});
  EXPECT_EQ(words_of(late, "Requires"), std::set<std::string>{"sysinit.target"}) << "none has to be on the machine";
  EXPECT_TRUE(words_of(late, "DefaultDependencies").contains("no")) << "multi-user.target would wait for it";
  EXPECT_TRUE(words_of(late, "Type").contains("exec")) << "who starts kubelet would wait for it";
  EXPECT_TRUE(words_of(late, "RemainAfterExit").empty()) << "a later start of kubelet would not start it again";
}

/// Returns the lines of a unit's limits, from the first to the end of its section.
std::string limits_of(const std::string& unit) {
  const std::size_t begin = unit.find("\nMemoryMax=");
  return begin == std::string::npos ? "" : unit.substr(begin, unit.find("\n\n", begin) - begin);
}

// It is a shipped file, while slipway generates the other one: both need the same lines.
TEST_F(OwnUnits, OfBothAppliesAtABootHaveTheSameLimits) {
  const std::string limits = limits_of(text_of(file("slipway-apply.service")));
  EXPECT_GT(limits.size(), 500U);
  EXPECT_EQ(limits, limits_of(text_of(file("slipway-boot.service"))));
  EXPECT_EQ(limits, limits_of(text_of(file("slipway-verify-late.service"))))
      << "it tries a container, as an apply does";
}

}  // namespace
}  // namespace slipway
