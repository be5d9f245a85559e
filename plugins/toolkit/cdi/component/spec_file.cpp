// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/write/new_file.hpp"
#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/tools.hpp"

namespace slipway::toolkit {
std::string spec_text(const nvidia::cdi::Spec& spec, bool json) {
  return json ? nvidia::cdi::to_json_text(spec) : nvidia::cdi::to_yaml(spec);
}

Status write_spec(const std::string& path, const nvidia::cdi::Spec& spec, bool json) {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  return base::put_file(path, spec_text(spec, json));
}

Result<bool> is_json(const std::string& format, const std::string& path) {
  const std::string chosen = !format.empty() ? format : path.ends_with(".json") ? "json" : "yaml";
  if (chosen == "json" || chosen == "yaml") return chosen == "json";
  return Error{
      ErrorCode::usage, "--format takes yaml or json, not '" + format + "'", "command line", "name one of the two", {}};
}

}  // namespace slipway::toolkit
