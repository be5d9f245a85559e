// SPDX-License-Identifier: Apache-2.0
// The table of functions that NVIDIA's own tools call besides the public ones. nvidia-smi does not start without it.
#include <cstring>

#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

constexpr unsigned kEntries = 4000;  // nvidia-smi 535 reads some entries far at the end
constexpr unsigned kTopology =
    23;  // needed by `nvidia-smi topo -m`, which uses its own values when this function returns without setting any

nvmlReturn_t not_supported() { return NVML_ERROR_NOT_SUPPORTED; }
nvmlReturn_t nothing() { return NVML_SUCCESS; }

/// The first entry is the table's size in bytes, which nvidia-smi checks; the others are undocumented functions.
const void** table() {
  static const void* entries[kEntries];
  entries[0] = reinterpret_cast<const void*>(sizeof entries);
  for (unsigned i = 1; i < kEntries; ++i) entries[i] = reinterpret_cast<const void*>(&not_supported);
  entries[kTopology] = reinterpret_cast<const void*>(&nothing);
  return entries;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlInternalGetExportTable(const void** entries, const void* name) {
  return with_machine(Function::nvmlInternalGetExportTable, [=](Machine&) -> nvmlReturn_t {
    if (name == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return give(entries, static_cast<const void*>(table()));
  });
}
