// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/vgpu.hpp"

#include <cstdint>

namespace slipway::gfd {
namespace {

// PCI Local Bus Specification, 6.7: the list of capabilities.
constexpr std::size_t kStatus = 0x06;
constexpr unsigned kHasCapabilities = 0x10;
constexpr std::size_t kListHead = 0x34;
constexpr unsigned kVendorSpecific = 0x09;
constexpr std::size_t kSpace = 256;

// NVIDIA's record in it: id, next, length, "VF", then parts of id, length and data.
constexpr std::size_t kSignature = 3;
constexpr std::size_t kFirstPart = 5;
constexpr std::size_t kText = 10;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0U;
}

/// The bytes of the vendor specific capability; empty: there is none.
std::string_view vendor_capability(std::string_view space) {
  if ((byte_at(space, kStatus) & kHasCapabilities) == 0) return {};
  std::size_t at = byte_at(space, kListHead) & 0xfcU;
  for (int seen = 0; seen < 48 && at >= 0x40 && at + 2 < space.size(); ++seen) {  // no more than 48 fit
    const unsigned id = byte_at(space, at);
    if (id == 0xff) return {};
    if (id == kVendorSpecific) return space.substr(at, byte_at(space, at + 2));
    at = byte_at(space, at + 1) & 0xfcU;
  }
  return {};
}

std::string text_at(std::string_view bytes, std::size_t at) {
  const std::string_view part = bytes.substr(at, kText);
  return std::string(part.substr(0, part.find('\0')));
}

}  // namespace

Result<std::optional<VgpuHost>> read_vgpu_record(std::string_view space) {
  const std::string_view record = vendor_capability(space);
  if (record.size() < kFirstPart || record.substr(kSignature, 2) != "VF") return std::optional<VgpuHost>();
  for (std::size_t at = kFirstPart; at + 1 < record.size();) {
    const std::size_t length = byte_at(record, at + 1);
    const bool driver = byte_at(record, at) == 0;
    if (driver && at + 2 + 2 * kText <= record.size())
      return std::optional(VgpuHost{text_at(record, at + 2), text_at(record, at + 2 + kText)});
    if (length == 0) break;  // would never end
    at += length;
  }
  return Error{.code = ErrorCode::invalid,
               .what = "a vGPU does not say which driver its host runs",
               .next = "update the vGPU manager on the host"};
}

Result<std::optional<VgpuHost>> find_vgpu(const Host& host) {
  std::optional<VgpuHost> found;
  for (const PciDevice& device : host.pci_devices({.vendor = 0x10de})) {
    const std::string path = "/sys/bus/pci/devices/" + device.address + "/config";
    SLIPWAY_TRY(space, host.read(path));
    if (space.size() < kSpace)
      return Error{.code = ErrorCode::denied,
                   .what = "the configuration space of " + device.address + " cannot be read as a whole",
                   .where = path,
                   .next = "run it as root"};
    SLIPWAY_TRY(record, read_vgpu_record(space));
    if (record) found = std::move(record);
  }
  return found;
}

}  // namespace slipway::gfd
