// SPDX-License-Identifier: Apache-2.0
#include "core/worker/frame.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sdk/random_json.hpp"

namespace slipway::core {
namespace {

Json random_message(RandomJson& random) {
  Json message = random.object();
  message["type"] = random.clean_text();
  return message;
}

TEST(Frame, IsReadFromAnyPieces) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomJson random(seed);
    std::vector<Json> sent;
    std::string wire;
    for (unsigned i = 1 + random.below(5); i > 0; --i) {
      sent.push_back(random_message(random));
      wire += *encode_frame(sent.back());
    }
    FrameReader reader;
    std::vector<Json> received;
    for (std::size_t at = 0; at < wire.size();) {
      const std::size_t part = 1 + random.below(40);
      reader.feed(std::string_view(wire).substr(at, part));
      at += part;
      for (auto next = reader.next(); *next; next = reader.next()) received.push_back(**next);
    }
    EXPECT_EQ(received, sent) << "seed " << seed;
  }
}

TEST(Frame, IsReadOrRefusedForAnyBytes) {
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomJson random(seed);
    std::string wire = *encode_frame(random_message(random)) + *encode_frame(random_message(random));
    for (unsigned i = 1 + random.below(3); i > 0; --i)
      wire[random.below(static_cast<unsigned>(wire.size()))] = static_cast<char>(random.below(256));
    FrameReader reader;
    reader.feed(wire);
    Result<std::optional<Json>> next = reader.next();
    while (next && *next) next = reader.next();
    if (next) continue;
    EXPECT_EQ(next.error().code, ErrorCode::plugin_defect);
    ++refused;
  }
  EXPECT_GT(refused, 50U);
}

TEST(Frame, CountsTheDepthOfValuesOnlyOutsideOfTexts) {
  FrameReader reader;
  reader.feed(*encode_frame({{"type", std::string(1000, '[') + "\\\"{{{"}}));
  EXPECT_TRUE((*reader.next())->is_object());
}

TEST(Frame, ThatWouldBeTooLongIsNotMade) {
  EXPECT_EQ(encode_frame({{"type", std::string(kMaxFrameBytes, 'x')}}).error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace slipway::core
