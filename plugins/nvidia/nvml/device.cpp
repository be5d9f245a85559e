// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/device.hpp"

#include <algorithm>
#include <cctype>

#include "nvidia/nvml/text.hpp"

namespace slipway::nvidia::nvml {
namespace {

Answer<nvmlDevice_t> by_text(Nvml& nvml, const char* newer, const char* older, const std::string& text) {
  auto found = nvml.ask<nvmlDevice_t>([newer, older, text](const Library& library, nvmlDevice_t& device) {
    return invoke(library.function<const char*, nvmlDevice_t*>({newer, older}), text.c_str(), &device);
  });
  if (found && nvml.hangs(*found)) return kGaveUp;
  return found;
}

PciPlace place_of(const nvmlPciInfo_t& info) {
  PciPlace place;
  place.address = sysfs_address(text_of(info.busId));
  if (place.address.empty()) place.address = sysfs_address(text_of(info.busIdLegacy));
  place.device = static_cast<std::uint16_t>(info.pciDeviceId >> 16U);
  place.subsystem_vendor = static_cast<std::uint16_t>(info.pciSubSystemId & 0xffffU);
  place.subsystem_device = static_cast<std::uint16_t>(info.pciSubSystemId >> 16U);
  return place;
}

}  // namespace

Answer<unsigned> device_count(Nvml& nvml) {
  return nvml.ask<unsigned>([](const Library& library, unsigned& count) {
    return invoke(library.function<unsigned*>({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}), &count);
  });
}

Answer<nvmlDevice_t> device_at(Nvml& nvml, unsigned index) {
  if (nvml.hangs(index)) return kGaveUp;
  return ask_value<nvmlDevice_t>(nvml, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, index);
}

Answer<nvmlDevice_t> device_by_uuid(Nvml& nvml, const std::string& uuid) {
  return by_text(nvml, "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetHandleByUUID", uuid);
}

Answer<nvmlDevice_t> device_by_pci(Nvml& nvml, const std::string& address) {
  return by_text(nvml, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId", address);
}

Answer<std::string> device_name(Nvml& nvml, nvmlDevice_t device) {
  return ask_text<nvmlDevice_t, NVML_DEVICE_NAME_V2_BUFFER_SIZE>(nvml, "nvmlDeviceGetName", device);
}

Answer<std::string> device_uuid(Nvml& nvml, nvmlDevice_t device) {
  return ask_text<nvmlDevice_t, NVML_DEVICE_UUID_V2_BUFFER_SIZE>(nvml, "nvmlDeviceGetUUID", device);
}

Answer<std::string> device_serial(Nvml& nvml, nvmlDevice_t device) {
  return ask_text<nvmlDevice_t, NVML_DEVICE_SERIAL_BUFFER_SIZE>(nvml, "nvmlDeviceGetSerial", device);
}

Answer<unsigned> device_minor(Nvml& nvml, nvmlDevice_t device) {
  return ask_value<unsigned>(nvml, {"nvmlDeviceGetMinorNumber"}, device);
}

Answer<unsigned> device_index(Nvml& nvml, nvmlDevice_t device) {
  return ask_value<unsigned>(nvml, {"nvmlDeviceGetIndex"}, device);
}

Answer<PciPlace> device_pci(Nvml& nvml, nvmlDevice_t device) {
  const auto info = ask_value<nvmlPciInfo_t>(
      nvml, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}, device);
  if (!info) return info.code();
  return {NVML_SUCCESS, place_of(*info)};
}

Answer<ComputeCapability> compute_capability(Nvml& nvml, nvmlDevice_t device) {
  return nvml.ask<ComputeCapability>([device](const Library& library, ComputeCapability& value) {
    return invoke(library.function<nvmlDevice_t, int*, int*>("nvmlDeviceGetCudaComputeCapability"), device,
                  &value.major, &value.minor);
  });
}

Answer<Memory> memory(Nvml& nvml, nvmlDevice_t device) {
  return nvml.ask<Memory>([device](const Library& library, Memory& memory) {
    nvmlMemory_v2_t newer{.version = NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2)};
    const nvmlReturn_t code =
        invoke(library.function<nvmlDevice_t, nvmlMemory_v2_t*>("nvmlDeviceGetMemoryInfo_v2"), device, &newer);
    memory = {newer.total, newer.reserved, newer.free, newer.used};
    if (code != NVML_ERROR_FUNCTION_NOT_FOUND && code != NVML_ERROR_ARGUMENT_VERSION_MISMATCH) return code;
    nvmlMemory_t older{};
    const nvmlReturn_t again =
        invoke(library.function<nvmlDevice_t, nvmlMemory_t*>("nvmlDeviceGetMemoryInfo"), device, &older);
    memory = {older.total, 0, older.free, older.used};
    return again;
  });
}

Answer<std::uint64_t> memory_total(Nvml& nvml, nvmlDevice_t device) {
  const auto info = ask_value<nvmlMemory_t>(nvml, {"nvmlDeviceGetMemoryInfo"}, device);
  if (info) return {NVML_SUCCESS, info->total};
  if (info.code() != NVML_ERROR_FUNCTION_NOT_FOUND) return info.code();
  const auto newer = memory(nvml, device);
  return newer ? Answer<std::uint64_t>(NVML_SUCCESS, newer->total) : Answer<std::uint64_t>(newer.code());
}

Answer<bool> uses_ats(Nvml& nvml, nvmlDevice_t device) {
  return nvml.ask<bool>([device](const Library& library, bool& ats) {
    nvmlDeviceAddressingMode_v1_t mode{.version = NVML_STRUCT_VERSION(nvmlDeviceAddressingMode_v1_t, 1)};
    const nvmlReturn_t code = invoke(
        library.function<nvmlDevice_t, nvmlDeviceAddressingMode_v1_t*>("nvmlDeviceGetAddressingMode"), device, &mode);
    ats = mode.value == NVML_DEVICE_ADDRESSING_MODE_ATS;
    return code;
  });
}

std::string sysfs_address(const std::string& bus_id) {
  std::string address = bus_id;
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool long_domain = address.find(':') == 8;
  return long_domain && address.starts_with("0000") ? address.substr(4) : address;
}

}  // namespace slipway::nvidia::nvml
