// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/worker/worker_fixture.hpp - starts the plugins of the tests and checks that no process is left.
#pragma once

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "core/worker/client/process_list.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

class WorkerTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kPlenty{300000};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kSanitized = true;
#else
  static constexpr bool kSanitized = false;
#endif

  WorkerTest() {
    // A crash must be reported as its signal, not as a report of the sanitizer.
    setenv("ASAN_OPTIONS",
           "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:detect_leaks=0", 1);
    events_.log = [this](const std::string& level, const std::string& text) { log_.push_back(level + ": " + text); };
    events_.output = [this](const std::string& text) { output_ += text; };
    events_.progress = [this](const std::string&, std::uint64_t done, std::uint64_t) { progress_.push_back(done); };
  }
  void TearDown() override { EXPECT_EQ(children_of_this_process(), std::vector<pid_t>()) << "a process is left"; }

  static WorkerOptions options(const std::string& plugin) {
    return {.plugin_path = std::string(SLIPWAY_TEST_PLUGINS) + "/" + plugin + ".so", .name = "stranger"};
  }
  static std::unique_ptr<Worker> start(const std::string& plugin) {
    Result<std::unique_ptr<Worker>> worker = start_worker(options(plugin));
    if (!worker) throw std::runtime_error(to_text(worker.error()));
    return std::move(*worker);
  }
  /// Asks a new worker of the stranger plugin to do `how` in `op`.
  Result<Json> provoke(const std::string& op, const std::string& how, std::chrono::milliseconds limit = kPlenty) {
    const auto worker = start("stranger");
    return worker->call(op, request(op, how), limit, events_);
  }
  static Json request(const std::string& op, const std::string& how) {
    Json request{{"component", "stranger"}, {"host", {{"root", "/"}, {"kernel_view", "/"}}}, {"spec", {{op, how}}}};
    if (op == "plan") request["facts"] = {{"applicable", true}, {"values", Json::object()}};
    if (op == "check" || op == "apply") request["action"] = {{"kind", "custom"}, {"target", "t"}, {"data", how}};
    return request;
  }
  static std::string detail(const Error& error, const std::string& label) {
    for (const auto& [name, text] : error.details)
      if (name == label) return text;
    return {};
  }

  WorkerEvents events_;
  std::vector<std::string> log_;
  std::vector<std::uint64_t> progress_;
  std::string output_;
};

}  // namespace slipway::core
