// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/spec_file.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "nvidia/cdi/text.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

std::string spec_text(const nvidia::cdi::Spec& spec, bool json) {
  return json ? nvidia::cdi::to_json_text(spec) : nvidia::cdi::to_yaml(spec);
}

Status write_spec(const std::string& path, const nvidia::cdi::Spec& spec, bool json) {
  std::error_code problem;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, problem);
  std::string temporary = path + ".XXXXXX";
  const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return system_error("write", path, errno);
  Status written = write_all(file.get(), spec_text(spec, json), path);
  if (written && ::fchmod(file.get(), 0644) != 0) written = system_error("set the mode of", path, errno);
  if (written && ::fsync(file.get()) != 0) written = system_error("write", path, errno);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = system_error("write", path, errno);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<bool> is_json(const std::string& format, const std::string& path) {
  const std::string chosen = !format.empty() ? format : path.ends_with(".json") ? "json" : "yaml";
  if (chosen == "json" || chosen == "yaml") return chosen == "json";
  return Error{ErrorCode::usage, "--format takes yaml or json, not '" + format + "'", "command line", {}, {}};
}

}  // namespace slipway::toolkit
