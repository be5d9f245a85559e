// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/merge.cpp - keys that are set in a file and removed again: the file is as it was, byte for byte. Each
// format is a target of its own (SLIPWAY_FUZZ_FORMAT).
//
// Input: a line of JSON (the keys; if it is not JSON, the target's own), then the file.
#include <cstdint>
#include <map>
#include <string>

#include "base/merge/edit.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;

/// Keys that slipway's components set in such files: Docker's daemon.json, containerd's config.toml, kubelet's YAML.
const std::map<std::string, const char*> kOwn = {
    {"json",
     R"({"features":{"cdi":true},"default-runtime":"nvidia","runtimes":{"nvidia":{"path":"/b","runtimeArgs":[]}}})"},
    {"toml",
     R"({"version":2,"plugins":{"io.containerd.grpc.v1.cri":{"enable_cdi":true,"containerd":{"default_runtime_name":"nvidia",)"
     R"("runtimes":{"nvidia":{"runtime_type":"io.containerd.runc.v2","options":{"BinaryName":"/b","SystemdCgroup":true}}}}}}})"},
    {"yaml", R"({"featureGates":{"DevicePlugins":true},"nvidia":{"paths":["/a","b: c"],"n":3}})"}};

Json desired_file(std::string_view line, const std::string& format) {
  Json desired = Json::parse(line, nullptr, false);
  return desired.is_object() ? desired : Json::parse(kOwn.at(format));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string format = SLIPWAY_FUZZ_FORMAT;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\n'), input.size());
  const std::string file(input.substr(std::min(end + 1, input.size())));
  const std::string path = "config." + format;
  const auto desired_keys = merge::desired_keys_of(desired_file(input.substr(0, end), format));
  const auto edited = merge::set_keys(file, format, desired_keys, path);
  fuzz::demand_presentable(edited);
  if (!edited) return 0;
  const auto document = merge::read_value(edited->bytes, format, path);
  fuzz::demand(document.ok(), "the edited file can be read");
  for (const auto& desired : desired_keys)
    fuzz::demand(merge::holds(*document, desired.key, desired.value), "each key holds what was asked for");
  const auto again = merge::set_keys(edited->bytes, format, desired_keys, path);
  fuzz::demand(again.ok() && again->bytes == edited->bytes, "set again, nothing changes");
  const auto undone = merge::undo_keys(edited->bytes, format, edited->records, path);
  fuzz::demand(undone.ok() && *undone == file, "undone, the file is as it was");
  return 0;
}
