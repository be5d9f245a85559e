// SPDX-License-Identifier: Apache-2.0
#include "nvidia/cdi_refresh.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/fd.hpp>

namespace slipway::nvidia {

bool ask_for_cdi_refresh(const Host& host) {
  if (host.borrows_root() || !host.exists(std::string("/etc/systemd/system/") + kRefreshPathUnit)) return false;
  const std::string above = host.root_folder() == "/" ? "" : host.root_folder();
  const std::string path = above + kRefreshFile;
  // Only root can write to its folder.
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644));
  return file && ::futimens(file.get(), nullptr) == 0;
}

void CdiRefresh::saw(const Host& host, std::string seen) {
  if (last_ && !seen.empty() && *last_ != seen) ask_for_cdi_refresh(host);
  last_ = std::move(seen);
}

}  // namespace slipway::nvidia
