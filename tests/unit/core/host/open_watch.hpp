// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/host/open_watch.hpp - tells whether a file was opened: opening a device node has effects.
#pragma once

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::test {

class OpenWatch {
 public:
  explicit OpenWatch(const std::string& path) {
    EXPECT_GE(::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN), 0) << path;
  }
  /// Since this watch began, or since the last call. Opening with O_PATH does not count.
  bool opened() const {
    std::array<char, 4096> events{};
    return ::read(events_.get(), events.data(), events.size()) > 0;
  }

 private:
  Fd events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

}  // namespace slipway::test
