// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/require/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>

#include <dirent.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"
#include "nvidia/proc_files.hpp"
#include "toolkit/requests/require/cuda_support.hpp"

namespace slipway::shim {
namespace {

constexpr std::size_t kLongestFile = 64U << 10U;
constexpr std::string_view kCudaOption = "--host-cuda-version";
constexpr std::string_view kNode = "/dev/nvidia";
constexpr std::size_t kMostGpus = 256;  // as many minor numbers as the driver has
constexpr std::size_t kMostUnchecked = 8;

std::string text_of_file(const std::string& path) { return read_regular(path, kLongestFile).value_or(""); }

std::string driver_version(const std::string& root) {
  if (const auto proc = nvidia::parse_proc_version(text_of_file(root + "/proc/driver/nvidia/version")))
    return proc->version;
  const std::string version(trimmed(text_of_file(root + "/sys/module/nvidia/version")));
  return is_version(version) ? version : std::string();
}

template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return problem == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// Returns the minor numbers N of the nodes /dev/nvidiaN, below any root.
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

/// Returns the driver's information about each GPU by its minor number, with its address.
std::map<unsigned, std::pair<std::string, std::string>> read_information(const std::string& root) {
  std::map<unsigned, std::pair<std::string, std::string>> by_minor;
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return by_minor;
  while (const dirent* entry = ::readdir(open)) {  // NOLINT(concurrency-mt-unsafe): no other thread reads this
    if (entry->d_name[0] == '.' || by_minor.size() == kMostGpus) continue;
    const std::string address = entry->d_name;
    const std::string text = text_of_file(folder + "/" + address + "/information");
    if (const auto minor = nvidia::parse_gpu_minor(text)) by_minor[*minor] = {address, text};
  }
  ::closedir(open);
  return by_minor;
}

}  // namespace

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
      gpu.brands = brands_of(nvidia::parse_gpu_model(text));
      std::uint16_t id = 0;
      const std::string device = text_of_file(root + "/sys/bus/pci/devices/" + address + "/device");
      if (std::string_view hex = trimmed(device); hex.starts_with("0x") && parse_number(hex.substr(2), id, 16))
        gpu.arch = nvidia::compute_capability_of(id);
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
  std::size_t bytes = 0;
  for (const Requirement& requirement : request.requirements) bytes += requirement.expression.size();
  if (bytes > kLongestRequirement)
    return Error{ErrorCode::invalid,
                 "the container's variables NVIDIA_REQUIRE_… have more than " + std::to_string(kLongestRequirement) +
                     " bytes together",
                 where,
                 "shorten them in the image; NVIDIA_DISABLE_REQUIRE=true for the container turns this check off",
                 {}};
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
