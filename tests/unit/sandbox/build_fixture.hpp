// SPDX-License-Identifier: Apache-2.0
// tests/unit/sandbox/build_fixture.hpp - small projects, and a kernel's headers, that are compiled with this machine's
// gcc and make; skipped where namespaces are not allowed.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <slipway/action.hpp>

#include "real_programs.hpp"
#include "sandbox/build.hpp"
#include "sandbox/sandbox.hpp"

namespace slipway::sandbox {

using test::TempRoot;

/// Returns a throw-away RSA key and its certificate, and the output of the kernel's own sign-file for "module bytes
/// " with them.
inline std::string of_sign_file(const std::string& name) { return std::string(SLIPWAY_TEST_SIGN_FILE) + "/" + name; }

inline constexpr std::int64_t kEpoch = 1'700'000'000;

class BuildTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Sandbox probe;
    probe.root = "/";
    probe.read_only = true;
    probe.argv = {"true"};
    probe.environment = sandbox_environment();
    if (!run_in_sandbox(probe)) GTEST_SKIP() << "namespaces are not allowed here";
    desired.name = "the hello program";
    desired.argv = {"make", "-j{jobs}"};
    desired.collect = {{.from = "hello.o", .to = "lib/hello.o"}};
    work.put("/src/hello.c", "const char* where(void) { return __FILE__ \" \" __DATE__; }\n");
    work.put("/src/Makefile", "hello.o: hello.c\n\tgcc -g -c -o $@ $(CURDIR)/hello.c\n");
  }

  BuildRequest request(const std::string& into = "/into") {
    BuildRequest made;
    made.build = to_json(desired);
    made.source = work.at("/src");
    made.into = work.at(into);
    made.log = work.at("/log");
    made.source_date_epoch = kEpoch;
    return made;
  }
  void build(const BuildRequest& wanted) {
    const Status done = run_build(wanted);
    ASSERT_TRUE(done.ok()) << to_text(done.error()) << work.content("/log");
  }
  Error failure(const BuildRequest& wanted) {
    const Status done = run_build(wanted);
    EXPECT_FALSE(done.ok());
    EXPECT_FALSE(work.has("/into"));
    return done ? Error{} : done.error();
  }

  TempRoot work;
  action::Build desired;
};

/// A kernel's headers in Debian's layout, with absolute paths.
class KernelBuild : public BuildTest {
 protected:
  void SetUp() override {
    BuildTest::SetUp();
    headers.put("/usr/src/linux-headers-6.1-common/Makefile", "%.ko: %.c\n\tgcc -g -I$(COMMON)/include -c -o $@ $<\n");
    headers.put("/usr/src/linux-headers-6.1-common/include/linux/module.h",
                "#define VERMAGIC \"vermagic=6.1.0-x SMP \"\n");
    headers.put("/usr/src/linux-headers-6.1.0-x/Makefile",
                "COMMON := /usr/src/linux-headers-6.1-common\ninclude /usr/src/linux-headers-6.1-common/Makefile\n");
    headers.put("/usr/src/linux-headers-6.1.0-x/.config", "CONFIG_MODULE_SIG_HASH=\"sha512\"\n");
    headers.link("/lib/modules/6.1.0-x/build", "/usr/src/linux-headers-6.1.0-x");
    work.put("/src/dkms/ours.c",
             "#include <linux/module.h>\nconst char info[] __attribute__((section(\".modinfo\"), used)) = VERMAGIC;\n");
    work.put("/src/dkms/Makefile", "include /lib/modules/6.1.0-x/build/Makefile\nall: ours.ko\n");
    desired.name = "ours for 6.1.0-x";
    desired.directory = "dkms";
    desired.argv = {"make", "all"};
    desired.needs = {"/lib/modules/6.1.0-x/build"};
    desired.identity = {{"kernel", "6.1.0-x"}};
    desired.collect = {{.from = "ours.ko", .to = "kernel/ours.ko"}};
  }
  BuildRequest kernel_request() {
    BuildRequest made = request();
    made.headers = headers.folder();
    return made;
  }
  TempRoot headers;
};

}  // namespace slipway::sandbox
