// SPDX-License-Identifier: Apache-2.0
// core/service/between_changes.cpp - delays a service while another process changes a device: the service would hold
// the device that the change needs, and could not be quiesced before its socket exists.

#include <chrono>
#include <memory>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <fcntl.h>

#include "base/write/lock_file.hpp"
#include "core/service/control_socket.hpp"
#include "core/service/notify.hpp"

namespace slipway::core {
namespace {

constexpr const char* kLockFolder = "/run/slipway/lock";  // the folder that ExclusiveUse::take() uses
constexpr std::chrono::milliseconds kLook{100};
constexpr unsigned kLooksPerReport = 50;

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The locks of an apply's root have the prefix root-: an apply may start services itself.
bool is_of_a_device(std::string_view name) { return name.ends_with(".lock") && !name.starts_with("root-"); }

/// Returns the process that changes a device now, "slipway-engine (pid 4711)"; empty if not found.
std::string device_changer(const RootDir& root) {
  auto opened = root.open_at(kLockFolder, O_RDONLY | O_DIRECTORY);
  if (!opened) return {};
  const std::unique_ptr<DIR, Close> folder(::fdopendir(opened->release()));
  if (!folder) return {};
  while (const dirent* const each = ::readdir(folder.get()))
    if (is_of_a_device(each->d_name))
      if (std::string holder = base::LockFile::other_holder(root, kLockFolder, each->d_name); !holder.empty())
        return holder;
  return {};
}

using Started = std::optional<std::chrono::steady_clock::time_point>;

void wait_for_the_end_of_changes(const RootDir& root, const Notify& notify, Started& started) {
  for (unsigned looks = 0;; ++looks) {
    const std::string who = device_changer(root);
    if (who.empty()) return;
    if (started && std::chrono::steady_clock::now() >= *started) {
      notify.ready();
      started.reset();
    }
    if (looks % kLooksPerReport == 0) notify.waits("waits until " + who + " has changed a device");
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

Result<ControlSocket> open_between_changes(const RootDir& root, const std::string& component, const Notify& notify,
                                           Started started) {
  for (;;) {
    wait_for_the_end_of_changes(root, notify, started);
    auto control = ControlSocket::open(root, component);
    // A change that began before the socket existed has not quiesced the service; a change that begins later will.
    if (!control || device_changer(root).empty()) return control;
  }
}

}  // namespace slipway::core
