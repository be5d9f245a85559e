// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/component/service/http_client.hpp"
#include "tests/component/service/running_service.hpp"

namespace slipway {
namespace {

using slipway::testing::Clock;
using slipway::testing::Control;
using slipway::testing::eventually;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using slipway::testing::take_port;
using ::testing::HasSubstr;

constexpr const char* kCdiSpec = R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu",
  "devices": [{"name": "all", "containerEdits": {"env": ["A=b"]}}]})";

std::string get_metrics(std::uint16_t port) { return slipway::testing::http_get(port, "/metrics"); }

class ValidatorService : public ::testing::Test {
 protected:
  ValidatorService() {
    port_ = slipway::testing::free_port();
    spec(port_);
    host_.put("etc/cdi/nvidia.json", kCdiSpec);
    host_.put("dev/kmsg", "");
  }
  void spec(std::uint16_t port) const {
    host_.spec("    validator: {address: 127.0.0.1, node: node-1, port: " + std::to_string(port) + "}\n");
  }
  std::vector<std::string> words(const std::string& command) const {
    std::vector<std::string> all{command};
    if (command == "service") all.emplace_back("validator");
    for (const auto& word :
         {std::string("-f"), host_.folder().at("host.yaml").string(), std::string("--sim"), machine_})
      all.push_back(word);
    return all;
  }
  /// Changes the simulated machine under the running service.
  void sim(const std::string& change) const {
    const std::string command = SLIPWAY_SIM_PROGRAM " " + host_.path("run/slipway/sim").string() + " " + change;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// Writes a line of the driver to the kernel's log, as it would follow sim().
  void kernel(const std::string& line) const {
    std::ofstream(host_.path("dev/kmsg"), std::ios::app) << "4,1,1,-;" << line << "\n";
  }
  void lose_gpu(const std::string& number) const {
    sim("gpu " + number + " lost");
    kernel("NVRM: Xid (PCI:0000:2a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
  }
  void change_driver(const std::string& how) const {
    sim("driver " + how);
    kernel(how == "unloaded" ? "nvidia-nvlink: Unregistered Nvlink Core, major device number 235"
                             : "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  " + how);
  }
  /// Returns how often the simulated NVML was started.
  long starts() const {
    const std::string command =
        SLIPWAY_SIM_PROGRAM " " + host_.path("run/slipway/sim").string() + " calls > " + host_.path("calls").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    const std::string text = host_.text("calls");
    const std::size_t at = text.find("initialisations ");
    return at == std::string::npos ? 0 : std::stol(text.substr(at + 16));
  }
  /// The simulated machine's own state is below run/slipway, and counts calls.
  std::map<std::string, std::string> tree_without_the_simulator() const {
    auto tree = host_.tree();
    std::erase_if(tree,
                  [](const auto& entry) { return entry.first == "run" || entry.first.starts_with("run/slipway"); });
    return tree;
  }
  bool existing(const std::string& name) const {
    return std::filesystem::exists(host_.path("run/nvidia/validations/" + name));
  }
  bool comes_to(const std::string& name, bool wanted) const {
    return eventually([&] { return existing(name) == wanted; });
  }
  /// Returns the files mapped by the service, its worker and their children.
  static std::vector<std::string> maps_of_its_processes(pid_t pid) {
    std::vector<std::string> all;
    std::vector<std::string> left{std::to_string(pid)};
    while (!left.empty()) {
      const std::string folder = "/proc/" + left.back();
      left.pop_back();
      std::ifstream maps(folder + "/maps");
      all.emplace_back(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>());
      std::error_code gone;
      for (const auto& task : std::filesystem::directory_iterator(folder + "/task", gone)) {
        std::ifstream children(task.path() / "children");
        for (std::string child; children >> child;) left.push_back(child);
      }
    }
    EXPECT_GE(all.size(), 2U) << "the service and its worker";
    return all;
  }

  ScratchHost host_;
  std::uint16_t port_ = 0;
  std::string machine_ = "h100x2,driver=550.90.07";
};

TEST_F(ValidatorService, KeepsTheFilesOfPassedChecksOnly) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(existing("driver-ready"));
  EXPECT_TRUE(existing("toolkit-ready"));
  EXPECT_THAT(host_.text("run/nvidia/validations/driver-ready"),
              HasSubstr("IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/"));
  EXPECT_FALSE(existing("cuda-ready"));
  EXPECT_FALSE(existing("plugin-ready"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_FALSE(existing("driver-ready")) << "nobody keeps it true any more";
}

TEST_F(ValidatorService, FollowsALostGpuAStaleSpecAndADeletedFile) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  lose_gpu("1");
  EXPECT_TRUE(comes_to("driver-ready", false));
  EXPECT_TRUE(eventually([&] { return service.log().find("NVML_ERROR_GPU_IS_LOST") != std::string::npos; }));
  sim("gpu 1 found");
  EXPECT_TRUE(comes_to("driver-ready", true));
  std::filesystem::remove(host_.path("run/nvidia/validations/driver-ready"));
  EXPECT_TRUE(comes_to("driver-ready", true));
  std::filesystem::remove(host_.path("etc/cdi/nvidia.json"));
  EXPECT_TRUE(comes_to("toolkit-ready", false));
  host_.put("etc/cdi/nvidia.json", kCdiSpec);
  EXPECT_TRUE(comes_to("toolkit-ready", true));
}

// Before the fix, the service called NVML twice a second, and kept NVML's 17 MB: now a child calls it, and only after
// an event.
TEST_F(ValidatorService, StartsNvmlOncePerEventInAnotherProcess) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(starts(), 1);
  for (const std::string& maps : maps_of_its_processes(service.pid()))
    EXPECT_THAT(maps, ::testing::Not(HasSubstr("libnvidia-ml.so")));
  // The service's next action comes after everything that it would have done before.
  host_.put("etc/cdi/other.json", kCdiSpec);
  std::filesystem::remove(host_.path("etc/cdi/nvidia.json"));
  std::filesystem::remove(host_.path("run/nvidia/validations/driver-ready"));
  EXPECT_TRUE(comes_to("driver-ready", true));
  EXPECT_EQ(starts(), 1) << "files are no matter of NVML";
  kernel("NVRM: Xid (PCI:0000:2a:00): 31, pid=1, a program of a tenant");
  kernel("usb 1-1: new high-speed USB device");
  std::filesystem::remove(host_.path("run/nvidia/validations/driver-ready"));
  EXPECT_TRUE(comes_to("driver-ready", true));
  EXPECT_EQ(starts(), 1) << "nor are programs that crash";
  lose_gpu("1");
  EXPECT_TRUE(comes_to("driver-ready", false));
  EXPECT_GE(starts(), 2);
}

TEST_F(ValidatorService, ServesTheGaugesThatItsFilesShow) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_THAT(get_metrics(port_), HasSubstr("gpu_operator_node_driver_ready{node=\"node-1\"} 1\n"));
  EXPECT_THAT(get_metrics(port_), HasSubstr("gpu_operator_node_device_plugin_devices_total{node=\"node-1\"} -1\n"));
  change_driver("unloaded");
  EXPECT_TRUE(comes_to("driver-ready", false));
  EXPECT_TRUE(eventually([&] {
    return get_metrics(port_).find("gpu_operator_node_driver_validation{node=\"node-1\"} 0\n") != std::string::npos;
  }));
}

