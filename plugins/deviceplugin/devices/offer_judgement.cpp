// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/offer_judgement.hpp"

#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

OfferCheck judge_offer(const std::vector<Gpu>& gpus, const std::vector<AbsentGpu>& absent,
                       const nvidia::config::Settings& settings) {
  OfferCheck check;
  if (gpus.empty()) return check;
  check.is_known = true;
  Remarks remarks;
  const auto resources = make_resources(gpus, settings, remarks, absent);
  if (!resources) {
    check.problem = resources.error();
    return check;
  }
  for (const Missing& each : remarks.missing) {
    if (each.is_lost)
      check.remarks.push_back(each.where + ": " + each.what + " (" + each.next + ")");
    else if (!check.problem)
      check.problem = Error{.code = each.may_come ? ErrorCode::not_found : ErrorCode::invalid,
                            .what = each.what,
                            .where = each.where,
                            .next = each.next};
  }
  return check;
}

}  // namespace slipway::deviceplugin
