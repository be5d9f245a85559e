// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/field_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "nvidia/nvml/abi/vgpu.h"
#include "nvidia/nvml/event.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;
using Read = FieldReader::Read;

constexpr unsigned kHottest = 200;  // °C; DCGM takes a higher value as a sign of a broken sensor

Read read_of(nvmlReturn_t code, Value value) {
  return code == NVML_SUCCESS ? Read{code, std::move(value)} : Read{code};
}

Value scaled(const Field& field, double value) {
  if (field.real) return value * field.factor;
  return static_cast<std::int64_t>(value * field.factor);
}

/// Some drivers leave the type of ECC counters unset, which reads as a double.
std::uint64_t whole_number(const nvmlFieldValue_t& value) {
  const bool untyped = value.valueType == NVML_VALUE_TYPE_DOUBLE;
  const bool large = untyped || value.valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG ||
                     value.valueType == NVML_VALUE_TYPE_UNSIGNED_LONG;
  return large ? value.value.ullVal : static_cast<std::uint64_t>(nvml::number_of(value));
}

constexpr std::array kBrands{"Unknown",
                             "Quadro",
                             "Tesla",
                             "NVS",
                             "Grid",
                             "GeForce",
                             "Titan",
                             "NVIDIA Virtual Applications",
                             "NVIDIA Virtual PC",
                             "NVIDIA Virtual Compute Server",
                             "NVIDIA RTX Virtual Workstation",
                             "NVIDIA Cloud Gaming",
                             "Quadro RTX",
                             "NVIDIA RTX",
                             "NVIDIA",
                             "GeForce RTX",
                             "Titan RTX"};

}  // namespace

FieldReader::FieldReader(nvml::Nvml& nvml, nvmlDevice_t gpu, const Counters& counters, GpuHistory& history)
    : nvml_(nvml), gpu_(gpu), counters_(counters), history_(history) {}

void FieldReader::select(const MigInstance& instance) {
  instance_ = instance;
  profiling_codes_.clear();
  profiling_.clear();
}

Read FieldReader::read(const Counter& counter) {
  every_ = counter.every;
  return read_field(*counter.field);
}

/// Caches values: several counters may use one field, and the page always shows some fields.
Read FieldReader::read_field(const Field& field) {
  if (instance_ && field.whole_gpu) return NVML_ERROR_NOT_SUPPORTED;
  const bool is_rate = field.source == Source::nvlink_rate ||
                       field.source == Source::nvlink_bytes;  // a rate since the previous read at the same interval
  if (field.per_instance() || is_rate) return ask_field(field);
  const auto known = reads_.find(&field);
  return known != reads_.end() ? known->second : reads_.emplace(&field, ask_field(field)).first->second;
}

Read FieldReader::ask_field(const Field& field) {
  switch (field.source) {
    case Source::number:
    case Source::large_number:
    case Source::two_numbers:
    case Source::selected_number:
    case Source::system_number:
    case Source::compute_capability:
    case Source::confidential:
      return read_number(field);
    case Source::text:
    case Source::system_text:
    case Source::inforom_version:
      return read_text(field);
    case Source::brand:
      return read_brand();
    case Source::bar1:
      return read_bar1(field);
    case Source::memory_errors:
      return read_memory_errors(field);
    case Source::sram_threshold:
      return read_sram_threshold();
    case Source::row_histogram:
      return read_row_histogram(field);
    case Source::gpu_memory:
      return read_gpu_memory(field);
    case Source::nvlink_bytes:
      return read_nvlink_bytes(field);
    case Source::temperature:
      return read_temperature();
    case Source::memory_temperature:
    case Source::field_value:
      return read_field_value(field);
    case Source::utilization:
      return read_utilization(field);
    case Source::framebuffer:
      return read_framebuffer(field);
    case Source::retired_pages:
      return read_retired_pages(field);
    case Source::nvlink_rate:
      return read_nvlink_rate(field);
    case Source::vgpu_license:
      return read_license();
    case Source::profiling:
      return read_profiling(field);
    case Source::xid:
    case Source::link_state:
    case Source::link_errors:
    case Source::processor_share:
      break;
  }
  return NVML_ERROR_NOT_SUPPORTED;
}

Read FieldReader::read_number(const Field& field) {
  const auto& answer = number_of(field);
  return read_of(answer.code(), scaled(field, static_cast<double>(*answer)));
}

