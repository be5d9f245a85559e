// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/sample.hpp - one sample of all GPUs: values in the order of the counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dcgm/counters/counters.hpp"

namespace slipway::dcgm {

/// Empty: the GPU does not have the value, or it could not be read.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

struct GpuIdentity {
  unsigned index = 0;
  std::string uuid;
  std::string bus_id;  ///< as NVML writes it: "00000000:C9:00.0"
  std::string model;
};

/// A process on a GPU or in a GPU instance.
struct ProcessUse {
  unsigned pid = 0;
  std::optional<std::int64_t> percent;  ///< of the time of the GPU's multiprocessors, if NVML reports it
  std::uint64_t memory_bytes = 0;
  std::string pod = {};  ///< "namespace/pod"; the sampler leaves it empty
};

/// The subject of series: a GPU, or one of its GPU instances (MIG).
struct Entity {
  GpuIdentity gpu;
  std::optional<unsigned> instance;      ///< NVML's id of the GPU instance
  std::string profile;                   ///< of the GPU instance: "1g.10gb"
  std::vector<std::string> mig_devices;  ///< UUIDs of the MIG devices in the instance, if they were requested
  std::optional<std::vector<ProcessUse>> processes;  ///< if they were requested
  std::vector<Value> series;                         ///< as Counters::series
  std::vector<Value> labels;                         ///< as Counters::labels
};

/// An NVLink of a GPU that is up.
struct LinkEntity {
  GpuIdentity gpu;
  unsigned link = 0;          ///< NVML's number, from 0
  std::vector<Value> series;  ///< as Counters::links
};

/// A processor, or a core of it.
struct ProcessorEntity {
  unsigned processor = 0;
  std::optional<unsigned> core;
  std::vector<Value> series;  ///< as Counters::processors
};

/// An NVSwitch, or a link of it; only DCGM's engine reports them.
struct SwitchEntity {
  unsigned number = 0;           ///< DCGM's
  std::optional<unsigned> link;  ///< from 0, as DCGM counts them
  std::vector<Value> series;     ///< in the order of Counters::switches or switch_links
  std::vector<std::pair<std::string, Value>> labels = {};
};

/// An XID, as the driver reported it.
struct XidEvent {
  std::string uuid;                  ///< of the GPU
  std::optional<unsigned> instance;  ///< the affected GPU instance; empty: the whole GPU
  std::uint64_t number = 0;
  /// For XID 154: the action that the driver asks for; empty: not reported.
  std::optional<unsigned> recovery_action = {};
};

/// NVLink between two GPUs, by their indexes.
struct PeerStatus {
  unsigned gpu = 0;
  unsigned peer = 0;
  unsigned status = 0;  ///< nvmlGpuP2PStatus_t; 0: NVLink works
};

struct GpuDetails;  // page/details.hpp

struct GpuState {
  GpuIdentity gpu;
  std::string problem;                        ///< why the GPU could not be read; empty: it was read
  bool is_listed = true;                      ///< false: the driver no longer shows it, and another GPU may have its
                                              ///< index
  std::shared_ptr<const GpuDetails> details;  ///< for the page; null: not requested, or not read
  std::map<unsigned, std::uint64_t> xids;     ///< the last one of each GPU instance, or NVML_NO_INSTANCE
};

struct Sample {
  /// True when the value was read for this sample.
  bool is_new(const Counter& counter) const { return read.empty() || read.contains(counter.every); }

  std::string problem;  ///< why NVML does not answer; empty: it answers
  std::string driver_version;
  std::vector<Entity> entities;   ///< in index order; a GPU that could not be read has none
  std::vector<LinkEntity> links;  ///< if they were requested, in the order of GPUs
  std::vector<ProcessorEntity> processors;
  std::vector<SwitchEntity> switches;  ///< with an engine; the links behind the NVSwitches
  std::vector<GpuState> gpus;          ///< all GPUs ever seen
  std::vector<std::string> missing;    ///< addresses of GPUs that the driver should show and never has shown
  std::vector<XidEvent> xids;          ///< since the previous sample
  std::vector<PeerStatus> peers;       ///< if they were requested
  std::uint64_t outages = 0;           ///< how often NVML stopped answering
  std::uint64_t samples = 0;
  std::set<std::chrono::milliseconds> read;  ///< intervals of the counters that were read for this sample; empty: all
                                             ///< counters
  std::map<std::string, std::uint64_t> read_errors;  ///< by the counter's name
  std::chrono::system_clock::time_point time;
  std::chrono::steady_clock::duration took{};
};

}  // namespace slipway::dcgm
