// SPDX-License-Identifier: Apache-2.0
#include "driver/kernels/kernels_tool.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/local_host.hpp>

#include "base/kernels/kernels.hpp"
#include "driver/coming/coming.hpp"
#include "driver/detect/existing_driver.hpp"
#include "driver/detect/kernel_choice.hpp"
#include "driver/package/package.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {
namespace {

constexpr int kExitWithoutModules = 2;
constexpr std::size_t kModulesDepLimit = 64U << 20;

/// Returns the differences from the receipt.
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
  std::string text = fmt::format("{} {}", root.receipt->version, root.receipt->flavours_text());
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
  root.next = base::next_boot(host);
  const auto present = host.installed_kernels();
  const std::string running = running_kernel(host);
  std::vector<std::string> releases = present;
  if (root.receipt)
    for (const auto& kernel : root.receipt->kernels()) releases.push_back(kernel.release);
  if (!running.empty()) releases.push_back(running);
  std::erase(releases, "");
  base::sort_newest_first(releases);
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
  if (root.next.release.empty())
    return text + fmt::format("The kernel of the next boot is not known: {}.\n", root.next.how);
  text += fmt::format("Boots next: {} ({}).\n", root.next.release, root.next.how);
  const bool bare = std::ranges::any_of(root.kernels, [&](const KernelState& kernel) {
    return kernel.release == root.next.release && kernel.modules == "none";
  });
  if (bare && root.receipt) text += "It has no driver modules: `slipway doctor` tells what to do.\n";
  return text;
}

namespace {

constexpr std::chrono::seconds kListsLimit{120};

/// Asks slipway for the driver's section of the spec and for what its source has. Errors: those of the spec and the
/// source.
Status ask_source(const CommandWords& words, const Host& host, const std::optional<Receipt>& receipt, ToolIo& io,
                  Coming& coming) {
  Json request{{"root", words.text("root", "/")}, {"file", words.text("file")}, {"key", "source"}};
  request["tags"] = receipt ? Json::array({receipt->version}) : Json::array();
  SLIPWAY_TRY(answer, io.core("source.read", request));
  SLIPWAY_TRY(settings, read_settings(Spec(answer.value("spec", Json::object()))));
  const Inputs inputs(Json{{"catalogues", answer.value("catalogues", Json::object())}});
  SLIPWAY_TRY(catalogue, inputs.catalogue("source"));
  add_offers(settings, receipt, catalogue, host, coming);
  return {};
}

Result<Coming> coming_kernels(const CommandWords& words, const Host& host, const std::optional<Receipt>& receipt,
                              ToolIo& io) {
  ListLimits limits;
  limits.until = std::chrono::steady_clock::now() + kListsLimit;
  SLIPWAY_TRY(coming, read_coming(host, limits));
  if (!coming.kernels.empty()) SLIPWAY_CHECK(ask_source(words, host, receipt, io, coming));
  return std::move(coming);
}

}  // namespace

CommandTable kernels_line() {
  return {
      .call = "slipway driver kernels",
      .about =
          "Lists the kernels of a root: which of them have modules of the driver that slipway installed, which one "
          "runs, and which boots next, as far as the boot loader's files tell.",
      .notes =
          "--coming reads the lists that apt (/var/lib/apt/lists) or dnf (/var/cache/dnf, /var/cache/libdnf5) keeps "
          "in the root, and says how old they are; it downloads none. For apt it follows the installed packages "
          "linux-image-… that bring new kernels, holds, and pins by version, release or origin; pins with regular "
          "expressions and APT::Default-Release are not followed. For dnf it takes the newest kernel of the enabled "
          "repositories, without what dnf.conf excludes; versionlock, priorities and excludes of a single "
          "repository are not followed. The exit code is 2 when the source has nothing for one of these kernels.",
      .options = {{"coming", "",
                   "also the kernels that apt or dnf would install next, and what the source has for each"},
                  {"file", "SPEC",
                   "with --coming: host spec that names the source (default: the root's own, else the one that is "
                   "applied)",
                   'f'},
                  {"root", "DIR", "root filesystem to look at (default: this machine)"},
                  {"output", "text|json", "format of the list (default: text)", 'o'}},
      .examples = {"slipway driver kernels", "slipway driver kernels --root ./root -o json",
                   "slipway driver kernels --coming --root ./root -f host.yaml"}};
}

Result<int> run_kernels(const CommandWords& words, const Host& host, ToolIo& io) {
  std::unique_ptr<Host> other;
  if (const std::string root = words.text("root", "/"); root != "/") {
    if (root.empty()) return kernels_line().wrong("--root is empty");
    SLIPWAY_TRY(opened, open_host({.root = root}));
    other = std::move(opened);
  }
  if (words.given("file") && !words.flag("coming")) return kernels_line().wrong("-f has no effect without --coming");
  const Host& of_root = other ? *other : host;
  const RootKernels root = read_root_kernels(of_root);
  std::optional<Coming> coming;
  if (words.flag("coming")) {
    SLIPWAY_TRY(read, coming_kernels(words, of_root, root.receipt, io));
    coming = std::move(read);
  }
  const std::int64_t now = std::time(nullptr);
  if (words.text("output") == "json") {
    Json json = to_json(root);
    if (coming) add_coming(*coming, now, json);
    io.print(pretty(json));
  } else {
    io.print(to_text(root) + (coming ? to_text(*coming, now) : ""));
  }
  return coming && coming->has_one_without_modules() ? kExitWithoutModules : 0;
}

}  // namespace slipway::driver