/// Several fields may be the same number in different units, so the number is read once for all of them. Constants, and
/// the fact that a GPU does not have a value, are read once per driver.
const nvml::Answer<unsigned long long>& FieldReader::number_of(const Field& field) {
  const GpuHistory::Question question{field.function, field.argument};
  if (const auto known = history_.constants.find(question); known != history_.constants.end()) return known->second;
  if (const auto known = numbers_.find(question); known != numbers_.end()) return known->second;
  const auto answer = ask_number(field);
  auto& kept = field.is_constant() && (answer || answer.absent()) ? history_.constants : numbers_;
  return kept.emplace(question, answer).first->second;
}

nvml::Answer<unsigned long long> FieldReader::ask_number(const Field& field) {
  return nvml_.ask<unsigned long long>([field, gpu = gpu_](const nvml::Library& open, unsigned long long& value) {
    const char* const name = field.function;
    if (field.source == Source::large_number)
      return nvml::invoke(open.function<nvmlDevice_t, unsigned long long*>(name), gpu, &value);
    if (field.source == Source::compute_capability) {
      constexpr unsigned kMajorBits = 16;
      int major = 0;
      int minor = 0;
      const nvmlReturn_t told = nvml::invoke(
          open.function<nvmlDevice_t, int*, int*>("nvmlDeviceGetCudaComputeCapability"), gpu, &major, &minor);
      value = static_cast<unsigned long long>(major) << kMajorBits | static_cast<unsigned>(minor);
      return told;
    }
    if (field.source == Source::confidential) {
      nvmlConfComputeSystemState_t state{};
      const nvmlReturn_t told =
          nvml::invoke(open.function<nvmlConfComputeSystemState_t*>("nvmlSystemGetConfComputeState"), &state);
      value = state.ccFeature;
      return told;
    }
    unsigned number = 0;
    unsigned other = 0;
    nvmlReturn_t code = NVML_ERROR_NOT_SUPPORTED;
    if (field.source == Source::two_numbers)
      code = nvml::invoke(open.function<nvmlDevice_t, unsigned*, unsigned*>(name), gpu, &number, &other);
    else if (field.source == Source::system_number)
      code = nvml::invoke(open.function<unsigned*>(name), &number);
    else if (field.source == Source::selected_number)
      code = nvml::invoke(open.function<nvmlDevice_t, unsigned, unsigned*>(name), gpu, field.argument, &number);
    else
      code = nvml::invoke(open.function<nvmlDevice_t, unsigned*>(name), gpu, &number);
    value = number;
    return code;
  });
}

Read FieldReader::read_text(const Field& field) {
  const GpuHistory::Question question{field.source == Source::inforom_version ? "" : field.function, field.argument};
  auto known = history_.texts.find(question);
  if (known == history_.texts.end()) {
    const auto asked = ask_text(field);
    if (!asked && !asked.absent()) return asked.code();
    known = history_.texts.emplace(question, asked).first;
  }
  const auto& answer = known->second;
  return answer && !answer->empty() ? Read{answer.code(), *answer} : read_of(answer.code(), {});
}

nvml::Answer<std::string> FieldReader::ask_text(const Field& field) {
  return nvml_.ask<std::string>([field, gpu = gpu_](const nvml::Library& open, std::string& text) {
    std::array<char, NVML_DEVICE_NAME_V2_BUFFER_SIZE + 1> buffer{};  // the largest of these texts; the last byte stays
                                                                     // 0
    const auto size = static_cast<unsigned>(buffer.size() - 1);
    nvmlReturn_t code = NVML_ERROR_NOT_SUPPORTED;
    if (field.source == Source::system_text)
      code = nvml::invoke(open.function<char*, unsigned>(field.function), buffer.data(), size);
    else if (field.source == Source::inforom_version)
      code = nvml::invoke(open.function<nvmlDevice_t, unsigned, char*, unsigned>("nvmlDeviceGetInforomVersion"), gpu,
                          field.argument, buffer.data(), size);
    else
      code = nvml::invoke(open.function<nvmlDevice_t, char*, unsigned>(field.function), gpu, buffer.data(), size);
    text = buffer.data();
    return code;
  });
}

Read FieldReader::read_brand() {
  const auto brand = read_number({.source = Source::number, .function = "nvmlDeviceGetBrand"});
  if (!brand) return brand;
  const auto number = static_cast<std::size_t>(std::get<std::int64_t>(*brand));
  return read_of(NVML_SUCCESS, std::string(number < kBrands.size() ? kBrands[number] : kBrands[0]));
}

