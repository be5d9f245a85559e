// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/registry_answer.cpp - the answers of a registry or its token service, apart from manifests: challenges,
// links to the next page, redirects, errors, tags.
//
// Input: parts between NUL bytes: WWW-Authenticate, Link, Location, and the body.
#include <cstdint>

#include "artifact/registry/client.hpp"
#include "artifact/registry/http/http.hpp"
#include "artifact/registry/login/authorizer.hpp"
#include "artifact/registry/tags.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;
using namespace slipway::artifact;

constexpr const char* kUrl = "https://registry.example:5000/v2/nvidia/driver/tags/list?n=1000";

void check_challenge(std::string_view header) {
  const Challenge challenge = parse_challenge(std::string(header));
  fuzz::demand(challenge.scheme.find_first_of(" \t") == std::string::npos, "a scheme is one word");
  std::size_t bytes = challenge.scheme.size();
  for (const auto& [name, value] : challenge.parameters) bytes += name.size() + value.size();
  fuzz::demand(bytes <= header.size(), "a challenge holds no more than its header");
}

void check_url(const std::string& reference) {
  const std::string url = resolve_url(kUrl, reference);
  if (url.empty()) return;
  fuzz::demand(url.starts_with("http://") || url.starts_with("https://"), "only those schemes are followed");
  fuzz::demand(url.find_first_of("\r\n") == std::string::npos, "a URL is one line");
  fuzz::demand(host_of_url(url).size() <= url.size() && resolve_url(kUrl, url) == url, "what is absolute stays");
}

void check_reference(std::string_view text) {
  const auto reference = parse_reference(std::string(text));
  fuzz::demand_presentable(reference);
  if (!reference) return;
  const auto again = parse_reference("oci://" + reference->authority() + "/" + reference->name);
  fuzz::demand(again.ok() && again->authority() == reference->authority(), "a reference is read as it is written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto parts = fuzz::parts_of({reinterpret_cast<const char*>(data), size}, 4);
  parts.resize(4);
  check_challenge(parts[0]);
  HttpResponse response{.status = 401, .headers = {}, .body = std::string(parts[3]), .url = kUrl};
  response.headers.emplace("link", std::string(parts[1]));
  response.headers.emplace("www-authenticate", std::string(parts[0]));
  const std::string next = next_link(response);
  fuzz::demand(parts[1].find(next) != std::string_view::npos, "a link is a part of its header");
  check_url(next);
  check_url(std::string(parts[2]));
  check_reference(parts[2]);
  for (const int status : {401, 404, 429, 500}) {
    response.status = status;
    fuzz::demand_presentable(refusal(response, "read the tags"));
  }
  if (is_tag(parts[3]))
    fuzz::demand(percent_encoded(std::string(parts[3])).size() == parts[3].size(), "plain in a URL");
  return 0;
}
