// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "base/command_line/read_words.hpp"
#include "gfd/labels/config.hpp"
#include "gfd/labels/label_value.hpp"
#include "gfd/labels/vgpu.hpp"
#include "gfd/service.hpp"
#include "gfd/tool_options.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::gfd {
namespace {

TEST(LabelValues, AreMadeOfNamesAsUpstreamDoes) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"some(thing)else", "somethingelse"},
      {"some ( thing )else", "some-thing-else"},
      {"NVIDIA-TITAN-X-(Pascal)", "NVIDIA-TITAN-X-Pascal"},
      {" input  with multiple   spaces   ", "input-with-multiple-spaces"},
      {"some [ / thing / ]else", "some-thing-else"},
      {"some, / thing /else", "some-thing-else"},
      {"Standard PC (Q35 + ICH9, 2009)", "Standard-PC-Q35-ICH9-2009"},
      {"tab\tbed", "tabbed"}};
  for (const auto& [text, value] : table) EXPECT_EQ(sanitised(text), value) << text;
}

TEST(LabelValues, KeepTheirEndingsWhenTheyAreTooLong) {
  EXPECT_EQ(fitted("To-be-filled-by-O.E.M.", ""), "To-be-filled-by-O.E.M");
  EXPECT_EQ(fitted("-7X06CTO1WW-", ""), "7X06CTO1WW");
  const std::string value = fitted("NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "-MIG-1g.24gb");
  EXPECT_LE(value.size(), kMaxValue);
  EXPECT_TRUE(value.ends_with("-MIG-1g.24gb"));
  EXPECT_TRUE(valid_value(value));
}

// A property: for any input, a fitted value is one that Kubernetes accepts.
TEST(LabelValues, AreValidForAnyName) {
  std::mt19937 random(63);
  for (int i = 0; i < 5000; ++i) {
    std::string name(random() % 120, ' ');
    for (char& c : name) c = static_cast<char>(random() % 256);
    EXPECT_TRUE(valid_value(fitted(sanitised(name), "")));
    const std::string front = fitted(sanitised(name), "-MIG-1g.10gb");
    EXPECT_TRUE(valid_value(front) || sanitised(name).find_first_of("abcXYZ0189") == std::string::npos) << front;
  }
}

TEST(LabelValues, ThatAreInvalidAreDropped) {
  Labels labels{{"nvidia.com/good", "yes"}, {"nvidia.com/bad", "-1"}, {"bad key", "x"}, {"nvidia.com/empty", ""}};
  EXPECT_EQ(drop_invalid(labels), "bad key=x, nvidia.com/bad=-1");
  EXPECT_EQ(to_lines(labels), "nvidia.com/empty=\nnvidia.com/good=yes\n");
}

TEST(MigNames, GiveTheMemoryAsNvidiaCountsIt) {
  const std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> table{
      {40960, 4864, "5gb"},    {40960, 9856, "10gb"},   {40960, 19968, "20gb"},  {81559, 9984, "10gb"},
      {81559, 20096, "20gb"},  {143771, 16384, "18gb"}, {143771, 33024, "35gb"}, {143771, 71168, "71gb"},
      {183359, 20992, "23gb"}, {95830, 11008, "12gb"},  {95830, 47493, "47gb"},  {0, 100, "0gb"}};
  for (const auto& [total, part, name] : table)
    EXPECT_EQ(nvidia::nvml::memory_part(part, total << 20U), name) << total << " " << part;
}

ConfigSpace space_of(std::string bytes) {
  return [bytes = std::move(bytes)](std::uint32_t at, std::uint32_t size_bytes) {
    return Result<std::string>(at < bytes.size() ? bytes.substr(at, size_bytes) : std::string());
  };
}

std::string space_with(const std::string& capability) {
  std::string space(256, '\0');
  space[0x06] = 0x10;
  space[0x34] = 0x40;
  return space.replace(0x40, capability.size(), capability);
}

TEST(Vgpu, IsKnownByItsVendorCapability) {
  const std::string record{
      "\x09\x68\x1b\x56\x46\x00\x16"
      "460.16\0\0\0\0"
      "r460_00\0\0\0",
      27};
  const auto found = read_vgpu_record(space_of(space_with(record)));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->driver_version, "460.16");
  EXPECT_EQ((*found)->driver_branch, "r460_00");
  EXPECT_FALSE(
      read_vgpu_record(space_of(space_with(std::string("\x09\x68\x14\0\0", 5))))->has_value());  // passed through
  EXPECT_FALSE(read_vgpu_record(space_of(std::string(256, '\0')))->has_value());
}

