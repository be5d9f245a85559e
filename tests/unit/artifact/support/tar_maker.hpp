// SPDX-License-Identifier: Apache-2.0
// tests/unit/artifact/support/tar_maker.hpp - writes tar headers by hand, valid ones and ones that no tool would write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "artifact/unpack/decoder.hpp"

namespace slipway::artifact::test {

/// One ustar header. `type` is the type flag: '0' file, '1' hard link, '2' symlink, '3'/'4' devices, '5' folder, '6'
/// FIFO.
struct TarHeader {
  std::string name;
  char type = '0';
  std::string content = {};
  std::string link = {};
  unsigned mode = 0644;
  std::uint64_t mtime = 1'600'000'000;
  std::map<std::string, std::string> pax = {};  ///< written as a pax header before it
};

/// Returns the archive, ended by two zero blocks unless `ended` is false.
std::string tar_of(const std::vector<TarHeader>& entries, bool ended = true);

std::string compress(const std::string& bytes, Compression compression);

}  // namespace slipway::artifact::test
