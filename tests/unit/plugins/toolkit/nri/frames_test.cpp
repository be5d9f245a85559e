// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::nri {
namespace {

using ::testing::HasSubstr;

std::string bytes(std::initializer_list<int> numbers) {
  std::string text;
  for (const int number : numbers) text += static_cast<char>(number);
  return text;
}

std::string chunk(std::uint32_t channel, const std::string& content) {
  const auto part = [](std::size_t number, unsigned shift) { return static_cast<int>(number >> shift & 0xFFU); };
  return bytes({0, 0, 0, static_cast<int>(channel)}) +
         bytes({part(content.size(), 24), part(content.size(), 16), part(content.size(), 8), part(content.size(), 0)}) +
         content;
}

/// Returns the bytes of a message on its channel, without chunks.
std::string bare(const Message& message) {
  std::string content = bytes({0, 0, 0, 0, 0, 0, 0, static_cast<int>(message.stream), message.type, message.flags});
  content[2] = static_cast<char>(message.payload.size() >> 8U);
  content[3] = static_cast<char>(message.payload.size() & 0xFFU);
  return content + message.payload;
}

TEST(Frames, AreWrittenByteForByteAsInNri) {
  EXPECT_EQ(encode({kRuntimeChannel, 1, Message::kRequest, 0, "ab"}),
            bytes({0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 'a', 'b'}));
  EXPECT_EQ(encode({kPluginChannel, 0x01020304, Message::kResponse, 0, ""}),
            bytes({0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 0, 1, 2, 3, 4, 2, 0}));
}

// NRI's end reads through 4 KiB: a longer first chunk ends its connection with ENOMEM.
TEST(Frames, BeginALongMessageWithASmallChunk) {
  const Message message{kPluginChannel, 3, Message::kResponse, 0, std::string(9000, 'x')};
  const std::string whole = bare(message);
  EXPECT_EQ(encode(message), chunk(1, whole.substr(0, 4096)) + chunk(1, whole.substr(4096)));
}

TEST(Frames, AreReadFromAnyPieces) {
  const Message first{kPluginChannel, 3, Message::kRequest, 0, std::string(5000, 'a')};
  const Message second{kRuntimeChannel, 1, Message::kResponse, 7, ""};
  const std::string all = encode(first) + encode(second);
  for (const std::size_t step : {1U, 3U, 17U, 4096U, 100000U}) {
    FrameReader reader;
    std::vector<Message> seen;
    for (std::size_t at = 0; at < all.size(); at += step) {
      auto messages = reader.take(std::string_view(all).substr(at, step));
      ASSERT_TRUE(messages.ok());
      for (Message& message : *messages) seen.push_back(std::move(message));
    }
    ASSERT_EQ(seen.size(), 2U) << step;
    EXPECT_EQ(seen[0].payload, first.payload);
    EXPECT_EQ(seen[0].channel, kPluginChannel);
    EXPECT_EQ(seen[1].stream, 1U);
    EXPECT_EQ(seen[1].flags, 7);
  }
}

TEST(Frames, OfTwoChannelsMayBeInterleaved) {
  const Message slow{kPluginChannel, 5, Message::kRequest, 0, "slow"};
  const Message quick{kRuntimeChannel, 1, Message::kResponse, 0, "quick"};
  FrameReader reader;
  const std::string parts = chunk(1, bare(slow).substr(0, 6)) + chunk(2, bare(quick)) + chunk(1, "") +
                            chunk(1, bare(slow).substr(6) + bare(slow));
  const auto messages = reader.take(parts);
  ASSERT_TRUE(messages.ok());
  ASSERT_EQ(messages->size(), 3U);
  EXPECT_EQ(messages->at(0).payload, "quick");
  EXPECT_EQ(messages->at(1).payload, "slow");
  EXPECT_EQ(messages->at(2).payload, "slow");
}

TEST(Frames, OfUnknownChannelsAreSkipped) {
  FrameReader reader;
  const auto messages = reader.take(chunk(9, "whatever") + encode({kPluginChannel, 1, Message::kRequest, 0, "here"}));
  ASSERT_TRUE(messages.ok());
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ(messages->front().payload, "here");
}

TEST(Frames, WithTheLongestMessageAreRead) {
  FrameReader reader;
  const auto messages =
      reader.take(encode({kPluginChannel, 1, Message::kRequest, 0, std::string(kMaxPayloadBytes, 'x')}));
  ASSERT_TRUE(messages.ok());
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ(messages->front().payload.size(), kMaxPayloadBytes);
}

TEST(Frames, WithAnInvalidLengthAreRefusedAtOnce) {
  FrameReader chunks;
  const auto huge_chunk = chunks.take(bytes({0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF}));
  ASSERT_FALSE(huge_chunk.ok());
  EXPECT_THAT(huge_chunk.error().what, HasSubstr("2147483647 bytes"));
  FrameReader messages;
  const auto huge_message = messages.take(chunk(1, bytes({0, 0x40, 0, 1, 0, 0, 0, 1, 1, 0})));
  ASSERT_FALSE(huge_message.ok());
  EXPECT_THAT(huge_message.error().what, HasSubstr("4194305 bytes"));
}

}  // namespace
}  // namespace slipway::nri
