// SPDX-License-Identifier: Apache-2.0
// tests/unit/artifact/support/unpack_helper.hpp - unpacks bytes that a test made, as if they were a layer.
#pragma once

#include <optional>
#include <string>

#include "artifact/unpack/unpack.hpp"
#include "base/digest/digest.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact::test {

/// A byte source over a string, in uneven pieces.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), bytes_.size() - used_, std::size_t{100'003}});
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + used_, count, into.data());
    used_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

inline UnpackOptions options_for(const TempDir& dir) {
  return {.into = dir / "out", .source = "/the/layout", .newest_mtime = {}, .sync = false};
}

inline Descriptor layer_of(const std::string& bytes, std::optional<std::uint64_t> announced = {}) {
  Descriptor layer{.media_type = "application/vnd.slipway.layer.v1.tar",
                   .digest = base::digest_of(bytes),
                   .size = bytes.size(),
                   .annotations = {{annotation::kLayerRole, "userspace"}}};
  if (announced) layer.annotations[annotation::kLayerSize] = std::to_string(*announced);
  return layer;
}

/// Unpacks into DIR/out, or as `options` say.
inline Result<Unpacked> unpack_bytes(const TempDir& dir, const std::string& bytes,
                                     std::optional<UnpackOptions> options = {},
                                     std::optional<std::uint64_t> announced = {}) {
  return unpack(std::make_unique<StringSource>(bytes), layer_of(bytes, announced), options.value_or(options_for(dir)),
                Reporter{});
}

}  // namespace slipway::artifact::test
