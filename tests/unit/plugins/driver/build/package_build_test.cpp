// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/component/driver.hpp"
#include "driver/package/annotations.hpp"
#include "driver/package/package.hpp"
#include "tests/unit/base/command_line/run_tool.hpp"
#include "tests/unit/base/elf/module_elf.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/test_deb.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

using slipway::testing::TempDir;
using testing::content_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The core's side: compiling puts ready objects into place, packing keeps a copy of the package folder.
class CoreSide final : public ToolIo {
 public:
  explicit CoreSide(std::string keep) : keep_(std::move(keep)) {}

  void print(std::string_view text) override { printed += text; }
  void log(std::string_view text) override { logged += std::string(text) + "\n"; }
  void warn(std::string_view text) override { warned += std::string(text) + "\n"; }
  void progress(std::string_view, std::uint64_t, std::uint64_t) override {}
  Result<Json> core(std::string_view op, const Json& request) override {
    if (op == "pkg.build") return pack(request);
    if (op == "build.check") return may_compile ? Result<Json>(Json(nullptr)) : *fails;
    builds.push_back(request);
    if (fails) return *fails;
    const std::string into = request["into"];
    for (const auto& desired : request["build"]["collect"]) {
      const fs::path to = into + "/" + desired["to"].get<std::string>();
      fs::create_directories(to.parent_path());
      std::ofstream(to, std::ios::binary) << (desired["from"] == "Module.symvers" ? "symbols" : module);
    }
    return Json::object();
  }

  std::string module = testing::compressed(content_of(MODULE_50), "zstd");
  std::optional<Error> fails;
  bool may_compile = true;
  std::vector<Json> builds;
  std::optional<Error> packing_fails;
  std::string printed;
  std::string logged;
  std::string warned;
  Json packing;

 private:
  Result<Json> pack(const Json& request) {
    packing = request;
    if (packing_fails) return *packing_fails;
    fs::remove_all(keep_);
    fs::copy(request["directory"].get<std::string>(), keep_,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    return Json{{"digest", "sha256:0"}, {"tags", {"535.261.03-debian12"}}};
  }
  std::string keep_;
};

class PackageBuildTest : public ::testing::Test {
 protected:
  PackageBuildTest() {
    for (const auto& deb : testing::driver_debs()) deb.write(folder.string());
    for (const auto& deb : testing::header_debs("6.1.0-50-amd64", "6.1.176-1")) deb.write(folder.string());
    for (const auto& deb : testing::header_debs("6.1.0-56-amd64", "6.1.192-2")) deb.write(folder.string());
    folder.directory("/scratch");
    host.root().file("/usr/bin/sh", testing::program_for("x86_64"));
    for (const auto* program : {"gcc-12", "make", "strip"}) host.root().file(std::string("/usr/bin/") + program, "");
  }
  // Returns the error of a build that is refused before anything was unpacked or compiled.
  Error refusal(const std::vector<std::string>& more, const std::string& kernel = "6.1.0-50-amd64") {
    const auto done = build(more, kernel);
    EXPECT_FALSE(done);
    EXPECT_TRUE(core.builds.empty());
    EXPECT_TRUE(fs::is_empty(folder.at("/scratch")));
    return done ? Error{} : done.error();
  }
  /// @param more  options, which may also replace the usual ones
  Result<int> build(const std::vector<std::string>& more, const std::string& kernel = "6.1.0-50-amd64") {
    std::vector<std::string> arguments = more;
    const std::vector<std::pair<std::string, std::string>> usual{{"--debs", folder.string()},
                                                                 {"--kernel", kernel},
                                                                 {"--output", folder.at("/layout").string()},
                                                                 {"--os", "debian12"},
                                                                 {"--scratch", folder.at("/scratch").string()},
                                                                 {"--root", host.root().string()}};
    for (const auto& [option, value] : usual)
      if (std::ranges::count(more, option) == 0) arguments.insert(arguments.end(), {option, value});
    return slipway::testing::run_tool(DriverTools{}, "build", arguments, *host.offline(), core);
  }
  Json description() const { return Json::parse(content_of(package("package.yaml"))); }
  std::string package(const std::string& path) const { return folder.at("/package/" + path).string(); }

