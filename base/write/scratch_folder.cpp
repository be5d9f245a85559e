// SPDX-License-Identifier: Apache-2.0
#include "base/write/scratch_folder.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/start_program.hpp>

#include "base/write/new_file.hpp"
#include "base/write/tree.hpp"

namespace slipway::base {
namespace {

/// Without this, a reader of this process's pipes would wait for the keeper's end too.
void close_all_but(int kept) {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    for (int number = 0; number < 1024; ++number)
      if (number != kept) ::close(number);
    return;
  }
  while (const dirent* entry = ::readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && number != kept && number != ::dirfd(folder)) ::close(number);
  }
  ::closedir(folder);
}

/// Waits until the other process ends or no longer uses the folder, and removes it.
[[noreturn]] void keep(const std::string& path, int lifeline) {
  ::setsid();  // a terminal's signal to its group must not end this process
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::prctl(PR_SET_NAME, "slipway-scratch");
  close_all_but(lifeline);
  (void)!::chdir("/");
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(lifeline, &byte, 1)) > 0 || (got < 0 && errno == EINTR)) continue;
  (void)remove_tree(path).ok();
  ::_exit(0);
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const std::string& parent, const std::string& name) {
  const std::string path = unique_name(parent + "/" + name);
  SLIPWAY_TRY(line, make_pipe());
  // Started before the folder exists, so that it is always removed when this process is killed.
  const pid_t keeper = ::fork();
  if (keeper < 0) return system_error("start a process that removes", path, errno);
  if (keeper == 0) {
    line.write = Fd();
    keep(path, line.read.get());
  }
  ScratchFolder folder(path, line.write.release(), keeper);
  if (::mkdir(path.c_str(), 0700) != 0) return system_error("make", path, errno);
  return folder;
}

ScratchFolder::~ScratchFolder() {
  if (lifeline_ < 0) return;
  ::close(lifeline_);
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace slipway::base
