// SPDX-License-Identifier: Apache-2.0
// The clients of the service, and its setup for them: variables, a systemd socket, TLS, and harmful clients.
#include <charconv>
#include <thread>

#include <sys/stat.h>

#include "tests/component/dcgm/dcgm_node.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::FakeSystemd;
using slipway::testing::Page;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using ::testing::HasSubstr;
using ::testing::Not;

class DcgmServing : public DcgmNode {
 protected:
  /// Sets a variable for all programs that this test starts.
  void variable(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  ~DcgmServing() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  std::vector<std::string> set_;
};

TEST_F(DcgmServing, TakesTheVariablesOfDcgmExporter) {
  variable("DCGM_EXPORTER_USE_OLD_NAMESPACE", "true");
  variable("DCGM_EXPORTER_NO_HOSTNAME", "true");
  variable("DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME", "1");
  variable("DCGM_EXPORTER_INTERVAL", "150");
  variable("DCGM_EXPORTER_COLECTORS", "/a.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string line = scrape().of("DCGM_FI_DEV_GPU_TEMP")[0];
  EXPECT_THAT(line, HasSubstr(",uuid=\"GPU-"));
  EXPECT_THAT(line, HasSubstr("modelName=\"NVIDIA-H100-80GB-HBM3\""));
  EXPECT_THAT(line, Not(HasSubstr("Hostname")));
  EXPECT_THAT(service.log(), HasSubstr("every 150ms"));
  EXPECT_THAT(service.log(), HasSubstr("no variable DCGM_EXPORTER_COLECTORS"));
}

TEST_F(DcgmServing, DoesNotStartWithAVariableThatItCannotFollow) {
  variable("DCGM_EXPORTER_ENABLE_PPROF", "true");
  RunningService service(host_, service_words());
  EXPECT_EQ(service.exit_code(), 64) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("DCGM_EXPORTER_ENABLE_PPROF=true asks for something that slipway does not do"));
}

TEST_F(DcgmServing, NamesTheVariableOfAnInvalidInterval) {
  variable("DCGM_EXPORTER_INTERVAL", "5");
  RunningService service(host_, service_words());
  EXPECT_NE(service.exit_code(), 0) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("environment variable DCGM_EXPORTER_INTERVAL"));
}

TEST_F(DcgmServing, NamesTheProcessThatHasThePort) {
  const auto [fd, port] = slipway::testing::take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  port_ = port;
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(service.hears("taken by dcgm_component_ (pid " + std::to_string(::getpid()))) << service.told();
  ::close(fd);
  EXPECT_TRUE(has_gpus(8)) << service.log();
}

TEST_F(DcgmServing, UsesTheSocketThatSystemdPassed) {
  spec(", systemd_socket: true");
  // Uses systemd's own tool; it starts the service with the first connection.
  host_.folder().file("activate", "#!/bin/sh\nexec systemd-socket-activate -l 127.0.0.1:" + std::to_string(port_) +
                                      " -E NOTIFY_SOCKET -E SLIPWAY_PLUGIN_PATH -E SLIPWAY_LOG_DIR " SLIPWAY_PROGRAM
                                      " \"$@\"\n");
  host_.program = host_.folder().at("activate").string();
  ::chmod(host_.program.c_str(), 0755);
  RunningService service(host_, service_words());
  ASSERT_TRUE(has_gpus(8)) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("metrics are served at port " + std::to_string(port_)));
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return service.log().find("starting again with the new spec") != std::string::npos; }));
  EXPECT_TRUE(has_gpus(8)) << "the socket is there again for the service that starts anew: " << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(DcgmServing, SaysThatSystemdPassedNoSocket) {
  spec(", systemd_socket: true");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(service.hears("STATUS=metrics cannot be scraped: systemd passed 0 sockets")) << service.told();
}

