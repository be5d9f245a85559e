// SPDX-License-Identifier: Apache-2.0
// core/service/service_ui.hpp - what a service says goes to the log, with the generation that is in force.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <slipway/root_dir.hpp>

#include "base/log/log.hpp"
#include "core/engine/ui.hpp"

namespace slipway::core {

/// The number of the generation that is in force in a root, as the state there has it; empty: none.
std::optional<int> generation_in_force(const RootDir& root);

class ServiceUi final : public Ui {
 public:
  /// @param root  outlives this object
  /// @param advise  gives the commands in a text the options of the root; empty: they stay as the service names them
  ServiceUi(const LogSettings& settings, const RootDir& root, std::function<std::string(std::string)> advise = {})
      : log_(settings), root_(root), advise_(std::move(advise)) {}
  void log(Level level, const Subject& about, const std::string& text) override;
  void progress(const std::string&, const Progress&) override {}
  void step(const Subject& about, const std::string& text) override { log(Level::info, about, text); }
  /// Why the service has ended.
  void failed(const std::string& component, const Error& error);

 private:
  Log log_;
  const RootDir& root_;
  std::function<std::string(std::string)> advise_;
};

}  // namespace slipway::core
