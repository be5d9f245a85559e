// SPDX-License-Identifier: Apache-2.0
#include "validator/cuda_check.hpp"

#include <thread>

#include "gpu_machine.hpp"

namespace slipway::validator {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::shown;

Result<std::string> probe(const std::string& kind, milliseconds limit = milliseconds(20'000),
                          const std::stop_token& stop = {}) {
  // Under sanitizers: one mock crashes, and the memory of a CUDA context is lost with it.
  const std::vector<std::string> environment{"PATH=/usr/bin", "ASAN_OPTIONS=handle_segv=0:detect_leaks=0",
                                             "TSAN_OPTIONS=handle_segv=0"};
  return run_probe({CUDA_PROBE, CUDA_MOCKS + kind + ".so"}, environment, limit, stop);
}

Finding tried(const std::string& kind, const CudaSurroundings& around = {"libcuda.so.1", false}) {
  const auto output = probe(kind);
  EXPECT_TRUE(output) << to_text(output.error());
  return read_probe(Json::parse(output.value_or("null")), around);
}

TEST(CudaCheck, PassesOnlyWhenTheKernelComputedTheRightThingOnEveryGpu) {
  EXPECT_EQ(shown(tried("WORKS")), "pass validator.cuda: a kernel ran on 2 GPUs");
  EXPECT_THAT(shown(tried("WRONG")), AllOf(HasSubstr("fail validator.cuda:"), HasSubstr("wrong result")));
}

TEST(CudaCheck, IsNotExercisedWhenAnotherProcessFillsAGpu) {
  EXPECT_THAT(shown(tried("BUSY")), AllOf(HasSubstr("not-exercised validator.cuda: CUDA device 1"),
                                          HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr("1 of 2")));
}

TEST(CudaCheck, NamesMigWithoutInstancesAsTheCauseOfNoDevice) {
  EXPECT_THAT(tried("NO_DEVICE").remedy, HasSubstr("dmesg"));
  const Finding finding = tried("NO_DEVICE", {"libcuda.so.1", true});
  EXPECT_THAT(shown(finding), HasSubstr("CUDA does not start: CUDA_ERROR_NO_DEVICE (100)"));
  EXPECT_THAT(finding.remedy, HasSubstr("MIG is on and no GPU has an instance"));
}

TEST(CudaCheck, NamesTheFabricManagerAndDriverMismatch) {
  const auto failing = [](int code) {
    return read_probe({{"stage", "init"}, {"code", code}, {"name", "X"}}, {"libcuda.so.1", false}).remedy;
  };
  EXPECT_THAT(failing(802), HasSubstr("fabric manager"));
  EXPECT_THAT(failing(803), HasSubstr("different drivers"));
  EXPECT_THAT(failing(999), HasSubstr("/dev/nvidia-uvm"));
}

TEST(CudaCheck, FailsForALibraryThatCannotBeLoaded) {
  const auto output = run_probe({CUDA_PROBE, "/nowhere/libcuda.so.1"}, {}, milliseconds(20'000), {});
  ASSERT_TRUE(output);
  EXPECT_THAT(shown(read_probe(Json::parse(*output), {"/nowhere/libcuda.so.1", false})),
              HasSubstr("fail validator.cuda: /nowhere/libcuda.so.1 cannot be loaded"));
}

TEST(CudaCheck, IsNotExercisedWhenNoGpuAnswers) {
  EXPECT_EQ(read_probe(Json(), {}).status, Verdict::not_exercised);
  EXPECT_EQ(check_cuda({"libcuda.so.1", false}, {}).status, Verdict::not_exercised) << "no probe program beside a test";
}

TEST(Probe, ThatCrashesHangsOrIsStoppedIsEndedAndNamed) {
  EXPECT_EQ(probe("CRASHES").error().code, ErrorCode::io);
  EXPECT_THAT(probe("CRASHES").error().what, HasSubstr("signal 11"));
  EXPECT_EQ(probe("HANGS", milliseconds(200)).error().code, ErrorCode::timed_out);
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  EXPECT_EQ(probe("HANGS", milliseconds(60'000), stop.get_token()).error().code, ErrorCode::cancelled);
  EXPECT_FALSE(run_probe({"/nowhere/probe", "x"}, {}, milliseconds(1000), {}));
}

}  // namespace
}  // namespace slipway::validator
