// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <slipway/testing/carry_out.hpp>
#include <slipway/testing/failing_host.hpp>
#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/spec.hpp>
#include <slipway/testing/summary.hpp>

#include "containers.hpp"
#include "driver.hpp"
#include "gpus.hpp"

namespace rocm {
namespace {

using namespace slipway;
using slipway::testing::carry_out;
using slipway::testing::FailingHost;
using slipway::testing::FakeHost;
using slipway::testing::spec_of;
using slipway::testing::summary;

constexpr const char* kFolder = "/sys/bus/pci/devices/0000:05:00.0";

/// Returns a machine with one MI300X, and with its driver on request.
FakeHost machine(bool loaded) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  host.pci({.address = "0000:05:00.0", .vendor = 0x1002, .device = 0x74a1, .device_class = 0x120000});
  host.pci({.address = "0000:00:14.0", .vendor = 0x1002, .device = 0x790b, .device_class = 0x0c0500});  // not a GPU
  if (!loaded) return host;
  const std::string folder = kFolder;
  host.module_loaded_now("amdgpu").device("/dev/kfd", 235, 0).device("/dev/dri/renderD128", 226, 128);
  host.device("/dev/dri/card1", 226, 1);
  host.directory(folder + "/drm/card1").directory(folder + "/drm/renderD128").directory(folder + "/drm/other");
  host.file(folder + "/mem_info_vram_total", "206141652992\n")
      .file(folder + "/product_name", "AMD Instinct MI300X OAM\n");
  host.file("/sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\n");
  host.file("/sys/class/kfd/kfd/topology/nodes/1/properties",
            "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 1280\ndomain 0\n");
  return host;
}

template <class T>
Result<Plan> plan_for(const T& component, const Spec& spec, const Host& host) {
  SLIPWAY_TRY(facts, component.detect(spec, host));
  return component.plan(spec, facts, Inputs(Json{{"target", {{"live", host.live()}}}}));
}

std::string content(const Plan& plan, const std::string& path) {
  for (const Action& action : plan.actions())
    if (action.target() == path) return action.text("content");
  return "(not planned)";
}

TEST(Gpus, AreFoundWithTheDataOfTheirDriver) {
  const auto found = gpus(machine(true));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].nodes, (std::vector<std::string>{"/dev/dri/card1", "/dev/dri/renderD128"}));
  EXPECT_EQ(found[0].cu_count, 304U);
  EXPECT_EQ(found[0].vram_gib, 191U);
  EXPECT_EQ(to_json(gpu_from_json(to_json(found[0]))), to_json(found[0]));
  EXPECT_TRUE(gpus(machine(false)).at(0).nodes.empty());
}

TEST(RocmDriver, ConsistsOfFilesAndAModule) {
  const auto plan = plan_for(Driver(), spec_of("rocm", {{"options", {{"noretry", 0}}}}), machine(false));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(summary(*plan),
            "file /usr/lib/sysusers.d/slipway-rocm.conf\nfile /etc/udev/rules.d/70-slipway-rocm.rules\n"
            "file /etc/modprobe.d/slipway-rocm.conf\nfile /etc/modules-load.d/slipway-rocm.conf\n"
            "file /etc/ld.so.conf.d/slipway-rocm.conf\nkernel-module amdgpu\n"
            "note: options of amdgpu take effect when it is loaded next\n");
  EXPECT_EQ(content(*plan, "/etc/modprobe.d/slipway-rocm.conf"), "options amdgpu noretry=0\n");
}

TEST(RocmDriver, RefusesOptionsThatTheFileCannotHold) {
  for (const Json& options :
       {Json{{"a b", 1}}, Json{{"a", "1 b=2"}}, Json{{"a", "1\noptions x"}}, Json{{"a", Json::array()}}}) {
    const auto plan = plan_for(Driver(), spec_of("rocm", {{"options", options}}), machine(false));
    ASSERT_FALSE(plan.ok()) << options;
    EXPECT_TRUE(plan.error().where.starts_with("spec.components.rocm.options.a")) << plan.error().where;
  }
}

