// SPDX-License-Identifier: Apache-2.0
// A boot with a kernel that the driver has no modules for yet: they come from the source within a limited time, or the
// boot goes on without them and says why.
#include <atomic>
#include <chrono>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using artifact::test::LayoutMaker;
using artifact::test::LayoutRegistry;
using artifact::test::ServedRequest;
using artifact::test::ServedResponse;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string kOlder = "6.1.0-50-amd64";
const std::string kNewer = "6.1.0-56-amd64";

class BootPackages : public ::testing::Test {
 protected:
  BootPackages() {
    EXPECT_EQ(std::system(("cp -rT " SLIPWAY_TEST_KERNELS " " + layout.path()).c_str()), 0);
    has_kernel(kOlder);
    root.driver("version: \"535.261.03\", modules: open, source: {repository: \"" + registry.repository() +
                "\", trust: unsigned}");
  }
  void has_kernel(const std::string& release) const {
    fs::remove_all(root.path("lib/modules"));
    root.put("lib/modules/" + release + "/modules.builtin", "");
    root.put("lib/modules/" + release + "/modules.order", "");
  }
  bool has_modules(const std::string& release) const {
    return fs::exists(root.path("usr/lib/slipway/store/driver/current/modules/" + release + "/kernel/nvidia.ko"));
  }
  void apply() const {
    const Ran applied = root.slipway({"apply"});
    ASSERT_EQ(applied.code, 0) << applied.out << applied.err;
  }

  std::atomic<bool> hangs = false;
  DriverRoot root;
  LayoutMaker layout{root.folder().at("served").string()};
  LayoutRegistry registry{layout, [this](const ServedRequest&) -> std::optional<ServedResponse> {
                            if (!hangs) return std::nullopt;
                            return ServedResponse{.hang = true};
                          }};
};

TEST_F(BootPackages, ComeFromTheSourceForAKernelThatHasNone) {
  apply();
  has_kernel(kNewer);
  const Ran booted = root.slipway({"apply", "--boot"});
  EXPECT_EQ(booted.code, 0) << booted.out << booted.err;
  EXPECT_TRUE(has_modules(kNewer));
}

// Before the fix, a boot waited for as long as a download may take, and containers waited with it.
TEST_F(BootPackages, AreGivenUpWhenTheTimeIsOverAndTheBootSaysWhy) {
  apply();
  has_kernel(kNewer);
  hangs = true;
  const auto begin = std::chrono::steady_clock::now();
  const Ran booted = root.slipway({"apply", "--boot", "--within=2s"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(booted.code, 1) << booted.out << booted.err;
  const std::string why = "a boot has 2 s for all packages";
  EXPECT_THAT(booted.err, AllOf(HasSubstr(why), HasSubstr("systemctl restart slipway-boot.service")));
  EXPECT_THAT(root.slipway({"status"}).out, HasSubstr(why));
  EXPECT_EQ(root.slipway({"verify", "--boot"}).code, 1) << "the machine is not ready";
  hangs = false;
  const Ran again = root.slipway({"apply", "--boot"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(has_modules(kNewer));
  EXPECT_THAT(root.slipway({"status"}).out, Not(HasSubstr(why)));
}

TEST_F(BootPackages, NeedNoSourceForAKernelThatHasThem) {
  apply();
  hangs = true;
  const Ran booted = root.slipway({"apply", "--boot", "--within=1s"});
  EXPECT_EQ(booted.code, 0) << booted.out << booted.err;
  EXPECT_TRUE(has_modules(kOlder));
}

TEST_F(BootPackages, HaveALimitAtABootAlone) {
  const Ran ran = root.slipway({"apply", "--within=2s"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("--within has no effect on an apply without --boot"));
}

}  // namespace
}  // namespace slipway
