// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/inventory.hpp"

#include <algorithm>
#include <set>

#include "nvidia/gpu.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::toolkit {
namespace {

namespace nvml = nvidia::nvml;

/// Returns the value of an Answer, or its Error.
template <class T>
Result<T> value_or_error(const nvml::Answer<T>& answer, const std::string& doing) {
  return answer ? Result<T>(*answer) : Result<T>(answer.error(doing));
}

Result<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t gpu, const std::string& name) {
  SLIPWAY_TRY(handles, value_or_error(nvml::mig_devices(library, gpu), name + ": list its MIG devices"));
  std::vector<MigDevice> devices;
  for (const nvmlDevice_t handle : handles) {
    const auto position = static_cast<unsigned>(devices.size());
    const std::string what = name + ", MIG device " + std::to_string(position);
    SLIPWAY_TRY(uuid, value_or_error(nvml::device_uuid(library, handle), what + ": read its UUID"));
    SLIPWAY_TRY(gi, value_or_error(nvml::gpu_instance_id(library, handle), what + ": read its GPU instance"));
    SLIPWAY_TRY(ci, value_or_error(nvml::compute_instance_id(library, handle), what + ": read its compute instance"));
    const unsigned index = nvml::device_index(library, handle).value_or(position);
    const bool graphics = nvml::device_name(library, handle).value_or("").find("+gfx") != std::string::npos;
    devices.push_back({index, uuid, gi, ci, graphics});
  }
  return devices;
}

/// True for codes that mean that one GPU cannot be used, without effect on the others.
bool is_lost_code(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_GPU_IS_LOST:
    case NVML_ERROR_RESET_REQUIRED:
    case NVML_ERROR_IRQ_ISSUE:
    case NVML_ERROR_INSUFFICIENT_POWER:
    case NVML_ERROR_UNKNOWN:
    case nvml::kGaveUp:
      return true;
    default:
      return false;
  }
}

/// Reads one GPU, and records an answer that says the GPU is lost.
class Reader {
 public:
  Reader() = default;
  explicit Reader(unsigned index) : name_("GPU " + std::to_string(index)) { gpu_.index = index; }

  /// Reads the identity of the GPU.
  Status identify(nvml::Nvml& library) {
    SLIPWAY_TRY(handle, need(nvml::device_at(library, gpu_.index), "open it"));
    SLIPWAY_TRY(pci, need(nvml::device_pci(library, handle), "read its PCI address"));
    gpu_.pci_address = pci.address;
    name_ += " (" + pci.address + ")";
    return {};
  }

  /// Reads the properties that specs need.
  Status describe(nvml::Nvml& library) {
    SLIPWAY_TRY(handle, need(nvml::device_at(library, gpu_.index), "open it"));
    SLIPWAY_TRY(product, want(nvml::device_name(library, handle), "read its name"));
    display_ = product == "DGX Display" || product == "NVIDIA DGX Display";
    if (display_) return {};
    SLIPWAY_TRY(uuid, need(nvml::device_uuid(library, handle), "read its UUID"));
    SLIPWAY_TRY(minor, need(nvml::device_minor(library, handle), "read its minor number"));
    gpu_.uuid = uuid;
    gpu_.minor = minor;
    SLIPWAY_TRY(coherent, want(nvml::uses_ats(library, handle), "read how it addresses memory"));
    SLIPWAY_TRY(mig, want(nvml::mig_mode(library, handle), "read its MIG mode"));
    gpu_.coherent = coherent;
    gpu_.mig_enabled = mig.current;
    return gpu_.mig_enabled ? read_mig(library, handle) : Status{};
  }

  /// Called when its calls hang.
  void hangs() { lost_ = nvml::kGaveUp; }
  const GpuDevice& gpu() const { return gpu_; }
  bool display() const { return display_; }
  /// NVML_SUCCESS: not lost.
  nvmlReturn_t lost() const { return lost_; }

 private:
  template <class T>
  Result<T> need(const nvml::Answer<T>& answer, const char* doing) {
    if (answer) return *answer;
    if (is_lost_code(answer.code())) lost_ = answer.code();
    return answer.error(name_ + ": " + doing);
  }
  /// Reads a value that a GPU may lack.
  template <class T>
  Result<T> want(const nvml::Answer<T>& answer, const char* doing) {
    return is_lost_code(answer.code()) ? need(answer, doing) : Result<T>(answer.value_or({}));
  }

