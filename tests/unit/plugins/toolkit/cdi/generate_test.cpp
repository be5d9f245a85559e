// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/generate.hpp"

#include <cstdio>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/cdi/text.hpp"
#include "nvidia/ld_cache.hpp"
#include "tests/unit/core/host/open_watch.hpp"
#include "tests/unit/plugins/ld_cache_bytes.hpp"
#include "toolkit/cdi/libraries.hpp"
#include "toolkit/cdi/nodes.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kVersion = "535.261.03";
const std::string kProgram(
    "\x7f"
    "ELF",
    4);  // as far as the code follows them
const std::string kLib = "/usr/lib/x86_64-linux-gnu";

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add_libraries(FakeHost& host, const std::string& folder, const std::string& version) {
  host.file(folder + "/libcuda.so." + version, bytes_of(CUDA_LIBRARY));
  host.link(folder + "/libcuda.so.1", "libcuda.so." + version);
  host.link(folder + "/libcuda.so", "libcuda.so.1");
  host.file(folder + "/libnvidia-ml.so." + version, "no ELF");
}

void add_control_nodes(FakeHost& host) {
  host.device("/dev/nvidiactl", 195, 255).device("/dev/nvidia-uvm", 508, 0).device("/dev/nvidia-uvm-tools", 508, 1);
}

/// Two H100, the second with MIG enabled and one MIG device.
Inventory two_gpus() {
  GpuDevice full{0, "GPU-11111111-2222-3333-4444-555555555555", 0, "0000:18:00.0", false, {}};
  GpuDevice split{1, "GPU-21111111-2222-3333-4444-555555555555", 1, "0000:2a:00.0", true, {}};
  split.mig_devices = {{0, "MIG-66666666-7777-8888-9999-000000000000", 7, 0, false}};
  return {kVersion, {full, split}};
}

class Machine {
 public:
  Machine() {
    host.live("6.1.0-50-amd64");
    add_libraries(host, kLib, kVersion);
    add_control_nodes(host);
    host.device("/dev/nvidia0", 195, 0).device("/dev/nvidia1", 195, 1);
    host.device("/dev/nvidia-caps/nvidia-cap66", 237, 66, 0444).device("/dev/nvidia-caps/nvidia-cap67", 237, 67, 0444);
    host.file("/proc/driver/nvidia-caps/mig-minors",
              "config 1\ngpu1/gi7/access 66\ngpu1/gi7/ci0/access 67\nodd  line\n");
    host.file("/usr/bin/nvidia-smi", kProgram, 0755).file("/lib/firmware/nvidia/" + kVersion + "/gsp_ga10x.bin", "x");
    host.module_loaded_now("nvidia").file("/sys/module/nvidia/version", kVersion + "\n");
  }
  Result<nvidia::cdi::Spec> make() { return generate(options, {host, host, host, "", ""}, inventory, notes); }

  FakeHost host;
  GenerateOptions options;
  Inventory inventory = two_gpus();
  std::vector<std::string> notes;
};

std::vector<std::string> device_names(const nvidia::cdi::Spec& spec) {
  std::vector<std::string> names;
  for (const auto& device : spec.devices) names.push_back(device.name);
  return names;
}

std::vector<std::string> node_paths(const nvidia::cdi::Edits& edits) {
  std::vector<std::string> paths;
  for (const auto& node : edits.device_nodes) paths.push_back(node.path);
  return paths;
}

/// Returns "HOST -> CONTAINER" of each mount.
std::vector<std::string> mounts(const nvidia::cdi::Spec& spec) {
  std::vector<std::string> all;
  for (const auto& mount : spec.edits.mounts) all.push_back(mount.host_path + " -> " + mount.container_path);
  return all;
}

std::string hook_words(const nvidia::cdi::Edits& edits, const std::string& name) {
  std::string text;
  for (const auto& hook : edits.hooks) {
    if (hook.args.at(1) != name) continue;
    for (const auto& word : hook.args) text += word + " ";
  }
  return text;
}

