// SPDX-License-Identifier: Apache-2.0
// The driver in roots of other distributions: the places of its files, and the calls of the root's tools.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded_root.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::RecordedRoot;
using ::testing::HasSubstr;
using ::testing::Not;

struct Layout {
  const char* name;
  const char* libraries;  ///< where that distribution's loader finds them
  const char* initramfs;  ///< command that creates its initrd, K is the kernel's release; empty: it cannot contain
                          ///< nouveau
};

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

std::string with_kernel(std::string text, const std::string& kernel) {
  for (std::size_t at = 0; (at = text.find('K', at)) != std::string::npos; at += kernel.size())
    text.replace(at, 1, kernel);
  return text;
}

class Recorded : public ::testing::TestWithParam<Layout> {
 protected:
  RecordedRoot root_{GetParam().name};
};

/// True when the root's own tools can run in namespaces; otherwise this machine's are used.
bool namespaces_work() {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(::unshare(CLONE_NEWNS | CLONE_NEWPID) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
                ? 0
                : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

TEST_P(Recorded, DriverIsPlannedIntoTheDistributionsFolders) {
  if (!std::string(GetParam().initramfs).empty() && !namespaces_work())
    GTEST_SKIP() << "the root's tools cannot run here, which the plan says";
  const auto before = root_.tree();
  const Ran plan = root_.run({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("kernel " + root_.kernel()));
  EXPECT_THAT(plan.out, HasSubstr(" in " + std::string(GetParam().libraries) + ": libcuda.so.1,"));
  EXPECT_THAT(plan.out, HasSubstr("/usr/lib/modules/" + root_.kernel() + "/updates/slipway"));
  EXPECT_THAT(plan.out, HasSubstr("/usr/lib/firmware/nvidia/535.261.03"));
  EXPECT_THAT(plan.out, HasSubstr("then: ldconfig\n"));
  EXPECT_THAT(plan.out, HasSubstr("then: depmod:" + root_.kernel() + "\n"));
  const bool makes_initrd = plan.out.find("then: initramfs:" + root_.kernel() + "\n") != std::string::npos;
  EXPECT_EQ(makes_initrd, !std::string(GetParam().initramfs).empty()) << plan.out;
  EXPECT_EQ(root_.tree(), before);
}

TEST_P(Recorded, DriverIsInstalledAndRemovedByTheDistributionsTools) {
  if (!namespaces_work()) GTEST_SKIP() << "the root's tools cannot run here";
  const auto before = root_.tree();
  const Ran apply = root_.run({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(apply.out, Not(HasSubstr("depmod:" + root_.kernel() + " was skipped")));
  EXPECT_NE(root_.link(std::string(GetParam().libraries).substr(1) + "/libcuda.so.1"), "");
  const std::string gpu_name = root_.gpu_name();
  EXPECT_THAT(gpu_name, HasSubstr("depmod -a " + root_.kernel() + "\n"));
  EXPECT_THAT(gpu_name, HasSubstr("ldconfig -v\n"));
  const std::string initramfs = with_kernel(GetParam().initramfs, root_.kernel());
  EXPECT_THAT(gpu_name, HasSubstr(initramfs));
  EXPECT_EQ(gpu_name.find("initramfs") != std::string::npos, !initramfs.empty()) << gpu_name;

  const Ran again = root_.run({"apply"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(root_.gpu_name(), "") << "nothing changed, so no tool is run";
  EXPECT_EQ(root_.run({"verify"}).code, 0);

  ASSERT_EQ(root_.run({"remove", "--all"}).code, 0);
  const std::string removal = root_.gpu_name();
  EXPECT_THAT(removal, HasSubstr("ldconfig -v\n"));
  // Real dracut failed because of modules that modules.dep still listed, and so did the removal.
  if (!initramfs.empty()) {
    EXPECT_LT(removal.find("depmod -a"), removal.find(initramfs)) << removal;
  }
  auto after = root_.tree();
  auto wanted = before;
  for (auto* tree : {&after, &wanted})  // the initrd was created again, each time
    std::erase_if(*tree, [](const auto& entry) { return entry.first.starts_with("boot/init"); });
  EXPECT_EQ(after, wanted);
}

constexpr const char* kDracut = "dracut --force --kver K --no-hostonly --reproducible /boot/initramfs-K.img";
constexpr const char* kInitramfsTools = "update-initramfs -u -k K";

INSTANTIATE_TEST_SUITE_P(Distributions, Recorded,
                         ::testing::Values(Layout{"ubuntu-22.04", "/usr/lib/x86_64-linux-gnu", kInitramfsTools},
                                           Layout{"ubuntu-24.04", "/usr/lib/x86_64-linux-gnu", kInitramfsTools},
                                           Layout{"rhel-9", "/usr/lib64", kDracut},
                                           Layout{"amazon-2023", "/usr/lib64", ""}),
                         [](const auto& layout) {
                           std::string name;
                           for (const char c : std::string(layout.param.name))
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           return name;
                         });

}  // namespace
}  // namespace slipway
