// SPDX-License-Identifier: Apache-2.0
#include "driver/kernels/kernels_tool.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/local_host.hpp>
#include <slipway/text.hpp>

#include "driver/detect/existing_driver.hpp"
#include "driver/detect/kernel_choice.hpp"
#include "driver/package/package.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kModulesDepLimit = 64U << 20;

struct KernelsOptions {
  std::string root;
  std::string output = "text";
  bool help = false;
};

Error kernels_usage_error(std::string what) {
  return {ErrorCode::usage, std::move(what), "command line", "`slipway driver kernels --help` lists the options", {}};
}

Result<KernelsOptions> parse_kernels_options(const std::vector<std::string>& arguments) {
  KernelsOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto equals = arguments[i].starts_with("--") ? arguments[i].find('=') : std::string::npos;
    const std::string name = arguments[i].substr(0, equals);
    if (name == "--help" || name == "-h") {
      options.help = true;
      continue;
    }
    if (name != "--root" && name != "-o" && name != "--output") {
      const auto near = nearest_word(name, {"--root", "--output", "--help"});
      Error error = kernels_usage_error(fmt::format("'{}' is no option or argument of it", name));
      if (!near.empty()) error.next = fmt::format("did you mean {}?", near);
      return error;
    }
    if (equals == std::string::npos && i + 1 == arguments.size())
      return kernels_usage_error(fmt::format("{} needs a value", name));
    const std::string value = equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1);
    (name == "--root" ? options.root : options.output) = value;
    if (value.empty()) return kernels_usage_error(fmt::format("{} is empty", name));
  }
  if (options.output != "text" && options.output != "json")
    return kernels_usage_error(fmt::format("-o {} is no form of output: use text or json", options.output));
  return options;
}

/// What is not as the receipt says.
std::vector<std::string> faults_of(const InstalledKernel& kernel, const Host& host) {
  std::vector<std::string> faults;
  for (const auto& name : kernel.modules)
    if (!host.exists(fmt::format("{}/kernel/{}", modules_folder(kernel.release), name)))
      faults.push_back(name + " is missing");
  if (!host.exists(fmt::format("/lib/modules/{}/updates/slipway", kernel.release)))
    faults.push_back(fmt::format("/lib/modules/{}/updates/slipway leads nowhere", kernel.release));
  return faults;
}

bool has_foreign_modules(const Host& host, const std::string& release) {
  const auto dep = host.read(fmt::format("/lib/modules/{}/modules.dep", release), kModulesDepLimit);
  return dep && !driver_modules_in(*dep).empty();
}

KernelState state_of(const std::string& release, const std::optional<Receipt>& receipt, const Host& host) {
  KernelState state;
  state.release = release;
  state.modules = "none";
  const auto installed = receipt ? receipt->kernels() : std::vector<InstalledKernel>{};
  const auto own = std::ranges::find(installed, release, &InstalledKernel::release);
  if (own != installed.end()) {
    const auto faults = faults_of(*own, host);
    state.modules = faults.empty() ? "installed" : "damaged";
    state.text = fmt::format("{}", fmt::join(faults, "; "));
    state.compiled = own->compiled;
    state.manifest = own->manifest;
  } else if (has_foreign_modules(host, release)) {
    state.modules = "foreign";
    state.text = "modules that are not slipway's";
  } else if (receipt && std::ranges::count(receipt->without, release) != 0) {
    state.text = "the source had no package for it";
  }
  return state;
}

std::string driver_column(const RootKernels& root, const KernelState& kernel) {
  if (kernel.modules != "installed" && kernel.modules != "damaged") return kernel.modules;
  std::string text = fmt::format("{} {}", root.receipt->version, root.receipt->flavour);
  if (kernel.compiled) text += ", compiled";
  return kernel.modules == "damaged" ? text + ", damaged" : text;
}

std::string boot_column(const RootKernels& root, const KernelState& kernel) {
  const bool next = kernel.release == root.next.release;
  if (kernel.is_running) return next ? "running, next" : "running";
  return next ? "next" : "";
}

}  // namespace

