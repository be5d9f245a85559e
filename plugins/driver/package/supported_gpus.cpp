// SPDX-License-Identifier: Apache-2.0
#include "driver/package/supported_gpus.hpp"

#include <charconv>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

using Ids = std::set<std::uint16_t>;

constexpr std::size_t kDeviceDigits = 4;

std::string text_of(const Ids& ids) {
  std::string text;
  for (auto id = ids.begin(); id != ids.end();) {
    const unsigned first = *id;
    unsigned last = first;
    while (++id != ids.end() && *id == last + 1) ++last;
    if (!text.empty()) text += ' ';
    text += first == last ? fmt::format("{:04x}", first) : fmt::format("{:04x}-{:04x}", first, last);
  }
  return text;
}

Error unreadable_list() {
  return {ErrorCode::corrupt, "the driver package's list of supported devices cannot be read", {}, {}, {}};
}

bool read_id(std::string_view text, std::uint16_t& id) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return text.size() == kDeviceDigits && problem == std::errc{} && end == text.data() + text.size();
}

Result<Ids> ids_from(const Json& object, const char* member) {
  Ids ids;
  const auto found = object.find(member);
  if (found == object.end()) return ids;
  if (!found->is_string()) return unreadable_list();
  for (const auto& word : split(found->get<std::string>(), ' ')) {
    if (word.empty()) continue;
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    const std::size_t dash = std::min(word.find('-'), word.size());
    const std::string_view text = word;
    if (!read_id(text.substr(0, dash), first)) return unreadable_list();
    last = first;
    if (dash < word.size() && !read_id(text.substr(dash + 1), last)) return unreadable_list();
    for (unsigned id = first; id <= last; ++id) ids.insert(static_cast<std::uint16_t>(id));
  }
  return ids;
}

Json to_json(const ModulesSupport& of) {
  Json value = Json::object();
  if (!of.supports.empty()) value["supports"] = text_of(of.supports);
  if (!of.lacks.empty()) value["lacks"] = text_of(of.lacks);
  return value;
}

Result<ModulesSupport> modules_support_from(const Json& object, const char* member) {
  const Json value = object.value(member, Json::object());
  if (!value.is_object()) return unreadable_list();
  SLIPWAY_TRY(supports, ids_from(value, "supports"));
  SLIPWAY_TRY(lacks, ids_from(value, "lacks"));
  return ModulesSupport{supports, lacks};
}

}  // namespace

void SupportedGpus::add(const SupportedGpus& other) {
  for (const auto& [to, from] : {std::pair{&open, &other.open}, std::pair{&proprietary, &other.proprietary}}) {
    to->supports.insert(from->supports.begin(), from->supports.end());
    to->lacks.insert(from->lacks.begin(), from->lacks.end());
  }
  last_branch.insert(other.last_branch.begin(), other.last_branch.end());
}

nvidia::Gpu SupportedGpus::judged(nvidia::Gpu gpu, unsigned branch) const {
  if (!gpu.device) return gpu;
  const std::uint16_t id = *gpu.device;
  nvidia::ArchitectureSupport& support = gpu.support;
  if (const auto legacy = last_branch.find(id); legacy != last_branch.end() && legacy->second < branch) {
    support = {.last_branch = legacy->second};
    return gpu;
  }
  const bool no_open = open.lacks.contains(id);
  const bool no_proprietary = proprietary.lacks.contains(id);
  const bool in_open = open.supports.contains(id);
  const bool in_proprietary = proprietary.supports.contains(id);
  if (!no_open && !no_proprietary && !in_open && !in_proprietary) return gpu;
  // Without a word of the list or the table about the open modules: newer GPUs are likely to need them.
  if (in_open || (!support.known && !no_open)) support.first_open_branch = branch;
  if (no_open) support.first_open_branch = 0;
  if (in_proprietary || no_open) support.requires_open = false;
  if (no_proprietary) support.requires_open = true;
  support.first_branch = 0;
  support.last_branch = no_open && no_proprietary ? branch - 1 : 0;
  support.known = true;
  return gpu;
}

Json to_json(const SupportedGpus& list) {
  Json value = Json::object();
  if (Json open = to_json(list.open); !open.empty()) value["open"] = std::move(open);
  if (Json proprietary = to_json(list.proprietary); !proprietary.empty()) value["proprietary"] = std::move(proprietary);
  std::map<unsigned, Ids> legacy;
  for (const auto& [id, branch] : list.last_branch) legacy[branch].insert(id);
  for (const auto& [branch, ids] : legacy) value["legacy"][std::to_string(branch)] = text_of(ids);
  return value;
}

Result<SupportedGpus> supported_gpus_from_json(const Json& value) {
  if (!value.is_object()) return unreadable_list();
  SupportedGpus list;
  SLIPWAY_TRY(open, modules_support_from(value, "open"));
  SLIPWAY_TRY(proprietary, modules_support_from(value, "proprietary"));
  list.open = open;
  list.proprietary = proprietary;
  const Json legacy = value.value("legacy", Json::object());
  if (!legacy.is_object()) return unreadable_list();
  for (const auto& [name, text] : legacy.items()) {
    unsigned branch = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), branch);
    if (problem != std::errc{} || end != name.data() + name.size()) return unreadable_list();
    SLIPWAY_TRY(ids, ids_from(legacy, name.c_str()));
    for (const auto id : ids) list.last_branch.emplace(id, branch);
  }
  return list;
}

}  // namespace slipway::driver