  TempDir folder;
  testing::TestHost host;
  CoreSide core{folder.at("/package").string()};
};

TEST_F(PackageBuildTest, LaysOutUserSpaceWithItsLinksToolsAndLicence) {
  const auto done = build({});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_EQ(*done, 0);
  const std::string lib = package("userspace/usr/lib/x86_64-linux-gnu/");
  EXPECT_EQ(fs::read_symlink(lib + "libcuda.so.1"), "libcuda.so.535.261.03");
  EXPECT_EQ(fs::read_symlink(lib + "libcuda.so"), "libcuda.so.1");
  EXPECT_EQ(content_of(package("userspace/usr/bin/nvidia-smi")), "tool");
  EXPECT_TRUE(fs::exists(package("userspace/usr/share/doc/libcuda1/copyright")));
  EXPECT_FALSE(fs::exists(package("userspace/usr/lib/nvidia")));
  EXPECT_EQ(content_of(package("firmware/nvidia/535.261.03/gsp_tu10x.bin")), "firmware");
  EXPECT_EQ(content_of(package("modules/Module.symvers")), "symbols");
  EXPECT_EQ(content_of(package("modules/copyright")), "licence\n");
}

TEST_F(PackageBuildTest, PacksTheDriversOwnListOfGpusFromDebiansFilesOrNvidias) {
  ASSERT_TRUE(build({}));
  EXPECT_FALSE(description()["manifests"][0]["annotations"].contains("dev.slipway.driver.gpus"));
  auto debs = testing::driver_debs();
  debs.back().entries.push_back({.path = "./usr/share/doc/nvidia-open-kernel-dkms/README.md.gz",
                                 .content = testing::compressed("| Tesla T4 | 1EB8 |\n", "gzip")});
  debs.back().write(folder.string());
  testing::TestDeb{.package = "nvidia-detect",
                   .entries = {{.path = "./usr/share/nvidia/nvidia-open.ids", .content = "10DE20B1\n10DE1EB8\n"}}}
      .write(folder.string());
  ASSERT_TRUE(build({"--with-source"}));
  EXPECT_EQ(description()["manifests"][0]["annotations"]["dev.slipway.driver.gpus"],
            R"({"open":{"supports":"1eb8 20b1"}})");
  EXPECT_FALSE(fs::exists(package("source/README.md.gz")));
  folder.file("/gpus.json", R"({"chips": [{"devid": "0x1EB8", "features": ["kernelopen"]}]})");
  ASSERT_TRUE(build({"--supported-gpus", folder.at("/gpus.json").string()}));
  EXPECT_EQ(description()["manifests"][0]["annotations"]["dev.slipway.driver.gpus"], R"({"open":{"supports":"1eb8"}})");
  folder.file("/gpus.json", "[]");
  const auto broken = build({"--supported-gpus", folder.at("/gpus.json").string()});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where, folder.at("/gpus.json").string());
}

// A module that was compiled with other headers than those that are named, or left over, is not packed.
TEST_F(PackageBuildTest, RecordsTheKernelsChecksumsAndPacksNoModuleOfAnotherBuild) {
  const std::string build_folder = "/tree/lib/modules/6.1.0-50-amd64/build/";
  folder.file(build_folder + "Makefile", "all:\n");
  folder.file(build_folder + ".config", "CONFIG_CC_VERSION_TEXT=\"gcc-12 (Debian 12.2.0) 12.2.0\"\n");
  folder.file(build_folder + "Module.symvers", "0xbce1a965\tmodule_layout\tvmlinux\n0x00000001\tother\tvmlinux\n");
  const auto compiled = [](std::uint32_t layout) {
    return testing::compressed(
        slipway::testing::module_elf({{"module_layout", layout}, {"other", 1}},
                                     {"vermagic=6.1.0-50-amd64 SMP modversions ", "version=535.261.03"}),
        "zstd");
  };
  const std::vector<std::string> with_headers{"--headers", folder.at("/tree").string()};
  core.module = compiled(0xbce1a965);
  const auto done = build(with_headers);
  ASSERT_TRUE(done) << to_text(done.error());
  const Json notes = description()["manifests"][0]["layers"].back()["annotations"];
  const Json symbols = Json::parse(notes["dev.slipway.kernel.symbols"].get<std::string>());
  EXPECT_EQ(symbols["nvidia.ko.zst"], Json({{"module_layout", "0xbce1a965"}})) << "only the watched symbols";
  core.module = compiled(0x12345678);
  const auto refused = build(with_headers);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("has checksum 0x12345678 for the symbol module_layout"));
}

