// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/frames.hpp"

#include <algorithm>

namespace slipway::nri {
namespace {

constexpr std::size_t kChunkHead = 8;
constexpr std::size_t kMessageHead = 10;
constexpr std::size_t kFirstChunk = 4096;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

void add_number(std::string& bytes, std::size_t number) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift & 0xFFU);
}

void add_chunk(std::string& bytes, std::uint32_t channel, std::string_view content) {
  add_number(bytes, channel);
  add_number(bytes, content.size());
  bytes += content;
}

Error too_long(const std::string& what, std::size_t size, std::size_t most) {
  return Error{ErrorCode::corrupt,
               what + " claims to have " + std::to_string(size) + " bytes, more than the " + std::to_string(most) +
                   " that are allowed",
               {},
               "make sure that a container engine listens at this socket",
               {}};
}

}  // namespace

std::string encode(const Message& message) {
  std::string whole;
  add_number(whole, message.payload.size());
  add_number(whole, message.stream);
  whole += static_cast<char>(message.type);
  whole += static_cast<char>(message.flags);
  whole += message.payload;
  std::string bytes;
  const std::string_view view = whole;
  add_chunk(bytes, message.channel, view.substr(0, kFirstChunk));
  if (view.size() > kFirstChunk) add_chunk(bytes, message.channel, view.substr(kFirstChunk));
  return bytes;
}

Result<std::vector<Message>> FrameReader::take(std::string_view bytes) {
  std::vector<Message> messages;
  while (!bytes.empty()) {
    if (left_ == 0) {
      const std::size_t count = std::min(kChunkHead - head_.size(), bytes.size());
      head_ += bytes.substr(0, count);
      bytes.remove_prefix(count);
      if (head_.size() < kChunkHead) break;
      channel_ = number_at(head_, 0);
      left_ = number_at(head_, 4);
      head_.clear();
      if (left_ > kMostChunk) return too_long("a chunk", left_, kMostChunk);
    }
    const std::size_t count = std::min(left_, bytes.size());
    if (channel_ == kPluginChannel || channel_ == kRuntimeChannel) {
      unread_[channel_] += bytes.substr(0, count);
      SLIPWAY_CHECK(take_messages(channel_, messages));
    }
    bytes.remove_prefix(count);
    left_ -= count;
  }
  return messages;
}

Status FrameReader::take_messages(std::uint32_t channel, std::vector<Message>& into) {
  std::string& unread = unread_[channel];
  std::size_t at = 0;
  while (unread.size() - at >= kMessageHead) {
    const std::size_t size = number_at(unread, at);
    if (size > kMaxPayloadBytes) return too_long("a message", size, kMaxPayloadBytes);
    if (unread.size() - at < kMessageHead + size) break;
    into.push_back({.channel = channel,
                    .stream = number_at(unread, at + 4),
                    .type = static_cast<std::uint8_t>(unread[at + 8]),
                    .flags = static_cast<std::uint8_t>(unread[at + 9]),
                    .payload = unread.substr(at + kMessageHead, size)});
    at += kMessageHead + size;
  }
  unread.erase(0, at);
  return {};
}

}  // namespace slipway::nri