Read FieldReader::read_bar1(const Field& field) {
  if (!bar1_)
    bar1_ = nvml_.ask<nvmlBAR1Memory_t>([gpu = gpu_](const nvml::Library& open, nvmlBAR1Memory_t& value) {
      return nvml::invoke(open.function<nvmlDevice_t, nvmlBAR1Memory_t*>("nvmlDeviceGetBAR1MemoryInfo"), gpu, &value);
    });
  const nvmlBAR1Memory_t& memory = **bar1_;
  const auto part = static_cast<Bar1>(field.argument);
  const auto bytes = part == Bar1::total ? memory.bar1Total : part == Bar1::free ? memory.bar1Free : memory.bar1Used;
  return read_of(bar1_->code(), scaled(field, static_cast<double>(bytes)));
}

/// These fields do not exist on Ampere and newer, which count DRAM and SRAM only.
Read FieldReader::read_memory_errors(const Field& field) {
  const unsigned type = field.argument & 1U;
  const unsigned counter = field.argument >> 1U & 1U;
  const unsigned location = field.argument >> 2U;
  const auto errors =
      nvml_.ask<unsigned long long>([=, gpu = gpu_](const nvml::Library& open, unsigned long long& value) {
        const auto function = open.function<nvmlDevice_t, unsigned, unsigned, unsigned, unsigned long long*>(
            "nvmlDeviceGetMemoryErrorCounter");
        return nvml::invoke(function, gpu, type, counter, location, &value);
      });
  return read_of(errors.code(), static_cast<std::int64_t>(*errors));
}

Read FieldReader::read_sram_threshold() {
  const auto status = nvml_.ask<nvmlEccSramErrorStatus_v1_t>(
      [gpu = gpu_](const nvml::Library& open, nvmlEccSramErrorStatus_v1_t& value) {
        value.version = NVML_STRUCT_VERSION(nvmlEccSramErrorStatus_v1_t, 1);
        return nvml::invoke(
            open.function<nvmlDevice_t, nvmlEccSramErrorStatus_v1_t*>("nvmlDeviceGetSramEccErrorStatus"), gpu, &value);
      });
  return read_of(status.code(), std::int64_t{status->bThresholdExceeded});
}

Read FieldReader::read_row_histogram(const Field& field) {
  if (!rows_)
    rows_ = nvml_.ask<nvmlRowRemapperHistogramValues_t>(
        [gpu = gpu_](const nvml::Library& open, nvmlRowRemapperHistogramValues_t& value) {
          return nvml::invoke(
              open.function<nvmlDevice_t, nvmlRowRemapperHistogramValues_t*>("nvmlDeviceGetRowRemapperHistogram"), gpu,
              &value);
        });
  const nvmlRowRemapperHistogramValues_t& rows = **rows_;
  const std::array<unsigned, 5> banks{rows.max, rows.high, rows.partial, rows.low, rows.none};
  return read_of(rows_->code(), std::int64_t{banks.at(field.argument)});
}

Read FieldReader::read_temperature() {
  constexpr unsigned kCore = 0;  // nvmlTemperatureSensors_t
  const auto& degrees =
      number_of({.source = Source::selected_number, .function = "nvmlDeviceGetTemperature", .argument = kCore});
  if (degrees && *degrees > kHottest) return NVML_ERROR_NO_DATA;
  return read_of(degrees.code(), static_cast<std::int64_t>(*degrees));
}

/// Reads all field values of the counters in one call. Counters of NVLink 5 and newer are per link unless the scope
/// says all links; on those GPUs the older errors of all links need that scope too.
void FieldReader::ask_field_values() {
  std::vector<unsigned> numbers;
  std::vector<unsigned> of_all_links;
  const auto add = [](std::vector<unsigned>& to, unsigned number) {  // two counters may use the same field
    if (std::ranges::find(to, number) == to.end()) to.push_back(number);
  };
  for (const auto* list : {&counters_.series, &counters_.labels})
    for (const Counter& counter : *list) {
      if (!wanted_(counter)) continue;
      const unsigned number = counter.field->argument;
      if (counter.field->source == Source::field_value && number >= 201 && number <= 222)
        add(of_all_links, number);
      else if (counter.field->source == Source::field_value || counter.field->source == Source::memory_temperature)
        add(numbers, number);
    }
  field_values_.emplace();
  if (!numbers.empty()) {
    const auto values = nvml::field_values(nvml_, gpu_, numbers);
    field_values_code_ = values.code();
    for (const nvmlFieldValue_t& value : *values) {
      const bool of_links = value.fieldId >= 32 && value.fieldId <= 73;
      if (of_links && value.nvmlReturn != NVML_SUCCESS) of_all_links.push_back(value.fieldId);
      field_values_->emplace(value.fieldId, value);
    }
  }
  if (of_all_links.empty()) return;
  const auto values = nvml::field_values(nvml_, gpu_, of_all_links, kAllLinks);
  if (!values) return;
  for (const nvmlFieldValue_t& value : *values) (*field_values_)[value.fieldId] = value;
}

