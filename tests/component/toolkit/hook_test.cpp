// SPDX-License-Identifier: Apache-2.0
// slipway-cdi-hook, run like by a container runtime, on valid and on faulty roots.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include "hook_fixture.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST_F(HookTest, AnUnknownHookLetsTheContainerStart) {
  const Ran ran = hook({"create-nvlink-fabric", "--anything", "x"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("create-nvlink-fabric"));
}

TEST_F(HookTest, AnOptionThatAKnownHookDoesNotTakeIsAnError) {
  const Ran ran = hook({"create-symlinks", "--lnk", "a::b"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("--lnk"));
}

TEST_F(HookTest, FindsTheRootThroughTheBundle) {
  folder_.file("bundle/config.json", R"({"root": {"path": "../root"}})");
  state({{"bundle", folder_.at("bundle").string()}});
  EXPECT_EQ(hook({"create-symlinks", "--link", "libcuda.so.1::/usr/lib/libcuda.so"}).status, 0);
  EXPECT_EQ(fs::read_symlink(in("usr/lib/libcuda.so")), "libcuda.so.1");
  state({{"root", "/"}});
  const Ran own = hook({"create-symlinks", "--link", "a::/tmp/never"});
  EXPECT_EQ(own.status, 1);
  EXPECT_THAT(own.output, HasSubstr("the root of this system"));
  state(Json::array());
  EXPECT_THAT(hook({"chmod", "--mode", "755"}).output, HasSubstr("not a JSON object"));
}

TEST_F(HookTest, MakesReplacesAndKeepsLinks) {
  folder_.file("root/usr/lib/libcuda.so", "an old copy");
  folder_.link("root/usr/lib/libnvidia-ml.so", "elsewhere");
  const std::vector<std::string> words{"create-symlinks", "--link=libcuda.so.1::/usr/lib/libcuda.so", "--link",
                                       "libnvidia-ml.so.1::/usr/lib/libnvidia-ml.so"};
  ASSERT_EQ(hook(words).status, 0);
  EXPECT_EQ(fs::read_symlink(in("usr/lib/libcuda.so")), "libcuda.so.1");
  EXPECT_EQ(fs::read_symlink(in("usr/lib/libnvidia-ml.so")), "libnvidia-ml.so.1");
  const auto before = fs::last_write_time(in("usr/lib"));
  ASSERT_EQ(hook(words).status, 0);
  EXPECT_EQ(fs::last_write_time(in("usr/lib")), before);
  folder_.directory("root/usr/lib/libfolder.so/full");
  EXPECT_EQ(hook({"create-symlinks", "--link", "x::/usr/lib/libfolder.so"}).status, 1);
}

TEST_F(HookTest, NoLinkOfTheRootLeadsAHookOut) {
  const std::string host = folder_.at("host").string();
  for (const std::string& out : {host, std::string("../../../../../../../../") + host, std::string("../host")}) {
    fs::remove_all(in("usr"));
    folder_.directory("root/usr");
    folder_.link("root/usr/lib", out);
    hook({"create-symlinks", "--link", "x::/usr/lib/secret"});
    hook({"create-symlinks", "--link", "x::/usr/lib/../../../../../../../../../.." + host + "/secret"});
    hook({"chmod", "--mode", "777", "--path", "/usr/lib/secret"});
    EXPECT_EQ(text_of(folder_.at("host/secret")), "untouched\n") << out;
    EXPECT_FALSE(fs::is_symlink(folder_.at("host/secret")));
    EXPECT_EQ(fs::status(folder_.at("host/secret")).permissions() & fs::perms::others_write, fs::perms::none);
  }
}

// Hooks run as root of the host for any container user: before the fix, a link of the image made them write into a
// volume.
TEST_F(HookTest, NoLinkOfTheRootLeadsAHookIntoAVolume) {
  NEEDS_ROOT();
  libraries();
  folder_.file("host/libcuda.so", "the volume's\n");
  folder_.directory("root/data");
  folder_.directory("root/usr");
  folder_.link("root/usr/lib", "/data");
  folder_.link("root/etc/ld.so.conf.d", "/data/conf");
  folder_.directory("host/conf");
  const auto with_volume = [this](const fs::path& root) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(folder_.at("host").c_str(), (root / "data").c_str(), nullptr, MS_BIND, nullptr) != 0)
      ::_exit(125);
  };
  const Ran links = hook({"create-symlinks", "--link", "libcuda.so.1::/usr/lib/libcuda.so", "--link",
                          "x::/data/new/deep/link", "--link", "y::/opt/own"},
                         with_volume);
  EXPECT_EQ(links.status, 0) << links.output;
  EXPECT_THAT(links.output, ::testing::HasSubstr("/usr/lib is in a volume of the container"));
  EXPECT_EQ(fs::read_symlink(in("opt/own")), "y");
  EXPECT_EQ(hook({"chmod", "--mode", "777", "--path", "/usr/lib/libcuda.so"}, with_volume).status, 0);
  const Ran cache = hook({"update-ldcache", "--folder", "/opt/nvidia"}, with_volume);
  EXPECT_EQ(cache.status, 0) << cache.output;
  EXPECT_EQ(text_of(folder_.at("host/libcuda.so")), "the volume's\n");
  EXPECT_EQ(fs::status(folder_.at("host/libcuda.so")).permissions() & fs::perms::others_write, fs::perms::none);
  EXPECT_TRUE(fs::is_empty(folder_.at("host/conf")));
  EXPECT_FALSE(fs::exists(folder_.at("host/new")));
}

