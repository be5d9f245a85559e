// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_config.hpp"

#include <fmt/format.h>

#include "base/digest/digest.hpp"

namespace slipway::driver {

namespace {

constexpr std::size_t kConfigLimit = 4U << 20;
constexpr std::size_t kSymversLimit = 64U << 20;

std::string first_word(std::string_view text) { return std::string{text.substr(0, text.find(' '))}; }

std::string suffix_compression(std::string_view name) {
  if (name.ends_with(".ko.xz")) return "xz";
  if (name.ends_with(".ko.zst")) return "zstd";
  if (name.ends_with(".ko.gz")) return "gz";
  return "";
}

bool is_module(std::string_view name) {
  return name.ends_with(".ko") || name.ends_with(".ko.xz") || name.ends_with(".ko.zst") || name.ends_with(".ko.gz");
}

// Returns the path of the first module by name in a folder or its subfolders; a kernel has its first within a few
// folders.
std::string first_module(const Host& host, const std::string& folder, int depth = 5) {
  const auto names = host.list(folder);
  if (!names) return {};
  for (const auto& name : *names)
    if (is_module(name)) return folder + "/" + name;
  if (depth == 0) return {};
  for (const auto& name : *names) {
    const std::string path = folder + "/" + name;
    const auto info = host.info(path);
    if (!info || info->type != FileInfo::Type::directory) continue;
    if (auto found = first_module(host, path, depth - 1); !found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string config_value(std::string_view config, std::string_view name) {
  std::size_t at = 0;
  while ((at = config.find(name, at)) != std::string_view::npos) {
    const bool line_start = at == 0 || config[at - 1] == '\n';
    at += name.size();
    if (!line_start || at >= config.size() || config[at] != '=') continue;
    auto value = config.substr(at + 1, config.find('\n', at) - at - 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string{value};
  }
  return {};
}

std::string compiler_program(std::string_view version_text) {
  const std::string word = first_word(version_text);
  if (word.find("gcc") != std::string::npos || word.starts_with("clang")) return word;
  return version_text.find("clang version") != std::string_view::npos ? "clang" : "gcc";
}

std::optional<KernelHeaders> read_kernel_headers(const Host& host, const std::string& release) {
  const std::string build = fmt::format("/lib/modules/{}/build", release);
  const auto path = host.resolve(build);
  if (!path || !host.exists(build + "/Makefile")) return std::nullopt;
  auto config = host.read(build + "/.config", kConfigLimit);
  if (!config) config = host.read(build + "/include/config/auto.conf", kConfigLimit);
  if (!config) return std::nullopt;
  KernelHeaders headers;
  headers.path = *path;
  headers.compiler = config_value(*config, "CONFIG_CC_VERSION_TEXT");
  headers.preempt_rt = config_value(*config, "CONFIG_PREEMPT_RT") == "y";
  headers.identity = {{"compiler", headers.compiler}, {"config", base::digest_hex(base::digest_of(*config))}};
  if (const auto symvers = host.read(build + "/Module.symvers", kSymversLimit))
    headers.identity["symvers"] = base::digest_hex(base::digest_of(*symvers));
  return headers;
}

std::string find_program(const Host& root, const std::string& name) {
  for (const auto* folder : {"/usr/bin/", "/usr/local/bin/", "/bin/"})
    if (root.exists(folder + name)) return folder + name;
  return {};
}

std::string first_own_module(const Host& host, const std::string& release) {
  return first_module(host, fmt::format("/lib/modules/{}/kernel", release));
}

std::string module_compression(const Host& host, const std::string& release) {
  return suffix_compression(first_own_module(host, release));
}

std::optional<bool> secure_boot(const Host& host) {
  // Four bytes of attributes, then the value (UEFI specification, global variables).
  const auto variable = host.read("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
  if (!variable || variable->size() < 5) return std::nullopt;
  return (*variable)[4] == 1;
}

}  // namespace slipway::driver
