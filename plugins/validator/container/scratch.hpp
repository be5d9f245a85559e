// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/scratch.hpp - the folder of one check, which becomes its container's root. It is made
// before anything is asked of an engine and removed after all of it, so that a folder that is left of a process that
// was killed tells the next one what else may be left.
#pragma once

#include <string>
#include <vector>

#include <slipway/fd.hpp>
#include <slipway/host.hpp>

namespace slipway::validator {

/// Of a check with that number: not in /run, from where many machines let nothing start.
std::string scratch_folder(const std::string& number);

class Scratch {
 public:
  Scratch(const Host& host, std::string folder) : host_(host), folder_(std::move(folder)) {}
  /// Not past other file systems: nothing that is mounted there by mistake is to be emptied.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Makes the folder and `root` in it, with the program as /probe. The folder is in use as long as this object is.
  Status fill(const std::string& root, const std::string& probe);

 private:
  const Host& host_;
  std::string folder_;
  Fd lock_;
};

/// The numbers of checks whose folders nobody uses.
std::vector<std::string> abandoned_checks(const Host& host);

}  // namespace slipway::validator
