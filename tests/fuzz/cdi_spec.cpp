// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/cdi_spec.cpp - a CDI spec from another program: an accepted one is written and read back as the same.
#include <cstdint>

#include "nvidia/cdi/text.hpp"
#include "tests/fuzz/fuzz_check.hpp"
#include "toolkit/cdi/transform.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::nvidia;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto spec = cdi::parse_and_validate(text, "spec");
  fuzz::demand_presentable(spec);
  if (!spec) return 0;
  toolkit::finish(*spec, false);  // `all` may combine two network devices of one name
  fuzz::demand(cdi::validate(*spec, "spec").ok(), "a valid spec is valid when it is tidied");
  const auto again = cdi::parse_and_validate(cdi::to_yaml(*spec), "again");
  // Invalid UTF-8 is written as U+FFFD; a spec with such bytes is stable only from the second time on.
  fuzz::demand(again.ok(), "what slipway writes can be read");
  const auto third = cdi::parse(cdi::to_yaml(*again), "third");
  fuzz::demand(third.ok() && *third == *again, "what slipway writes is read back as the same");
  return 0;
}
