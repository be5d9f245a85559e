// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/sampler.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "dcgm/sampler/details.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// True for answers that concern the whole driver, for any call.
bool driver_is_away(nvmlReturn_t code) {
  return code == NVML_ERROR_UNINITIALIZED || code == NVML_ERROR_DRIVER_NOT_LOADED ||
         code == NVML_ERROR_LIB_RM_VERSION_MISMATCH;
}

/// True for answers that concern the whole GPU, for any call.
bool gpu_is_away(nvmlReturn_t code) {
  return driver_is_away(code) || code == NVML_ERROR_GPU_IS_LOST || code == NVML_ERROR_RESET_REQUIRED ||
         code == NVML_ERROR_GPU_NOT_FOUND;
}

/// True when the GPU, or its current work, has no such value; a failed read is another case.
bool has_no_value(nvmlReturn_t code) {
  return code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_FUNCTION_NOT_FOUND || code == NVML_ERROR_NO_DATA ||
         code == NVML_ERROR_INVALID_ARGUMENT || code == NVML_ERROR_NOT_FOUND;
}

/// "0000:c9:00.0" -> "00000000:C9:00.0", as NVML and dcgm-exporter write it.
std::string bus_id_of(const std::string& address) {
  std::string id = address.find(':') == 4 ? "0000" + address : address;
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return id;
}

std::string place_of(const GpuIdentity& gpu) {
  return nvidia::gpu_label(gpu.index, gpu.bus_id.empty() ? "" : nvml::sysfs_address(gpu.bus_id));
}

std::optional<unsigned> nvlink_status(nvml::Nvml& nvml, nvmlDevice_t one, nvmlDevice_t other) {
  constexpr unsigned kNvlink = 2;  // nvmlGpuP2PCapsIndex_t
  const auto status = nvml.ask<unsigned>([one, other](const nvml::Library& open, unsigned& value) {
    return nvml::invoke(open.function<nvmlDevice_t, nvmlDevice_t, unsigned, unsigned*>("nvmlDeviceGetP2PStatus"), one,
                        other, kNvlink, &value);
  });
  return status ? std::optional(*status) : std::nullopt;
}

/// Returns the /proc folder to read: the simulated kernel's for a simulated machine below this machine's root, so that
/// it shows no process of this machine.
std::string proc_folder(const Host& host) {
  const std::string above = host.borrows_root() ? host.kernel_folder() : host.root_folder();
  return (above == "/" ? "" : above) + "/proc";
}

}  // namespace

struct Sampler::Question {
  unsigned index = 0;
  std::shared_ptr<const Counters> counters;
  SamplerOptions options;
  LookOptions look;
  std::string proc;
  bool mig_events = false;  ///< an event reports changes of MIG
};

struct Sampler::Reading {
  nvmlDevice_t handle = nullptr;
  GpuIdentity gpu;
  std::vector<Entity> entities;
  std::vector<LinkEntity> links;
  std::vector<std::string> failed;  ///< names of counters
  std::shared_ptr<const GpuDetails> details;
};

Sampler::Sampler(const Host& host, SamplerOptions options, Log log)
    : host_(host),
      options_(std::move(options)),
      log_(std::move(log)),
      xids_(log_),
      processors_(host_, options_.processors) {}