// Upstream loops on a record of length 0, and reads beyond the end of a truncated one.
TEST(Vgpu, RecordsThatAreBrokenEndTheReading) {
  EXPECT_FALSE(read_vgpu_record(space_of(space_with(std::string("\x09\x00\x10VF\x01\x00", 7)))).ok());
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    std::string space(random() % 300, '\0');
    for (char& c : space) c = static_cast<char>(random());
    if (space.size() > 0x40) space = space_with(space.substr(0, 27)).substr(0, space.size());
    (void)read_vgpu_record(space_of(space)).ok();
  }
}

/// Counts the bytes that are read from configuration spaces.
class CountingHost final : public Host {
 public:
  explicit CountingHost(const Host& inner) : inner_(inner) {}
  mutable std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;  ///< first byte, and one past the last
  mutable unsigned whole = 0;

  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  std::string arch() const override { return inner_.arch(); }
  Result<std::string> kernel_release() const override { return inner_.kernel_release(); }
  Result<std::string> read(std::string_view path, std::size_t limit) const override {
    whole += path.ends_with("/config") ? 1U : 0U;
    return inner_.read(path, limit);
  }
  Result<std::string> read_part(std::string_view path, std::uint32_t offset, std::uint32_t size) const override {
    parts.emplace_back(offset, offset + size);
    return inner_.read_part(path, offset, size);
  }
  Result<FileInfo> info(std::string_view path) const override { return inner_.info(path); }
  Result<std::string> read_link(std::string_view path) const override { return inner_.read_link(path); }
  Result<std::string> resolve(std::string_view path) const override { return inner_.resolve(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return inner_.list(path); }
  Status opens(std::string_view path) const override { return inner_.opens(path); }
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override {
    return inner_.run(argv, limit);
  }

 private:
  const Host& inner_;
};

// Before the fix, all 4,096 bytes of each function were read: 25 ms for each GPU of a virtual machine, half of the time
// for the labels.
TEST(Vgpu, IsReadFromAFewWordsOfTheConfigurationSpace) {
  slipway::testing::FakeHost machine;
  const auto add = [&machine](const std::string& address, std::uint32_t device_class, const std::string& space) {
    machine.pci({.address = address, .vendor = 0x10de, .device_class = device_class});
    machine.file("/sys/bus/pci/devices/" + address + "/config", space + std::string(4096 - space.size(), '\0'));
  };
  std::string physical =
      space_with(std::string("\x01\x68\x23\0", 4));  // power management, then PCI Express, then the end
  physical.replace(0x68, 4, std::string("\x10\0\x02\0", 4));
  add("0000:18:00.0", 0x030200, physical);
  add("0000:2a:00.0", 0x068000, physical);  // an NVSwitch
  const CountingHost counting(machine);
  const auto none = find_vgpu(counting);
  ASSERT_TRUE(none.ok()) << to_text(none.error());
  EXPECT_FALSE(none->has_value());
  EXPECT_EQ(counting.whole, 0U);
  EXPECT_THAT(counting.parts, ::testing::ElementsAre(std::pair(4U, 8U), std::pair(0x34U, 0x38U),
                                                     std::pair(0x40U, 0x44U), std::pair(0x68U, 0x6cU)));
  add("0000:3a:00.0", 0x030000,
      space_with({"\x09\x68\x1b\x56\x46\x00\x16"
                  "460.16\0\0\0\0"
                  "r460_00\0\0\0",
                  27}));
  const auto found = find_vgpu(counting);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->driver_version, "460.16");
  for (const auto& [first, behind] : counting.parts) EXPECT_LE(behind, kConfigSpaceBytes);
}

TEST(Vgpu, IsUnknownWhereOnlyTheHeaderMayBeRead) {
  slipway::testing::FakeHost machine;
  machine.pci({.address = "0000:18:00.0", .vendor = 0x10de, .device_class = 0x030200});
  machine.file("/sys/bus/pci/devices/0000:18:00.0/config", space_with("\x01").substr(0, 64));
  const auto told = find_vgpu(machine);
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().code, ErrorCode::denied);
  EXPECT_EQ(told.error().where, "/sys/bus/pci/devices/0000:18:00.0/config");
}

