// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/holders.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/drain/pods.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kMostFiles = 16384;
constexpr std::size_t kMostMinors = std::size_t{1} << 20U;

/// What a node, or a process, has of one of the affected.
struct Use {
  std::size_t index = 0;
  std::string text;
};
/// Device nodes, each with what it stands for.
using Nodes = std::map<std::string, std::vector<Use>>;

/// What NVML tells of one of the affected.
struct Told {
  std::vector<std::pair<unsigned, std::string>> processes;  ///< with what they hold
  std::optional<unsigned> minor;
  std::vector<DeviceName> names;  ///< by which kubelet may know it
  bool names_are_known = true;
};

std::optional<unsigned> number_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "gpu0/gi3/ci0/access" to its minor, which is the number of the node /dev/nvidia-caps/nvidia-capN.
std::map<std::string, std::string> capability_minors(const Host& host) {
  std::map<std::string, std::string> minors;
  const std::string table = host.read("/proc/driver/nvidia-caps/mig-minors", kMostMinors).value_or("");
  for (const std::string_view line : lines_of<std::string_view>(table)) {
    const auto space = line.find(' ');
    if (space != std::string_view::npos) minors.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return minors;
}

void add_nodes(const Affected& affected, std::size_t index, unsigned minor,
               const std::map<std::string, std::string>& minors, Nodes& nodes) {
  if (affected.whole) nodes[fmt::format("/dev/nvidia{}", minor)].push_back({index, affected.text});
  for (const Part& part : affected.parts) {
    if (!part.affected) continue;
    const std::string gpu_instance = fmt::format("gpu{}/gi{}/", minor, part.gpu_instance);
    const std::string wanted =
        part.compute_instance ? fmt::format("{}ci{}/access", gpu_instance, *part.compute_instance) : gpu_instance;
    for (auto at = minors.lower_bound(wanted); at != minors.end() && at->first.starts_with(wanted); ++at)
      nodes["/dev/nvidia-caps/nvidia-cap" + at->second].push_back({index, part.text});
  }
}

bool is_on(const nvml::Process& process, const Part& part) {
  return process.gpu_instance == part.gpu_instance &&
         (!part.compute_instance || !process.compute_instance || process.compute_instance == part.compute_instance);
}

/// What the process holds of that; empty: nothing.
std::string use_of(const nvml::Process& process, const Affected& affected) {
  for (const Part& part : affected.parts)
    if ((affected.whole || part.affected) && is_on(process, part)) return part.text;
  const bool may_be_on_any = affected.instances_change && !process.gpu_instance;
  return affected.whole || may_be_on_any ? affected.text : std::string();
}

/// By the name that the kernel keeps, which has 15 bytes. Somebody else who takes such a name is only found later, when
/// the driver refuses the change.
bool is_daemon(const std::string& name) { return name == "nvidia-persiste" || name == "nv-fabricmanage"; }

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool takes_something(const Affected& affected) {
  return affected.whole || std::ranges::any_of(affected.parts, &Part::affected);
}

bool is_concerned(const Affected& affected) { return takes_something(affected) || affected.instances_change; }

Told ask(nvml::Nvml& nvml, const Affected& affected, const Given& given) {
  Told told;
  if (!is_concerned(affected)) return told;
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::graphics, nvml::ProcessKind::mps})
    for (const nvml::Process& process : nvml::processes(nvml, affected.device, kind).value_or({}))
      if (std::string holds = use_of(process, affected); !holds.empty())
        told.processes.emplace_back(process.pid, std::move(holds));
  if (const auto minor = nvml::device_minor(nvml, affected.device)) told.minor = *minor;
  if (given.holders.empty()) return told;
  auto names = names_for_kubelet(nvml, affected, told.minor, given);
  told.names_are_known = names.has_value();
  if (names) told.names = *std::move(names);
  return told;
}

class Search {
 public:
  Search(nvml::Nvml& nvml, const Host& host, std::size_t count)
      : nvml_(nvml), host_(host), own_(host), seen_(count), found_(count) {}

  void add_told(std::size_t index, const Told& told) {
    for (const auto& [pid, holds] : told.processes) add(pid, {index, holds});
  }

  void look_at_open_files(const Nodes& nodes) {
    const auto names =
        nodes.empty() ? Result<std::vector<std::string>>(std::vector<std::string>()) : host_.list("/proc");
    if (!names) return;
    for (const std::string& name : *names)
      if (const auto pid = number_of(name))
        for (const Use& use : opened(name, nodes)) add(*pid, use);
  }

  void add_given(std::size_t index, const Affected& affected, const Told& told, const Given& given) {
    if (!given.problem.empty() && takes_something(affected)) found_[index].push_back(unknown_pod(affected, given));
    if (!told.names_are_known && takes_something(affected))
      found_[index].push_back(
          unknown_pod(affected, {.holders = {},
                                 .problem = "NVML does not say which MIG devices there are",
                                 .next = "look at the GPU with `nvidia-smi -L`, reset it or reboot"}));
    for (const DeviceName& name : told.names)
      if (const auto holders = given.holders.find(name.name); holders != given.holders.end())
        for (const nvidia::kubelet::Holder& each : holders->second) add_pod(found_[index], each, name.holds);
  }

  void forget_daemons(std::size_t index) {
    std::erase_if(found_[index], [](const Holder& each) { return is_daemon(each.process.name); });
  }

  std::vector<std::vector<Holder>> found() { return std::move(found_); }

 private:
  void add(unsigned pid, const Use& use) {
    if (!seen_[use.index].insert(pid).second || own_.contains(pid)) return;
    Process process = read_process(host_, pid);
    if (process.name.empty()) process.name = cleaned(base_name(nvml::process_name(nvml_, pid).value_or("")));
    found_[use.index].push_back({std::move(process), use.text});
  }

  std::vector<Use> opened(const std::string& pid, const Nodes& nodes) const {
    const std::string folder = "/proc/" + pid + "/fd";
    const auto files = host_.list(folder);
    std::vector<Use> use;
    if (!files) return use;  // it has just ended
    for (std::size_t i = 0; i < std::min(files->size(), kMostFiles); ++i)
      if (const auto target = host_.read_link(folder + "/" + (*files)[i]))
        if (const auto node = nodes.find(*target); node != nodes.end())
          use.insert(use.end(), node->second.begin(), node->second.end());
    return use;
  }

  nvml::Nvml& nvml_;
  const Host& host_;
  OwnProcesses own_;
  std::vector<std::set<unsigned>> seen_;
  std::vector<std::vector<Holder>> found_;
};

}  // namespace

std::vector<std::vector<Holder>> find_holders(nvml::Nvml& nvml, const Host& host, const std::vector<Affected>& affected,
                                              const Given& given) {
  std::vector<Told> told(affected.size());
  nvml::in_parallel(nvml, affected.size(),
                    [&](nvml::Nvml& own, std::size_t i) { told[i] = ask(own, affected[i], given); });
  Search search(nvml, host, affected.size());
  Nodes nodes;
  const auto minors = capability_minors(host);
  for (std::size_t i = 0; i < affected.size(); ++i) {
    search.add_told(i, told[i]);
    if (told[i].minor) add_nodes(affected[i], i, *told[i].minor, minors, nodes);
  }
  search.look_at_open_files(nodes);
  for (std::size_t i = 0; i < affected.size(); ++i)
    if (!affected[i].with_daemons) search.forget_daemons(i);
  for (std::size_t i = 0; i < affected.size(); ++i) search.add_given(i, affected[i], told[i], given);
  return search.found();
}

}  // namespace slipway::nvidia::drain