TEST_F(PackageBuildTest, DescribesWhatPlansReadBack) {
  ASSERT_TRUE(build({"--with-source", "--default-flavour", "open"}));
  const Json description = this->description();
  EXPECT_EQ(description["artifactType"], kArtifactType);
  EXPECT_EQ(description["tag"], "535.261.03-debian12");
  std::vector<Package> packages;
  for (const auto& manifest : description["manifests"]) {
    Json layers = manifest["layers"];
    const auto package =
        package_from({"sha256:1", manifest["tag"], description["artifactType"], manifest["annotations"], layers});
    ASSERT_TRUE(package) << to_text(package.error());
    packages.push_back(*package);
  }
  ASSERT_EQ(packages.size(), 2U);
  EXPECT_EQ(packages[0].tag, "535.261.03-6.1.0-50-amd64-debian12-open");
  EXPECT_EQ(packages[0].kernel_release, "6.1.0-50-amd64");
  EXPECT_EQ(packages[0].default_flavour, nvidia::Flavour::open);
  EXPECT_EQ(packages[0].modules["annotations"][annotation::kModules], R"(["nvidia.ko.zst","nvidia-uvm.ko.zst"])");
  EXPECT_EQ(packages[0].modules["annotations"][annotation::kVermagic],
            "6.1.0-50-amd64 SMP preempt mod_unload modversions ");
  EXPECT_TRUE(packages[1].is_source());
  const auto files =
      package_files_from_json(Json::parse(packages[0].userspace["annotations"][annotation::kFiles].get<std::string>()));
  EXPECT_EQ(files->libdir, "usr/lib/x86_64-linux-gnu");
  EXPECT_THAT(files->libraries, ElementsAre("libcuda.so", "libcuda.so.1", "libnvidia-ml.so",
                                            "libnvidia-ml.so.535.261.03", "libnvidia-ptxjitcompiler.so.535.261.03"));
  EXPECT_THAT(files->tools, ElementsAre("nvidia-smi"));
  const auto source =
      source_tree_from_json(Json::parse(packages[1].source["annotations"][annotation::kSource].get<std::string>()));
  EXPECT_EQ(source->directory, "nvidia-535.261.03");
  EXPECT_THAT(source->modules, ElementsAre("nvidia", "nvidia-uvm"));
  EXPECT_TRUE(fs::exists(package("source/nvidia-535.261.03/Makefile")));
}

TEST_F(PackageBuildTest, CompilesAgainstTheHeadersOfThatKernel) {
  ASSERT_TRUE(build({}));
  ASSERT_EQ(core.builds.size(), 1U);
  const Json& request = core.builds[0];
  EXPECT_THAT(request["headers"].get<std::string>(), HasSubstr("/headers"));
  EXPECT_EQ(request["root"], host.root().string());
  EXPECT_EQ(request["build"]["argv"][3], "KERNEL_UNAME=6.1.0-50-amd64");
  EXPECT_EQ(request["build"]["identity"]["compiler"], "gcc-12 (Debian 12.2.0) 12.2.0");
  EXPECT_EQ(request["build"]["collect"][0]["compress"], "zstd");
}

