// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/host_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>
#include <slipway/process/start_program.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::dcgm {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kGrace{5};
constexpr const char* kFolder = "run/slipway/dcgm-engine";

/// Creates the folder of the engine's socket, with access for its owner only, and removes a stale socket, which would
/// keep the engine from listening.
Status make_own_folder(const std::string& root_folder) {
  const std::string path = std::string("/") + kFolder;
  SLIPWAY_TRY(root, RootDir::open(root_folder));
  SLIPWAY_CHECK(base::make_folders(root, path));
  SLIPWAY_TRY(folder, root.open_at(path, O_RDONLY | O_DIRECTORY));
  std::error_code problem;
  const fs::path real = fs::read_symlink("/proc/self/fd/" + std::to_string(folder.get()), problem);
  if (problem || real != fs::canonical(root_folder, problem) / kFolder)
    return Error{.code = ErrorCode::conflict,
                 .what = "a link leads to a folder that is not the engine's own",
                 .where = (fs::path(root_folder) / kFolder).string(),
                 .next = "remove the link"};
  if (::fchmod(folder.get(), 0700) != 0) return system_error("close to others", path, errno);
  (void)::unlinkat(folder.get(), "socket", 0);
  return {};
}

}  // namespace

EngineAddress HostEngine::address() const { return {(fs::path(root_) / kFolder / "socket").string(), true}; }

std::string HostEngine::program() const {
  std::vector<fs::path> places;
  for (const char* each : kHostEnginePrograms) places.push_back(fs::path(programs_) / (each + 1));
  if (const char* const search = std::getenv("PATH"); search != nullptr && programs_ == "/")
    for (const std::string& each : split(search, ':'))
      if (each.starts_with('/')) places.push_back(fs::path(each) / "nv-hostengine");
  const auto found =
      std::ranges::find_if(places, [](const fs::path& each) { return ::access(each.c_str(), X_OK) == 0; });
  return found == places.end() ? std::string() : found->string();
}

Status HostEngine::keep_running(Clock::time_point now) {
  if (pid_ > 0) take_end(now);
  if (pid_ > 0) return {};
  if (now < not_before_)
    return Error{.code = ErrorCode::busy,
                 .what = "nv-hostengine ended (" + ending_ + "), and is started again within " +
                         std::to_string(std::chrono::ceil<std::chrono::seconds>(not_before_ - now).count()) + " s",
                 .where = (fs::path(root_) / kFolder / "log").string(),
                 .next = "nv-hostengine's log says why it ended"};
  return start(now);
}

Status HostEngine::start(Clock::time_point now) {
  const std::string path = program();
  if (path.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = "nv-hostengine is not installed",
                 .where = (fs::path(programs_) / "usr/bin/nv-hostengine").string(),
                 .next = "install the package datacenter-gpu-manager-4-core, or set `engine: external` or `none`"};
  const fs::path folder = fs::path(root_) / kFolder;
  SLIPWAY_CHECK(make_own_folder(root_));
  std::vector<std::string> environment = own_environment();
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("NOTIFY_SOCKET="); });
  const ChildProgram child{.argv = {path, "-n", "--domain-socket", address().text, "--pid", (folder / "pid").string(),
                                    "--log-filename", (folder / "log").string(), "--home-dir", folder.string()},
                           .environment = std::move(environment),
                           .descriptors = {kDevNull, kDevNull, kDevNull},
                           .own_session = true};
  SLIPWAY_TRY(pid, start_program(child));
  pid_ = pid;
  started_ = now;
  log_("info", "nv-hostengine runs (pid " + std::to_string(pid_) + ")");
  return {};
}

void HostEngine::take_end(Clock::time_point now) {
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
  pid_ = -1;
  ending_ = ending_of(status);
  if (now - started_ >= kProven) wait_ = kShortestWait;
  not_before_ = now + wait_;
  wait_ = std::min<Clock::duration>(2 * wait_, kLongestWait);
  log_("warning", "nv-hostengine ended: " + ending_);
}

void HostEngine::stop() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGTERM);
  if (!child_ended(pid_, kGrace)) {
    ::kill(-pid_, SIGKILL);
    (void)child_ended(pid_, kGrace);
  }
  pid_ = -1;
  not_before_ = {};
  wait_ = kShortestWait;
  log_("info", "nv-hostengine was stopped");
}

}  // namespace slipway::dcgm
