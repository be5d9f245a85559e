// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/library.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include <slipway/trusted_owner.hpp>

#include "nvidia/library_folders.hpp"

namespace slipway::nvidia::nvml {
namespace {

namespace fs = std::filesystem;

Error not_there(const LibraryChoice& choice, const std::vector<std::string>& tried) {
  if (!choice.named.empty())
    return Error{.code = ErrorCode::invalid,
                 .what = choice.named + " is missing",
                 .where = "SLIPWAY_NVML",
                 .next = "name an existing library, or unset the variable"};
  Error error{
      .code = ErrorCode::not_found,
      .what = std::string(kSoname) + " is missing: no NVIDIA driver is installed",
      .where = choice.named.empty() ? choice.driver_root : choice.named,
      .next = "install a driver (`slipway apply` with the component driver), or name the folder that holds one"};
  for (const std::string& path : tried) error.details.emplace_back("looked", path);
  return error;
}

/// Recognizes the loader's error for a library that was built for a newer C library: "version `GLIBC_2.41' not found".
bool wants_newer_c_library(std::string_view why) {
  return why.find("`GLIBC_") != std::string_view::npos && why.find("not found") != std::string_view::npos;
}

Error with_remedy(Error error) {
  if (error.code == ErrorCode::invalid)
    error.next = wants_newer_c_library(error.what)
                     ? "this driver needs a newer C library than slipway runs with: use a slipway that was built on a "
                       "newer distribution, or the package of slipway for this distribution"
                     : "check that the file belongs to a driver for this machine's architecture";
  return error;
}

std::string path_of(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr || map->l_name == nullptr)
    return fallback;
  std::error_code ignored;
  const fs::path real = fs::canonical(map->l_name, ignored);
  return real.empty() ? fallback : real.string();
}

// All symbols are looked up by name, so later binding is not needed. Lazy binding is required: mocks, including
// NVIDIA's own, refer to missing functions that they never call.
Result<void*> load(const std::string& path) { return open_library(path, RTLD_LAZY | RTLD_LOCAL); }

}  // namespace

Result<LibraryChoice> choose_library(const Host& host, std::string_view driver_root) {
  if (const char* named = std::getenv("SLIPWAY_NVML"); named != nullptr && *named != '\0') {
    // A library runs with all rights of this process, for any root.
    SLIPWAY_TRY(path, path_of_variable("SLIPWAY_NVML", named));
    return LibraryChoice{.named = std::move(path)};
  }
  if (!host.live())
    return Error{.code = ErrorCode::offline,
                 .what = "this root is not the running machine, so no GPU can be asked",
                 .next = "run it on the machine itself, or with --sim PROFILE"};
  const fs::path below = fs::path(host.root_folder()) / fs::path(driver_root).relative_path();
  const bool is_taken_for_granted = host.hardware() == "assume";
  return LibraryChoice{.driver_root = below.lexically_normal().string(),
                       .machine = is_taken_for_granted ? nullptr : &host};
}

std::vector<std::string> library_candidates(const std::string& driver_root) {
  std::vector<std::string> paths;
  for (const std::string_view folder : kLibraryFolders)
    paths.push_back((fs::path(driver_root) / in_folder(folder, kSoname).substr(1)).string());
  return paths;
}

Result<std::shared_ptr<const Library>> Library::open(const LibraryChoice& choice) {
  std::vector<std::string> tried;
  const auto opened = [](void* handle, const std::string& path) {
    return std::shared_ptr<const Library>(new Library(handle, path_of(handle, path)));
  };
  if (choice.named.empty() && choice.driver_root == "/") {
    tried.emplace_back(kSoname);
    if (const auto handle = load(tried.back())) return opened(*handle, tried.back());
  }
  const bool one = !choice.named.empty();
  for (const std::string& path : one ? std::vector{choice.named} : library_candidates(choice.driver_root)) {
    tried.push_back(path);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    const auto handle = load(path);
    if (!handle) return with_remedy(handle.error());
    return opened(*handle, path);
  }
  return not_there(choice, tried);
}

Library::~Library() { dlclose(handle_); }

void* Library::symbol(const char* name) const {
  const std::scoped_lock lock(mutex_);
  const auto known = symbols_.find(std::string_view(name));
  if (known != symbols_.end()) return known->second;
  void* const found = dlsym(handle_, name);
  symbols_.emplace(name, found);
  return found;
}

}  // namespace slipway::nvidia::nvml
