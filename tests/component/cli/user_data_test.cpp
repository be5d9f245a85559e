// SPDX-License-Identifier: Apache-2.0
// docs/cloud-init.md: its user data is YAML, and the file that it writes is a spec that slipway accepts.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;

std::string content_of_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(UserData, OfTheDocumentationWritesAValidSpecAndEnablesTheUnit) {
  const std::string page = content_of_file(SLIPWAY_SOURCES "/docs/cloud-init.md");
  const std::string begin = "```cloud-config\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::string block = page.substr(at + begin.size(), page.find("```\n", at + begin.size()) - at - begin.size());
  EXPECT_TRUE(block.starts_with("#cloud-config\n")) << "cloud-init takes nothing else for its own";
  const DriverRoot root;
  root.folder().file("user-data", block);
  // Parses it like cloud-init: files by path, and commands to run.
  const std::string script =
      "import sys, yaml\nd = yaml.safe_load(open(sys.argv[1]))\n"
      "assert set(d) == {'write_files', 'runcmd'}, d\n"
      "print(*d['runcmd'], sep='\\n')\n"
      "f, = [f for f in d['write_files'] if f['path'] == '/etc/slipway/host.yaml']\n"
      "open(sys.argv[2], 'w').write(f['content'])\n";
  root.folder().file("read.py", script);
  const std::string spec = root.folder().at("written.yaml").string();
  const std::string command = "python3 " + root.folder().at("read.py").string() + " " +
                              root.folder().at("user-data").string() + " " + spec + " >" +
                              root.folder().at("commands").string();
  ASSERT_EQ(std::system(command.c_str()), 0) << block;
  EXPECT_EQ(content_of_file(root.folder().at("commands")), "systemctl enable --now slipway-apply.service\n");
  EXPECT_TRUE(std::filesystem::exists(SLIPWAY_SOURCES "/deploy/systemd/slipway-apply.service.in"));
  const Ran graph = root.slipway({"graph", "-f", spec});
  EXPECT_EQ(graph.code, 0) << graph.err;
  EXPECT_THAT(graph.out, HasSubstr("deviceplugin"));
}

}  // namespace
}  // namespace slipway
