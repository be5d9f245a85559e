// SPDX-License-Identifier: Apache-2.0
// Each command that takes --root, on images whose author wants to reach the machine that builds them: by links that
// lead out of the image, and by trees that no walk can finish.
#include "base/write/tree.hpp"
#include "tests/component/cli/driver_root.hpp"
#include "tests/unit/base/write/deep_tree.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;

/// Returns the files of a folder, with contents and times of the last change.
std::map<std::string, std::string> picture_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string& text = all[entry.path().lexically_relative(folder)];
    text = std::to_string(entry.last_write_time().time_since_epoch().count());
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    text += " " + std::string(std::istreambuf_iterator<char>(in), {});
  }
  return all;
}

/// Commands of `slipway help` that work on a root; components' tools only read.
const std::vector<std::vector<std::string>>& root_commands() {
  static const std::vector<std::vector<std::string>> all{{"plan"},
                                                         {"apply", "--yes"},
                                                         {"detect"},
                                                         {"verify"},
                                                         {"doctor"},
                                                         {"status"},
                                                         {"graph"},
                                                         {"generations"},
                                                         {"diff", "1"},
                                                         {"rollback", "--yes"},
                                                         {"repair", "--yes"},
                                                         {"gc"},
                                                         {"accept", "/etc/modprobe.d/slipway-nvidia.conf", "--yes"},
                                                         {"remove", "--all", "--yes"}};
  return all;
}

/// Runs all of them, and commands with arguments of their own.
void run_all(const DriverRoot& root, const std::string& image) {
  for (const auto& words : root_commands()) {
    const Ran ran = root.run(words);
    EXPECT_LT(ran.code, 128) << words.front() << " crashed: " << ran.err;
  }
  const std::string spec = root.folder().at("host.yaml").string();
  const std::vector<std::vector<std::string>> others{
      {"install", "--root", image, "--only", "driver"},
      {"log", "--root", image},
      {"bugreport", "--root", image, "--image", "-f", spec, "--to", root.folder().at("report.tar").string()}};
  for (const auto& words : others) EXPECT_LT(root.bare(words).code, 128) << words.front() << root.error_text();
}

class RootCommand : public ::testing::TestWithParam<const char*> {};

TEST_P(RootCommand, ChangesNothingBehindALinkThatLeadsOut) {
  const DriverRoot root;
  const fs::path outside = root.folder().path() / "outside";
  for (const char* name : {"host.yaml", "slipway.lock", "format", "generations/current", "installed/1/x", "deep/file",
                           "slipway-nvidia.conf", "driver/x", "log/slipway/log.jsonl"})
    root.folder().file(std::string("outside/") + name, "of this machine\n");
  const fs::path link = root.path(GetParam());
  fs::create_directories(link.parent_path());
  fs::create_directory_symlink(outside, link);
  const auto before = picture_of(outside);
  run_all(root, root.folder().at("root").string());
  EXPECT_EQ(picture_of(outside), before);
}

INSTANTIATE_TEST_SUITE_P(InTheImage, RootCommand,
                         ::testing::Values("var", "var/lib/slipway", "var/log", "etc", "etc/slipway", "usr",
                                           "usr/lib/slipway", "usr/lib/slipway/installed", "usr/bin", "run", "lib"));

// Before the fix, these commands crashed with SIGSEGV, or failed with "Too many open files", so that nothing could be
// installed in the root.
TEST(RootCommands, HandleDeeplyNestedFolders) {
  const DriverRoot root;
  const std::string image = root.folder().at("root").string();
  fs::create_directories(root.path("usr/lib/slipway/installed"));
  fs::create_directories(root.path(".slipway-state"));
  testing::make_deep_tree(image + "/.slipway-state/d", 1'000);
  testing::make_deep_tree(image + "/usr/lib/slipway/installed/deep", 1'000);
  const Ran applied = root.run({"apply"});
  EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
  run_all(root, image);
  EXPECT_TRUE(slipway::base::remove_tree(image));
}

}  // namespace
}  // namespace slipway
