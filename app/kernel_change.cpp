// SPDX-License-Identifier: Apache-2.0
#include "app/kernel_change.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/text.hpp>

#include "base/log/journal.hpp"
#include "base/write/new_file.hpp"
#include "core/action/trigger/triggers.hpp"

namespace slipway::app {
namespace {

constexpr std::chrono::seconds kStartLimit{10};
constexpr std::size_t kLongestRelease = 64;  // __NEW_UTS_LEN of include/uapi/linux/utsname.h (Linux 6.1)
constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

std::string folder_of(const std::string& release) { return "/lib/modules/" + release; }

bool is_plain(unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':'; }

/// Replaces each "\xNN", as systemd-escape(1) writes it.
std::string unescaped(const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    unsigned value = 0;
    const char* const digits = word.data() + i + 2;
    const bool escaped = word[i] == '\\' && i + 3 < word.size() && word[i + 1] == 'x' &&
                         std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    text += escaped ? static_cast<char>(value) : word[i];
    if (escaped) i += 3;
  }
  return text;
}

std::string notice_path(const std::string& release) { return "/run/motd.d/slipway-kernel-" + release; }

}  // namespace

Result<std::string> kernel_release_from(const std::string& word) {
  std::string release = unescaped(word);
  const bool valid = !release.empty() && release.size() <= kLongestRelease && release.front() != '.' &&
                     release.front() != '-' &&
                     std::ranges::all_of(release, [](unsigned char c) { return is_plain(c) || c == '+' || c == '~'; });
  if (valid) return release;
  return Error{ErrorCode::usage,
               "'" + word + "' is not a kernel release",
               "command line",
               "write the release as `uname -r` prints it, for example 6.1.0-50-amd64",
               {}};
}

std::string kernel_unit(const std::string& release) {
  std::string name = "slipway-kernel@";
  for (const char c : release) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(byte))
      name += c;
    else
      name.append("\\x").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 15U]);
  }
  return name + ".service";
}

bool has_kernel(const Host& host, const std::string& release) {
  return std::ranges::any_of(std::array{"/kernel", "/modules.builtin", "/modules.order"},
                             [&](const char* name) { return host.exists(folder_of(release) + name); });
}

bool is_in_chroot() {
  struct stat ours {};
  struct stat first {};
  return ::stat("/", &ours) == 0 && ::stat("/proc/1/root/.", &first) == 0 &&
         (ours.st_dev != first.st_dev || ours.st_ino != first.st_ino);
}

std::vector<std::string> components_per_kernel(const core::Session& session, const core::HostSpec& spec) {
  std::vector<std::string> names;
  for (const auto& [name, section] : spec.components)
    if (const core::Manifest* const manifest = session.plugins().manifest(name);
        manifest != nullptr && manifest->per_kernel)
      names.push_back(name);
  return names;
}

Status remove_indexes(core::Session& session, const std::string& release) {
  const Host& host = session.host();
  core::RootFs& root = session.root();
  if (has_kernel(host, release) || !host.exists(folder_of(release))) return {};
  for (const std::string& file : core::depmod_products(release)) SLIPWAY_CHECK(root.remove(file));
  for (const std::string& folder : {folder_of(release) + "/updates", folder_of(release)})
    if (const auto names = host.list(folder); names && names->empty()) SLIPWAY_CHECK(root.remove(folder));
  return root.settle_directory_times();
}

Status start_kernel_unit(const HostConfig& config, const std::string& release) {
  SLIPWAY_TRY(host, open_host(config));
  const std::string unit = kernel_unit(release);
  SLIPWAY_TRY(end, host->run({"systemctl", "start", "--no-block", unit}, kStartLimit));
  if (end.exit_status == 0) return {};
  return Error{ErrorCode::io,
               "systemd did not start " + unit + ": " + std::string(trimmed(end.errors)),
               unit,
               "run `slipway kernel installed " + release + "`",
               {}};
}

Status write_notice(const core::Session& session, const std::string& release, const std::string& text) {
  const Host& host = session.host();
  SLIPWAY_TRY(top, RootDir::open(session.host_config().root));
  if (text.empty()) {
    if (!host.exists(notice_path(release))) return {};
    SLIPWAY_TRY(folder, top.open_at("/run/motd.d", O_RDONLY | O_DIRECTORY));
    (void)::unlinkat(folder.get(), ("slipway-kernel-" + release).c_str(), 0);
    return {};
  }
  if (!host.live() || (!host.exists("/etc/motd.d") && !host.exists("/etc/update-motd.d"))) return {};
  return base::replace_file(top, notice_path(release), text);
}

Status notice_of_boot(const core::Session& session, const core::ApplyResult& result) {
  const std::string release = session.host().kernel_release().value_or("");
  if (!session.host().live() || release.empty()) return {};
  std::string text;
  for (const core::PlannedComponent& component : result.run.components) {
    const core::Manifest* const manifest = session.plugins().manifest(component.name);
    if (manifest == nullptr || !manifest->per_kernel || !component.error) continue;
    text += "slipway: " + component.name + " is not complete on kernel " + release + ": " + component.error->what +
            ".\n" + "`slipway status` tells more; `systemctl restart slipway-boot.service` tries again.\n";
  }
  return write_notice(session, release, text);
}

void warn_in_journal(const core::Session& session, const std::string& text) {
  if (!core::has_systemd(session.host())) return;
  const std::string& root = session.host_config().root;
  (void)base::SystemdJournal((root == "/" ? "" : root) + kJournalSocket)
      .send({.level = base::LogLevel::warning, .component = "", .phase = "kernel", .generation = {}, .message = text});
}

HandOver::HandOver(std::chrono::seconds limit, HostConfig config, std::string release, std::function<void()> tell)
    : limit_(limit), config_(std::move(config)), release_(std::move(release)), tell_(std::move(tell)), thread_([this] {
        run();
      }) {}

HandOver::~HandOver() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

// The unit waits until this process has released the root. The unit is started first, because an apply that does not
// stop in time ends the whole process.
void HandOver::run() {
  std::unique_lock lock(mutex_);
  if (ends_.wait_for(lock, limit_, [this] { return over_; })) return;
  lock.unlock();
  if (!start_kernel_unit(config_, release_)) return;
  done_ = true;
  tell_();
  (void)::kill(::getpid(), SIGTERM);
}

}  // namespace slipway::app
