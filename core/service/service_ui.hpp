// SPDX-License-Identifier: Apache-2.0
// core/service/service_ui.hpp - writes a service's messages to the log, with the active generation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <slipway/root_dir.hpp>

#include "base/log/log.hpp"
#include "core/engine/ui.hpp"

namespace slipway::core {

/// Returns the number of the active generation of a root, read from its state; empty if not found.
std::optional<int> generation_in_force(const RootDir& root);

class ServiceUi final : public Ui {
 public:
  /// @param root  outlives this object
  /// @param advise  adds the options of the root to the commands in a text; empty: the commands stay as they are
  ServiceUi(const base::LogSettings& settings, const RootDir& root, std::function<std::string(std::string)> advise = {})
      : log_(settings), root_(root), advise_(std::move(advise)) {}
  void log(Level level, const Subject& about, const std::string& text) override;
  void progress(const std::string&, const Progress&) override {}
  void step(const Subject& about, const std::string& text) override { log(Level::info, about, text); }
  /// Logs the error that ended the service.
  void failed(const std::string& component, const Error& error);

 private:
  base::Log log_;
  const RootDir& root_;
  std::function<std::string(std::string)> advise_;
};

}  // namespace slipway::core
