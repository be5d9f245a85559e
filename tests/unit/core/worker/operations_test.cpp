// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/start_program.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "base/confine/process_limits.hpp"
#include "core/worker/client/channel.hpp"
#include "core/worker/client/family.hpp"
#include "core/worker/client/spawn.hpp"
#include "core/worker/serve/serve.hpp"
#include "tests/unit/core/worker/worker_fixture.hpp"

namespace slipway::core {
namespace {

class Operations : public WorkerTest {};

TEST_F(Operations, ReturnTheComponentsAnswer) {
  const testing::TempDir root;
  root.file("/etc/name", "node-1\n");
  const auto worker = start("stranger");
  Json request = this->request("plan", "");
  request["facts"]["values"] = {{"a", "content for "}};
  request["inputs"] = {{"target", {{"arch", "x86_64"}}}};
  EXPECT_EQ(worker->call("plan", request, kPlenty, events_).value()["actions"][0]["content"], "content for x86_64");
  request = {{"component", "stranger"}, {"host", {{"root", root.string()}}}};
  EXPECT_EQ(worker->call("verify", request, kPlenty, events_).value()[0]["text"], "node-1");
  EXPECT_EQ(worker->call("check", this->request("check", ""), kPlenty, events_).value(), true);
  EXPECT_EQ(worker->call("apply", this->request("apply", ""), kPlenty, events_).value()["kind"], "reboot-required");
  EXPECT_EQ(worker->call("detect", {{"component", "plain"}}, kPlenty, events_).value()["why"], "no hardware");
}

TEST_F(Operations, BringTheComponentsOwnErrorsUnchanged) {
  const Error error = provoke("detect", "fail").error();
  EXPECT_EQ(to_text(error), "error: it is busy\n  held:  python3\n  do:    wait\n");
  EXPECT_EQ(error.code, ErrorCode::busy);
}

TEST_F(Operations, ThatAreNotKnownAreUnsupported) {
  const auto worker = start("stranger");
  EXPECT_EQ(worker->call("dance", {{"component", "stranger"}}, kPlenty, events_).error().code, ErrorCode::unsupported);
  EXPECT_EQ(worker->call("detect", {{"component", "nobody"}}, kPlenty, events_).error().code, ErrorCode::unsupported);
  EXPECT_EQ(worker->call("import", {{"component", "plain"}}, kPlenty, events_).error().code, ErrorCode::unsupported);
  EXPECT_EQ(worker->call("tool", {{"component", "plain"}}, kPlenty, events_).error().code, ErrorCode::unsupported);
  EXPECT_EQ(start("raw")->call("dance", {}, kPlenty, events_).error().code, ErrorCode::unsupported);
}

TEST_F(Operations, OfToolsPrintLogAndReportProgress) {
  const auto worker = start("stranger");
  EXPECT_EQ(worker->call("tools", {{"component", "stranger"}}, kPlenty, events_).value()[0]["name"], "greet");
  const Json request{{"component", "stranger"}, {"tool", "greet"}, {"arguments", {"world"}}};
  EXPECT_EQ(worker->call("tool", request, kPlenty, events_).value(), Json({{"exit", 7}}));
  EXPECT_EQ(output_, "hello world\n");
  EXPECT_EQ(log_, std::vector<std::string>{"info: greeting"});
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.back(), 1000U);
  EXPECT_LT(progress_.size(), 500U) << "progress is thinned out";
}

// Before the fix, a silent registry kept an apply running for half a minute after the signal that should end it.
TEST_F(Operations, EndWhenTheyAreCancelled) {
  std::atomic<bool> cancel{false};
  events_.cancel = &cancel;
  events_.log = [&cancel](const std::string&, const std::string&) { cancel = true; };  // it is running
  const auto result = start("early-sleep")->call("detect", {}, kPlenty, events_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled) << to_text(result.error());
}

TEST_F(Operations, OfToolsMayAskTheCore) {
  std::string asked;
  events_.core = [&](const std::string& op, const Json& request) -> Result<Json> {
    asked = op + canonical(request);
    if (op == "refuse") return Error{.code = ErrorCode::denied, .what = "no"};
    return Json{{"answer", 42}};
  };
  const auto worker = start("stranger");
  const auto ask = [&](const char* op) {
    output_.clear();
    return worker->call("tool", {{"component", "stranger"}, {"tool", "ask"}, {"arguments", {op}}}, kPlenty, events_);
  };
  EXPECT_EQ(ask("pkg.build").value()["exit"], 0);
  EXPECT_EQ(asked, R"(pkg.build{"number":1})");
  EXPECT_EQ(output_, R"({"answer":42})");
  EXPECT_EQ(ask("refuse").value()["exit"], 1);
  EXPECT_EQ(output_, "denied");
  events_.core = nullptr;
  (void)ask("pkg.build");
  EXPECT_EQ(output_, "unsupported");
}

TEST_F(Operations, ImportForeignDocuments) {
  const auto worker = start("stranger");
  const Json document{{"kind", "ClusterPolicy"}, {"spec", {{"stranger", {{"enabled", true}}}}}};
  const Json section =
      worker->call("import", {{"component", "stranger"}, {"document", document}}, kPlenty, events_).value();
  EXPECT_EQ(section["spec"], Json({{"enabled", true}}));
  EXPECT_EQ(section["warnings"].size(), 1U);
}

TEST_F(Operations, TimeOfTheCoreDoesNotCountAgainstThePlugin) {
  events_.core = [](const std::string&, const Json&) -> Result<Json> {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    return Json(1);
  };
  const auto worker = start("stranger");
  ASSERT_TRUE(worker->call("tools", {{"component", "stranger"}}, kPlenty, events_).ok());  // it is loaded
  const Json request{{"component", "stranger"}, {"tool", "ask"}, {"arguments", {"slow"}}};
  EXPECT_EQ(worker->call("tool", request, std::chrono::milliseconds(3000), events_).value()["exit"], 0);
}

TEST_F(Operations, RunInACleanEnvironment) {
  setenv("SLIPWAY_NVML", "/tmp/nvml.so", 1);
  const int leaked = fcntl(0, F_DUPFD, 100);  // without close-on-exec, like a careless library
  const Json values = provoke("detect", "").value()["values"];
  close(leaked);
  EXPECT_EQ(values["session"], true);
  EXPECT_EQ(values["parent"], getpid());
  EXPECT_EQ(values["core"], 1);  // like 0, but also for the program of a core_pattern
  EXPECT_EQ(values["oom"], std::to_string(kWorkerOomScore) + "\n");
  EXPECT_EQ(values["input"], true);
  EXPECT_EQ(values["nvml"], "/tmp/nvml.so");
  EXPECT_EQ(values["descriptors"], Json({0, 1, 2, 3, 4, 5}));  // 4 and 5 belong to the Host
}

TEST_F(Operations, RunInACgroupOfTheirOwnWhereOneCanBeMade) {
  const bool possible = Family().cgroup() >= 0;
  const std::string cgroup = provoke("detect", "").value()["values"]["cgroup"];
  EXPECT_EQ(cgroup.find("/slipway-worker-") != std::string::npos, possible) << cgroup;
}

/// Returns the first message of a worker with that plugin, which has to enter the group of this descriptor.
Json first_message(const std::string& plugin, const Fd& members) {
  auto channel = make_socket_pair().value();
  const auto group = moved_up(Fd(fcntl(members.get(), F_DUPFD_CLOEXEC, 0)));
  const auto pid = start_program({.argv = {worker_program(true).value(), plugin, std::to_string(getpid())},
                                  .environment = {std::string(kWorkerGroups) + "=1"},
                                  .descriptors = {kDevNull, kDevNull, kDevNull, channel.theirs.get(), group->get()}});
  channel.theirs = Fd();
  Channel ours(std::move(channel.ours));
  while (ours.receive()) {
  }
  const auto message = ours.next();
  kill(*pid, SIGKILL);
  waitpid(*pid, nullptr, 0);
  return message && *message ? **message : Json();
}

TEST_F(Operations, DoNotBeginOutsideOfTheirGroup) {
  const testing::TempDir folder;
  folder.file("cgroup.procs", "");
  const std::string members = folder.at("cgroup.procs").string();
  const std::string plugin = options("early-abort").plugin_path;  // it would abort when it is loaded
  const Json refused = first_message(plugin, Fd(open(members.c_str(), O_RDONLY | O_CLOEXEC)));
  EXPECT_EQ(refused.value("type", ""), "reply");
  EXPECT_EQ(refused.value("id", 1), 0);
  EXPECT_THAT(canonical(refused), ::testing::HasSubstr("cannot put the worker into its control group: "));
  EXPECT_THAT(canonical(refused), ::testing::HasSubstr(members)) << "the path of the file";
  EXPECT_THAT(canonical(refused), ::testing::HasSubstr("Delegate=yes"));
  EXPECT_EQ(first_message(plugin, Fd(open(members.c_str(), O_WRONLY | O_CLOEXEC))), Json());
  EXPECT_EQ(read_regular(members, 16).value_or(""), "0") << "it has gone there before the plugin aborted";
}

// Before the fix, no worker could start for a user who owns the group's folder and not its cgroup.procs.
TEST_F(Operations, HaveTheirUsageCheckedWhereTheirGroupCannotBeEntered) {
  const Family family;
  if (family.cgroup() < 0 || geteuid() != 0) GTEST_SKIP() << "no cgroup can be made here";
  const std::string own =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(family.cgroup())).parent_path();
  const std::string given = own + "/slipway-test-" + std::to_string(getpid());
  constexpr uid_t kOtherUser = 65534;
  ASSERT_EQ(mkdir(given.c_str(), 0755), 0);
  ASSERT_EQ(chown(given.c_str(), kOtherUser, kOtherUser), 0);
  const pid_t child = fork();
  if (child == 0) {
    const int members = open((given + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (write(members, "0", 1) != 1 || setgid(kOtherUser) != 0 || setuid(kOtherUser) != 0) _exit(2);
    bool is_checked = false;
    {
      const base::LimitedProcesses limited("test", {.memory_bytes = 1 << 30, .processes = 10});
      is_checked = limited.cgroup2() == -1 && limited.needs_looks() && limited.join();
    }
    _exit(is_checked ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rmdir(given.c_str()), 0);
}

TEST_F(Operations, SweepUpGroupsThatAKilledSlipwayLeft) {
  const Family family;
  if (family.cgroup() < 0) GTEST_SKIP() << "no cgroup can be made here";
  const std::string own =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(family.cgroup())).parent_path();
  pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const std::string pids = std::filesystem::read_symlink("/proc/self/ns/pid").string();
  const std::string name = own + "/slipway-worker-" + std::to_string(gone) + "-1.";
  const std::string left = name + pids.substr(5, pids.size() - 6);
  const std::string elsewhere = name + "1";  // for example in a container: removed just before that slipway entered it
  for (const std::string& group : {left, elsewhere}) ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  const pid_t later = fork();  // each slipway process does it once
  if (later == 0) {
    execl("/proc/self/exe", "worker_test", "--gtest_filter=Operations.RunInACgroupOfTheirOwnWhereOneCanBeMade",
          nullptr);
    _exit(127);
  }
  waitpid(later, nullptr, 0);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
  rmdir(elsewhere.c_str());
}

TEST_F(Operations, DoNotSeeOurVariablesWhenTheEnvironmentIsNotTrusted) {
  setenv("SLIPWAY_NVML", "/tmp/nvml.so", 1);
  WorkerOptions desired = options("stranger");
  desired.trust_environment = false;
  Result<std::unique_ptr<Worker>> worker = start_worker(desired);
  EXPECT_EQ((*worker)->call("detect", request("detect", ""), kPlenty, events_).value()["values"]["nvml"], "");
}

// A worker dies with the thread that forked it, so that must not be the caller's thread.
TEST_F(Operations, ContinueAfterTheThreadThatStartedTheWorkerEnded) {
  std::unique_ptr<Worker> worker;
  std::thread([&] {
    worker = start("stranger");
    EXPECT_TRUE(worker->call("detect", request("detect", ""), kPlenty, events_).ok());
  }).join();
  EXPECT_TRUE(worker->call("detect", request("detect", ""), kPlenty, events_).ok());
}

TEST_F(Operations, OfSeveralWorkersContinueSideBySide) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const auto worker = start("stranger");
      const WorkerEvents none;
      for (int j = 0; j < 5; ++j) {
        Json desired = request("plan", "");
        desired["facts"]["values"] = {{"a", std::to_string(i * 100 + j)}};
        const Result<Json> plan = worker->call("plan", desired, kPlenty, none);
        if (plan && (*plan)["actions"][0]["content"] == std::to_string(i * 100 + j)) ++right;
      }
      if (i % 2 == 0) (void)worker->call("detect", request("detect", "daemons and crash"), kPlenty, none);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST_F(Operations, AcceptLargeRequests) {
  const auto worker = start("stranger");
  Json desired = request("plan", "");
  desired["facts"]["values"] = {{"a", std::string(8U << 20, 'x')}};
  const Result<Json> plan = worker->call("plan", desired, kPlenty, events_);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)["actions"][0]["content"].get<std::string>().size(), 8U << 20);
}

}  // namespace
}  // namespace slipway::core