TEST(CdiGenerate, NamesGpusAndMigDevicesByIndexAndUuidAndAllHoldsThemAll) {
  Machine machine;
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_EQ(spec->kind, "nvidia.com/gpu");
  EXPECT_THAT(device_names(*spec), ElementsAre("0", "1:0", "GPU-11111111-2222-3333-4444-555555555555",
                                               "MIG-66666666-7777-8888-9999-000000000000", "all"));
  EXPECT_THAT(node_paths(spec->find("1:0")->edits),
              ElementsAre("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap66", "/dev/nvidia-caps/nvidia-cap67"));
  EXPECT_EQ(spec->find("1:0")->edits.device_nodes[1].file_mode, 0444U);
  EXPECT_EQ(spec->find("all")->edits.device_nodes.size(), 4U);
  EXPECT_THAT(node_paths(spec->edits), ElementsAre("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"));
  EXPECT_TRUE(nvidia::cdi::parse_and_validate(nvidia::cdi::to_yaml(*spec), "spec").ok());
}

TEST(CdiGenerate, NamesByTypeAndSelectsIds) {
  Machine machine;
  machine.options.names = {Naming::type_index};
  machine.options.device_ids = {"1:0"};
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_THAT(device_names(*spec), ElementsAre("all", "mig1:0"));
  machine.options.device_ids = {"9"};
  EXPECT_THAT(to_text(machine.make().error()), HasSubstr("no GPU or MIG device is called '9'"));
  machine.options.device_ids = {"none"};
  EXPECT_THAT(device_names(*machine.make()), ElementsAre("none"));
}

TEST(CdiGenerate, MountsTheDriverAndLinksItsLibrariesByHook) {
  Machine machine;
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const std::string cuda = kLib + "/libcuda.so." + kVersion;
  EXPECT_THAT(mounts(*spec), Contains(cuda + " -> " + cuda));
  EXPECT_THAT(mounts(*spec), Contains("/usr/bin/nvidia-smi -> /usr/bin/nvidia-smi"));
  EXPECT_THAT(mounts(*spec), Contains(HasSubstr("gsp_ga10x.bin -> /lib/firmware/nvidia/" + kVersion)));
  EXPECT_EQ(hook_words(spec->edits, "create-symlinks"),
            "slipway-cdi-hook create-symlinks --link libcuda.so.1::" + kLib + "/libcuda.so --link libcuda.so." +
                kVersion + "::" + kLib + "/libcuda.so.1 ");
  EXPECT_EQ(hook_words(spec->edits, "update-ldcache"), "slipway-cdi-hook update-ldcache --folder " + kLib + " ");
  EXPECT_THAT(spec->edits.env, ElementsAre("NVIDIA_CTK_LIBCUDA_DIR=" + kLib, "NVIDIA_VISIBLE_DEVICES=void"));
}

TEST(CdiGenerate, FindsProgramsBesideTheLibraries) {
  Machine machine;
  const std::string driver = "/usr/local/nvidia";
  machine.host.without(kLib);
  add_libraries(machine.host, driver + "/lib64", kVersion);
  machine.host.file("/etc/ld.so.cache",
                    test::ld_cache_of({driver + "/lib64/libcuda.so.1", driver + "/lib64/libnvidia-ml.so." + kVersion}));
  machine.host.file("/usr/bin/nvidia-smi", "#!/bin/sh\nexec " + driver + "/bin/nvidia-smi \"$@\"\n", 0755);
  machine.host.file(driver + "/bin/nvidia-smi", kProgram, 0755);
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_THAT(mounts(*spec), Contains(driver + "/bin/nvidia-smi -> /usr/bin/nvidia-smi"));
  EXPECT_THAT(machine.notes, ::testing::IsEmpty());
  machine.host.without(driver + "/bin");
  EXPECT_THAT(mounts(*machine.make()), Not(Contains(HasSubstr("nvidia-smi"))));
  EXPECT_THAT(machine.notes, ElementsAre(HasSubstr("containers get no nvidia-smi")));
}

// The files of a driver below /usr/local/nvidia (580.159.04, with an H200): nvidia-ctk links these too.
TEST(CdiGenerate, LinksTheShortNameOfALibraryWhoseSonameHasTheVersion) {
  Machine machine;
  machine.host.file(kLib + "/libnvidia-eglcore.so." + kVersion, "no soname");
  machine.host.link(kLib + "/libnvidia-eglcore.so", "libnvidia-eglcore.so." + kVersion);
  machine.host.file(kLib + "/libnvidia-glcore.so." + kVersion, "no soname, and no link on the host");
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const std::string words = hook_words(spec->edits, "create-symlinks");
  EXPECT_THAT(words, HasSubstr("--link libnvidia-eglcore.so." + kVersion + "::" + kLib + "/libnvidia-eglcore.so "));
  EXPECT_THAT(words, Not(HasSubstr("glcore.so." + kVersion + "::" + kLib + "/libnvidia-glcore.so")));
}