TEST_F(ValidatorService, KeepsItsFilesWhileItIsQuiescedAndContinuesAfterwards) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  {
    const Control control(host_.path("run/slipway/service/validator.sock").string());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    EXPECT_TRUE(existing("driver-ready"));
    sim("gpu 0 lost");
  }
  EXPECT_TRUE(comes_to("driver-ready", false));
}

TEST_F(ValidatorService, SurvivesADriverThatIsUnloadedReplacedOrHangs) {
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  change_driver("unloaded");
  EXPECT_TRUE(comes_to("driver-ready", false));
  change_driver("570.133.20");
  EXPECT_TRUE(comes_to("driver-ready", true));
  EXPECT_TRUE(eventually([&] { return service.log().find("driver 570.133.20 answers") != std::string::npos; }));
  sim("gpu 0 hang");
  kernel("NVRM: Xid (PCI:0000:18:00): 119, pid=1, name=x, Timeout after 6s of waiting for RPC response from GPU0 GSP!");
  EXPECT_TRUE(comes_to("driver-ready", false));  // a hanging call is given up
  sim("gpu 0 resume");
  EXPECT_TRUE(comes_to("driver-ready", true));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(ValidatorService, ContinuesWithoutItsPortWhenThatIsTaken) {
  const auto [fd, port] = take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  spec(port);
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(existing("driver-ready"));
  EXPECT_TRUE(eventually([&] { return service.log().find("validator.port") != std::string::npos; })) << service.log();
  ::close(fd);
}

// Before the fix, the service was "working" and no message said that Prometheus gets nothing.
TEST_F(ValidatorService, SaysThatItHasNoGaugesForAsLongAsItsPortIsTaken) {
  const auto [fd, port] = take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  spec(port);
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("; no gauges\n")) << service.told() << service.log();
  const auto reasons = [this] {
    const Control control(host_.path("run/slipway/service/validator.sock").string());
    return control.ask(R"({"op":"status"})")["reasons"].dump();
  };
  const auto has_reason = [&] { return reasons().find("no gauges: ") != std::string::npos; };
  EXPECT_TRUE(eventually(has_reason)) << reasons();
  EXPECT_THAT(reasons(), HasSubstr(":" + std::to_string(port)));
  ::close(fd);
  const auto end = Clock::now() + std::chrono::minutes(2);
  while (has_reason() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(has_reason()) << reasons();
  const std::string told = service.told();
  EXPECT_THAT(told.substr(told.rfind("STATUS=")), ::testing::Not(HasSubstr("no gauges")));
  EXPECT_THAT(get_metrics(port), HasSubstr("gpu_operator_node_driver_ready{node=\"node-1\"} 1\n"));
}

// Before the fix, the simulated machine's NVML answered anyway, and verify passed the driver although no apply had
// installed one.
TEST_F(ValidatorService, FindsNoWorkingDriverOnABareMachine) {
  machine_ = "h100x2";
  const Ran verify = host_.slipway(words("verify"));
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("fail  validator.owned: ")) << "no apply has provisioned it";
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  validator.driver: no driver runs on this simulated machine"));
  RunningService service(host_, words("service"));
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_FALSE(existing("driver-ready"));
}

TEST_F(ValidatorService, ReportsTheSameAsVerify) {
  const auto before = tree_without_the_simulator();
  const Ran verify = host_.slipway(words("verify"));
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("fail  validator.owned: ")) << "no apply has provisioned it";
  EXPECT_THAT(verify.out, HasSubstr("pass  validator.driver: driver 550.90.07 answers for 2 GPUs"));
  EXPECT_THAT(verify.out, HasSubstr("pass  validator.toolkit"));
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  validator.cuda"));
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  validator.plugin"));
  EXPECT_EQ(tree_without_the_simulator(), before);
}

}  // namespace
}  // namespace slipway
