// SPDX-License-Identifier: Apache-2.0
#include "cli/front/reference.hpp"

#include <fcntl.h>

#include <slipway/regular_file.hpp>

#ifndef SLIPWAY_VERSION
#error "the build names the version"
#endif

namespace slipway::cli {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;

/// Returns the file of the text that a command line asks for; empty for any other command line.
std::string file_name(const std::vector<std::string>& words) {
  if (words.size() == 1 && (words[0] == "help" || words[0] == "--help" || words[0] == "-h")) return "help";
  if (words.size() != 2 || words[0] != "completion") return {};
  for (const char* name : {"bash", "zsh", "fish", "man"})
    if (words[1] == name) return name;
  return {};
}

std::optional<std::string> content_of(const std::string& path) {
  std::string text = read_regular(path, kLongest, O_NOFOLLOW).value_or("");
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::optional<std::string> reference_text(const std::vector<std::string>& words, const std::string& prefix) {
  if (words.size() == 1 && (words[0] == "version" || words[0] == "--version")) return "slipway " SLIPWAY_VERSION "\n";
  const std::string name = file_name(words);
  return name.empty() ? std::nullopt : content_of(prefix + "/share/slipway/reference/" + name);
}

}  // namespace slipway::cli
