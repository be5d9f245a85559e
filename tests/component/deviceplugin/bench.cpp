// SPDX-License-Identifier: Apache-2.0
// deviceplugin_bench FOLDER DEVICES CALLS -- COMMAND…: starts a device plugin, as kubelet's stand-in at
// FOLDER/kubelet.sock, and prints one line of JSON: the time until DEVICES are available, the time of each call, and
// the memory. With CALLS 0, only the first time, in milliseconds.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/component/deviceplugin/kubelet.hpp"
#include "tests/component/engine/spawn.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using slipway::testing::Kubelet;

constexpr const char* kGpu = "nvidia.com/gpu";

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

pid_t start(char** command) {
  std::vector<std::string> words;
  for (; *command != nullptr; ++command) words.emplace_back(*command);
  return slipway::testing::spawn({.words = words, .out = "plugin.log", .err = "plugin.log", .own_group = true});
}

/// Returns the number after a name in /proc/PID/smaps_rollup, in KiB.
long memory_of(const std::string& pid, const std::string& name) {
  std::ifstream in("/proc/" + pid + "/smaps_rollup");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::atol(line.c_str() + name.size() + 1);
  return 0;
}

/// Lists a process and all below it.
void family(const std::string& pid, std::vector<std::string>& all) {
  all.push_back(pid);
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
    std::ifstream in(task.path() / "children");
    for (std::string child; in >> child;) family(child, all);
  }
}

[[noreturn]] void end(pid_t plugin) {
  ::kill(plugin, SIGTERM);
  for (int i = 0; i < 300 && ::waitpid(plugin, nullptr, WNOHANG) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(-plugin, SIGKILL);
  std::_Exit(0);
}

struct Times {
  double median = 0;
  double p99 = 0;
};

/// Makes that many calls, but not more than fit into ten seconds.
Times measure(int calls, const std::function<void()>& call) {
  std::vector<double> times;
  for (const auto start = Clock::now(); calls > 0 && since(start) < 10'000; --calls) {
    const auto begin = Clock::now();
    call();
    times.push_back(since(begin));
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) return 64;
  const std::size_t devices = static_cast<std::size_t>(std::atol(words[2]));
  const int calls = std::atoi(words[3]);
  Kubelet kubelet(words[1]);
  const auto begin = Clock::now();
  const pid_t plugin = start(words + 5);
  while (kubelet.healthy(kGpu) != devices && since(begin) < 60'000)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double registered = since(begin);
  if (kubelet.healthy(kGpu) != devices) {
    std::fprintf(stderr, "there are %zu devices, not %zu: see plugin.log\n", kubelet.healthy(kGpu), devices);
    ::kill(-plugin, SIGKILL);
    return 1;
  }
  if (calls == 0) {
    std::printf("%.1f\n", registered);
    std::fflush(stdout);
    end(plugin);
  }
  std::vector<std::string> ids;
  const auto resource = kubelet.of(kGpu);
  for (const auto& [id, device] : resource.devices) ids.push_back(id);
  const Times allocate = measure(calls, [&] { (void)kubelet.allocate_ids(kGpu, {ids[0]}); });
  std::vector<std::string> free(ids.begin(),
                                ids.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(ids.size(), 15)));
  if (ids.size() > 16) free = ids;
  bool answered = true;
  const Times prefer = measure(calls, [&] { answered = kubelet.prefer(kGpu, free, 4).size() == 4 && answered; });
  std::this_thread::sleep_for(std::chrono::seconds(3));
  std::vector<std::string> pids;
  family(std::to_string(plugin), pids);
  long pss = 0;
  long rss = 0;
  for (const std::string& pid : pids) {
    pss += memory_of(pid, "Pss");
    rss += memory_of(pid, "Rss");
  }
  std::printf(
      "{\"registered_ms\": %.1f, \"allocate_ms\": [%.3f, %.3f], \"prefer_ms\": [%.3f, %.3f], \"prefer_ok\": %s, "
      "\"pss_kib\": %ld, \"rss_kib\": %ld, \"processes\": %zu}\n",
      registered, allocate.median, allocate.p99, prefer.median, prefer.p99, answered ? "true" : "false", pss, rss,
      pids.size());
  std::fflush(stdout);
  end(plugin);
}
