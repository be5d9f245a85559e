// SPDX-License-Identifier: Apache-2.0
// Modules that are compiled in the root, through the command line: once, as long as nothing changes that they depend
// on. Scripts take the place of make and the compiler, and no namespaces means no compiler.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sandbox.hpp"
#include "tests/component/cli/driver_root.hpp"
#include "tests/unit/base/elf/module_elf.hpp"
#include "tests/unit/sandbox/real_programs.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::module_elf;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRelease = "6.1.0-50-amd64";
const std::string kHeaders = "usr/src/linux-headers-" + kRelease;
const std::string kName = "NVIDIA 535.261.03 (open) for " + kRelease;
const std::string kModule = "usr/lib/slipway/store/driver/current/modules/" + kRelease + "/kernel/nvidia.ko";

/// A package with the source of one module, which `make` only has to copy.
class SourcePackage {
 public:
  /// @param version  of the driver
  std::string add(const ScratchHost& host, const std::string& version) const {
    const std::string top = "package-" + version;
    const auto& folder = host.folder();
    for (const char* name : {"libcuda.so", "libnvidia-ml.so"}) {
      const std::string lib = top + "/userspace/usr/lib/x86_64-linux-gnu/" + name;
      folder.file(lib + "." + version, "no library");
      folder.link(lib + ".1", std::string(name) + "." + version);
    }
    folder.file(top + "/userspace/usr/bin/nvidia-smi", "no program");
    folder.file(top + "/source/usr/src/nvidia/nvidia.c",
                module_elf({}, {"vermagic=" + kRelease + " SMP ", "version=" + version, "license=Dual MIT/GPL"}));
    const Json files{{"libdir", "usr/lib/x86_64-linux-gnu"},
                     {"libraries", {"libcuda.so.1", "libnvidia-ml.so.1"}},
                     {"tools", {"nvidia-smi"}},
                     {"icds", Json::array()}};
    const Json source{{"directory", "usr/src/nvidia"}, {"modules", {"nvidia"}}};
    const auto layer = [](const std::string& name, const std::string& note, const Json& value) {
      return Json{{"directory", name},
                  {"mediaType", "application/vnd.slipway.driver." + name + ".v1.tar+zstd"},
                  {"compression", "zstd"},
                  {"annotations", {{"dev.slipway.layer", name}, {note, canonical(value)}}}};
    };
    const Json manifest{
        {"tag", version + "-source"},
        {"annotations", {{"dev.slipway.driver.version", version}, {"dev.slipway.driver.flavour", "open"}}},
        {"layers",
         {layer("userspace", "dev.slipway.driver.files", files),
          layer("source", "dev.slipway.driver.source", source)}}};
    folder.file(top + "/package.yaml", canonical({{"artifactType", "application/vnd.slipway.driver.v1"},
                                                  {"tag", version},
                                                  {"manifests", {manifest}}}));
    const std::string layout = folder.at("layout").string();
    const Ran built = host.bare({"pkg", "build", folder.at(top).string(), "--to", layout});
    EXPECT_EQ(built.code, 0) << built.out << built.err;
    return layout;
  }
};

class CompiledModules : public ::testing::Test {
 protected:
  void SetUp() override {
    test::install_programs(programs, {"/usr/bin/dash", "/usr/bin/cp", "/usr/bin/true"});
    programs.link("/usr/bin/sh", "dash");
    sandbox::Sandbox probe;
    probe.root = programs.folder();
    probe.read_only = true;
    probe.argv = {"true"};
    probe.environment = sandbox::sandbox_environment();
    if (!sandbox::run_in_sandbox(probe)) GTEST_SKIP() << "namespaces are not allowed here";
    host = new_root();
    layout = package.add(*host, "535.261.03");
    want(*host, "535.261.03");
  }

