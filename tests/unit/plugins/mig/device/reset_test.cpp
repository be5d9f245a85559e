// SPDX-License-Identifier: Apache-2.0
// A change of the MIG mode that waits for a reset of the GPU: nvidia-smi is run for it, and its result counts.
#include "mig/device/reset.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "mig/device/change.hpp"
#include "mig/device/read.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::mig {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Outcome::Kind;

/// A machine with a program that acts on the GPUs when it is run.
class HostWithPrograms final : public Host {
 public:
  explicit HostWithPrograms(const Host& inner) : inner_(inner) {}
  std::function<ProcessOutput()> does;
  mutable std::vector<std::vector<std::string>> seen;

  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds /*limit*/) const override {
    seen.push_back(argv);
    return does();
  }
  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  std::string root_folder() const override { return inner_.root_folder(); }
  std::string arch() const override { return inner_.arch(); }
  Result<std::string> kernel_release() const override { return inner_.kernel_release(); }
  Result<std::string> read(std::string_view path, std::size_t limit) const override { return inner_.read(path, limit); }
  Result<FileInfo> info(std::string_view path) const override { return inner_.info(path); }
  Result<std::string> read_link(std::string_view path) const override { return inner_.read_link(path); }
  Result<std::string> resolve(std::string_view path) const override { return inner_.resolve(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return inner_.list(path); }
  Status opens(std::string_view path) const override { return inner_.opens(path); }

 private:
  const Host& inner_;
};

/// Two GPUs of the Ampere generation whose driver needs a reset to change the mode.
class MigReset : public sim::SimTest {
 protected:
  void start(const std::string& profile) {
    make(profile);
    ASSERT_EQ(tool("gpu all sticky-mig on"), 0);
    const auto gpus = read_gpus(*nvml_);
    ASSERT_TRUE(gpus.ok()) << to_text(gpus.error());
    machine_.live("6.1.0");
    for (const Gpu& gpu : *gpus) machine_.file("/sys/bus/pci/devices/" + gpu.address + "/reset", "");
    addresses_ = {(*gpus)[0].address, (*gpus)[1].address};
    host_.does = [this] {
      EXPECT_FALSE(nvml_->is_open()) << "nvidia-smi refuses while we have the GPU open";
      EXPECT_EQ(tool("gpu all reset"), 0);
      return ProcessOutput{};
    };
  }
  void refuses(const std::string& words) {
    host_.does = [words] { return ProcessOutput{.exit_status = 255, .output = words, .errors = {}}; };
  }

  std::vector<Gpu> gpus() {
    const auto read = read_gpus(*nvml_);
    EXPECT_TRUE(read.ok());
    return read.value_or({});
  }
  /// Both GPUs get that many instances of the smallest profile; with 0, MIG is disabled.
  Result<std::vector<Outcome>> change(unsigned instances, HowToChange how = {}) {
    std::vector<Target> targets;
    for (const Gpu& gpu : gpus()) {
      Target target = present(gpu);
      target.enabled = instances != 0;
      target.instances.clear();
      if (instances != 0)
        target.instances = arrange(gpu, {{gpu.profiles.front().profile, instances}}, "test").value_or({});
      targets.push_back(std::move(target));
    }
    const auto open = open_gpus(*nvml_, targets);
    EXPECT_TRUE(open.ok());
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < targets.size(); ++i)
      wanted.push_back({.target = targets[i], .known = (*open)[i].gpu, .device = (*open)[i].device});
    return change_gpus(*nvml_, host_, wanted, how);
  }

  FakeHost machine_;
  HostWithPrograms host_{machine_};
  std::vector<std::string> addresses_;
};

TEST_F(MigReset, ChangesTheModeInBothDirections) {
  start("a100-80x2");
  const auto on = change(7);
  ASSERT_TRUE(on.ok()) << to_text(on.error());
  for (const Gpu& gpu : gpus()) EXPECT_EQ(gpu.instances.size(), 7U);
  EXPECT_THAT(host_.seen,
              ElementsAre(ElementsAre("nvidia-smi", "--gpu-reset", "-i", addresses_[0] + "," + addresses_[1])))
      << "GPUs with links to each other are reset together";
  const auto off = change(0);
  ASSERT_TRUE(off.ok()) << to_text(off.error());
  EXPECT_EQ(off->front().kind, Kind::done);
  for (const Gpu& gpu : gpus()) EXPECT_FALSE(gpu.enabled || gpu.pending);
  EXPECT_EQ(host_.seen.size(), 2U);
}