TEST_F(PackageBuildTest, RefusesModulesOfAnotherKernel) {
  core.module = testing::compressed(content_of(MODULE_56), "zstd");
  const auto error = build({}).error();
  EXPECT_EQ(error.what, "the compiled nvidia.ko.zst is for kernel '6.1.0-56-amd64', not 6.1.0-50-amd64");
  EXPECT_EQ(error.next, "check that headers and sources belong together");
  EXPECT_FALSE(fs::exists(package("package.yaml")));
}

// A root's compiler makes modules for the root's processor; the packages may be for another one.
TEST_F(PackageBuildTest, RefusesToCompileForAnotherProcessorThanThatOfTheRoot) {
  host.root().file("/usr/bin/sh", testing::program_for("aarch64"));
  const auto error = build({}).error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.what,
            "the packages are for x86_64, and the root whose compiler would make the modules is for aarch64");
  EXPECT_THAT(error.next, HasSubstr("name a root for x86_64 with --root DIR"));
  EXPECT_TRUE(core.builds.empty());
  EXPECT_TRUE(build({"--with-source"}, "")) << "nothing is compiled for a package of sources";
}

TEST_F(PackageBuildTest, MakesAPackageForArmOfDebiansPackagesForArm) {
  for (const auto& file : fs::directory_iterator(folder.string()))
    if (file.path().extension() == ".deb") fs::remove(file.path());
  for (const auto& deb : testing::driver_debs("535.261.03-1", "arm64")) deb.write(folder.string());
  host.root().file("/usr/bin/sh", testing::program_for("aarch64"));
  const auto done = build({"--with-source"}, "");
  ASSERT_TRUE(done) << to_text(done.error());
  const std::string lib = package("userspace/usr/lib/aarch64-linux-gnu/");
  EXPECT_EQ(fs::read_symlink(lib + "libcuda.so.1"), "libcuda.so.535.261.03");
  const Json annotations = description()["manifests"][0]["annotations"];
  EXPECT_EQ(annotations[annotation::kArch], "aarch64");
}

TEST_F(PackageBuildTest, FailsWithTheCompilersErrorUnlessAskedToRecordIt) {
  core.fails = Error{ErrorCode::build_failed,
                     "it does not compile",
                     "log",
                     "",
                     {{"first",
                       "nvidia/nv-pci.c: In function 'nv_resize_pcie_bars':\nnvidia/nv-pci.c:223:9: error: too few "
                       "arguments to function 'pci_resize_resource'\n  223 |"}}};
  EXPECT_EQ(build({}, "6.1.0-56-amd64").error().code, ErrorCode::build_failed);
  EXPECT_FALSE(fs::exists(package("package.yaml")));
  ASSERT_TRUE(build({"--with-source", "--record-failure"}, "6.1.0-56-amd64"));
  ASSERT_EQ(description()["manifests"].size(), 1U);
  EXPECT_EQ(
      description()["manifests"][0]["annotations"][annotation::kFails],
      R"({"6.1.0-56-amd64":"nvidia/nv-pci.c:223:9: error: too few arguments to function 'pci_resize_resource'"})");
  EXPECT_THAT(core.logged, HasSubstr("535.261.03 does not compile for 6.1.0-56-amd64: nvidia/nv-pci.c:223:9"));
}

TEST_F(PackageBuildTest, RecordsOnlyFailuresOfTheCompiler) {
  core.fails = Error{ErrorCode::not_found, "there is no make", "/usr/bin/make", "", {}};
  EXPECT_EQ(build({"--with-source", "--record-failure"}).error().code, ErrorCode::not_found);
}

TEST_F(PackageBuildTest, DescribesTheSameForTheSameFiles) {
  ASSERT_TRUE(build({"--with-source"}));
  const auto first = content_of(package("package.yaml"));
  ASSERT_TRUE(build({"--with-source"}));
  EXPECT_EQ(content_of(package("package.yaml")), first);
}

TEST_F(PackageBuildTest, LeavesNothingBehindInTheScratchFolder) {
  ASSERT_TRUE(build({}));
  core.fails = Error{ErrorCode::build_failed, "no", "", "", {}};
  ASSERT_FALSE(build({}));
  EXPECT_TRUE(fs::is_empty(folder.at("/scratch")));
}