  Status read_mig(nvml::Nvml& library, nvmlDevice_t handle) {
    auto devices = read_mig_devices(library, handle, name_);
    // Does not ask which of its devices failed: a lost GPU answers no further call.
    if (!devices) return need(nvml::device_uuid(library, handle), "read its UUID") ? devices.error() : Status{};
    gpu_.mig_devices = std::move(*devices);
    return {};
  }

  std::string name_;
  GpuDevice gpu_;
  bool display_ = false;
  nvmlReturn_t lost_ = NVML_SUCCESS;
};

/// Makes several calls together: switching threads costs more than most answers.
Status ask(nvml::Nvml& library, Reader& reader, Status (Reader::*questions)(nvml::Nvml&)) {
  struct Reply {
    Reader reader;
    Status status;
  };
  const auto reply = library.ask_together<Reply>([reader, questions](nvml::Nvml& inside, Reply& all) {
    all.reader = reader;
    all.status = (all.reader.*questions)(inside);
    return NVML_SUCCESS;
  });
  if (reply) reader = reply->reader;
  if (reply) return reply->status;
  reader.hangs();
  return reply.error("read it");
}

Status read_gpu(nvml::Nvml& library, Reader& reader) {
  SLIPWAY_CHECK(ask(library, reader, &Reader::identify));
  return ask(library, reader, &Reader::describe);
}

/// Gives lost GPUs the remaining addresses, since NVML counts in bus order; GPUs that are then left on the bus are lost
/// too.
void find_missing(const Host& kernel, const std::set<std::string>& shown, Inventory& inventory) {
  std::vector<std::string> missing;
  for (const PciDevice& device : nvidia::gpus_of_the_driver(kernel, shown))
    if (!shown.contains(nvidia::pci_place(device.address))) missing.push_back(device.address);
  const auto nameless = std::ranges::count(inventory.lost, std::string(), &LostGpu::pci_address);
  if (nameless > 0 && static_cast<std::size_t>(nameless) != missing.size())
    return;  // which address is whose is unknown
  std::size_t next = 0;
  for (LostGpu& gpu : inventory.lost)
    if (gpu.pci_address.empty()) gpu.pci_address = missing[next++];
  for (; next < missing.size(); ++next)
    inventory.lost.push_back({std::nullopt, missing[next], "it is on the PCI bus, and NVML does not show it"});
}

}  // namespace

std::string LostGpu::name() const {
  if (index) return nvidia::gpu_label(*index, pci_address);
  return pci_address.empty() ? "the GPU" : "the GPU " + pci_address;
}

std::string LostGpu::remedy() const {
  constexpr const char* kLater = ". The specs include this GPU as soon as it answers";
  if (hangs) return std::string(nvml::kHangRemedy) + kLater;
  // nvidia-smi cannot reset a GPU that NVML does not show.
  if (!index)
    return "look for its address in the kernel's log (`dmesg`), then drain the node and reboot, or power it off and "
           "on; "
           "if the driver does not show the GPU after that either, have it replaced" +
           std::string(kLater);
  return "reset the GPU (`slipway pause -- nvidia-smi -r -i " +
         (pci_address.empty() ? std::to_string(*index) : pci_address) +
         "`) or reboot; if it is lost again, have it replaced" + kLater;
}

std::vector<LostNote> lost_notes(const Inventory& inventory) {
  std::vector<LostNote> notes;
  for (const LostGpu& gpu : inventory.lost)
    notes.push_back(
        {gpu.name() + " " + gpu.state() + ", so CDI specs that are written now do not include it: " + gpu.why,
         gpu.remedy()});
  return notes;
}

Result<Inventory> read_inventory(nvml::Nvml& library, const Host& kernel) {
  Inventory inventory;
  SLIPWAY_TRY(version, value_or_error(nvml::driver_version(library), "read the driver's version"));
  inventory.driver_version = version;
  SLIPWAY_TRY(count, value_or_error(nvml::device_count(library), "count the GPUs"));
  std::set<std::string> shown;
  for (unsigned index = 0; index < count; ++index) {
    Reader reader(index);
    const Status read = read_gpu(library, reader);
    const std::string& address = reader.gpu().pci_address;
    if (!address.empty()) shown.insert(nvidia::pci_place(address));
    if (reader.lost() != NVML_SUCCESS)
      inventory.lost.push_back({index, address, nvml::error_text(reader.lost()), reader.lost() == nvml::kGaveUp});
    else if (!read)
      return read.error();
    else if (!reader.display())
      inventory.gpus.push_back(reader.gpu());
  }
  find_missing(kernel, shown, inventory);
  return inventory;
}

}  // namespace slipway::toolkit
