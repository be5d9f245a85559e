// SPDX-License-Identifier: Apache-2.0
// Every hook of slipway-cdi-hook on roots that were made to mislead it: links that lead out, FIFOs in the place of
// files, folders with very many entries, and a read-only root. On a host whose driver's parameters are simulated.
#include <chrono>
#include <map>
#include <set>

#include <sys/xattr.h>

#include "hook_fixture.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;

using Words = std::vector<std::string>;

struct Hook {
  std::string name;
  Words options;
  std::vector<std::string> touches;  ///< what it reads or writes in the root
};

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all{
      {"create-symlinks", {"--link", "libcuda.so.1::/usr/lib/nvidia/libcuda.so"}, {"usr/lib/nvidia/libcuda.so"}},
      {"enable-cuda-compat",
       {"--host-driver-version", "535.261.03"},
       {"usr/local/cuda/compat/libcuda.so.550.54.15", "etc/ld.so.conf.d/00-compat-slipway.conf"}},
      {"update-ldcache",
       {"--folder", "/opt/nvidia"},
       {"etc/ld.so.cache", "etc/ld.so.conf", "etc/ld.so.conf.d/00-slipway.conf", "etc/ld.so.conf.d/zz-slipway.conf",
        "etc/ld-musl-x86_64.path", "etc/alpine-release", "opt/nvidia/libany.so.1"}},
      {"disable-device-node-modification", {}, {"proc/driver/nvidia/params"}},
      {"update-application-profile",
       {},
       {"dev/nvidia0", "etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"}},
      {"chmod", {"--mode", "755", "--path", "/dev/dri"}, {"dev/dri"}},
  };
  return all;
}

/// For the child: a condition without which the test cannot work.
void expect(bool done) {
  if (!done) ::_exit(125);
}

/// Creates a private namespace in which the driver's parameters ask for a change.
void simulate_driver() {
  expect(::unshare(CLONE_NEWNS) == 0);
  expect(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  expect(::mount("tmpfs", "/proc/driver", "tmpfs", 0, nullptr) == 0);
  fs::create_directory("/proc/driver/nvidia");
  std::ofstream("/proc/driver/nvidia/params") << "ResmanDebugLevel: 1\nModifyDeviceFiles: 1\nDeviceFileMode: 438\n";
}

/// Mounts the container's own copy of the kernel's file; any file will do.
void mount_params(const fs::path& root) {
  expect(::mount("/proc/version", (root / "proc/driver/nvidia/params").c_str(), nullptr, MS_BIND, nullptr) == 0);
}

class HostileRoot : public HookTest, public ::testing::WithParamInterface<Hook> {
 protected:
  void SetUp() override { NEEDS_ROOT(); }

  Words words() const {
    Words all{GetParam().name};
    all.insert(all.end(), GetParam().options.begin(), GetParam().options.end());
    return all;
  }

  /// Creates a root in which every hook has work to do.
  void make_work() {
    libraries();
    folder_.file("root/proc/driver/nvidia/params", "the image's\n");
    folder_.directory("root/usr/local/cuda/compat");
    fs::copy_file(SLIPWAY_ANY_LIBRARY, in("usr/local/cuda/compat/libcuda.so.550.54.15"));
    folder_.directory("root/dev/dri");
    fs::permissions(in("dev/dri"), fs::perms::owner_all);
    ASSERT_EQ(::mknod(in("dev/nvidia0").c_str(), S_IFCHR | 0666, makedev(195, 0)), 0);
  }

  /// Expects that it ends within a container's start time, and returns its messages.
  Ran run_quickly(const Inside& inside = [](const fs::path&) { simulate_driver(); }) {
    const auto begin = std::chrono::steady_clock::now();
    const Ran ran = hook(words(), inside);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_TRUE(ran.status == 0 || ran.status == 1) << ran.status;
    if (ran.status == 1) {
      EXPECT_THAT(ran.output, ::testing::ContainsRegex("slipway-cdi-hook.*/[a-z]")) << ran.output;
    }
    return ran;
  }

  /// Returns the contents of the folder outside of the root: names, contents, modes and times.
  std::map<std::string, std::string> outside() const {
    std::map<std::string, std::string> seen;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.at("host"))) {
      struct stat info {};
      ::lstat(entry.path().c_str(), &info);
      seen[entry.path().string()] = std::to_string(info.st_mode) + " " + std::to_string(info.st_mtim.tv_nsec) + " " +
                                    (S_ISREG(info.st_mode) ? text_of(entry.path()) : "");
    }
    return seen;
  }
};

TEST_P(HostileRoot, WorksWithoutAnAttack) {
  make_work();
  const Ran ran = hook(
      words(),
      [](const fs::path& root) {
        simulate_driver();
        mount_params(root);
      },
      [this](const fs::path& root) { fs::copy_file(root / "proc/driver/nvidia/params", folder_.at("params-seen")); });
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::map<std::string, bool> done{
      {"create-symlinks", fs::is_symlink(in("usr/lib/nvidia/libcuda.so"))},
      {"enable-cuda-compat", fs::exists(in("etc/ld.so.conf.d/00-compat-slipway.conf"))},
      {"update-ldcache", fs::exists(in("etc/ld.so.cache"))},
      {"disable-device-node-modification",
       text_of(folder_.at("params-seen")) == "ResmanDebugLevel: 1\nModifyDeviceFiles: 0\nDeviceFileMode: 438\n"},
      {"update-application-profile", fs::exists(in("etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"))},
      {"chmod", fs::status(in("dev/dri")).permissions() == fs::perms(0755)},
  };
  for (const auto& [name, is_done] : done) EXPECT_EQ(is_done, name == GetParam().name) << name;
}

