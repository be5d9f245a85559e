// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/toolkit/nri/grpc_answer.hpp - a gRPC server's bytes for one call: frames of HTTP/2, written by
// hand (RFC 9113, RFC 7541).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace slipway::nri {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr char kData = 0;
constexpr char kHeaders = 1;
constexpr char kSettings = 4;
constexpr char kEndStream = 1;
constexpr char kEndHeaders = 4;

inline std::string big_endian(std::size_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xFFU);
  return text;
}

inline std::string frame(char type, char flags, std::size_t stream, const std::string& content) {
  return big_endian(content.size(), 3) + type + flags + big_endian(stream, 4) + content;
}

/// Literals without indexing; names and values are shorter than 127 bytes.
inline std::string header_block(const Headers& headers) {
  std::string text;
  for (const auto& [name, value] : headers)
    text += std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
  return text;
}

inline std::string grpc_message(const std::string& content, bool compressed = false) {
  return std::string(1, compressed ? '\1' : '\0') + big_endian(content.size(), 4) + content;
}

/// The body in frames of at most 16 KiB, the HTTP/2 default.
inline std::string data_frames(const std::string& body) {
  constexpr std::size_t kMostFrame = 16U << 10U;
  std::string text;
  for (std::size_t at = 0; at < body.size(); at += kMostFrame) text += frame(kData, 0, 1, body.substr(at, kMostFrame));
  return text;
}

inline std::string grpc_head() {
  return frame(kSettings, 0, 0, {}) +
         frame(kHeaders, kEndHeaders, 1, header_block({{":status", "200"}, {"content-type", "application/grpc"}}));
}

inline std::string grpc_end(const Headers& trailers) {
  return frame(kHeaders, kEndHeaders | kEndStream, 1, header_block(trailers));
}

}  // namespace slipway::nri
