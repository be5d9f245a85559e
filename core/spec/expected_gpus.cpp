// SPDX-License-Identifier: Apache-2.0
#include "core/spec/expected_gpus.hpp"

#include <set>

namespace slipway::core {
namespace {

constexpr const char* kKey = "spec.expect";
constexpr const char* kKeys = R"(
gpus:
  type: integer
  required: true
  least: 1
  most: 1024
  help: How many GPUs the PCI bus must show. It needs no driver.
  example: 8
product:
  type: string
  help: The PCI vendor and device of all GPUs, as `slipway status` and `lspci -nn` show them.
  pattern: '[0-9a-f]{4}:[0-9a-f]{4}'
  expects: 'a PCI vendor and device in lower-case hexadecimal digits, such as 10de:2330 (`slipway status` shows them)'
  example: '10de:2330'
addresses:
  type: list
  help: The PCI addresses of GPUs, so that a missing one is named. There may be fewer than `gpus`.
  most: 1024
  items:
    type: string
    pattern: '([0-9a-f]{4}|[1-9a-f][0-9a-f]{4,7}):[0-9a-f]{2}:[01][0-9a-f]\.[0-7]'
    expects: 'a PCI address as /sys/bus/pci/devices spells it, such as 0000:65:00.0'
    example: '0000:65:00.0'
)";

}  // namespace

const SchemaKey& expected_gpus_schema() {
  static const SchemaKey schema = [] {
    SchemaKey expect = *own_schema(kKeys, kKey);
    expect.help =
        "The GPUs that this host must have, whatever `hardware` says. `verify` and `doctor` fail when fewer are on the "
        "PCI bus or answer, when one is of another product, or when an address is missing; `status` begins with it "
        "and exits with 1, plan and apply warn. An image has no GPUs: they are counted from its first boot.";
    return expect;
  }();
  return schema;
}

ExpectedGpus expected_gpus(const Json& written, SchemaCheck& check) {
  ExpectedGpus expected{written["gpus"].get<std::size_t>(), written.value("product", "")};
  const std::string list = below(kKey, "addresses");
  std::set<std::string> seen;
  for (const Json& each : written.value("addresses", Json::array())) {
    const std::string key = below(list, std::to_string(expected.addresses.size()));
    expected.addresses.push_back(each);
    if (!seen.insert(each).second)
      check.problems.add(check.positions[key], key, "expect.addresses names " + each.get<std::string>() + " twice",
                         "name each GPU once");
  }
  if (seen.size() > expected.count)
    check.problems.add(check.positions[list], list,
                       "expect.addresses names " + std::to_string(seen.size()) + " GPUs, and expect.gpus is " +
                           std::to_string(expected.count),
                       "correct one of the two");
  return expected;
}

}  // namespace slipway::core
