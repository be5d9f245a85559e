// SPDX-License-Identifier: Apache-2.0
// A host without GPUs: there is nothing to do for the components, and all commands agree on that.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

void stack(const DriverRoot& root) {
  root.spec(
      "    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
      ", trust: unsigned}}\n    cdi: {}\n    runtime: {}\n    deviceplugin: {}\n    gfd: {}\n    validator: {}\n");
}

// Before the fix, apply exited with 0 and verify with 1, and containerd was configured for missing GPUs.
TEST(HostWithoutGpus, IsNotApplicableToAnyComponentInEveryCommand) {
  const DriverRoot root;
  stack(root);
  root.put("usr/bin/containerd", "x");
  std::filesystem::permissions(root.path("usr/bin/containerd"), std::filesystem::perms(0755));
  root.put("etc/containerd/config.toml", "version = 2\n");
  const std::string file = root.folder().at("host.yaml").string();
  for (const std::string command : {"apply", "verify", "doctor"}) {
    const Ran ran = root.run({command, "-f", file, "-o", "json"}, "empty");
    EXPECT_EQ(ran.code, 0) << command << ran.out << ran.err;
    const Json result = Json::parse(ran.out);
    std::size_t seen = 0;
    for (const Json& component : result["components"]) {
      const std::string text = component.dump();
      EXPECT_THAT(text, Not(HasSubstr("\"fail\""))) << command;
      seen += text.find("not-applicable") != std::string::npos ? 1U : 0U;
    }
    EXPECT_EQ(seen, 6U) << command << ran.out;
  }
  EXPECT_EQ(root.text("etc/containerd/config.toml"), "version = 2\n");
  const std::string status = root.run({"status"}, "empty").out;
  for (const std::string component : {"driver", "cdi", "runtime", "deviceplugin", "gfd", "validator"}) {
    EXPECT_THAT(status, Not(HasSubstr(component + ":")));
    EXPECT_FALSE(std::filesystem::exists(root.path("etc/systemd/system/slipway-" + component + ".service")));
  }
}

// An image may be booted for a test on a machine without a GPU: before the fix, verify reported only that the driver
// has nothing to do.
TEST(HostWithoutGpus, WithTheStackInstalledIsVerifiedAsFarAsPossible) {
  const DriverRoot root;
  stack(root);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Ran verify = root.run({"verify"}, "empty");
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out,
              HasSubstr("warning  driver.applies: the component is installed, but has nothing to do on this host"));
  EXPECT_THAT(verify.out, HasSubstr("pass  driver.modules"));
  EXPECT_THAT(verify.out, HasSubstr("not-applicable  driver.gpus"));
  std::filesystem::remove_all(root.path("lib/modules/6.1.0-50-amd64/updates"));
  EXPECT_EQ(root.run({"verify"}, "empty").code, 1);
}

TEST(HostWithoutGpus, ThatMustHaveThemIsAnErrorToApplyVerifyAndDoctor) {
  const DriverRoot root;
  root.folder().file("host.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: require\n"
                     "  components:\n    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
                         testing::kPackage + ", trust: unsigned}}\n");
  const std::string file = root.folder().at("host.yaml").string();
  for (const std::string command : {"apply", "verify", "doctor"})
    EXPECT_EQ(root.run({command, "-f", file}, "empty").code, 1) << command;
}

// Before the fix, cdi, gfd and every plugin that ignored the key continued without a GPU.
TEST(HostWithoutGpus, ThatMustHaveThemIsAnErrorOfEachComponent) {
  for (const std::string component : {"cdi", "gfd", "deviceplugin", "validator", "dcgm"}) {
    SCOPED_TRACE(component);
    const DriverRoot root;
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: require\n"
                       "  components:\n    " +
                           component + ": {}\n");
    const std::string file = root.folder().at("host.yaml").string();
    const Ran apply = root.run({"apply", "-f", file}, "empty");
    EXPECT_EQ(apply.code, 1) << apply.out;
    EXPECT_THAT(apply.err, HasSubstr(component + " cannot be installed: no "));
    EXPECT_THAT(apply.err, HasSubstr("spec.hardware = require"));
    EXPECT_FALSE(std::filesystem::exists(root.path("etc/systemd/system/slipway-" + component + ".service")));
  }
}

// Before the fix, the same three lines were logged for each of seven components, at each try.
TEST(HostWithoutGpus, ThatMustHaveThemIsReportedOnceForAllComponents) {
  const DriverRoot root;
  root.folder().file("host.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: require\n"
                     "  components: {cdi: {}, gfd: {}, dcgm: {}}\n");
  const std::string file = root.folder().at("host.yaml").string();
  for (const std::string command : {"apply", "plan"}) {
    const Ran ran = root.run({command, "-f", file}, "empty");
    EXPECT_EQ(ran.code, 1);
    const std::string text = command == "plan" ? ran.out : ran.err;
    const std::string error = "error: cdi, dcgm and gfd cannot be installed: no NVIDIA GPU on the PCI bus\n";
    EXPECT_THAT(text, HasSubstr(error));
    EXPECT_THAT(text, HasSubstr("remove cdi, dcgm and gfd from the spec"));
    EXPECT_EQ(text.find("cannot be installed"), text.rfind("cannot be installed")) << text;
  }
  const Json result = Json::parse(root.run({"apply", "-f", file, "-o", "json"}, "empty").out);
  for (const char* name : {"cdi", "dcgm", "gfd"})
    EXPECT_TRUE(std::ranges::any_of(result["components"], [&](const Json& each) {
      return each["name"] == name && each["state"] == "failed" && each.contains("error");
    })) << name;
}

