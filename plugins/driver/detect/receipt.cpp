// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/receipt.hpp"

#include <algorithm>

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

std::vector<std::string> texts_of(const Json& object, const char* member) {
  std::vector<std::string> texts;
  if (!object.is_object()) return texts;
  for (const auto& text : object.value(member, Json::array()))
    if (text.is_string()) texts.push_back(text);
  return texts;
}

Json to_json(const InstalledKernel& kernel) {
  return {{"release", kernel.release},
          {"compiled", kernel.compiled},
          {"manifest", kernel.manifest},
          {"modules", kernel.modules}};
}

InstalledKernel installed_kernel_from(const Json& value) {
  return {text_of(value, "release"), flag_of(value, "compiled"), text_of(value, "manifest"),
          texts_of(value, "modules")};
}

}  // namespace

std::vector<InstalledKernel> Receipt::kernels() const {
  std::vector<InstalledKernel> all{{kernel_release, compiled, manifest, modules}};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

bool Receipt::has_kernel(const std::string& release) const {
  return release == kernel_release ||
         std::ranges::any_of(further, [&](const InstalledKernel& kernel) { return kernel.release == release; });
}

std::string Receipt::flavours_text() const { return proprietary.empty() ? flavour : flavour + " and proprietary"; }

std::string Receipt::kernels_text() const {
  std::string text = (further.empty() ? "kernel " : "kernels ") + kernel_release;
  for (const auto& kernel : further) text += (&kernel == &further.back() ? " and " : ", ") + kernel.release;
  return text;
}

// "kernel", "compiled", "manifest" and "modules" describe the target kernel; receipts of slipway 0.1.0 have only these.
Json to_json(const Receipt& receipt) {
  Json kernels = Json::array();
  for (const auto& kernel : receipt.kernels()) kernels.push_back(to_json(kernel));
  Json value{{"apiVersion", kApiVersion},
             {"version", receipt.version},
             {"flavour", receipt.flavour},
             {"kernel", receipt.kernel_release},
             {"compiled", receipt.compiled},
             {"manifest", receipt.manifest},
             {"files", to_json(receipt.files)},
             {"firmware", receipt.firmware},
             {"modules", receipt.modules},
             {"libdir", receipt.libdir},
             {"kernels", kernels}};
  for (const auto& kernel : receipt.proprietary) value["proprietary"].push_back(to_json(kernel));
  if (!receipt.without.empty()) value["kernels_without_package"] = receipt.without;
  if (receipt.follows_kernels) value["follows_kernels"] = true;
  if (!receipt.kept_entry.empty())
    value["boot_default"] = {{"kept", receipt.kept_entry}, {"former", receipt.former_entry}};
  return value;
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
  receipt.modules = texts_of(value, "modules");
  for (const auto& kernel : value.value("kernels", Json::array())) {
    InstalledKernel one = installed_kernel_from(kernel);
    if (!one.release.empty() && one.release != receipt.kernel_release) receipt.further.push_back(std::move(one));
  }
  for (const auto& kernel : value.value("proprietary", Json::array()))
    receipt.proprietary.push_back(installed_kernel_from(kernel));
  receipt.without = texts_of(value, "kernels_without_package");
  receipt.follows_kernels = flag_of(value, "follows_kernels");
  if (const auto kept = value.find("boot_default"); kept != value.end() && kept->is_object()) {
    receipt.kept_entry = text_of(*kept, "kept");
    receipt.former_entry = text_of(*kept, "former");
  }
  receipt.libdir = text_of(value, "libdir");
  return receipt;
}

std::optional<Receipt> read_receipt(const Host& host) {
  const auto text = host.read(kReceiptPath);
  if (!text) return std::nullopt;
  return receipt_from_json(Json::parse(*text, nullptr, false));
}

}  // namespace slipway::driver
