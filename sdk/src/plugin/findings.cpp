// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "src/text/read.hpp"

namespace slipway {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames{"pass", "fail", "warning", "not-applicable", "not-exercised"};
static_assert(kStatusNames.size() == static_cast<std::size_t>(Finding::Status::not_exercised) + 1);

std::optional<Finding::Status> status_from(const std::string& name) {
  const auto* const found = std::find(kStatusNames.begin(), kStatusNames.end(), name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<Finding::Status>(found - kStatusNames.begin());
}

}  // namespace

bool Findings::on_live_machine(const Host& host, std::string name) {
  if (!host.live()) not_exercised(std::move(name), "the root is not running");
  return host.live();
}

bool Findings::passed() const {
  return std::none_of(list_.begin(), list_.end(),
                      [](const Finding& finding) { return finding.status == Finding::Status::fail; });
}

std::string_view to_string(Finding::Status status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

Json to_json(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings.list()) {
    Json item{{"status", to_string(finding.status)}, {"name", finding.name}, {"text", finding.text}};
    if (!finding.remedy.empty()) item["remedy"] = finding.remedy;
    if (!finding.cause.empty()) item["cause"] = finding.cause;
    list.push_back(std::move(item));
  }
  return list;
}

Result<Findings> findings_from_json(const Json& value) {
  if (!value.is_array())
    return Error{.code = ErrorCode::plugin_defect,
                 .what = "findings are a list, got " + canonical(value).substr(0, 200)};
  Findings findings;
  for (const Json& item : value) {
    const std::optional<Finding::Status> status = status_from(detail::text_at(item, "status"));
    std::string name = detail::text_at(item, "name");
    if (!status || name.empty())
      return Error{.code = ErrorCode::plugin_defect,
                   .what =
                       "a finding needs a 'name' and a 'status' (pass, fail, warning, not-applicable or "
                       "not-exercised), got " +
                       canonical(item).substr(0, 200)};
    findings.add({*status, std::move(name), detail::text_at(item, "text"), detail::text_at(item, "remedy"),
                  detail::text_at(item, "cause")});
  }
  return findings;
}

}  // namespace slipway
