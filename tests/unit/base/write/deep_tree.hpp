// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/write/deep_tree.hpp - a tree as an image may contain it: nested folders, deeper than any path is
// long.
#pragma once

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/fd.hpp>

namespace slipway::testing {

/// Creates `folder`, and in it `depth` nested folders "d", each with a file "f" beside the next.
inline void make_deep_tree(const std::string& folder, unsigned depth) {
  ASSERT_EQ(::mkdir(folder.c_str(), 0755), 0) << folder;
  Fd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (unsigned i = 0; i < depth; ++i) {
    const Fd file(::openat(at.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0) << i;
    at = Fd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at) << i;
  }
}

}  // namespace slipway::testing
