// SPDX-License-Identifier: Apache-2.0
// app/kernel_change.hpp - a kernel that a package manager has installed or removed: what is left of it, the hand-over
// to a unit, and the notice for users who log in.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/engine.hpp"

namespace slipway::app {

/// Reads a kernel release from a command line or from the instance of a unit, where "\x2b" stands for '+'.
/// Errors: `usage` when it is not a release.
Result<std::string> kernel_release_from(const std::string& word);

/// Returns "slipway-kernel@RELEASE.service", with characters that a unit's name must not contain as "\xNN".
std::string kernel_unit(const std::string& release);

/// True when the root has this kernel's own modules, not only an index of modules or a link to headers.
bool has_kernel(const Host& host, const std::string& release);

/// True when this process is in a chroot: its "/" is another folder than that of the machine's first process. False
/// when the two cannot be compared.
bool is_in_chroot();

/// Returns the components of this spec that have files for each kernel (`per_kernel` of their manifests).
std::vector<std::string> components_per_kernel(const core::Session& session, const core::HostSpec& spec);

/// Removes the indexes that depmod wrote for a kernel that is gone (modules.dep and the like), and its folders if they
/// are empty then. Does nothing while the kernel is there.
Status remove_indexes(core::Session& session, const std::string& release);

/// Starts the unit that prepares the kernel, and does not wait for it. Errors: as `systemctl start`.
Status start_kernel_unit(const HostConfig& config, const std::string& release);

/// The notices for users who log in to a running machine: /run/motd.d/slipway-kernel-RELEASE, where the machine shows
/// such files. @param text  empty: removes the notice
Status write_notice(const core::Session& session, const std::string& release, const std::string& text);

/// At the end of a boot's apply: writes a notice for users who log in that components have no files for the running
/// kernel, or removes that notice.
Status notice_of_boot(const core::Session& session, const core::ApplyResult& result);

/// Writes a warning to the machine's journal, if systemd runs.
void warn_in_journal(const core::Session& session, const std::string& text);

/// Hands the work over to the unit when the work takes longer than the limit, and then stops this process's apply.
class HandOver {
 public:
  /// @param tell  called when the unit was started, in a thread of its own and before the apply is stopped
  HandOver(std::chrono::seconds limit, HostConfig config, std::string release, std::function<void()> tell);
  ~HandOver();
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;
  /// True when the time has passed and the unit was started.
  bool done() const { return done_; }

 private:
  void run();

  std::chrono::seconds limit_;
  HostConfig config_;
  std::string release_;
  std::function<void()> tell_;
  std::atomic<bool> done_ = false;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable ends_;
  std::thread thread_;
};

}  // namespace slipway::app
