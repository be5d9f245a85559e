// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpus/gpu_table.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/gpu_rows.hpp"

namespace slipway::nvidia {
namespace {

std::string normalised(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '_' || c == ' ') continue;
    out += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (out.starts_with("nvidia")) out.erase(0, 6);
  if (out.starts_with("tesla")) out.erase(0, 5);
  return out;
}

// Reads "10de:2330" or "0x2330", and also "2330" if no prefix is required.
std::optional<std::uint16_t> parse_device_id(std::string_view text, bool with_prefix) {
  bool prefixed = false;
  for (const std::string_view prefix : {"10de:", "10DE:", "0x", "0X"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    prefixed = true;
  }
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 4 || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (prefixed != with_prefix) return std::nullopt;
  return value;
}

}  // namespace

const GpuTable& GpuTable::built_in() {
  static const GpuTable table = [] {
    GpuTable made;
    Part part;
    for (const ArchitectureRow& row : kArchitectureRows) part.architectures.emplace(row.name, row.support);
    for (const ChipRow& row : kChipRows) {
      Chip& chip = part.chips.emplace_back(
          Chip{row.first, row.last, std::string(row.architecture), std::string(row.compute), {}, {}, {}, {}});
      if (row.requires_open) chip.requires_open = true;
    }
    for (const BoardRow& row : kBoardRows) part.boards.push_back({row.device, std::string(row.name)});
    std::ranges::stable_sort(part.boards, {}, &Board::device);
    made.parts_.push_back(std::move(part));
    return made;
  }();
  return table;
}

const GpuTable::Chip* GpuTable::chip_of(std::uint16_t device) const {
  for (const Part& part : parts_) {
    const Chip* smallest = nullptr;
    for (const Chip& chip : part.chips)
      if (chip.first <= device && device <= chip.last &&
          (smallest == nullptr || chip.last - chip.first < smallest->last - smallest->first))
        smallest = &chip;
    if (smallest != nullptr) return smallest;
  }
  return nullptr;
}

ArchitectureSupport GpuTable::support_of(const std::string& architecture) const {
  for (const Part& part : parts_)
    if (const auto found = part.architectures.find(architecture); found != part.architectures.end())
      return found->second;
  return {.known = false};
}

Gpu GpuTable::of_id(std::uint16_t device) const {
  Gpu gpu;
  gpu.device = device;
  gpu.name = product_name(device);
  if (gpu.name.empty()) gpu.name = fmt::format("GPU 10de:{:04x}", device);
  const Chip* const chip = chip_of(device);
  gpu.architecture_name = chip != nullptr ? chip->architecture : std::string(to_string(Architecture::unknown));
  gpu.architecture = parse_architecture(gpu.architecture_name).value_or(Architecture::newer);
  gpu.support = support_of(gpu.architecture_name);
  if (chip == nullptr) return gpu;
  gpu.compute = chip->compute;
  ArchitectureSupport& support = gpu.support;
  support.first_branch = chip->first_branch.value_or(support.first_branch);
  support.last_branch = chip->last_branch.value_or(support.last_branch);
  support.first_open_branch = chip->first_open_branch.value_or(support.first_open_branch);
  support.requires_open = chip->requires_open.value_or(support.requires_open);
  return gpu;
}

Gpu GpuTable::of_pci(const PciDevice& device) const {
  Gpu gpu = of_id(device.device);
  gpu.address = device.address;
  gpu.driver = device.driver;
  return gpu;
}

std::string GpuTable::product_name(std::uint16_t device) const {
  for (const Part& part : parts_)
    if (const auto board = std::ranges::find(part.boards, device, &Board::device); board != part.boards.end())
      return board->name;
  return {};
}

// "h100" names all boards "H100-…"; "h10" names none.
const GpuTable::Board* GpuTable::board_named(const std::string& wanted) const {
  for (const Part& part : parts_)
    for (const Board& board : part.boards)
      if (normalised(board.name) == wanted) return &board;
  for (const Part& part : parts_)
    for (const Board& board : part.boards)
      for (auto dash = board.name.find('-'); dash != std::string::npos; dash = board.name.find('-', dash + 1))
        if (normalised(std::string_view(board.name).substr(0, dash)) == wanted) return &board;
  return nullptr;
}

std::optional<Gpu> GpuTable::find(std::string_view text) const {
  if (const auto id = parse_device_id(text, true)) return of_id(*id);
  const std::string wanted = normalised(text);
  const ArchitectureSupport support = support_of(wanted);
  if (support.known && wanted != to_string(Architecture::newer)) {
    Gpu gpu;
    gpu.name = wanted;
    gpu.architecture_name = wanted;
    gpu.architecture = parse_architecture(wanted).value_or(Architecture::newer);
    gpu.support = support;
    return gpu;
  }
  if (const Board* board = wanted.empty() ? nullptr : board_named(wanted)) {
    Gpu gpu = of_id(board->device);
    gpu.name = std::string{text};
    return gpu;
  }
  // Last, because A100 and B200 are also hexadecimal numbers.
  if (const auto id = parse_device_id(text, false)) return of_id(*id);
  return std::nullopt;
}

std::vector<std::string> GpuTable::names() const {
  std::set<std::string> names;
  for (const Part& part : parts_) {
    for (const Board& board : part.boards) names.insert(board.name);
    for (const auto& [name, support] : part.architectures) names.insert(name);
  }
  names.erase(std::string(to_string(Architecture::newer)));
  names.erase(std::string(to_string(Architecture::fermi_or_older)));
  return {names.begin(), names.end()};
}

Gpu gpu_from_pci(const PciDevice& device) { return GpuTable::built_in().of_pci(device); }

std::optional<Gpu> gpu_from_text(std::string_view text) { return GpuTable::built_in().find(text); }

std::string product_name(std::uint16_t device_id) { return GpuTable::built_in().product_name(device_id); }

std::vector<std::string> known_gpu_names() { return GpuTable::built_in().names(); }

}  // namespace slipway::nvidia
