// SPDX-License-Identifier: Apache-2.0
// tests/component/install/install_test.cpp - `slipway install` into roots that have the C library and nothing else.
#include <set>

#include <elf.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/component/engine/scratch_host.hpp"
#include "tests/unit/base/elf/hostile_elf.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::bytes_of;
using slipway::testing::hostile_elf;
using slipway::testing::HostileSection;
using slipway::testing::packed_zeros;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kInstalled = "usr/lib/slipway/installed";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const lines = ::popen(command.c_str(), "r");
  char part[4096];
  while (lines != nullptr && std::fgets(part, sizeof part, lines) != nullptr) text += part;
  if (lines != nullptr) ::pclose(lines);
  return text;
}

/// Returns paths that differ: the files themselves are too large to print.
std::vector<std::string> differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b) {
  std::vector<std::string> paths;
  for (const auto& [path, line] : a)
    if (!b.contains(path) || b.at(path) != line) paths.push_back(path);
  for (const auto& [path, line] : b)
    if (!a.contains(path)) paths.push_back(path);
  return paths;
}

/// A root with this machine's C library.
class Install : public ::testing::Test {
 protected:
  Install() {
    std::istringstream needed(output_of("ldd " + helper("slipway-engine")));
    for (std::string line; std::getline(needed, line);) {
      const std::size_t begin = line.find('/');
      if (begin == std::string::npos) continue;
      const std::string file = line.substr(begin, line.find(' ', begin) - begin);
      const std::string name = fs::path(file).filename();
      if (name == "libc.so.6" || name == "libm.so.6" || name.starts_with("ld-")) copy(file);
      if (name == "libc.so.6") {
        c_library_ = file.substr(1);
        for (const char* part : {"libresolv.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1"})
          copy(fs::path(file).parent_path() / part);
      }
    }
  }

  static std::string helper(const std::string& name) { return fs::path(SLIPWAY_PROGRAM).parent_path() / name; }
  void copy(const std::string& file) const {
    const fs::path to = host_.path(file.substr(1));
    fs::create_directories(to.parent_path());
    fs::copy_file(fs::canonical(file), to, fs::copy_options::skip_existing);
  }
  Ran install(std::vector<std::string> more = {"--only", "driver"}) const {
    more.insert(more.begin(), {"install", "--root", host_.path("").string()});
    return host_.bare(more);
  }
  /// Returns the peak memory of an install in MiB, including its child processes.
  std::uint64_t peak_mib(int code) const {
    const pid_t child = slipway::testing::spawn(
        {.words = {SLIPWAY_PROGRAM, "install", "--only", "driver", "--root", host_.path("").string()},
         .variables = {std::string("SLIPWAY_PLUGIN_PATH=") + SLIPWAY_TEST_PLUGINS},
         .out = host_.folder().at("out").string(),
         .err = host_.folder().at("err").string()});
    int status = 0;
    rusage used{};
    EXPECT_EQ(::wait4(child, &status, 0, &used), child);
    EXPECT_EQ(WEXITSTATUS(status), code) << host_.error_text();
    return static_cast<std::uint64_t>(used.ru_maxrss) >> 10U;
  }
  /// Returns the names of slipway's libraries, without those of the C library.
  static std::set<std::string> needed_libraries() {
    std::set<std::string> names;
    std::istringstream needed(output_of("ldd " + helper("slipway-engine") + " " SLIPWAY_TEST_PLUGINS "/driver.so"));
    for (std::string line; std::getline(needed, line);) {
      const std::size_t arrow = line.find(" => ");
      const std::size_t begin = line.find("lib");
      if (arrow == std::string::npos || begin >= arrow) continue;
      const std::string name = line.substr(begin, arrow - begin);
      if (name != "libc.so.6" && name != "libm.so.6") names.insert(name);
    }
    return names;
  }
  /// Changes each occurrence of some bytes in the root's C library.
  void patch_c_library(const std::string& from, const std::string& to, std::size_t most = 1000) const {
    std::string bytes = host_.text(c_library_);
    std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    for (std::size_t count = 0; at != std::string::npos && count < most; ++count, at = bytes.find(from, at + 1))
      bytes.replace(at, to.size(), to);
    std::ofstream(host_.path(c_library_), std::ios::binary) << bytes;
  }
  /// Runs it with its own mounts, including /proc and /dev, as on a machine or in a container.
  std::string in_root(const std::string& command) const {
    const std::string root = host_.path("").string();
    const std::string mounts =
        "for name in proc dev; do mkdir -p \"$0/$name\"; mount --rbind /$name \"$0/$name\"; done";
    return output_of("unshare --mount sh -c '" + mounts + "; exec env -u SLIPWAY_PLUGIN_PATH chroot \"$0\" " + command +
                     "' " + root + " 2>&1");
  }

