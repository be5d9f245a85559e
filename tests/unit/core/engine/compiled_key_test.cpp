// SPDX-License-Identifier: Apache-2.0
// The key of compiled modules: each thing that they depend on changes it, and nothing else.
#include "core/engine/packages/compiled_key.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "sandbox/sandbox.hpp"
#include "tests/unit/sandbox/real_programs.hpp"

namespace slipway::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kModules = "/lib/modules/6.1.0-50-amd64";
const std::string kCompiler = "#!/bin/sh\nv=12.2.0\n";
const std::string kHeaders = "/usr/src/linux-headers-6.1.0-50-amd64";

/// A root with a kernel's headers, and scripts in place of gcc and make.
class CompiledKey : public ::testing::Test {
 protected:
  void SetUp() override {
    fill(root);
    sandbox::Sandbox probe;
    probe.root = root.folder();
    probe.read_only = true;
    probe.argv = {"true"};
    probe.environment = sandbox::sandbox_environment();
    if (!sandbox::run_in_sandbox(probe)) GTEST_SKIP() << "namespaces are not allowed here";
    work.put("/key.pem", "the private key");
    work.put("/cert.pem", "a certificate");
    layer = {{"as", "modules/6.1.0-50-amd64"},
             {"descriptor", {{"digest", "sha256:" + std::string(64, 'a')}, {"size", 1}}},
             {"build",
              {{"name", "NVIDIA 535"},
               {"directory", "usr/src/nvidia"},
               {"argv", {"make", "-j{jobs}", "modules", "KCFLAGS=-g0"}},
               {"environment", {"KBUILD_BUILD_USER=slipway"}},
               {"needs", {kModules + "/build", "/usr/bin/make", "/usr/bin/gcc-12"}},
               {"needs_hint", "apt-get install gcc-12"},
               {"identity", {{"kernel", "6.1.0-50-amd64"}, {"compiler", "gcc-12 (Debian) 12.2.0"}}},
               {"collect", {file("nvidia.ko"), file("nvidia-uvm.ko")}}}}};
  }
  static Json file(const std::string& name) {
    return {{"from", name},   {"to", "kernel/" + name}, {"strip", true},
            {"sign_key", ""}, {"sign_cert", ""},        {"compress", "xz"}};
  }
  static void fill(const test::TempRoot& into) {
    test::install_programs(into, {"/usr/bin/dash", "/usr/bin/true"});
    into.link("/usr/bin/sh", "dash");
    into.put("/usr/bin/gcc-12", kCompiler + "[ ! -e /usr/share/version ] || read v </usr/share/version; echo gcc $v\n",
             0755);
    into.put("/usr/bin/make", "#!/bin/sh\necho GNU Make 4.3\n", 0755);
    into.put("/usr/bin/strip", "strip", 0755);
    into.put(kHeaders + "/Makefile", "include common\n");
    into.put(kHeaders + "/.config", "CONFIG_SMP=y\n");
    into.put(kHeaders + "/Module.symvers", "0x1 module_layout vmlinux EXPORT_SYMBOL\n");
    into.put(kHeaders + "/include/generated/utsrelease.h", "#define UTS_RELEASE \"6.1.0-50-amd64\"\n");
    into.put(kHeaders + "/include/config/auto.conf", "CONFIG_SMP=y\n");
    into.put("/usr/src/linux-headers-6.1.0-50-common/include/linux/vermagic.h",
             "#define VERMAGIC_STRING UTS_RELEASE\n");
    into.link(kModules + "/build", kHeaders);
    into.link(kModules + "/source", "/usr/src/linux-headers-6.1.0-50-common");
  }
  static Json key_in(const test::TempRoot& of, const Json& wanted, bool live = true) {
    const auto key = compiled_key(wanted, of.dir(), live);
    EXPECT_TRUE(key.ok()) << to_text(key.error());
    return key.value_or(Json());
  }
  std::string name() const { return compiled_name(key_in(root, layer)); }
  /// Expects that the key is another one than all before.
  void expect_other(const std::string& change) {
    EXPECT_TRUE(seen.insert(name()).second) << change << " does not change the key";
  }
  void sign_with(const std::string& certificate) {
    work.put("/cert.pem", certificate);
    for (Json& each : layer["build"]["collect"]) {
      each["sign_key"] = work.at("/key.pem");
      each["sign_cert"] = work.at("/cert.pem");
    }
  }

  test::TempRoot root;
  test::TempRoot work;
  Json layer;
  std::set<std::string> seen;
};

