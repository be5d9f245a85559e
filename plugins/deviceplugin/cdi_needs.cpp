// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/cdi_needs.hpp"

#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "nvidia/cdi/folders.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::deviceplugin {
namespace {

using namespace nvidia::config;

constexpr const char* kConfig = "spec.components.deviceplugin.config";

/// A class of CDI devices: the setting that makes containers ask for it, and the device nodes that show that a machine
/// has it.
struct Class {
  const char* name;
  const char* flag;   ///< of the config
  const char* place;  ///< of that flag
  const char* mode;   ///< mode of the component cdi
  const char* source;
};
constexpr Class kClasses[] = {
    {"gpu", "deviceListStrategy", ".flags.plugin.deviceListStrategy", "nvml", "the driver"},
    {"gds", "gdsEnabled", ".flags.gdsEnabled", "gds", "the module nvidia-fs (component gds)"},
    {"mofed", "mofedEnabled", ".flags.mofedEnabled", "mofed", "the RDMA driver of the network cards"},
    {"gdrcopy", "gdrcopyEnabled", ".flags.gdrcopyEnabled", "gdrcopy", "the module gdrdrv (component gdrcopy)"},
    {"imex-channel", "imex.channelIDs", ".imex.channelIDs", "imex", "the driver's IMEX channels"},
};

std::vector<std::string> classes_of(const Settings& settings) {
  std::vector<std::string> classes{"gpu"};
  if (settings.gds) classes.emplace_back("gds");
  if (settings.mofed) classes.emplace_back("mofed");
  if (settings.gdrcopy) classes.emplace_back("gdrcopy");
  if (!settings.imex_channels.empty()) classes.emplace_back("imex-channel");
  return classes;
}

const Class& class_of(const Json& need) {
  const std::string name = need.value("class", "");
  for (const Class& each : kClasses)
    if (name == each.name) return each;
  return kClasses[0];
}

bool among(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::count(list, word) != 0;
}

std::string asked_by(const Json& needs, const Class& about) {
  const std::string flag = about.flag;
  return flag == "deviceListStrategy" ? flag + " is " + needs.value("strategy", "") : "the config has " + flag;
}

/// Another vendor whose specs have such devices. Specs of cdi's mode `management` do not count: they have one device
/// with all nodes, which is not for pods.
std::string vendor_with(const std::vector<std::string>& kinds, const Class& about) {
  for (const std::string& kind : kinds)
    if (kind.substr(kind.find('/') + 1) == about.name && !kind.starts_with("management."))
      return kind.substr(0, kind.find('/'));
  return {};
}

Error missing_devices_error(const Json& needs, const Json& need, const std::vector<std::string>& kinds, bool absent) {
  const Class& about = class_of(need);
  const std::string kind = need.value("kind", "");
  // A component that runs earlier may still create a device that the machine lacks; a device that the spec lacks has to
  // be added by the user.
  Error error{
      .code = absent ? ErrorCode::not_found : ErrorCode::invalid,
      .what = asked_by(needs, about) + ", so each container asks for a CDI device of " + kind +
              (absent ? ", but this machine has no such device" : ", but no spec of the component cdi will have it"),
      .where = std::string(kConfig) + about.place};
  const std::string other = vendor_with(kinds, about);
  const bool of_gpus = &about == &kClasses[0];
  const std::string without = of_gpus ? "set deviceListStrategy: envvar" : std::string("leave ") + about.flag + " out";
  if (absent)
    error.next = std::string("the device comes with ") + about.source + "; or " + without;
  else if (!other.empty())
    error.next =
        "the specs of cdi have the vendor " + other + ": set spec.components.deviceplugin.cdi_vendor: " + other;
  else
    error.next = std::string("add ") + about.mode + " to spec.components.cdi.modes, or " + without;
  if (!kinds.empty()) error.details.emplace_back("specs of cdi", joined(kinds));
  return error;
}

std::optional<Error> wrong_naming(const Json& needs, const std::vector<std::string>& names) {
  const std::string naming = needs.value("naming", "");
  if (among(names, naming)) return std::nullopt;
  const std::string other = naming == "uuid" ? "index" : "uuid";
  return Error{.code = ErrorCode::invalid,
               .what = "deviceIDStrategy is " + naming +
                       ", so each container asks for CDI devices by that name, but the specs of the component cdi "
                       "name devices by " +
                       joined(names, " and ") + " alone",
               .where = std::string(kConfig) + ".flags.plugin.deviceIDStrategy",
               .next = "add " + naming + " to spec.components.cdi.names" +
                       (among(names, other) ? ", or set deviceIDStrategy: " + other : "")};
}

/// Returns the folders as container engines will find them; a root that has not booted may lack the link from /var/run
/// to /run.
nvidia::cdi::SpecFolders specs_on(const Host& host) {
  const bool linked = host.exists("/var/run");
  return nvidia::cdi::read_spec_folders(
      host, linked ? nvidia::cdi::default_spec_folders() : std::vector<std::string>{"/etc/cdi", "/run/cdi"});
}

/// True for "0" and "0:1"; other names are a UUID or the name of a type.
bool is_index(const std::string& name) { return name.find_first_not_of("0123456789:") == std::string::npos; }
bool is_uuid(const std::string& name) { return name.starts_with("GPU-") || name.starts_with("MIG-"); }

bool has_device(const Json& needs, const Json& need, const nvidia::cdi::SpecFolders& found) {
  const std::string kind = need.value("kind", "") + "=";
  const bool gpus = &class_of(need) == &kClasses[0];
  const bool by_index = needs.value("naming", "") == "index";
  return std::ranges::any_of(found.devices, [&](const auto& device) {
    if (!device.first.starts_with(kind)) return false;
    const std::string name = device.first.substr(kind.size());
    return !gpus || (by_index ? is_index(name) : is_uuid(name));
  });
}

}  // namespace

