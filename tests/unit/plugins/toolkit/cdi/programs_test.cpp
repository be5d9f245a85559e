// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kElf(
    "\x7f"
    "ELF",
    4);
const std::string kScript = "#!/bin/sh\nexec /usr/local/nvidia/bin/nvidia-smi \"$@\"\n";
const std::vector<std::string> kNames{"nvidia-smi", "nvidia-debugdump", "nvidia-persistenced",
                                      "nvidia-cuda-mps-control", "nvidia-cuda-mps-server"};
const std::vector<std::string> kBesideLib64{"/usr/local/nvidia/lib64"};

/// Returns "REAL -> CONTAINER" of each.
std::vector<std::string> shown(const DriverPrograms& programs) {
  std::vector<std::string> all;
  for (const Found& each : programs.files) all.push_back(each.real + " -> " + each.path);
  return all;
}

// A cloud machine: the driver is in /usr/local/nvidia, and /usr/bin/nvidia-smi is a script around it. Before the fix,
// containers got the script, and "/usr/local/nvidia/bin/nvidia-smi: not found" from it.
TEST(DriverPrograms, AreTheFilesBesideTheLibrariesAndNotScripts) {
  FakeHost host;
  for (const char* name :
       {"nvidia-smi", "nvidia-debugdump", "nvidia-persistenced", "nvidia-cuda-mps-control", "nvidia-cuda-mps-server"}) {
    host.file(std::string("/usr/bin/") + name, kScript, 0755);
    host.file(std::string("/usr/local/nvidia/bin/") + name, kElf, 0755);
  }
  const DriverPrograms programs = find_driver_programs(host, kNames, kBesideLib64, {});
  EXPECT_THAT(
      shown(programs),
      ElementsAre("/usr/local/nvidia/bin/nvidia-smi -> /usr/local/nvidia/bin/nvidia-smi",
                  "/usr/local/nvidia/bin/nvidia-smi -> /usr/bin/nvidia-smi",
                  "/usr/local/nvidia/bin/nvidia-debugdump -> /usr/local/nvidia/bin/nvidia-debugdump",
                  "/usr/local/nvidia/bin/nvidia-debugdump -> /usr/bin/nvidia-debugdump",
                  "/usr/local/nvidia/bin/nvidia-persistenced -> /usr/local/nvidia/bin/nvidia-persistenced",
                  "/usr/local/nvidia/bin/nvidia-persistenced -> /usr/bin/nvidia-persistenced",
                  "/usr/local/nvidia/bin/nvidia-cuda-mps-control -> /usr/local/nvidia/bin/nvidia-cuda-mps-control",
                  "/usr/local/nvidia/bin/nvidia-cuda-mps-control -> /usr/bin/nvidia-cuda-mps-control",
                  "/usr/local/nvidia/bin/nvidia-cuda-mps-server -> /usr/local/nvidia/bin/nvidia-cuda-mps-server",
                  "/usr/local/nvidia/bin/nvidia-cuda-mps-server -> /usr/bin/nvidia-cuda-mps-server"));
  EXPECT_THAT(programs.notes, IsEmpty());
}

TEST(DriverPrograms, WithOnlyAScriptAreLeftOutWithANote) {
  FakeHost host;
  host.file("/usr/bin/nvidia-smi", kScript, 0755).link("/bin", "usr/bin");
  const DriverPrograms programs = find_driver_programs(host, kNames, kBesideLib64, {});
  EXPECT_THAT(shown(programs), IsEmpty());
  ASSERT_EQ(programs.notes.size(), 1U);
  EXPECT_THAT(programs.notes[0], HasSubstr("containers get no nvidia-smi: /usr/bin/nvidia-smi is not an ELF file"));
}

TEST(DriverPrograms, AreLookedForInPathAfterTheUsualFolders) {
  FakeHost host;
  host.file("/usr/bin/nvidia-smi", kScript, 0755).file("/opt/driver/bin/nvidia-smi", kElf, 0755);
  const auto folders = folders_of_path("/usr/bin:bin::/opt/driver/bin:.");
  EXPECT_THAT(folders, ElementsAre("/usr/bin", "/opt/driver/bin"));
  EXPECT_THAT(shown(find_driver_programs(host, kNames, {"/usr/lib64"}, folders)),
              ElementsAre("/opt/driver/bin/nvidia-smi -> /opt/driver/bin/nvidia-smi",
                          "/opt/driver/bin/nvidia-smi -> /usr/bin/nvidia-smi"));
  host.file("/usr/local/bin/nvidia-smi", kElf, 0755);
  EXPECT_THAT(shown(find_driver_programs(host, kNames, {"/usr/lib64"}, folders)),
              ElementsAre("/usr/local/bin/nvidia-smi -> /usr/local/bin/nvidia-smi"));
  EXPECT_THAT(folders_of_path(nullptr), IsEmpty());
}

TEST(DriverPrograms, OfMultiarchLibrariesAreInTheUsualFolders) {
  FakeHost host;
  const std::string store = "/usr/lib/slipway/store/driver/current/userspace";
  host.file("/usr/lib/nvidia/current/nvidia-smi", kElf, 0755)  // Debian's file, behind its alternatives
      .link("/usr/bin/nvidia-smi", "/etc/alternatives/nvidia-smi")
      .link("/etc/alternatives/nvidia-smi", "/usr/lib/nvidia/current/nvidia-smi")
      .file(store + "/usr/bin/nvidia-debugdump", kElf, 0755)
      .file("/usr/bin/nvidia-persistenced", kElf, 0644);
  EXPECT_THAT(shown(find_driver_programs(
                  host, kNames, {"/usr/lib/x86_64-linux-gnu/nvidia/current", store + "/usr/lib/x86_64-linux-gnu"}, {})),
              ElementsAre("/usr/lib/nvidia/current/nvidia-smi -> /usr/bin/nvidia-smi",
                          store + "/usr/bin/nvidia-debugdump -> /usr/bin/nvidia-debugdump"));
}

}  // namespace
}  // namespace slipway::toolkit
