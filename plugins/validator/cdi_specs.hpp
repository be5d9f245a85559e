// SPDX-License-Identifier: Apache-2.0
// plugins/validator/cdi_specs.hpp - the CDI specs of NVIDIA's devices on this host, and their faults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::validator {

struct CdiSpec {
  std::string file;
  std::string kind;                     ///< "nvidia.com/gpu"; empty when the text is not a spec
  std::vector<std::string> devices;     ///< their names: "0", "GPU-…", "all"
  std::vector<std::string> host_paths;  ///< device nodes and mounts that must exist
  std::vector<std::string> hook_programs;
  std::string problem;  ///< "FILE:LINE:COLUMN: why engines reject it"; empty: valid
};

/// Parses a spec's text, JSON or YAML, by the engines' rules (nvidia/cdi).
CdiSpec parse_cdi_spec(const std::string& file, const std::string& text);

class CdiSpecs {
 public:
  explicit CdiSpecs(const Host& host) : host_(host) {}
  /// Reads the folders /etc/cdi and /run/cdi like engines; parses a file again only when its content has changed.
  const std::vector<CdiSpec>& read();
  /// Returns the result of the last read().
  const std::vector<CdiSpec>& last() const { return specs_; }
  /// Returns paths that a spec names and that are missing, at most a few.
  std::vector<std::string> missing(const CdiSpec& spec) const;

 private:
  const Host& host_;
  std::map<std::string, std::pair<std::string, CdiSpec>> parsed_;  ///< by file: text and parsed spec
  std::vector<CdiSpec> specs_;
};

}  // namespace slipway::validator
