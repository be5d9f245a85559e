// SPDX-License-Identifier: Apache-2.0
// Mistakes that would stop the service are reported by the plan, and those that do stop it by verify and doctor.
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DcgmRefusals : public DcgmNode {
 protected:
  std::string error_with(const std::string& keys) const {
    spec(", " + keys);
    const Ran plan = host_.slipway(words({"plan"}));
    EXPECT_EQ(plan.code, 1) << keys << plan.out << plan.err;
    return plan.out + plan.err;
  }
  std::string plan_with(const std::string& keys) const {
    spec(", " + keys);
    const Ran plan = host_.slipway(words({"plan"}));
    EXPECT_EQ(plan.code, 2) << keys << plan.out << plan.err;
    return plan.out + plan.err;
  }
};

// Before the fix, all of these keys were accepted without effect.
TEST_F(DcgmRefusals, AreForKeysThatAnotherKeyDisables) {
  EXPECT_THAT(
      error_with("pod_resources_kubelet_socket: /run/k.sock"),
      AllOf(HasSubstr("pod_resources_kubelet_socket has no effect without kubernetes: true"), HasSubstr("do: ")));
  EXPECT_THAT(error_with("page: false, page_processes: never"),
              HasSubstr("page_processes has no effect with page: false"));
  EXPECT_THAT(error_with("no_hostname: true"), HasSubstr("node has no effect with no_hostname: true"));
  EXPECT_THAT(error_with("engine: managed, engine_address: \"localhost:1\""),
              HasSubstr("engine_address has no effect without engine: external"));
  EXPECT_THAT(error_with("switch_devices: \"i:99\""), HasSubstr("no GPU has an NVLink 99"));
  EXPECT_THAT(error_with("switch_devices: \"i:0\""), HasSubstr("no GPU has an NVLink 0"));
}

// Before the fix, the plan and the apply passed, and scrapes failed.
TEST_F(DcgmRefusals, AreForAWebConfigWithAMistake) {
  host_.put("etc/web.yaml", "tls_server_confg: {cert_file: a}\n");
  EXPECT_THAT(error_with("web_config_file: /etc/web.yaml"),
              AllOf(HasSubstr("/etc/web.yaml:1:1"), HasSubstr("unknown key 'tls_server_confg'")));
  host_.put("etc/web.yaml", "basic_auth_users: {alice: secret}\n");
  EXPECT_THAT(error_with("web_config_file: /etc/web.yaml"), AllOf(HasSubstr("bcrypt"), HasSubstr("htpasswd")));
  host_.put("etc/web.yaml", "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n");
  EXPECT_THAT(error_with("web_config_file: /etc/web.yaml"),
              HasSubstr("/etc/cert.pem, which /etc/web.yaml names, is missing"));
  spec(", web_config_file: /etc/web.yaml");
  EXPECT_THAT(host_.slipway(words({"verify"})).out, HasSubstr("fail  dcgm.web-config: "));
}

// Before the fix, a service that samples nothing was "ok".
TEST_F(DcgmRefusals, AreForAFileOfCountersWithoutMetrics) {
  host_.put("etc/c.csv", "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, a\n");
  EXPECT_THAT(error_with("collectors: /etc/c.csv"), AllOf(HasSubstr("no row of /etc/c.csv gives a metric"),
                                                          HasSubstr("DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT")));
  host_.put("etc/c.csv", "DCGM_FI_DRIVER_VERSION, label, a\n");
  EXPECT_THAT(error_with("collectors: /etc/c.csv"), HasSubstr("all are labels"));
  host_.put("etc/c.csv", "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, a\nDCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  EXPECT_THAT(plan_with("collectors: /etc/c.csv"),
              HasSubstr("not available without DCGM, and left out: DCGM_FI_DEV_NVS"));
}

// Before the fix, the message had no remedy and no key, and its path did not exist on this machine.
TEST_F(DcgmRefusals, NameTheKeyAndTheFileThatIsMissing) {
  const std::string root = host_.path("").parent_path().string();
  for (const std::string key : {"collectors", "config_file"})
    EXPECT_THAT(error_with(key + ": /etc/nosuch"),
                AllOf(HasSubstr(root + "/etc/nosuch is missing"), HasSubstr("spec.components.dcgm." + key),
                      HasSubstr("do:    create the file, or remove " + key + " from the spec")));
  host_.put("etc/config.yaml", "version: 1\nmetrics: {file: /etc/nosuch}\n");
  EXPECT_THAT(error_with("config_file: /etc/config.yaml"),
              AllOf(HasSubstr(root + "/etc/nosuch is missing"), HasSubstr("/etc/config.yaml: metrics.file"),
                    HasSubstr("do:    create the file, or correct metrics.file")));
  const Ran tool = host_.bare({"dcgm", "metrics", "--sim", "l4x1", "--collectors", "/etc/nosuch.csv"});
  EXPECT_EQ(tool.code, 1);
  EXPECT_THAT(tool.err, HasSubstr("do: "));
}

// Before the fix, neither the plan nor verify mentioned missing metrics or labels.
TEST_F(DcgmRefusals, AreNotMadeForMissingInputsThatPlanAndVerifyReport) {
  const std::string keys =
      "kubernetes: true, pod_resources_kubelet_socket: /run/k.sock, hpc_job_mapping_dir: /nosuch, engine: managed";
  const std::vector<std::string> texts{"kubelet's socket /run/k.sock is missing", "/nosuch is missing",
                                       "libdcgm.so.4 is in no library folder", "nv-hostengine is not installed"};
  const std::string plan = plan_with(keys);
  const Ran verify = host_.slipway(words({"verify"}));
  for (const std::string& text : texts) {
    EXPECT_THAT(plan, HasSubstr(text));
    EXPECT_THAT(verify.out, HasSubstr(text));
  }
  EXPECT_THAT(verify.out, AllOf(HasSubstr("warning  dcgm.kubelet: "), HasSubstr("warning  dcgm.jobs: "),
                                HasSubstr("warning  dcgm.engine-library: "), HasSubstr("warning  dcgm.host-engine: ")));
}

TEST_F(DcgmRefusals, OfMissingDevicesAreReportedByVerifyAndTheService) {
  spec(", devices: \"i:0,8\"");
  EXPECT_THAT(host_.slipway(words({"verify"})).out,
              HasSubstr("warning  dcgm.devices: `devices` selects GPU instances"));
  RunningService service(host_, service_words());
  EXPECT_TRUE(service.hears("STATUS=`devices` selects GPU instances that do not exist")) << service.told();
}

// Before the fix, verify and doctor passed a service whose scrapes failed.
TEST_F(DcgmRefusals, OfAPortThatIsTakenAreReportedByVerifyDoctorAndStatus) {
  const auto [fd, port] = slipway::testing::take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  port_ = port;
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("STATUS=metrics cannot be scraped: ")) << service.told();
  const Ran verify = host_.slipway(words({"verify"}));
  EXPECT_THAT(verify.out,
              HasSubstr("warning  dcgm.service: the service works, and reports: metrics cannot be scraped: "));
  const Ran doctor = host_.slipway(words({"doctor"}));
  EXPECT_EQ(doctor.code, 1) << doctor.out;
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("fail  dcgm.scrape: metrics cannot be scraped: "), HasSubstr("do: "),
                                Not(HasSubstr("Nothing is wrong"))));
  ::close(fd);
  EXPECT_TRUE(has_gpus(8)) << service.log();
  EXPECT_TRUE(
      eventually([&] { return host_.slipway(words({"doctor"})).out.find("dcgm.scrape") == std::string::npos; }));
}

}  // namespace
}  // namespace slipway