  /// Makes another root with the same compiler, make, and kernel headers.
  std::unique_ptr<ScratchHost> new_root() const {
    auto made = std::make_unique<ScratchHost>();
    fs::copy(programs.folder(), made->path(""), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    const auto program = [&](const std::string& name, const std::string& text) {
      made->put("usr/bin/" + name, "#!/bin/sh\n" + text);
      fs::permissions(made->path("usr/bin/" + name), fs::perms(0755));
    };
    program("gcc-12", "echo gcc-12 12.2.0\n");
    program("make",
            "[ \"$1\" != --version ] || { echo GNU Make 4.3; exit 0; }\n"
            "[ ! -e /etc/no-compiler ] || { echo 'nvidia.c:1:1: error: compiled once more'; exit 2; }\n"
            "cp nvidia.c nvidia.ko && cp nvidia.c Module.symvers\n");
    program("strip", "exit 0\n");
    made->put(kHeaders + "/Makefile", "# none\n");
    made->put(kHeaders + "/.config", "CONFIG_CC_VERSION_TEXT=\"gcc-12 (Debian 12.2.0-14) 12.2.0\"\n");
    made->put(kHeaders + "/Module.symvers", "0x1\tmodule_layout\tvmlinux\tEXPORT_SYMBOL\n");
    for (const char* name : {"modules.builtin", "modules.order"}) made->put("lib/modules/" + kRelease + "/" + name, "");
    fs::create_symlink("/" + kHeaders, made->path("lib/modules/" + kRelease + "/build"));
    return made;
  }
  void want(const ScratchHost& on, const std::string& version, const std::string& keys = "") const {
    on.spec("    driver: {version: \"" + version + "\", modules: open, precompiled: never, source: {repository: " +
            layout + ", trust: unsigned}" + keys + "}\n");
  }
  /// From now on, whatever is compiled fails.
  static void forbid_compiling(const ScratchHost& on) { on.put("etc/no-compiler", ""); }
  /// Returns the command with the cache that all roots of the test share.
  Ran run(const ScratchHost& on, std::vector<std::string> words) const {
    words.insert(words.end(), {"--root", on.folder().at("root").string(), "--cache", cache()});
    if (words[0] == "plan" || words[0] == "apply")
      words.insert(words.end(), {"--kernel", kRelease, "-f", on.folder().at("host.yaml").string()});
    if (std::ranges::count(words, "--sim") == 0 && (words[0] == "plan" || words[0] == "apply"))
      words.emplace_back("--without-slipway");
    return on.bare(words);
  }
  std::string cache() const { return host->folder().at("cache").string(); }
  void apply(const ScratchHost& on, const std::string& says) const {
    const Ran ran = run(on, {"apply", "--yes"});
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out + ran.err, HasSubstr(says));
    EXPECT_TRUE(fs::exists(on.path(kModule)));
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& each : fs::directory_iterator(cache() + "/compiled")) found.push_back(each.path());
    return found;
  }

  test::TempRoot programs;
  SourcePackage package;
  std::unique_ptr<ScratchHost> host;
  std::string layout;
};

TEST_F(CompiledModules, AreNotCompiledAgainInASecondRootAndThePlanSaysSo) {
  EXPECT_THAT(run(*host, {"plan"}).out, HasSubstr("compile " + kName));
  EXPECT_FALSE(fs::exists(cache() + "/compiled")) << "a plan keeps nothing";
  apply(*host, "compiling " + kName);
  forbid_compiling(*host);
  EXPECT_THAT(run(*host, {"apply", "--yes"}).out, HasSubstr("Nothing to do"));

  const auto second = new_root();
  want(*second, "535.261.03");
  forbid_compiling(*second);
  const Ran plan = run(*second, {"plan"});
  EXPECT_THAT(plan.out, AllOf(HasSubstr("take " + kName + " from the cache"), Not(HasSubstr("compile NVIDIA"))));
  apply(*second, "taking " + kName + " from the cache: it is compiled already");
  EXPECT_EQ(second->text(kModule), host->text(kModule));
  EXPECT_FALSE(fs::exists(second->path("var/cache"))) << "no part of the cache is in an image";
  EXPECT_THAT(run(*second, {"apply", "--yes"}).out, HasSubstr("Nothing to do"));
  EXPECT_EQ(run(*second, {"verify", "--deep"}).code, 0);
}

