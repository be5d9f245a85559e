// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/component.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "toolkit/cdi/component/machine.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

const std::string kContainer = "/run/nvidia/driver";
const std::string kLibrary = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";

std::string roots_of(const FakeHost& host, const std::string& driver = "auto", const std::string& dev = "auto") {
  const DriverRoots roots = find_driver_roots(host, driver, dev);
  return roots.driver + " " + roots.dev;
}

TEST(DriverRoots, AreThoseOfTheHostsDriverElseOfADriverContainers) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  EXPECT_EQ(roots_of(host), "/ /");
  host.link(kContainer + kLibrary, "/usr/lib/nvidia/libcuda.so.1");  // holds inside the container only
  EXPECT_EQ(roots_of(host), kContainer + " /");
  host.file(kContainer + "/dev/nvidiactl", "");
  EXPECT_EQ(roots_of(host), kContainer + " " + kContainer);
  EXPECT_EQ(roots_of(host, "auto", "/"), kContainer + " /");
  host.file(kLibrary, "x");
  EXPECT_EQ(roots_of(host), "/ /");
  EXPECT_EQ(roots_of(host, "/opt/driver"), "/opt/driver /");
}

Spec section(const std::string& driver_root) { return Spec(Json{{"driver_root", driver_root}, {"char_links", true}}); }

Facts facts_of(const std::string& driver_root) {
  Facts facts;
  facts.set("specs", {{"/run/cdi/nvidia.com-gpu.yaml", "spec"}});
  facts.set("nodes", Json::array());
  facts.set("driver_root", driver_root);
  return facts;
}

TEST(CdiPlan, WaitsForTheDriverThatTheComponentDriverInstalls) {
  const Inputs inputs(Json{{"outputs", {{"driver", {{"driver_root", "/"}}}}}});
  const auto early = Cdi().plan(section("auto"), facts_of(kContainer), inputs);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::not_found) << "by which the core asks again later";
  EXPECT_THAT(early.error().what,
              HasSubstr("installs the driver below /, and so far there is one below " + kContainer));
  EXPECT_EQ(Cdi().plan(section("auto"), facts_of("/"), inputs)->actions().size(), 1U);
  EXPECT_EQ(Cdi().plan(section("auto"), facts_of(kContainer), Inputs())->actions().size(), 1U);
  EXPECT_EQ(Cdi().plan(section(kContainer), facts_of(kContainer), inputs)->actions().size(), 1U) << "the spec says so";
}

}  // namespace
}  // namespace slipway::toolkit
