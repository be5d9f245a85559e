// SPDX-License-Identifier: Apache-2.0
// Bytes as kubelet's own library makes them.
#include <gmock/gmock.h>
#include <slipway/kubelet/deviceplugin_v1beta1.pb.h>
#include <slipway/kubelet/podresources_v1.pb.h>

namespace {

std::string hex(const google::protobuf::MessageLite& message) {
  std::string text;
  for (const char byte : message.SerializeAsString()) {
    text += "0123456789abcdef"[(static_cast<unsigned char>(byte)) >> 4U];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

TEST(Wire, RegisterRequestIsWhatKubeletReads) {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint("nvidia-gpu.sock");
  request.set_resource_name("nvidia.com/gpu");
  request.mutable_options()->set_get_preferred_allocation_available(true);
  EXPECT_EQ(hex(request),
            "0a0776316265746131120f6e76696469612d6770752e736f636b1a0e6e76696469612e636f6d2f67707522021001");
}

TEST(Wire, NumaNodeZeroIsAnEmptyMessageThatIsThere) {
  v1beta1::Device device;
  device.set_id("GPU-b1028956-cfa2-0990-bf4a-5da9abb51763");
  device.set_health("Healthy");
  device.mutable_topology()->add_nodes()->set_id(1);
  EXPECT_EQ(hex(device),
            "0a284750552d62313032383935362d636661322d303939302d626634612d35646139616262353137363312074865616c7468791a04"
            "0a020801");
  device.mutable_topology()->mutable_nodes(0)->set_id(0);
  EXPECT_TRUE(hex(device).ends_with("1a020a00"));
}

TEST(Wire, AllocateResponseIsWhatKubeletReads) {
  v1beta1::AllocateResponse response;
  (*response.add_container_responses()->mutable_envs())["NVIDIA_VISIBLE_DEVICES"] =
      "GPU-b1028956-cfa2-0990-bf4a-5da9abb51763";
  EXPECT_EQ(hex(response),
            "0a440a420a164e56494449415f56495349424c455f4445564943455312284750552d62313032383935362d636661322d303939302d"
            "626634612d356461396162623531373633");
}

TEST(Wire, CpuIdsOfPodResourcesArePacked) {
  v1::ContainerResources container;
  container.add_cpu_ids(1);
  container.add_cpu_ids(2);
  EXPECT_EQ(hex(container), "1a020102");
}

}  // namespace
