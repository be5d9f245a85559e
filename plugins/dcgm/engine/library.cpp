// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/library.hpp"

#include <filesystem>

#include <dlfcn.h>

#include <slipway/trusted_owner.hpp>

#include "nvidia/library_folders.hpp"

namespace slipway::dcgm {
namespace {

namespace fs = std::filesystem;

Result<void*> load(const std::string& path) { return open_library(path, RTLD_LAZY | RTLD_LOCAL); }

}  // namespace

std::vector<std::string> dcgm_library_candidates(const std::string& root) {
  std::vector<std::string> paths;
  for (const std::string_view folder : nvidia::kLibraryFolders)
    paths.push_back((fs::path(root) / nvidia::in_folder(folder, kDcgmSoname).substr(1)).string());
  return paths;
}

Result<std::shared_ptr<const DcgmLibrary>> DcgmLibrary::open(const std::string& root) {
  std::string path = kDcgmSoname;
  void* handle = root == "/" ? load(path).value_or(nullptr) : nullptr;
  for (const std::string& candidate : dcgm_library_candidates(root)) {
    std::error_code ignored;
    if (handle != nullptr || !fs::exists(candidate, ignored)) continue;
    path = candidate;
    const auto loaded = load(path);
    if (!loaded) {
      Error error = loaded.error();
      if (error.next.empty())
        error.next = "check that the package datacenter-gpu-manager-4-core is one for this distribution";
      return error;
    }
    handle = *loaded;
  }
  if (handle == nullptr)
    return Error{.code = ErrorCode::not_found,
                 .what = std::string(kDcgmSoname) + " is missing",
                 .where = root,
                 .next = "install DCGM 4 (package datacenter-gpu-manager-4-core), or set `engine: none`"};
  std::shared_ptr<DcgmLibrary> library(new DcgmLibrary(handle));
  if (const std::string missing = library->bind(); !missing.empty())
    return Error{.code = ErrorCode::invalid,
                 .what = path + " has no function " + missing,
                 .where = path,
                 .next = "install DCGM 4 (package datacenter-gpu-manager-4-core)"};
  return std::shared_ptr<const DcgmLibrary>(std::move(library));
}

DcgmLibrary::~DcgmLibrary() { dlclose(handle_); }

std::string DcgmLibrary::bind() {
  std::string missing;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle_, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  take(init, "dcgmInit");
  take(shutdown, "dcgmShutdown");
  take(connect, "dcgmConnect_v2");
  take(disconnect, "dcgmDisconnect");
  take(create_field_group, "dcgmFieldGroupCreate");
  take(watch, "dcgmWatchFields");
  take(update, "dcgmUpdateAllFields");
  take(latest, "dcgmGetLatestValues_v2");
  take(entities, "dcgmGetEntityGroupEntities");
  take(link_states, "dcgmGetNvLinkLinkStatus");
  take(create_group, "dcgmGroupCreate");
  take(add_entity, "dcgmGroupAddEntity");
  take(destroy_group, "dcgmGroupDestroy");
  take(error_text_, "errorString");
  return missing;
}

std::string DcgmLibrary::error_text(abi::Return code) const {
  const char* const told = error_text_(code);
  return std::string(told == nullptr ? "an error of DCGM" : told) + " (" + std::to_string(code) + ")";
}

}  // namespace slipway::dcgm
