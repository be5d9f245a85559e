// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/vgpu.hpp"

#include <algorithm>
#include <cstdint>

#include "nvidia/gpu.hpp"

namespace slipway::gfd {
namespace {

// PCI Local Bus Specification, 6.7: the list of capabilities.
constexpr std::uint32_t kStatus = 0x06;
constexpr unsigned kHasCapabilities = 0x10;
constexpr std::uint32_t kListHead = 0x34;
constexpr std::uint32_t kFirstCapability = 0x40;
constexpr unsigned kVendorSpecific = 0x09;
constexpr int kMostCapabilities = 48;  // more do not fit into the 256 bytes
constexpr std::uint32_t kWord = 4;

// NVIDIA's record in that capability: id, next, length, "VF", then parts, each with id, length and data.
constexpr std::size_t kSignature = 3;
constexpr std::size_t kFirstPart = 5;
constexpr std::size_t kText = 10;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0U;
}

Result<std::string> read_whole(const ConfigSpace& space, std::uint32_t at, std::uint32_t size) {
  SLIPWAY_TRY(bytes, space(at, size));
  if (bytes.size() == size) return bytes;
  return Error{.code = ErrorCode::denied,
               .what = "only a part of the GPU's PCI configuration space can be read",
               .next = "run it as root"};
}

/// Returns the bytes of the vendor specific capability; empty if the device has no such capability.
Result<std::string> vendor_capability(const ConfigSpace& space) {
  SLIPWAY_TRY(command_and_status, read_whole(space, kStatus & ~(kWord - 1), kWord));
  if ((byte_at(command_and_status, kStatus % kWord) & kHasCapabilities) == 0) return std::string();
  SLIPWAY_TRY(head, read_whole(space, kListHead, kWord));
  std::uint32_t at = byte_at(head, 0) & 0xfcU;
  for (int seen = 0; seen < kMostCapabilities && at >= kFirstCapability; ++seen) {
    SLIPWAY_TRY(first_word, read_whole(space, at, kWord));
    const unsigned id = byte_at(first_word, 0);
    if (id == 0xff) break;
    if (id == kVendorSpecific) return space(at, std::min(byte_at(first_word, 2), kConfigSpaceBytes - at));
    at = byte_at(first_word, 1) & 0xfcU;
  }
  return std::string();
}

std::string text_at(std::string_view bytes, std::size_t at) {
  const std::string_view part = bytes.substr(at, kText);
  return std::string(part.substr(0, part.find('\0')));
}

}  // namespace

Result<std::optional<VgpuHost>> read_vgpu_record(const ConfigSpace& space) {
  SLIPWAY_TRY(bytes, vendor_capability(space));
  const std::string_view record = bytes;
  if (record.size() < kFirstPart || record.substr(kSignature, 2) != "VF") return std::optional<VgpuHost>();
  for (std::size_t at = kFirstPart; at + 1 < record.size();) {
    const std::size_t length = byte_at(record, at + 1);
    const bool driver = byte_at(record, at) == 0;
    if (driver && at + 2 + 2 * kText <= record.size())
      return std::optional(VgpuHost{text_at(record, at + 2), text_at(record, at + 2 + kText)});
    if (length == 0) break;  // the loop would never end
    at += length;
  }
  return Error{.code = ErrorCode::invalid,
               .what = "a vGPU does not report the driver of its host",
               .next = "update the vGPU manager on the host"};
}

Result<std::optional<VgpuHost>> find_vgpu(const Host& host) {
  std::optional<VgpuHost> found;
  for (const PciDevice& device : host.pci_devices({.vendor = nvidia::kVendor})) {
    if (!nvidia::is_gpu(device)) continue;
    const std::string path = "/sys/bus/pci/devices/" + device.address + "/config";
    auto record = read_vgpu_record(
        [&](std::uint32_t at, std::uint32_t size_bytes) { return host.read_part(path, at, size_bytes); });
    if (!record) {
      Error error = std::move(record).error();
      if (error.where.empty()) error.where = path;
      return error;
    }
    if (*record) found = *std::move(record);
  }
  return found;
}

}  // namespace slipway::gfd