  ScratchHost host_;
  std::string c_library_;
};

TEST_F(Install, RunsWhereThereIsOnlyTheCLibrary) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may chroot(2)";
  const Ran ran = install({});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Installed slipway in "));
  EXPECT_THAT(ran.out, HasSubstr("libstdc++.so.6"));
  EXPECT_THAT(in_root("/usr/bin/slipway version"), HasSubstr("slipway 0."));
  const std::string list = in_root("/usr/bin/slipway plugin list");
  for (const char* component : {"driver", "dcgm", "deviceplugin", "gfd", "mig", "cdi", "runtime", "validator"})
    EXPECT_THAT(list, HasSubstr(std::string(component) + " ")) << list;
  // A worker loads and calls each plugin; the result depends on this machine.
  EXPECT_THAT(in_root("/usr/bin/slipway init"),
              ::testing::AnyOf(HasSubstr("apiVersion: slipway.dev/v1"), HasSubstr("no NVIDIA GPU on the PCI bus")));
  EXPECT_THAT(in_root("/usr/bin/slipway pkg inspect /layout"), HasSubstr("cannot open the artifact source /layout"));
}

TEST_F(Install, ASecondTimeChangesNothing) {
  ASSERT_EQ(install().code, 0);
  const auto before = host_.tree();
  const auto time = host_.mtime_ns(kInstalled);
  const Ran again = install();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("already"));
  EXPECT_THAT(differences(host_.tree(), before), IsEmpty());
  EXPECT_EQ(host_.mtime_ns(kInstalled), time);
}

// Before the fix, an image made by the guide could not provision itself: only the package had the unit.
TEST_F(Install, InstallsTheApplyUnitWithSystemd) {
  const std::string unit = "usr/lib/systemd/system/slipway-apply.service";
  ASSERT_EQ(install().code, 0);
  EXPECT_FALSE(fs::is_symlink(host_.path(unit))) << "there is no systemd";
  host_.folder().directory("root/usr/lib/systemd/system");
  ASSERT_EQ(install().code, 0);
  EXPECT_THAT(host_.text(unit), HasSubstr("ExecStart=/usr/bin/slipway apply --yes"));
  EXPECT_FALSE(fs::exists(host_.path("etc/systemd"))) << "nothing enables it";
  // Before the fix, a join script that was ordered after the target found no such unit before the first apply.
  EXPECT_THAT(host_.text("usr/lib/systemd/system/slipway-ready.target"), HasSubstr("Requires=slipway-verify.service"));
  EXPECT_THAT(host_.text("usr/lib/systemd/system/slipway-verify.service"),
              HasSubstr("ExecStart=/usr/bin/slipway verify --boot"));
}

// `systemctl enable` follows a link and records its target: before the fix, the next install left an enabled unit
// without a file.
TEST_F(Install, InstallsTheUnitAsAFile) {
  const std::string unit = "usr/lib/systemd/system/slipway-apply.service";
  const std::string kept = "/current/lib/systemd/system/slipway-apply.service";
  host_.folder().directory("root/usr/lib/systemd/system");
  ASSERT_EQ(install().code, 0);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(host_.path(unit))));
  const std::string wanted = host_.text(unit);
  // The unit of a former version, recognized by the active installation.
  host_.put(std::string(kInstalled) + kept, "former\n");
  host_.put(unit, "former\n");
  ASSERT_EQ(install().code, 0);
  EXPECT_EQ(host_.text(unit), wanted);
  host_.put(unit, "somebody else's\n");
  const Ran refused = install();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("slipway-apply.service already exists and was not put there by `slipway install`"));
  EXPECT_EQ(host_.text(unit), "somebody else's\n");
}

