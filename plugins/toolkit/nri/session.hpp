// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/session.hpp - one connection to an engine's NRI, from the registration on, without the socket.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "slipway/nri/nri.pb.h"
#include "toolkit/nri/frames.hpp"

namespace slipway::nri {

/// What a container that is about to be made gets. An error keeps it from being made, and is what its user reads.
using Adjust = std::function<Result<wire::ContainerAdjustment>(const wire::CreateContainerRequest&)>;

/// As the engine names it in its log, behind the index.
inline constexpr const char* kPluginName = "slipway";
/// Plugins are asked in this order; two digits.
inline constexpr const char* kPluginIndex = "10";

class Session {
 public:
  explicit Session(Adjust adjust) : adjust_(std::move(adjust)) {}

  /// What is sent first.
  static std::string registration();
  /// What is sent in answer to these bytes; often nothing. Errors: `corrupt` no engine says this; `denied` the engine
  /// refuses the plugin. The connection is of no use then.
  Result<std::string> take(std::string_view bytes);

  /// The engine has taken the plugin in: every container that is made from now on passes it.
  bool serving() const { return serving_; }
  /// "containerd v2.1.4", once it has said so.
  const std::string& engine() const { return engine_; }

 private:
  Result<std::string> answer(const Message& message);
  Status take_registered(const Message& message) const;
  Result<std::string> configure(const std::string& payload);
  Result<std::string> synchronize(const std::string& payload);

  Adjust adjust_;
  FrameReader frames_;
  std::string engine_;
  bool serving_ = false;
};

/// A text of others as UTF-8, which is all that an engine takes.
std::string as_utf8(const std::string& text);

}  // namespace slipway::nri
