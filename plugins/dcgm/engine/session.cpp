// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include <unistd.h>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

constexpr double kKeepSeconds = 600;  // the value that dcgm-exporter asks for
constexpr int kKeepSamples = 1;       // only the newest is read

Error failed(const DcgmLibrary& library, const std::string& doing, abi::Return code) {
  return Error{.code = code == abi::kConnectionNotValid ? ErrorCode::not_found : ErrorCode::internal,
               .what = "the DCGM engine " + doing + ": " + library.error_text(code),
               .next = "see the log of nv-hostengine (/var/log/nv-hostengine.log)"};
}

Value value_of(const abi::FieldValue& field) {
  if (field.status != abi::kOk) return {};
  if (field.type == 'd') return field.value.real >= abi::kBlankReal ? Value() : Value(field.value.real);
  if (field.type == 'i' || field.type == 't')
    return field.value.integer >= abi::kBlankInteger ? Value() : Value(field.value.integer);
  if (field.type != 's') return {};
  std::string text(field.value.text, strnlen(field.value.text, abi::kTextBytes));
  return text.starts_with(abi::kBlankText) ? Value() : Value(std::move(text));
}

/// The library's callback for values. @param context  a Taken
int take_values(int kind, unsigned entity, abi::FieldValue* values, int count, void* context) {
  if (values == nullptr) return 0;
  auto& taken = *static_cast<std::map<std::pair<int, unsigned>, FieldValues>*>(context);
  for (const abi::FieldValue& each : std::span(values, static_cast<std::size_t>(std::max(count, 0))))
    taken[{kind, entity}][each.field] = value_of(each);
  return 0;
}

std::string group_name() {
  static std::atomic<unsigned> count{0};
  return "slipway-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

const char* name_of(FieldLevel level) {
  return level == FieldLevel::nv_switch     ? "NVSwitches"
         : level == FieldLevel::switch_link ? "the links of NVSwitches"
                                            : "the NVLinks of GPUs";
}

/// GPU links and NVSwitch links have different fields.
int kind_of(FieldLevel level) { return level == FieldLevel::nv_switch ? abi::kSwitch : abi::kLink; }

}  // namespace

void EngineSession::end(bool shut_down) {
  if (handle_) (void)library_->disconnect(*handle_);
  handle_.reset();
  if (initialised_ && shut_down) (void)library_->shutdown();
  initialised_ = false;
}

Status EngineSession::begin(const EngineAddress& address) {
  if (const abi::Return code = library_->init(); code != abi::kOk)
    return failed(*library_, "cannot be reached, since DCGM's library does not initialize", code);
  initialised_ = true;
  abi::ConnectParameters how{.version = abi::kConnectParametersVersion,
                             .persist_after_disconnect = 0,
                             .timeout_ms = static_cast<unsigned>(kConnectLimit.count()),
                             .address_is_unix_socket = address.is_unix_socket ? 1U : 0U};
  abi::Handle made = 0;
  if (const abi::Return code = library_->connect(address.text.c_str(), &how, &made); code != abi::kOk)
    return failed(*library_, "does not answer at " + address.text, code);
  handle_ = made;
  return {};
}

Status EngineSession::watch(const std::vector<unsigned>& fields, std::chrono::milliseconds interval) {
  interval_ = interval;
  parts_ = {{.level = FieldLevel::gpu}};
  for (const FieldLevel level : {FieldLevel::link, FieldLevel::nv_switch, FieldLevel::switch_link})
    if (std::ranges::any_of(fields, [level](unsigned field) { return field_level(field) == level; }))
      parts_.push_back({.level = level});
  for (const unsigned field : fields)
    if (const auto part = std::ranges::find(parts_, field_level(field), &Part::level); part != parts_.end())
      part->fields.push_back(static_cast<unsigned short>(field));
  parts_.front().fields.push_back(abi::kUuidField);
  parts_.front().group = abi::kAllGpus;
  SLIPWAY_CHECK(make_field_groups(parts_.front()));
  SLIPWAY_CHECK(watch_group(parts_.front(), abi::kAllGpus));
  for (Part& part : std::span(parts_).subspan(1)) look_for_entities(part);
  look_again_ = now_() + kLookAgain;
  (void)library_->update(*handle_, 1);  // makes values available for the first read
  return {};
}

Status EngineSession::make_field_groups(Part& part) {
  for (std::size_t at = 0; at < part.fields.size(); at += abi::kMostFieldsOfAGroup) {
    const std::size_t count = std::min(part.fields.size() - at, abi::kMostFieldsOfAGroup);
    abi::FieldGroup group = 0;
    if (const abi::Return code = library_->create_field_group(*handle_, static_cast<int>(count), &part.fields[at],
                                                              group_name().c_str(), &group);
        code != abi::kOk)
      return failed(*library_, "does not watch the fields", code);
    part.field_groups.push_back(group);
  }
  return {};
}

Status EngineSession::watch_group(const Part& part, abi::Group group) const {
  for (const abi::FieldGroup fields : part.field_groups)
    if (const abi::Return code = library_->watch(*handle_, group, fields, std::chrono::microseconds(interval_).count(),
                                                 kKeepSeconds, kKeepSamples);
        code != abi::kOk)
      return failed(*library_, "does not watch the fields", code);
  return {};
}

