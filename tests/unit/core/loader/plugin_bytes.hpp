// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/loader/plugin_bytes.hpp - real plugin files as bytes, to be changed and written elsewhere.
#pragma once

#include <string>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// A temporary folder (0755), removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The bytes of one of the plugins that the build made ("test-alpha").
std::string plugin_bytes(const std::string& name);
/// Writes a file with mode 0755 and returns its path.
std::string write_file(const std::string& path, const std::string& bytes);
/// A file in memory that holds the bytes.
Fd memory_file(const std::string& bytes);
/// The place of the note's description ("SLPW…") in a plugin's bytes.
std::size_t note_offset(const std::string& bytes);

}  // namespace slipway::core