TEST(CdiGenerate, WithoutHooksMountsLibrariesUnderTheNamesThatProgramsLoad) {
  Machine machine;
  machine.options.hooks.disabled = {"all"};
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_TRUE(spec->edits.hooks.empty());
  const std::string cuda = kLib + "/libcuda.so." + kVersion;
  EXPECT_THAT(mounts(*spec), Contains(cuda + " -> " + kLib + "/libcuda.so.1"));
  EXPECT_THAT(mounts(*spec), Contains(cuda + " -> " + kLib + "/libcuda.so"));
}

TEST(CdiGenerate, PutsSlipwaysOwnDriverStoreAtStandardPaths) {
  Machine machine;
  machine.host.without(kLib);
  const std::string store = "/usr/lib/slipway/store/driver";
  add_libraries(machine.host, store + "/abc/userspace" + kLib, kVersion);
  machine.host.link(store + "/current", "abc");
  machine.host.link(kLib + "/libcuda.so.1", store + "/current/userspace" + kLib + "/libcuda.so.1");
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const std::string name = "/libcuda.so." + kVersion;
  EXPECT_THAT(mounts(*spec), Contains(store + "/abc/userspace" + kLib + name + " -> " + kLib + name));
  EXPECT_THAT(hook_words(spec->edits, "create-symlinks"), HasSubstr(kLib + "/libcuda.so.1"));
  EXPECT_EQ(hook_words(spec->edits, "update-ldcache"), "slipway-cdi-hook update-ldcache --folder " + kLib + " ");
}

TEST(CdiGenerate, UsesHostPathsBelowAForeignDriverRoot) {
  Machine machine;
  const auto spec =
      generate(machine.options, {machine.host, machine.host, machine.host, "/run/nvidia/driver", "/run/nvidia/driver"},
               machine.inventory, machine.notes);
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const std::string cuda = kLib + "/libcuda.so." + kVersion;
  EXPECT_THAT(mounts(*spec), Contains("/run/nvidia/driver" + cuda + " -> " + cuda));
  EXPECT_EQ(spec->find("0")->edits.device_nodes[0].host_path, "/run/nvidia/driver/dev/nvidia0");
  EXPECT_EQ(spec->find("0")->edits.device_nodes[0].path, "/dev/nvidia0");
}

TEST(CdiGenerate, RefusesAHalfUpgradedDriverAndMissingNodesWithTheReason) {
  const std::vector<std::pair<std::string, std::function<void(Machine&)>>> cases{
      {"its libraries are " + kVersion + ", the loaded kernel module is 550.1.2",
       [](Machine& m) {
         m.inventory.driver_version = "550.1.2";
         m.host.file("/sys/module/nvidia/version", "550.1.2");
       }},
      {"NVML is of " + kVersion, [](Machine& m) { m.host.file("/sys/module/nvidia/version", "550.1.2"); }},
      {"no libcuda.so." + kVersion, [](Machine& m) { m.host.without(kLib); }},
      {"/dev/nvidia0 of GPU 0 (0000:18:00.0) is missing", [](Machine& m) { m.host.without("/dev/nvidia0"); }},
      {"/dev/nvidia-uvm of the driver", [](Machine& m) { m.host.without("/dev/nvidia-uvm"); }},
      {"/dev/nvidia-modeset", [](Machine& m) { m.host.module_loaded_now("nvidia_modeset"); }},
      {"/dev/nvidia-caps/nvidia-cap67 of GPU 1 (0000:2a:00.0), MIG device 0",
       [](Machine& m) { m.host.without("/dev/nvidia-caps/nvidia-cap67"); }},
      {"no capability gpu1/gi7/access", [](Machine& m) { m.host.file("/proc/driver/nvidia-caps/mig-minors", ""); }},
      {"NVML shows no GPU", [](Machine& m) { m.inventory.gpus.clear(); }},
      {"there is no MIG device yet",
       [](Machine& m) {
         m.inventory.gpus.erase(m.inventory.gpus.begin());
         m.inventory.gpus[0].mig_devices.clear();
       }},
  };
  for (const auto& [expected, spoil] : cases) {
    Machine machine;
    spoil(machine);
    const auto spec = machine.make();
    ASSERT_FALSE(spec.ok()) << expected;
    EXPECT_THAT(to_text(spec.error()), HasSubstr(expected));
  }
}

