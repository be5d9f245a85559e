// SPDX-License-Identifier: Apache-2.0
// NVLinks, processors and cores as entities of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/sampler/processors.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/selection/devices.hpp"

namespace slipway::dcgm {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Counters counters_in(const std::string& text) { return parse_counters(text, "c.csv").value_or({}); }

TEST(Links, AreSelectedByTheirNumbersFromOne) {
  EXPECT_TRUE(parse_links("f", "k").value().has(17));
  EXPECT_TRUE(parse_links("i", "k").value().has(0));
  const LinkSelection some = parse_links("i:1,3-4", "k").value();
  EXPECT_TRUE(some.has(0));
  EXPECT_FALSE(some.has(1));
  EXPECT_TRUE(some.has(3));
  const LinkSelection switches = parse_links("g:0", "k").value();
  EXPECT_TRUE(switches.has_switch(0));
  EXPECT_FALSE(switches.has_switch(1) || switches.has(0) || switches.has_switch_link(0));
  for (const char* text : {"", "f:1", "i:", "i:x", "i:3-1", "links"}) EXPECT_FALSE(parse_links(text, "k")) << text;
  EXPECT_THAT(parse_processors("x", "k").error().what, HasSubstr("selects no processors"));
}

TEST(Links, AreReportedAsDcgmExporterTellsThem) {
  const Counters counters =
      counters_in("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_PER_LINK_TOTAL, counter, r\nDCGM_FI_DRIVER_VERSION, label, v\n");
  EXPECT_THAT(counters.series, IsEmpty());
  ASSERT_THAT(counters.links, SizeIs(1));
  Sample sample;
  const GpuIdentity gpu{.index = 1, .uuid = "GPU-1", .bus_id = "b", .model = "H"};
  Entity entity{.gpu = gpu};
  entity.labels = {std::string("550")};
  sample.entities.push_back(entity);
  sample.links = {{gpu, 0, {std::int64_t{3}}}, {gpu, 5, {Value()}}};
  const std::string page = exposition_text(sample, counters, {.host_name = "n"});
  EXPECT_THAT(page,
              HasSubstr("# TYPE DCGM_FI_DEV_NVLINK_REPLAY_ERROR_PER_LINK_TOTAL counter\n"
                        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_PER_LINK_TOTAL{nvlink=\"1\",gpu=\"1\",gpu_uuid=\"GPU-1\","
                        "pci_bus_id=\"b\",device=\"nvidia1\",model_name=\"H\",Hostname=\"n\","
                        "DCGM_FI_DRIVER_VERSION=\"550\"} 3\n"));
  EXPECT_THAT(page, Not(HasSubstr("nvlink=\"6\"")));
  EXPECT_THAT(parse_counters("DCGM_FI_DEV_NVLINK_GET_STATE, label, s\n", "c.csv").error().what,
              HasSubstr("so it cannot be a label of a GPU's metrics"));
}

TEST(Processors, AreReadFromWhatTheKernelTells) {
  const auto cores = core_ticks(
      "cpu  10 0 0 90 0 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3\ncpux 1 2 3 4 5 6 7 8\ncpu3 -1 2 3 4 5 6 7 8\n"
      "intr 5\n");
  ASSERT_THAT(cores, SizeIs(1));
  EXPECT_EQ(cores.at(0)[7], 8U);
}

TEST(Processors, HaveSharesOfTheTimeSinceTheLookBefore) {
  FakeHost host;
  host.file("/proc/stat", "cpu0 100 0 0 900 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n");
  host.file("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "1\n");
  const Counters counters = counters_in("DCGM_FI_DEV_CPU_UTIL_TOTAL, gauge, t\nDCGM_FI_DEV_CPU_UTIL_SYS, gauge, s\n");
  Processors all(host, parse_processors("f", "k").value());
  EXPECT_THAT(all.look(counters), IsEmpty());
  host.file("/proc/stat", "cpu0 150 0 10 940 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\ncpu2 25 0 0 75 0 0 0 0\n");
  const auto entities = all.look(counters);
  ASSERT_THAT(entities, SizeIs(5)) << "two processors, and three cores";
  EXPECT_EQ(entities[0].processor, 0U);
  EXPECT_FALSE(entities[0].core);
  EXPECT_DOUBLE_EQ(std::get<double>(entities[0].series[0]), 0.3);
  EXPECT_DOUBLE_EQ(std::get<double>(entities[1].series[0]), 0.25);
  EXPECT_EQ(entities[2].core, 0U);
  EXPECT_DOUBLE_EQ(std::get<double>(entities[2].series[1]), 0.1);
  Sample sample;
  sample.processors = entities;
  const std::string page = exposition_text(sample, counters, {.host_name = "n"});
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_CPU_UTIL_TOTAL{cpu=\"1\",Hostname=\"n\"} 0.250000\n"));
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_CPU_UTIL_TOTAL{cpucore=\"2\",cpu=\"1\",Hostname=\"n\"} 0.250000\n"));
  Processors cores(host, parse_processors("i:1", "k").value());
  (void)cores.look(counters);
  EXPECT_THAT(cores.look(counters), SizeIs(1));
  EXPECT_THAT(all.look(counters_in("DCGM_FI_DEV_GPU_TEMP, gauge, t\n")), IsEmpty());
}

// Before the fix, the first sample had no processors, and `slipway dcgm metrics` takes only one.
TEST(Processors, AreInTheFirstSample) {
  FakeHost host;
  host.file("/proc/stat", "cpu0 100 0 0 900 0 0 0 0\n");
  Sampler sampler(host, {.first_interval = std::chrono::milliseconds(1)}, [](const char*, const std::string&) {});
  const auto counters = std::make_shared<const Counters>(counters_in("DCGM_FI_DEV_CPU_UTIL_TOTAL, gauge, t\n"));
  EXPECT_THAT(sampler.sample(counters).processors, SizeIs(2)) << "a processor and a core";
}

}  // namespace
}  // namespace slipway::dcgm