Json cdi_needs(const Settings& settings, const std::string& vendor, const Host& host) {
  if (!settings.any_cdi()) return nullptr;
  std::vector<std::string> strategies;
  for (const ListStrategy each : settings.list_strategies)
    if (each == ListStrategy::cdi_cri || each == ListStrategy::cdi_annotations)
      strategies.emplace_back(to_string(each));
  Json needs{{"strategy", joined(strategies, " and ")},
             {"naming", settings.id_strategy == IdStrategy::index ? "index" : "uuid"},
             {"kinds", Json::array()}};
  for (const std::string& name : classes_of(settings))
    needs["kinds"].push_back({{"kind", vendor + "/" + name}, {"class", name}});
  std::set<std::string> here;
  const auto found = specs_on(host);
  for (const auto& [device, path] : found.devices) here.insert(device.substr(0, device.find('=')));
  needs["here"] = here;
  return needs;
}

std::optional<Error> missing_in_cdi(const Json& needs, const Inputs& inputs) {
  const Json output = inputs.output("cdi", "kinds");
  if (!needs.is_object() || !output.is_string()) return std::nullopt;
  const std::vector<std::string> kinds = split_list(output.get<std::string>());
  const Json absent = inputs.output("cdi", "absent_kinds");
  const std::vector<std::string> absent_kinds = split_list(absent.is_string() ? absent.get<std::string>() : "");
  for (const Json& need : needs["kinds"]) {
    const std::string kind = need.value("kind", "");
    const bool is_absent = among(absent_kinds, kind);
    // An IMEX channel that does not exist is not needed.
    if (among(kinds, kind) || (is_absent && need.value("class", "") == "imex-channel")) continue;
    return missing_devices_error(needs, need, kinds, is_absent);
  }
  const Json names = inputs.output("cdi", "names");
  return names.is_string() ? wrong_naming(needs, split_list(names.get<std::string>())) : std::nullopt;
}

std::string cdi_note(const Json& needs, const Inputs& inputs) {
  if (!needs.is_object() || inputs.output("cdi", "kinds").is_string()) return {};
  const std::vector<std::string> here = needs.value("here", std::vector<std::string>{});
  for (const Json& need : needs["kinds"]) {
    const std::string kind = need.value("kind", "");
    if (among(here, kind) || need.value("class", "") == "imex-channel") continue;
    return asked_by(needs, class_of(need)) + ", so each container asks for a CDI device of " + kind +
           ": no CDI spec on this host has one yet, and there is no component cdi to write it";
  }
  return {};
}

void add_cdi_finding(const Json& needs, const Host& host, Findings& findings) {
  constexpr const char* kName = "deviceplugin.cdi";
  if (!needs.is_object()) return;
  // As for the component cdi: without a running driver there is nothing to describe.
  if (host.live() && nvidia::count_gpus(host) == 0)
    return findings.not_applicable(kName, "no NVIDIA GPU on the PCI bus");
  if (!host.has_kernel_view() || (!host.live() && !host.info("/dev/nvidiactl")))
    return findings.not_exercised(kName, "the CDI specs of this machine are written when it boots");
  const auto found = specs_on(host);
  for (const Json& need : needs["kinds"]) {
    const Class& about = class_of(need);
    const bool channel = need.value("class", "") == "imex-channel";
    if (has_device(needs, need, found) || (channel && !host.exists("/dev/nvidia-caps-imex-channels"))) continue;
    std::string text =
        asked_by(needs, about) + ", but no CDI spec that engines find has a device of " + need.value("kind", "");
    if (&about == &kClasses[0]) text += " that is named by " + needs.value("naming", "");
    if (!found.problems.empty())
      text += "; left out is " + found.problems.front().where + ": " + found.problems.front().what;
    return findings.fail(kName, text + ": no such pod can start",
                         std::string("run `slipway apply` with the component cdi and ") + about.mode + " in its modes",
                         "cdi.specs");
  }
  findings.pass(kName, "the CDI specs have what containers ask for");
}

}  // namespace slipway::deviceplugin