TEST(CdiGenerate, InjectsDrmNodesWithTheirLinks) {
  Machine machine;
  machine.host.directory("/sys/bus/pci/devices/0000:18:00.0/drm/card1")
      .directory("/sys/bus/pci/devices/0000:18:00.0/drm/renderD128")
      .device("/dev/dri/card1", 226, 1, 0660)
      .device("/dev/dri/renderD128", 226, 128)
      .link("/dev/dri/by-path/pci-0000:18:00.0-card", "../card1");
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_THAT(node_paths(spec->find("0")->edits), ElementsAre("/dev/nvidia0", "/dev/dri/card1", "/dev/dri/renderD128"));
  EXPECT_THAT(hook_words(spec->find("0")->edits, "create-symlinks"),
              HasSubstr("--link ../card1::/dev/dri/by-path/pci-0000:18:00.0-card"));
  EXPECT_THAT(node_paths(spec->find("1:0")->edits), Not(Contains("/dev/dri/card1")));
}

/// A machine whose DRM nodes belong to groups, as udev creates them.
class GroupedHost final : public Host {
 public:
  GroupedHost(const Host& inner, std::map<std::string, std::uint32_t> groups)
      : inner_(inner), groups_(std::move(groups)) {}
  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  std::string arch() const override { return inner_.arch(); }
  Result<std::string> kernel_release() const override { return inner_.kernel_release(); }
  Result<std::string> read(std::string_view path, std::size_t limit) const override { return inner_.read(path, limit); }
  Result<FileInfo> info(std::string_view path) const override {
    auto info = inner_.info(path);
    const auto group = groups_.find(std::string(path));
    if (info && group != groups_.end()) info->gid = group->second;
    return info;
  }
  Result<std::string> read_link(std::string_view path) const override { return inner_.read_link(path); }
  Result<std::string> resolve(std::string_view path) const override { return inner_.resolve(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return inner_.list(path); }
  Status opens(std::string_view path) const override { return inner_.opens(path); }
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override {
    return inner_.run(argv, limit);
  }

 private:
  const Host& inner_;
  std::map<std::string, std::uint32_t> groups_;
};

TEST(CdiGenerate, AddsTheGroupsOfRestrictedNodes) {
  Machine machine;
  machine.host.directory("/sys/bus/pci/devices/0000:18:00.0/drm/card1")
      .directory("/sys/bus/pci/devices/0000:18:00.0/drm/renderD128")
      .device("/dev/dri/card1", 226, 1, 0660)
      .device("/dev/dri/renderD128", 226, 128, 0666);
  const GroupedHost dev(machine.host, {{"/dev/dri/card1", 44}, {"/dev/dri/renderD128", 109}});
  const Roots roots{machine.host, dev, machine.host, "", ""};
  const auto spec = generate(machine.options, roots, machine.inventory, machine.notes);
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const auto& edits = spec->find("0")->edits;
  EXPECT_EQ(edits.additional_gids, std::vector<std::uint32_t>{44}) << "renderD128 is for all";
  EXPECT_EQ(edits.device_nodes[1].gid, 44U);
  EXPECT_EQ(edits.device_nodes[2].gid, 109U);
  EXPECT_EQ(spec->version, "0.7.0");
  machine.options.additional_gids = false;
  EXPECT_TRUE(
      generate(machine.options, roots, machine.inventory, machine.notes)->find("0")->edits.additional_gids.empty());
}

TEST(CdiGenerate, WithoutHooksMountsLibrariesWhereContainersHaveThem) {
  Machine machine;
  machine.host.file(kLib + "/vdpau/libvdpau_nvidia.so." + kVersion, "no ELF");
  machine.options.hooks.disabled = {"all"};
  machine.options.container_library_folder = "/usr/lib64";
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  const std::string cuda = kLib + "/libcuda.so." + kVersion;
  EXPECT_THAT(mounts(*spec), Contains(cuda + " -> /usr/lib64/libcuda.so." + kVersion));
  EXPECT_THAT(mounts(*spec), Contains(cuda + " -> /usr/lib64/libcuda.so.1"));
  EXPECT_THAT(mounts(*spec), Contains(HasSubstr("-> /usr/lib64/vdpau/libvdpau_nvidia.so." + kVersion)));
  EXPECT_THAT(spec->edits.env, Contains("NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64"));
}

TEST(CdiGenerate, IncludesPublicLibrariesOnRequest) {
  Machine machine;
  machine.host.file(kLib + "/libGL.so.1.7.0", "no ELF").link(kLib + "/libGL.so.1", "libGL.so.1.7.0");
  machine.host.file(kLib + "/libGLX_other.so.0", "no ELF");
  const std::string opengl = kLib + "/libGL.so.1.7.0";
  EXPECT_THAT(mounts(*machine.make()), Not(Contains(HasSubstr("libGL"))));
  machine.options.explicit_libraries = true;
  EXPECT_THAT(mounts(*machine.make()), Contains(opengl + " -> " + opengl));
  EXPECT_THAT(mounts(*machine.make()), Not(Contains(HasSubstr("libGLX_other"))));
}

TEST(CdiGenerate, SplitsGpusByWhetherTheirMemoryIsCoherent) {
  Machine machine;
  machine.inventory.gpus[1] = {1, "GPU-21111111-2222-3333-4444-555555555555", 1, "0000:2a:00.0", false, {}};
  machine.inventory.gpus[1].coherent = true;
  EXPECT_TRUE(split_coherent(*machine.make()).empty()) << "nobody asked";
  machine.options.coherent = true;
  machine.options.names = {Naming::index};
  const auto spec = machine.make();
  ASSERT_TRUE(spec.ok()) << to_text(spec.error());
  EXPECT_EQ(spec->find("1")->annotations, (nvidia::cdi::Annotations{{"gpu.nvidia.com/coherent", "true"}}));
  const auto halves = split_coherent(*spec);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0].spec.kind, "nvidia.com/gpu.coherent");
  EXPECT_THAT(device_names(halves[0].spec), ElementsAre("1", "all"));
  EXPECT_EQ(halves[1].spec.kind, "nvidia.com/gpu.noncoherent");
  EXPECT_THAT(device_names(halves[1].spec), ElementsAre("0", "all"));
  for (const CoherentHalf& half : halves) {
    EXPECT_EQ(half.spec.edits, spec->edits);
    EXPECT_TRUE(nvidia::cdi::parse_and_validate(nvidia::cdi::to_yaml(half.spec), "spec").ok());
  }
}

