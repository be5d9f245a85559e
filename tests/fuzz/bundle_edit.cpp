// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/bundle_edit.cpp - the config.json of a bundle, as slipway-runtime reads and edits it.
#include <cstdint>

#include "tests/fuzz/fuzz_check.hpp"
#include "toolkit/requests/document.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/specs.hpp"

namespace {

using namespace slipway;

constexpr const char* kSpec =
    R"({"cdiVersion":"0.7.0","kind":"nvidia.com/gpu","containerEdits":{"env":["NVIDIA_VISIBLE_DEVICES=void"],)"
    R"("mounts":[{"hostPath":"/h/l","containerPath":"/usr/l","options":["ro"]}],)"
    R"("hooks":[{"hookName":"createContainer","path":"/hook","args":["hook"]}]},)"
    R"("devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}],"additionalGids":[44]}}]})";

Result<shim::HostNode> node(const std::string&) { return shim::HostNode{"c", 195, 0, 0666}; }

/// Returns the parts of a bundle outside of CDI.
Json rest_of(Json bundle) {
  for (const char* name : {"process", "mounts", "hooks", "linux"}) bundle.erase(name);
  return bundle;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bundle = shim::parse_document(text, "config.json");
  fuzz::demand_presentable(bundle);
  if (!bundle) return 0;
  shim::Config config;
  config.accept_mounts = true;
  const auto request = shim::read_request(*bundle, config, "config.json");
  fuzz::demand_presentable(request);
  shim::Specs specs;
  specs.add("/etc/cdi/a.json", kSpec, 0);
  if (request && !request->empty()) fuzz::demand_presentable(specs.resolve(*request, config));
  const auto edits = specs.resolve({{"nvidia.com/gpu=0"}, false, "a fuzzer", {}}, config);
  fuzz::demand(edits.ok(), "the device is there");
  Json edited = *bundle;
  const auto done = shim::apply_edits(edited, *edits, node, "config.json");
  if (!done) {
    fuzz::demand_presentable(done.error());
    return 0;
  }
  fuzz::demand(rest_of(edited) == rest_of(*bundle), "what CDI does not know stays");
  Json again = edited;
  fuzz::demand(shim::apply_edits(again, *edits, node, "config.json").ok() && again == edited, "twice is as once");
  fuzz::demand(shim::parse_document(canonical(edited), "again").value_or({}) == edited, "it is written as it is");
  return 0;
}
