// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/package/annotations.hpp"
#include "driver/package/module_build.hpp"
#include "driver/plan/plan.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::HasSubstr;
using testing::kKernel;
using testing::TestHost;

class PlanBuildTest : public ::testing::Test {
 protected:
  PlanBuildTest() {
    std::vector<std::string> problems;
    packages_ = packages_of(testing::catalogue({{.kernel = ""}}), problems);
  }
  Result<Installation> plan(const TestHost& host) const {
    return plan_installation(settings, read_host_facts(*host.offline()), {&packages_.front(), true, {}}, kKernel);
  }
  std::string refusal(const TestHost& host) const {
    const auto result = plan(host);
    EXPECT_FALSE(result);
    return result ? "" : to_text(result.error());
  }
  Settings settings;

 private:
  std::vector<Package> packages_;
};

TEST_F(PlanBuildTest, CompilesForTheKernelAndCollectsItsModulesAndSymbols) {
  TestHost host;
  host.build_tools();
  const auto installation = plan(host);
  ASSERT_TRUE(installation);
  const Json& build = installation->build;
  EXPECT_EQ(build["name"], "NVIDIA 535.261.03 (open) for 6.1.0-50-amd64");
  EXPECT_EQ(build["directory"], "nvidia");
  EXPECT_EQ(build["argv"], (Json{"make", "-j{jobs}", "modules", "KERNEL_UNAME=6.1.0-50-amd64",
                                 "NV_KERNEL_MODULES=nvidia nvidia-uvm", "KCFLAGS=-g0"}));
  EXPECT_EQ(build["needs"], (Json{"/lib/modules/6.1.0-50-amd64/build", "/usr/bin/make", "/usr/bin/gcc-12"}));
  EXPECT_EQ(build["needs_hint"], "apt-get install linux-headers-6.1.0-50-amd64 make gcc-12");
  EXPECT_EQ(build["collect"],
            (Json::array({{{"from", "nvidia.ko"}, {"to", "kernel/nvidia.ko"}, {"strip", true}},
                          {{"from", "nvidia-uvm.ko"}, {"to", "kernel/nvidia-uvm.ko"}, {"strip", true}},
                          {{"from", "Module.symvers"}, {"to", "Module.symvers"}}})));
  EXPECT_EQ(build["identity"]["compiler"], "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0");
  EXPECT_TRUE(installation->receipt.compiled);
  EXPECT_EQ(installation->receipt.modules, (std::vector<std::string>{"nvidia.ko", "nvidia-uvm.ko"}));
}

// kmod of a root can read the format of the kernel's own modules, and perhaps no other.
TEST_F(PlanBuildTest, CompressesAndSignsAsTheKernelAndTheSpecWant) {
  TestHost host;
  host.build_tools();
  host.root().file("/usr/lib/modules/6.1.0-50-amd64/kernel/arch/x86/a.ko.xz", "");
  settings.sign_key = "/etc/mok.key";
  settings.sign_certificate = "/etc/mok.der";
  const auto installation = plan(host);
  ASSERT_TRUE(installation);
  EXPECT_EQ(installation->build["collect"][0], (Json{{"from", "nvidia.ko"},
                                                     {"to", "kernel/nvidia.ko.xz"},
                                                     {"strip", true},
                                                     {"sign_key", "/etc/mok.key"},
                                                     {"sign_cert", "/etc/mok.der"},
                                                     {"compress", "xz"}}));
  EXPECT_EQ(installation->receipt.modules.front(), "nvidia.ko.xz");
}

TEST_F(PlanBuildTest, NamesMissingHeadersAndCompilers) {
  TestHost host;
  EXPECT_EQ(
      refusal(host),
      "error: the driver's modules must be compiled for kernel 6.1.0-50-amd64, and its headers are not installed\n"
      "  at:    /lib/modules/6.1.0-50-amd64/build\n"
      "  do:    apt-get install linux-headers-6.1.0-50-amd64 make gcc; or put a package for this kernel into the "
      "source: `slipway driver build`\n");
  host.build_tools();
  std::filesystem::remove(host.root().at("/usr/bin/gcc-12"));
  EXPECT_THAT(refusal(host), HasSubstr("and its compiler gcc-12 is missing\n"));
  std::filesystem::remove(host.root().at("/usr/bin/make"));
  EXPECT_THAT(refusal(host), HasSubstr("and there is no make\n  at:    /usr/bin/make\n  do:    apt-get install"));
}

TEST_F(PlanBuildTest, RefusesARealTimeKernel) {
  TestHost host;
  host.build_tools();
  host.root().file("/usr/src/linux-headers-6.1.0-50-amd64/.config", "CONFIG_PREEMPT_RT=y\n");
  EXPECT_THAT(refusal(host), HasSubstr("does not support real-time kernels"));
}

TEST(HeadersHint, NamesThePackagesOfTheSystem) {
  EXPECT_EQ(headers_hint("ubuntu debian", "6.8.0-90-generic", "x86_64-linux-gnu-gcc-13"),
            "apt-get install linux-headers-6.8.0-90-generic make x86_64-linux-gnu-gcc-13");
  EXPECT_THAT(headers_hint("rocky rhel centos fedora", "5.14.0", ""), HasSubstr("dnf install kernel-devel-5.14.0"));
  EXPECT_EQ(headers_hint(" ", "6.1", "clang"), "install the headers of kernel 6.1, make and clang");
}

}  // namespace
}  // namespace slipway::driver