constexpr const char* kStopped = "--- stopped by SIGSTOP ---";

/// Waits until strace reports a stopped process, does something, and continues the process.
[[noreturn]] void act_while_stopped(const fs::path& calls, const std::function<void()>& what) {
  for (;; ::usleep(2'000)) {
    std::ifstream lines(calls);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(kStopped) == std::string::npos) continue;
      what();
      ::kill(std::stoi(line), SIGCONT);
      ::_exit(0);
    }
  }
}

class HookRace : public HookTest {
 protected:
  /// Makes the path lead to the container's own root, or to the volume.
  void lead_to(const std::string& place) const {
    fs::remove(in("new-way"));
    fs::create_symlink(place, in("new-way"));
    fs::rename(in("new-way"), in("way"));
  }
  std::string volume() const {
    std::string names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.at("host")))
      names += entry.path().string() + " " +
               std::to_string(static_cast<unsigned>(entry.symlink_status().permissions())) + "\n";
    return names;
  }
  /// Runs the hook; after that many calls of openat2(2) it is stopped until the path leads elsewhere.
  /// @return true when it made that many
  bool run(const std::vector<std::string>& words, int call, const std::string& first, const std::string& then) {
    lead_to(first);
    const fs::path calls = folder_.at("calls");
    fs::remove(calls);
    runner_ = {"strace", "-f",
               "-o",     calls.string(),
               "-e",     "trace=openat2",
               "-e",     "inject=openat2:signal=STOP:when=" + std::to_string(call)};
    const pid_t other = ::fork();
    if (other == 0) act_while_stopped(calls, [&] { lead_to(then); });
    const Ran ran = hook(words, [this](const fs::path& root) {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount(folder_.at("host").c_str(), (root / "data").c_str(), nullptr, MS_BIND, nullptr) != 0)
        ::_exit(125);
    });
    EXPECT_NE(ran.status, 125);
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    return text_of(calls).find(kStopped) != std::string::npos;
  }
};

// Another container may replace a link in a shared volume between a hook's check of the path and its change: before the
// fix, a mode was changed, and links, folders and files were created, in the other volume.
TEST_F(HookRace, NothingIsDoneInAVolumeWhenThePathIsReplaced) {
  NEEDS_ROOT();
  if (std::system("strace true 2> /dev/null") != 0) GTEST_SKIP() << "strace does not work here";
  folder_.file("host/libcuda.so", "the volume's\n");
  folder_.directory("root/data");
  folder_.link("root/etc/nvidia", "/way");
  folder_.directory("root/dev");
  ASSERT_EQ(::mknod(in("dev/nvidia0").c_str(), S_IFCHR | 0600, makedev(195, 0)), 0);
  const std::string untouched = volume();
  const std::vector<std::string> hooks[] = {
      {"chmod", "--mode", "777", "--path", "/way/libcuda.so"},
      {"create-symlinks", "--link", "libcuda.so.1::/way/new/libcuda.so"},
      {"create-symlinks", "--link", "libcuda.so.1::/way/libcuda.so"},
      {"update-application-profile"},
  };
  for (const std::vector<std::string>& words : hooks)
    for (const auto& [first, then] : {std::pair("/own", "/data"), std::pair("/data", "/own")}) {
      int call = 1;
      for (bool stopped = true; stopped; ++call) {
        fs::remove_all(in("own"));
        folder_.file("root/own/libcuda.so", "the container's\n");
        stopped = run(words, call, first, then);
        ASSERT_EQ(volume(), untouched) << words[0] << ", call " << call << " of openat2(2), from " << first << "\n"
                                       << text_of(folder_.at("calls"));
        ASSERT_LT(call, 100);
      }
      EXPECT_GT(call, 2) << words[0] << " was never stopped: " << text_of(folder_.at("calls"));
    }
}

