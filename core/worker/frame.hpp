// SPDX-License-Identifier: Apache-2.0
// core/worker/frame.hpp - the messages between slipway and a worker: a length and a JSON object each.
//
// On the wire: uint32 length, little-endian, then that many bytes of JSON text. `type` is the message's type:
//   to the worker:   call {id, op, request}                core-reply {id, status, value}
//   from the worker: ready {}                              reply {id, status, value}
//                    log {level, text}                     progress {label, done, total}
//                    output {text}                         core {id, op, request}
// While the call "service" is running, also:
//   to the worker:   tell {id, op, request}                an operation "service.…", requested by another thread
//   from the worker: told {id, status, value}              works {}  status {text}  reasons {lines}  alive {}
// `status` is one of sdk/slipway/abi.h; `value` is an error object unless it is SLIPWAY_OK. Before `ready` only a reply
// with id 0 can come: the plugin could not be loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

constexpr std::size_t kMaxFrameBytes = 64U << 20;

/// Errors: `invalid` when the text is too long for a frame.
Result<std::string> encode_frame(const Json& message);

/// Assembles frames from received bytes.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  /// Returns the next complete frame, or nothing yet. Errors: `plugin_defect` when it is too long, too deep, or not a
  /// JSON object with a `type`; nothing after such a frame can be read.
  Result<std::optional<Json>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace slipway::core
