// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/nri.cpp - what comes over an engine's NRI socket: chunks, ttrpc messages, containers.
#include <algorithm>
#include <cstdint>

#include "slipway/nri/ttrpc.pb.h"
#include "tests/fuzz/fuzz_check.hpp"
#include "toolkit/nri/adjust.hpp"
#include "toolkit/nri/session.hpp"
#include "toolkit/programs/shim/document.hpp"
#include "toolkit/programs/shim/request.hpp"
#include "toolkit/programs/shim/specs.hpp"

namespace {

using namespace slipway;

constexpr const char* kSpec =
    R"({"cdiVersion":"0.7.0","kind":"nvidia.com/gpu","containerEdits":{"env":["NVIDIA_VISIBLE_DEVICES=void"],)"
    R"("mounts":[{"hostPath":"/h/l","containerPath":"/usr/l","options":["ro"]}],)"
    R"("hooks":[{"hookName":"createContainer","path":"/hook","args":["hook"]}]},)"
    R"("devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}]}}]})";

Result<shim::HostNode> node(const std::string&) { return shim::HostNode{"c", 195, 0, 0666}; }

Result<nri::wire::ContainerAdjustment> give(const nri::wire::CreateContainerRequest& request) {
  const Json before = nri::bundle_of(request.pod(), request.container());
  shim::Config config;
  config.accept_mounts = true;
  const auto kubelet = [] { return shim::KubeletDevices{{"nvidia.com/gpu=0"}, {"nvidia.com/gpu=0"}, {}}; };
  SLIPWAY_TRY(wanted, shim::read_request(before, config, "a container", {.ask_kubelet = kubelet}));
  shim::Specs specs;
  specs.add("/etc/cdi/a.json", kSpec, 0);
  SLIPWAY_TRY(edits, specs.resolve(wanted, config));
  Json after = before;
  const auto edited = shim::apply_edits(after, edits, node, "a container");
  fuzz::demand(edited.ok(), "what NRI tells of a container is an OCI configuration");
  fuzz::demand(nri::difference(after, after).ByteSizeLong() == 0, "nothing is given twice");
  return nri::difference(before, after);
}

struct Run {
  std::string answers;
  bool ended = false;
  bool serving = false;
};

/// The bytes as they would come in parts of that size.
Run run(std::string_view bytes, std::size_t part) {
  nri::Session session(give);
  Run seen;
  while (!bytes.empty() && !seen.ended) {
    const auto answers = session.take(bytes.substr(0, part));
    fuzz::demand_presentable(answers);
    seen.ended = !answers;
    if (answers) seen.answers += *answers;
    bytes.remove_prefix(std::min(part, bytes.size()));
  }
  seen.serving = session.serving();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Run whole = run(bytes, std::max<std::size_t>(size, 1));
  const Run parts = run(bytes, 7);
  fuzz::demand(whole.ended == parts.ended, "an end does not depend on how the bytes come");
  if (!whole.ended) fuzz::demand(whole.answers == parts.answers && whole.serving == parts.serving, "nor do answers");
  const auto messages = nri::FrameReader().take(whole.answers);
  fuzz::demand(messages.ok(), "answers are read as they are written");
  for (const nri::Message& message : *messages) {
    nri::wire::Response response;
    fuzz::demand(response.ParseFromString(message.payload), "an answer is one");
    const std::string& text = response.status().message();
    fuzz::demand(nri::as_utf8(text) == text, "engines take UTF-8 only");
  }
  return 0;
}
