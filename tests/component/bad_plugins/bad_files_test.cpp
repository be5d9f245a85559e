// SPDX-License-Identifier: Apache-2.0
// Plugin files that are refused before anything in them runs, or that make slipway refuse to choose.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGood = "    bystander: {}\n";  // of the other plugin
constexpr const char* kBoth = "    bad: {}\n    bystander: {}\n";

/// A host with its own plugin folder: a good plugin, and the one that a test adds.
class PluginFiles : public ::testing::Test {
 protected:
  PluginFiles() {
    ::setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    fs::create_directory(folder());
    add(SLIPWAY_GOOD_PLUGIN, "good.so");
    host_.plugins = folder();
  }
  std::string folder() const { return host_.folder().at("plugins").string(); }
  std::string file(const std::string& name) const { return folder() + "/" + name; }
  void add(const std::string& from, const std::string& name) const {
    fs::copy_file(from, file(name));
    fs::permissions(file(name), fs::perms(0755));
  }
  /// Changes the protocol in the ELF note of a plugin file.
  void set_protocol(const std::string& name, char major) const {
    std::fstream stream(file(name), std::ios::in | std::ios::out | std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    const std::size_t magic = text.str().find(std::string("SLPW\x01\x00", 6));
    ASSERT_NE(magic, std::string::npos);
    stream.seekp(static_cast<std::streamoff>(magic + 4));
    stream.put(major);
  }
  Ran apply(const std::string& components) const {
    host_.spec(components);
    return host_.slipway({"apply"});
  }
  /// With the bad component in the spec nothing is applied; without it everything is.
  void expect_left_out(const std::string& why) const {
    const auto before = host_.tree();
    const Ran refused = apply(kBoth);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr(why));
    EXPECT_THAT(refused.err, HasSubstr("unknown component 'bad'"));
    EXPECT_EQ(host_.tree(), before);
    const Ran done = apply(kGood);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(why));
    EXPECT_EQ(host_.text("etc/bystander"), "here\n");
  }

  ScratchHost host_;
};

TEST_F(PluginFiles, ThatAbortsInAConstructorFailsAlone) {
  add(SLIPWAY_BAD_PLUGIN, "abort.so");
  const Ran ran = apply(kBoth);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the plugin of bad crashed in load: SIGABRT"));
  EXPECT_THAT(ran.err, HasSubstr("constructing"));
  EXPECT_EQ(host_.text("etc/bystander"), "here\n");
}

TEST_F(PluginFiles, OfAnotherProtocolIsRefusedByItsNoteAndNeverLoaded) {
  add(SLIPWAY_BAD_PLUGIN, "abort.so");
  set_protocol("abort.so", 9);
  expect_left_out("protocol 9.0");
  EXPECT_THAT(apply(kBoth).err, Not(HasSubstr("constructing")));
}

TEST_F(PluginFiles, ThatOthersCanWriteIsRefused) {
  add(SLIPWAY_BAD_PLUGIN, "bad.so");
  fs::permissions(file("bad.so"), fs::perms(0777));
  expect_left_out(file("bad.so") + " can be written by its group or by others");
  EXPECT_THAT(apply(kBoth).err, HasSubstr("chmod go-w " + file("bad.so")));
}

// It is unknown which of the two is meant, so nothing is applied until one of them is removed.
TEST_F(PluginFiles, WithTheSameNameAreAnErrorThatNamesBoth) {
  add(SLIPWAY_BAD_PLUGIN, "bad.so");
  add(SLIPWAY_BAD_PLUGIN, "copy.so");
  const auto before = host_.tree();
  const Ran refused = apply(kBoth);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("two plugins hold the component 'bad': " + file("bad.so") + " and " + file("copy.so")));
  EXPECT_THAT(refused.err, HasSubstr("remove one of the two files"));
  EXPECT_EQ(host_.tree(), before);
  fs::remove(file("copy.so"));
  EXPECT_EQ(apply(kBoth).code, 0);
}

}  // namespace
}  // namespace slipway
