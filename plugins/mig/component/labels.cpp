// SPDX-License-Identifier: Apache-2.0
#include "mig/component/labels.hpp"

#include <algorithm>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/write/new_file.hpp"

namespace slipway::mig {
namespace {

constexpr std::string_view kConfigLabel = "nvidia.com/mig.config";
constexpr std::string_view kStateLabel = "nvidia.com/mig.config.state";
/// Limit of a label's value in Kubernetes.
constexpr std::size_t kLongestValue = 63;
constexpr std::size_t kLongestStateFile = 4096;

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_label_value(std::string_view text) {
  if (text.empty() || text.size() > kLongestValue) return false;
  if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

/// True for a label with other separators or capitals: it would be ignored as missing.
bool is_misspelt(std::string_view label) {
  std::string plain(label);
  for (char& c : plain) c = c == '-' || c == '_' ? '.' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return plain == kConfigLabel && label != kConfigLabel;
}

std::string_view without_quotes(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

Error wrong(const std::string& what, const std::string& file, std::size_t line) {
  return Error{.code = ErrorCode::invalid,
               .what = what,
               .where = file + ":" + std::to_string(line),
               .next = "write one label in a line: nvidia.com/mig.config=all-balanced"};
}

std::string state_text(const std::string& state) { return std::string(kStateLabel) + "=" + state + "\n"; }

}  // namespace

Result<std::optional<std::string>> config_of_labels(std::string_view text, const std::string& file) {
  std::optional<std::string> config;
  bool is_there = false;
  std::size_t number = 0;
  for (const std::string_view raw : split<std::string_view>(text, '\n')) {
    ++number;
    const std::string_view line = raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return wrong("this line is not a label", file, number);
    const std::string_view label = line.substr(0, equals);
    if (is_misspelt(label))
      return wrong("'" + std::string(label) + "' is not the label that names the config, nvidia.com/mig.config", file,
                   number);
    if (label != kConfigLabel) continue;
    if (is_there) return wrong("the label nvidia.com/mig.config appears twice", file, number);
    is_there = true;
    const std::string_view value = without_quotes(line.substr(equals + 1));
    if (value.empty()) continue;
    if (!is_label_value(value))
      return wrong("the value of nvidia.com/mig.config is not a valid label value", file, number);
    config = std::string(value);
  }
  return config;
}

std::string state_after(const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::waiting) return state::kPending;
  return outcome.kind == Outcome::Kind::reboot_required ? state::kRebooting : state::kSuccess;
}

bool has_state(const Host& host, const std::string& file, const std::string& state) {
  const auto text = host.read(file, kLongestStateFile);
  return text && *text == state_text(state);
}

Status check_state_file(const Host& host, const std::string& file) {
  SLIPWAY_CHECK(check_only_ours(host, file));  // a link of another user would redirect the write
  const auto info = host.info(file);
  if (info && info->type == FileInfo::Type::directory)
    return Error{.code = ErrorCode::invalid,
                 .what = file + " is a folder, but the state is written to a file",
                 .where = "spec.components.mig.state_file",
                 .next = "name a file in it, such as " + file + "/mig-state"};
  if (!info || info->type != FileInfo::Type::regular)
    return {};  // other obstacles are reported when the file is
                // created
  const auto text = host.read(file, kLongestStateFile);
  if (text && (text->empty() || text->starts_with(std::string(kStateLabel) + "="))) return {};
  return Error{.code = ErrorCode::conflict,
               .what = file + " contains something other than the state of the MIG layouts, which would be overwritten",
               .where = "spec.components.mig.state_file",
               .next = "name a file that does not exist yet"};
}

Status write_state(const Host& host, const std::string& file, const std::string& state) {
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));  // links that other users created there cannot lead elsewhere
  SLIPWAY_CHECK(check_only_ours(root, file));
  return base::replace_file(root, file, state_text(state));
}

}  // namespace slipway::mig
