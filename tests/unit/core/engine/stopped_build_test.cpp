// SPDX-License-Identifier: Apache-2.0
// A signal during a compilation, in a process of its own; skipped when namespaces are not allowed.
#include <csignal>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/action.hpp>

#include "core/engine/shown_build.hpp"
#include "core/engine/stop.hpp"
#include "sandbox/sandbox.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::core {
namespace {

/// Sends a signal as soon as the compiler has printed a line.
class SignalAtTheFirstLine final : public Ui {
 public:
  void log(Level, const Subject&, const std::string& text) override {
    if (text == "compiling") ::raise(SIGTERM);
  }
  void progress(const std::string&, const Progress&) override {}
  void step(const Subject&, const std::string&) override {}
};

bool may_compile_here() {
  sandbox::Sandbox probe;
  probe.root = "/";
  probe.read_only = true;
  probe.argv = {"true"};
  probe.environment = sandbox::sandbox_environment();
  return sandbox::run_in_sandbox(probe).ok();
}

// Before the fix, the signal was checked after the whole compilation: systemd killed the apply before.
TEST(BuildTest, EndsWhenASignalAsksForIt) {
  if (!may_compile_here()) GTEST_SKIP() << "namespaces are not allowed here";
  test::TempRoot work;
  work.put("/src/Makefile", "x.o:\n\t@echo compiling\n\t@sleep 3600\n");
  action::Build build;
  build.name = "x";
  build.argv = {"make"};
  build.collect = {{.from = "x.o", .to = "x.o"}};
  sandbox::BuildRequest request;
  request.build = to_json(build);
  request.source = work.at("/src");
  request.into = work.at("/into");
  request.log = work.at("/log");
  const pid_t child = ::fork();
  if (child == 0) {
    watch_stop_signals();
    SignalAtTheFirstLine ui;
    const Status done = run_build_shown(request, ui, {"driver", "stage"});
    const bool stopped = !done && done.error().what == "stopped by a signal" && !work.has("/into");
    ::_exit(stopped ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slipway::core
