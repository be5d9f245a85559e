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
#include "nvidia/process/process.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kMostMinors = std::size_t{1} << 20U;

/// The use of one affected GPU by a node or a process.
struct Use {
  std::size_t index = 0;
  std::string text;
};
/// Device nodes, and the use that each of them stands for.
struct Nodes {
  DeviceNodes nodes;
  std::map<std::string, std::vector<Use>> uses;
};

/// NVML's answers about one affected GPU.
struct NvmlAnswer {
  std::vector<std::pair<unsigned, std::string>> processes;  ///< with the part that they use
  std::optional<unsigned> minor;
  std::vector<DeviceName> names;  ///< names under which kubelet may know it
  bool names_are_known = true;
};

std::optional<unsigned> number_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Maps "gpu0/gi3/ci0/access" to its minor, which is the number of the node /dev/nvidia-caps/nvidia-capN.
std::map<std::string, unsigned> capability_minors(const Host& host) {
  std::map<std::string, unsigned> minors;
  const std::string table = host.read("/proc/driver/nvidia-caps/mig-minors", kMostMinors).value_or("");
  for (const std::string_view line : lines_of<std::string_view>(table)) {
    const auto space = line.find(' ');
    const auto minor = space == std::string_view::npos ? std::nullopt : number_of(line.substr(space + 1));
    if (minor) minors.emplace(line.substr(0, space), *minor);
  }
  return minors;
}

/// The nodes of the affected GPUs, identified by the numbers that the driver has registered.
class NodesOf {
 public:
  explicit NodesOf(const Host& host) : host_(host), minors_(capability_minors(host)) {
    gpus_ = host.character_major("nvidia");
    if (!gpus_) gpus_ = host.character_major("nvidia-frontend");  // before R545
    capabilities_ = host.character_major("nvidia-caps");
  }

  void add(const Affected& affected, std::size_t index, unsigned minor) {
    if (affected.whole) add(fmt::format("/dev/nvidia{}", minor), gpus_, minor, {index, affected.text});
    for (const Part& part : affected.parts) {
      if (!part.affected) continue;
      const std::string gpu_instance = fmt::format("gpu{}/gi{}/", minor, part.gpu_instance);
      const std::string wanted =
          part.compute_instance ? fmt::format("{}ci{}/access", gpu_instance, *part.compute_instance) : gpu_instance;
      for (auto at = minors_.lower_bound(wanted); at != minors_.end() && at->first.starts_with(wanted); ++at)
        add(fmt::format("/dev/nvidia-caps/nvidia-cap{}", at->second), capabilities_, at->second, {index, part.text});
    }
  }

  Nodes all() { return std::move(nodes_); }

 private:
  void add(const std::string& path, std::optional<unsigned> major, unsigned minor, Use use) {
    const std::string name = base_name(path);
    if (nodes_.nodes.count(name) == 0) nodes_.nodes.emplace(name, DeviceNode{path, number(path, major, minor)});
    nodes_.uses[name].push_back(std::move(use));
  }

  std::optional<DeviceNumber> number(const std::string& path, std::optional<unsigned> major, unsigned minor) const {
    if (major) return DeviceNumber{*major, minor};
    const auto info = host_.info(path);
    if (!info || info->type != FileInfo::Type::character_device) return std::nullopt;
    return DeviceNumber{info->device_major, info->device_minor};
  }

  const Host& host_;
  std::map<std::string, unsigned> minors_;
  std::optional<unsigned> gpus_;
  std::optional<unsigned> capabilities_;
  Nodes nodes_;
};

bool is_on(const nvml::Process& process, const Part& part) {
  return process.gpu_instance == part.gpu_instance &&
         (!part.compute_instance || !process.compute_instance || process.compute_instance == part.compute_instance);
}

/// Returns the part that the process uses; empty: none.
std::string use_of(const nvml::Process& process, const Affected& affected) {
  for (const Part& part : affected.parts)
    if ((affected.whole || part.affected) && is_on(process, part)) return part.text;
  const bool may_be_on_any = affected.instances_change && !process.gpu_instance;
  return affected.whole || may_be_on_any ? affected.text : std::string();
}

bool affects_anything(const Affected& affected) {
  return affected.whole || std::ranges::any_of(affected.parts, &Part::affected);
}

bool is_concerned(const Affected& affected) { return affects_anything(affected) || affected.instances_change; }