TEST(RocmDriver, IsNotForMachinesOfOtherVendors) {
  FakeHost host;
  host.pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
  EXPECT_FALSE(Driver().detect(spec_of("rocm"), host)->applicable());
  EXPECT_FALSE(Containers().detect(spec_of("rocm-cdi"), host)->applicable());
}

TEST(RocmDriver, WarnsOfAnOptionThatTheLoadedModuleDoesNotHave) {
  FakeHost host = machine(true);
  host.file("/sys/module/amdgpu/parameters/noretry", "-1\n");
  const auto findings = Driver().verify(spec_of("rocm", {{"options", {{"noretry", 0}}}}), host);
  ASSERT_TRUE(findings.ok());
  EXPECT_TRUE(findings->passed());
  EXPECT_EQ(findings->list().back().status, Finding::Status::warning);
  EXPECT_EQ(findings->list().back().text, "noretry is -1, not 0");
}

TEST(RocmCdi, NamesTheNodesOfEachGpuAndOfAll) {
  const auto plan = plan_for(Containers(), spec_of("rocm-cdi"), machine(true));
  ASSERT_TRUE(plan.ok());
  const Json spec = Json::parse(content(*plan, "/etc/cdi/amd.json"));
  EXPECT_EQ(spec["kind"], "amd.com/gpu");
  EXPECT_EQ(spec["devices"][0]["name"], "0");
  EXPECT_EQ(spec["devices"][1]["name"], "all");
  EXPECT_EQ(spec["devices"][0]["containerEdits"]["deviceNodes"],
            Json({{{"path", "/dev/dri/card1"}}, {{"path", "/dev/dri/renderD128"}}, {{"path", "/dev/kfd"}}}));
  EXPECT_EQ(content(*plan, "/etc/kubernetes/node-feature-discovery/features.d/amd-gpu"),
            "amd.com/gpu.device-id=74a1\namd.com/gpu.family=AI\namd.com/gpu.product-name=AMD_Instinct_MI300X_OAM\n"
            "amd.com/gpu.vram=191G\namd.com/gpu.cu-count=304\namd.com/gpu.simd-count=1216\n");
}

TEST(RocmCdi, WaitsForTheNodesAndForTheFirstBootOfAnImage) {
  std::vector<FakeHost> images(2);
  images[1].pci({.address = "0000:05:00.0", .vendor = 0x1002, .device = 0x74a1, .device_class = 0x120000});
  EXPECT_EQ(plan_for(Containers(), spec_of("rocm-cdi"), machine(false)).error().code, ErrorCode::not_found);
  for (const FakeHost& image : images)
    EXPECT_EQ(summary(*plan_for(Containers(), spec_of("rocm-cdi"), image)),
              "note: which devices there are is seen at the first boot, when the CDI spec is written\n");
}

TEST(RocmCdi, IsAFileThatRemovalDeletes) {
  FakeHost host = machine(true);
  const Containers component;
  const auto plan = plan_for(component, spec_of("rocm-cdi", {{"labels", false}}), host);
  EXPECT_EQ(carry_out(component, *plan, host).value(), "file /etc/cdi/amd.json: done\n");
  EXPECT_TRUE(component.verify(spec_of("rocm-cdi"), host)->passed());
  EXPECT_EQ(take_back(component, *plan, host).value(), "file /etc/cdi/amd.json: removed\n");
}

// A fault of the machine may cost a finding; it must neither throw nor become a passed check.
TEST(RocmCdi, DoesNotPassUnreadableValues) {
  const FakeHost host = machine(true);
  const FailingHost failing = FailingHost(host).fail_at("/dev/dri/renderD128");
  EXPECT_FALSE(Containers().verify(spec_of("rocm-cdi"), failing)->passed());
}

}  // namespace
}  // namespace rocm