/// Applies the spec with these components, to a root without GPUs from now on.
std::string applied(const DriverRoot& root, const std::string& components, const std::string& profile) {
  root.spec(components);
  const Ran ran = root.run({"apply"}, profile);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  return ran.out;
}

// Before the fix, the rollback printed "Nothing to do" and activated generation 1, but the files stayed those of
// generation 2 until a boot saw a GPU.
TEST(HostWithoutGpus, RollsFilesBackAndChangesThemAnyway) {
  const DriverRoot root;
  const std::string file = "etc/slipway/services/dcgm.json";
  const std::string conf = "etc/modprobe.d/slipway-nvidia.conf";
  const auto stack_with = [](const std::string& nouveau, const std::string& port) {
    return "    driver: {version: \"535.261.03\", modules: open, blacklist_nouveau: " + nouveau +
           ", source: {repository: " + testing::kPackage + ", trust: unsigned}}\n    dcgm: {listen: \":" + port +
           "\"}\n";
  };
  applied(root, stack_with("true", "9400"), "h100x8");
  const auto first = root.tree();
  applied(root, stack_with("false", "9401"), "h100x8");
  ASSERT_THAT(root.text(file), HasSubstr(":9401"));
  const Ran back = root.run({"rollback"}, "empty");
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_THAT(back.out, HasSubstr("dcgm: changed"));
  for (const std::string& path : {file, conf}) EXPECT_EQ(root.tree()[path], first.at(path));
  EXPECT_THAT(root.run({"status"}, "empty").out, HasSubstr("Generation 1 is active"));
  EXPECT_EQ(root.run({"verify"}, "empty").code, 0);
  root.spec(stack_with("true", "9402"));
  EXPECT_THAT(root.run({"plan"}, "empty").out, HasSubstr("only its files are changed"));
  EXPECT_THAT(applied(root, stack_with("true", "9402"), "empty"), HasSubstr("dcgm: changed"));
  EXPECT_THAT(root.text(file), HasSubstr(":9402"));
  EXPECT_THAT(applied(root, stack_with("true", "9402"), "empty"), HasSubstr("Nothing to do"));
  EXPECT_THAT(applied(root, stack_with("true", "9402"), "h100x8"), HasSubstr("Nothing to do"));
}

// Before the fix, `hardware: detect`, which was advised, left everything out: an image without a driver, and no
// warning.
TEST(Image, WithoutAssumedHardwareSaysSo) {
  const DriverRoot root;
  const auto apply = [&](const std::string& hardware) {
    root.folder().file(
        "host.yaml", "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: " + hardware +
                         "\n  components:\n    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
                         testing::kPackage + ", trust: unsigned}}\n    cdi: {}\n");
    return root.slipway({"apply", "--kernel", "6.1.0-50-amd64"});
  };
  const Ran required = apply("require");
  EXPECT_EQ(required.code, 1) << required.out;
  EXPECT_THAT(required.err, HasSubstr("write `hardware: assume`, or leave the key out"));
  EXPECT_THAT(required.err, Not(HasSubstr("hardware: detect")));
  const Ran detected = apply("detect");
  EXPECT_EQ(detected.code, 0) << detected.err;
  EXPECT_THAT(detected.out,
              HasSubstr("warning: none of the spec's components is put into this image: driver and cdi are not "
                        "applicable, as an image shows no devices\n  do: write `hardware: assume`"));
  const Ran assumed = apply("assume");
  EXPECT_EQ(assumed.code, 0) << assumed.err;
  EXPECT_THAT(assumed.out, Not(HasSubstr("warning: ")));
}

// Before the fix, labels that only the booted service writes made an apply to an image fail.
TEST(Image, WithASimulatedMachineIsVerifiedWithoutRuntimeFiles) {
  const DriverRoot root;
  stack(root);
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
  const Ran verify = root.run({"verify"});
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  gfd.labels"));
  EXPECT_EQ(root.run({"apply"}).code, 0);
}

// Before the fix, NVML reported 550.90.07 although 535.261.03 had just been installed.
TEST(SimulatedDriver, IsTheDriverOfTheRoot) {
  const DriverRoot root;
  stack(root);
  const auto version = [&] {
    const Ran labels =
        root.bare({"gfd", "labels", "--no-timestamp", "--sim", "h100x8", "--root", root.path("").string()});
    EXPECT_EQ(labels.code, 0) << labels.err;
    return labels.out;
  };
  EXPECT_THAT(version(), HasSubstr("cuda.driver-version.full=550.90.07"));
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_THAT(version(), HasSubstr("cuda.driver-version.full=535.261.03"));
}

}  // namespace
}  // namespace slipway
