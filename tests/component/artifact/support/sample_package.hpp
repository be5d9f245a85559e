// SPDX-License-Identifier: Apache-2.0
// tests/component/artifact/support/sample_package.hpp - a package of two kernels under one index tag, in a layout.
#pragma once

#include <string>

#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact::test {

/// Returns bytes that do not compress, always the same ones.
inline std::string noise(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  for (char& letter : bytes) letter = static_cast<char>((seed = seed * 1103515245 + 12345) >> 16);
  return bytes;
}

struct SamplePackage {
  TempDir dir;
  LayoutMaker layout{dir / "layout"};
  Json user = layout.layer(
      compress(tar_of({{.name = "usr/lib/libcuda.so", .content = noise(300'000, 1)}}), Compression::zstd), "userspace");
  Json modules_50 = layout.layer(tar_of({{.name = "nvidia.ko", .content = "for 50"}}), "modules");
  Json modules_53 = layout.layer(tar_of({{.name = "nvidia.ko", .content = "for 53"}}), "modules");
  Json for_50 = layout.manifest({user, modules_50}, {{"dev.slipway.kernel.release", "6.1.0-50-amd64"}});
  Json for_53 = layout.manifest({user, modules_53}, {{"dev.slipway.kernel.release", "6.1.0-53-amd64"}});
  Json index = layout.index({annotated(for_50, {{"dev.slipway.driver.flavour", "open"}}), for_53});

  SamplePackage() {
    layout.list(index, "535.261.03-debian12");
    layout.list(for_50, "535.261.03-6.1.0-50-amd64-debian12-open");
  }
  std::string cache() const { return dir / "cache"; }
  std::string cached(const Json& descriptor) const {
    return cache() + "/blobs/sha256/" + descriptor["digest"].get<std::string>().substr(7);
  }
  Descriptor descriptor(const Json& json) const { return *descriptor_from_json(json, "sample"); }
};

}  // namespace slipway::artifact::test