// Before the fix, the artifact worker refused a relative --output after ten minutes of compiling.
TEST_F(PackageBuildTest, TakesRelativePathsAsTheCallersOwn) {
  const auto relative = [&](const std::string& path) { return fs::relative(folder.at(path)).string(); };
  ASSERT_TRUE(build({"--output", relative("/layout"), "--debs", relative(""), "--scratch", relative("/scratch")}));
  EXPECT_EQ(core.packing["output"], folder.at("/layout").string());
  EXPECT_EQ(core.builds.front()["log"].get<std::string>().find(folder.at("/scratch").string()), 0U);
}

TEST_F(PackageBuildTest, ChecksItsFoldersFirst) {
  folder.file("/file", "no folder");
  folder.file("/full/something", "no layout");
  EXPECT_EQ(refusal({"--output", folder.at("/file").string()}).what,
            "the layout to write is a folder, and this is a file");
  EXPECT_EQ(refusal({"--output", folder.at("/full").string()}).what,
            "the folder is not an OCI layout, and it is not empty");
  EXPECT_EQ(refusal({"--scratch", folder.at("/none").string()}).what, "the folder for temporary files is missing");
  EXPECT_EQ(refusal({"--output", folder.at("/file/layout").string()}).what,
            "the layout to write would be below a file");
}

TEST_F(PackageBuildTest, SearchesForRoomFirst) {
  testing::TestDeb huge{.package = "libnvidia-nvvm4", .fields = "Installed-Size: 9007199254740991\n"};
  huge.write(folder.string());
  const auto error = refusal({});
  EXPECT_EQ(error.code, ErrorCode::no_space);
  EXPECT_THAT(error.what, HasSubstr("the build may take 9223372"));
  EXPECT_THAT(error.next, HasSubstr("--scratch DIR"));
}

TEST_F(PackageBuildTest, SearchesForTheCompilerFirst) {
  fs::remove(host.root().at("/usr/bin/gcc-12"));
  fs::remove(host.root().at("/usr/bin/make"));
  const auto error = refusal({});
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.what, "the modules cannot be compiled: there is no gcc-12, make in " + host.root().string());
}

// Before the fix, as an ordinary user and in many containers, this was reported only after everything had been
// unpacked.
TEST_F(PackageBuildTest, ChecksFirstWhetherItMayCompileHere) {
  core.fails = Error{ErrorCode::unsupported, "no private namespaces", {}, {}, {}};
  core.may_compile = false;
  EXPECT_EQ(refusal({}).what, "no private namespaces");
  EXPECT_TRUE(core.builds.empty());
  EXPECT_TRUE(fs::is_empty(folder.at("/scratch")));
}

TEST_F(PackageBuildTest, ChecksKeyAndCertificateFirst) {
  const std::string none = folder.at("/none.pem").string();
  EXPECT_EQ(refusal({"--sign-key", none, "--sign-cert", none}).code, ErrorCode::not_found);
  folder.file("/key.pem", "no key");
  const std::string file = folder.at("/key.pem").string();
  EXPECT_EQ(refusal({"--sign-key", file, "--sign-cert", file}).code, ErrorCode::invalid);
  ASSERT_EQ(::mkfifo(folder.at("/pipe").c_str(), 0600), 0);
  const std::string pipe = folder.at("/pipe").string();
  EXPECT_EQ(refusal({"--sign-key", pipe, "--sign-cert", pipe}).code, ErrorCode::invalid) << "nobody writes to it";
}

TEST_F(PackageBuildTest, RefusesHeadersForAnotherProcessorBeforeUnpacking) {
  fs::remove(folder.at("/linux-headers-6.1.0-50-amd64_6.1.176-1_amd64.deb"));
  auto headers = testing::header_debs("6.1.0-50-amd64", "6.1.176-1").front();
  headers.architecture = "arm64";
  headers.depends = "";
  headers.write(folder.string());
  const auto error = refusal({});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.what, "linux-headers-6.1.0-50-amd64 is for arm64, and the driver for amd64");
}

