// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpu_table_file.cpp - reads a file that renews the table of GPUs, key by key.
#include <algorithm>
#include <charconv>

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "nvidia/config/node.hpp"
#include "nvidia/config/strict_keys.hpp"
#include "nvidia/gpu_rows.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::nvidia {
namespace {

using config::Node;
template <class Target>
using Key = config::StrictKey<Target>;

constexpr unsigned kMostBranch = 9999;
constexpr std::size_t kIdDigits = 4;

Status take_branch(const Node& node, std::optional<unsigned>& branch) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  if (!node.is_scalar() || problem != std::errc{} || end != node.text.data() + node.text.size() || value > kMostBranch)
    return node.wrong("'" + node.text + "' is not a driver branch", "write its number, like 580");
  branch = value;
  return {};
}

Status take_flag(const Node& node, std::optional<bool>& flag) {
  SLIPWAY_TRY(value, node.boolean());
  flag = value;
  return {};
}

Status take_word(const Node& node, std::string& text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  if (!node.is_scalar() || node.text.empty() || node.text.size() > 64 || !std::ranges::all_of(node.text, is_word))
    return node.wrong("'" + node.text + "' is not a name", "write letters, digits, dots and dashes");
  text = node.text;
  return {};
}

Result<std::uint16_t> id_from(std::string_view text, const Node& at) {
  std::uint16_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != kIdDigits || problem != std::errc{} || end != text.data() + text.size())
    return at.wrong("'" + std::string(text) + "' is not a PCI device id", "write four hexadecimal digits, like 2330");
  return value;
}

struct SupportKeys {
  std::optional<unsigned> first_branch, last_branch, first_open_branch;
  std::optional<bool> requires_open;
};

const std::vector<Key<SupportKeys>>& support_keys() {
  static const std::vector<Key<SupportKeys>> keys{
      {"first_branch", [](const Node& n, SupportKeys& k) { return take_branch(n, k.first_branch); }},
      {"last_branch", [](const Node& n, SupportKeys& k) { return take_branch(n, k.last_branch); }},
      {"first_open_branch", [](const Node& n, SupportKeys& k) { return take_branch(n, k.first_open_branch); }},
      {"requires_open", [](const Node& n, SupportKeys& k) { return take_flag(n, k.requires_open); }}};
  return keys;
}

Status check_version(const Node& node) {
  if (node.text == "v1") return {};
  return node.wrong("unknown version '" + node.text + "' of the table of GPUs", "version: v1 is the only one");
}

struct Lists {
  const Node* architectures = nullptr;
  const Node* chips = nullptr;
  const Node* boards = nullptr;
};

Status check_map(const Node& node, const char* name) {
  if (node.is_map()) return {};
  return node.wrong(std::string(name) + " has to be a map", "write its rows as KEY: {…}");
}

}  // namespace

std::vector<std::string> GpuTable::architectures(const Part& and_of) const {
  std::vector<std::string> names;
  for (const auto& [name, support] : and_of.architectures) names.push_back(name);
  for (const Part& part : parts_)
    for (const auto& [name, support] : part.architectures) names.push_back(name);
  return names;
}

Status GpuTable::take_architectures(const Node& list, Part& part) const {
  SLIPWAY_CHECK(check_map(list, "architectures"));
  for (std::size_t i = 0; i < list.keys.size(); ++i) {
    const Node& row = list.items[i];
    const std::string& name = list.keys[i];
    if (name.empty() || name == to_string(Architecture::unknown) || name.find_first_of(" _/:") != std::string::npos)
      return row.wrong_key("'" + name + "' cannot be the name of an architecture", "write one word, like blackwell");
    SupportKeys keys;
    SLIPWAY_CHECK(config::take_strictly(row, "architectures." + name, support_keys(), keys));
    part.architectures[name] = {.first_branch = keys.first_branch.value_or(0),
                                .last_branch = keys.last_branch.value_or(0),
                                .first_open_branch = keys.first_open_branch.value_or(0),
                                .requires_open = keys.requires_open.value_or(false)};
  }
  return {};
}

Result<GpuTable::Chip> GpuTable::chip_from(const std::string& ids, const Node& row) {
  struct Row {
    SupportKeys support;
    Chip chip;
  };
  std::vector<Key<Row>> keys{{"architecture", [](const Node& n, Row& r) { return take_word(n, r.chip.architecture); }},
                             {"compute", [](const Node& n, Row& r) { return take_word(n, r.chip.compute); }}};
  for (const auto& key : support_keys())
    keys.push_back({key.name, [&key](const Node& n, Row& r) { return key.take(n, r.support); }});
  Row taken;
  SLIPWAY_CHECK(config::take_strictly(row, "chips." + ids, keys, taken));
  const std::string_view text = ids;
  const std::size_t dash = std::min(text.find('-'), text.size());
  SLIPWAY_TRY(first, id_from(text.substr(0, dash), row));
  SLIPWAY_TRY(last, id_from(dash < text.size() ? text.substr(dash + 1) : text, row));
  if (last < first) return row.wrong_key("the range " + ids + " ends before it begins", "write the smaller id first");
  taken.chip.first = first;
  taken.chip.last = last;
  taken.chip.first_branch = taken.support.first_branch;
  taken.chip.last_branch = taken.support.last_branch;
  taken.chip.first_open_branch = taken.support.first_open_branch;
  taken.chip.requires_open = taken.support.requires_open;
  return taken.chip;
}

