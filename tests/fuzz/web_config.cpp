// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/web_config.cpp - the web-config file of a service's listener, with the certificate and the key beside it.
//
// Input: the file.
#include "base/http/web_config.hpp"

#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;

/// A folder with the certificate and the key that a config may use.
struct Place {
  Place() {
    fuzz::write_file(scratch.folder() / "cert.pem", "certificate");
    fuzz::write_file(scratch.folder() / "key.pem", "key");
  }
  std::string config() const { return (scratch.folder() / "web.yaml").string(); }
  fuzz::Scratch scratch;
};

void check(const base::WebConfig& config) {
  fuzz::demand(!config.users.empty() || !config.certificate.empty(), "a config that is taken protects something");
  fuzz::demand(config.certificate.empty() == config.key.empty(), "a certificate comes with its key");
  fuzz::demand(config.users.size() <= 256, "users are few");
  for (const auto& [user, hash] : config.users) {
    fuzz::demand(!user.empty() && user.find(':') == std::string::npos, "a user can be named in a request");
    fuzz::demand(hash.size() == 60 && hash.starts_with("$2"), "a hash is one of bcrypt");
    fuzz::demand(hash.substr(4, 2) >= "04" && hash.substr(4, 2) <= "12", "a hash can be checked in time");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  fuzz::write_file(place.config(), {reinterpret_cast<const char*>(data), size});
  const auto config = base::read_web_config(place.config());
  fuzz::demand_presentable(config);
  if (!config) return 0;
  check(*config);
  fuzz::demand(!config->files.empty() && !config->changed(), "nothing changed since");
  const auto again = base::read_web_config(place.config());
  fuzz::demand(again.ok() && again->users == config->users && again->key == config->key, "twice is as once");
  return 0;
}
