// SPDX-License-Identifier: Apache-2.0
// kubelet's checkpoint of devices, in the forms that its versions write.
#include "nvidia/kubelet/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "slipway/kubelet/deviceplugin_v1beta1.pb.h"

namespace slipway::nvidia::kubelet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Checkpoints, AreReadInBothTheirForms) {
  const auto checkpoint = parse_checkpoint(R"({"Data": {"PodDeviceEntries": [
      {"PodUID": "uid-1", "ContainerName": "cuda", "ResourceName": "nvidia.com/gpu",
       "DeviceIDs": {"-1": ["GPU-1"], "0": ["GPU-2::1"]}},
      {"PodUID": "uid-2", "ContainerName": "old", "DeviceIDs": ["MIG-1"]},
      {"PodUID": 7, "DeviceIDs": {"0": "GPU-3"}}, {"DeviceIDs": [8]}, "noise", null],
      "RegisteredDevices": {"nvidia.com/gpu": ["GPU-1", "GPU-2"], "gone": null}}, "Checksum": 1})",
                                           "/c");
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_THAT(checkpoint->entries, SizeIs(4));
  EXPECT_EQ(checkpoint->entries[0].pod_uid, "uid-1");
  EXPECT_EQ(checkpoint->entries[0].container, "cuda");
  EXPECT_EQ(checkpoint->entries[0].resource, "nvidia.com/gpu");
  EXPECT_THAT(checkpoint->entries[0].ids, ElementsAre("GPU-1", "GPU-2::1"));
  EXPECT_THAT(checkpoint->entries[1].ids, ElementsAre("MIG-1"));
  EXPECT_THAT(checkpoint->entries[2].ids, IsEmpty());
  EXPECT_THAT(checkpoint->entries[3].ids, IsEmpty());
  EXPECT_THAT(checkpoint->registered.at("nvidia.com/gpu"), ElementsAre("GPU-1", "GPU-2"));
}

TEST(Checkpoints, OfAKubeletThatHasAllocatedNothingAreEmpty) {
  const auto checkpoint =
      parse_checkpoint(R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": null}, "Checksum": 1})", "/c");
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_THAT(checkpoint->entries, IsEmpty());
  EXPECT_THAT(checkpoint->registered, IsEmpty());
}

TEST(Checkpoints, OfAnotherFormAreErrors) {
  for (const char* noise : {"", "[]", "{}", R"({"Data": 5})", R"({"Data": {"PodDeviceEntries": 5}})",
                            R"({"Data": {"RegisteredDevices": {}}})"}) {
    const auto checkpoint = parse_checkpoint(noise, "/c");
    ASSERT_FALSE(checkpoint.ok()) << noise;
    EXPECT_EQ(checkpoint.error().where, "/c");
  }
}

// Time-slicing and MPS have the same ids: only the device plugin's answer distinguishes them.
TEST(Checkpoints, ReportWhichContainersShareByMps) {
  v1beta1::ContainerAllocateResponse by_mps;
  (*by_mps.mutable_envs())["CUDA_MPS_PIPE_DIRECTORY"] = "/mps/nvidia.com/gpu/pipe";
  v1beta1::ContainerAllocateResponse by_time;
  (*by_time.mutable_envs())["NVIDIA_VISIBLE_DEVICES"] = "GPU-1";
  const auto entry = [](const v1beta1::ContainerAllocateResponse& response) {
    return R"({"PodUID": "u", "ContainerName": "c", "DeviceIDs": ["GPU-1::0"], "AllocResp": ")" +
           base64_encoded(response.SerializeAsString()) + "\"}";
  };
  const auto checkpoint = parse_checkpoint(R"({"Data": {"PodDeviceEntries": [)" + entry(by_mps) + "," + entry(by_time) +
                                               R"(, {"AllocResp": "no base64 !"}]}})",
                                           "/c");
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_THAT(checkpoint->entries, SizeIs(3));
  EXPECT_TRUE(checkpoint->entries[0].mps);
  EXPECT_FALSE(checkpoint->entries[1].mps);
  EXPECT_FALSE(checkpoint->entries[2].mps);
}

TEST(Checkpoints, LieBesideTheSocketOfPodResources) {
  EXPECT_EQ(checkpoint_file(kubelet_root_of("/var/lib/k0s/kubelet/pod-resources/kubelet.sock")),
            "/var/lib/k0s/kubelet/device-plugins/kubelet_internal_checkpoint");
  EXPECT_EQ(kubelet_root_of("/run/kubelet.sock"), "");
}

}  // namespace
}  // namespace slipway::nvidia::kubelet
