// SPDX-License-Identifier: Apache-2.0
#include "core/host/path_image.hpp"

namespace slipway::core {
namespace {

unsigned hex_digit(char digit) { return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/// {"name": "value in hex"}
Json to_hex(const base::Attributes& attributes) {
  Json value = Json::object();
  for (const auto& [name, bytes] : attributes) {
    std::string hex;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      hex += "0123456789abcdef"[byte >> 4];
      hex += "0123456789abcdef"[byte & 15];
    }
    value[name] = hex;
  }
  return value;
}

base::Attributes from_hex(const Json& value) {
  base::Attributes attributes;
  if (!value.is_object()) return attributes;
  for (const auto& [name, hex] : value.items()) {
    const auto text = hex.get<std::string>();
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      bytes += static_cast<char>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1]));
    attributes[name] = bytes;
  }
  return attributes;
}

}  // namespace

Image to_json(const PathImage& image) {
  Image value{{"type", image.type}};
  if (!image.missing_parents.empty()) value["missing_parents"] = image.missing_parents;
  if (image.type == "absent") return value;
  value["mode"] = image.file.mode;
  value["uid"] = image.file.uid;
  value["gid"] = image.file.gid;
  value["mtime_ns"] = image.file.mtime_ns;
  if (!image.file.attributes.empty()) value["attributes"] = to_hex(image.file.attributes);
  if (image.type == "regular") value["digest"] = image.digest;
  if (image.type == "symlink") value["points_to"] = image.points_to;
  if (!image.device.empty()) value["device"] = {{"type", image.device}, {"major", image.major}, {"minor", image.minor}};
  return value;
}

PathImage path_image_from_json(const Image& image) {
  const Json device = image.value("device", Json::object());
  return {image.value("type", ""),
          {image.value("mode", 0644U), image.value("uid", 0U), image.value("gid", 0U),
           image.value("mtime_ns", std::int64_t{0}), from_hex(image.value("attributes", Json()))},
          image.value("digest", ""),
          image.value("points_to", ""),
          device.value("type", ""),
          device.value("major", 0U),
          device.value("minor", 0U),
          image.value("missing_parents", std::vector<std::string>{})};
}

bool is_absent(const Image& image) { return image.is_object() && image.value("type", "") == "absent"; }

}  // namespace slipway::core
