// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/receipt.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kApiVersion = "slipway.dev/driver/v1";

std::string text_of(const Json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool flag_of(const Json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

Json to_json(const Receipt& receipt) {
  return {{"apiVersion", kApiVersion},        {"version", receipt.version},   {"flavour", receipt.flavour},
          {"kernel", receipt.kernel_release}, {"compiled", receipt.compiled}, {"manifest", receipt.manifest},
          {"files", to_json(receipt.files)},  {"firmware", receipt.firmware}, {"modules", receipt.modules},
          {"libdir", receipt.libdir}};
}

std::string receipt_text(const Receipt& receipt) { return pretty(to_json(receipt)); }

std::optional<Receipt> receipt_from_json(const Json& value) {
  if (!value.is_object() || text_of(value, "apiVersion") != kApiVersion) return std::nullopt;
  Receipt receipt;
  receipt.version = text_of(value, "version");
  receipt.flavour = text_of(value, "flavour");
  receipt.kernel_release = text_of(value, "kernel");
  receipt.compiled = flag_of(value, "compiled");
  receipt.manifest = text_of(value, "manifest");
  auto files = package_files_from_json(value.value("files", Json::object()));
  if (!files || receipt.version.empty()) return std::nullopt;
  receipt.files = std::move(*files);
  receipt.firmware = flag_of(value, "firmware");
  for (const auto& name : value.value("modules", Json::array()))
    if (name.is_string()) receipt.modules.push_back(name);
  receipt.libdir = text_of(value, "libdir");
  return receipt;
}

std::optional<Receipt> read_receipt(const Host& host) {
  const auto text = host.read(kReceiptPath);
  if (!text) return std::nullopt;
  return receipt_from_json(Json::parse(*text, nullptr, false));
}

}  // namespace slipway::driver
