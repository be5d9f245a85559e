// SPDX-License-Identifier: Apache-2.0
// The device that a service waits for, on buses with other devices.
#include "core/loader/service_device.hpp"

#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::core {
namespace {

using slipway::testing::TempDir;

const Json kGpu{{"device", "pci:v000010DEd*sv*sd*bc03sc*i*"}};

TEST(ServiceDevice, IsThereByItsModalias) {
  const TempDir sys;
  EXPECT_FALSE(has_device(kGpu, sys.string())) << "no bus at all";
  sys.file("bus/pci/devices/0000:00:02.0/modalias", "pci:v00008086d00003E92sv00001028sd00000869bc03sc00i00\n");
  sys.file("bus/pci/devices/0000:65:00.1/modalias", "pci:v000010DEd000022BAsv000010DEsd0000167Dbc04sc03i00\n");
  sys.directory("bus/pci/devices/0000:66:00.0");
  EXPECT_FALSE(has_device(kGpu, sys.string())) << "another vendor's, and the audio function of a GPU";
  sys.file("bus/pci/devices/0000:65:00.0/modalias", "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00\n");
  EXPECT_TRUE(has_device(kGpu, sys.string()));
}

TEST(ServiceDevice, IsNotRequestedByEveryService) {
  const TempDir sys;
  EXPECT_TRUE(has_device(Json{{"component", "gfd"}}, sys.string()));
}

}  // namespace
}  // namespace slipway::core
