// SPDX-License-Identifier: Apache-2.0
// Layers that were damaged on their way: no truncation and no flipped bit ends in success.
#include <gtest/gtest.h>

#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"
#include "tests/unit/artifact/support/unpack_helper.hpp"

namespace slipway::artifact {
namespace {

using test::StringSource;
using test::TempDir;
namespace fs = std::filesystem;

std::string sample_layer(Compression compression) {
  std::string content;
  for (unsigned i = 0, x = 1; i < 5'000; ++i) content += static_cast<char>((x = x * 1103515245 + 12345) >> 16);
  return test::compress(test::tar_of({{.name = "a/file", .content = content}, {.name = "b", .content = "end"}}),
                        compression);
}

class DamagedLayer : public testing::TestWithParam<Compression> {};

TEST_P(DamagedLayer, IsRefusedWhereverItIsCut) {
  const std::string layer = sample_layer(GetParam());
  const Descriptor descriptor = test::layer_of(layer);
  for (std::size_t length = 0; length < layer.size(); length += 1 + layer.size() / 97) {
    TempDir dir;
    const auto done =
        unpack(std::make_unique<StringSource>(layer.substr(0, length)), descriptor, test::options_for(dir), Reporter{});
    ASSERT_FALSE(done) << "cut at " << length;
    EXPECT_EQ(done.error().code, ErrorCode::corrupt) << "cut at " << length << ": " << done.error().what;
    EXPECT_NE(done.error().what.find("it is incomplete"), std::string::npos);
    EXPECT_FALSE(fs::exists(dir / "out"));
  }
}

// A layer that was published incomplete: its digest is right, its content is not. (Not for a plain tar, which has no
// end mark that could be missing.)
class DamagedCompression : public testing::TestWithParam<Compression> {};

TEST_P(DamagedCompression, IsRefusedWhenItsDigestWasMadeAfterTheCut) {
  const std::string layer = sample_layer(GetParam());
  for (std::size_t length = 8; length < layer.size(); length += 1 + layer.size() / 53) {
    TempDir dir;
    const auto done = test::unpack_bytes(dir, layer.substr(0, length));
    ASSERT_FALSE(done) << "cut at " << length;
    EXPECT_EQ(done.error().code, ErrorCode::invalid) << done.error().what;
    EXPECT_FALSE(fs::exists(dir / "out"));
  }
}

TEST_P(DamagedLayer, IsRefusedWhereverABitIsFlipped) {
  const std::string layer = sample_layer(GetParam());
  const Descriptor descriptor = test::layer_of(layer);
  for (std::size_t at = 0; at < layer.size(); at += 1 + layer.size() / 97) {
    TempDir dir;
    std::string flipped = layer;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    const auto done = unpack(std::make_unique<StringSource>(flipped), descriptor, test::options_for(dir), Reporter{});
    ASSERT_FALSE(done) << "flipped at " << at;
    EXPECT_FALSE(fs::exists(dir / "out"));
  }
}

TEST_P(DamagedLayer, IsRefusedWithMoreAfterItsEnd) {
  const std::string layer = sample_layer(GetParam());
  TempDir dir;
  const auto done =
      unpack(std::make_unique<StringSource>(layer + "x"), test::layer_of(layer), test::options_for(dir), Reporter{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::corrupt);
  EXPECT_NE(done.error().what.find("longer"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, DamagedLayer,
                         testing::Values(Compression::none, Compression::zstd, Compression::gzip, Compression::xz),
                         [](const auto& one) { return std::string(to_string(one.param)); });

INSTANTIATE_TEST_SUITE_P(Each, DamagedCompression,
                         testing::Values(Compression::zstd, Compression::gzip, Compression::xz),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST(DamagedTar, IsRefusedWhenAFileIsCutOff) {
  TempDir dir;
  const std::string tar = test::tar_of({{.name = "f", .content = std::string(2'000, 'x')}});
  const auto done = test::unpack_bytes(dir, tar.substr(0, 1'500));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid) << done.error().what;
}

TEST(DamagedTar, IsRefusedWhenItIsNotATar) {
  TempDir dir;
  const auto done = test::unpack_bytes(dir, std::string(3'000, 'x'));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid);
  EXPECT_NE(done.error().what.find("tar"), std::string::npos);
}

}  // namespace
}  // namespace slipway::artifact
