// SPDX-License-Identifier: Apache-2.0
// The users of a GPU: kubelet's list of pods, the folder of jobs, and the labels made from them.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/pods/attribution_watch.hpp"
#include "dcgm/pods/pod_processes.hpp"

namespace slipway::dcgm {
namespace {

using nvidia::kubelet::Allocation;
using nvidia::kubelet::kMostGpuPods;
using nvidia::kubelet::parse_device_id;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

struct Given {
  std::string pod;
  std::string resource;
  std::string id;
};

/// Returns allocations as the reader would, for pods in the namespace "team".
std::vector<Allocation> allocations_of(const std::vector<Given>& all) {
  std::vector<Allocation> allocations;
  for (const Given& given : all)
    allocations.push_back(
        {.pod_namespace = "team", .pod = given.pod, .container = "cuda", .resource = given.resource, .id = given.id});
  return allocations;
}

GpuPods gpu_pods_of(const std::vector<Given>& all, const std::vector<std::string>& more = {}) {
  return nvidia::kubelet::gpu_pods_of(allocations_of(all), more);
}

TEST(DeviceIds, AreReadInTheFormsOfAllDevicePlugins) {
  const std::vector<std::array<std::string, 3>> table{{"GPU-1", "GPU-1", ""},
                                                      {"GPU-1::3", "GPU-1", "3"},
                                                      {"MIG-5e", "MIG-5e", ""},
                                                      {"MIG-5e::12", "MIG-5e", "12"},
                                                      {"MIG-GPU-1/3/0", "GPU-1/3", ""},
                                                      {"nvidia0", "nvidia0", ""},
                                                      {"nvidia0/gi3", "nvidia0/gi3", ""},
                                                      {"nvidia0/gi3/vgpu1", "nvidia0/gi3", "1"},
                                                      {"nvidia0/vgpu1", "nvidia0", "1"}};
  for (const auto& [id, key, replica] : table) {
    EXPECT_EQ(parse_device_id(id).key, key) << id;
    EXPECT_EQ(parse_device_id(id).replica, replica) << id;
  }
}

TEST(GpuPods, AreThoseOfNvidiasResources) {
  const std::vector<Given> all{{"a", "nvidia.com/gpu", "GPU-1"},
                               {"b", "nvidia.com/mig-1g.10gb", "MIG-2"},
                               {"c", "nvidia.com/gpu.shared", "GPU-3"},
                               {"d", "acme.com/gpu", "GPU-4"}};
  const GpuPods holders = gpu_pods_of(all);
  EXPECT_THAT(holders, SizeIs(2));
  EXPECT_THAT(holders.at("GPU-1"), ElementsAre(GpuPod{"team", "a", "cuda", ""}));
  EXPECT_THAT(gpu_pods_of(all, {"nvidia.com/gpu.shared"}), SizeIs(3));
}

TEST(GpuPods, AreBoundedAndKeepAnOrder) {
  std::vector<Given> all;
  for (std::size_t i = 0; i < 2 * kMostGpuPods; ++i)
    all.push_back({"p" + std::to_string(1000 - i), "nvidia.com/gpu", "GPU-1::" + std::to_string(i)});
  const GpuPods holders = gpu_pods_of(all);
  EXPECT_THAT(holders.at("GPU-1"), SizeIs(kMostGpuPods));
  EXPECT_TRUE(std::ranges::is_sorted(holders.at("GPU-1")));
}

TEST(GpuPods, OfAnyResourceAreFoundOnRequest) {
  const GpuPods holders = nvidia::kubelet::gpu_pods_of(allocations_of({{"a", "example.com/renamed", "GPU-1::0"}}));
  EXPECT_THAT(holders.at("GPU-1"), ElementsAre(GpuPod{"team", "a", "cuda", "0"}));
}

Entity entity_of(unsigned index) { return {.gpu = {index, "GPU-" + std::to_string(index), "", "H"}}; }

Attribution known_of(const std::vector<Given>& all) { return {.holders = gpu_pods_of(all)}; }

using Labels = std::vector<std::pair<std::string, std::string>>;

TEST(Uses, OfAWholeGpuNameItsPod) {
  const Attribution known = known_of({{"a", "nvidia.com/gpu", "GPU-0"}});
  const auto uses = uses_of(entity_of(0), known, {.kubernetes = true});
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_EQ(uses[0].labels, (Labels{{"container", "cuda"}, {"namespace", "team"}, {"pod", "a"}}));
  const auto old = uses_of(entity_of(0), known, {.kubernetes = true, .old_names = true});
  EXPECT_EQ(old[0].labels, (Labels{{"container_name", "cuda"}, {"pod_name", "a"}, {"pod_namespace", "team"}}));
  EXPECT_THAT(uses_of(entity_of(1), known, {.kubernetes = true})[0].labels, IsEmpty());
  EXPECT_THAT(uses_of(entity_of(0), known, {.kubernetes = true, .by_device_name = true})[0].labels, IsEmpty());
  EXPECT_THAT(uses_of(entity_of(0), known_of({{"a", "nvidia.com/gpu", "nvidia0"}}),
                      {.kubernetes = true, .by_device_name = true})[0]
                  .labels,
              SizeIs(3));
}

TEST(Uses, OfAGpuInstanceAreFoundByEveryNameOfIt) {
  Entity instance = entity_of(2);
  instance.instance = 3;
  instance.mig_devices = {"MIG-a", "MIG-b"};
  for (const char* id : {"MIG-a", "MIG-b::1", "MIG-GPU-2/3/0", "nvidia2/gi3"})
    EXPECT_THAT(uses_of(instance, known_of({{"p", "nvidia.com/mig-1g.10gb", id}}), {.kubernetes = true})[0].labels,
                SizeIs(3))
        << id;
  EXPECT_THAT(uses_of(instance, known_of({{"p", "nvidia.com/gpu", "GPU-2"}}), {.kubernetes = true})[0].labels,
              IsEmpty())
      << "the whole GPU is another device";
}

TEST(Uses, OfASharedGpuAreSeparateForEachPodOnRequest) {
  const Attribution known = known_of({{"b", "nvidia.com/gpu", "GPU-0::1"}, {"a", "nvidia.com/gpu", "GPU-0::0"}});
  EXPECT_THAT(uses_of(entity_of(0), known, {.kubernetes = true}), SizeIs(1));
  const auto uses = uses_of(entity_of(0), known, {.kubernetes = true, .virtual_gpus = true});
  ASSERT_THAT(uses, SizeIs(2));
  EXPECT_EQ(uses[0].labels, (Labels{{"container", "cuda"}, {"namespace", "team"}, {"pod", "a"}, {"vgpu", "0"}}));
}

TEST(Uses, AreMultipliedByTheJobs) {
  Attribution known = known_of({{"a", "nvidia.com/gpu", "GPU-0"}});
  known.jobs = {{"0", {"17", "18"}}, {"1.4", {"19"}}};
  const auto uses = uses_of(entity_of(0), known, {.kubernetes = true, .job_folder = "/jobs"});
  ASSERT_THAT(uses, SizeIs(2));
  EXPECT_THAT(uses[1].labels, ::testing::Contains(Pair("hpc_job", "18")));
  Entity instance = entity_of(1);
  EXPECT_THAT(uses_of(instance, known, {})[0].labels, IsEmpty());
  instance.instance = 4;
  EXPECT_THAT(uses_of(instance, known, {})[0].labels, ElementsAre(Pair("hpc_job", "19")));
}

TEST(Pages, HaveThePartsOfPodsBesideTheWhole) {
  const Counters counters = parse_counters(
                                "DCGM_FI_DEV_GPU_UTIL, gauge, u\nDCGM_FI_DEV_FB_USED, gauge, m\n"
                                "DCGM_FI_DEV_GPU_TEMP, gauge, t\n",
                                "c.csv")
                                .value_or({});
  Sample sample;
  Entity entity = entity_of(0);
  entity.series = {std::int64_t{40}, std::int64_t{90}, std::int64_t{3000}};  // by field number: temperature,
                                                                             // utilization, memory
  entity.processes = {{.pid = 1, .percent = 60, .memory_bytes = 1000ULL << 20U, .pod = "team/a"},
                      {.pid = 2, .percent = 20, .memory_bytes = 500ULL << 20U, .pod = "team/a"},
                      {.pid = 3, .percent = 10, .memory_bytes = 1500ULL << 20U, .pod = "team/else"}};
  sample.entities.push_back(entity);
  const std::string page =
      exposition_text(sample, counters,
                      {.attribution = {.kubernetes = true, .virtual_gpus = true},
                       .known = known_of({{"a", "nvidia.com/gpu", "GPU-0::0"}, {"b", "nvidia.com/gpu", "GPU-0::1"}})});
  const std::string gpu = "{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\",modelName=\"H\"";
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_UTIL" + gpu + "} 90\n"));
  const std::string of_a = gpu + ",container=\"cuda\",namespace=\"team\",pod=\"a\",vgpu=\"0\"} ";
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_UTIL" + of_a + "80\n"));
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_FB_USED" + of_a + "1500\n"));
  EXPECT_THAT(page, HasSubstr("pod=\"b\",vgpu=\"1\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_TEMP" + of_a + "40\n"));
  EXPECT_THAT(page, Not(HasSubstr("DCGM_FI_DEV_GPU_TEMP" + gpu + "} 40\n")));
}

TEST(Pods, OfProcessesAreFoundByControlGroup) {
  const std::string uid = "0f3a1b2c-1111-2222-3333-444455556666";
  slipway::testing::FakeHost host;
  host.file("/var/log/pods/team_a_" + uid + "/cuda/0.log", "");
  const std::string groups = "/sys/fs/cgroup";
  host.file(groups + "/cgroup.controllers", "");
  const std::string pod = groups + "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" +
                          std::string("0f3a1b2c_1111_2222_3333_444455556666") + ".slice";
  host.file(pod + "/cgroup.procs", "");
  host.file(pod + "/cri-containerd-" + std::string(64, 'a') + ".scope/cgroup.procs", "76\n77\n");
  // A user's own control group, and one that a service was given, with a pod's name.
  host.file(groups + "/user.slice/kubepods.slice/kubepods-pod" + uid + ".slice/cgroup.procs", "78\n");
  host.file(groups + "/system.slice/a.service/kubepods/pod" + uid + "/cgroup.procs", "79\n");
  std::vector<Entity> entities(1);
  entities[0].processes.emplace();
  for (const unsigned pid : {77U, 78U, 79U, 80U}) entities[0].processes->push_back({.pid = pid, .percent = {}});
  find_pods_of_processes(host, entities);
  ASSERT_TRUE(entities[0].processes);
  EXPECT_EQ(entities[0].processes->at(0).pod, "team/a");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(entities[0].processes->at(i).pod, "") << i;
}

TEST(Pods, OfProcessesAreNotKnownWithoutKubeletsControlGroups) {
  slipway::testing::FakeHost host;
  host.file("/var/log/pods/team_a_0f3a/cuda/0.log", "");
  std::vector<Entity> entities(1);
  entities[0].processes = std::vector<ProcessUse>{ProcessUse{.pid = 77, .percent = {}}};
  find_pods_of_processes(host, entities);
  EXPECT_FALSE(entities[0].processes);
}

TEST(Pods, OfProcessesAreFoundInTheFirstVersionOfControlGroupsToo) {
  const std::string uid = "0f3a1b2c-1111-2222-3333-444455556666";
  slipway::testing::FakeHost host;
  host.file("/sys/fs/cgroup/pids/kubepods/pod" + uid + "/" + std::string(64, 'b') + "/cgroup.procs", "5\n");
  EXPECT_THAT(pods_by_process(host, {{uid, "team/a"}}), ElementsAre(Pair(5U, uid)));
}

TEST(Pods, AreNamedByFoldersOfLogs) {
  slipway::testing::FakeHost host;
  for (const char* name : {"team_a_0f3a", "lost+found", "x_y"}) host.directory(std::string("/var/log/pods/") + name);
  EXPECT_THAT(names_of_pods(host), ElementsAre(Pair("0f3a", "team/a")));
}

class JobFolder : public ::testing::Test {
 protected:
  Jobs jobs() const { return read_jobs(RootDir::open(folder_.string()).value(), "/jobs").value_or({}); }
  slipway::testing::TempDir folder_;
};

TEST_F(JobFolder, IsReadByTheNamesOfGpus) {
  folder_.file("jobs/0", "17\n18\n\n18\n");
  folder_.file("jobs/1.4", "19");
  folder_.file("jobs/notes", "20");
  folder_.file("jobs/1x", "21");
  folder_.file("jobs/2", "");
  EXPECT_THAT(jobs(), ElementsAre(Pair("0", ElementsAre("17", "18")), Pair("1.4", ElementsAre("19"))));
}

TEST_F(JobFolder, MayContainAnyFiles) {
  folder_.file("jobs/0", std::string("a\x01\"b\x80\n") + std::string(1000, 'x') + "\n" + "c\n");
  folder_.file("jobs/1", std::string(kMostJobFileBytes + 1, '\n'));
  folder_.file("secret", "root's password");
  std::filesystem::create_symlink("/secret", folder_.at("jobs/2"));
  ASSERT_EQ(::mkfifo(folder_.at("jobs/3").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_.at("jobs/4"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::to_string(i) + "\n";
  folder_.file("jobs/5", many);
  EXPECT_THAT(jobs(), ElementsAre(Pair("0", ElementsAre("a\"b", "c")), Pair("5", SizeIs(kMostJobs))));
}

TEST_F(JobFolder, ReportsWhenItCannotBeRead) {
  const RootDir root = RootDir::open(folder_.string()).value();
  EXPECT_EQ(read_jobs(root, "/jobs").error().code, ErrorCode::not_found);
  for (std::size_t i = 0; i <= kMostJobFiles; ++i) folder_.file("jobs/x" + std::to_string(i), "");
  EXPECT_THAT(read_jobs(root, "/jobs").error().what, HasSubstr("more than 1024 names"));
}

}  // namespace
}  // namespace slipway::dcgm