TEST_P(HostileRoot, IsNotLeftThroughALinkInThePlaceOfAFileOrOfAFolderAboveIt) {
  const std::string host = folder_.at("host").string();
  folder_.directory("host/dri");
  for (const std::string& touched : GetParam().touches) folder_.file("host/" + touched, "untouched\n");
  for (const std::string& touched : GetParam().touches) {
    for (fs::path place = touched; !place.empty(); place = place.parent_path()) {
      for (const std::string& out : {host, host + "/" + place.string(), "../../../../../../../../../../.." + host,
                                     "../../../../../../host/" + place.string(), std::string("/proc/1/root") + host}) {
        fs::remove_all(in(""));
        make_work();
        fs::remove_all(in(place.string()));
        fs::create_directories(in(place.parent_path().string()));
        fs::create_symlink(out, in(place.string()));
        const auto before = outside();
        run_quickly();
        EXPECT_EQ(outside(), before) << place << " -> " << out;
      }
    }
  }
}

// user::rw-, group::---, mask::rw-, other::---, in the attribute's format, see acl(5).
std::string list_that_keeps_the_group_out() {
  std::string list{2, 0, 0, 0};
  for (const auto& [tag, rights] : std::vector<std::pair<char, char>>{{1, 6}, {4, 0}, {16, 6}, {32, 0}})
    list += std::string{tag, 0, rights, 0, -1, -1, -1, -1};
  return list;
}

// An image without procfs may have links in place of a descriptor's name. Before the fix, such links made the hook
// remove another file's list.
TEST_P(HostileRoot, ReadsNothingThroughItsOwnProc) {
  make_work();
  folder_.file("root/secret", "kept");
  fs::create_directories(in("proc/self/fd"));
  for (int fd = 3; fd < 64; ++fd) fs::create_symlink("/secret", in("proc/self/fd/" + std::to_string(fd)));
  const std::string list = list_that_keeps_the_group_out();
  ASSERT_EQ(::setxattr(in("secret").c_str(), "system.posix_acl_access", list.data(), list.size(), 0), 0);
  run_quickly();
  EXPECT_EQ(::getxattr(in("secret").c_str(), "system.posix_acl_access", nullptr, 0), static_cast<ssize_t>(list.size()));
}

TEST_P(HostileRoot, DoesNotMakeItWaitForAFifo) {
  for (const std::string& touched : GetParam().touches) {
    fs::remove_all(in(""));
    make_work();
    fs::remove_all(in(touched));
    fs::create_directories(in(touched).parent_path());
    ASSERT_EQ(::mkfifo(in(touched).c_str(), 0666), 0) << touched;
    run_quickly();
  }
}

TEST_P(HostileRoot, IsHandledQuicklyWithVeryManyEntries) {
  make_work();
  folder_.file("root/one", "/opt\n");
  std::set<fs::path> folders;
  for (const std::string& touched : GetParam().touches) folders.insert(in(touched).parent_path());
  for (const fs::path& folder : folders) {
    fs::create_directories(folder);
    const std::string ending = folder.filename() == "ld.so.conf.d" ? ".conf" : "";
    for (int i = 0; i < 20'000; ++i)
      ASSERT_EQ(::link(in("one").c_str(), (folder / ("libcuda.so.1." + std::to_string(i) + ending)).c_str()), 0);
  }
  run_quickly();
}

TEST_P(HostileRoot, ThatIsReadOnlyIsNamedAsTheCause) {
  make_work();
  const Ran ran = run_quickly([](const fs::path& root) {
    simulate_driver();
    mount_params(root);
    expect(::mount(root.c_str(), root.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0);
    expect(::mount(nullptr, root.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  });
  if (GetParam().name == "disable-device-node-modification") {
    EXPECT_EQ(ran.status, 0) << "it mounts and writes nothing: " << ran.output;
  } else {
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.output, HasSubstr("Read-only"));
  }
}

INSTANTIATE_TEST_SUITE_P(Hooks, HostileRoot, ::testing::ValuesIn(hooks()), [](const auto& hook) {
  std::string name = hook.param.name;
  std::erase(name, '-');
  return name;
});

// An image may replace the kernel's file; the hook mounts only over the kernel's own.
TEST_F(HookTest, TheImagesOwnParametersAreNotMountedOver) {
  NEEDS_ROOT();
  folder_.file("root/proc/driver/nvidia/params", "the image's\n");
  const Ran ran = hook({"disable-device-node-modification"}, [](const fs::path&) { simulate_driver(); });
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("is not a file of the kernel's"));
}

}  // namespace
}  // namespace slipway
