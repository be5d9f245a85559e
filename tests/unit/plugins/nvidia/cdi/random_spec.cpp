// SPDX-License-Identifier: Apache-2.0
#include "random_spec.hpp"

#include <array>

namespace slipway::nvidia::cdi {
namespace {

class Maker {
 public:
  explicit Maker(std::mt19937& random) : random_(random) {}

  int number(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  bool maybe() { return number(3) == 0; }

  std::string text() {
    static const std::array<std::string, 24> kTexts{
        "a",    "0",   "1:0",  "true",  "No",   "~",     "null",   "0x1f",       "1e3", ".5",        "#x",    "a: b",
        "a #b", "- a", "'it'", "\"x\"", "a\nb", "tab\t", "ümlaut", "2026-01-31", "{a}", "/dev/../x", "a::/b", "--link"};
    return kTexts.at(static_cast<std::size_t>(number(static_cast<int>(kTexts.size()))));
  }
  std::string text_or_none() { return maybe() ? text() : ""; }
  std::string path() { return "/" + text(); }
  std::string env() { return "N" + std::to_string(number(9)) + "=" + text_or_none(); }

  template <class T, class Make>
  std::vector<T> list(Make make) {
    std::vector<T> all(static_cast<std::size_t>(number(4)));
    for (T& value : all) value = make();
    return all;
  }

  DeviceNode node() {
    DeviceNode node{path(), maybe() ? path() : "", maybe() ? "c" : "", number(300), number(300), {}, "rwm", {}, {}};
    if (maybe()) node.file_mode = static_cast<unsigned>(number(512));
    if (maybe()) node.uid = 0;
    if (maybe()) node.gid = 4294967295U;
    return node;
  }
  Hook hook() {
    Hook hook{"createContainer",
              path(),
              list<std::string>([&] { return text(); }),
              list<std::string>([&] { return env(); }),
              {}};
    if (maybe()) hook.timeout = number(60);
    return hook;
  }
  Mount mount() {
    return {path(), path(), list<std::string>([&] { return text(); }), text_or_none()};
  }

  Edits edits() {
    Edits edits;
    edits.env = list<std::string>([&] { return env(); });
    edits.device_nodes = list<DeviceNode>([&] { return node(); });
    edits.hooks = list<Hook>([&] { return hook(); });
    edits.mounts = list<Mount>([&] { return mount(); });
    edits.additional_gids = list<std::uint32_t>([&] { return static_cast<std::uint32_t>(number(99)); });
    if (maybe()) edits.net_devices = {{"eth0", "net" + std::to_string(++nets_)}};
    if (maybe()) edits.intel_rdt = IntelRdt{"class", text_or_none(), "", {}, maybe(), maybe(), maybe()};
    return edits;
  }

 private:
  std::mt19937& random_;
  int nets_ = 0;  ///< names of network devices are unique
};

}  // namespace

Spec random_spec(std::mt19937& random) {
  Maker maker(random);
  Spec spec;
  spec.kind = maker.maybe() ? "nvidia.com/gpu.coherent" : "nvidia.com/gpu";
  if (maker.maybe()) spec.annotations["a.b/c"] = maker.text();
  spec.edits = maker.edits();
  const int devices = 1 + maker.number(4);
  for (int i = 0; i < devices; ++i) {
    Device device{(maker.maybe() ? "gpu" : "") + std::to_string(i) + (maker.maybe() ? ":0" : ""), {}, maker.edits()};
    if (device.edits.empty()) device.edits.env = {"A="};
    if (maker.maybe()) device.annotations["gpu.nvidia.com/coherent"] = maker.maybe() ? "true" : maker.text();
    spec.devices.push_back(std::move(device));
  }
  spec.version = smallest_version(spec);
  return spec;
}

}  // namespace slipway::nvidia::cdi