/// Entities can appear while the engine runs: links come up when the fabric manager has trained them.
void EngineSession::look_for_entities(Part& part) {
  const auto entities = entities_of(part.level);
  if (!entities) {
    part.problem = entities.error().what;
    part.is_stale = true;
    return;
  }
  if (*entities == part.entities && part.group && !part.is_stale) return;
  part.is_stale = false;
  part.problem.clear();
  if (part.group) (void)library_->destroy_group(*handle_, *part.group);
  part.group.reset();
  part.entities.clear();
  if (entities->empty()) {
    part.problem = "it has none";
    return;
  }
  abi::Group group = 0;
  if (const abi::Return code = library_->create_group(*handle_, abi::kEmptyGroup, group_name().c_str(), &group);
      code != abi::kOk) {
    part.problem = library_->error_text(code);
    return;
  }
  part.group = group;
  for (const unsigned entity : *entities)
    if (const abi::Return code = library_->add_entity(*handle_, group, kind_of(part.level), entity); code != abi::kOk)
      part.problem = "some cannot be watched: " + library_->error_text(code);
  if (part.field_groups.empty())
    if (const Status made = make_field_groups(part); !made) {
      part.field_groups.clear();  // some groups may exist already: the next check creates all of them again
      part.problem = made.error().what;
      return;
    }
  if (const Status watched = watch_group(part, group); watched)
    part.entities = *entities;
  else
    part.problem = watched.error().what;
}

Result<std::vector<unsigned>> EngineSession::entities_of(FieldLevel level) const {
  if (level != FieldLevel::nv_switch) return active_links(level == FieldLevel::link ? abi::kGpu : abi::kSwitch);
  std::vector<unsigned> switches(abi::kMostEntitiesOfAGroup);
  int count = static_cast<int>(switches.size());
  if (const abi::Return code = library_->entities(*handle_, abi::kSwitch, switches.data(), &count, 0); code != abi::kOk)
    return failed(*library_, "does not list them", code);
  switches.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(switches.size()))));
  return switches;
}

Result<std::vector<unsigned>> EngineSession::active_links(int kind) const {
  const auto states = std::make_unique<abi::LinkStates>();
  states->version = abi::kLinkStatesVersion;
  if (const abi::Return code = library_->link_states(*handle_, states.get()); code != abi::kOk)
    return failed(*library_, "does not list them", code);
  std::vector<unsigned> links;
  const auto add = [&](unsigned owner, std::span<const int> of_links) {
    for (std::size_t i = 0; i < of_links.size() && links.size() < abi::kMostEntitiesOfAGroup; ++i)
      if (of_links[i] == abi::LinkStates::kUp) links.push_back(abi::link_entity(kind, owner, static_cast<unsigned>(i)));
  };
  if (kind == abi::kGpu)
    for (unsigned i = 0; i < std::min<std::size_t>(states->gpu_count, std::size(states->gpus)); ++i)
      add(states->gpus[i].gpu, states->gpus[i].states);
  else
    for (unsigned i = 0; i < std::min<std::size_t>(states->switch_count, std::size(states->switches)); ++i)
      add(states->switches[i].number, states->switches[i].states);
  return links;
}

/// If the engine answers for GPUs alone, the other fields are missing; that is not an error.
Status EngineSession::take(Part& part, Taken& taken) const {
  if (!part.group) return {};
  for (const abi::FieldGroup fields : part.field_groups) {
    const abi::Return code = library_->latest(*handle_, *part.group, fields, &take_values, &taken);
    if (code == abi::kOk || code == abi::kNoData) continue;
    if (part.level == FieldLevel::gpu || code == abi::kConnectionNotValid)
      return failed(*library_, "gives no values", code);
    part.problem = library_->error_text(code);
    part.is_stale = true;
    return {};
  }
  return {};
}

Result<EngineReading> EngineSession::read() {
  const Clock::time_point now = now_();
  const bool look = now >= look_again_;
  if (look) look_again_ = now + kLookAgain;
  Taken taken;
  for (Part& part : parts_) {
    if (look && part.level != FieldLevel::gpu) look_for_entities(part);
    SLIPWAY_CHECK(take(part, taken));
  }
  EngineReading reading;
  std::map<unsigned, std::string> uuids;
  for (auto& [entity, values] : taken) {
    const auto* const uuid = entity.first == abi::kGpu ? std::get_if<std::string>(&values[abi::kUuidField]) : nullptr;
    if (uuid == nullptr) continue;
    uuids[entity.second] = *uuid;
    reading.gpus[*uuid] = std::move(values);
  }
  for (auto& [entity, values] : taken) {
    const auto [kind, number] = entity;
    const unsigned owner = abi::owner_of(number), link = abi::link_of(number);
    const int owner_kind = kind == abi::kLink ? abi::owner_kind(number) : 0;
    FieldValues* place = nullptr;
    if (kind == abi::kSwitch) place = &reading.switches[number];
    if (owner_kind == abi::kSwitch) place = &reading.switch_links[{owner, link}];
    if (owner_kind == abi::kGpu && uuids.contains(owner)) place = &reading.gpu_links[{uuids[owner], link}];
    if (place != nullptr) *place = std::move(values);
  }
  return reading;
}

std::string EngineSession::missing() const {
  std::vector<std::string> parts;
  for (const Part& part : parts_)
    if (!part.problem.empty()) parts.push_back(std::string(name_of(part.level)) + " (" + part.problem + ")");
  return parts.empty() ? "" : "the DCGM engine reports nothing, or not everything, about " + joined(parts);
}

}  // namespace slipway::dcgm
