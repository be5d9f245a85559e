// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/layer.cpp - a layer's bytes: compression, tar, names and links, unpacked below a scratch folder.
//
// Demands: success leaves only files, folders and links without setuid and setgid; failure leaves no folder; nothing
// appears beside it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "artifact/unpack/unpack.hpp"
#include "base/digest/digest.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

namespace fs = std::filesystem;
using slipway::fuzz::demand;

class Bytes final : public slipway::artifact::ByteSource {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  slipway::Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min(into.size(), left_.size());
    std::memcpy(into.data(), left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const slipway::fuzz::Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  slipway::artifact::Descriptor layer;
  layer.size = size;
  layer.annotations[slipway::artifact::annotation::kLayerSize] = "1048576";  // keeps bombs small
  layer.digest = slipway::base::digest_of(bytes);
  slipway::artifact::UnpackOptions options;
  options.into = (scratch.folder() / "layer").string();
  options.source = "fuzz";
  options.max_entries = 2000;
  options.sync = false;
  const auto unpacked = slipway::artifact::unpack(std::make_unique<Bytes>(bytes), layer, options, {});
  slipway::fuzz::demand_presentable(unpacked);
  demand(fs::exists(options.into) == unpacked.ok(), "a layer is there whole or not at all");
  if (unpacked) slipway::fuzz::demand_plain(options.into);
  fs::remove_all(options.into);
  demand(fs::is_empty(scratch.folder()), "nothing appears beside the layer's folder");
  return 0;
}
