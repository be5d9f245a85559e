// SPDX-License-Identifier: Apache-2.0
// The driver's libraries create /dev/nvidia* themselves when /proc/driver/nvidia/params contains ModifyDeviceFiles: 1.
// In a container the engine decides which nodes exist, so the container sees a copy of that file with 0.
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "hook.hpp"

namespace slipway::hook {
namespace {

constexpr const char* kParams = "/proc/driver/nvidia/params";
constexpr const char* kAllowed = "ModifyDeviceFiles: 1";
constexpr std::size_t kLargest = 1U << 20;
constexpr unsigned long kQuiet = MS_NODEV | MS_NOSUID | MS_NOEXEC;

/// Returns the text for containers; empty when the host's needs no change.
Result<std::string> changed_params() {
  const Fd file(::open(kParams, O_RDONLY | O_CLOEXEC));
  if (!file) return std::string();
  SLIPWAY_TRY(text, read_all(file.get(), kParams, kLargest));
  const std::string wanted = std::string("\n") + kAllowed + "\n";
  const std::size_t at = ("\n" + text + "\n").find(wanted);
  if (at == std::string::npos) return std::string();
  text[at + wanted.size() - 3] = '0';
  return text;
}

/// A small tmpfs on the host during this object's lifetime; files mounted from it stay in the container.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }

  Status make() {
    for (const char* place : {"/run/slipway-hook-XXXXXX", "/tmp/slipway-hook-XXXXXX"}) {
      std::string name(place);
      if (::mkdtemp(name.data()) == nullptr) continue;
      folder_ = name;
      break;
    }
    if (folder_.empty()) return system_error("create a folder below", "/run", errno);
    if (::mount("tmpfs", folder_.c_str(), "tmpfs", kQuiet, "size=64k,mode=0755") != 0)
      return system_error("mount a memory filesystem on", folder_, errno);
    mounted_ = true;
    return {};
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

Status mount_over(const std::string& file, int target) {
  const std::string place = path_of(target);
  if (::mount(file.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return system_error("mount over", kParams, errno);
  return {};
}

}  // namespace

Status disable_device_node_modification(const Arguments&, const Container& container) {
  SLIPWAY_TRY(text, changed_params());
  if (text.empty()) return {};
  const auto target = container.root.open_at(kParams, O_PATH);
  if (!target) return target.error().code == ErrorCode::not_found ? Status{} : Status{target.error()};
  struct statfs filesystem {};
  if (::fstatfs(target->get(), &filesystem) != 0 || filesystem.f_type != PROC_SUPER_MAGIC)
    return Error{ErrorCode::denied,
                 std::string(kParams) + " in the container is not a file of the kernel's",
                 kParams,
                 "mount /proc in the container",
                 {}};
  Memory memory;
  SLIPWAY_CHECK(memory.make());
  SLIPWAY_TRY(folder, RootDir::open(memory.folder()));
  SLIPWAY_CHECK(write_file(folder, "/params", text, 0444));
  // Read-only for all users, the file's owner included: the container's mount cannot be changed later.
  if (::mount("tmpfs", memory.folder().c_str(), nullptr, MS_REMOUNT | MS_RDONLY | kQuiet, nullptr) != 0)
    return system_error("make read-only", memory.folder(), errno);
  return mount_over(memory.folder() + "/params", target->get());
}

}  // namespace slipway::hook