RootKernels read_root_kernels(const Host& host) {
  RootKernels root;
  root.receipt = read_receipt(host);
  root.next = next_boot(host);
  const auto present = host.installed_kernels();
  const std::string running = running_kernel(host);
  std::vector<std::string> releases = present;
  if (root.receipt)
    for (const auto& kernel : root.receipt->kernels()) releases.push_back(kernel.release);
  if (!running.empty()) releases.push_back(running);
  std::erase(releases, "");
  sort_newest_first(releases);
  releases.erase(std::unique(releases.begin(), releases.end()), releases.end());
  for (const auto& release : releases) {
    KernelState state = state_of(release, root.receipt, host);
    state.is_there = std::ranges::count(present, release) != 0;
    state.is_running = release == running;
    root.kernels.push_back(std::move(state));
  }
  return root;
}

Json to_json(const RootKernels& root) {
  Json kernels = Json::array();
  for (const auto& kernel : root.kernels) {
    Json value{{"release", kernel.release},
               {"inRoot", kernel.is_there},
               {"modules", kernel.modules},
               {"running", kernel.is_running},
               {"nextBoot", kernel.release == root.next.release}};
    if (!kernel.text.empty()) value["text"] = kernel.text;
    if (!kernel.manifest.empty()) value.update({{"compiled", kernel.compiled}, {"manifest", kernel.manifest}});
    kernels.push_back(std::move(value));
  }
  Json json{{"apiVersion", "slipway.dev/v1"},
            {"kind", "DriverKernels"},
            {"kernels", kernels},
            {"nextBoot", {{"release", root.next.release}, {"how", root.next.how}}}};
  if (root.receipt) json["driver"] = {{"version", root.receipt->version}, {"flavour", root.receipt->flavour}};
  return json;
}

std::string to_text(const RootKernels& root) {
  std::size_t release_width = 6;
  std::size_t driver_width = 6;
  for (const auto& kernel : root.kernels) {
    release_width = std::max(release_width, kernel.release.size());
    driver_width = std::max(driver_width, driver_column(root, kernel).size());
  }
  const auto line = [&](const std::string& release, const std::string& driver, const std::string& boot) {
    std::string text = fmt::format("{:{}}  {:{}}  {}", release, release_width, driver, driver_width, boot);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = root.kernels.empty() ? "There is no kernel in /lib/modules.\n" : line("KERNEL", "DRIVER", "BOOT");
  for (const auto& kernel : root.kernels) {
    text += line(kernel.release, driver_column(root, kernel), boot_column(root, kernel));
    if (!kernel.is_there) text += "    it is not in /lib/modules\n";
    if (!kernel.text.empty()) text += "    " + kernel.text + "\n";
  }
  if (root.next.release.empty()) return text + fmt::format("Which boots next cannot be told: {}.\n", root.next.how);
  return text + fmt::format("Boots next: {} ({}).\n", root.next.release, root.next.how);
}

std::string kernels_usage() {
  return "usage: slipway driver kernels [--root DIR] [-o text|json]\n"
         "\n"
         "Lists the kernels of a root: which have modules of the driver that slipway installed, which one runs, and "
         "which\n"
         "boots next, as far as the boot loader's files tell.\n"
         "\n"
         "  --root DIR            root filesystem to look at (default: this machine)\n"
         "  -o, --output FORM     text (default) or json\n";
}

Result<int> run_kernels(const std::vector<std::string>& arguments, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, parse_kernels_options(arguments));
  if (options.help) {
    io.print(kernels_usage());
    return 0;
  }
  std::unique_ptr<Host> other;
  if (!options.root.empty() && options.root != "/") {
    SLIPWAY_TRY(opened, open_host({.root = options.root}));
    other = std::move(opened);
  }
  const RootKernels root = read_root_kernels(other ? *other : host);
  io.print(options.output == "json" ? pretty(to_json(root)) : to_text(root));
  return 0;
}

}  // namespace slipway::driver