// Each client may have an unread page; their total memory is limited.
TEST_F(DcgmServing, ContinuesBesideClientsThatNeverRead) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  std::vector<int> clients;
  const sockaddr_in address = slipway::testing::loopback(port_);
  for (int i = 0; i < 200; ++i) {
    clients.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int small = 1;
    ::setsockopt(clients.back(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (::connect(clients.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
    constexpr std::string_view kRequest = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    (void)!::send(clients.back(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has_gpus(8)) << service.log();
  for (const int fd : clients) ::close(fd);
  EXPECT_TRUE(has_gpus(8)) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

std::string command_output(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  char part[4096];
  for (std::size_t got = 0; pipe != nullptr && (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, got);
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

TEST_F(DcgmServing, LoadsAnotherCertificateWhileItRuns) {
  const std::string folder = host_.path("etc").string();
  std::filesystem::create_directories(folder);
  const auto certificate = [&](const std::string& name) {
    return std::system(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
                        name + " -addext subjectAltName=IP:127.0.0.1 -keyout " + folder + "/new.key -out " + folder +
                        "/new.pem 2>/dev/null && mv " + folder + "/new.key " + folder + "/key.pem && mv " + folder +
                        "/new.pem " + folder + "/cert.pem")
                           .c_str()) == 0;
  };
  ASSERT_TRUE(certificate("first"));
  host_.put("etc/web.yaml",
            "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {ada: "
            "'$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW'}\n");
  spec(", web_config_file: /etc/web.yaml");  // a path in the root, like all paths in a spec
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string curl = "curl -s -v --max-time 5 --cacert " + folder +
                           "/cert.pem https://127.0.0.1:" + std::to_string(port_) + "/metrics ";
  EXPECT_THAT(command_output(curl), HasSubstr("HTTP/1.1 401"));
  EXPECT_THAT(command_output(curl + "-u ada:secret"), HasSubstr("DCGM_FI_DEV_GPU_TEMP{"));
  ASSERT_TRUE(certificate("second"));
  EXPECT_TRUE(eventually([&] {
    const std::string answer = command_output(curl + "-u ada:secret");
    return answer.find("CN=second") != std::string::npos && answer.find("DCGM_FI_DEV_GPU_TEMP{") != std::string::npos;
  })) << service.log();
}

class DcgmTakeover : public DcgmServing {};

TEST_F(DcgmTakeover, StopsTheExporterBeforeTheServiceAndRemovalRestoresIt) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root: systemctl runs in the scratch root";
  const FakeSystemd systemd(host_);
  host_.put("usr/lib/systemd/system/dcgm-exporter.service",
            "[Service]\nExecStart=/usr/bin/dcgm-exporter\n[Install]\nWantedBy=multi-user.target\n");
  const auto link = host_.path("etc/systemd/system/multi-user.target.wants/dcgm-exporter.service");
  std::filesystem::create_directories(link.parent_path());
  std::filesystem::create_symlink("/usr/lib/systemd/system/dcgm-exporter.service", link);
  systemd.running("dcgm-exporter.service");
  const auto spec_with = [this](const std::string& word) {
    host_.folder().file("host.yaml",
                        "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: "
                        "assume\n  components:\n    dcgm: {listen: \"127.0.0.1:" +
                            std::to_string(port_) + "\", existing_exporter: " + word + "}\n");
  };
  spec_with("yield");
  const Ran yields = host_.slipway({"plan"});
  EXPECT_THAT(yields.out, Not(HasSubstr("dcgm-exporter"))) << yields.err;
  spec_with("takeover");
  const Ran plan = host_.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("stop dcgm-exporter.service")) << plan.err;
  const Ran apply = host_.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(systemd.told(), HasSubstr("stop dcgm-exporter.service"));
  EXPECT_FALSE(std::filesystem::is_symlink(link)) << "a boot does not start it";
  EXPECT_EQ(host_.slipway({"plan"}).code, 0) << "nothing is left to do";
  const Ran remove = host_.slipway({"remove", "dcgm"});
  ASSERT_EQ(remove.code, 0) << remove.out << remove.err;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(systemd.told().ends_with("start dcgm-exporter.service\n")) << systemd.told();
}

TEST_F(DcgmTakeover, NamesTheOwnerOfThePortInPlanAndVerify) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root: systemctl runs in the scratch root";
  const FakeSystemd systemd(host_);
  const auto [fd, port] = slipway::testing::take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  host_.folder().file("host.yaml",
                      "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: assume\n"
                      "  components:\n    dcgm: {listen: \"127.0.0.1:" +
                          std::to_string(port) + "\"}\n");
  const std::string holder =
      "port " + std::to_string(port) + " is taken by dcgm_component_ (pid " + std::to_string(::getpid());
  const Ran plan = host_.slipway({"plan"});
  EXPECT_THAT(plan.out + plan.err, HasSubstr(holder));
  const Ran verify = host_.slipway({"verify", "-f", host_.folder().at("host.yaml").string()});
  EXPECT_THAT(verify.out + verify.err, HasSubstr(holder));
  ::close(fd);
  EXPECT_THAT(host_.slipway({"plan"}).out, Not(HasSubstr("is taken by")));
}

TEST_F(DcgmTakeover, MakesTheSocketUnitAndRemovesIt) {
  host_.spec("    dcgm: {systemd_socket: true}\n");
  const Ran apply = host_.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(host_.text("etc/systemd/system/slipway-dcgm.socket"), HasSubstr("ListenStream=127.0.0.1:9400\n"));
  EXPECT_THAT(host_.text("etc/systemd/system/slipway-dcgm.service.d/10-socket.conf"),
              HasSubstr("Sockets=slipway-dcgm.socket"));
  EXPECT_TRUE(std::filesystem::is_symlink(host_.path("etc/systemd/system/sockets.target.wants/slipway-dcgm.socket")));
  EXPECT_EQ(host_.slipway({"plan"}).code, 0);
  const std::string verified =
      command_output("systemd-analyze verify --man=no --root=" + host_.path("").string() + " slipway-dcgm.socket");
  EXPECT_THAT(verified, Not(HasSubstr("Unknown"))) << verified;
  ASSERT_EQ(host_.slipway({"remove", "dcgm"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host_.path("etc/systemd/system/slipway-dcgm.socket")));
}

}  // namespace
}  // namespace slipway
