// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/kubelet_version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

constexpr const char* kKubeletRoot = "/var/lib/kubelet";

std::string why_not(const std::string& version, const FakeHost& host = FakeHost()) {
  return why_no_cdi_devices(parse_kubelet_version(version), host, kKubeletRoot);
}

TEST(KubeletVersion, IsReadAsTheProgramsSayIt) {
  for (const char* text :
       {"Kubernetes v1.36.2\n", "k3s version v1.36.2+k3s1 (abc)\ngo version go1.26\n", "v1.36.2+k0s.0", "1.36.2-1.1"}) {
    const KubeletVersion version = parse_kubelet_version(text);
    EXPECT_EQ(version.major, 1U) << text;
    EXPECT_EQ(version.minor, 36U) << text;
  }
  EXPECT_FALSE(parse_kubelet_version("Kubernetes").known());
  EXPECT_FALSE(parse_kubelet_version("").known());
}

TEST(KubeletVersion, ComesFromTheProgramOnALiveHostAndElseFromThePackage) {
  FakeHost live;
  live.live("6.1.0-50-amd64")
      .file("/usr/bin/kubelet", "", 0755)
      .answers({"/usr/bin/kubelet", "--version"}, {.exit_status = 0, .output = "Kubernetes v1.31.0\n"});
  EXPECT_EQ(read_kubelet_version(live).text, "v1.31.0");
  FakeHost image;
  image.file("/var/lib/dpkg/status",
             "Package: kubelet\nStatus: install ok installed\nVersion: 1.27.4-00\n\n"
             "Package: kubeadm\nStatus: install ok installed\nVersion: 1.30.0-1.1\n");
  EXPECT_EQ(read_kubelet_version(image).minor, 27U);
  EXPECT_FALSE(read_kubelet_version(FakeHost()).known());
}

TEST(KubeletVersion, DecidesAboutCdiDevices) {
  EXPECT_THAT(why_not("Kubernetes v1.27.16"), HasSubstr("does not support CDI devices"));
  EXPECT_EQ(why_not("Kubernetes v1.29.0"), "");
  EXPECT_EQ(why_not("Kubernetes v1.36.2"), "");
  EXPECT_EQ(why_not(""), "") << "there is no kubelet yet";
}

// The gate was alpha, and off, in 1.28: kubelet drops the devices without a message.
TEST(KubeletVersion, Of128NeedsTheGate) {
  EXPECT_THAT(why_not("Kubernetes v1.28.15"), HasSubstr("feature gate DevicePluginCDIDevices off"));
  FakeHost host;
  host.file("/var/lib/kubelet/config.yaml", "featureGates:\n  DevicePluginCDIDevices: true\n");
  EXPECT_EQ(why_not("Kubernetes v1.28.15", host), "");
  host.file("/var/lib/kubelet/config.yaml", "featureGates: {DevicePluginCDIDevices: false}\n");
  EXPECT_NE(why_not("Kubernetes v1.28.15", host), "");
}

}  // namespace
}  // namespace slipway::deviceplugin