Status GpuTable::take_chips(const Node& list, Part& part) const {
  SLIPWAY_CHECK(check_map(list, "chips"));
  const auto known = architectures(part);
  for (std::size_t i = 0; i < list.keys.size(); ++i) {
    SLIPWAY_TRY(chip, chip_from(list.keys[i], list.items[i]));
    const Node& row = list.items[i];
    if (chip.architecture.empty())
      return row.wrong("the chip " + list.keys[i] + " has no architecture", "write {architecture: blackwell}");
    if (std::ranges::find(known, chip.architecture) == known.end())
      return row.at("architecture")
          .wrong("unknown architecture '" + chip.architecture + "'",
                 suggestion(chip.architecture, known, "add it under architectures: of the file"));
    part.chips.push_back(std::move(chip));
  }
  return {};
}

Status GpuTable::take_boards(const Node& list, Part& part) {
  SLIPWAY_CHECK(check_map(list, "boards"));
  for (std::size_t i = 0; i < list.keys.size(); ++i) {
    const Node& row = list.items[i];
    Board board;
    Node name;
    name.kind = Node::Kind::scalar;
    name.where = row.key_where;
    name.text = list.keys[i];
    SLIPWAY_CHECK(take_word(name, board.name));
    SLIPWAY_TRY(ids, row.strings());
    if (ids.empty()) return row.wrong("the board " + board.name + " has no id", "write its PCI device ids: [\"2330\"]");
    for (const std::string& id : ids) {
      SLIPWAY_TRY(device, id_from(id, row));
      board.device = device;
      part.boards.push_back(board);
    }
  }
  // Of a family's boards the first by id stands for it.
  std::ranges::stable_sort(part.boards, {}, &Board::device);
  return {};
}

Result<GpuTable::Part> GpuTable::part_from(const Node& root) const {
  const std::vector<Key<Lists>> keys{
      {"version", [](const Node& n, Lists&) { return check_version(n); }},
      {"architectures", [](const Node& n, Lists& l) { return l.architectures = &n, Status(); }},
      {"chips", [](const Node& n, Lists& l) { return l.chips = &n, Status(); }},
      {"boards", [](const Node& n, Lists& l) { return l.boards = &n, Status(); }}};
  Lists lists;
  SLIPWAY_CHECK(config::take_strictly(root, "", keys, lists));
  if (root.at("version").is_null()) return root.wrong("the file has no version", "begin it with the line version: v1");
  Part part;
  if (lists.architectures != nullptr) SLIPWAY_CHECK(take_architectures(*lists.architectures, part));
  if (lists.chips != nullptr) SLIPWAY_CHECK(take_chips(*lists.chips, part));
  if (lists.boards != nullptr) SLIPWAY_CHECK(take_boards(*lists.boards, part));
  return part;
}

Status GpuTable::add(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(root, config::node_from_yaml(text, file));
  SLIPWAY_TRY(part, part_from(root));
  if (part == parts_.back()) return {};  // the installed copy of what is compiled in
  parts_.insert(parts_.begin(), std::move(part));
  if (renewals_.is_null()) renewals_ = Json::array();
  renewals_.push_back(to_json(root));
  return {};
}

GpuTable GpuTable::renewed_by(const Json& renewals) {
  GpuTable table = built_in();
  for (const Json& file : renewals.is_array() ? renewals : Json::array())
    if (auto part = table.part_from(config::node_from_json(file, "gpus.yaml")))  // of() has accepted it
      table.parts_.insert(table.parts_.begin(), std::move(*part));
  table.renewals_ = renewals;
  return table;
}

Result<GpuTable> GpuTable::of(const Host& host) {
  GpuTable table = built_in();
  for (const char* file : kFiles) {
    const auto text = read_trusted(host, file);
    if (!text && text.error().code == ErrorCode::not_found) continue;
    if (!text) {
      Error error = text.error();
      error.what = "the table of GPUs cannot be read: " + error.what;
      return error;
    }
    SLIPWAY_CHECK(table.add(*text, file));
  }
  return table;
}

}  // namespace slipway::nvidia
