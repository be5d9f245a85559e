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

/// Returns the devices for a container before it is created. An error prevents the creation, and is shown to its user.
using Adjust = std::function<Result<wire::ContainerAdjustment>(const wire::CreateContainerRequest&)>;

/// The name in the engine's log, after the index.
inline constexpr const char* kPluginName = "slipway";
/// Engines call plugins in this order; two digits.
inline constexpr const char* kPluginIndex = "10";

class Session {
 public:
  explicit Session(Adjust adjust) : adjust_(std::move(adjust)) {}

  /// Returns the first bytes to send.
  static std::string registration();
  /// Returns the answer to these bytes; often empty. Errors: `corrupt` not a valid message of an engine; `denied` the
  /// engine refuses the plugin. The connection cannot be used then.
  Result<std::string> take(std::string_view bytes);

  /// True when the engine has accepted the plugin: every new container passes through it.
  bool serving() const { return serving_; }
  /// Returns "containerd v2.1.4", once the engine has sent it.
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

/// Converts a text from outside to UTF-8, which engines require.
std::string as_utf8(const std::string& text);

}  // namespace slipway::nri
