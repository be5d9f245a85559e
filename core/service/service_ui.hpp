// SPDX-License-Identifier: Apache-2.0
// core/service/service_ui.hpp - what a service says: lines for the journal, with their priority, or for a terminal.
#pragma once

#include "core/engine/ui.hpp"

namespace slipway::core {

class ServiceUi final : public Ui {
 public:
  /// @param debug  shows lines of that level as well
  explicit ServiceUi(bool debug);
  void log(Level level, const std::string& component, const std::string& text) override;
  void progress(const std::string&, const std::string&, std::uint64_t, std::uint64_t) override {}
  void step(const std::string& component, const std::string& text) override { log(Level::info, component, text); }

 private:
  bool journal_;
  bool debug_;
};

}  // namespace slipway::core
