// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "tests/component/deviceplugin/node.hpp"

namespace slipway {
namespace {

using slipway::testing::eventually;
using slipway::testing::Node;
using slipway::testing::RunningService;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Issue 14: "E1122 … chttp2_server.cc:1045]" stood among the service's lines, at level info.
TEST(DevicePluginLog, HasAnErrorOfGrpcAsALineOfItsOwn) {
  const Node node("l4x1");
  std::filesystem::create_directories(node.plugins() + "/nvidia-gpu.sock/in-the-way");  // nobody can bind it
  auto words = node.words();
  words.insert(words.end(), {"--log-format", "json"});
  RunningService service(node.host(), words);
  ASSERT_TRUE(eventually([&] { return service.log().find("chttp2_server") != std::string::npos; })) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0);
  std::istringstream lines(service.log());
  int of_grpc = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line, nullptr, false);
    ASSERT_TRUE(event.is_object()) << line;
    EXPECT_EQ(event["component"], "deviceplugin");
    EXPECT_EQ(event["phase"], "service");
    const std::string message = event["message"];
    if (message.find("chttp2_server") == std::string::npos) continue;
    ++of_grpc;
    EXPECT_EQ(event["level"], "warning");
    EXPECT_THAT(message, StartsWith("gRPC: "));
    EXPECT_THAT(message, HasSubstr("nvidia-gpu.sock"));
  }
  EXPECT_GT(of_grpc, 0);
}

}  // namespace
}  // namespace slipway
