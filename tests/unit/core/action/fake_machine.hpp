// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/action/fake_machine.hpp - a live machine that is a folder: its systemd and its programs keep state.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <slipway/local_host.hpp>

#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::core {

/// Files, /proc, /sys and /dev are the root's; run() uses a small systemd or the programs that a test adds.
class FakeMachine final : public Host {
 public:
  using Program = std::function<ProcessOutput(const std::vector<std::string>& argv)>;

  struct Unit {
    std::string active = "inactive";
    std::string sub = "dead";
    std::string result = "success";
    std::string pid = "0";
    std::string type = "simple";
    std::string ended = "0";
    bool can_reload = true;
    bool needs_reload = false;
  };

  explicit FakeMachine(const test::TempRoot& root)
      : root_(root), files_(open_host({.root = root.folder(), .kernel_view = root.folder()}).value()) {
    root.make_folder("/run/systemd/system");
  }

  std::map<std::string, Unit> units;
  std::set<std::string> dies;           ///< units that crash when they are started
  std::set<std::string> dies_stopping;  ///< units that crash when they are stopped
  std::map<std::string, Program> programs;
  std::vector<std::string> calls;  ///< "systemctl restart x.service", without show

  bool live() const override { return true; }
  bool has_kernel_view() const override { return true; }
  Result<std::string> kernel_release() const override { return std::string("6.1.0-test"); }
  std::string arch() const override { return "x86_64"; }
  Result<std::string> read(std::string_view path, std::size_t limit) const override {
    return files_->read(path, limit);
  }
  Result<FileInfo> info(std::string_view path) const override { return files_->info(path); }
  Result<std::string> read_link(std::string_view path) const override { return files_->read_link(path); }
  Result<std::string> resolve(std::string_view path) const override { return files_->resolve(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return files_->list(path); }
  Status opens(std::string_view path) const override { return files_->opens(path); }
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds) const override {
    return const_cast<FakeMachine*>(this)->execute(argv);
  }

 private:
  Result<ProcessOutput> execute(const std::vector<std::string>& argv);
  ProcessOutput systemctl(const std::vector<std::string>& argv);
  bool has_file(const std::string& unit) const;
  std::string show(const std::string& unit) const;

  const test::TempRoot& root_;
  std::unique_ptr<Host> files_;
  int next_pid_ = 100;
};

}  // namespace slipway::core
