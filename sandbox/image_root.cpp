// SPDX-License-Identifier: Apache-2.0
#include "sandbox/image_root.hpp"

#include <array>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "sandbox/restrict_mount.hpp"

namespace slipway::sandbox {
namespace {

/// Each name is a mount: a root folder has far fewer names, and the kernel's limit is far higher.
constexpr std::size_t kMostNames = 1000;
constexpr mode_t kFolderMode = 0755;
constexpr std::array kAlwaysThere{"/dev", "/proc", "/tmp"};

SandboxReport failure(const std::string& what, int number) {
  const bool refused = number == EPERM || number == EACCES;
  return {refused ? SandboxReport::refused : SandboxReport::setup, number, what};
}

bool show(const std::string& from, const std::string& at) {
  return ::mount(from.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

/// Shows one name of the image. A tool does not need files at the top of a root.
bool show_name(const std::filesystem::directory_entry& entry, const std::string& at) {
  std::error_code problem;
  if (entry.is_symlink(problem)) {
    const std::string leads_to = std::filesystem::read_symlink(entry.path(), problem);
    return !problem && ::symlink(leads_to.c_str(), at.c_str()) == 0;
  }
  if (!entry.is_directory(problem)) return !problem;
  return ::mkdir(at.c_str(), kFolderMode) == 0 && show(entry.path(), at);
}

SandboxReport show_names(const std::string& image, const std::string& top) {
  std::error_code problem;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(image, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = "/" + entry->path().filename().string();
    if (name == kToolsFolder) continue;
    if (++count > kMostNames)
      return failure("mount more than " + std::to_string(kMostNames) + " names at the top of the root", E2BIG);
    if (!show_name(*entry, top + name)) return failure("show " + name, errno);
  }
  return problem ? failure("list the top of that root", problem.value()) : SandboxReport{};
}

SandboxReport show_tools(const std::string& folder, const std::vector<OpenTool>& tools) {
  if (::mkdir(folder.c_str(), kFolderMode) != 0 || !show(folder, folder)) return failure("make room for tools", errno);
  for (const OpenTool& tool : tools) {
    const std::string at = folder + "/" + tool.name;
    const Fd file(::open(at.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0644));
    if (!file || !show(tool.source, at)) return failure("show " + tool.name, errno);
  }
  const int restricted = restrict_mount(folder, MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY);
  return restricted == 0 ? SandboxReport{} : failure("limit what can be done with tools", restricted);
}

}  // namespace

SandboxReport build_image_root(const std::string& image, const std::string& top, const std::vector<OpenTool>& tools) {
  if (!show(top, top)) return failure("make a root folder", errno);
  if (auto failed = show_names(image, top); !failed.text.empty()) return failed;
  for (const char* name : kAlwaysThere)
    if (::mkdir((top + name).c_str(), kFolderMode) != 0 && errno != EEXIST) return failure("make a folder", errno);
  if (auto failed = show_tools(top + kToolsFolder, tools); !failed.text.empty()) return failed;
  constexpr unsigned long kReadOnly = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (::mount("", top.c_str(), nullptr, kReadOnly, nullptr) != 0) return failure("make the top read-only", errno);
  return {};
}

}  // namespace slipway::sandbox
