// SPDX-License-Identifier: Apache-2.0
// sim/state/machine.hpp - the state of a simulated GPU machine: one file that every process maps.
//
// Plain data of fixed size, without pointers: slipway writes it from a profile, the simulated libnvidia-ml.so.1 in each
// process answers from it and changes it, and slipway-sim changes it from outside. Code that reads more than one
// member, or changes any, holds the lock of the file (MachineFile). Texts end with NUL. Sizes are in bytes unless
// named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "sim/state/functions.hpp"

namespace slipway::sim {

inline constexpr std::uint64_t kMagic = 0x314d4953595049ULL;  // "IPYSIM1"
inline constexpr std::uint32_t kLayout = 5;                   ///< version of this header; other versions are rejected
inline constexpr unsigned kMaxGpus = 16;
inline constexpr unsigned kMaxProfiles = 16;
inline constexpr unsigned kMaxPlacements = 8;
inline constexpr unsigned kMaxInstances = 8;  ///< GPU instances of a GPU, and compute instances of one
inline constexpr unsigned kMaxProcesses = 128;
inline constexpr unsigned kMaxEvents = 256;  ///< the newest are kept
inline constexpr unsigned kMaxFields = 303;  ///< of nvmlDeviceGetFieldValues
inline constexpr unsigned kMaxLinks = 18;
inline constexpr std::int32_t kSwitch = -1;  ///< the other end of a link is an NVSwitch
inline constexpr std::int32_t kNobody = -2;  ///< the link is not connected

/// A GPU instance profile of a model, as nvmlDeviceGetGpuInstanceProfileInfo returns it.
struct MigProfile {
  std::uint32_t selector;  ///< NVML_GPU_INSTANCE_PROFILE_…
  std::uint32_t id;        ///< the id for creating an instance
  std::uint32_t slices;
  std::uint32_t max;
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines, decoders, encoders, jpeg, ofa;
  std::uint32_t graphics;  ///< 1: also for graphics
  std::uint32_t size;      ///< memory slices
  std::uint32_t starts[kMaxPlacements];
  std::uint32_t start_count;
  std::uint64_t memory_mib;
  char name[32];  ///< "1g.10gb"
};

struct MigModel {
  std::uint32_t capable;
  std::uint32_t memory_slices;
  std::uint32_t compute_slices;
  std::uint32_t resetless;            ///< the mode changes without a reset (Hopper and later)
  std::uint32_t query_when_disabled;  ///< profiles are reported while the mode is off
  std::uint32_t profile_count;
  std::uint32_t media[4];  ///< decoders, encoders, JPEG and OFA engines of the whole GPU
  MigProfile profiles[kMaxProfiles];
};

/// Properties that all GPUs of a model share.
struct Model {
  char name[96];
  char part_number[32];
  char vbios[32];
  std::uint32_t brand;
  std::uint32_t architecture;
  std::uint32_t compute_major, compute_minor;
  std::uint32_t cores;
  std::uint32_t bus_width;
  std::uint32_t integrated;  ///< memory shared with the processor: memory calls answer NOT_SUPPORTED
  std::uint64_t memory_mib, reserved_mib, bar1_mib;
  std::uint32_t clock_max[4];   ///< MHz: graphics, SM, memory, video
  std::uint32_t clock_idle[4];  ///< MHz
  std::uint32_t power_default_mw, power_min_mw, power_max_mw, power_idle_mw;
  std::uint32_t temperature_idle, temperature_slowdown, temperature_shutdown;  ///< degrees Celsius
  std::uint32_t fans;
  std::uint32_t ecc;            ///< 1: has ECC
  std::uint32_t row_remapping;  ///< 1: remaps rows; 0: retires pages
  std::uint32_t links, link_version, link_mbytes_per_s;
  std::uint32_t pcie_generation, pcie_width;
  std::uint32_t gpm;
  std::uint32_t c2c_links;
  MigModel mig;
};

struct ComputeInstance {
  std::uint32_t used;
  std::uint32_t id;
  std::uint32_t selector;  ///< NVML_COMPUTE_INSTANCE_PROFILE_…
  std::uint32_t start;     ///< compute slices within the GPU instance
  std::uint32_t size;
  std::uint32_t serial;  ///< unique to this creation: invalidates older handles
};

struct GpuInstance {
  std::uint32_t used;
  std::uint32_t id;
  std::uint32_t profile;  ///< index into MigModel::profiles
  std::uint32_t start;    ///< memory slices
  std::uint32_t size;
  std::uint32_t serial;
  ComputeInstance compute[kMaxInstances];
};

/// Faults of a GPU; all zero: none.
struct Faults {
  std::uint32_t lost;             ///< fell off the bus
  std::uint32_t hang;             ///< calls about it hang while this is set
  std::uint32_t sticky_mig_mode;  ///< a mode change stays pending
  std::uint32_t no_reset;         ///< passed through: it cannot be reset
  std::uint32_t destroy_in_use;   ///< number of destroys that answer IN_USE
  std::uint32_t create_fails;     ///< number of creates that answer INSUFFICIENT_RESOURCES
  std::uint32_t recovery_action;  ///< field 230
};

struct EccCounts {
  std::uint64_t corrected_volatile, uncorrected_volatile, corrected_aggregate, uncorrected_aggregate;
};

struct Fabric {
  std::uint32_t state;  ///< NVML_GPU_FABRIC_STATE_…
  std::uint32_t status;
  std::uint32_t clique;
  std::uint32_t health_mask;
  std::uint8_t cluster[16];
};

struct Gpu {
  Model model;
  char uuid[48];
  char serial[32];
  std::uint32_t domain, bus, device;
  std::uint32_t pci_id, subsystem_id;  ///< device in the high half, vendor in the low
  std::uint32_t device_class;
  std::uint32_t minor;  ///< of /dev/nvidiaN
  std::uint32_t module_id;
  std::int32_t numa_node;              ///< -1: not known
  std::int32_t pcie_switch;            ///< number of its PCIe switch; -1: unknown
  std::int32_t link_peers[kMaxLinks];  ///< per NVLink the index of the GPU at its other end, kSwitch or kNobody
  std::uint32_t hidden;                ///< removed from the bus, or passed to a virtual machine

