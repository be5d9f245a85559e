// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/shim/require/machine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include <dirent.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

namespace slipway::shim {
namespace {

constexpr std::size_t kLongestFile = 64U << 10U;
constexpr std::string_view kCudaOption = "--host-cuda-version";
constexpr std::string_view kNode = "/dev/nvidia";
constexpr std::size_t kMostGpus = 256;  // as many minor numbers as the driver has
constexpr std::size_t kMostUnchecked = 8;

struct Branch {
  unsigned number;
  std::string_view cuda;
};
// The release notes of each branch's first driver.
constexpr std::array kBranches{
    Branch{384, "9.0"},  Branch{387, "9.1"},  Branch{390, "9.1"},  Branch{396, "9.2"},  Branch{410, "10.0"},
    Branch{418, "10.1"}, Branch{430, "10.1"}, Branch{440, "10.2"}, Branch{450, "11.0"}, Branch{455, "11.1"},
    Branch{460, "11.2"}, Branch{465, "11.3"}, Branch{470, "11.4"}, Branch{495, "11.5"}, Branch{510, "11.6"},
    Branch{515, "11.7"}, Branch{520, "11.8"}, Branch{525, "12.0"}, Branch{530, "12.1"}, Branch{535, "12.2"},
    Branch{545, "12.3"}, Branch{550, "12.4"}, Branch{555, "12.5"}, Branch{560, "12.6"}, Branch{565, "12.7"},
    Branch{570, "12.8"}, Branch{575, "12.9"}, Branch{580, "13.0"}, Branch{590, "13.1"},
};

struct IdRange {
  unsigned first;
  unsigned last;
  std::string_view arch;
};
// Blocks of device ids of the PCI id database that have one compute capability; what lies between is not known.
constexpr std::array kArchitectures{
    IdRange{0x1340, 0x13bf, "5.0"},  IdRange{0x13c0, 0x143f, "5.2"},  IdRange{0x15f0, 0x15ff, "6.0"},
    IdRange{0x1600, 0x166f, "5.2"},  IdRange{0x17c0, 0x17ff, "5.2"},  IdRange{0x1b00, 0x1d7f, "6.1"},
    IdRange{0x1d80, 0x1dff, "7.0"},  IdRange{0x1e00, 0x1fff, "7.5"},  IdRange{0x2080, 0x20ff, "8.0"},
    IdRange{0x2180, 0x21ff, "7.5"},  IdRange{0x2200, 0x227f, "8.6"},  IdRange{0x2300, 0x23ff, "9.0"},
    IdRange{0x2400, 0x25ff, "8.6"},  IdRange{0x2680, 0x28ff, "8.9"},  IdRange{0x2900, 0x297f, "10.0"},
    IdRange{0x2b80, 0x2dff, "12.0"}, IdRange{0x3180, 0x31ff, "10.3"},
};

std::string text_of_file(const std::string& path) { return read_regular(path, kLongestFile).value_or(""); }

/// The value of a line "KEY: VALUE".
std::string value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (line.starts_with(key)) return std::string(trimmed(line.substr(key.size())));
  return {};
}

std::string driver_version(const std::string& root) {
  const std::string text = text_of_file(root + "/proc/driver/nvidia/version");
  for (const std::string& word : split_list(value_of(text, "NVRM version:"), ' '))
    if (word.find('.') != std::string::npos && is_version(word)) return word;
  const std::string version(trimmed(text_of_file(root + "/sys/module/nvidia/version")));
  return is_version(version) ? version : std::string();
}

template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return problem == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// The minor numbers N of the nodes /dev/nvidiaN, below whatever root.
std::set<unsigned> minors_in(const nvidia::cdi::Edits& edits) {
  std::set<unsigned> minors;
  for (const auto& node : edits.device_nodes) {
    const auto begin = node.path.rfind(kNode);
    unsigned minor = 0;
    if (begin != std::string::npos && parse_number(std::string_view(node.path).substr(begin + kNode.size()), minor))
      minors.insert(minor);
  }
  return minors;
}

std::string cuda_in(const nvidia::cdi::Edits& edits) {
  for (const auto& hook : edits.hooks)
    for (std::size_t i = 0; i < hook.args.size(); ++i) {
      const std::string_view word = hook.args[i];
      if (word == kCudaOption && i + 1 < hook.args.size()) return hook.args[i + 1];
      if (word.starts_with(kCudaOption) && word.substr(kCudaOption.size()).starts_with('='))
        return std::string(word.substr(kCudaOption.size() + 1));
    }
  return {};
}

/// What the driver's file says of each GPU, by its minor number; with its address.
std::map<unsigned, std::pair<std::string, std::string>> read_information(const std::string& root) {
  std::map<unsigned, std::pair<std::string, std::string>> by_minor;
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return by_minor;
  while (const dirent* entry = ::readdir(open)) {  // NOLINT(concurrency-mt-unsafe): nobody else reads this one
    if (entry->d_name[0] == '.' || by_minor.size() == kMostGpus) continue;
    const std::string address = entry->d_name;
    const std::string text = text_of_file(folder + "/" + address + "/information");
    unsigned minor = 0;
    if (parse_number(value_of(text, "Device Minor:"), minor)) by_minor[minor] = {address, text};
  }
  ::closedir(open);
  return by_minor;
}

}  // namespace