Read FieldReader::read_field_value(const Field& field) {
  if (!field_values_) ask_field_values();
  if (field_values_code_ != NVML_SUCCESS) return field_values_code_;
  const auto found = field_values_->find(field.argument);
  if (found == field_values_->end()) return NVML_ERROR_NOT_SUPPORTED;
  const nvmlFieldValue_t& value = found->second;
  if (value.nvmlReturn != NVML_SUCCESS) return value.nvmlReturn;
  if (value.valueType == NVML_VALUE_TYPE_DOUBLE && value.timestamp == 0) return NVML_ERROR_NOT_SUPPORTED;  // ECC is off
  if (field.source == Source::memory_temperature)
    return value.value.uiVal > kHottest ? Read(NVML_ERROR_NO_DATA)
                                        : read_of(NVML_SUCCESS, std::int64_t{value.value.uiVal});
  if (field.real) return read_of(NVML_SUCCESS, scaled(field, nvml::number_of(value)));
  return read_of(NVML_SUCCESS, static_cast<std::int64_t>(whole_number(value)));
}

Read FieldReader::read_utilization(const Field& field) {
  if (!utilization_)
    utilization_ = nvml_.ask<nvmlUtilization_t>([gpu = gpu_](const nvml::Library& open, nvmlUtilization_t& value) {
      return nvml::invoke(open.function<nvmlDevice_t, nvmlUtilization_t*>("nvmlDeviceGetUtilizationRates"), gpu,
                          &value);
    });
  const unsigned percent = field.argument == 0 ? (*utilization_)->gpu : (*utilization_)->memory;
  return read_of(utilization_->code(), std::int64_t{percent});
}

Read FieldReader::read_framebuffer(const Field& field) {
  if (instance_ && instance_->device == nullptr) return NVML_ERROR_NOT_SUPPORTED;  // without a compute instance
  return memory_part(field, memory_of(instance_ ? instance_->device : gpu_));
}

/// Memory of the whole GPU; without MIG it is the same as the entity's memory, and read only once.
Read FieldReader::read_gpu_memory(const Field& field) { return memory_part(field, memory_of(gpu_)); }

const nvml::Answer<nvml::Memory>& FieldReader::memory_of(nvmlDevice_t device) {
  const auto known = memories_.find(device);
  return known != memories_.end() ? known->second
                                  : memories_.emplace(device, nvml::memory(nvml_, device)).first->second;
}

Read FieldReader::memory_part(const Field& field, const nvml::Answer<nvml::Memory>& answer) const {
  if (!answer) return answer.code();
  const nvml::Memory& memory = *answer;
  const auto part = [&field](std::uint64_t bytes) {
    return read_of(NVML_SUCCESS, static_cast<std::int64_t>(field.factor == 1 ? bytes : bytes >> 20U));
  };
  switch (static_cast<Framebuffer>(field.argument)) {
    case Framebuffer::total:
      return part(memory.total);
    case Framebuffer::free:
      return part(memory.free);
    case Framebuffer::used:
      return part(memory.used);
    case Framebuffer::reserved:
      return nvml_.has("nvmlDeviceGetMemoryInfo_v2") ? part(memory.reserved) : Read(NVML_ERROR_NOT_SUPPORTED);
    case Framebuffer::used_share:
      break;
  }
  if (memory.total <= memory.reserved) return NVML_ERROR_NO_DATA;
  return read_of(NVML_SUCCESS, static_cast<double>(memory.used) / static_cast<double>(memory.total - memory.reserved));
}

Read FieldReader::read_retired_pages(const Field& field) {
  const auto pages =
      nvml_.ask<unsigned>([cause = field.argument, gpu = gpu_](const nvml::Library& open, unsigned& count) {
        const auto function =
            open.function<nvmlDevice_t, unsigned, unsigned*, unsigned long long*>("nvmlDeviceGetRetiredPages");
        const nvmlReturn_t code = nvml::invoke(function, gpu, cause, &count, static_cast<unsigned long long*>(nullptr));
        return code == NVML_ERROR_INSUFFICIENT_SIZE ? static_cast<nvmlReturn_t>(NVML_SUCCESS) : code;
      });
  return read_of(pages.code(), std::int64_t{*pages});
}