TEST_F(Install, ADryRunChangesNothing) {
  const auto before = host_.tree();
  const Ran ran = install({"--only", "driver", "--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("lib/slipway/plugins/driver.so"));
  EXPECT_THAT(ran.out, HasSubstr("Would install"));
  EXPECT_THAT(differences(host_.tree(), before), IsEmpty());
}

TEST_F(Install, InstallsOnlyNeededFilesWithoutDebugInformation) {
  ASSERT_EQ(install().code, 0);
  std::string names;
  for (const auto& [path, line] : host_.tree()) names += path + "\n";
  EXPECT_THAT(names, HasSubstr("lib/slipway/plugins/driver.so"));
  for (const char* other : {"deviceplugin", "slipway-runtime", "slipway-sim", "slipway-author", ".hpp"})
    EXPECT_THAT(names, Not(HasSubstr(other)));
  const std::string engine = host_.path(std::string(kInstalled) + "/current/libexec/slipway/slipway-engine").string();
  EXPECT_THAT(output_of("readelf -SW " + engine), Not(HasSubstr(".debug_info")));
  // An empty part of this path would mean the current folder.
  EXPECT_THAT(output_of("readelf -dW " + engine), HasSubstr("[$ORIGIN/../../lib/slipway/libraries]"));
}

// One plugin has the components cdi and runtime: before the fix, 7 MB of the second's programs were copied for the
// first.
TEST_F(Install, InstallsOnlyTheProgramsOfRequestedComponents) {
  ASSERT_EQ(install({"--only", "cdi"}).code, 0);
  std::string names;
  for (const auto& [path, line] : host_.tree()) names += path + "\n";
  EXPECT_THAT(names, HasSubstr("lib/slipway/plugins/toolkit.so"));
  EXPECT_THAT(names, HasSubstr("bin/slipway-cdi-hook"));
  for (const char* other : {"slipway-runtime", "toolkit.service.so"}) EXPECT_THAT(names, Not(HasSubstr(other)));
  ASSERT_EQ(install({"--only", "cdi,runtime"}).code, 0);
  for (const char* program : {"bin/slipway-runtime", "libexec/slipway/slipway-runtime-configure"})
    EXPECT_TRUE(fs::exists(host_.path(std::string(kInstalled) + "/current/" + program))) << program;
  EXPECT_TRUE(fs::exists(host_.path(std::string(kInstalled) + "/current/lib/slipway/plugins/toolkit.service.so")));
}

TEST_F(Install, GivesTheSameBytesAndTimesEachTime) {
  ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  ASSERT_EQ(install().code, 0);
  const auto first = host_.tree();
  fs::remove_all(host_.path("usr/lib/slipway"));
  fs::remove_all(host_.path("usr/bin"));
  ASSERT_EQ(install().code, 0);
  ::unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_THAT(differences(host_.tree(), first), IsEmpty());
  for (const auto& [path, line] : first) {
    if (!path.starts_with(kInstalled)) continue;
    EXPECT_EQ(host_.mtime_ns(path), 1'700'000'000'000'000'000) << path;
  }
}

TEST_F(Install, ReplacesAFormerOneAndRepairsItsOwn) {
  host_.put(std::string(kInstalled) + "/0.0.9-0123456789ab/bin/slipway", "old");
  fs::create_directory_symlink("0.0.9-0123456789ab", host_.path(std::string(kInstalled) + "/current"));
  fs::create_directories(host_.path("usr/bin"));
  fs::create_symlink("../lib/slipway/installed/current/bin/slipway", host_.path("usr/bin/slipway"));
  ASSERT_EQ(install().code, 0);
  const auto whole = host_.tree();
  EXPECT_FALSE(fs::exists(host_.path(std::string(kInstalled) + "/0.0.9-0123456789ab")));
  EXPECT_NE(host_.text("usr/bin/slipway"), "old");
  host_.put(std::string(kInstalled) + "/current/bin/slipway", "damaged");
  const Ran repaired = install();
  EXPECT_EQ(repaired.code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("Installed"));
  EXPECT_THAT(differences(host_.tree(), whole), IsEmpty());
}

TEST_F(Install, KeepsFilesOfPackagesAndOfUsers) {
  host_.put("usr/bin/slipway", "a package's");
  const auto before = host_.tree();
  const Ran others = install();
  EXPECT_EQ(others.code, 1);
  EXPECT_THAT(others.err, HasSubstr("was not put there by `slipway install`"));
  EXPECT_THAT(differences(host_.tree(), before), IsEmpty());
  host_.put("var/lib/dpkg/info/slipway.list", "/.\n/usr/bin\n/usr/bin/slipway\n");
  EXPECT_THAT(install().err, HasSubstr("belongs to the package slipway"));
  EXPECT_EQ(host_.text("usr/bin/slipway"), "a package's");
}

TEST_F(Install, DoesNotFollowALinkOutOfTheRoot) {
  const std::string outside = host_.folder().at("outside").string();
  fs::create_directory(outside);
  fs::create_directories(host_.path("usr/lib"));
  fs::create_directory_symlink(outside, host_.path("usr/lib/slipway"));
  fs::create_directory_symlink("../../../outside", host_.path("usr/bin"));
  (void)install();
  EXPECT_THAT(output_of("ls -A " + outside), IsEmpty());
}

/// A library whose metadata takes memory: 4096 libraries with 64 versions each, all with different texts of up to 1000
/// letters; and section names that unpack to 660 MiB.
std::string greedy_library() {
  constexpr std::size_t kLibraries = 4096;
  constexpr std::size_t kVersions = 64;
  std::string records;
  for (std::size_t i = 0; i < kLibraries; ++i) {
    Elf64_Verneed library{};
    library.vn_version = VER_NEED_CURRENT;
    library.vn_cnt = kVersions;
    library.vn_file = static_cast<Elf64_Word>(i);
    library.vn_aux = static_cast<Elf64_Word>((kLibraries - i) * sizeof library + i * kVersions * sizeof(Elf64_Vernaux));
    library.vn_next = i + 1 == kLibraries ? 0 : sizeof library;
    records += bytes_of(library);
  }
  std::string names;
  for (std::size_t i = 0; names.size() < 4U << 20U; ++i) names += std::to_string(i) + (i % 120 == 0 ? '\0' : ',');
  for (std::size_t i = 0; i < kLibraries * kVersions; ++i) {
    Elf64_Vernaux version{};
    version.vna_name = static_cast<Elf64_Word>(i * 16);
    version.vna_next = (i + 1) % kVersions == 0 ? 0 : sizeof version;
    records += bytes_of(version);
  }
  std::vector<HostileSection> sections{
      {.name = "wanted", .type = SHT_GNU_verneed, .content = records.substr(0, 4 << 20U), .link = 3},
      {.name = "names", .type = SHT_STRTAB, .content = names.substr(0, 4 << 20U)}};
  return hostile_elf(std::move(sections), SHF_COMPRESSED, packed_zeros(std::uint64_t{660} << 20U));
}

// Before the fix, a library from an image's author was read with all the memory that it needed: one of 12 MiB took 1.9
// GiB.
TEST_F(Install, NeedsNoMoreMemoryForAHostileRoot) {
  const std::uint64_t plain = peak_mib(0);
  fs::remove_all(host_.path(kInstalled));
  fs::remove_all(host_.path("usr/bin"));
  const std::set<std::string> names = needed_libraries();
  ASSERT_GT(names.size(), 2U);
  host_.put("greedy", greedy_library());
  fs::resize_file(host_.path("greedy"), std::uintmax_t{256} << 20U);
  for (const char* folder :
       {"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "lib64"}) {
    fs::create_directories(host_.path(folder));
    for (const std::string& name : names) {
      fs::remove(host_.path(folder) / name);
      fs::create_hard_link(host_.path("greedy"), host_.path(folder) / name);
    }
  }
  EXPECT_LT(peak_mib(0), plain + 64);
  // Lists of packages, in which the owner of a file is searched.
  fs::remove(host_.path("usr/bin/slipway"));
  host_.put("usr/bin/slipway", "somebody else's");
  fs::create_directories(host_.path("var/lib/dpkg/info"));
  for (int i = 0; i < 5000; ++i) {
    const fs::path list = host_.path("var/lib/dpkg/info/p" + std::to_string(i) + ".list");
    std::ofstream{list};
    fs::resize_file(list, std::uintmax_t{i % 2 == 0 ? 128U : 4U} << 20U);
  }
  EXPECT_LT(peak_mib(1), plain + 64);
  EXPECT_THAT(host_.error_text(), HasSubstr("/usr/bin/slipway already exists"));
}

TEST_F(Install, RefusesARootForAnotherProcessor) {
  std::string bytes = host_.text(c_library_);
  const std::string mine = bytes.substr(0, 20);
  std::string other = mine;
  other[18] = other[18] == '\x3e' ? '\xb7' : '\x3e';
  patch_c_library(mine, other, 1);
  const Ran ran = install();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("this root is for "));
  EXPECT_FALSE(fs::exists(host_.path(kInstalled)));
}

TEST_F(Install, RefusesACLibraryThatIsTooOld) {
  patch_c_library(std::string("GLIBC_2.34\0", 11), std::string("GLIBC_0.00\0", 11));
  const Ran ran = install();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the C library of this root is too old"));
  EXPECT_THAT(ran.err, HasSubstr("GLIBC_2.34"));
  EXPECT_FALSE(fs::exists(host_.path(kInstalled)));
}

TEST_F(Install, RefusesARootWithoutTheCLibrary) {
  fs::remove_all(host_.path(""));
  fs::create_directory(host_.path(""));
  const Ran ran = install();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("this root has no C library"));
}

TEST_F(Install, AsksForTheRoot) {
  const Ran ran = host_.bare({"install"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("--root"));
}

/// An image gets units, so it needs their programs.
TEST_F(Install, IsRequiredByAPlanForAnImage) {
  host_.installed = true;
  host_.spec("    gfd: {}\n");
  const auto before = host_.tree();
  for (const char* command : {"plan", "apply"}) {
    const Ran refused = host_.slipway({command});
    EXPECT_EQ(refused.code, 1) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("slipway is not installed in this root"));
    EXPECT_THAT(refused.err, HasSubstr("`slipway install --root " + fs::canonical(host_.path("")).string()));
  }
  EXPECT_THAT(differences(host_.tree(), before), IsEmpty());
  EXPECT_EQ(host_.slipway({"plan", "--without-slipway"}).code, 2);
  ASSERT_EQ(install({"--only", "gfd"}).code, 0);
  EXPECT_EQ(host_.slipway({"plan"}).code, 2);
}

// Before the fix, the problem appeared at the boot, which did not have the component.
TEST_F(Install, IsRequiredAgainForAMissingPlugin) {
  host_.installed = true;
  ASSERT_EQ(install({"--only", "driver"}).code, 0);
  host_.spec("    gfd: {}\n");
  const Ran refused = host_.slipway({"plan"});
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("the slipway in this root has no plugin for gfd"));
  EXPECT_EQ(host_.slipway({"plan", "--without-slipway"}).code, 2);
}

TEST_F(Install, IsNotRequiredForAnImageThatIsNotBooted) {
  host_.installed = true;
  host_.spec("    gfd: {}\n");
  EXPECT_EQ(host_.slipway({"plan", "--sim", "h100x8"}).code, 2);
  const Ran useless = host_.slipway({"plan", "--sim", "h100x8", "--without-slipway"});
  EXPECT_EQ(useless.code, 64);
  EXPECT_THAT(useless.err, HasSubstr("--without-slipway"));
}

}  // namespace
}  // namespace slipway
