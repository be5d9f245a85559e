// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/docker_login.cpp - docker's config.json, and what a credential helper prints.
//
// Input: the config file. A helper named "fuzz" is in PATH, alone, and prints the same bytes.
#include <cstdint>
#include <cstdlib>

#include <slipway/text.hpp>

#include "artifact/registry/login/credentials.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;
using namespace slipway::artifact;

/// A folder with the helper, which becomes PATH.
struct Place {
  Place() {
    const auto helper = scratch.folder() / "docker-credential-fuzz";
    fuzz::write_file(helper, "#!/bin/sh\nexec /bin/cat " + config() + "\n");
    if (::chmod(helper.c_str(), 0755) != 0 || ::setenv("PATH", scratch.folder().c_str(), 1) != 0) std::abort();
  }
  std::string config() const { return (scratch.folder() / "config.json").string(); }
  fuzz::Scratch scratch;
};

void check_base64(const std::string& text) {
  fuzz::demand(base64_decoded(base64_encoded(text)) == text, "base64 is read as it is written");
  if (const auto bytes = base64_decoded(text)) fuzz::demand(bytes->size() <= text.size(), "decoded bytes are fewer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_base64(text);
  fuzz::write_file(place.config(), text);
  for (const char* repository : {"oci://registry.example:5000/nvidia/driver", "oci://docker.io/nvidia/driver"}) {
    const auto reference = parse_reference(repository);
    const auto found = find_credentials(*reference, place.config());
    fuzz::demand_presentable(found);
    if (!found || !*found) continue;
    const Credentials& credentials = **found;
    fuzz::demand(!credentials.user.empty() || !credentials.identity_token.empty(), "a login is somebody's");
    fuzz::demand(!credentials.found_in.empty(), "messages say where a login is from");
  }
  return 0;
}
