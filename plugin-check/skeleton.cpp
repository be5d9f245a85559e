// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/skeleton.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 40;

bool is_component_name(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) && name.back() != '-' &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

/// "acme-limits" -> "AcmeLimits"
std::string class_name(const std::string& name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c != '-') result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '-';
  }
  return result;
}

std::string filled_in(std::string_view text, const std::map<std::string_view, std::string>& words) {
  std::string result;
  while (!text.empty()) {
    const std::size_t at = text.find('@');
    const std::size_t end = at == std::string_view::npos ? at : text.find('@', at + 1);
    if (end == std::string_view::npos) break;
    const auto word = words.find(text.substr(at + 1, end - at - 1));
    result += text.substr(0, at);
    if (word != words.end()) {
      result += word->second;
      text.remove_prefix(end + 1);
    } else {
      result += '@';
      text.remove_prefix(at + 1);
    }
  }
  return result.append(text);
}

Status write_file(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return system_error("make", path, errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", path, errno);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Status write_all(const std::string& folder, const std::string& name) {
  const std::map<std::string_view, std::string> words{{"name", name}, {"Class", class_name(name)}};
  for (const SkeletonFile& file : skeleton_files())
    SLIPWAY_CHECK(write_file(folder + "/" + std::string(file.name), filled_in(file.text, words)));
  return {};
}

}  // namespace

Result<std::vector<std::string>> write_skeleton(const std::string& name, const std::string& folder) {
  if (!is_component_name(name))
    return Error{ErrorCode::usage,
                 "'" + name + "' is not a name for a component",
                 "command line",
                 "use lower-case letters, digits and '-', a letter first, at most " + std::to_string(kLongestName),
                 {}};
  std::error_code code;
  if (fs::exists(fs::symlink_status(folder, code)))
    return Error{
        ErrorCode::conflict, folder + " already exists", folder, "name another place with --to, or move it away", {}};
  // Written under another name and renamed, so that a partial plugin is never visible.
  std::string made = folder + ".XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) return system_error("make", folder, errno);
  Status written = write_all(made, name);
  if (written && ::chmod(made.c_str(), 0755) != 0) written = system_error("change the mode of", made, errno);
  if (written && ::rename(made.c_str(), folder.c_str()) != 0) written = system_error("make", folder, errno);
  if (!written) {
    fs::remove_all(made, code);
    return std::move(written).error();
  }
  std::vector<std::string> names;
  for (const SkeletonFile& file : skeleton_files()) names.emplace_back(file.name);
  return names;
}

}  // namespace slipway::plugin_check