  std::uint32_t load_percent;  ///< load of the work on it, in percent
  std::uint64_t memory_used_mib;
  std::uint32_t persistence, compute_mode, accounting;
  std::uint32_t ecc_current, ecc_pending;
  std::uint32_t power_limit_mw;
  std::uint32_t locked_clock_min, locked_clock_max;  ///< MHz; 0: not locked
  std::uint32_t virtualization;                      ///< NVML_GPU_VIRTUALIZATION_MODE_…
  EccCounts ecc;
  std::uint32_t remapped_corrected, remapped_uncorrected, remap_pending, remap_failed;
  std::uint32_t retired_pages, retire_pending;
  Fabric fabric;
  Faults faults;

  std::uint32_t mig_current, mig_pending;
  std::uint32_t mig_serial;  ///< counts creations
  GpuInstance instances[kMaxInstances];
};

struct Process {
  std::uint32_t used;
  std::uint32_t gpu;
  std::uint32_t pid;
  std::uint32_t kind;                            ///< 0 compute, 1 graphics, 2 MPS, 3 holds the device without a context
  std::uint32_t gpu_instance, compute_instance;  ///< ids, or 0xFFFFFFFF
  std::uint64_t memory_bytes;
  std::uint64_t start;  ///< for an attached process of this machine: it is removed when it ends; else 0
  char name[96];
};

struct Event {
  std::uint64_t number;  ///< 1, 2, …; 0: none
  std::uint64_t type;    ///< NVML_EVENT_…, or NVML_SYSTEM_EVENT_…
  std::uint64_t data;
  std::uint32_t system;  ///< 1: an event of the system
  std::uint32_t gpu;
  std::uint32_t gpu_instance, compute_instance;
};

/// The cost of a call for its thread, in microseconds; all zero: only the simulator's own time.
struct Cost {
  std::uint32_t processor_us;  ///< of processor time
  std::uint32_t wall_us;       ///< until the call returns; time beyond the processor time is spent sleeping
};

/// Costs of the driver beyond those of its functions.
struct DriverCosts {
  Cost first_initialisation, further_initialisation;  ///< of a process
  std::uint32_t field_us[kMaxFields];                 ///< processor time for each field of nvmlDeviceGetFieldValues
  std::uint32_t gpm_metric_us;                        ///< processor time for each metric of nvmlGpmMetricsGet
  std::uint32_t memory_kib;  ///< kept by a process from its first initialisation until it unloads the library
};

/// State of one function of the library.
struct FunctionState {
  std::uint64_t calls;
  std::uint64_t spent_us;      ///< total processor time of its calls so far
  std::uint64_t failing_call;  ///< the call with that number answers UNKNOWN; 0: none
  Cost cost;
  std::int32_t error;  ///< returned without any effect; 0: none
  std::uint32_t hang;
};

enum class Driver : std::uint32_t { loaded, unloaded, mismatch };
enum class Visible : std::uint32_t { all, by_device_nodes };

struct Machine {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t size;
  std::uint64_t made_from;  ///< digest of profile and settings: a state with another digest is replaced
  char profile[64];
  char driver_version[80];
  std::uint32_t driver_branch;
  std::uint32_t cuda_version;
  Driver driver;
  Visible visible;
  std::uint32_t lowest_placement;  ///< instances get the lowest possible place instead of the driver's choice
  std::uint32_t epoch;             ///< increases with each load of the driver and each reset: older handles are invalid
  std::int64_t made_at_ns;         ///< CLOCK_REALTIME; counters start here
  std::uint64_t initialisations;
  std::uint32_t changes;  ///< increases with every change that a waiting call could wait for (sim/state/events.hpp)
  std::uint32_t gpu_count;
  std::uint64_t last_event;
  Gpu gpus[kMaxGpus];
  Process processes[kMaxProcesses];
  Event events[kMaxEvents];
  FunctionState functions[kFunctionCount];
  DriverCosts costs;
};

/// Sets a text of the machine, cut to the available size, with NUL.
template <std::size_t size>
void set_text(char (&place)[size], const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

/// Returns the start of a process of this machine, in clock ticks after the boot (proc(5)); 0: there is none, or it has
/// ended and its parent has not reaped it yet.
std::uint64_t start_of_process(std::uint32_t pid);
/// Removes attached processes that have ended.
void drop_ended_processes(Machine& machine);

}  // namespace slipway::sim
