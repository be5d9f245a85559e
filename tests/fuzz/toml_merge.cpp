// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/toml_merge.cpp - keys set in somebody's TOML and taken back: the file is as it was, byte for byte.
//
// Input: a line of JSON (the keys; where it is none, those that the component runtime sets), then the file.
#include <cstdint>

#include <slipway/merge/edit.hpp>

#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;

constexpr const char* kRuntime =
    R"({"version":2,"plugins":{"io.containerd.grpc.v1.cri":{"enable_cdi":true,"containerd":{"default_runtime_name":"nvidia",)"
    R"("runtimes":{"nvidia":{"runtime_type":"io.containerd.runc.v2","options":{"BinaryName":"/b","SystemdCgroup":true}}}}}}})";

Json wish_of(std::string_view line) {
  Json wish = Json::parse(line, nullptr, false);
  return wish.is_object() ? wish : Json::parse(kRuntime);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\n'), input.size());
  const std::string file(input.substr(std::min(end + 1, input.size())));
  const auto wishes = merge::wishes_of(wish_of(input.substr(0, end)));
  const auto edited = merge::set_keys(file, "toml", wishes, "config.toml");
  fuzz::demand_presentable(edited);
  if (!edited) return 0;
  const auto document = merge::read_value(edited->bytes, "toml", "config.toml");
  fuzz::demand(document.ok(), "the edited file is TOML");
  for (const auto& wish : wishes)
    fuzz::demand(merge::holds(*document, wish.key, wish.value), "each key holds what was wished");
  const auto again = merge::set_keys(edited->bytes, "toml", wishes, "config.toml");
  fuzz::demand(again.ok() && again->bytes == edited->bytes, "set again, nothing changes");
  const auto undone = merge::undo_keys(edited->bytes, "toml", edited->records, "config.toml");
  fuzz::demand(undone.ok() && *undone == file, "undone, the file is as it was");
  return 0;
}
