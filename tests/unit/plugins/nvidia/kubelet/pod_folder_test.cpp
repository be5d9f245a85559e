// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/pod_folder.hpp"

#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia::kubelet {
namespace {

using slipway::testing::FakeHost;

TEST(PodFolder, IsNamedByNamespaceNameAndUid) {
  const auto folder = parse_pod_folder("team-a_train-0_5c1b0a9e-1111-2222-3333-444455556666");
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->pod_namespace, "team-a");
  EXPECT_EQ(folder->name, "train-0");
  EXPECT_EQ(folder->uid, "5c1b0a9e-1111-2222-3333-444455556666");
}

TEST(PodFolder, OfAnotherFormIsNone) {
  for (const char* name : {"", "_", "__", "a_b", "a__c", "_b_c", "a_b_", "a_b_c_d", "lost+found"})
    EXPECT_FALSE(parse_pod_folder(name)) << name;
}

TEST(PodFolder, IsFoundByTheUid) {
  FakeHost host;
  EXPECT_TRUE(pod_folders(host).empty());
  for (const char* name : {"a_b_1", "c_d_2", "noise"}) host.directory(std::string("/var/log/pods/") + name);
  const auto folders = pod_folders(host);
  EXPECT_EQ(folders.size(), 2U);
  ASSERT_NE(find_pod(folders, "2"), nullptr);
  EXPECT_EQ(find_pod(folders, "2")->name, "d");
  EXPECT_EQ(find_pod(folders, "3"), nullptr);
}

}  // namespace
}  // namespace slipway::nvidia::kubelet
