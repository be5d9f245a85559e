// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/generate.hpp"

#include <algorithm>

#include "nvidia/cdi/text.hpp"
#include "nvidia/cdi/transform.hpp"
#include "nvidia/loaded_driver.hpp"
#include "toolkit/cdi/driver_files.hpp"
#include "toolkit/cdi/nodes.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Edits;
using nvidia::cdi::Spec;

struct ModeName {
  Mode mode;
  std::string_view word;
  std::string_view kind;
};
constexpr ModeName kModes[] = {{Mode::nvml, "nvml", "nvidia.com/gpu"},
                               {Mode::management, "management", "management.nvidia.com/gpu"},
                               {Mode::gds, "gds", "nvidia.com/gds"},
                               {Mode::mofed, "mofed", "nvidia.com/mofed"},
                               {Mode::gdrcopy, "gdrcopy", "nvidia.com/gdrcopy"},
                               {Mode::nvswitch, "nvswitch", "nvidia.com/nvswitch"},
                               {Mode::imex, "imex", "nvidia.com/imex-channel"}};

const ModeName& entry_of(Mode mode) { return *std::ranges::find(kModes, mode, &ModeName::mode); }

bool mounts_driver(Mode mode) { return mode == Mode::nvml || mode == Mode::management; }

/// The version of the loaded module and that of the libraries must be one.
Result<std::string> driver_version(const Roots& roots, const Inventory& inventory, LibrarySearch& search) {
  std::string version = inventory.driver_version;
  const auto loaded = nvidia::read_loaded_driver(roots.kernel);
  if (version.empty() && loaded) version = loaded->version;
  if (version.empty()) version = installed_version(search);
  if (version.empty())
    return Error{ErrorCode::not_found,
                 "there is no NVIDIA driver: no module is loaded and no libcuda is installed",
                 "libcuda.so.1",
                 "install the driver: `slipway apply` with the component driver",
                 {}};
  if (loaded && !loaded->version.empty() && loaded->version != version)
    return Error{
        ErrorCode::conflict,
        "the driver is half upgraded: NVML is of " + version + ", the loaded kernel module of " + loaded->version,
        "/proc/driver/nvidia/version",
        "reboot, or load the modules of " + version + " once nobody uses a GPU",
        {}};
  return version;
}

Status add_common_edits(const GenerateOptions& options, const Roots& roots, const Inventory& inventory, Spec& spec) {
  const HookWriter hooks(options.hooks);
  LibrarySearch search(roots.driver, options.library_folders);
  SLIPWAY_TRY(version, driver_version(roots, inventory, search));
  const bool with_hooks = hooks.wanted("create-symlinks");
  const DriverFiles files(
      roots, version, search, hooks,
      {with_hooks, options.explicit_libraries, options.container_library_folder, options.config_folders});
  Edits& edits = spec.edits;
  const bool gpus = options.mode == Mode::nvml;
  if (gpus) {
    SLIPWAY_CHECK(add_control_nodes(roots, NodeWriter(roots, options.additional_gids), edits));
    files.add_graphics(edits);
  }
  SLIPWAY_CHECK(files.add_libraries(gpus, edits));
  if (options.sockets) files.add_sockets(edits);
  files.add_firmware(edits);
  files.add_programs(edits);
  if (gpus) hooks.add("update-application-profile", {}, edits);
  return {};
}

bool none_wanted(const GenerateOptions& options) {
  return options.device_ids.size() == 1 && options.device_ids.front() == "none";
}

}  // namespace

std::optional<Mode> parse_mode(std::string_view word) {
  if (word == "auto" || word.empty()) return Mode::nvml;
  const auto* found = std::ranges::find(kModes, word, &ModeName::word);
  if (found == std::end(kModes)) return std::nullopt;
  return found->mode;
}

std::string_view to_string(Mode mode) { return entry_of(mode).word; }
std::string default_kind(Mode mode) { return std::string(entry_of(mode).kind); }
bool needs_inventory(Mode mode) { return mode == Mode::nvml; }

std::optional<Naming> parse_naming(std::string_view word) {
  if (word == "index") return Naming::index;
  if (word == "uuid") return Naming::uuid;
  if (word == "type-index") return Naming::type_index;
  return std::nullopt;
}

std::string kind_of(const GenerateOptions& options) {
  const std::string kind = default_kind(options.mode);
  const auto slash = kind.find('/');
  return (options.vendor.empty() ? kind.substr(0, slash) : options.vendor) + "/" +
         (options.class_name.empty() ? kind.substr(slash + 1) : options.class_name);
}

Result<Spec> generate(const GenerateOptions& options, const Roots& roots, const Inventory& inventory) {
  Spec spec;
  spec.kind = kind_of(options);
  bool all = options.all_device && options.mode != Mode::imex;
  if (none_wanted(options)) {
    spec.devices.push_back({"none", {}, {}});
    spec.devices.back().edits.env = {"NVCT_EMPTY_DEVICE="};
    all = false;
  } else if (options.mode == Mode::nvml) {
    SLIPWAY_CHECK(add_gpu_devices(options, roots, inventory, spec));
  } else {
    SLIPWAY_CHECK(add_function_device(options, roots, spec));
  }
  if (mounts_driver(options.mode)) SLIPWAY_CHECK(add_common_edits(options, roots, inventory, spec));
  spec.edits.env.emplace_back("NVIDIA_VISIBLE_DEVICES=void");
  nvidia::cdi::finish(spec, all);
  SLIPWAY_CHECK(nvidia::cdi::validate(spec, spec.kind));
  return spec;
}

}  // namespace slipway::toolkit
