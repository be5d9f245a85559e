// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/test_host.hpp - a host made of two folders: a Debian root, and its kernel's view.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/local_host.hpp>
#include <slipway/plan.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway::driver::testing {

inline constexpr const char* kKernel = "6.1.0-50-amd64";

class TestHost {
 public:
  /// A merged-usr Debian 12 for this machine's processor with one kernel and no GPUs.
  TestHost();

  const slipway::testing::TempDir& root() const { return root_; }
  const slipway::testing::TempDir& view() const { return view_; }

  TestHost& gpu(const std::string& address, std::uint16_t device, const std::string& driver = "");
  TestHost& pci(const std::string& address, std::uint16_t vendor, std::uint16_t device, std::uint32_t device_class,
                const std::string& driver = "");
  /// Makes the driver loaded, with these modules; the GPUs added so far are bound to it.
  TestHost& loaded(const std::string& version, const std::vector<std::string>& modules, bool open = true);
  /// Adds headers, make and gcc-12.
  TestHost& build_tools();

  TestHost& hardware(std::string word);
  std::unique_ptr<Host> live() const;
  std::unique_ptr<Host> offline() const;

 private:
  slipway::testing::TempDir root_;
  slipway::testing::TempDir view_;
  std::string hardware_;
};

/// Returns one line for each action: kind, target, and its distinguishing detail.
std::string summary(const Plan& plan);
/// Returns "status name: text" lines.
std::string summary(const Findings& findings);

std::string content_of(const std::string& path);
/// The first bytes of a program for "x86_64" or "aarch64": slipway reads the processor of a root that does not run from
/// them.
std::string program_for(std::string_view machine);

}  // namespace slipway::driver::testing
