// SPDX-License-Identifier: Apache-2.0
#include "core/worker/frame.hpp"

#include <array>
#include <cstdint>

namespace slipway::core {
namespace {

constexpr std::size_t kHead = 4;

std::uint32_t length_at(const char* bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kHead; ++i)
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

Error broken(const std::string& how) {
  return Error{.code = ErrorCode::plugin_defect, .what = "broke the connection's protocol: " + how};
}

}  // namespace

Result<std::string> encode_frame(const Json& message) {
  std::string frame(kHead, '\0');
  frame += canonical(message);
  const std::size_t length = frame.size() - kHead;
  if (length > kMaxFrameBytes)
    return Error{.code = ErrorCode::invalid,
                 .what = "a message of " + std::to_string(length) + " bytes is longer than the " +
                         std::to_string(kMaxFrameBytes >> 20) + " MiB that are allowed"};
  for (std::size_t i = 0; i < kHead; ++i) frame[i] = static_cast<char>(length >> (8 * i) & 0xffU);
  return frame;
}

void FrameReader::feed(std::string_view bytes) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_ += bytes;
}

Result<std::optional<Json>> FrameReader::next() {
  if (buffer_.size() - begin_ < kHead) return std::optional<Json>();
  const std::size_t length = length_at(buffer_.data() + begin_);
  if (length > kMaxFrameBytes) return broken("a message of " + std::to_string(length) + " bytes");
  if (buffer_.size() - begin_ - kHead < length) return std::optional<Json>();
  const std::string_view text = std::string_view(buffer_).substr(begin_ + kHead, length);
  if (nests_too_deep(text)) return broken("a message of more than " + std::to_string(kMaxJsonDepth) + " levels");
  Json message = Json::parse(text, nullptr, false);
  if (!message.is_object() || !message.contains("type") || !message["type"].is_string())
    return broken("an invalid message: " + std::string(text.substr(0, 80)));
  begin_ += kHead + length;
  return std::optional<Json>(std::move(message));
}

}  // namespace slipway::core
