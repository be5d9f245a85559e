// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "tests/unit/core/worker/worker_fixture.hpp"

namespace slipway::core {
namespace {

using std::chrono::milliseconds;

class Hostile : public WorkerTest {
 protected:
  void expect_defect(const Result<Json>& result, const std::string& words) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::plugin_defect) << to_text(result.error());
    EXPECT_NE(result.error().what.find(words), std::string::npos) << to_text(result.error());
    EXPECT_NE(result.error().what.find("stranger"), std::string::npos) << to_text(result.error());
  }
};

TEST_F(Hostile, CrashNamesSignalAndOperation) {
  for (const char* op : {"detect", "plan", "verify", "check", "apply"}) {
    const Result<Json> result = provoke(op, "segv");
    expect_defect(result, std::string("crashed in ") + op + ": SIGSEGV (Segmentation fault)");
    EXPECT_EQ(detail(result.error(), "phase"), op);
  }
}

TEST_F(Hostile, CrashesOfAllKindsAreReported) {
  if (!kSanitized) {  // sanitizers report a bad pointer themselves
    expect_defect(provoke("detect", "wild pointer"), "SIGSEGV");
  }
  expect_defect(provoke("detect", "abort"), "SIGABRT (Aborted)");
  expect_defect(provoke("detect", "kill itself"), "SIGKILL");
  expect_defect(provoke("detect", "exit"), "by itself, with status 3");
  expect_defect(provoke("detect", "overflow"), "SIGSEGV");
}

TEST_F(Hostile, CrashKeepsTheLastTenLines) {
  const Result<Json> result = provoke("verify", "print and crash");
  expect_defect(result, "crashed in verify: SIGABRT");
  const std::string output = detail(result.error(), "output");
  EXPECT_TRUE(output.starts_with("line 22\n")) << output;
  EXPECT_TRUE(output.ends_with("line 30\nlast words")) << output;
  EXPECT_EQ(log_.size(), 31U);
  EXPECT_EQ(log_.front(), "info: line 1");
}

TEST_F(Hostile, AnEndedWorkerRefusesCalls) {
  const auto worker = start("stranger");
  expect_defect(worker->call("detect", request("detect", "abort"), kPlenty, events_), "SIGABRT");
  expect_defect(worker->call("detect", request("detect", ""), kPlenty, events_), "was stopped before");
}

TEST_F(Hostile, LoadingThatFailsIsReportedWithTheFirstCall) {
  expect_defect(start("early-abort")->call("detect", {}, kPlenty, events_), "crashed in load: SIGABRT");
  expect_defect(start("early-throw")->call("detect", {}, kPlenty, events_), "load");
  const auto with_limit = [this](milliseconds limit) {
    return start("early-sleep")->call("detect", {}, limit, events_);
  };
  Result<Json> slow = with_limit(milliseconds(300));
  // On a busy machine the loading may not have begun by then.
  for (const int seconds : {3, 30})
    if (detail(slow.error(), "output").empty()) slow = with_limit(milliseconds(1000 * seconds));
  EXPECT_EQ(slow.error().code, ErrorCode::timed_out);
  EXPECT_EQ(detail(slow.error(), "phase"), "load");
  EXPECT_EQ(detail(slow.error(), "output"), "constructing");
}

TEST_F(Hostile, AFileThatIsNotAPluginIsRefused) {
  expect_defect(start("no-entry")->call("detect", {}, kPlenty, events_), "it has no slipway_plugin_open");
  expect_defect(start("raw-refuses")->call("detect", {}, kPlenty, events_), "slipway_plugin_open answered 1");
  expect_defect(start("none")->call("detect", {}, kPlenty, events_), "cannot be loaded");
}

TEST_F(Hostile, HangsEndAtTheLimit) {
  for (const char* how : {"sleep", "spin", "stop", "ignore everything"}) {
    const auto worker = start("stranger");
    ASSERT_TRUE(worker->call("detect", request("detect", ""), kPlenty, events_).ok());  // it is loaded
    const auto begin = std::chrono::steady_clock::now();
    const Result<Json> result = worker->call("detect", request("detect", how), milliseconds(300), events_);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10000)) << how;
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::timed_out) << how;
    EXPECT_NE(result.error().what.find("did not finish detect within 300 ms"), std::string::npos);
  }
}