TEST_F(PackageBuildTest, KeepsTheCompiledModulesWhenPackingFails) {
  core.packing_fails = Error{ErrorCode::no_space, "no space left", "/layout", "free some space", {}};
  const auto error = build({}).error();
  EXPECT_EQ(error.code, ErrorCode::no_space);
  EXPECT_EQ(error.next,
            "free some space; then run the same command again: it uses the compiled modules, which are kept");
  ASSERT_EQ(error.details.back().first, "kept");
  const std::string kept = error.details.back().second;
  EXPECT_TRUE(fs::exists(kept + "/modules/kernel/nvidia.ko.zst")) << kept;

  core.packing_fails.reset();
  ASSERT_TRUE(build({}));
  EXPECT_EQ(core.builds.size(), 1U) << "nothing is compiled again";
  EXPECT_TRUE(fs::exists(package("modules/kernel/nvidia.ko.zst")));
  EXPECT_THAT(core.warned, HasSubstr("using the modules that an earlier run compiled: " + kept));
  EXPECT_TRUE(fs::is_empty(folder.at("/scratch")));
}

TEST_F(PackageBuildTest, RecompilesTheKeptModulesOfAnotherBuild) {
  core.packing_fails = Error{ErrorCode::no_space, "no space left", "", "", {}};
  ASSERT_FALSE(build({}));
  core.packing_fails.reset();
  host.root().file("/usr/bin/gcc-12", "another compiler");
  ASSERT_TRUE(build({}));
  EXPECT_EQ(core.builds.size(), 2U);
}

// Before the fix, the file was opened by its path on this machine: a pipe blocked, /dev/zero was read without end, a
// link was followed.
TEST_F(PackageBuildTest, UsesTheCompilerOfTheRoot) {
  fs::remove(host.root().at("/usr/bin/gcc-12"));
  host.root().file("/opt/gcc", "the compiler");
  fs::create_symlink("/opt/gcc", host.root().at("/usr/bin/gcc-12"));
  EXPECT_TRUE(build({})) << "a link of the root is followed in the root";
  for (const auto& make : {+[](const char* path) { return ::mkfifo(path, 0755); },
                           +[](const char* path) { return ::symlink("/dev/zero", path); }}) {
    fs::remove(host.root().at("/usr/bin/gcc-12"));
    ASSERT_EQ(make(host.root().at("/usr/bin/gcc-12").c_str()), 0);
    EXPECT_FALSE(build({}));
  }
}

// Before the fix, another user could put modules into the folder where the next run looks for kept modules.
TEST_F(PackageBuildTest, TakesUpNothingFromAFolderThatOthersMayWriteTo) {
  const auto kept = folder.at("/scratch/slipway-driver-535.261.03-6.1.0-50-amd64-open");
  fs::create_directory(kept);
  fs::permissions(kept, fs::perms::all);
  EXPECT_EQ(build({}).error().code, ErrorCode::denied);
  fs::remove(kept);
  fs::create_directory(folder.at("/elsewhere"));
  fs::create_directory_symlink(folder.at("/elsewhere"), kept);
  EXPECT_EQ(build({}).error().code, ErrorCode::denied);
}

