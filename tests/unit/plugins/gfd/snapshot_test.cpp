// SPDX-License-Identifier: Apache-2.0
// The NVML calls of a pass on a simulated machine, and their thread.
#include "gfd/labels/snapshot.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <slipway/testing/fake_host.hpp>

#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::gfd {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Returns the number of times that this thread has waited.
long waits() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

class SnapshotTest : public sim::SimTest {
 protected:
  slipway::testing::FakeHost host_;
};

// Before the fix, each question was taken to the thread for calls and back: a hundred wake-ups for eight GPUs in an
// idle service.
TEST_F(SnapshotTest, AsksAboutAllGpusWithTwoChangesOfThreads) {
  make("h100x8");
  ASSERT_EQ(tool("function all delay 300"), 0);  // longer than the code waits for a change of threads without sleeping
  const long before = waits();
  const auto snapshot = take_snapshot(*nvml_, host_, false);
  const long taken = waits() - before;
  ASSERT_TRUE(snapshot.ok()) << to_text(snapshot.error());
  EXPECT_THAT(snapshot->gpus, SizeIs(8));
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 8) << "eight questions about each of eight GPUs";
}

TEST_F(SnapshotTest, KnowsTheMigProfilesOfAModelFromItsFirstGpu) {
  make("h100x2,mig=1g.10gb");
  const auto snapshot = take_snapshot(*nvml_, host_, false);
  ASSERT_TRUE(snapshot.ok()) << to_text(snapshot.error());
  ASSERT_THAT(snapshot->gpus, SizeIs(2));
  for (const Gpu& gpu : snapshot->gpus) {
    ASSERT_THAT(gpu.mig, SizeIs(7));
    EXPECT_EQ(gpu.mig[6].profile, "1g.10gb");
  }
}

TEST_F(SnapshotTest, LeavesOutAGpuWhoseCallHangs) {
  make("h100x4");
  ASSERT_EQ(tool("gpu 1 hang"), 0);
  const auto snapshot = take_snapshot(*nvml_, host_, false);
  ASSERT_TRUE(snapshot.ok()) << to_text(snapshot.error());
  ASSERT_THAT(snapshot->gpus, SizeIs(3));
  EXPECT_EQ(snapshot->gpus[1].index, 2U);
  ASSERT_THAT(snapshot->unreachable, SizeIs(1));
  EXPECT_THAT(snapshot->unreachable[0].what, HasSubstr("GPU 1: "));
  ASSERT_EQ(tool("gpu 1 resume"), 0);
}

}  // namespace
}  // namespace slipway::gfd
