// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::HasSubstr;

Json gpu(unsigned index, Json health) {
  return {{"index", index},
          {"address", "0000:1" + std::to_string(index) + ":00.0"},
          {"product", "NVIDIA H100 80GB HBM3"},
          {"memoryBytes", 85520809984},
          {"health", std::move(health)}};
}

Json resource(int healthy, int ids) {
  return {{"name", "nvidia.com/gpu"}, {"healthy", healthy}, {"ids", ids}, {"sharing", "none"}, {"registered", true}};
}

TEST(StatusForPeople, IsATableOfTheGpusAndWhatKubeletHas) {
  const Json well{{"healthy", true}};
  const Json status{{"driverVersion", "535.261.03"},
                    {"gpus", {gpu(0, well), gpu(1, well)}},
                    {"resources", {resource(2, 2)}},
                    {"problem", ""}};
  EXPECT_EQ(status_text(status),
            "driver 535.261.03\n"
            "GPU  PCI address   product                memory     health\n"
            "0    0000:10:00.0  NVIDIA H100 80GB HBM3  81559 MiB  healthy\n"
            "1    0000:11:00.0  NVIDIA H100 80GB HBM3  81559 MiB  healthy\n"
            "nvidia.com/gpu: 2 of 2 healthy, registered with kubelet\n");
}

TEST(StatusForPeople, ShowsTheFaultAndTheRemedyOfAGpu) {
  const Json lost{{"healthy", false}, {"reason", "lost"}, {"text", "it fell off the bus"}, {"remedy", "reset it"}};
  const Json status{{"gpus", {gpu(3, lost)}}, {"resources", {resource(0, 1)}}};
  EXPECT_THAT(status_text(status), HasSubstr("81559 MiB  lost\nGPU 3: it fell off the bus\n  do: reset it\n"));
  EXPECT_THAT(status_text(status), HasSubstr("nvidia.com/gpu: 0 of 1 healthy"));
}

TEST(StatusForPeople, ShowsMigDevicesAndWhoHoldsMemory) {
  Json shared = gpu(0, {{"healthy", true}});
  shared["migDevices"] = {{{"index", 0}, {"profile", "1g.10gb"}, {"memoryBytes", 10200547328}}};
  shared["clients"] = {{{"pid", 4711}, {"memoryBytes", 1048576}, {"container", "c1"}},
                       {{"pid", 4712}, {"memoryBytes", 2097152}, {"container", ""}}};
  const std::string text = status_text({{"gpus", {shared}}});
  EXPECT_THAT(text, HasSubstr("\n0:0                MIG 1g.10gb            9728 MiB   \n"));
  EXPECT_THAT(text, HasSubstr("GPU 0: process 4711 of container c1 holds 1 MiB\n"));
  EXPECT_THAT(text, HasSubstr("GPU 0: process 4712 holds 2 MiB\n"));
}

// Before the fix, the table had only the processes; the pods that have a GPU were only in the JSON.
TEST(StatusForPeople, ShowsWhichPodsHaveWhichGpu) {
  Json one = gpu(0, {{"healthy", true}});
  one["uuid"] = "GPU-0";
  Json two = gpu(1, {{"healthy", true}});
  two["uuid"] = "GPU-1";
  two["migDevices"] = {{{"index", 0}, {"uuid", "MIG-1"}, {"profile", "1g.10gb"}, {"memoryBytes", 1}}};
  const std::string text = status_text(
      {{"gpus", {one, two}},
       {"holders",
        {{{"pod", "team-a/s1"}, {"container", "main"}, {"resource", "nvidia.com/gpu"}, {"ids", {"GPU-0::2"}}},
         {{"pod", "team-a/m"},
          {"container", "prep"},
          {"resource", "nvidia.com/mig-1g.10gb"},
          {"ids", {"MIG-1"}},
          {"initContainer", true}}}},
       {"conflicts", {{{"device", "GPU-0"}, {"text", "GPU 0 is offered for exclusive use"}, {"remedy", "wait"}}}}});
  EXPECT_THAT(text, HasSubstr("GPU 0: given to pod team-a/s1, container main (nvidia.com/gpu, replica 2)\n"));
  EXPECT_THAT(text,
              HasSubstr("GPU 1, MIG device 0: given to pod team-a/m, init container prep (nvidia.com/mig-1g.10gb)\n"));
  EXPECT_THAT(text, HasSubstr("GPU 0 is offered for exclusive use\n  do: wait\n"));
}

TEST(StatusForPeople, NamesTheOtherPluginThatHasTheGpus) {
  EXPECT_EQ(status_text({{"yields", "NVIDIA's device plugin is there"}}),
            "No resources are offered to kubelet.\nNVIDIA's device plugin is there\n");
}

TEST(StatusForPeople, HasTheNotes) {
  EXPECT_THAT(status_text({{"notes", {"deviceListStrategy is envvar instead of cdi-cri: kubelet 1.26 is too old"}}}),
              ::testing::HasSubstr("\nnote: deviceListStrategy is envvar instead of cdi-cri"));
}

TEST(StatusForPeople, ExplainsWhyNothingIsOffered) {
  EXPECT_EQ(status_text({{"gpus", Json::array()}, {"problem", "the driver is not loaded"}}),
            "No resources are offered to kubelet.\nproblem: the driver is not loaded\n");
  EXPECT_EQ(status_text(Json::object()), "No resources are offered to kubelet.\n");
}

}  // namespace
}  // namespace slipway::deviceplugin
