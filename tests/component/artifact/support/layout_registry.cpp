// SPDX-License-Identifier: Apache-2.0
#include "tests/component/artifact/support/layout_registry.hpp"

#include "artifact/oci/digest.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact::test {
namespace {

const std::string kBase = "/v2/nvidia/driver/";

std::vector<TaggedRoot> roots_of(const LayoutMaker& layout) {
  return *parse_layout_index(file_text(layout.path() + "/index.json"), layout.path());
}

}  // namespace

LayoutRegistry::LayoutRegistry(const LayoutMaker& layout, Fault fault)
    : layout_(layout), fault_(std::move(fault)), server_([this](const ServedRequest& request) {
        if (fault_)
          if (auto wrong = fault_(request)) return *wrong;
        return answer(request);
      }) {}

ServedResponse LayoutRegistry::answer(const ServedRequest& request) const {
  if (request.target == "/v2/") return {.body = "{}"};
  if (!request.target.starts_with(kBase)) return registry_error(404, "NAME_UNKNOWN", "repository name not known");
  const std::string path = request.target.substr(kBase.size());
  if (path.starts_with("manifests/")) return manifest(path.substr(10));
  if (path.starts_with("blobs/")) return blob(path.substr(6), request);
  if (path.starts_with("tags/list")) return tags(path);
  return registry_error(404, "UNSUPPORTED", "no such call");
}

ServedResponse LayoutRegistry::manifest(const std::string& reference) const {
  std::string digest = reference;
  for (const TaggedRoot& root : roots_of(layout_))
    if (root.tag == reference) digest = root.descriptor.digest;
  if (!is_digest(digest) || !std::filesystem::exists(layout_.blob_path(digest)))
    return registry_error(404, "MANIFEST_UNKNOWN", "manifest unknown");
  const std::string body = file_text(layout_.blob_path(digest));
  return {.headers = {{"Content-Type", Json::parse(body)["mediaType"]}, {"Docker-Content-Digest", digest}},
          .body = body};
}

ServedResponse LayoutRegistry::blob(const std::string& digest, const ServedRequest& request) const {
  if (!is_digest(digest) || !std::filesystem::exists(layout_.blob_path(digest)))
    return registry_error(404, "BLOB_UNKNOWN", "blob unknown");
  const std::string body = file_text(layout_.blob_path(digest));
  const std::string range = request.header("range");
  if (range.empty()) return {.body = body};
  const std::size_t from = std::stoul(range.substr(range.find('=') + 1));
  if (from >= body.size()) return registry_error(416, "RANGE", "out of range");
  return {.status = 206,
          .headers = {{"Content-Range", "bytes " + std::to_string(from) + "-" + std::to_string(body.size() - 1) + "/" +
                                            std::to_string(body.size())}},
          .body = body.substr(from)};
}

ServedResponse LayoutRegistry::tags(const std::string& target) const {
  std::vector<std::string> all;
  for (const TaggedRoot& root : roots_of(layout_)) all.push_back(root.tag);
  std::sort(all.begin(), all.end());
  const std::size_t last = target.find("last=");
  const std::string after = last == std::string::npos ? "" : target.substr(last + 5);
  Json page = Json::array();
  ServedResponse response;
  for (const std::string& tag : all) {
    if (tag <= after) continue;
    if (page.size() == page_size) {
      response.headers["Link"] = "</v2/nvidia/driver/tags/list?n=" + std::to_string(page_size) +
                                 "&last=" + page.back().get<std::string>() + ">; rel=\"next\"";
      break;
    }
    page.push_back(tag);
  }
  response.body = canonical({{"name", "nvidia/driver"}, {"tags", page}});
  return response;
}

ServedResponse registry_error(int status, const std::string& code, const std::string& message) {
  return {.status = status, .body = canonical({{"errors", {{{"code", code}, {"message", message}}}}})};
}

ClientSettings quick_settings() {
  ClientSettings settings;
  settings.http.connect_timeout = std::chrono::seconds(2);
  settings.http.stall_timeout = std::chrono::seconds(1);
  settings.retry = {
      .attempts = 3, .first_pause = std::chrono::milliseconds(5), .longest_pause = std::chrono::seconds(2)};
  return settings;
}

}  // namespace slipway::artifact::test
