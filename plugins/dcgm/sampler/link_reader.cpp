// SPDX-License-Identifier: Apache-2.0
// The NVLinks of a GPU as entities of their own, like in dcgm-exporter: only those that are up.
#include "dcgm/sampler/field_reader.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Empty: the GPU has no link of that number.
std::optional<bool> link_is_up(nvml::Nvml& nvml, nvmlDevice_t gpu, unsigned link) {
  const auto state = nvml.ask<unsigned>([gpu, link](const nvml::Library& open, unsigned& active) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned, unsigned*>("nvmlDeviceGetNvLinkState"), gpu, link,
                        &active);
  });
  return state ? std::optional(*state != 0) : std::nullopt;
}

}  // namespace

std::vector<LinkEntity> FieldReader::read_links(const GpuIdentity& gpu, const LinkSelection& selection) {
  std::vector<LinkEntity> links;
  for (unsigned number = 0; number < LinkSelection::kMostLinks; ++number) {
    const auto up = link_is_up(nvml_, gpu_, number);
    if (!up) break;
    if (!*up || !selection.has(number)) continue;
    LinkEntity& link = links.emplace_back(LinkEntity{.gpu = gpu, .link = number});
    for (const Counter& counter : counters_.links) {
      every_ = counter.every;
      const auto value = read_link(*counter.field, number);
      link.series.push_back(value ? *value : Value());
    }
  }
  return links;
}

FieldReader::Read FieldReader::read_link(const Field& field, unsigned link) {
  if (field.source == Source::link_state) return {NVML_SUCCESS, std::int64_t{1}};  // links that are down have no series
  if (field.source == Source::nvlink_rate) {
    Field of_link = field;
    of_link.argument = link;
    return read_nvlink_rate(of_link);
  }
  const auto count = nvml_.ask<unsigned long long>(
      [gpu = gpu_, link, which = field.argument](const nvml::Library& open, unsigned long long& value) {
        return nvml::invoke(
            open.function<nvmlDevice_t, unsigned, unsigned, unsigned long long*>("nvmlDeviceGetNvLinkErrorCounter"),
            gpu, link, which, &value);
      });
  if (!count) return count.code();
  return {NVML_SUCCESS, static_cast<std::int64_t>(*count)};
}

}  // namespace slipway::dcgm
