// SPDX-License-Identifier: Apache-2.0
// Compiles small projects with this machine's gcc and make; skipped where namespaces are not allowed.
#include "sandbox/build.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/modinfo/module_info.hpp"
#include "build_fixture.hpp"
#include "sandbox/build_room.hpp"
#include "sandbox/module_signature.hpp"

namespace slipway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(BuildTest, CompilesCollectsAndLeavesTheSourceAsItWas) {
  const std::string before = work.listing(TempRoot::Times::files);
  build(request());
  EXPECT_TRUE(work.has("/into/lib/hello.o"));
  EXPECT_EQ(work.mode("/into/lib/hello.o"), 0644U);
  EXPECT_EQ(work.info("/into/lib/hello.o").st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(work.info("/into").st_mtim.tv_sec, kEpoch);
  EXPECT_THAT(work.content("/log"), HasSubstr("gcc -g -c"));
  std::filesystem::remove_all(work.at("/into"));
  std::filesystem::remove(work.at("/log"));
  EXPECT_EQ(work.listing(TempRoot::Times::files), before);
}

TEST_F(BuildTest, GivesTheSameBytesWhereverTheSourceLies) {
  build(request("/one"));
  std::filesystem::create_directories(work.at("/elsewhere/deep"));
  std::filesystem::rename(work.at("/src"), work.at("/elsewhere/deep/src"));
  BuildRequest again = request("/two");
  again.source = work.at("/elsewhere/deep/src");
  build(again);
  EXPECT_EQ(work.content("/one/lib/hello.o"), work.content("/two/lib/hello.o"));
  EXPECT_THAT(work.content("/one/lib/hello.o"), HasSubstr("/usr/src/slipway-build/hello.c Nov 14 2023"));
}

TEST_F(BuildTest, CannotWriteAnythingButItsSource) {
  work.put("/src/Makefile", "hello.o:\n\techo x > hello.o\n\techo x > /etc/slipway-was-here\n");
  EXPECT_EQ(failure(request()).code, ErrorCode::build_failed);
  EXPECT_THAT(work.content("/log"), HasSubstr("Read-only file system"));
  EXPECT_FALSE(std::filesystem::exists("/etc/slipway-was-here"));
}

TEST_F(BuildTest, SeesOnlyTheEnvironmentThatWasRequested) {
  ::setenv("SLIPWAY_LEAK", "1", 1);
  desired.environment = {"WANTED=yes", "LC_ALL=C.UTF-8"};
  work.put("/src/Makefile", "hello.o:\n\tenv | sort > hello.o\n");
  build(request());
  const std::string seen = work.content("/into/lib/hello.o");
  EXPECT_THAT(seen, HasSubstr("WANTED=yes\n"));
  EXPECT_THAT(seen, HasSubstr("LC_ALL=C.UTF-8\n"));
  EXPECT_THAT(seen, HasSubstr("KBUILD_BUILD_TIMESTAMP=Tue Nov 14 22:13:20 UTC 2023\n"));
  EXPECT_THAT(seen, HasSubstr("KBUILD_BUILD_USER=slipway\n"));
  EXPECT_THAT(seen, Not(HasSubstr("SLIPWAY_LEAK")));
}

TEST_F(BuildTest, PassesTheOutputOnLineByLine) {
  std::vector<std::string> lines;
  BuildRequest wanted = request();
  wanted.on_line = [&](const std::string& line) { lines.push_back(line); };
  build(wanted);
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("gcc -g -c")));
}

TEST_F(BuildTest, NamesTheFileThatIsBeingCompiled) {
  std::vector<std::string> files;
  BuildRequest wanted = request();
  wanted.on_file = [&](const std::string& file, std::uint64_t before) {
    EXPECT_EQ(before, files.size());
    files.push_back(file);
  };
  build(wanted);
  EXPECT_THAT(files, ::testing::ElementsAre("hello.c"));
}

TEST(CompiledFile, IsThatOfAKbuildLineOrOfACompilersCommand) {
  EXPECT_EQ(compiled_file("  CC [M]  /usr/src/b/nvidia/nv.o", "/usr/src/b/"), "nvidia/nv.o");
  EXPECT_EQ(compiled_file("  LD [M]  /usr/src/b/nvidia.ko", "/usr/src/b/"), "nvidia.ko");
  EXPECT_EQ(compiled_file(" CONFTEST: list_is_first", ""), "list_is_first");
  EXPECT_EQ(compiled_file("gcc -O2 -c -o a.o sub/a.c", ""), "sub/a.c");
  EXPECT_EQ(compiled_file("gcc -o a a.o", ""), "");
  EXPECT_EQ(compiled_file("make[1]: Entering directory '/usr/src/b'", "/usr/src/b/"), "");
  EXPECT_EQ(compiled_file("", ""), "");
}