TEST_F(CompiledKey, IsAnotherOneForEachThingThatModulesDependOn) {
  expect_other("nothing yet");
  layer["descriptor"]["digest"] = "sha256:" + std::string(64, 'b');
  expect_other("the source");
  root.put(kHeaders + "/Module.symvers", "0x2 module_layout vmlinux EXPORT_SYMBOL\n");
  expect_other("Module.symvers");
  root.put(kHeaders + "/.config", "CONFIG_SMP=n\n");
  expect_other(".config");
  root.put(kHeaders + "/include/generated/utsrelease.h", "#define UTS_RELEASE \"6.1.0-50-amd64+\"\n");
  expect_other("the release of the vermagic");
  root.put(kHeaders + "/include/generated/compile.h", "#define UTS_VERSION \"#2\"\n");
  expect_other("another build of the same release");
  root.put("/usr/src/linux-headers-6.1.0-50-common/include/linux/vermagic.h", "#define VERMAGIC_STRING \"\"\n");
  expect_other("the form of the vermagic");
  root.put(kHeaders + "/Makefile", "KBUILD_CFLAGS += -O3\n");
  expect_other("the kernel's own flags");
  layer["build"]["identity"]["symvers"] = "1";
  expect_other("what the component knows of the kernel");
  root.put("/usr/share/version", "12.2.1\n");
  expect_other("the version of the compiler, in the same file");
  root.put("/usr/bin/gcc-12", kCompiler + "read v </usr/share/version; echo gcc $v\n", 0755);
  expect_other("the compiler's file");
  std::filesystem::rename(root.at("/usr/bin/gcc-12"), root.at("/usr/bin/x86_64-linux-gnu-gcc-12"));
  root.link("/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12");
  expect_other("the compiler's path");
  root.put("/usr/bin/make", "#!/bin/sh\necho GNU Make 4.4\n", 0755);
  expect_other("make");
  root.put("/usr/bin/ld", "linker", 0755);
  expect_other("the linker");
  layer["build"]["argv"][3] = "KCFLAGS=-g";
  expect_other("a flag");
  layer["build"]["environment"].push_back("IGNORE_CC_MISMATCH=1");
  expect_other("a variable");
  layer["build"]["directory"] = "usr/src/other";
  expect_other("the folder");
  layer["build"]["collect"].push_back(file("nvidia-drm.ko"));
  expect_other("a module");
  layer["build"]["collect"][0]["strip"] = false;
  expect_other("stripping");
  layer["build"]["collect"][0]["compress"] = "zstd";
  expect_other("the compression");
  sign_with("a certificate");
  expect_other("a signer");
  sign_with("another certificate");
  expect_other("another signer");
}

TEST_F(CompiledKey, IsTheSameInAnotherRootWithTheSameFiles) {
  const test::TempRoot other;
  fill(other);
  EXPECT_EQ(key_in(root, layer, false), key_in(other, layer, false));
  Json named = layer;
  named["build"]["needs_hint"] = "dnf install gcc";
  named["build"]["name"] = "another name";
  EXPECT_EQ(key_in(root, layer), key_in(root, named));
}

// An image's compiler may be anybody's, and the machine's kernel would load what it has made.
TEST_F(CompiledKey, OfAnImageIsNeverThatOfTheMachine) {
  EXPECT_NE(compiled_name(key_in(root, layer, true)), compiled_name(key_in(root, layer, false)));
}

TEST_F(CompiledKey, NeverHasAnythingOfThePrivateKey) {
  sign_with("a certificate");
  const std::string before = canonical(key_in(root, layer));
  EXPECT_THAT(before, Not(HasSubstr("key.pem")));
  work.put("/key.pem", "the private key in another form");
  EXPECT_EQ(canonical(key_in(root, layer)), before);
  std::filesystem::remove(work.at("/key.pem"));
  EXPECT_EQ(canonical(key_in(root, layer)), before);
}

TEST_F(CompiledKey, NeedsEverythingThatItIsMadeOf) {
  const auto error = [&] {
    const auto key = compiled_key(layer, root.dir(), true);
    EXPECT_FALSE(key.ok());
    return key ? Error{} : key.error();
  };
  sign_with("a certificate");
  std::filesystem::remove(work.at("/cert.pem"));
  EXPECT_EQ(error().code, ErrorCode::not_found);
  sign_with("a certificate");
  std::filesystem::remove(root.at("/usr/bin/make"));
  EXPECT_EQ(error().code, ErrorCode::not_found);
  ASSERT_EQ(::mkfifo(root.at("/usr/bin/make").c_str(), 0755), 0);
  EXPECT_EQ(error().code, ErrorCode::invalid) << "a pipe would block the reader";
  std::filesystem::remove(root.at("/usr/bin/make"));
  root.put("/usr/bin/make", "#!/bin/sh\nexit 3\n", 0755);
  EXPECT_THAT(error().what, HasSubstr("`/usr/bin/make --version` ended with status 3"));
  layer["build"]["identity"] = Json::object();
  EXPECT_EQ(error().code, ErrorCode::unsupported);
}

// Before the fix, a root could keep slipway busy with reading for hours.
TEST_F(CompiledKey, IsNotMadeOfHeadersWithoutEnd) {
  const std::string huge = kHeaders + "/include/config/HUGE";
  root.put(huge, "");
  std::filesystem::resize_file(root.at(huge), std::uintmax_t{600} << 20U);  // without blocks on the disk
  const auto key = compiled_key(layer, root.dir(), true);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code, ErrorCode::unsupported);
  EXPECT_THAT(key.error().what, HasSubstr("too large to be compared"));
}

}  // namespace
}  // namespace slipway::core
