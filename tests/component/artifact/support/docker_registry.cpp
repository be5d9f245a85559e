// SPDX-License-Identifier: Apache-2.0
#include "tests/component/artifact/support/docker_registry.hpp"

#include <stdexcept>

#include <unistd.h>

#include "tests/component/artifact/support/http_server.hpp"

namespace slipway::artifact::test {

DockerRegistry::DockerRegistry(Options options) : options_(options), port_(free_port()) {
  require_program("docker-registry", "docker-registry");
  if (options_.tls) make_certificate();
  if (options_.login) {
    require_program("htpasswd", "apache2-utils");
    if (run("htpasswd -Bbc " + (dir_ / "htpasswd") + " slipway geheim").status != 0)
      throw std::runtime_error("htpasswd failed");
    // base64 of slipway:geheim
    write_file(auth_file(), "{\"auths\":{\"" + authority() + "\":{\"auth\":\"c2xpcHdheTpnZWhlaW0=\"}}}");
  }
  write_file(dir_ / "config.yml", config());
  process_ = std::make_unique<Background>(std::vector<std::string>{"docker-registry", "serve", dir_ / "config.yml"},
                                          dir_ / "log");
  wait_until_up();
}

void DockerRegistry::make_certificate() const {
  require_program("openssl", "openssl");
  const auto made =
      run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test "
          "-addext subjectAltName=IP:127.0.0.1 -keyout " +
          (dir_ / "key.pem") + " -out " + ca_file());
  if (made.status != 0) throw std::runtime_error("openssl: " + made.text);
}

std::string DockerRegistry::config() const {
  std::string text = "version: 0.1\nlog: {level: warn}\nstorage:\n  filesystem: {rootdirectory: " + (dir_ / "data") +
                     "}\nhttp:\n  addr: " + authority() + "\n";
  if (options_.tls) text += "  tls: {certificate: " + ca_file() + ", key: " + (dir_ / "key.pem") + "}\n";
  if (options_.login) text += "auth:\n  htpasswd: {realm: test, path: " + (dir_ / "htpasswd") + "}\n";
  return text;
}

void DockerRegistry::wait_until_up() const {
  const std::string url = (options_.tls ? "https://" : "http://") + authority() + "/v2/";
  for (int i = 0; i < 400 && process_->running(); ++i) {
    if (run("curl -sk -o /dev/null " + url).status == 0) return;
    ::usleep(50'000);
  }
  throw std::runtime_error("docker-registry does not come up: " + file_text(dir_ / "log"));
}

std::string DockerRegistry::skopeo_options(const std::string& side) const {
  const std::string prefix = side.empty() ? "--" : "--" + side + "-";
  std::string text = prefix + "tls-verify=false";
  if (options_.login) text += " " + prefix + "creds=slipway:geheim";
  return text;
}

}  // namespace slipway::artifact::test
