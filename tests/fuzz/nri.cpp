// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/nri.cpp - the input from an engine's NRI socket: chunks, ttrpc messages, containers; and the changes to
// containers when no rule permits anything.
#include <algorithm>
#include <cstdint>
#include <set>

#include "slipway/nri/ttrpc.pb.h"
#include "tests/fuzz/scratch_tree.hpp"
#include "toolkit/nri/adjustment.hpp"
#include "toolkit/nri/session.hpp"

namespace {

using namespace slipway;

constexpr const char* kGpus =
    R"({"cdiVersion":"0.7.0","kind":"nvidia.com/gpu","containerEdits":{"env":["NVIDIA_VISIBLE_DEVICES=void"],)"
    R"("mounts":[{"hostPath":"/h/l","containerPath":"/usr/l","options":["ro"]}],)"
    R"("hooks":[{"hookName":"createContainer","path":"/hook","args":["hook"]}]},)"
    R"("devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}]}},)"
    R"({"name":"GPU-0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}]}},)"
    R"({"name":"1","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1"}]}},)"
    R"({"name":"GPU-1","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1"}]}}]})";

/// A spec of that kind with one device.
std::string one_device(const std::string& kind, const std::string& name, const std::string& node) {
  return R"({"cdiVersion":"0.7.0","kind":")" + kind + R"(","devices":[{"name":")" + name +
         R"(","containerEdits":{"deviceNodes":[{"path":")" + node + R"("}]}}]})";
}

/// A host with two GPUs and more; kubelet has given a container nothing, or GPU 0.
nri::Devices host(bool has_given) {
  static const fuzz::Scratch scratch;
  static const bool made = [] {
    for (const auto& [file, text] : {std::pair{"gpu", std::string(kGpus)},
                                     {"own", one_device("k8s.device-plugin.nvidia.com/gpu", "GPU-1", "/dev/nvidia1")},
                                     {"management", one_device("management.nvidia.com/gpu", "all", "/dev/nvidia1")},
                                     {"nic", one_device("vendor.com/nic", "0", "/dev/nic0")},
                                     {"gds", one_device("nvidia.com/gds", "all", "/dev/nvidia-fs0")},
                                     {"imex", one_device("nvidia.com/imex-channel", "0", "/dev/channel0")}})
      fuzz::write_file(scratch.folder() / (std::string(file) + ".json"), text);
    return true;
  }();
  nri::Devices devices;
  if (made) devices.config.spec_folders = {scratch.folder().string()};
  devices.config.accept_mounts = true;
  devices.read_node = [](const std::string&) { return shim::HostNode{"c", 195, 0, 0666}; };
  devices.ask_kubelet = [has_given](const nri::ContainerName&) -> Result<std::vector<std::string>> {
    return has_given ? std::vector<std::string>{"GPU-0"} : std::vector<std::string>();
  };
  return devices;
}

bool may_write_sysfs(const nri::wire::CreateContainerRequest& request) {
  return nri::bundle_of(request.pod(), request.container())["process"].contains("capabilities");
}

/// Returns the container as the engine would create it then.
nri::wire::Container adjusted(nri::wire::Container container, const nri::wire::ContainerAdjustment& given) {
  const auto drop = [](auto& list, auto&& is_old) {
    list.erase(std::remove_if(list.begin(), list.end(), is_old), list.end());
  };
  for (const auto& pair : given.env()) {
    const std::string start = pair.key() + "=";
    drop(*container.mutable_env(), [&](const std::string& other) { return other.starts_with(start); });
    container.add_env(start + pair.value());
  }
  for (const auto& mount : given.mounts()) {
    drop(*container.mutable_mounts(), [&](const auto& other) { return other.destination() == mount.destination(); });
    *container.add_mounts() = mount;
  }
  for (const auto& device : given.on_linux().devices()) {
    drop(*container.mutable_on_linux()->mutable_devices(),
         [&](const auto& other) { return other.path() == device.path(); });
    *container.mutable_on_linux()->add_devices() = device;
  }
  for (const auto& hook : given.hooks().create_container()) *container.mutable_hooks()->add_create_container() = hook;
  return container;
}

Result<nri::wire::ContainerAdjustment> give(const nri::wire::CreateContainerRequest& request) {
  static const nri::Devices generous = host(true);
  static const nri::Devices strict = host(false);
  const nri::Log silent = [](const char*, const std::string&) {};
  const bool privileged = may_write_sysfs(request);
  const auto nothing = nri::adjust(request, strict, silent);
  fuzz::demand_presentable(nothing);
  if (nothing && !privileged)
    fuzz::demand(nothing->ByteSizeLong() == 0, "who was given nothing gets nothing without a rule");
  auto given = nri::adjust(request, generous, silent);
  if (!given) return given;
  static const std::set<std::string> allowed{"/dev/nvidia0", "/dev/nvidia-fs0", "/dev/channel0"};
  for (const auto& device : given->on_linux().devices())
    fuzz::demand(privileged || allowed.contains(device.path()), "what kubelet gave, and what goes with it, is given");
  nri::wire::CreateContainerRequest again = request;
  *again.mutable_container() = adjusted(request.container(), *given);
  const auto more = nri::adjust(again, generous, silent);
  fuzz::demand(more && more->ByteSizeLong() == 0, "nothing is given twice");
  return given;
}

struct Run {
  std::string answers;
  bool ended = false;
  bool serving = false;
};

/// Passes the bytes in parts of that size.
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
