// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/programs.hpp"

#include <algorithm>
#include <array>

#include <elf.h>

#include <slipway/text.hpp>

namespace slipway::toolkit {
namespace {

constexpr std::array kUsualFolders{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

/// Returns "/usr/local/nvidia" for "/usr/local/nvidia/lib64", "/usr" for "/usr/lib/x86_64-linux-gnu/nvidia/current";
/// empty if no part of the path is called lib.
std::string prefix_of(std::string folder) {
  for (; !folder.empty(); folder = folder_of(folder))
    if (const std::string name = file_name(folder); name == "lib" || name == "lib64") return folder_of(folder);
  return {};
}

std::vector<std::string> folders_to_search(const std::vector<std::string>& library_folders,
                                           const std::vector<std::string>& more_folders) {
  std::vector<std::string> folders;
  for (const std::string& folder : library_folders)
    if (const std::string prefix = prefix_of(folder); !prefix.empty())
      for (const char* name : {"/bin", "/sbin"}) add_once(folders, prefix + name);
  for (const std::string usual : kUsualFolders) add_once(folders, usual);
  for (const std::string& more : more_folders) add_once(folders, more);
  return folders;
}

bool is_usual(const std::string& folder) { return std::ranges::find(kUsualFolders, folder) != kUsualFolders.end(); }

bool is_elf(const Host& driver, const std::string& file) {
  return driver.read_part(file, 0, SELFMAG).value_or("") == std::string_view(ELFMAG, SELFMAG);
}

void add(const Host& driver, const std::string& name, const std::vector<std::string>& folders,
         DriverPrograms& programs) {
  std::vector<std::string> scripts;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    const auto real = driver.resolve(path);
    if (!real) continue;
    const auto info = driver.info(*real);
    if (!info || info->type != FileInfo::Type::regular || (info->mode & 0111U) == 0) continue;
    if (!is_elf(driver, *real)) {
      add_once(scripts, *real);
      continue;
    }
    const std::string container = container_path(path);
    programs.files.push_back({container, *real});
    // Few images have the driver's own folder in PATH.
    if (!is_usual(folder_of(container))) programs.files.push_back({std::string("/usr/bin/") + name, *real});
    return;
  }
  if (!scripts.empty())
    programs.notes.push_back("containers get no " + name + ": " + joined(scripts) +
                             " is not an ELF file (a script?), and the driver's own " + name +
                             " is neither beside its libraries nor in a usual folder");
}

}  // namespace

DriverPrograms find_driver_programs(const Host& driver, const std::vector<std::string>& names,
                                    const std::vector<std::string>& library_folders,
                                    const std::vector<std::string>& more_folders) {
  const std::vector<std::string> folders = folders_to_search(library_folders, more_folders);
  DriverPrograms programs;
  for (const std::string& name : names) add(driver, name, folders, programs);
  return programs;
}

std::vector<std::string> folders_of_path(const char* path) {
  std::vector<std::string> folders;
  for (const std::string_view folder : split<std::string_view>(path == nullptr ? "" : path, ':'))
    if (folder.size() > 1 && folder.starts_with('/')) add_once(folders, std::string(folder));
  return folders;
}

}  // namespace slipway::toolkit
