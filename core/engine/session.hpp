// SPDX-License-Identifier: Apache-2.0
// core/engine/session.hpp - the context of one command: a machine, plugins, and the Ui that it reports to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/engine/machine.hpp"
#include "core/engine/plugin_calls.hpp"
#include "core/engine/ui.hpp"

namespace slipway::core {

class Session : public Machine, public PluginCalls {
 public:
  /// Opens the root, discovers plugins; starts no worker yet. @param ui  borrowed
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options, Ui& ui) {
    std::unique_ptr<Session> session(new Session(options, ui));
    SLIPWAY_CHECK(session->Machine::open(ui));
    SLIPWAY_CHECK(session->PluginCalls::open());
    return session;
  }
  Ui& ui() { return ui_; }
  /// Registries ("oci://host:port") that did not answer since the plan began, with the error. They are not tried again.
  std::map<std::string, Error>& silent_registries() { return silent_registries_; }

 private:
  Session(const SessionOptions& options, Ui& ui) : Machine(options), PluginCalls(*this, ui), ui_(ui) {}
  Ui& ui_;
  std::map<std::string, Error> silent_registries_;
};

}  // namespace slipway::core
