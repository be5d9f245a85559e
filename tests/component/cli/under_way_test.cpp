// SPDX-License-Identifier: Apache-2.0
// An apply in progress, as `status` and `doctor` show it to another user in the meantime.
#include <csignal>
#include <memory>

#include <sys/wait.h>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using artifact::test::LayoutMaker;
using artifact::test::LayoutRegistry;
using artifact::test::ServedRequest;
using artifact::test::ServedResponse;
using slipway::testing::becomes_true;
using slipway::testing::DriverRoot;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(UnderWay, ShowsTheDownloadOfARunningApply) {
  const DriverRoot root;
  LayoutMaker layout(root.folder().at("served").string());
  ASSERT_EQ(std::system(("cp -rT " + testing::kPackage + " " + layout.path()).c_str()), 0);
  std::unique_ptr<LayoutRegistry> registry;
  // The layers arrive a byte at a time, which never ends.
  registry =
      std::make_unique<LayoutRegistry>(layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        constexpr std::size_t kLayer = 1000;
        ServedResponse answer = registry->answer(request);
        if (request.method != "GET" || request.target.find("/blobs/") == std::string::npos ||
            answer.body.size() < kLayer)
          return std::nullopt;
        answer.drip = true;
        return answer;
      });
  root.source("{repository: \"" + registry->repository() + "\", trust: unsigned}");
  const auto status = [&] { return root.run({"status"}).out; };
  ASSERT_THAT(status(), Not(HasSubstr("under way")));
  const pid_t apply = root.start({"apply", "--sim", "h100x8"});
  const auto tells_of_the_download = [&] {
    const std::string text = status();
    return text.find("under way since ") != std::string::npos && text.find("driver: ") != std::string::npos;
  };
  EXPECT_TRUE(becomes_true(tells_of_the_download)) << status() << root.error_text();
  EXPECT_THAT(status(), AllOf(HasSubstr("A first apply of "), ContainsRegex("changing this root: .*\\(pid [0-9]+\\)")));
  EXPECT_THAT(Json::parse(root.run({"status", "-o", "json"}).out).value("at_work", ""), HasSubstr("under way since "));
  const auto doctor = root.run({"doctor", "-f", root.folder().at("host.yaml").string()}).out;
  EXPECT_THAT(doctor, HasSubstr("another slipway is changing this root"));
  ::kill(apply, SIGTERM);
  int ended = 0;
  ASSERT_EQ(::waitpid(apply, &ended, 0), apply);
  EXPECT_THAT(status(), Not(HasSubstr("under way")));
}

}  // namespace
}  // namespace slipway