Sample Sampler::sample(const std::shared_ptr<const Counters>& counters, const LookOptions& look) {
  const auto begin = std::chrono::steady_clock::now();
  look_ = look;
  if (!has_own_intervals(*counters)) look_.due.clear();  // all counters are read together
  Sample sample;
  const bool new_processors = processors_.is_new_to(*counters);
  if (new_processors) (void)processors_.look(*counters);
  const bool is_open = nvml_ && nvml_->is_open();
  if (Status opened = is_open ? Status() : open(); !opened) {
    gone(opened.error().what);
  } else {
    bool looked = look_at_gpus(counters, sample);
    if (looked && std::exchange(no_rates_, false)) {
      std::this_thread::sleep_for(options_.first_interval);
      look_.due.clear();
      sample = Sample();
      looked = look_at_gpus(counters, sample);
    }
    if (!looked) sample = Sample();
  }
  if (new_processors) std::this_thread::sleep_until(begin + options_.first_interval);
  sample.processors = processors_.look(*counters);
  sample.problem = problem_;
  sample.driver_version = driver_version_;
  if (problem_.empty() && silent_.empty())
    sample.missing = missing_;  // a GPU without an answer may be any of the
                                // missing ones
  for (const auto& [uuid, state] : gpus_) {
    sample.gpus.push_back(state);
    sample.gpus.back().xids = xids_.all(uuid);
    if (!problem_.empty()) {
      sample.gpus.back().problem = problem_;
      sample.gpus.back().details.reset();
    }
  }
  std::ranges::stable_sort(sample.gpus, {}, [](const GpuState& state) { return state.gpu.index; });
  sample.xids = xids_.take_new();
  ask_recovery_actions(sample.xids);
  sample.outages = outages_;
  sample.samples = ++samples_;
  sample.read = look_.due;
  sample.read_errors = read_errors_;
  sample.time = std::chrono::system_clock::now();
  sample.took = std::chrono::steady_clock::now() - begin;
  return sample;
}

Status Sampler::open() {
  if (!nvml_) {
    SLIPWAY_TRY(library, nvml::choose_library(host_, options_.driver_root));
    nvml_.emplace(nvml::NvmlOptions{.library = std::move(library),
                                    .call_limit = options_.call_limit,
                                    .until_exit = options_.until_exit,
                                    .find_hanging = options_.find_hanging});
  }
  return nvml_->reopen();
}

/// @return false when the driver went away
bool Sampler::look_at_gpus(const std::shared_ptr<const Counters>& counters, Sample& sample) {
  const auto version = nvml::driver_version(*nvml_);
  const auto count = nvml::device_count(*nvml_);
  if (!version || !count) {
    gone(nvml::error_text(version ? count.code() : version.code()));
    return false;
  }
  if (!driver_version_.empty() && *version != driver_version_ && answered_) {
    ++outages_;  // it was gone between two samples
    forget_history();
  }
  if (!answered_ || *version != driver_version_) log_("info", "driver " + *version + " answers");
  driver_version_ = *version;
  answered_ = true;
  problem_.clear();
  broken_ = NVML_SUCCESS;
  if (nvml_->stuck() == 0) hanging_.clear();
  look_at_all(*count, counters, sample);
  if (broken_ != NVML_SUCCESS) {
    gone(nvml::error_text(broken_));
    return false;
  }
  settle_states();
  note_events();
  note_missing(*count);
  xids_.update(*nvml_, handles_);
  add_xids(*counters, sample);
  look_at_peers(*counters, sample);
  return true;
}

/// A GPU that is removed or added in the middle of the list shifts the indexes behind it: an index is then too high, or
/// a GPU appears twice. In that case all GPUs are read once more.
void Sampler::look_at_all(unsigned count, const std::shared_ptr<const Counters>& counters, Sample& sample) {
  constexpr int kMostLooks = 3;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    handles_.clear();
    silent_.clear();
    sample.entities.clear();
    sample.links.clear();
    moved_ = false;
    for (unsigned index = 0; index < count && broken_ == NVML_SUCCESS; ++index) look_at(index, counters, sample);
    if (!moved_) return;
    const auto now = nvml::device_count(*nvml_);
    if (broken_ != NVML_SUCCESS || !now || *now == count) return;
    count = *now;
  }
}

void Sampler::look_at(unsigned index, const std::shared_ptr<const Counters>& counters, Sample& sample) {
  if (hanging_.contains(index)) {
    silent_[index] = nvml::error_text(nvml::kGaveUp);
    return;
  }
  std::shared_ptr<GpuHistory>& history = history_[index];
  if (!history) history = std::make_shared<GpuHistory>();
  auto reading = nvml_->ask_together<Reading>(
      [history, question = Question{index, counters, options_, look_, proc_folder(host_),
                                    history->handle != nullptr && xids_.tells_of_mig(history->handle)}](
          nvml::Nvml& inside, Reading& value) { return read_gpu(inside, question, *history, value); });
  if (reading) return take(*reading, sample);
  if (driver_is_away(reading.code())) {
    broken_ = reading.code();
    return;
  }
  if (reading.code() == nvml::kGaveUp) {
    hanging_.insert(index);
    history.reset();  // the hanging call keeps the history alive
  }
  moved_ = moved_ || reading.code() == NVML_ERROR_INVALID_ARGUMENT || reading.code() == NVML_ERROR_NOT_FOUND;
  silent_[index] = nvml::error_text(reading.code());
}

