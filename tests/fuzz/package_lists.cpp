// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/package_lists.cpp - the lists of package managers in a root, plain and compressed: Debian's Packages and
// Release, apt's preferences, primary.xml; and loader.conf.
#include <cstdint>
#include <string_view>

#include "driver/boot/loader_entries.hpp"
#include "driver/coming/apt_lists.hpp"
#include "driver/coming/dnf_lists.hpp"
#include "driver/coming/version_order.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;
using namespace slipway::driver;

constexpr std::size_t kLongestWord = 200;

bool is_short_line(std::string_view text) {
  return text.size() <= kLongestWord && text.find('\n') == std::string_view::npos;
}

void check_orders(std::string_view one, std::string_view other) {
  fuzz::demand(compare_deb_versions(one, other) == -compare_deb_versions(other, one),
               "dpkg's order has two directions");
  fuzz::demand(compare_deb_versions(one, one) == 0, "a version is equal to itself");
  fuzz::demand(compare_rpm_versions(one, other) == -compare_rpm_versions(other, one), "rpm's order has two directions");
  fuzz::demand(compare_rpm_versions(one, one) == 0, "a version is equal to itself");
}

void check_deb(std::string_view entry) {
  const DebPackage package = deb_package_from(entry);
  for (const auto* text : {&package.name, &package.version, &package.arch, &package.status})
    fuzz::demand(is_short_line(*text), "fields are short lines");
  for (const auto& name : package.depends) fuzz::demand(is_kernel_package(name), "only kernels are taken in");
}

void check_rpm(std::string_view entry) {
  const auto package = rpm_package_from(entry);
  if (!package) return;
  for (const auto* text : {&package->name, &package->arch, &package->epoch, &package->version, &package->release})
    fuzz::demand(!text->empty() && is_short_line(*text) && text->find_first_of("</ '\"\x1b") == std::string::npos,
                 "a package's words are plain");
  fuzz::demand(!is_newer(*package, *package), "no package is newer than itself");
}

void check_list(std::string_view bytes, const EntryForm& form, void (*check)(std::string_view)) {
  ListLimits limits;
  limits.unpacked_bytes = std::size_t{8} << 20U;
  limits.entry_bytes = std::size_t{1} << 20U;
  const Status read = read_entries(bytes, "/list", form, limits, [&](std::string_view entry) -> Status {
    fuzz::demand(!entry.empty() && entry.size() <= limits.entry_bytes, "entries have a length within the limit");
    fuzz::demand(entry.find(form.end) == std::string_view::npos, "an entry ends at its end");
    check(entry);
    return {};
  });
  if (!read) fuzz::demand_presentable(read.error());
}

void check_loader_conf(std::string_view text) {
  const std::string with = loader_conf_with(text, "m-6.1.0.conf");
  fuzz::demand(loader_setting(with, "default") == "m-6.1.0.conf", "the default is set");
  fuzz::demand(loader_conf_with(with, "m-6.1.0.conf") == with, "once is enough");
  fuzz::demand(loader_setting(loader_conf_without_ours(with), "default").empty(), "and it can be taken back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_list(bytes, {"\n\n"}, check_deb);
  check_list(bytes, {"</package>"}, check_rpm);
  check_orders(bytes.substr(0, size / 2), bytes.substr(size / 2));
  list_origin_from(bytes, bytes.substr(0, size / 2));
  std::vector<std::string> problems;
  for (const auto& pin : apt_pins_from(bytes, "/etc/apt/preferences", problems))
    fuzz::demand(!pin.names.empty() && pin.priority != 0, "a pin has names and a priority");
  check_loader_conf(bytes);
  return 0;
}
