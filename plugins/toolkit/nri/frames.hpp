// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/frames.hpp - splits and builds the bytes on NRI's socket.
//
// One socket carries several channels, each chunk behind eight bytes: the channel and the chunk's length. What a
// channel carries is a stream of ttrpc messages, each behind ten bytes: length, stream, type, flags. All numbers are
// big-endian.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::nri {

inline constexpr std::uint32_t kPluginChannel = 1;          ///< requests from the engine to slipway
inline constexpr std::uint32_t kRuntimeChannel = 2;         ///< requests from slipway to the engine
inline constexpr std::size_t kMaxPayloadBytes = 4U << 20U;  ///< for a ttrpc message
inline constexpr std::size_t kMostChunk = 16U << 20U;       ///< the largest that any version of NRI sends

/// A ttrpc message.
struct Message {
  static constexpr std::uint8_t kRequest = 1;
  static constexpr std::uint8_t kResponse = 2;

  std::uint32_t channel = 0;
  std::uint32_t stream = 0;
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::string payload;
};

/// Encodes a message for NRI's own implementation, which reads the first chunk through a buffer of 4 KiB.
/// @param message  with at most kMaxPayloadBytes
std::string encode(const Message& message);

/// Assembles messages from received bytes. Holds at most one message of each of the two channels.
class FrameReader {
 public:
  /// Returns the messages that these bytes complete, in order. Skips unknown channels, as NRI's own implementation
  /// does. Errors: `corrupt` a length that no engine sends; nothing can be read after it.
  Result<std::vector<Message>> take(std::string_view bytes);

 private:
  Status take_messages(std::uint32_t channel, std::vector<Message>& into);

  std::string head_;           ///< of the chunk, as far as received
  std::uint32_t channel_ = 0;  ///< of the current chunk
  std::size_t left_ = 0;       ///< of it
  std::map<std::uint32_t, std::string> unread_;
};

}  // namespace slipway::nri