// Before the fix, ldconfig created links of sonames, and its auxiliary cache, wherever the image's configuration led
// it.
TEST_F(HookTest, LdconfigMakesNothingInAVolume) {
  NEEDS_ROOT();
  libraries();
  folder_.file("root/etc/ld.so.conf", "/data\n");
  for (const char* folder : {"root/data", "root/var/cache/ldconfig", "host/auxiliary"}) folder_.directory(folder);
  fs::copy_file(SLIPWAY_ANY_LIBRARY, folder_.at("host/libany.so.1.2.3"));
  const auto mounts = [this](const fs::path& root) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(folder_.at("host").c_str(), (root / "data").c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(folder_.at("host/auxiliary").c_str(), (root / "var/cache/ldconfig").c_str(), nullptr, MS_BIND,
                nullptr) != 0)
      ::_exit(125);
  };
  const auto names_in_host = [this] {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.at("host")))
      names.insert(entry.path().filename().string());
    return names;
  };
  const std::set<std::string> before = names_in_host();
  const Ran ran = hook({"update-ldcache", "--folder", "/opt/nvidia"}, mounts);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(names_in_host(), before);
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/opt/nvidia/"));
  const auto links_in = [](const fs::path& folder) {
    int links = 0;
    for (const auto& entry : fs::directory_iterator(folder)) links += entry.is_symlink() ? 1 : 0;
    return links;
  };
  EXPECT_GT(links_in(in("opt/nvidia")), 0) << "in the container's own root it makes them";
}

TEST_F(HookTest, ChangesTheModeOfExistingFiles) {
  folder_.directory("root/dev/dri");
  fs::permissions(in("dev/dri"), fs::perms::owner_all);
  EXPECT_EQ(hook({"chmod", "--mode", "755", "--path", "/dev/dri", "--path", "/dev/nvidia-caps"}).status, 0);
  EXPECT_EQ(static_cast<unsigned>(fs::status(in("dev/dri")).permissions()), 0755U);
  EXPECT_EQ(hook({"chmod", "--mode", "4755", "--path", "/dev/dri"}).status, 1);
}

TEST_F(HookTest, TheLinkersCacheKnowsTheFolders) {
  NEEDS_ROOT();
  libraries();
  const Ran ran = hook({"update-ldcache", "--folder", "/opt/nvidia"});
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/opt/nvidia/"));
  EXPECT_EQ(text_of(in("etc/ld.so.conf.d/00-slipway.conf")), "/opt/nvidia\n");
  ASSERT_EQ(hook({"update-ldcache", "--folder", "/opt/nvidia"}).status, 0) << "again, as after a restart";
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/opt/nvidia/"));
}

// Before the fix, a container on an H200 had the driver's libraries, but libcuda found none of them.
TEST_F(HookTest, TheLinkersCacheKnowsTheFoldersThoughTheImageIncludesNoOtherFiles) {
  NEEDS_ROOT();
  libraries();
  folder_.file("root/etc/ld.so.conf", "/lib/of-the-image\n");
  folder_.file("root/etc/ld.so.conf.d/00-compat-slipway.conf", "/usr/local/cuda/compat\n");
  folder_.directory("root/usr/local/cuda/compat");
  fs::copy_file(SLIPWAY_ANY_LIBRARY, in("usr/local/cuda/compat/libcuda.so.1"));
  const Ran ran = hook({"update-ldcache", "--folder", "/opt/nvidia"});
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/opt/nvidia/"));
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/usr/local/cuda/compat/"));
  EXPECT_EQ(text_of(in("etc/ld.so.conf")), "/lib/of-the-image\n");
}