std::string cuda_of_driver(std::string_view driver) {
  unsigned branch = 0;
  if (!parse_number(driver.substr(0, driver.find('.')), branch)) return {};
  const auto* const found = std::ranges::find(kBranches, branch, &Branch::number);
  return found == kBranches.end() ? std::string() : std::string(found->cuda);
}

std::string arch_of(unsigned device_id) {
  for (const IdRange& range : kArchitectures)
    if (device_id >= range.first && device_id <= range.last) return std::string(range.arch);
  return {};
}

std::vector<std::string> brands_of(std::string_view product) {
  if (product.starts_with("NVIDIA ")) product.remove_prefix(7);
  if (product.starts_with("Tesla ")) return {"tesla"};
  if (product.starts_with("Quadro RTX")) return {"quadrortx", "quadro"};
  if (product.starts_with("Quadro")) return {"quadro"};
  if (product.starts_with("GeForce RTX")) return {"geforce", "geforcertx"};
  if (product.starts_with("GeForce")) return {"geforce"};
  if (product.starts_with("TITAN RTX")) return {"titan", "titanrtx"};
  if (product.starts_with("TITAN") || product.starts_with("Titan")) return {"titan"};
  if (product.starts_with("RTX ")) return {"nvidiartx", "quadrortx", "nvidia"};
  for (const std::string_view board : {"A100",  "A10",   "A16",  "A2",  "A30",  "A40",  "A800", "B200", "B300", "GB200",
                                       "GB300", "GH200", "H100", "H20", "H200", "H800", "L2",   "L20",  "L4",   "L40"})
    if (product.starts_with(board) && product.substr(board.size()).find_first_of("0123456789") != 0)
      return {"nvidia", "tesla"};
  return {};
}

std::vector<GpuFacts> read_gpus(const nvidia::cdi::Edits& edits, const std::string& root) {
  GpuFacts common{
      .name = "the machine", .driver = driver_version(root), .cuda = cuda_in(edits), .arch = {}, .brands = {}};
  if (!is_version(common.cuda)) common.cuda = cuda_of_driver(common.driver);
  const auto minors = minors_in(edits);
  if (minors.empty()) return {common};
  const auto information = read_information(root);
  std::vector<GpuFacts> gpus;
  for (const unsigned minor : minors) {
    GpuFacts gpu = common;
    gpu.name = "the GPU /dev/nvidia" + std::to_string(minor);
    if (const auto found = information.find(minor); found != information.end()) {
      const auto& [address, text] = found->second;
      gpu.name += " (" + address + ")";
      gpu.brands = brands_of(value_of(text, "Model:"));
      unsigned id = 0;
      const std::string device = text_of_file(root + "/sys/bus/pci/devices/" + address + "/device");
      if (std::string_view hex = trimmed(device); hex.starts_with("0x") && parse_number(hex.substr(2), id, 16))
        gpu.arch = arch_of(id);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<std::vector<std::string>> check_requirements(const Request& request, const nvidia::cdi::Edits& edits,
                                                    const Config& config, const std::string& root,
                                                    const std::string& where) {
  std::vector<std::string> warnings;
  if (config.disable_require || request.requirements.empty()) return warnings;
  const auto gpus = read_gpus(edits, root);
  for (const Requirement& requirement : request.requirements)
    for (const GpuFacts& gpu : gpus) {
      auto checked = check_requirement(requirement, gpu);
      if (!checked) {
        Error error = std::move(checked).error();
        error.where = where;
        return error;
      }
      if (!checked->empty() && warnings.size() < kMostUnchecked) warnings.push_back(std::move(*checked));
    }
  return warnings;
}

}  // namespace slipway::shim
