// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_look.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include <slipway/process/child_process.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::validator {
namespace {

namespace nvml = nvidia::nvml;

// A machine with many idle GPUs takes seconds for each of them.
constexpr std::chrono::seconds kLongestLook{60};

bool mig_without_instances(nvml::Nvml& nvml, unsigned count) {
  bool found = false;
  for (unsigned index = 0; index < count; ++index) {
    const auto device = nvml::device_at(nvml, index);
    const auto mode = device ? nvml::mig_mode(nvml, *device) : nvml::Answer<nvml::MigMode>(device.code());
    if (!mode || !mode->current) return false;  // CUDA can use a whole GPU
    const auto instances = nvml::mig_devices(nvml, *device);
    if (instances && !instances->empty()) return false;
    found = true;
  }
  return found;
}

Status ask_gpu(nvml::Nvml& nvml, unsigned index, DriverAnswers& answers) {
  std::string gpu = fmt::format("GPU {}", index);
  const auto device = nvml::device_at(nvml, index);
  if (!device) return device.error(gpu);
  const auto place = nvml::device_pci(nvml, *device);
  if (place) gpu += " (" + place->address + ")";
  const auto uuid = nvml::device_uuid(nvml, *device);
  if (!uuid) return uuid.error(gpu);
  // A GPU that has fallen off the bus cannot answer this call from a cache.
  const auto memory = nvml::memory(nvml, *device);
  if (!memory && !memory.absent()) return memory.error(gpu);
  answers.gpus.push_back(*uuid);
  if (place) answers.addresses.push_back(place->address);
  return {};
}

Error hangs() {
  return Error{.code = ErrorCode::timed_out, .what = "the driver does not answer", .next = nvml::kHangRemedy};
}

}  // namespace

Result<DriverAnswers> look_at_driver(const nvml::LibraryChoice& library, std::chrono::milliseconds call_limit) {
  SLIPWAY_TRY(nvml,
              nvml::Nvml::open({.library = library, .call_limit = call_limit, .attach = true, .find_hanging = true}));
  DriverAnswers answers;
  const auto version = nvml::driver_version(*nvml);
  if (!version) return version.error("driver version");
  answers.version = *version;
  const auto count = nvml::device_count(*nvml);
  if (!count) return count.error("number of GPUs");
  for (unsigned index = 0; index < *count; ++index) SLIPWAY_CHECK(ask_gpu(*nvml, index, answers));
  answers.mig_without_instances = mig_without_instances(*nvml, *count);
  return answers;
}

Result<DriverAnswers> ChildLook::look(const nvml::LibraryChoice& library) {
  if (held_ > 0 && !child_ended(held_, std::chrono::milliseconds(0))) return hangs();
  held_ = -1;
  SLIPWAY_TRY(pipe, make_pipe());
  SLIPWAY_TRY(
      pid, start_program({.argv = {program_, std::to_string(call_limit_.count()), library.named, library.driver_root},
                          .environment = own_environment(),
                          .descriptors = {kDevNull, pipe.write.get(), kDevNull}}));
  pipe.write = Fd();
  // The answer is one line. After it the child may still be blocked by an abandoned call.
  std::string text;
  const ChildResult result = await_child({.pid = pid, .output = std::move(pipe.read), .errors = {}},
                                         {.limit = kLongestLook,
                                          .stop = [&text] { return text.ends_with('\n'); },
                                          .on_output = [&text](std::string_view part) { text += part; }});
  if (!child_ended(pid, std::chrono::milliseconds(0))) held_ = pid;
  if (text.ends_with('\n')) return read_answers(text);
  if (result.end != ChildResult::End::by_itself) return hangs();
  return Error{.code = ErrorCode::io,
               .what = "the driver's library crashed: " + ending_of(result.status),
               .next = "look for Xid and NVRM lines in `dmesg`"};
}

Json to_json(const Result<DriverAnswers>& looked) {
  if (!looked) return {{"error", to_json(looked.error())}};
  return {{"version", looked->version},
          {"gpus", looked->gpus},
          {"addresses", looked->addresses},
          {"mig_without_instances", looked->mig_without_instances}};
}

Result<DriverAnswers> read_answers(const std::string& text) {
  const Json answer = Json::parse(text, nullptr, false);
  const auto is = [&](const char* key, Json::value_t type) {
    return answer.contains(key) && answer[key].type() == type;
  };
  if (answer.is_object() && is("error", Json::value_t::object)) return error_from_json(answer["error"]);
  if (!answer.is_object() || !is("version", Json::value_t::string) || !is("gpus", Json::value_t::array) ||
      !is("addresses", Json::value_t::array) || !is("mig_without_instances", Json::value_t::boolean))
    return Error{.code = ErrorCode::io, .what = std::string(kDriverProbe) + " gave no answer"};
  DriverAnswers answers{.version = answer["version"],
                        .gpus = {},
                        .addresses = {},
                        .mig_without_instances = answer["mig_without_instances"]};
  for (const Json& gpu : answer["gpus"])
    if (gpu.is_string()) answers.gpus.push_back(gpu);
  for (const Json& address : answer["addresses"])
    if (address.is_string()) answers.addresses.push_back(address);
  return answers;
}

}  // namespace slipway::validator