TEST_F(HookTest, FoldersThatTheLinkerKnowsKeepTheirPlace) {
  NEEDS_ROOT();
  libraries();
  folder_.file("root/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  folder_.file("root/etc/ld.so.conf.d/image.conf", "# of the image\n/opt/nvidia\n");
  ASSERT_EQ(hook({"update-ldcache", "--folder", "/opt/nvidia", "--folder", "/usr/lib/x86_64-linux-gnu"}).status, 0);
  EXPECT_FALSE(fs::exists(in("etc/ld.so.conf.d/00-slipway.conf")));
  EXPECT_THAT(text_of(in("etc/ld.so.cache")), HasSubstr("/opt/nvidia/"));
}

TEST_F(HookTest, MuslsLinkerIsConfiguredAsWell) {
  NEEDS_ROOT();
  libraries();
  folder_.file("root/etc/alpine-release", "3.20\n");
  for (int i = 0; i < 2; ++i) ASSERT_EQ(hook({"update-ldcache", "--folder", "/opt/nvidia"}).status, 0);
  for (const auto& entry : fs::directory_iterator(in("etc"))) {
    if (!entry.path().filename().string().starts_with("ld-musl-")) continue;
    const std::string text = text_of(entry.path());
    EXPECT_THAT(text, HasSubstr("/opt/nvidia\n"));
    EXPECT_EQ(text.find("/opt/nvidia"), text.rfind("/opt/nvidia"));
    return;
  }
  ADD_FAILURE() << "no musl path file";
}

TEST_F(HookTest, AFifoInTheLinkersConfigurationIsRefusedAtOnce) {
  NEEDS_ROOT();
  libraries();
  folder_.directory("root/etc/ld.so.conf.d");
  ASSERT_EQ(::mkfifo(in("etc/ld.so.conf.d/trap.conf").c_str(), 0644), 0);
  const auto begin = std::chrono::steady_clock::now();
  const Ran ran = hook({"update-ldcache", "--folder", "/opt/nvidia"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("/etc/ld.so.conf.d/trap.conf"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(HookTest, LinksInTheLinkersConfigurationWriteNothingOutside) {
  NEEDS_ROOT();
  libraries();
  const std::string host = folder_.at("host").string();
  folder_.link("root/etc/ld.so.cache", host + "/secret");
  folder_.link("root/etc/ld.so.conf", host + "/secret");
  folder_.link("root/etc/ld.so.conf.d", host);
  const auto before = fs::last_write_time(folder_.at("host"));
  hook({"update-ldcache", "--folder", "/opt/nvidia"});
  EXPECT_EQ(text_of(folder_.at("host/secret")), "untouched\n");
  EXPECT_EQ(fs::last_write_time(folder_.at("host")), before);
}

TEST_F(HookTest, AReadOnlyRootIsNamedAsTheCause) {
  NEEDS_ROOT();
  libraries();
  const Ran ran = hook({"update-ldcache", "--folder", "/opt/nvidia"}, [](const fs::path& root) {
    ::unshare(CLONE_NEWNS);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    ::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr);
    ::mount(nullptr, root.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr);
  });
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("Read-only"));
  EXPECT_THAT(ran.output, HasSubstr("without hooks"));
}

TEST_F(HookTest, AFolderWithVeryManyFilesIsHandled) {
  NEEDS_ROOT();
  libraries();
  folder_.directory("root/usr/local/cuda/compat");
  for (int i = 0; i < 20'000; ++i) std::ofstream(in("usr/local/cuda/compat/libcuda.so.1." + std::to_string(i)));
  const Ran ran = hook({"enable-cuda-compat", "--host-driver-version", "535.261.03"});
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_FALSE(fs::exists(in("etc/ld.so.conf.d")));
}

TEST_F(HookTest, AnOlderDriverUsesTheImagesCudaByDefault) {
  folder_.file("root/usr/local/cuda/compat/libcuda.so.550.54.15", "no ELF file");
  ASSERT_EQ(hook({"enable-cuda-compat", "--host-driver-version", "535.261.03"}).status, 0);
  EXPECT_FALSE(fs::exists(in("etc/ld.so.conf.d"))) << "what cannot be read is not used";
  fs::copy_file(SLIPWAY_ANY_LIBRARY, in("usr/local/cuda/compat/libcuda.so.550.54.15"),
                fs::copy_options::overwrite_existing);
  ASSERT_EQ(hook({"enable-cuda-compat", "--host-driver-version", "550.90.07"}).status, 0);
  EXPECT_FALSE(fs::exists(in("etc/ld.so.conf.d"))) << "the host is not of an older major";
  ASSERT_EQ(hook({"enable-cuda-compat", "--host-driver-version", "535.261.03"}).status, 0);
  EXPECT_EQ(text_of(in("etc/ld.so.conf.d/00-compat-slipway.conf")), "/usr/local/cuda/compat\n");
}

TEST_F(HookTest, EglGetsTheGpusOfTheContainer) {
  NEEDS_ROOT();
  folder_.directory("root/dev");
  ASSERT_EQ(hook({"update-application-profile"}).status, 0);
  EXPECT_FALSE(fs::exists(in("etc/nvidia")));
  if (::mknod(in("dev/nvidia0").c_str(), S_IFCHR | 0666, makedev(195, 0)) != 0) GTEST_SKIP() << "no device nodes here";
  ASSERT_EQ(::mknod(in("dev/nvidia3").c_str(), S_IFCHR | 0666, makedev(195, 3)), 0);
  ASSERT_EQ(::mknod(in("dev/nvidiactl").c_str(), S_IFCHR | 0666, makedev(195, 255)), 0);
  ASSERT_EQ(hook({"update-application-profile"}).status, 0);
  EXPECT_THAT(text_of(in("etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf")),
              HasSubstr("\"EGLVisibleDGPUDevices\", 0x9]"));
}

TEST_F(HookTest, IsStaticallyLinked) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers need a dynamic program";
#endif
  NEEDS_ROOT();
  fs::copy_file(SLIPWAY_CDI_HOOK, in("hook"));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chroot(folder_.at("root").c_str()) == 0) ::execl("/hook", "hook", "unknown-hook", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace slipway
