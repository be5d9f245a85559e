// SPDX-License-Identifier: Apache-2.0
#include "driver/build/supported_gpus_files.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

constexpr std::size_t kListDigits = 4;
constexpr std::string_view kVendorWord = "10DE";

std::optional<std::uint16_t> id_at(std::string_view text) {
  std::uint16_t id = 0;
  if (text.size() < kListDigits) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + kListDigits, id, 16);
  if (problem != std::errc{} || end != text.data() + kListDigits) return std::nullopt;
  return id;
}

bool has_feature(const Json& chip, std::string_view wanted) {
  const auto features = chip.find("features");
  if (features == chip.end() || !features->is_array()) return false;
  return std::ranges::any_of(*features, [&](const Json& feature) {
    return feature.is_string() && feature.get_ref<const std::string&>() == wanted;
  });
}

Error not_a_list(const std::string& file, std::string what) {
  return {ErrorCode::invalid,
          std::move(what),
          file,
          "use supported-gpus.json of NVIDIA's driver, from the folder supported-gpus of its .run file",
          {}};
}

/// Returns the branch of "470.xx"; empty: not one.
std::optional<unsigned> legacy_branch(const Json& chip) {
  const auto found = chip.find("legacybranch");
  if (found == chip.end() || !found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  unsigned branch = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), branch);
  return problem == std::errc{} && (end == text.data() + text.size() || *end == '.') ? std::optional(branch)
                                                                                     : std::nullopt;
}

}  // namespace

SupportedGpus gpus_of_readme(std::string_view text) {
  SupportedGpus list;
  for (const auto& line : lines_of(text)) {
    const auto cells = split(line, '|');
    if (!line.starts_with('|') || cells.size() < 3) continue;
    const std::string_view ids = trimmed(cells[2]);
    const bool is_row = ids.size() == kListDigits || (ids.size() > kListDigits && ids[kListDigits] == ' ');
    if (const auto id = is_row ? id_at(ids) : std::nullopt) list.open.supports.insert(*id);
  }
  return list;
}

SupportedGpus gpus_of_ids(std::string_view text) {
  SupportedGpus list;
  for (const auto& line : lines_of(text)) {
    const std::string_view word = trimmed(line);
    if (word.size() != kVendorWord.size() + kListDigits || !word.starts_with(kVendorWord)) continue;
    if (const auto id = id_at(word.substr(kVendorWord.size()))) list.open.supports.insert(*id);
  }
  return list;
}

Result<SupportedGpus> gpus_of_nvidia_json(const std::string& text, const std::string& file) {
  const Json whole = parse_foreign(text);
  const auto chips = whole.is_object() ? whole.find("chips") : whole.end();
  if (!whole.is_object() || chips == whole.end() || !chips->is_array() || chips->empty())
    return not_a_list(file, "the file has no list of chips");
  const bool says_required =
      std::ranges::any_of(*chips, [](const Json& chip) { return has_feature(chip, "gsp_proprietary_supported"); });
  SupportedGpus list;
  for (std::size_t i = 0; i < chips->size(); ++i) {
    const Json& chip = (*chips)[i];
    const auto devid = chip.is_object() ? chip.find("devid") : chip.end();
    std::optional<std::uint16_t> id;
    if (chip.is_object() && devid != chip.end() && devid->is_string()) {
      const auto& word = devid->get_ref<const std::string&>();
      if (word.size() == kListDigits + 2 && word.starts_with("0x")) id = id_at(std::string_view(word).substr(2));
    }
    if (!id) return not_a_list(file, fmt::format("chip {} of the list has no devid like 0x2330", i + 1));
    if (chip.contains("legacybranch")) {
      const auto branch = legacy_branch(chip);
      if (!branch) return not_a_list(file, fmt::format("chip {} of the list has a legacybranch unlike 470.xx", i + 1));
      list.last_branch.emplace(*id, *branch);
      continue;
    }
    const bool open = has_feature(chip, "kernelopen");
    (open ? list.open.supports : list.open.lacks).insert(*id);
    if (!open || has_feature(chip, "gsp_proprietary_supported"))
      list.proprietary.supports.insert(*id);
    else if (says_required)
      list.proprietary.lacks.insert(*id);
  }
  // Boards share an id: what one of them has, the chip can.
  for (ModulesSupport* of : {&list.open, &list.proprietary})
    std::erase_if(of->lacks, [&](std::uint16_t id) { return of->supports.contains(id); });
  std::erase_if(list.last_branch, [&](const auto& each) {
    return list.open.supports.contains(each.first) || list.proprietary.supports.contains(each.first);
  });
  return list;
}

}  // namespace slipway::driver