TEST_F(BuildTest, NamesMissingPartsAndHowToGetItBeforeItRuns) {
  desired.needs = {"/usr/bin/make", "/lib/modules/6.1.0-no/build"};
  desired.needs_hint = "apt-get install linux-headers-6.1.0-no";
  const Error error = failure(request());
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_THAT(error.what, HasSubstr("/lib/modules/6.1.0-no/build"));
  EXPECT_EQ(error.next, desired.needs_hint);
  EXPECT_EQ(work.content("/log"), "");
}

TEST_F(BuildTest, ACompilerErrorIsQuotedWithItsPlace) {
  work.put("/src/sub/bad.c", "int f(int a);\nint g(void) {\n  return f();\n}\n");
  work.put("/src/Makefile", "hello.o:\n\tgcc -c -o $@ $(CURDIR)/sub/bad.c\n");
  const Error error = failure(request());
  EXPECT_EQ(error.code, ErrorCode::build_failed);
  EXPECT_EQ(error.what, "the hello program does not compile: sub/bad.c:3:10: error: too few arguments to function 'f'");
  EXPECT_EQ(error.where, work.at("/log"));
  EXPECT_THAT(to_text(error), HasSubstr("return f();"));
}

TEST_F(BuildTest, AFileThatTheMakefileForgotIsAnError) {
  desired.collect.push_back({.from = "never.o", .to = "never.o"});
  EXPECT_THAT(failure(request()).what, HasSubstr("there is no never.o"));
}

TEST_F(BuildTest, IsKilledAfterItsTime) {
  work.put("/src/Makefile", "hello.o:\n\tsleep 100\n");
  BuildRequest wanted = request();
  wanted.limit = std::chrono::seconds(1);
  EXPECT_EQ(failure(wanted).code, ErrorCode::timed_out);
  EXPECT_FALSE(work.has("/src.slipway-build"));
}

TEST_F(BuildTest, ResultsThatLeaveTheLayerAreRefused) {
  desired.collect = {{.from = "hello.o", .to = "../hello.o"}};
  EXPECT_EQ(failure(request()).code, ErrorCode::invalid);
  desired.collect = {{.from = "../../../../etc/passwd", .to = "x"}};
  EXPECT_EQ(failure(request()).code, ErrorCode::build_failed);
}

TEST_F(KernelBuild, FindsHeadersAtTheirRealPlaces) {
  build(kernel_request());
  const Fd file(::open(work.at("/into/kernel/ours.ko").c_str(), O_RDONLY));
  EXPECT_EQ(base::module_info_of_file(file.get())->at("vermagic"), "6.1.0-x SMP ");
}

TEST_F(KernelBuild, StripsThenSignsThenCompresses) {
  desired.collect = {{.from = "ours.ko",
                      .to = "kernel/ours.ko.xz",
                      .strip = true,
                      .sign_key = of_sign_file("key.pem"),
                      .sign_cert = of_sign_file("certificate.pem"),
                      .compress = "xz"}};
  build(kernel_request());
  const std::string module = test::output_of("xz -dc " + work.at("/into/kernel/ours.ko.xz"));
  ASSERT_TRUE(module.ends_with("~Module signature appended~\n"));
  work.put("/ours.ko", module);
  EXPECT_THAT(test::output_of("readelf -SW " + work.at("/ours.ko")), Not(HasSubstr(".debug_info")));
  EXPECT_THAT(test::output_of("xz -lvv " + work.at("/into/kernel/ours.ko.xz")), HasSubstr("CRC32"));
  EXPECT_THAT(test::output_of("xz -lvv " + work.at("/into/kernel/ours.ko.xz")), HasSubstr("dict=1MiB"));
  EXPECT_THAT(test::output_of("modinfo " + work.at("/ours.ko")), HasSubstr("sig_hashalgo:   sha512"));
}

TEST_F(KernelBuild, ASignedModuleIsTheModuleAndItsSignature) {
  desired.collect = {{.from = "ours.ko", .to = "plain.ko"},
                     {.from = "ours.ko",
                      .to = "signed.ko",
                      .sign_key = of_sign_file("key.pem"),
                      .sign_cert = of_sign_file("certificate.pem")}};
  build(kernel_request());
  const Fd plain(::open(work.at("/into/plain.ko").c_str(), O_RDONLY | O_CLOEXEC));
  const auto signer = ModuleSigner::open(of_sign_file("key.pem"), of_sign_file("certificate.pem"));
  EXPECT_EQ(work.content("/into/signed.ko"),
            work.content("/into/plain.ko") + *signer->signature_of(plain.get(), "sha512", "plain.ko"));
}

TEST_F(KernelBuild, CompressesWithZstdToo) {
  desired.collect = {{.from = "ours.ko", .to = "ours.ko.zst", .compress = "zstd"},
                     {.from = "ours.ko", .to = "ours.ko"}};
  build(kernel_request());
  EXPECT_EQ(test::output_of("zstd -qdc " + work.at("/into/ours.ko.zst")), work.content("/into/ours.ko"));
}