NvmlAnswer ask(nvml::Nvml& nvml, const Affected& affected, const PodHolders& given) {
  NvmlAnswer answer;
  if (!is_concerned(affected)) return answer;
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::graphics, nvml::ProcessKind::mps})
    for (const nvml::Process& process : nvml::processes(nvml, affected.device, kind).value_or({}))
      if (std::string holds = use_of(process, affected); !holds.empty())
        answer.processes.emplace_back(process.pid, std::move(holds));
  if (const auto minor = nvml::device_minor(nvml, affected.device)) answer.minor = *minor;
  if (given.holders.empty()) return answer;
  auto names = names_for_kubelet(nvml, affected, answer.minor, given);
  answer.names_are_known = names.has_value();
  if (names) answer.names = *std::move(names);
  return answer;
}

class Search {
 public:
  Search(nvml::Nvml& nvml, const Host& host, std::size_t count)
      : nvml_(nvml), host_(host), own_(host), seen_(count), found_(count) {}

  void add_nvml_processes(std::size_t index, const NvmlAnswer& answer) {
    for (const auto& [pid, holds] : answer.processes) add(pid, {index, holds}, false);
  }

  void look_at_open_files(const std::vector<Affected>& affected, const Nodes& nodes, const OpenFileLimits& limits) {
    const auto unseen = find_open_files(host_, nodes.nodes, limits, [&](unsigned pid, const std::string& node) {
      for (const Use& use : nodes.uses.at(node)) add(pid, use, true);
    });
    for (std::size_t i = 0; i < affected.size(); ++i)
      if (affects_anything(affected[i]))
        for (const UnseenFiles& each : unseen) found_[i].push_back(unseen_holder(affected[i], each, limits));
  }

  void add_given(std::size_t index, const Affected& affected, const NvmlAnswer& answer, const PodHolders& given) {
    if (!given.problem.empty() && affects_anything(affected)) found_[index].push_back(unknown_pod(affected, given));
    if (!answer.names_are_known && affects_anything(affected))
      found_[index].push_back(
          unknown_pod(affected, {.holders = {},
                                 .problem = "NVML does not list the MIG devices",
                                 .next = "look at the GPU with `nvidia-smi -L`, reset it or reboot"}));
    for (const DeviceName& name : answer.names)
      if (const auto holders = given.holders.find(name.name); holders != given.holders.end())
        for (const nvidia::kubelet::GpuPod& each : holders->second) add_pod(found_[index], each, name.holds);
  }

  /// NVML does not list daemons.
  void forget_daemons(std::size_t index) {
    std::erase_if(found_[index],
                  [this](const DeviceHolder& each) { return each.only_open && is_daemon(host_, each.process); });
  }

  std::vector<std::vector<DeviceHolder>> found() { return std::move(found_); }

 private:
  void add(unsigned pid, const Use& use, bool only_open) {
    if (!seen_[use.index].insert(pid).second || own_.contains(pid)) return;
    DeviceHolder holder{.process = read_process(host_, pid), .holds = use.text, .only_open = only_open};
    if (holder.process.name.empty())
      holder.process.name = cleaned(base_name(nvml::process_name(nvml_, pid).value_or("")));
    found_[use.index].push_back(std::move(holder));
  }

  DeviceHolder unseen_holder(const Affected& affected, const UnseenFiles& unseen, const OpenFileLimits& limits) const {
    const std::string most = to_text(read_process(host_, unseen.most));
    return {.process = {},
            .holds = affected.text,
            .kind = DeviceHolder::Kind::unseen,
            .problem = fmt::format("slipway reads at most {} open files of one user and {} in all, so it has not read "
                                   "all of the user {}; {} has the most",
                                   limits.of_user, limits.in_all, unseen.uid, most),
            .next = "stop the process with so many open files: " + most};
  }

  nvml::Nvml& nvml_;
  const Host& host_;
  OwnProcesses own_;
  std::vector<std::set<unsigned>> seen_;
  std::vector<std::vector<DeviceHolder>> found_;
};

}  // namespace

std::vector<std::vector<DeviceHolder>> find_holders(nvml::Nvml& nvml, const Host& host,
                                                    const std::vector<Affected>& affected, const PodHolders& given,
                                                    const OpenFileLimits& limits) {
  std::vector<NvmlAnswer> answers(affected.size());
  nvml::in_parallel(nvml, affected.size(),
                    [&](nvml::Nvml& own, std::size_t i) { answers[i] = ask(own, affected[i], given); });
  Search search(nvml, host, affected.size());
  NodesOf nodes(host);
  for (std::size_t i = 0; i < affected.size(); ++i) {
    search.add_nvml_processes(i, answers[i]);
    if (answers[i].minor) nodes.add(affected[i], i, *answers[i].minor);
  }
  search.look_at_open_files(affected, nodes.all(), limits);
  for (std::size_t i = 0; i < affected.size(); ++i)
    if (!affected[i].with_daemons) search.forget_daemons(i);
  for (std::size_t i = 0; i < affected.size(); ++i) search.add_given(i, affected[i], answers[i], given);
  return search.found();
}

}  // namespace slipway::nvidia::drain