TEST(CdiGenerate, MakesOneSpecForEachInstalledFunction) {
  Machine machine;
  machine.host.device("/dev/infiniband/uverbs0", 231, 192)
      .device("/dev/infiniband/rdma_cm", 10, 58)
      .device("/dev/gdrdrv", 236, 0)
      .device("/dev/nvidia-fs0", 235, 0)
      .device("/dev/nvidia-nvswitch0", 234, 0)
      .device("/dev/nvidia-nvswitchctl", 234, 255)
      .device("/dev/nvidia-caps-imex-channels/channel0", 238, 0)
      .device("/dev/nvidia-caps-imex-channels/channel7", 238, 7)
      .file("/etc/cufile.json", "{}");
  const auto made = [&](Mode mode) {
    machine.options.mode = mode;
    return machine.make().value();
  };
  EXPECT_THAT(node_paths(made(Mode::mofed).find("all")->edits),
              ElementsAre("/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0"));
  EXPECT_EQ(made(Mode::gdrcopy).kind, "nvidia.com/gdrcopy");
  EXPECT_EQ(made(Mode::gds).find("all")->edits.mounts.size(), 1U);
  EXPECT_EQ(node_paths(made(Mode::nvswitch).find("all")->edits).size(), 2U);
  EXPECT_THAT(device_names(made(Mode::imex)), ElementsAre("0", "7"));
  EXPECT_EQ(made(Mode::imex).find("7")->edits.device_nodes[0].host_path, "/dev/nvidia-caps-imex-channels/channel7");
  const auto management = made(Mode::management);
  EXPECT_EQ(management.kind, "management.nvidia.com/gpu");
  EXPECT_THAT(node_paths(management.find("all")->edits), Not(Contains("/dev/nvidia-fs0")));
  EXPECT_THAT(node_paths(management.find("all")->edits), Contains("/dev/nvidia-caps/nvidia-cap66"));
  EXPECT_EQ(hook_words(management.edits, "disable-device-node-modification"), "");
  machine.host.without("/dev/gdrdrv");
  machine.options.mode = Mode::gdrcopy;
  EXPECT_THAT(to_text(machine.make().error()), HasSubstr("no device node for gdrcopy"));
}