/// Runs on the call thread; an answer that concerns the whole GPU ends it.
nvmlReturn_t Sampler::read_gpu(nvml::Nvml& nvml, const Question& question, GpuHistory& history, Reading& reading) {
  const SamplerOptions& options = question.options;
  const auto handle = nvml::device_at(nvml, question.index);
  if (!handle) return handle.code();
  const auto uuid = nvml::device_uuid(nvml, *handle);
  if (!uuid) return uuid.code();
  if (history.uuid != *uuid) {
    history.release(nvml);
    history = {.uuid = *uuid};
  }
  if (history.handle != *handle) {
    const auto name = nvml::device_name(nvml, *handle);
    const auto pci = nvml::device_pci(nvml, *handle);
    for (const nvmlReturn_t code : {name.code(), pci.code()})
      if (code != NVML_SUCCESS) return code;
    history.identity = {.index = question.index, .uuid = *uuid, .bus_id = bus_id_of(pci->address), .model = *name};
    history.handle = *handle;
  }
  if (history.counters != question.counters) {
    history.last.clear();
    history.last_links.reset();
  }
  history.counters = question.counters;
  reading.handle = *handle;
  reading.gpu = history.identity;
  FieldReader reader(nvml, *handle, *question.counters, history);
  const bool with_mig = options.devices.kind != DeviceSelection::Kind::gpus || question.look.details;
  const MigLayout layout = with_mig ? reader.read_mig(question.mig_events) : MigLayout();
  std::vector<MigInstance> instances;
  if (options.devices.kind != DeviceSelection::Kind::gpus) instances = layout.instances;
  for (std::size_t i = 0; i < std::max<std::size_t>(instances.size(), 1); ++i) {
    const bool selected = instances.empty() ? options.devices.has_gpu(question.index)
                                            : options.devices.has_instance(question.index, static_cast<unsigned>(i));
    if (!selected) continue;
    Entity entity{.gpu = reading.gpu};
    if (!instances.empty()) {
      entity.instance = instances[i].id;
      entity.profile = instances[i].profile;
      reader.select(instances[i]);
      for (const nvmlDevice_t device : instances[i].devices)
        if (options.mig_devices)
          if (const auto mig_uuid = nvml::device_uuid(nvml, device)) entity.mig_devices.push_back(*mig_uuid);
    }
    if (const nvmlReturn_t code = read_entity(question, history, reader, entity, reading); code != NVML_SUCCESS)
      return code;
    reading.entities.push_back(std::move(entity));
  }
  history.last.clear();
  if (has_own_intervals(*question.counters))
    for (const Entity& entity : reading.entities) history.last[entity.instance.value_or(NVML_NO_INSTANCE)] = entity;
  read_links(question, history, reader, reading);
  if (question.look.details) reading.details = read_details(nvml, *handle, question.proc, reader, layout);
  return NVML_SUCCESS;
}

/// Links are read together, at the shortest interval of their counters.
void Sampler::read_links(const Question& question, GpuHistory& history, FieldReader& reader, Reading& reading) {
  const auto& counters = question.counters->links;
  if (counters.empty()) return;
  const bool due = std::ranges::any_of(counters, [&](const Counter& each) { return question.look.has(each); });
  if (due || !history.last_links) history.last_links = reader.read_links(reading.gpu, question.options.links);
  reading.links = *history.last_links;
}

