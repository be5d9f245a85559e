// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/entry_rules.hpp"

#include <sys/stat.h>

#include <slipway/text.hpp>

namespace slipway::artifact {
namespace {

constexpr std::size_t kMaxPart = 255;   // NAME_MAX
constexpr std::size_t kMaxPath = 4000;  // PATH_MAX, minus the length of the store's own path
constexpr std::ptrdiff_t kMaxDepth = 64;

/// Returns the names in a path.
std::vector<std::string_view> names_in(std::string_view path) {
  std::vector<std::string_view> names = split<std::string_view>(path, '/');
  std::erase_if(names, [](std::string_view name) { return name.empty() || name == "."; });
  return names;
}

}  // namespace

Error refuse(const std::string& why) { return Error{.code = ErrorCode::denied, .what = why}; }

Result<std::string> clean_entry_name(std::string_view name) {
  if (name.empty()) return refuse("its name is empty");
  if (name.starts_with('/')) return refuse("its name is an absolute path");
  if (name.size() > kMaxPath) return refuse("its name is longer than " + std::to_string(kMaxPath) + " bytes");
  const std::vector<std::string_view> parts = names_in(name);
  if (std::ssize(parts) > kMaxDepth) return refuse("it lies more than " + std::to_string(kMaxDepth) + " folders deep");
  for (const std::string_view part : parts) {
    if (part == "..") return refuse("its name has '..' in it");
    if (part.size() > kMaxPart) return refuse("a part of its name is longer than 255 bytes");
    if (part.starts_with(".wh."))
      return refuse("it is a whiteout, which deletes a file of another layer of a container image");
  }
  return joined(parts, "/");
}

Result<std::vector<std::string>> check_link_target(std::string_view link, std::string_view target) {
  if (target.empty()) return refuse("the link leads nowhere");
  if (target.starts_with('/')) return refuse("the link is absolute (to " + printable(target) + ")");
  if (target.size() > kMaxPath)
    return refuse("the link's target is longer than " + std::to_string(kMaxPath) + " bytes");
  std::vector<std::string_view> at = names_in(link);
  at.pop_back();
  std::vector<std::string> must_be_folders;
  bool below_a_name = false;
  for (const std::string_view part : names_in(target)) {
    if (part != "..") {
      at.push_back(part);
      below_a_name = true;
      continue;
    }
    if (below_a_name) must_be_folders.push_back(joined(at, "/"));
    if (at.empty()) return refuse("the link leads out of the layer (to " + printable(target) + ")");
    at.pop_back();
  }
  return must_be_folders;
}

std::uint32_t file_mode(std::uint32_t mode) { return (mode & 0755U) | 0400U; }
std::uint32_t directory_mode(std::uint32_t mode) { return (mode & 0755U) | 0700U; }

Status check_mode(std::uint32_t mode) {
  if ((mode & S_ISUID) != 0) return refuse("it is setuid");
  if ((mode & S_ISGID) != 0) return refuse("it is setgid");
  return {};
}

std::string printable(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  std::string text;
  for (const char letter : name.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(letter);
    if (code >= 0x20 && code != 0x7f && letter != '\\') {
      text += letter;
    } else {
      text += "\\x";
      text += "0123456789abcdef"[code >> 4];
      text += "0123456789abcdef"[code & 15];
    }
  }
  return name.size() > kLongest ? text + "…" : text;
}

}  // namespace slipway::artifact
