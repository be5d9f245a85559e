// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/module_parameters.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

// The parameters of the open modules of 535.261.03 and 595.45.04 (nv-reg.h and each module's module_param lines).
const std::map<std::string, std::vector<std::string>, std::less<>>& known_parameters() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> known{
      {"nvidia",
       {"NVreg_CoherentGPUMemoryMode",
        "NVreg_CreateImexChannel0",
        "NVreg_DeviceFileGID",
        "NVreg_DeviceFileMode",
        "NVreg_DeviceFileUID",
        "NVreg_DmaRemapPeerMmio",
        "NVreg_DynamicPowerManagement",
        "NVreg_DynamicPowerManagementVideoMemoryThreshold",
        "NVreg_EnableDbgBreakpoint",
        "NVreg_EnableGpuFirmware",
        "NVreg_EnableGpuFirmwareLogs",
        "NVreg_EnableMSI",
        "NVreg_EnableNonblockingOpen",
        "NVreg_EnablePCIERelaxedOrderingMode",
        "NVreg_EnablePCIeGen3",
        "NVreg_EnableResizableBar",
        "NVreg_EnableS0ixPowerManagement",
        "NVreg_EnableStreamMemOPs",
        "NVreg_EnableSystemMemoryPools",
        "NVreg_EnableUserNUMAManagement",
        "NVreg_ExcludeAllGpus",
        "NVreg_ExcludedGpus",
        "NVreg_GpuBlacklist",
        "NVreg_GpuInitOnProbe",
        "NVreg_GrdmaPciTopoCheckOverride",
        "NVreg_IgnoreMMIOCheck",
        "NVreg_ImexChannelCount",
        "NVreg_InitializeSystemMemoryAllocations",
        "NVreg_KMallocHeapMaxSize",
        "NVreg_MemoryPoolSize",
        "NVreg_ModifyDeviceFiles",
        "NVreg_NvLinkDisable",
        "NVreg_OpenRmEnableUnsupportedGpus",
        "NVreg_PreserveVideoMemoryAllocations",
        "NVreg_RegisterForACPIEvents",
        "NVreg_RegisterPCIDriver",
        "NVreg_RegisterPlatformDeviceDriver",
        "NVreg_RegistryDwords",
        "NVreg_RegistryDwordsPerDevice",
        "NVreg_ResmanDebugLevel",
        "NVreg_RestrictProfilingToAdminUsers",
        "NVreg_RmLogonRC",
        "NVreg_RmMsg",
        "NVreg_RmNvlinkBandwidth",
        "NVreg_RmNvlinkBandwidthLinkCount",
        "NVreg_RmProfilingAdminOnly",
        "NVreg_S0ixPowerManagementVideoMemoryThreshold",
        "NVreg_TCEBypassMode",
        "NVreg_TegraGpuPgMask",
        "NVreg_TemporaryFilePath",
        "NVreg_UseKernelSuspendNotifiers",
        "NVreg_UsePageAttributeTable",
        "NVreg_VMallocHeapMaxSize",
        "NvSwitchBlacklist",
        "NvSwitchRegDwords"}},
      {"nvidia-uvm",
       {"uvm_ats_mode",
        "uvm_conf_computing_channel_iv_rotation_limit",
        "uvm_debug_enable_push_acquire_info",
        "uvm_debug_enable_push_desc",
        "uvm_debug_prints",
        "uvm_disable_hmm",
        "uvm_downgrade_force_membar_sys",
        "uvm_enable_builtin_tests",
        "uvm_enable_debug_procfs",
        "uvm_enable_va_space_mm",
        "uvm_exp_gpu_cache_peermem",
        "uvm_exp_gpu_cache_sysmem",
        "uvm_fault_force_sysmem",
        "uvm_force_prefetch_fault_support",
        "uvm_global_oversubscription",
        "uvm_leak_checker",
        "uvm_page_table_location",
        "uvm_peer_copy",
        "uvm_release_asserts",
        "uvm_release_asserts_dump_stack",
        "uvm_release_asserts_set_global_error",
        "uvm_block_cpu_to_cpu_copy_with_ce",
        "uvm_cpu_chunk_allocation_sizes"}},
      {"nvidia-modeset",
       {"conceal_vrr_caps", "config_file", "debug", "debug_force_color_space", "disable_hdmi_frl",
        "disable_vrr_memclk_switch", "enable_overlay_layers", "fail_alloc_core_channel", "fail_malloc",
        "hdmi_deepcolor", "malloc_verbose", "opportunistic_display_sync", "output_rounding_fix", "vblank_sem_control"}},
      {"nvidia-drm", {"fbdev", "modeset"}},
      {"nvidia-peermem", {"peerdirect_support", "persistent_api_support"}}};
  return known;
}

bool is_of_a_family(std::string_view module, std::string_view name) {
  if (module != "nvidia-uvm") return false;
  constexpr std::string_view kParameterFamilies[] = {"uvm_perf_", "uvm_channel_"};
  return std::ranges::any_of(kParameterFamilies, [&](std::string_view family) { return name.starts_with(family); });
}

const std::string* find(const ModuleParameters& parameters, const std::string& name) {
  const auto module = parameters.find("nvidia");
  if (module == parameters.end()) return nullptr;
  const auto found = module->second.find(name);
  return found == module->second.end() ? nullptr : &found->second;
}

}  // namespace

bool is_known_parameter(std::string_view module, std::string_view name) {
  const auto known = known_parameters().find(module);
  if (known == known_parameters().end()) return false;
  return std::ranges::find(known->second, name) != known->second.end() || is_of_a_family(module, name);
}

std::vector<std::string> parameter_warnings(const ModuleParameters& parameters) {
  std::vector<std::string> warnings;
  for (const auto& [module, values] : parameters)
    for (const auto& [name, value] : values) {
      if (is_known_parameter(module, name)) continue;
      std::string text = fmt::format(
          "slipway does not know the parameter '{}' of the module {}; it is passed on, and the kernel ignores unknown "
          "ones",
          name, module);
      const auto known = known_parameters().find(module);
      const auto near = known == known_parameters().end() ? std::string{} : nearest_word(name, known->second);
      if (!near.empty()) text += fmt::format(" (did you mean '{}'?)", near);
      warnings.push_back(std::move(text));
    }
  return warnings;
}

std::string options_lines(const ModuleParameters& parameters) {
  std::string lines;
  for (const auto& [module, values] : parameters) {
    if (values.empty()) continue;
    lines += "options " + module;
    for (const auto& [name, value] : values) {
      const char* quote = value.find_first_of(" \t#") != std::string::npos ? "\"" : "";
      lines += fmt::format(" {0}={2}{1}{2}", name, value, quote);
    }
    lines += '\n';
  }
  return lines;
}

unsigned device_file_mode(const ModuleParameters& parameters, unsigned otherwise) {
  const std::string* text = find(parameters, "NVreg_DeviceFileMode");
  if (text == nullptr || text->empty()) return otherwise;
  char* end = nullptr;
  const unsigned long mode = std::strtoul(text->c_str(), &end, 0);
  return *end == '\0' && mode <= 0777 ? static_cast<unsigned>(mode) : otherwise;
}

bool nodes_are_left_alone(const ModuleParameters& parameters) {
  const std::string* text = find(parameters, "NVreg_ModifyDeviceFiles");
  return text != nullptr && *text == "0";
}

}  // namespace slipway::driver
