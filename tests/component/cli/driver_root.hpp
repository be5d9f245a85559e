// SPDX-License-Identifier: Apache-2.0
// tests/component/cli/driver_root.hpp - a scratch root for a simulated machine and specs for the driver component.
#pragma once

#include <string>
#include <vector>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway::testing {

inline const std::string kPackage = SLIPWAY_TEST_PACKAGE;

/// A scratch root of a machine with H100 GPUs, and the demonstration package.
class DriverRoot : public ScratchHost {
 public:
  DriverRoot() {
    driver("version: \"535.261.03\", modules: open, source: {repository: " + kPackage + ", trust: unsigned}");
  }

  /// Sets the spec with these keys of the driver.
  void driver(const std::string& keys) const { spec("    driver: {" + keys + "}\n"); }
  void source(const std::string& value) const { driver("version: \"535.261.03\", modules: open, source: " + value); }

  /// Runs a command for the simulated machine.
  Ran run(std::vector<std::string> words, const std::string& profile = "h100x8") const {
    words.insert(words.end(), {"--sim", profile});
    return slipway(words);
  }
};

/// Expects that the command fails with this code and these texts on standard error, and leaves the root unchanged to
/// the last byte.
inline void expect_refused(const DriverRoot& root, const Ran& ran, int code, const std::vector<std::string>& says,
                           const std::map<std::string, std::string>& before) {
  EXPECT_EQ(ran.code, code) << ran.out << ran.err;
  for (const auto& words : says) EXPECT_THAT(ran.err + ran.out, ::testing::HasSubstr(words));
  EXPECT_EQ(root.tree(), before);
}

}  // namespace slipway::testing
