// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/test_deb.hpp - makes small Debian packages, valid and invalid ones.
#pragma once

#include <string>
#include <vector>

namespace slipway::driver::testing {

struct DebEntry {
  std::string path;      ///< as written in the archive: "./usr/bin/x"
  std::string content;   ///< of a file
  std::string link;      ///< symlink target; makes it a symlink
  std::string hardlink;  ///< makes it a hard link
  unsigned mode = 0644;
  bool device = false;
};

struct TestDeb {
  std::string package;
  std::string version = "535.261.03-1";
  std::string architecture = "amd64";
  std::string depends = {};
  std::vector<DebEntry> entries = {};
  std::string fields = {};             ///< further lines of the control file
  std::vector<DebEntry> scripts = {};  ///< before the control file

  /// Writes FOLDER/PACKAGE_VERSION_ARCH.deb; data.tar is packed with `filter` ("xz", "zstd", "gzip").
  std::string write(const std::string& folder, const std::string& filter = "xz") const;
};

/// The set of packages of a driver with a few small files: user space, firmware, source with a Makefile.
std::vector<TestDeb> driver_debs(const std::string& version = "535.261.03-1",
                                 const std::string& architecture = "amd64");
/// Headers of a kernel: headers, common, kbuild, compiler.
std::vector<TestDeb> header_debs(const std::string& release, const std::string& version);

}  // namespace slipway::driver::testing
