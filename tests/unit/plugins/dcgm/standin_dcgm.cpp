// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/dcgm/standin_dcgm.cpp - a libdcgm.so.4 of the tests' own, made from DCGM's public headers. Files
// in the folder that STANDIN_DCGM names describe the engine:
//   uuids  a line for each GPU; mode  "ok", "refuse", "hang" or "drop"; calls  what was called, a line each;
//   switches  a line for each NVSwitch: its number, then those of its links that are up; links  the number of GPUs, and
//   how many each has.
// A GPU's integers are number * 10 + GPU, its reals 0.5 + GPU / 100; NVSwitches and links have number * 10 + theirs.
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "dcgm/engine/abi.hpp"

namespace {

using namespace slipway::dcgm::abi;

constexpr unsigned kFirstGpu = 7;  // DCGM has its own numbers

struct Entity {
  int kind;
  unsigned number;
};

std::vector<std::vector<unsigned short>> groups;
std::vector<std::vector<Entity>> entity_groups;

std::string folder() {
  const char* const named = std::getenv("STANDIN_DCGM");
  return named == nullptr ? "/nonexistent" : named;
}

void note(const std::string& line) { std::ofstream(folder() + "/calls", std::ios::app) << line << std::endl; }

std::string mode() {
  std::string word;
  std::ifstream(folder() + "/mode") >> word;
  while (word == "hang") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ifstream(folder() + "/mode") >> word;
  }
  return word;
}

/// Uses the type in the header for a field: profiling fields and a few others are reals.
FieldValue value_of(unsigned short field, unsigned gpu, const std::string& uuid) {
  FieldValue value{};
  value.version = sizeof value | 1U << 24U;
  value.field = field;
  if (field == kUuidField) {
    value.type = 's';
    std::strncpy(value.value.text, uuid.c_str(), kTextBytes - 1);
  } else if (field >= 1001 && field <= 1008) {
    value.type = 'd';
    value.value.real = 0.5 + gpu / 100.0;
  } else {
    value.type = 'i';
    value.value.integer = field == 1010 ? kBlankInteger + 2 : field * 10 + gpu;
  }
  return value;
}

std::vector<std::vector<unsigned>> switches() {
  std::vector<std::vector<unsigned>> all;
  std::ifstream in(folder() + "/switches");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    all.emplace_back(std::istream_iterator<unsigned>(words), std::istream_iterator<unsigned>());
  }
  return all;
}

}  // namespace

extern "C" {

Return dcgmInit() { return kOk; }

Return dcgmShutdown() { return kOk; }

Return dcgmConnect_v2(const char* address, ConnectParameters* how, Handle* handle) {
  note(std::string("connect ") + address + (how->address_is_unix_socket != 0 ? " unix" : " tcp"));
  if (how->version != kConnectParametersVersion) return kBadParameter;
  if (mode() == "refuse") return kConnectionNotValid;
  if (how->address_is_unix_socket != 0 && access(address, F_OK) != 0) return kConnectionNotValid;
  *handle = 1;
  return kOk;
}

Return dcgmDisconnect(Handle) {
  note("disconnect");
  return kOk;
}

Return dcgmFieldGroupCreate(Handle, int count, const unsigned short* fields, const char*, FieldGroup* group) {
  if (count < 1 || static_cast<std::size_t>(count) > kMostFieldsOfAGroup) return kBadParameter;
  groups.emplace_back(fields, fields + count);
  *group = groups.size();
  return kOk;
}

Return dcgmWatchFields(Handle, Group group, FieldGroup fields, long long interval, double, int) {
  std::string line = "watch";
  for (const unsigned short each : groups.at(fields - 1)) line += " " + std::to_string(each);
  note(line + " every " + std::to_string(interval));
  return group == kAllGpus || group <= entity_groups.size() ? kOk : kBadParameter;
}

Return dcgmUpdateAllFields(Handle, int) { return kOk; }

Return dcgmGetEntityGroupEntities(Handle, int kind, unsigned* entities, int* count, unsigned) {
  if (kind != kSwitch) return kBadParameter;
  const auto all = switches();
  if (all.empty()) return -33;
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(*count); ++i) entities[i] = all[i].at(0);
  *count = static_cast<int>(all.size());
  return kOk;
}

Return dcgmGetNvLinkLinkStatus(Handle, LinkStates* states) {
  if (states->version != kLinkStatesVersion) return kBadParameter;
  unsigned gpus = 0, links = 0;
  std::ifstream(folder() + "/links") >> gpus >> links;
  for (; states->gpu_count < gpus; ++states->gpu_count) {
    auto& gpu = states->gpus[states->gpu_count];
    gpu.gpu = kFirstGpu + states->gpu_count;
    for (unsigned i = 0; i < links; ++i) gpu.states[i] = LinkStates::kUp;
  }
  for (const auto& each : switches()) {
    auto& of_switch = states->switches[states->switch_count++];
    of_switch.number = each.at(0);
    of_switch.states[2] = 2;  // down
    for (std::size_t i = 1; i < each.size(); ++i) of_switch.states[each[i]] = LinkStates::kUp;
  }
  return kOk;
}

Return dcgmGroupCreate(Handle, int type, const char*, Group* group) {
  entity_groups.emplace_back();
  *group = entity_groups.size();
  return type == kEmptyGroup ? kOk : kBadParameter;
}

Return dcgmGroupAddEntity(Handle, Group group, int kind, unsigned entity) {
  entity_groups.at(group - 1).push_back({kind, entity});
  return kOk;
}

Return dcgmGroupDestroy(Handle, Group group) {
  entity_groups.at(group - 1).clear();
  return kOk;
}

Return dcgmGetLatestValues_v2(Handle, Group group, FieldGroup fields, TakeValues take, void* context) {
  if (mode() == "drop") return kConnectionNotValid;
  if (group != kAllGpus) {
    for (const auto& [kind, number] : entity_groups.at(group - 1))
      for (const unsigned short field : groups.at(fields - 1)) {
        FieldValue value = value_of(field, kind == kLink ? link_of(number) : number, "");
        if (take(kind, number, &value, 1, context) < 0) return kOk;
      }
    return kOk;
  }
  std::ifstream in(folder() + "/uuids");
  unsigned gpu = kFirstGpu;
  for (std::string uuid; std::getline(in, uuid); ++gpu)
    for (const unsigned short field : groups.at(fields - 1)) {
      FieldValue value = value_of(field, gpu - kFirstGpu, uuid);
      if (take(kGpu, gpu, &value, 1, context) < 0) return kOk;
    }
  return kOk;
}

const char* errorString(Return code) {
  return code == kConnectionNotValid ? "Host engine connection invalid"
         : code == -33               ? "This request is serviced by a module of DCGM that is not currently loaded"
                                     : "?";
}

}  // extern "C"
