// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/loader/plugin_bytes.hpp - real plugin files as bytes, to be changed and written elsewhere.
#pragma once

#include <string>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// A temporary folder (0755), removed with its contents.
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

/// Returns the bytes of one of the built plugins ("test-alpha").
std::string plugin_bytes(const std::string& name);
/// Writes a file with mode 0755 and returns its path.
std::string write_file(const std::string& path, const std::string& bytes);
/// Returns an in-memory file with these bytes.
Fd memory_file(const std::string& bytes);
/// Returns the offset of the note's description ("SLPW…") in a plugin's bytes.
std::size_t note_offset(const std::string& bytes);

}  // namespace slipway::core
