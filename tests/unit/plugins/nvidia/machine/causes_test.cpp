// SPDX-License-Identifier: Apache-2.0
#include "nvidia/machine/causes.hpp"

#include <gtest/gtest.h>

namespace slipway::nvidia {
namespace {

TEST(GpuCause, HasOneSpellingOfAnAddress) {
  EXPECT_EQ(gpu_cause("00000000:3A:00.0"), "gpu/0000:3a:00.0");
  EXPECT_EQ(gpu_cause("0000:3a:00"), "gpu/0000:3a:00.0");
  EXPECT_EQ(gpu_cause(""), "");
  EXPECT_EQ(lost_gpu_cause("0000:3a:00.0"), "gpu/0000:3a:00.0/lost");
  EXPECT_EQ(lost_gpu_cause(""), "");
}

TEST(GpuCause, IsOfTheFirstGpuThatATextNames) {
  EXPECT_EQ(gpu_address_in("GPU 3 (0000:5d:00.0) is lost; GPU 4 (0000:9a:00.0) is lost"), "0000:5d:00.0");
  EXPECT_EQ(gpu_address_in("GPU 3 (00000000:5D:00.0)"), "00000000:5D:00.0");
  EXPECT_EQ(gpu_address_in("nvml: GPU 3: it is lost"), "");
}

TEST(NvmlCause, NamesAMissingOrDifferentDriver) {
  EXPECT_EQ(nvml_cause("nvml: start: no driver (NVML_ERROR_DRIVER_NOT_LOADED, 9)"), kDriverCause);
  EXPECT_EQ(nvml_cause("nvml: start: another one (NVML_ERROR_LIB_RM_VERSION_MISMATCH, 18)"), kDriverCause);
  EXPECT_EQ(nvml_cause("nvml: GPU 3: it is lost (NVML_ERROR_GPU_IS_LOST, 15)"), "");
}

// Before the fix, neither version was named, and the remedy could not be chosen.
TEST(Mismatch, NamesTheVersionsThatAreKnown) {
  const char* const library = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.90.07";
  EXPECT_EQ(mismatch_text(library, "535.261.03"),
            ": the library is of driver 550.90.07, the loaded module of 535.261.03");
  EXPECT_EQ(mismatch_text(library, ""), ": the library is of driver 550.90.07");
  EXPECT_EQ(mismatch_text("/usr/lib/libnvidia-ml.so.1", "535.261.03"), ": the loaded module is of driver 535.261.03");
  EXPECT_EQ(mismatch_text("/x/sim.so", ""), "");
}

TEST(WithCause, AddsACauseToProblemsWithoutOne) {
  Findings findings;
  findings.pass("a.one", "fine");
  findings.fail("a.one", "wrong", "do");
  findings.fail("a.one", "wrong", "do", "other");
  findings.fail("a.two", "wrong", "do");
  const Findings named = with_cause(findings, "a.one", "gpu/0000:3a:00.0/lost");
  EXPECT_EQ(named.list()[0].cause, "");
  EXPECT_EQ(named.list()[1].cause, "gpu/0000:3a:00.0/lost");
  EXPECT_EQ(named.list()[2].cause, "other");
  EXPECT_EQ(named.list()[3].cause, "");
}

}  // namespace
}  // namespace slipway::nvidia
