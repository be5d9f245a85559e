// SPDX-License-Identifier: Apache-2.0
#include <slipway/regular_file.hpp>

#include "driver/build/description.hpp"
#include "driver/package/annotations.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";

constexpr std::size_t kMostOfIndex = std::size_t{16} << 20U;

// Another user may have written the layout: a pipe, or a link that leads out, counts as missing.
Json read_json(const RootDir& layout, const std::string& file) {
  const auto text = read_regular(layout, file, kMostOfIndex);
  const Json value = text ? parse_foreign(*text) : Json();
  return value.is_object() ? value : Json::object();
}

Json member(const Json& object, const char* name, const Json& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->type() == otherwise.type() ? *found : otherwise;
}

bool is_source_of(const Json& notes, const Built& of) {
  const auto text = [&](const char* name) { return member(notes, name, "").get<std::string>(); };
  return text(annotation::kVersion) == of.version && text(annotation::kFlavour) == nvidia::to_string(of.flavour) &&
         text(annotation::kOs) == of.os && text(annotation::kArch) == of.arch && text(annotation::kKernel).empty();
}

void collect(const Json& index, const RootDir& layout, const Built& of, int depth,
             std::map<std::string, std::string>& fails) {
  for (const Json& descriptor : member(index, "manifests", Json::array())) {
    if (!descriptor.is_object()) continue;
    const std::string digest = member(descriptor, "digest", "").get<std::string>();
    const bool is_index = member(descriptor, "mediaType", "").get<std::string>() == kIndexType;
    if (is_index && depth > 0 && digest.starts_with("sha256:") && digest.find('/') == std::string::npos)
      collect(read_json(layout, "/blobs/sha256/" + digest.substr(7)), layout, of, depth - 1, fails);
    const Json notes = member(descriptor, "annotations", Json::object());
    if (is_index || !is_source_of(notes, of)) continue;
    const Json list = parse_foreign(member(notes, annotation::kFails, "").get<std::string>());
    if (!list.is_object()) continue;
    for (const auto& [kernel, error] : list.items())
      if (error.is_string()) fails[kernel] = error;
  }
}

}  // namespace

std::map<std::string, std::string> recorded_failures(const std::string& layout, const Built& of) {
  std::map<std::string, std::string> fails;
  if (const auto folder = RootDir::open(layout)) collect(read_json(*folder, "/index.json"), *folder, of, 2, fails);
  return fails;
}

}  // namespace slipway::driver