/// Values that are not due are kept. Values of the whole GPU are read once, for its first instance: reading a rate
/// twice would restart its interval.
nvmlReturn_t Sampler::read_entity(const Question& question, GpuHistory& history, FieldReader& reader, Entity& entity,
                                  Reading& reading) {
  const auto before = history.last.find(entity.instance.value_or(NVML_NO_INSTANCE));
  const bool is_new = before == history.last.end();
  const auto wanted = [&](const Counter& counter) { return is_new || question.look.has(counter); };
  reader.expect(wanted);
  for (const auto& [list, values] :
       {std::pair(&question.counters->series, &Entity::series), std::pair(&question.counters->labels, &Entity::labels)})
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Counter& counter = (*list)[i];
      if (!reading.entities.empty() && !counter.field->per_instance()) {
        (entity.*values).push_back((reading.entities.front().*values)[i]);
        continue;
      }
      if (!wanted(counter)) {
        (entity.*values).push_back((before->second.*values)[i]);
        continue;
      }
      const auto value = reader.read(counter);
      if (gpu_is_away(value.code())) return value.code();
      if (!value && !has_no_value(value.code())) reading.failed.push_back(counter.name);
      (entity.*values).push_back(value ? *value : Value());
    }
  const auto is_of_processes = [&](const Counter& counter) {
    return wanted(counter) && (counter.field->number == kUtilizationField || counter.field->number == kMemoryUsedField);
  };
  if (!question.options.processes) return NVML_SUCCESS;
  if (is_new || question.look.details || std::ranges::any_of(question.counters->series, is_of_processes))
    entity.processes = reader.read_processes();
  else
    entity.processes = before->second.processes;
  return NVML_SUCCESS;
}

void Sampler::take(const Reading& reading, Sample& sample) {
  GpuState& state = gpus_[reading.gpu.uuid];
  if (!state.problem.empty()) log_("info", place_of(reading.gpu) + " answers again");
  state = {.gpu = reading.gpu, .problem = "", .details = reading.details, .xids = {}};
  moved_ = !handles_.insert_or_assign(reading.handle, reading.gpu.uuid).second || moved_;
  for (const std::string& name : reading.failed) ++read_errors_[name];
  std::ranges::copy(reading.entities, std::back_inserter(sample.entities));
  std::ranges::copy(reading.links, std::back_inserter(sample.links));
}

/// An index is a position in the driver's list: if a GPU drops out of it, those behind it move up.
void Sampler::settle_states() {
  std::set<std::string> answered;
  for (const auto& [handle, uuid] : handles_) answered.insert(uuid);
  std::erase_if(gpus_, [this](const auto& each) {
    return each.second.gpu.uuid.empty() && !silent_.contains(each.second.gpu.index);
  });
  for (auto& [uuid, state] : gpus_) {
    if (answered.contains(uuid)) continue;
    const auto silent = silent_.find(state.gpu.index);
    state.is_listed = silent != silent_.end();
    lost(state, state.is_listed ? silent->second : "the driver no longer lists it");
    if (silent != silent_.end()) silent_.erase(silent);
  }
  for (const auto& [index, why] : silent_) {  // never seen: only its position in the list is known
    GpuState& state = gpus_["index " + std::to_string(index)];
    state.gpu.index = index;
    lost(state, why);
  }
}

/// Reads the PCI bus when the driver shows another number of GPUs.
void Sampler::note_missing(unsigned count) {
  if (std::exchange(counted_, count) == count) return;
  missing_.clear();
  for (const PciDevice& each : nvidia::gpus_of_the_driver(host_)) {
    const bool is_known = std::ranges::any_of(gpus_, [&](const auto& known) {
      return nvidia::pci_place(known.second.gpu.bus_id) == nvidia::pci_place(each.address);
    });
    if (!is_known) missing_.push_back(each.address);
  }
}

/// NVML's event has only the number of the XID.
void Sampler::ask_recovery_actions(std::vector<XidEvent>& xids) {
  constexpr std::uint64_t kRecoveryActionChanged = 154;
  for (XidEvent& xid : xids) {
    if (xid.number != kRecoveryActionChanged || !nvml_ || !nvml_->is_open()) continue;
    const auto gpu = std::ranges::find_if(handles_, [&](const auto& each) { return each.second == xid.uuid; });
    if (gpu != handles_.end()) xid.recovery_action = nvml::asked_recovery_action(*nvml_, gpu->first);
  }
}

void Sampler::add_xids(const Counters& counters, Sample& sample) const {
  for (Entity& entity : sample.entities)
    for (std::size_t i = 0; i < counters.series.size(); ++i)
      if (counters.series[i].field->source == Source::xid)
        entity.series[i] = static_cast<std::int64_t>(xids_.last(entity.gpu.uuid, entity.instance));
}