TEST(FeatureFile, IsWrittenWholeAndOnlyWhenItChanges) {
  const slipway::testing::TempDir root;
  const std::string path = root.at("features.d/gfd").string();
  const auto replace = [&](const std::string& text) {
    const auto done = write_feature_file(*RootDir::open(root.string()), "/features.d/gfd", text);
    EXPECT_TRUE(done.ok()) << to_text(done.error());
    return done.value_or(false);
  };
  EXPECT_TRUE(replace("a=1\n"));
  struct stat first {};
  ASSERT_EQ(stat(path.c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 0777U, 0644U);
  EXPECT_FALSE(replace("a=1\n"));
  struct stat second {};
  ASSERT_EQ(stat(path.c_str(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  EXPECT_TRUE(replace("a=2\n"));
  unsigned files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root.path())) files += entry.is_regular_file();
  EXPECT_EQ(files, 1U);  // no temporary file remains
}

// Pods have that folder mounted: before the fix, a pipe of a pod blocked the service forever.
TEST(FeatureFile, TakesThePlaceOfAPipe) {
  const slipway::testing::TempDir root;
  root.directory("features.d");
  const std::string path = root.at("features.d/gfd").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0644), 0);
  EXPECT_TRUE(write_feature_file(*RootDir::open(root.string()), "/features.d/gfd", "a=1\n").value_or(false));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST(FeatureFile, StaysInsideItsRootWithAnyLinks) {
  const slipway::testing::TempDir machine;
  machine.directory("outside");
  machine.link("root/etc/features.d", machine.at("outside").string());
  const auto done = write_feature_file(*RootDir::open(machine.at("root")), "/etc/features.d/gfd", "a=1\n");
  EXPECT_TRUE(std::filesystem::is_empty(machine.at("outside"))) << "written outside of the root";
  machine.directory("root" + machine.at("outside").string());
  EXPECT_TRUE(write_feature_file(*RootDir::open(machine.at("root")), "/etc/features.d/gfd", "a=1\n").value_or(false));
  EXPECT_TRUE(std::filesystem::exists(machine.at("root" + machine.at("outside/gfd").string())));
  EXPECT_FALSE(done.ok()) << "the link led to nothing in the root";
}

TEST(FeatureFile, SaysWhereItCannotBeWritten) {
  const slipway::testing::TempDir root;
  root.file("features.d", "not a folder");
  const auto done = write_feature_file(*RootDir::open(root.string()), "/features.d/gfd", "a=1\n");
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().where, ::testing::HasSubstr("features.d"));
}

/// Returns the contents of a config file, or the reason for its refusal.
Result<Config> config_from(const std::string& yaml) {
  SLIPWAY_TRY(file, nvidia::config::node_from_yaml(yaml, "config.yaml"));
  Config config;
  SLIPWAY_CHECK(take_upstream_config(file, config));
  return config;
}

TEST(GfdConfig, TakesTheDevicePluginsFile) {
  const auto config = config_from(R"(
version: v1
flags: {migStrategy: mixed, gfd: {oneshot: false, noTimestamp: true, sleepInterval: 90s}}
resources: {gpus: []}
sharing:
  timeSlicing:
    renameByDefault: true
    resources:
    - {name: gpu, replicas: 4}
)");
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_EQ(config->mig_strategy, MigStrategy::mixed);
  EXPECT_FALSE(config->timestamp);
  EXPECT_EQ(config->interval, std::chrono::seconds(90));
  EXPECT_EQ(config->sharing.resources.at(0).name, "nvidia.com/gpu");
  EXPECT_EQ(config->sharing.resources.at(0).replicas, 4U);
  EXPECT_TRUE(config->sharing.rename_by_default);
  EXPECT_THAT(config->warnings, ::testing::IsEmpty());
}

// Before the fix, gfd had its own reader, which refused configs that the device plugin accepted.
TEST(GfdConfig, TakesTheShortFormsAndUpstreamsDump) {
  const auto brief = config_from("sharing: {timeSlicing: {replicas: 4}}\nmig: {strategy: mixed}");
  ASSERT_TRUE(brief) << to_text(brief.error());
  EXPECT_EQ(brief->mig_strategy, MigStrategy::mixed);
  EXPECT_EQ(brief->sharing.resources.at(0).replicas, 4U);
  const auto dump = config_from("version: v1\nsharing: {timeSlicing: {}}");
  ASSERT_TRUE(dump) << to_text(dump.error());
  EXPECT_EQ(dump->sharing.kind, nvidia::config::SharingKind::none);
}

TEST(GfdConfig, RefusesTheSameAsTheDevicePlugin) {
  for (const char* text : {"version: v2", "flags: {migStrategy: both}", "a: [", "[1, 2]",
                           "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}",
                           "sharing: {mps: {replicas: 2}}\nflags: {migStrategy: mixed}",
                           "sharing: {mps: {resources: [{name:, replicas: 2}]}}", "version: \x8a",
                           "sharing: {mps: {resources: [{name: [a], replicas: 2}]}}",
                           "sharing: {mps: {resources: [{name: gpu, replicas: 4294967296}]}}",
                           "flags: {gfd: {sleepInterval: nans}}", "flags: {gfd: {sleepInterval: infs}}"})
    EXPECT_FALSE(config_from(text)) << text;
  EXPECT_EQ(config_from("flags: {gfd: {sleepInterval: -5}}")->interval, std::chrono::seconds(1));
}

