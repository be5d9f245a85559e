// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/generate.hpp - makes CDI specs: full GPUs and MIG devices, and the kinds for single functions.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/cdi/hooks.hpp"
#include "toolkit/cdi/inventory.hpp"

namespace slipway::toolkit {

enum class Mode { nvml, management, gds, mofed, gdrcopy, nvswitch, imex };
/// The words of the spec key and of --mode; "auto" is nvml.
std::optional<Mode> parse_mode(std::string_view word);
std::string_view to_string(Mode mode);
/// The kind that specs of a mode have when nothing else is asked for: "nvidia.com/gds".
std::string default_kind(Mode mode);
/// NVML is asked for GPUs.
bool needs_inventory(Mode mode);

enum class Naming { index, uuid, type_index };
std::optional<Naming> parse_naming(std::string_view word);

struct GenerateOptions {
  Mode mode = Mode::nvml;
  std::vector<Naming> names{Naming::index, Naming::uuid};
  std::string vendor;  ///< empty: the mode's
  std::string class_name;
  HookOptions hooks;
  std::vector<std::string> library_folders;  ///< empty: the usual ones
  std::vector<std::string> config_folders;
  std::vector<std::string> program_folders;  ///< searched for the driver's programs after the usual ones
  std::vector<std::string> device_ids;  ///< empty: all; else indexes, "GPU:MIG" indexes, UUIDs, channels, or "none"
  bool all_device = true;
  bool additional_gids = true;
  bool sockets = true;
  bool explicit_libraries = false;       ///< OpenGL, EGL and OpenCL as well, which are of no driver version
  bool coherent = false;                 ///< says of each GPU whether its memory is coherent with the processor's
  std::string container_library_folder;  ///< where containers have libraries, for specs without hooks; empty: as here
};

/// The kind of the spec that these make: the mode's, under the vendor and class that are asked for.
std::string kind_of(const GenerateOptions& options);

/// A valid spec of the version that it needs.
/// @param inventory  GPUs for the mode nvml; `driver_version` in all modes that mount driver files, where it may be
///                   empty: then that of the libraries
/// @param notes      gets what the spec lacks that containers can do without
/// Errors: `not_found` no device, a missing node or library; `conflict` a half-upgraded driver; `invalid` an id that
/// names nothing.
Result<nvidia::cdi::Spec> generate(const GenerateOptions& options, const Roots& roots, const Inventory& inventory,
                                   std::vector<std::string>& notes);
/// The same, with an inventory that is asked for as late as possible: its NVML may be opened meanwhile.
/// Errors: those of `inventory`, before all others.
Result<nvidia::cdi::Spec> generate(const GenerateOptions& options, const Roots& roots,
                                   const std::function<Result<Inventory>()>& inventory,
                                   std::vector<std::string>& notes);

/// One of the two specs beside the main one, for those who ask for GPUs by their memory.
struct CoherentHalf {
  std::string suffix;  ///< of the file's name and of the class: ".coherent" or ".noncoherent"
  nvidia::cdi::Spec spec;
};
/// The GPUs of a spec that was made with `coherent`, by their annotation; a half without GPUs is left out.
std::vector<CoherentHalf> split_coherent(const nvidia::cdi::Spec& spec);

// Its parts, one for each kind of mode; the spec is not finished yet.
Status add_gpu_devices(const GenerateOptions& options, const Roots& roots, const Inventory& inventory,
                       nvidia::cdi::Spec& spec);
Status add_function_device(const GenerateOptions& options, const Roots& roots, nvidia::cdi::Spec& spec);

}  // namespace slipway::toolkit