/// Reads the NVLink state between each two GPUs, from both sides. It changes seldom, and takes one call per pair.
void Sampler::look_at_peers(const Counters& counters, Sample& sample) {
  constexpr std::chrono::seconds kEvery{60};
  if (!counters.wants_exporter("DCGM_EXP_P2P_STATUS")) return;
  const auto now = std::chrono::steady_clock::now();
  if (peers_of_ != handles_ || now - peers_time_ > kEvery) {
    std::vector<std::pair<nvmlDevice_t, unsigned>> gpus;
    for (const auto& [handle, uuid] : handles_) gpus.emplace_back(handle, gpus_[uuid].gpu.index);
    std::ranges::sort(gpus, {}, &std::pair<nvmlDevice_t, unsigned>::second);
    const auto read = nvml_->ask_together<std::vector<PeerStatus>>([gpus](nvml::Nvml& inside, auto& peers) {
      for (const auto& [one, index] : gpus)
        for (const auto& [other, peer] : gpus)
          if (const auto status = one == other ? std::nullopt : nvlink_status(inside, one, other))
            peers.push_back({index, peer, *status});
      return static_cast<nvmlReturn_t>(NVML_SUCCESS);
    });
    peers_ = read ? *read : std::vector<PeerStatus>();
    peers_of_ = handles_;
    peers_time_ = now;
  }
  sample.peers = peers_;
}

void Sampler::lost(GpuState& state, const std::string& why) {
  if (state.problem != why) log_("warning", place_of(state.gpu) + " cannot be read: " + why);
  state.problem = why;
  state.details.reset();
}

void Sampler::gone(const std::string& why) {
  if (problem_ != why) log_("warning", "the GPUs cannot be read: " + why);
  if (answered_) ++outages_;
  answered_ = false;
  problem_ = why;
  release();
}

/// Counters restart with another driver. NVML's samples are returned, except where a call hangs.
void Sampler::forget_history() {
  const auto histories = std::exchange(history_, {});
  no_rates_ = true;
  if (histories.empty() || !nvml_ || !nvml_->is_open() || nvml_->stuck() != 0) return;
  (void)nvml_
      ->ask_together<int>([histories](nvml::Nvml& inside, int&) {
        for (const auto& each : histories)
          if (each.second) each.second->release(inside);
        return static_cast<nvmlReturn_t>(NVML_SUCCESS);
      })
      .ok();
}

/// GPUs whose MIG mode has changed are asked for it again.
void Sampler::note_events() {
  EventNews news = xids_.take();
  news_.states = news_.states || news.states;
  std::ranges::move(news.xids, std::back_inserter(news_.xids));
  const std::set<nvmlDevice_t> changed = xids_.take_mig_changes();
  for (const auto& [index, history] : history_)
    if (history && changed.contains(history->handle)) history->mig_off_since.reset();
}

EventNews Sampler::take_events() {
  note_events();
  return std::exchange(news_, {});
}

Sampler::~Sampler() {
  xids_.release();
  forget_history();
  if (!options_.until_exit) release();
}

void Sampler::release() {
  answered_ = false;  // the next driver that answers is not counted as an outage
  xids_.release();
  handles_.clear();
  forget_history();
  if (nvml_) nvml_->release();
}

std::string silent_gpu_remedy(const GpuState& state) {
  if (state.problem == nvidia::nvml::error_text(nvidia::nvml::kGaveUp)) return nvidia::nvml::kHangRemedy;
  // A GPU cannot be reset while the driver is gone, or while the driver does not show it.
  const bool is_for_a_reset = state.problem == nvidia::nvml::error_text(NVML_ERROR_GPU_IS_LOST) ||
                              state.problem == nvidia::nvml::error_text(NVML_ERROR_RESET_REQUIRED);
  if (!is_for_a_reset) return "`slipway doctor` names the remedy";
  const std::string address = nvidia::nvml::sysfs_address(state.gpu.bus_id);
  return "drain the node; reset the GPU (`slipway pause -- nvidia-smi -r -i " +
         (address.empty() ? std::to_string(state.gpu.index) : address) + "`) or reboot";
}

}  // namespace slipway::dcgm