// A driver root may be an image: a device node in it would be opened as root.
TEST(Soname, OfOtherTypesOfFilesIsReadWithoutOpening) {
  slipway::testing::FakeHost host;
  std::filesystem::create_directories(host.root().path() / "usr/lib64");
  std::filesystem::copy_file(CUDA_LIBRARY, host.root().path() / "usr/lib64/libcuda.so");
  const std::string pipe = host.root().path() / "usr/lib64/libnvcuvid.so";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0644), 0);
  const test::OpenWatch watch(pipe);
  EXPECT_EQ(read_soname(host, "/usr/lib64/libcuda.so"), "libcuda.so.1");
  EXPECT_EQ(read_soname(host, "/usr/lib64/libnvcuvid.so"), "");
  EXPECT_FALSE(watch.opened());
}

TEST(LdCache, EqualsTheOutputOfLdconfig) {
  const std::string bytes = bytes_of("/etc/ld.so.cache");
  if (bytes.empty()) GTEST_SKIP() << "this machine has no ld.so.cache";
  const auto paths = nvidia::parse_ld_cache(bytes, "x86_64");
  ASSERT_TRUE(paths.ok()) << to_text(paths.error());
  std::vector<std::string> printed;
  FILE* pipe = ::popen("PATH=/sbin:/usr/sbin:$PATH ldconfig -p | sed -n 's/.*(libc6,x86-64[^)]*) => //p'", "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr)
    printed.push_back(std::string(line.data()).substr(0, std::string(line.data()).find('\n')));
  ::pclose(pipe);
  EXPECT_EQ(*paths, printed);
  EXPECT_FALSE(nvidia::parse_ld_cache(bytes.substr(0, 60), "x86_64").ok());
}

// Before the fix, one megabyte of input became eleven gigabytes.
TEST(LdCache, WhoseEntriesShareAPathIsRefused) {
  const std::string path = "/usr/lib/libcuda.so.1" + std::string(100, 'x');
  const std::vector<std::string> paths(3, path);
  const auto good = nvidia::parse_ld_cache(test::ld_cache_of(paths), "x86_64");
  ASSERT_TRUE(good.ok()) << to_text(good.error());
  EXPECT_EQ(*good, paths);
  EXPECT_FALSE(nvidia::parse_ld_cache(test::ld_cache_of(paths, true), "x86_64").ok());
}

// A driver in a folder that only the configuration of the dynamic linker names.
TEST(LibrarySearch, FollowsMatchingEntriesOfTheLinkersCache) {
  slipway::testing::FakeHost host;
  host.file("/opt/driver/libcuda.so.535.261.03", "x").link("/opt/driver/libcuda.so.1", "libcuda.so.535.261.03");
  host.file("/opt/other/libother.so.535.261.03", "x").link("/opt/other/libcuda.so", "libother.so.535.261.03");
  host.link("/opt/other/libaside.so.1", "/opt/driver/libcuda.so.535.261.03");
  host.file("/etc/ld.so.cache",
            test::ld_cache_of({"/opt/other/libaside.so.1", "/opt/driver/libcuda.so.1", "/opt/other/libcuda.so"}));
  LibrarySearch search(host, {});
  for (int i = 0; i < 2; ++i) {
    const auto found = search.find("libcuda.so.*.*");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().path, "/opt/driver/libcuda.so.535.261.03");
    EXPECT_EQ(found.front().real, "/opt/driver/libcuda.so.535.261.03");
  }
  EXPECT_EQ(search.find("libcuda.so*").front().path, "/opt/driver/libcuda.so.1");
  // A usual folder, under any of its names, comes before the cache, and only once.
  host.file("/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07", "x").link("/lib", "usr/lib");
  const auto usual = LibrarySearch(host, {}).find("libcuda.so.*.*");
  ASSERT_EQ(usual.size(), 1U);
  EXPECT_EQ(usual.front().path, "/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07");
}

TEST(MigMinors, AreTakenFromLinesOfTheKnownFormOnly) {
  const auto minors = parse_mig_minors("config 1\nmonitor 2\ngpu0/gi1/ci0/access 5\ngpu0/gi1/access  9\nx\n");
  EXPECT_THAT(minors, ElementsAre(::testing::Pair("config", 1U), ::testing::Pair("gpu0/gi1/ci0/access", 5U),
                                  ::testing::Pair("monitor", 2U)));
}

}  // namespace
}  // namespace slipway::toolkit
