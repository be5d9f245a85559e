// SPDX-License-Identifier: Apache-2.0
#include "driver/kernels/kernels_tool.hpp"

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "driver/component/driver.hpp"
#include "tests/unit/base/command_line/run_tool.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

struct Printed final : ToolIo {
  void print(std::string_view more) override { text += more; }
  void log(std::string_view) override {}
  void progress(std::string_view, std::uint64_t, std::uint64_t) override {}
  Result<Json> core(std::string_view, const Json&) override { return Error{ErrorCode::unsupported, "no", {}, {}, {}}; }
  std::string text;
};

/// 47 has nothing, 50 and 56 have modules; 50 is running.
class KernelsTool : public ::testing::Test {
 protected:
  KernelsTool() {
    for (const char* release : {"6.1.0-47-amd64", "6.1.0-50-amd64", "6.1.0-56-amd64"}) host.kernel(release);
    host.live("6.1.0-50-amd64");
    for (const char* release : {"6.1.0-50-amd64", "6.1.0-56-amd64"}) {
      const std::string folder = std::string("/usr/lib/slipway/store/driver/current/modules/") + release + "/kernel";
      host.file(folder + "/nvidia.ko", "");
      host.link(std::string("/lib/modules/") + release + "/updates/slipway", folder);
    }
    Receipt receipt{.version = "535.261.03", .flavour = "open", .kernel_release = "6.1.0-56-amd64"};
    receipt.files.libdir = "usr/lib/x86_64-linux-gnu";
    receipt.modules = {"nvidia.ko"};
    receipt.further = {{"6.1.0-50-amd64", true, "sha256:source", {"nvidia.ko"}}};
    host.file("/usr/lib/slipway/driver.json", receipt_text(receipt));
  }
  Result<int> run(const std::vector<std::string>& arguments) {
    printed.text.clear();
    return slipway::testing::run_tool(*Driver{}.commands(), "kernels", arguments, host, printed);
  }

  FakeHost host;
  Printed printed;
};

TEST_F(KernelsTool, ListsTheKernelsWithTheirModulesTheOneThatRunsAndTheNext) {
  ASSERT_EQ(run({}).value_or(-1), 0);
  EXPECT_EQ(printed.text,
            "KERNEL          DRIVER                     BOOT\n"
            "6.1.0-56-amd64  535.261.03 open            next\n"
            "6.1.0-50-amd64  535.261.03 open, compiled  running\n"
            "6.1.0-47-amd64  none\n"
            "Boots next: 6.1.0-56-amd64 (the newest, since no boot loader's files name another).\n");
}

TEST_F(KernelsTool, SaysThatTheKernelOfTheNextBootHasNoModules) {
  host.kernel("6.1.0-57-amd64");
  ASSERT_EQ(run({}).value_or(-1), 0);
  EXPECT_THAT(printed.text,
              HasSubstr("name another).\nIt has no driver modules: `slipway doctor` tells what to do.\n"));
}

TEST_F(KernelsTool, RefusesAKernelNameWithALineEnd) {
  host.kernel("6.1.0-57-amd64\nBoots next: 9.9.9");
  ASSERT_EQ(run({}).value_or(-1), 0);
  EXPECT_THAT(printed.text, ::testing::Not(HasSubstr("9.9.9")));
}

TEST_F(KernelsTool, SaysTheSameAsJson) {
  ASSERT_EQ(run({"-o", "json"}).value_or(-1), 0);
  const Json json = Json::parse(printed.text);
  EXPECT_EQ(json["apiVersion"], "slipway.dev/v1");
  EXPECT_EQ(json["kind"], "DriverKernels");
  EXPECT_EQ(json["driver"], (Json{{"version", "535.261.03"}, {"flavour", "open"}}));
  EXPECT_EQ(json["nextBoot"]["release"], "6.1.0-56-amd64");
  ASSERT_EQ(json["kernels"].size(), 3U);
  EXPECT_EQ(json["kernels"][1], (Json{{"release", "6.1.0-50-amd64"},
                                      {"inRoot", true},
                                      {"modules", "installed"},
                                      {"running", true},
                                      {"nextBoot", false},
                                      {"compiled", true},
                                      {"manifest", "sha256:source"}}));
  EXPECT_EQ(json["kernels"][2]["modules"], "none");
}

TEST_F(KernelsTool, ChecksTheFilesBesideTheReceipt) {
  host.without("/usr/lib/slipway/store/driver/current/modules/6.1.0-56-amd64/kernel/nvidia.ko");
  host.file("/lib/modules/6.1.0-47-amd64/modules.dep", "updates/dkms/nvidia.ko:\n");
  ASSERT_EQ(run({}).value_or(-1), 0);
  EXPECT_THAT(printed.text, HasSubstr("6.1.0-56-amd64  535.261.03 open, damaged   next\n    nvidia.ko is missing\n"));
  EXPECT_THAT(printed.text, HasSubstr("6.1.0-47-amd64  foreign\n    modules that are not slipway's\n"));
}

TEST_F(KernelsTool, ChecksAnotherRoot) {
  const slipway::testing::TempDir root;
  ASSERT_EQ(run({"--root", root.string()}).value_or(-1), 0);
  EXPECT_EQ(printed.text,
            "There is no kernel in /lib/modules.\n"
            "The kernel of the next boot is not known: there is no kernel in /lib/modules.\n");
  root.file("/lib/modules/6.12.1/modules.builtin", "");
  ASSERT_EQ(run({"--root=" + root.string(), "--output=json"}).value_or(-1), 0);
  const Json json = Json::parse(printed.text);
  EXPECT_FALSE(json.contains("driver"));
  EXPECT_EQ(json["kernels"][0]["release"], "6.12.1");
  EXPECT_EQ(json["kernels"][0]["running"], false);
}

TEST_F(KernelsTool, RefusesUnknownWords) {
  EXPECT_THAT(to_text(run({"--rot", "/"}).error()), HasSubstr("did you mean --root?"));
  EXPECT_THAT(run({"-o", "yaml"}).error().what, HasSubstr("-o takes text or json, not 'yaml'"));
  EXPECT_THAT(run({"--root"}).error().what, HasSubstr("--root needs a value"));
  EXPECT_EQ(run({"--root", "/none"}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace slipway::driver