TEST(GfdConfig, NamesTheNearestWordOfAMisspeltOne) {
  const auto refused = config_from("sharing:\n  timeSlicng: {replicas: 4}\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "config.yaml:2:3");
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("'timeSlicing'"));
  EXPECT_THAT(config_from("flags: {gfd: {noTimestmp: true}}")->warnings,
              ::testing::ElementsAre(::testing::HasSubstr("'noTimestamp'")));
}

TEST(GfdConfig, ReadsIntervalsAsGoWritesThem) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*parse_interval("1m30s", ""), milliseconds(90000));
  EXPECT_EQ(*parse_interval("1.5h", ""), milliseconds(5400000));
  EXPECT_EQ(*parse_interval("0s", ""), milliseconds(1000));  // upstream spins
  EXPECT_EQ(*parse_interval("infinite", ""), std::nullopt);
  for (const char* bad : {"", "60", "s", "-5s", "5x", "1m2"}) EXPECT_FALSE(parse_interval(bad, "").ok()) << bad;
}

Result<ToolOptions> read_tool_options(const std::string& tool, const std::vector<std::string>& arguments) {
  SLIPWAY_TRY(words, command_line::read_words(tool == "labels" ? labels_line() : devices_line(), arguments));
  return gfd::read_tool_options(words, tool == "labels");
}

TEST(GfdOptions, OfTheCommandLineComeBeforeTheEnvironmentAndTheFile) {
  const slipway::testing::TempDir root;
  root.file("config.yaml", "version: v1\nflags: {migStrategy: single, gfd: {noTimestamp: true}}\n");
  const std::string file = "--config-file=" + root.at("config.yaml").string();
  EXPECT_EQ(read_tool_options("labels", {file})->config.mig_strategy, MigStrategy::single);
  setenv("GFD_MIG_STRATEGY", "mixed", 1);
  EXPECT_EQ(read_tool_options("labels", {file})->config.mig_strategy, MigStrategy::mixed);
  EXPECT_EQ(read_tool_options("labels", {file, "--mig-strategy", "none"})->config.mig_strategy, MigStrategy::none);
  unsetenv("GFD_MIG_STRATEGY");
  EXPECT_FALSE(read_tool_options("labels", {file})->config.timestamp);
  EXPECT_TRUE(read_tool_options("labels", {file, "--no-timestamp=false"})->config.timestamp);
  EXPECT_EQ(read_tool_options("labels", {"--colour"}).error().where, "command line");
  for (const char* useless : {"--mig-strategy=none", "--no-timestamp", "--config-file=a", "--operator-labels"})
    EXPECT_EQ(read_tool_options("devices", {useless}).error().where, "command line") << useless;
  EXPECT_FALSE(read_tool_options("labels", {"--node-name", "a"}).ok());
}

// Before the fix, `-o json` was accepted and printed text, and a relative file was looked up below the root.
TEST(GfdOptions, KnowTheFormsOfOutputAndTheWorkingDirectory) {
  EXPECT_TRUE(read_tool_options("labels", {"-o", "json"})->json);
  EXPECT_EQ(read_tool_options("labels", {"-o", "yaml"}).error().what,
            "-o takes text, json, nodefeature or node-patch, not 'yaml'");
  EXPECT_FALSE(read_tool_options("devices", {"-o", "toml"}).ok());
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(read_tool_options("labels", {"--machine-type-file", "type"})->config.machine_type_file, here + "/type");
  EXPECT_EQ(read_tool_options("labels", {"--driver-root", "../d/."})->config.driver_root,
            std::filesystem::path(here + "/../d/").lexically_normal().string());
}

TEST(GfdConfig, OfAliasesOfAliasesIsRefusedWithItsFileAndLine) {
  // Aliases of aliases: a kilobyte that expands to billions of values, over which the reader once looped without end.
  std::string bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string named = "*a" + std::to_string(i - 1);
    bomb += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + named;
    for (int n = 1; n < 10; ++n) bomb += ", " + named;
    bomb += "]\n";
  }
  const auto read = config_from(bomb);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().where, ::testing::HasSubstr("config.yaml:6:"));
  EXPECT_THAT(read.error().what, ::testing::HasSubstr("more than 200000 values"));
}

}  // namespace
}  // namespace slipway::gfd