TEST_F(KernelBuild, AModuleForAnotherKernelIsNotTaken) {
  desired.identity = {{"kernel_release", "6.1.0"}};  // a prefix of the true one
  EXPECT_THAT(failure(kernel_request()).what, HasSubstr("was built for kernel '6.1.0-x', not for 6.1.0"));
}

TEST_F(KernelBuild, AKernelWhoseHeadersNameNoDigestGetsSha256) {
  headers.put("/usr/src/linux-headers-6.1.0-x/.config", "CONFIG_MODULES=y\n");
  desired.collect[0].sign_key = of_sign_file("key.pem");
  desired.collect[0].sign_cert = of_sign_file("certificate.pem");
  build(kernel_request());
  EXPECT_THAT(test::output_of("modinfo " + work.at("/into/kernel/ours.ko")), HasSubstr("sig_hashalgo:   sha256"));
}

TEST_F(KernelBuild, AKeyThatCannotSignIsNamedBeforeAnythingIsCompiled) {
  desired.collect[0].sign_key = of_sign_file("certificate.pem");
  desired.collect[0].sign_cert = of_sign_file("certificate.pem");
  EXPECT_THAT(failure(kernel_request()).what, HasSubstr("not a private key in PEM form"));
  EXPECT_FALSE(work.has("/log"));
}

TEST(BuildKey, IsTheDigestOfTheCanonicalBuild) {
  EXPECT_EQ(build_key(Json{{"b", 1}, {"a", 2}}), build_key(Json::parse("{\"a\": 2, \"b\": 1}")));
  EXPECT_NE(build_key(Json{{"a", 1}}), build_key(Json{{"a", 2}}));
  EXPECT_TRUE(build_key(Json{}).starts_with("sha256:"));
}

constexpr const char* kBuildFolderPath = "/usr/src/slipway-build/";

TEST(BuildLog, FindsTheFirstErrorOfTheCompiler) {
  const auto problem = find_problem(
      "  CC [M]  /usr/src/slipway-build/nvidia/nv-pat.o\n"
      "/usr/src/slipway-build/nvidia/nv-pci.c: In function 'nv_resize_pcie_bars':\n"
      "/usr/src/slipway-build/nvidia/nv-pci.c:223:9: error: too few arguments to function 'pci_resize_resource'\n"
      "  223 |     r = pci_resize_resource(pci_dev, NV_GPU_BAR1, requested_size);\n"
      "      |         ^~~~~~~~~~~~~~~~~~~\n"
      "make[3]: *** [scripts/Makefile.build:255: nvidia/nv-pci.o] Error 1\n"
      "x.c:1:1: error: a later one\n",
      kBuildFolderPath);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->line, "nvidia/nv-pci.c:223:9: error: too few arguments to function 'pci_resize_resource'");
  EXPECT_EQ(problem->context,
            "nvidia/nv-pci.c: In function 'nv_resize_pcie_bars':\n"
            "nvidia/nv-pci.c:223:9: error: too few arguments to function 'pci_resize_resource'\n"
            "  223 |     r = pci_resize_resource(pci_dev, NV_GPU_BAR1, requested_size);\n"
            "      |         ^~~~~~~~~~~~~~~~~~~");
}

TEST(BuildLog, ALinkersErrorCountsBeforeMakes) {
  EXPECT_EQ(
      find_problem("make: *** [Makefile:3: x] Error 1\nERROR: modpost: \"sym\" [x.ko] undefined!\n", kBuildFolderPath)
          ->line,
      "ERROR: modpost: \"sym\" [x.ko] undefined!");
  EXPECT_EQ(
      find_problem("/usr/bin/ld: x.o: file not recognized\ncollect2: error: ld returned 1\n", kBuildFolderPath)->line,
      "/usr/bin/ld: x.o: file not recognized");
  EXPECT_EQ(find_problem("x.c:(.text+0x5): undefined reference to `f'\n", kBuildFolderPath)->line,
            "x.c:(.text+0x5): undefined reference to `f'");
}

TEST(BuildLog, FallsBackToTheOutputOfMake) {
  EXPECT_EQ(find_problem("make: *** No rule to make target 'x'.  Stop.\n", kBuildFolderPath)->line,
            "make: *** No rule to make target 'x'.  Stop.");
  EXPECT_FALSE(find_problem("all went well\nwarning: error is a word\n", kBuildFolderPath));
}

TEST(BuildLog, ReportsAFullDiskAndAFullMemoryFromABadSource) {
  EXPECT_EQ(
      find_problem("x.c:1:1: fatal error: error writing to a.s: No space left on device\n", kBuildFolderPath)->code,
      ErrorCode::no_space);
  EXPECT_EQ(find_problem("gcc: fatal error: Killed signal terminated program cc1\n", kBuildFolderPath)->code,
            ErrorCode::io);
}

}  // namespace
}  // namespace slipway::sandbox
