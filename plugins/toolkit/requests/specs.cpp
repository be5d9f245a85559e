// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/specs.hpp"

#include <algorithm>

#include <dirent.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "nvidia/cdi/text.hpp"
#include "toolkit/requests/document.hpp"
#include "toolkit/requests/report.hpp"

namespace slipway::shim {

namespace cdi = nvidia::cdi;

namespace {

constexpr std::size_t kMostNames = 32;  // in a message

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".json") || name.ends_with(".yaml")) names.emplace_back(name);
  }
  ::closedir(open);
  std::ranges::sort(names);
  return names;
}

// Classes of nvidia.com for which slipway generates specs.
constexpr const char* kClasses[] = {"gpu", "gds", "mofed", "gdrcopy", "nvswitch", "imex-channel"};

/// Says how to create a spec of that kind. The command never includes a class that a container's author invented.
std::string how_to_make(const std::string& kind) {
  const std::string name = kind.substr(kind.find('/') + 1);
  if (kind == "management.nvidia.com/gpu")
    return "`slipway cdi generate --mode management --output /var/run/cdi/management.nvidia.com-gpu.yaml`";
  if (!kind.starts_with("nvidia.com/") || std::ranges::count(kClasses, name) == 0)
    return "install the CDI spec of that vendor";
  const std::string mode = name == "gpu" ? "" : " --mode " + (name == "imex-channel" ? "imex" : name);
  return "make one: `slipway apply` with the component cdi, or `slipway cdi generate" + mode +
         " --output /var/run/cdi/nvidia.com-" + name + ".yaml`";
}

/// True for slipway's hook and NVIDIA's.
bool makes_cuda_compatible(const cdi::Hook& hook) { return std::ranges::count(hook.args, "enable-cuda-compat") != 0; }

}  // namespace

Specs Specs::read(const std::vector<std::string>& folders) {
  Specs specs;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto names = names_in(folders[i]);
    for (const std::string& name : names) {
      const std::string path = folders[i] + "/" + name;
      const auto text = read_regular(path, cdi::kMaxSpecBytes);
      if (text)
        specs.add(path, *text, i);
      else
        specs.problems_.push_back(text.error());
    }
  }
  return specs;
}

void Specs::add(const std::string& path, std::string_view text, std::size_t priority) {
  auto spec = cdi::parse_and_validate(text, path);
  if (spec)
    files_.push_back({path, priority, std::move(*spec)});
  else
    problems_.push_back(std::move(spec).error());
}

Status Specs::replace(const std::string& kind, const std::string& path, std::string_view text) {
  SLIPWAY_TRY(spec, cdi::parse_and_validate(text, path));
  std::erase_if(files_, [&](const File& file) { return file.spec.kind == kind; });
  files_.push_back({path, files_.size(), std::move(spec)});
  return {};
}

Error Specs::missing(const std::string& kind, const std::string& name, const Request& request,
                     const Config& config) const {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (const File& file : files_) {
    if (file.spec.kind != kind) continue;
    paths.push_back(file.path);
    for (const auto& device : file.spec.devices) names.push_back(device.name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  Error error{ErrorCode::not_found, {}, {}, {}, {{"asked for by", request.source}}};
  if (names.empty()) {
    error.what = "no CDI spec has devices of the kind " + shortened(kind);
    error.where = joined(config.spec_folders, ", ");
    error.next = how_to_make(kind);
  } else {
    error.what = "there is no device " + kind + "=" + shortened(name) + "; there are: " + first_few(names, kMostNames);
    error.where = joined(paths, ", ");
    error.next = "ask for one of these, or, when the machine's devices have changed, " + how_to_make(kind);
  }
  for (const Error& problem : problems_) error.details.emplace_back("left out", problem.where + ": " + problem.what);
  return error;
}

std::vector<Specs::Found> Specs::all_of(const std::string& kind) const {
  std::vector<Found> all;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i].spec.kind == kind)
      for (const auto& device : files_[i].spec.devices) all.push_back({i, &device});
  return all;
}

const Specs::ByName& Specs::named(const std::string& kind, Index& index) const {
  const auto [place, fresh] = index.try_emplace(kind);
  if (fresh)
    for (const Found& one : all_of(kind)) {
      std::vector<Found>& same = place->second[one.device->name];
      if (same.empty() || same.back().file != one.file)
        same.push_back(one);  // within one file the first entry of a name counts
    }
  return place->second;
}

Result<std::vector<Specs::Found>> Specs::find(const std::string& device, Index& index, const Request& request,
                                              const Config& config) const {
  const std::string kind = device.substr(0, device.find('='));
  const std::string name = device.substr(device.find('=') + 1);
  const ByName& here = named(kind, index);
  const auto found = here.find(name);
  if (found == here.end()) {
    std::vector<Found> all;  // if no spec has the device `all`: every device of the kind
    if (name == "all") all = all_of(kind);
    if (all.empty()) return missing(kind, name, request, config);
    return all;
  }
  for (std::size_t i = 1; i < found->second.size(); ++i) {
    const File& before = files_[found->second[i - 1].file];
    const File& file = files_[found->second[i].file];
    if (before.priority == file.priority)
      return Error{ErrorCode::conflict,
                   before.path + " and " + file.path + " both have " + device,
                   file.path,
                   "remove one of the files",
                   {{"asked for by", request.source}}};
  }
  return std::vector<Found>{found->second.back()};
}

std::vector<std::string> Specs::all_names_of(const std::string& device) const {
  const std::string kind = device.substr(0, device.find('='));
  std::map<std::string, const cdi::Device*> by_name;  // the effective device of each name
  for (const File& file : files_)
    if (file.spec.kind == kind)
      for (const auto& one : file.spec.devices) by_name[one.name] = &one;
  const auto found = by_name.find(device.substr(device.find('=') + 1));
  std::vector<std::string> names;
  if (found == by_name.end()) return names;
  for (const auto& [name, one] : by_name)
    if (one->edits == found->second->edits) names.push_back(kind + "=" + name);
  return names;
}

Result<cdi::Edits> Specs::driver_files(const Request& request, const Config& config) const {
  const File* best = nullptr;
  for (const File& file : files_)
    if (file.spec.kind == config.default_kind) best = &file;
  if (best == nullptr) return missing(config.default_kind, "none", request, config);
  return best->spec.edits;
}

Result<cdi::Edits> Specs::resolve(const Request& request, const Config& config) const {
  cdi::Edits edits;
  if (request.driver_only) {
    SLIPWAY_TRY(files, driver_files(request, config));
    edits.append(files);
  }
  std::set<std::size_t> used;
  Index index;
  for (const std::string& device : request.devices) {
    SLIPWAY_TRY(found, find(device, index, request, config));
    for (const Found& one : found) {
      if (used.insert(one.file).second) edits.append(files_[one.file].spec.edits);
      edits.append(one.device->edits);
    }
  }
  return edits;
}

void leave_out_unwanted(cdi::Edits& edits, const Config& config) {
  if (config.no_cuda_compat) std::erase_if(edits.hooks, makes_cuda_compatible);
  if (config.no_device_groups) edits.additional_gids.clear();
}

}  // namespace slipway::shim