// Before the fix, MPS did not work: its server is in usr/sbin, and nothing was taken from there.
TEST_F(PackageBuildTest, TakesTheServerOfMpsAndTheListOfOpenClDrivers) {
  for (const testing::TestDeb& deb : std::vector<testing::TestDeb>{
           {.package = "nvidia-cuda-mps",
            .entries = {{.path = "./usr/bin/nvidia-cuda-mps-control", .content = "control", .mode = 0755},
                        {.path = "./usr/sbin/nvidia-cuda-mps-server", .content = "server", .mode = 0755}}},
           {.package = "nvidia-opencl-common",
           .entries = {{.path = "./etc/OpenCL/vendors/nvidia.icd", .content = "libnvidia-opencl.so.1\n"}}}})
    deb.write(folder.string());
  ASSERT_TRUE(build({}));
  EXPECT_EQ(content_of(package("userspace/usr/bin/nvidia-cuda-mps-server")), "server");
  EXPECT_EQ(content_of(package("userspace/etc/OpenCL/vendors/nvidia.icd")), "libnvidia-opencl.so.1\n");
  const Json layers = description()["manifests"][0]["layers"];
  const Json files = Json::parse(layers[0]["annotations"][annotation::kFiles].get<std::string>());
  EXPECT_EQ(files["tools"], (Json{"nvidia-cuda-mps-control", "nvidia-cuda-mps-server", "nvidia-smi"}));
  EXPECT_EQ(files["icds"], Json{"nvidia.icd"});
}

// Before the fix, the host's own file came into the package: the build runs as root, and the link was followed.
TEST_F(PackageBuildTest, TakesNoFileOfThisMachineForTheLicence) {
  folder.file("/secret", "of this machine");
  for (auto deb : testing::driver_debs()) {
    if (deb.package != "nvidia-open-kernel-dkms") continue;
    for (auto& entry : deb.entries)
      if (entry.path.ends_with("/copyright")) entry = {.path = entry.path, .link = folder.at("/secret").string()};
    deb.write(folder.string());
  }
  const auto refused = build({});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("no licence text that can be read"));
}

// Before the fix, a link was created wherever the library's SONAME led to.
TEST_F(PackageBuildTest, MakesNoLinkOutsideOfTheLibrariesFolder) {
  for (auto deb : testing::driver_debs()) {
    if (deb.package != "libcuda1") continue;
    std::string& library = deb.entries.front().content;
    const std::string soname = "libcuda.so.1";
    for (auto at = library.find(soname); at != std::string::npos; at = library.find(soname, at + 1))
      library.replace(at, soname.size(), "../../plants");
    deb.write(folder.string());
  }
  const auto refused = build({});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("'../../plants'"));
}

TEST_F(PackageBuildTest, SearchesNoLinkOfThePackage) {
  ASSERT_EQ(::mkfifo(folder.at("/fifo").c_str(), 0600), 0);
  testing::TestDeb{.package = "libcudadebugger1",
                   .entries = {{.path = "./usr/lib/x86_64-linux-gnu/nvidia/current/libcudadebugger.so.535.261.03",
                                .link = folder.at("/fifo").string()}}}
      .write(folder.string());
  (void)build({});  // hung
}

TEST_F(PackageBuildTest, ListsOmittedFiles) {
  const std::string lib = "./usr/lib/x86_64-linux-gnu/nvidia/current/";
  testing::TestDeb{.package = "libnvidia-allocator1",
                   .entries = {{.path = lib + "libnvidia-allocator.so.535.261.03", .content = "no ELF"},
                               {.path = lib + "nvidia-drm_gbm.so", .link = "libnvidia-allocator.so.535.261.03"},
                               {.path = "./usr/share/doc/libnvidia-allocator1/changelog.gz"}}}
      .write(folder.string());
  testing::TestDeb{.package = "nvidia-opencl-icd",
                   .entries = {{.path = lib + "libnvidia-opencl.so.535.261.03", .content = "no ELF"}}}
      .write(folder.string());
  ASSERT_TRUE(build({}));
  EXPECT_THAT(core.printed, HasSubstr("  left out: usr/lib/x86_64-linux-gnu/nvidia/current/nvidia-drm_gbm.so "
                                      "(libnvidia-allocator1)\n"));
  EXPECT_THAT(core.printed, ::testing::Not(HasSubstr("changelog")));
  EXPECT_THAT(core.printed, ::testing::Not(HasSubstr("nvidia-smi.1.gz")));
  EXPECT_THAT(core.printed, ::testing::Not(HasSubstr("libcuda.so")));
  EXPECT_THAT(core.warned, HasSubstr("apt-get download nvidia-opencl-common"));
}

}  // namespace
}  // namespace slipway::driver
