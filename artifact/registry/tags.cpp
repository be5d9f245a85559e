// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/tags.hpp"

#include <algorithm>

#include "artifact/io/entry_rules.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {
namespace {

constexpr int kMaxPages = 1000;
constexpr std::size_t kMaxTag = 128;

Error no_repository(const RegistryClient& client, const HttpResponse& response) {
  Error error = refusal(response, "read the tags of " + client.reference().name);
  error.what = "registry " + client.reference().authority() + " has no repository '" + client.reference().name + "'";
  error.where = "oci://" + client.reference().authority() + "/" + client.reference().name;
  error.next = "check the name, or push the package first: `slipway pkg push LAYOUT --to " + error.where + "`";
  return error;
}

}  // namespace

bool is_tag(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !text.empty() && text.size() <= kMaxTag && text.find_first_not_of(kLetters) == std::string_view::npos &&
         text.front() != '.' && text.front() != '-';
}

Status check_tag(std::string_view tag, const std::string& where) {
  if (is_tag(tag)) return {};
  return Error{.code = ErrorCode::invalid,
               .what = "'" + printable(tag) + "' is not a tag: a registry takes at most " + std::to_string(kMaxTag) +
                       " letters, digits, '_', '.' and '-', not beginning with '.' or '-'",
               .where = where,
               .next = "push the right tags alone with `--tag`, or tag the package again with `slipway pkg build`"};
}

bool is_companion_tag(std::string_view tag) {
  if (!tag.starts_with("sha256-") || tag.size() < 71) return false;
  return is_digest("sha256:" + std::string(tag.substr(7, 64))) && (tag.size() == 71 || tag[71] == '.');
}

std::string next_link(const HttpResponse& response) {
  const std::string link = response.header("link");
  const std::size_t begin = link.find('<');
  const std::size_t end = link.find('>');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  const std::string relation = link.substr(end);
  if (relation.find("rel=\"next\"") == std::string::npos && relation.find("rel=next") == std::string::npos) return {};
  return link.substr(begin + 1, end - begin - 1);
}

Result<std::vector<std::string>> list_tags(RegistryClient& client) {
  std::vector<std::string> tags;
  std::string url = client.url("tags/list?n=1000");
  for (int page = 0; page < kMaxPages; ++page) {
    SLIPWAY_TRY(response, client.send(HttpRequest{.url = url}));
    if (response.status == 404) return no_repository(client, response);
    if (response.status != 200) return refusal(response, "read the tags of " + client.reference().name);
    SLIPWAY_TRY(body, parse_json(response.body, "the list of tags of " + client.reference().name));
    for (const Json& item : array_at(body, "tags"))
      if (item.is_string() && is_tag(item.get<std::string>())) tags.push_back(item);
    const std::string next = resolve_url(url, next_link(response));
    // A page on another host is an error or an attack.
    if (next_link(response).empty() || next == url || origin_of_url(next) != origin_of_url(url)) break;
    url = next;
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

}  // namespace slipway::artifact