/// NVML counts KiB; DCGM reports thousands of them per second. The first read has nothing to compare with and returns
/// 0.
const nvml::Answer<FieldReader::Traffic>& FieldReader::traffic_of(unsigned link) {
  constexpr unsigned kSent = 138;
  constexpr unsigned kReceived = 139;
  const auto [at, is_new] = traffic_.try_emplace({every_, link}, nvml::Answer<Traffic>(NVML_ERROR_UNKNOWN));
  if (!is_new) return at->second;
  const auto values = nvml::field_values(nvml_, gpu_, {kSent, kReceived}, link);
  if (!values) return at->second = values.code();
  GpuHistory::Traffic now{.kib = {}, .time = GpuHistory::Clock::now()};
  for (std::size_t i = 0; i < now.kib.size() && i < values->size(); ++i) {
    if ((*values)[i].nvmlReturn != NVML_SUCCESS) return at->second = (*values)[i].nvmlReturn;
    now.kib[i] = whole_number((*values)[i]);
  }
  Traffic traffic{.kib = now.kib, .more_kib = {}, .passed = {}};
  const auto known = history_.links.find({every_, link});
  if (known != history_.links.end() && now.time > known->second.time) {
    traffic.passed = now.time - known->second.time;
    for (std::size_t i = 0; i < now.kib.size(); ++i)  // a counter that has restarted adds nothing this time
      traffic.more_kib[i] = now.kib[i] - std::min(now.kib[i], known->second.kib[i]);
  }
  history_.links[{every_, link}] = now;
  return at->second = {NVML_SUCCESS, traffic};
}

Read FieldReader::read_nvlink_rate(const Field& field) {
  const auto& traffic = traffic_of(field.argument);
  if (!traffic) return traffic.code();
  std::uint64_t kib = 0;
  if ((field.directions & 1U) != 0) kib += traffic->more_kib[0];
  if ((field.directions & 2U) != 0) kib += traffic->more_kib[1];
  const double seconds = traffic->passed.count();
  return read_of(NVML_SUCCESS, static_cast<std::int64_t>(seconds > 0 ? static_cast<double>(kib) / seconds / 1000 : 0));
}

Read FieldReader::read_nvlink_bytes(const Field& field) {
  const auto& traffic = traffic_of(kAllLinks);
  if (!traffic) return traffic.code();
  std::uint64_t kib = 0;
  if ((field.argument & 1U) != 0) kib += traffic->kib[0];
  if ((field.argument & 2U) != 0) kib += traffic->kib[1];
  return read_of(NVML_SUCCESS, static_cast<std::int64_t>(kib << 10U));
}

Read FieldReader::read_license() {
  constexpr unsigned kVgpu = 1;  // nvmlGridLicenseFeatureCode_t
  const auto all = nvml_.ask<nvmlGridLicensableFeatures_t>(
      [gpu = gpu_](const nvml::Library& open, nvmlGridLicensableFeatures_t& value) {
        return nvml::invoke(
            open.function<nvmlDevice_t, nvmlGridLicensableFeatures_t*>("nvmlDeviceGetGridLicensableFeatures_v4"), gpu,
            &value);
      });
  if (!all && !all.absent()) return all.code();
  std::int64_t licensed = 0;
  if (all && all->isGridLicenseSupported != 0)
    for (unsigned i = 0; i < std::min<unsigned>(all->licensableFeaturesCount, 3); ++i)
      if (all->gridLicensableFeatures[i].featureCode == kVgpu && all->gridLicensableFeatures[i].featureState > 0)
        licensed = 1;
  return read_of(NVML_SUCCESS, licensed);
}

Read FieldReader::read_profiling(const Field& field) {
  if (!profiling_codes_.contains(every_)) profiling_codes_[every_] = ask_profiling();
  if (profiling_codes_[every_] != NVML_SUCCESS) return profiling_codes_[every_];
  const auto found = profiling_.find(field.argument);
  if (found == profiling_.end()) return NVML_ERROR_NOT_SUPPORTED;
  const nvmlGpmMetric_t& metric = found->second;
  if (metric.nvmlReturn != NVML_SUCCESS) return metric.nvmlReturn;
  return std::isnan(metric.value) ? Read(NVML_ERROR_NO_DATA) : read_of(NVML_SUCCESS, scaled(field, metric.value));
}

}  // namespace slipway::dcgm
