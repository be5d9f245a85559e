// SPDX-License-Identifier: Apache-2.0
// The attacks of a hostile source, or of a root whose own programs are hostile, while modules are built.
#include <cctype>

#include <gmock/gmock.h>

#include <slipway/regular_file.hpp>

#include "build_fixture.hpp"
#include "sandbox/build_room.hpp"

namespace slipway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kLineBytes = 4096;

/// A program that looks for the key in its arguments and in all other likely places, and puts the result into the
/// module.
constexpr const char* kThief = R"(#!/usr/bin/dash
for file in "$@" /usr/src/slipway-sign-key /usr/src/* /usr/src/slipway-build/* /tmp/* /var/tmp/* /run/* /dev/shm/* /etc/keys/*; do
  if grep -q PRIVATE "$file" 2>/dev/null; then cat "$file" >> /usr/src/slipway-build/dkms/ours.ko; fi
done
)";

/// A root in which every program is the attacker's.
class ThievingRoot {
 public:
  ThievingRoot() {
    test::install_programs(root_, {"/usr/bin/dash", "/usr/bin/cat", "/usr/bin/cp", "/usr/bin/grep"});
    root_.make_folder("/usr/src");
    root_.put("/usr/lib/modules/6.1.0-x/build/.config", "CONFIG_MODULE_SIG_HASH=\"sha512\"\n");
    const std::string thief = kThief;
    root_.put("/usr/bin/make", thief + "cp /usr/src/slipway-build/dkms/made.ko /usr/src/slipway-build/dkms/ours.ko\n",
              0755);
    root_.put("/usr/bin/sh", thief + "exec /usr/bin/dash \"$@\"\n", 0755);
    for (const std::string program : {"/usr/bin/strip", "/usr/bin/sed", "/usr/bin/openssl"})
      root_.put(program, thief, 0755);
    root_.put("/usr/lib/modules/6.1.0-x/build/scripts/sign-file", thief, 0755);
  }
  const std::string& folder() const { return root_.folder(); }
  void put(const std::string& path, const std::string& text) { root_.put(path, text); }

 private:
  TempRoot root_;
};

// Before the fix, the image's own sh, sed and sign-file got the key: any image could leak it in a module.
TEST_F(KernelBuild, NoProgramOfTheRootEverSeesTheKey) {
  const ThievingRoot root;
  test::make_module(work, "/src/dkms/made.ko", "\"vermagic=6.1.0-x SMP \"");
  desired.needs = {};
  desired.collect[0].strip = true;
  desired.collect[0].sign_key = of_sign_file("key.pem");
  desired.collect[0].sign_cert = of_sign_file("certificate.pem");
  BuildRequest wanted = request();
  wanted.root = root.folder();
  build(wanted);
  const std::string module = work.content("/into/kernel/ours.ko");
  EXPECT_THAT(module, Not(HasSubstr("PRIVATE KEY")));
  EXPECT_TRUE(module.ends_with("~Module signature appended~\n"));
}

// A machine that builds for itself has its key beside its own programs.
TEST_F(KernelBuild, AKeyInTheRootThatCompilesIsNotSeenThereEither) {
  ThievingRoot root;
  root.put("/etc/keys/mok.pem", *read_regular(of_sign_file("key.pem"), 1 << 20));
  test::make_module(work, "/src/dkms/made.ko", "\"vermagic=6.1.0-x SMP \"");
  desired.needs = {};
  desired.collect[0].sign_key = root.folder() + "/etc/keys/mok.pem";
  desired.collect[0].sign_cert = of_sign_file("certificate.pem");
  BuildRequest wanted = request();
  wanted.root = root.folder();
  build(wanted);
  const std::string module = work.content("/into/kernel/ours.ko");
  EXPECT_THAT(module, Not(HasSubstr("PRIVATE KEY")));
  EXPECT_TRUE(module.ends_with("~Module signature appended~\n"));
}

// Before the fix, a Debian package with `usr -> /var` had folders of this machine mounted over those of the root.
TEST_F(BuildTest, LinksOfTheHeadersAreNotFollowedOutside) {
  work.put("/beside/lib/secret", "of this machine");
  work.put("/headers/lib/given", "of the headers");
  work.link("/headers/usr", work.at("/beside"));
  work.put("/src/Makefile", "hello.o:\n\tcat /lib/given >hello.o\n\t-cat /usr/lib/secret >>hello.o\n");
  BuildRequest wanted = request();
  wanted.headers = work.at("/headers");
  build(wanted);
  EXPECT_EQ(work.content("/into/lib/hello.o"), "of the headers");
}

// Before the fix, the collector followed the link, and the host's own file came into the layer.
TEST_F(BuildTest, AFolderThatTheBuildReplacedByALinkIsNotFollowed) {
  work.put("/beside/hello.o", "of this machine");
  desired.directory = "dkms";
  work.put("/src/dkms/Makefile", "hello.o:\n\trm -rf /usr/src/slipway-build/dkms\n\tln -s " + work.at("/beside") +
                                     " /usr/src/slipway-build/dkms\n");
  EXPECT_THAT(failure(request()).what, HasSubstr("there is no hello.o"));
  work.put("/src/dkms/Makefile",
           "hello.o:\n\trm -rf /usr/src/slipway-build/dkms\n\tln -s ../beside /usr/src/slipway-build/dkms\n");
  EXPECT_THAT(failure(request()).what, HasSubstr("there is no hello.o"));
}

// A regular expression of the standard library recurses for each character of a word. Before the fix, this overflowed
// the stack.
TEST_F(BuildTest, ALineWithoutEndEndsAtItsLimit) {
  work.put(
      "/src/Makefile",
      "hello.o: hello.c\n\t@printf 'gcc -c %01000000d.c\\n  CC [M]  %01000000d.o\\n' 1 1\n\t@printf '%03000000d' 1\n"
      "\tgcc -c -o $@ hello.c\n");
  std::vector<std::string> lines;
  std::vector<std::string> files;
  BuildRequest wanted = request();
  wanted.on_line = [&](const std::string& line) { lines.push_back(line); };
  wanted.on_file = [&](const std::string& file, std::uint64_t) { files.push_back(file); };
  build(wanted);
  ASSERT_GE(lines.size(), 3U);
  for (const std::string& line : lines) EXPECT_LE(line.size(), kLineBytes);
  for (const std::string& file : files) EXPECT_LE(file.size(), kLineBytes);
  EXPECT_GT(work.content("/log").size(), 5'000'000U) << "the log has it whole";
}

TEST(CompiledFile, IsFoundInAWordOfAnyLength) {
  const std::string name(2'000'000, 'a');
  EXPECT_EQ(compiled_file("gcc -c " + name + ".c", ""), name + ".c");
  EXPECT_EQ(compiled_file("gcc -c " + name, ""), "");
}

TEST(BuildLog, OfLinesWithoutEndIsQuotedWithinALimit) {
  const std::string folder = "/usr/src/slipway-build/";
  std::string endless;
  while (endless.size() < 20'000'000) endless += folder;
  const auto problem = find_problem("in " + endless + ": In function 'f':\nx.c:1:1: error: first\n" + endless + "\n" +
                                        endless + ":1:1: error: too long to be one\n",
                                    folder);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->line, "x.c:1:1: error: first");
  EXPECT_LE(problem->context.size(), 12 * kLineBytes);
}

}  // namespace
}  // namespace slipway::sandbox