TEST_F(MigReset, RunsInTheRootThatHasTheDriver) {
  start("a30x2");
  ASSERT_TRUE(change(4, {.driver_root = "/run/nvidia/driver"}).ok());
  EXPECT_THAT(host_.seen.front(), ElementsAre("chroot", "/run/nvidia/driver", "nvidia-smi", "--gpu-reset", "-i",
                                              addresses_[0] + "," + addresses_[1]));
}

// Before the fix, chroot(8) ran a program that another user had put there, as root.
TEST_F(MigReset, RunsNothingInARootThatAnotherUserCouldWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  start("a30x2");
  machine_.file("/run/nvidia/driver/usr/bin/nvidia-smi", "");
  machine_.file("/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1", "");
  for (const char* place : {"", "/usr/bin/nvidia-smi", "/usr/lib64/libnvidia-ml.so.1"}) {
    const std::string path = machine_.root_folder() + "/run/nvidia/driver" + place;
    ASSERT_EQ(::chown(path.c_str(), 65534, 0), 0);
    const Status refused = reset_gpus(host_, "/run/nvidia/driver", addresses_);
    ASSERT_FALSE(refused) << place;
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << place;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_THAT(host_.seen, IsEmpty());
  ASSERT_TRUE(change(4, {.driver_root = "/run/nvidia/driver"}).ok());
}

TEST_F(MigReset, IsNotRequestedWhereTheModeNeedsNone) {
  start("h100x2");
  const auto changed = change(7);
  ASSERT_TRUE(changed.ok()) << to_text(changed.error());
  EXPECT_EQ(changed->front().kind, Kind::reboot_required) << "what such a GPU waits for is not known";
  EXPECT_THAT(host_.seen, IsEmpty());
}

TEST_F(MigReset, IsSkippedOnRequestOrWithoutKernelSupport) {
  start("a100-80x2");
  const auto skipped = change(7, {.resets = false});
  ASSERT_TRUE(skipped.ok());
  EXPECT_EQ(skipped->front().kind, Kind::reboot_required);
  for (const std::string& address : addresses_) machine_.without("/sys/bus/pci/devices/" + address + "/reset");
  const auto virtual_machine = change(7);
  ASSERT_TRUE(virtual_machine.ok());
  EXPECT_THAT(virtual_machine->front().reason,
              HasSubstr("`nvidia-smi --gpu-reset -i " + addresses_[0] + "," + addresses_[1] + "`"));
  EXPECT_EQ(virtual_machine->back().reason, "") << "one advice for all";
  EXPECT_THAT(host_.seen, IsEmpty());
}

TEST_F(MigReset, NamesTheHoldersAndWithdrawsTheRequest) {
  start("a100-80x2,mig=1g.10gb");
  const auto before = gpus();
  // A process opens the GPU between the change of the mode and the reset.
  host_.does = [this] {
    machine_.file("/proc/4711/stat", "4711 (monitor) S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 55 1 2\n");
    machine_.link("/proc/4711/fd/3", "/dev/nvidia1");
    return ProcessOutput{.exit_status = 255, .output = "In use by another client", .errors = {}};
  };
  const auto refused = change(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_THAT(to_text(refused.error()), HasSubstr("monitor (pid 4711)"));
  EXPECT_EQ(gpus(), before) << "all instances are there again, and no request is left";
}

TEST_F(MigReset, ThatIsRefusedWithoutAHolderKeepsTheRequest) {
  start("a100-80x2,mig=1g.10gb");
  refuses("GPU reset couldn't run because it is\nnot supported in this configuration\n");
  const auto changed = change(0);
  ASSERT_TRUE(changed.ok()) << to_text(changed.error());
  for (const Outcome& outcome : *changed) EXPECT_EQ(outcome.kind, Kind::reboot_required);
  EXPECT_THAT(changed->front().reason,
              HasSubstr("nvidia-smi did not reset the GPU: GPU reset couldn't run because it is "
                        "not supported in this configuration"));
  for (const Gpu& gpu : gpus()) {
    EXPECT_EQ(gpu.instances.size(), 7U) << "they work until the reset";
    EXPECT_TRUE(gpu.enabled && !gpu.pending);
  }
}

TEST_F(MigReset, BringsTheFormerModeBackAfterAFailureToo) {
  start("a100-80x2");
  ASSERT_EQ(tool("gpu 1 create-fails 1"), 0);
  const auto changed = change(7);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(host_.seen.size(), 2U) << to_text(changed.error());
  for (const Gpu& gpu : gpus()) EXPECT_FALSE(gpu.enabled || gpu.pending);
}

}  // namespace
}  // namespace slipway::mig
