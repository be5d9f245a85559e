// SPDX-License-Identifier: Apache-2.0
// The variables of dcgm-exporter, and the table of them in the documentation.
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "dcgm/environment/variables.hpp"

namespace slipway::dcgm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EnvironmentSpec taken(const std::vector<std::string>& entries, const Json& section = Json::object()) {
  const auto result = with_environment(Spec(section), entries);
  EXPECT_TRUE(result) << to_text(result.error());
  return result.value_or(EnvironmentSpec());
}

Error mistake(const std::string& entry) {
  const auto result = with_environment(Spec(), {entry});
  EXPECT_FALSE(result) << entry;
  return result ? Error{} : result.error();
}

TEST(DcgmEnvironment, TakesPrecedenceOverTheSpec) {
  const auto result = taken({"DCGM_EXPORTER_LISTEN=:9401", "DCGM_EXPORTER_INTERVAL=1500", "DCGM_EXPORTER_NO_HOSTNAME=T",
                             "DCGM_REMOTE_HOSTENGINE_INFO=node:5555", "DCGM_EXPORTER_COLLECTORS=/a.csv",
                             "DCGM_EXPORTER_USE_OLD_NAMESPACE=false", "PATH=/bin"},
                            {{"listen", "127.0.0.1:9400"}, {"use_old_namespace", true}});
  EXPECT_EQ(result.spec.text("listen"), ":9401");
  EXPECT_EQ(result.spec.text("interval"), "1500ms");
  EXPECT_EQ(result.spec.text("collectors"), "/a.csv");
  EXPECT_TRUE(result.spec.flag("no_hostname"));
  EXPECT_FALSE(result.spec.flag("use_old_namespace"));
  EXPECT_EQ(result.spec.text("engine"), "external");
  EXPECT_EQ(result.spec.text("engine_address"), "node:5555");
  EXPECT_EQ(result.taken.size(), 6U);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(DcgmEnvironment, NamesPodsJobsAndDevices) {
  const auto result = taken(
      {"DCGM_EXPORTER_KUBERNETES=true", "NVIDIA_RESOURCE_NAMES=nvidia.com/gpu.shared, nvidia.com/a100",
       "DCGM_EXPORTER_DEVICES_STR=g:0", "DCGM_HPC_JOB_MAPPING_DIR=/jobs", "DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE=1000"},
      Json::object());
  EXPECT_TRUE(result.spec.flag("kubernetes"));
  EXPECT_EQ(result.spec.texts("nvidia_resource_names"),
            (std::vector<std::string>{"nvidia.com/gpu.shared", "nvidia.com/a100"}));
  EXPECT_EQ(result.spec.text("devices"), "g:0");
  EXPECT_EQ(result.spec.text("hpc_job_mapping_dir"), "/jobs");
  EXPECT_EQ(result.spec.text("xid_count_window_size"), "1000ms");
  EXPECT_EQ(mistake("KUBERNETES_ENABLE_DRA=true").code, ErrorCode::usage);
}

TEST(DcgmEnvironment, RefusesByNameWhatItDoesNotDo) {
  const Error error = mistake("DCGM_EXPORTER_ENABLE_PPROF=true");
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_THAT(error.what, HasSubstr("DCGM_EXPORTER_ENABLE_PPROF=true asks for something that slipway does not do: "));
  EXPECT_THAT(error.where, HasSubstr("DCGM_EXPORTER_ENABLE_PPROF"));
  for (const char* entry : {"DCGM_EXPORTER_INTERVAL=1s", "DCGM_EXPORTER_INTERVAL=-1", "DCGM_EXPORTER_INTERVAL=1e9",
                            "DCGM_EXPORTER_NO_HOSTNAME=yes", "DCGM_EXPORTER_COLLECTORS=a.csv",
                            "DCGM_EXPORTER_CONFIGMAP_DATA=ns:name", "DCGM_EXPORTER_USE_FAKE_GPUS=true"})
    EXPECT_EQ(mistake(entry).code, ErrorCode::usage) << entry;
}

TEST(DcgmEnvironment, AcceptsVariablesWithoutEffect) {
  const auto result =
      taken({"DCGM_EXPORTER_CONFIGMAP_DATA=none", "DCGM_EXPORTER_CONFIG_FILE=", "DCGM_EXPORTER_ENABLE_PPROF=false",
             "DCGM_EXPORTER_LOG_FORMAT=text", "DCGM_EXPORTER_WEB_READ_TIMEOUT=10s", "DCGM_EXPORTER_LISTEN="});
  EXPECT_THAT(result.taken, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(result.spec.json(), Json::object());
}

TEST(DcgmEnvironment, WarnsOfWhatHasNoEffectAndOfMisspelling) {
  const auto result = taken({"DISABLE_STARTUP_VALIDATE=true", "DCGM_EXPORTER_COLECTORS=/a.csv"});
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_THAT(result.warnings[0], HasSubstr("DISABLE_STARTUP_VALIDATE has no effect: "));
  EXPECT_THAT(result.warnings[1], HasSubstr("did you mean 'DCGM_EXPORTER_COLLECTORS'?"));
  const auto metrics = taken({"DCGM_EXPORTER_ENABLE_EXPORTER_METRICS=true"}).warnings;
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_THAT(metrics[0], HasSubstr("DCGM_EXPORTER_ENABLE_EXPORTER_METRICS has no effect: "));
}

// Kubernetes sets such variables in each container if a Service is called dcgm-exporter.
TEST(DcgmEnvironment, IsNotMisledByTheVariablesOfAService) {
  EXPECT_THAT(taken({"DCGM_EXPORTER_SERVICE_HOST=10.0.0.1", "DCGM_EXPORTER_SERVICE_PORT=9400",
                     "DCGM_EXPORTER_SERVICE_PORT_METRICS=9400", "DCGM_EXPORTER_PORT=tcp://10.0.0.1:9400",
                     "DCGM_EXPORTER_PORT_9400_TCP_ADDR=10.0.0.1"})
                  .warnings,
              IsEmpty());
}

/// Returns the rows of the documentation's table by variable name.
std::map<std::string, std::string> documented() {
  std::ifstream in(SLIPWAY_SOURCE_DIR "/docs/components/dcgm.md");
  std::ostringstream page;
  page << in.rdbuf();
  std::map<std::string, std::string> rows;
  for (const std::string& row : lines_of(page.str())) {
    if (!row.starts_with("| `--")) continue;
    const auto cells = split(row, '|');
    std::string name(cells.size() < 4 ? "" : trimmed(cells[2]));
    if (!name.starts_with("`") || name.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) continue;
    std::erase(name, '`');
    rows[name] = row;
  }
  return rows;
}

TEST(DcgmEnvironment, IsDocumentedRowByRow) {
  auto rows = documented();
  for (const Variable& each : variables()) {
    const auto row = rows.find(std::string(each.name));
    ASSERT_NE(row, rows.end()) << each.name << " is not in docs/components/dcgm.md";
    EXPECT_THAT(row->second, HasSubstr("`" + std::string(each.flag) + "`"));
    if (!each.letter.empty()) {
      EXPECT_THAT(row->second, HasSubstr("`" + std::string(each.letter) + "`"));
    }
    const char* const word = each.treatment == Variable::Treatment::refused    ? "refused: "
                             : each.treatment == Variable::Treatment::needless ? "not needed: "
                                                                               : "key `";
    EXPECT_THAT(row->second, HasSubstr(std::string("| ") + word));
    if (!each.key.empty()) {
      EXPECT_THAT(row->second, HasSubstr("`" + std::string(each.key) + "`"));
    }
    rows.erase(row);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << "the documentation has a row more: " << row;
}

}  // namespace
}  // namespace slipway::dcgm
