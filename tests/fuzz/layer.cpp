// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/layer.cpp - a layer's bytes: compression, tar, names and links, unpacked below a scratch folder.
//
// Demands: success leaves only files, folders and links without setuid and setgid; failure leaves no folder; nothing
// appears beside it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "artifact/io/sha256.hpp"
#include "artifact/unpack/unpack.hpp"
#include "tests/fuzz/fuzz_check.hpp"

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

/// /dev/shm/slipway-fuzz-PID, removed at the end of the program.
class Scratch {
 public:
  Scratch() : folder_("/dev/shm/slipway-fuzz-" + std::to_string(::getpid())) { fs::create_directories(folder_); }
  ~Scratch() { fs::remove_all(folder_); }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

void check_tree(const fs::path& tree) {
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    struct stat info {};
    demand(::lstat(entry.path().c_str(), &info) == 0, "what is there can be looked at");
    demand(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode), "no devices or pipes");
    demand((info.st_mode & (S_ISUID | S_ISGID)) == 0, "no setuid or setgid");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  slipway::artifact::Descriptor layer;
  layer.size = size;
  layer.annotations[slipway::artifact::annotation::kLayerSize] = "1048576";  // keeps bombs small
  layer.digest = slipway::artifact::digest_of(bytes);
  slipway::artifact::UnpackOptions options;
  options.into = (scratch.folder() / "layer").string();
  options.source = "fuzz";
  options.max_entries = 2000;
  options.sync = false;
  const auto unpacked = slipway::artifact::unpack(std::make_unique<Bytes>(bytes), layer, options, {});
  slipway::fuzz::demand_presentable(unpacked);
  demand(fs::exists(options.into) == unpacked.ok(), "a layer is there whole or not at all");
  if (unpacked) check_tree(options.into);
  fs::remove_all(options.into);
  demand(fs::is_empty(scratch.folder()), "nothing appears beside the layer's folder");
  return 0;
}