TEST_F(Hostile, FloodsAreEnded) {
  for (const char* how : {"flood", "flood without lines"}) {
    expect_defect(provoke("detect", how), "printed more than 16 MiB");
    EXPECT_LT(log_.size(), 40000U);
    log_.clear();
  }
}

TEST_F(Hostile, MemoryBeyondTheLimitEndsTheWorker) {
  expect_defect(provoke("detect", "allocate"), "ran out of memory, of which it may use 1024 MiB");
}

// Tests the case that no cgroup can be created below this process', as in a container with read-only cgroups.
TEST_F(Hostile, MemoryBeyondTheLimitIsSeenWithoutCgroups) {
  WorkerOptions desired = options("stranger");
  desired.memory_limit_bytes = 256U << 20U;
  desired.files_in_memory_count = false;
  const auto worker = std::move(*start_worker(desired));
  expect_defect(worker->call("detect", request("detect", "allocate"), kPlenty, events_),
                "ran out of memory, of which it may use 256 MiB");
}

// NVIDIA's mock NVML is a library in Go: before the fix, "pthread_create failed", because it and its threads reserve
// more than they use.
TEST_F(Hostile, AddressSpaceDoesNotCountAsMemory) {
  const auto worker = start("stranger");
  const auto reply = worker->call("detect", request("detect", "reserve"), kPlenty, events_);
  ASSERT_TRUE(reply.ok()) << to_text(reply.error());
}

TEST_F(Hostile, ExceptionsStopAtTheBoundary) {
  expect_defect(provoke("detect", "throw"), "threw an exception: something broke");
  expect_defect(provoke("plan", "throw 42"), "threw an exception of an unknown type");
  expect_defect(start("raw")->call("throw", {}, kPlenty, events_), "let an exception of an unknown type escape");
}

TEST_F(Hostile, AnExceptionDoesNotEndTheWorker) {
  const auto worker = start("stranger");
  expect_defect(worker->call("detect", request("detect", "throw"), kPlenty, events_), "something broke");
  EXPECT_TRUE(worker->call("detect", request("detect", ""), kPlenty, events_).ok());
}

TEST_F(Hostile, AClosedConnectionIsReported) {
  expect_defect(provoke("detect", "close and sleep"), "closed its connection to slipway in detect");
  EXPECT_FALSE(provoke("detect", "close").ok());
}

TEST_F(Hostile, BrokenFramesAreReported) {
  expect_defect(provoke("detect", "rubbish"), "an invalid message: hello");
  expect_defect(provoke("detect", "too long"), "a message of 4294967295 bytes");
  expect_defect(provoke("detect", "too deep"), "more than 200 levels");
  expect_defect(provoke("detect", "half a frame"), "by itself, with status 0");
}

TEST_F(Hostile, AnswersAgainstTheContractAreReported) {
  const auto worker = start("raw");
  const auto call = [&](const char* op) { return worker->call(op, {}, kPlenty, events_); };
  expect_defect(call("silent"), "answered 0 times");
  expect_defect(call("twice"), "answered 2 times");
  expect_defect(call("no json"), "invalid JSON");
  expect_defect(call("status 9"), "unknown status 9");
  expect_defect(call("huge"), "more than the 64 MiB");
  EXPECT_NE(call("strange error").error().what.find("out of luck"), std::string::npos);
  EXPECT_EQ(call("fine").value(), Json({1}));
  EXPECT_FALSE(call("deep").ok());
}

TEST_F(Hostile, DescendantsDieWithTheWorker) {
  for (const char* how : {"child", "daemon", "disguised daemon"}) {
    EXPECT_TRUE(provoke("detect", how).ok()) << how;
    EXPECT_EQ(children_of_this_process(), std::vector<pid_t>()) << how;
  }
  expect_defect(provoke("detect", "daemons and crash"), "SIGABRT");
}

// The other protections must work if no cgroup can be created, as in most containers.
TEST_F(Hostile, DescendantsDieWithTheWorkerWithoutACgroup) {
  if (system("unshare -m mount -t tmpfs none /sys/fs/cgroup 2>/dev/null") != 0) GTEST_SKIP() << "needs unshare -m";
  const std::string again =
      "unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" --gtest_brief=1 "
      "--gtest_filter=Hostile.DescendantsDieWithTheWorker:Hostile.HangsEndAtTheLimit' " +
      std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(system(again.c_str()), 0);
}

}  // namespace
}  // namespace slipway::core