// An apply drops the layers of the former driver: before the fix, a rollback then compiled for minutes.
TEST_F(CompiledModules, AreNotCompiledAgainByARollback) {
  apply(*host, "compiling " + kName);
  package.add(*host, "550.163.01");
  want(*host, "550.163.01");
  apply(*host, "compiling NVIDIA 550.163.01 (open) for " + kRelease);
  EXPECT_THAT(host->text(kModule), HasSubstr("550.163.01"));
  forbid_compiling(*host);
  const Ran back = run(*host, {"rollback", "--yes"});
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_THAT(host->text(kModule), HasSubstr("535.261.03"));
}

TEST_F(CompiledModules, AreCompiledAgainWithAnotherCompilerOrKernel) {
  apply(*host, "compiling " + kName);
  const auto compiles = [&](const std::string& file, const std::string& content) {
    const auto other = new_root();
    want(*other, "535.261.03");
    other->put(file, content);
    if (file.starts_with("usr/bin/")) fs::permissions(other->path(file), fs::perms(0755));
    EXPECT_THAT(run(*other, {"plan"}).out, AllOf(HasSubstr("compile " + kName), Not(HasSubstr("from the cache"))));
    return run(*other, {"apply", "--yes"});
  };
  const std::string other_file = "#!/bin/sh\n# another file\necho gcc-12 12.2.0\n";
  for (const auto& [file, content] : std::vector<std::pair<std::string, std::string>>{
           {"usr/bin/gcc-12", other_file},
           {kHeaders + "/Module.symvers", "0x2\tmodule_layout\tvmlinux\tEXPORT_SYMBOL\n"},
           {kHeaders + "/include/generated/utsrelease.h", "#define UTS_RELEASE \"" + kRelease + "\"\n"}}) {
    const Ran ran = compiles(file, content);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("compiling " + kName)) << file;
  }
  EXPECT_EQ(entries().size(), 4U);
}

TEST_F(CompiledModules, ThatAreDamagedInTheCacheAreCompiledAgainWithANote) {
  apply(*host, "compiling " + kName);
  ASSERT_EQ(entries().size(), 1U);
  const fs::path kept = entries().front() / "files/kernel/nvidia.ko";
  const std::string sound = host->text(kModule);
  host->folder().file(fs::relative(kept, host->folder().at("")).string(), "not a module");

  const auto second = new_root();
  want(*second, "535.261.03");
  const Ran ran = run(*second, {"apply", "--yes"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(kName + " is compiled again: the compiled modules in "),
                             HasSubstr("kernel/nvidia.ko has another content"), HasSubstr("compiling " + kName)));
  EXPECT_EQ(second->text(kModule), sound);

  const auto third = new_root();
  want(*third, "535.261.03");
  forbid_compiling(*third);
  apply(*third, "from the cache");
}

TEST_F(CompiledModules, OfAnImageAreNotTakenForTheMachine) {
  apply(*host, "compiling " + kName);
  const auto machine = new_root();
  want(*machine, "535.261.03");
  const Ran plan = run(*machine, {"plan", "--sim", "h100x8", "--live"});
  EXPECT_THAT(plan.out, AllOf(HasSubstr("compile " + kName), Not(HasSubstr("from the cache")))) << plan.err;
}

TEST_F(CompiledModules, ThatNoGenerationNeedsAreGarbage) {
  apply(*host, "compiling " + kName);
  ASSERT_EQ(entries().size(), 1U);
  const fs::path entry = entries().front();
  const auto used_long_ago = [&] {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(48));
  };
  used_long_ago();
  EXPECT_THAT(run(*host, {"gc", "--dry-run"}).out, HasSubstr("Nothing to delete"));
  ASSERT_EQ(run(*host, {"remove", "--all", "--yes"}).code, 0);
  used_long_ago();
  EXPECT_THAT(run(*host, {"gc", "--dry-run"}).out, HasSubstr(entry.string() + " (" + kName + ")"));
  EXPECT_TRUE(fs::exists(entry));
  const Json freed = Json::parse(run(*host, {"gc", "-o", "json"}).out);
  EXPECT_EQ(freed["compiled"], Json({entry.string()}));
  EXPECT_GT(freed["bytes"].get<int>(), 0);
  EXPECT_FALSE(fs::exists(entry));
}

}  // namespace
}  // namespace slipway
