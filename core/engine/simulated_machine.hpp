// SPDX-License-Identifier: Apache-2.0
// core/engine/simulated_machine.hpp - a simulated machine (--sim): a helper in a worker writes its kernel view, and
// returns the environment in which programs find its devices.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "base/write/scratch_folder.hpp"
#include "core/engine/ui.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

class SimulatedMachine {
 public:
  /// @param profile  the value of --sim
  /// @param root     host path of the root; copied
  /// @param ui       receives the helper's messages; borrowed
  /// Errors: `not_found` the helper or the profile is missing; those of the helper.
  static Result<std::unique_ptr<SimulatedMachine>> enter(const std::string& profile, const std::string& root, Ui& ui);

  const std::string& folder() const { return scratch_.path(); }               ///< for this command only
  const std::string& kernel_view() const { return kernel_view_; }             ///< holds sys/, proc/ and dev/
  const std::string& kernel_release() const { return kernel_release_; }       ///< of the simulated kernel
  const std::vector<std::string>& environment() const { return variables_; }  ///< "NAME=VALUE"

  /// Tells the helper that the root may have changed. Called by any thread.
  void follow_root();

 private:
  SimulatedMachine(base::ScratchFolder scratch, std::unique_ptr<Worker> helper, std::string root, Ui& ui)
      : scratch_(std::move(scratch)), helper_(std::move(helper)), root_(std::move(root)), ui_(ui) {}
  Result<Json> ask(const std::string& op, const Json& request);

  base::ScratchFolder scratch_;
  std::mutex mutex_;
  std::unique_ptr<Worker> helper_;
  std::string root_;
  Ui& ui_;
  std::string kernel_view_;
  std::string kernel_release_;
  std::vector<std::string> variables_;
};

}  // namespace slipway::core
