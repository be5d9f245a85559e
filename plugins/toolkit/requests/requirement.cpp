// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/requirement.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <slipway/text.hpp>

#include "toolkit/requests/report.hpp"

namespace slipway::shim {
namespace {

constexpr std::string_view kPrefix = "NVIDIA_REQUIRE_";
constexpr std::string_view kJetpack = "NVIDIA_REQUIRE_JETPACK";
constexpr const char* kCuda = "NVIDIA_REQUIRE_CUDA";
constexpr const char* kCudaVersion = "CUDA_VERSION";
constexpr std::string_view kOperators[] = {"!=", "<=", ">=", "=", "<", ">"};  // longer ones first
constexpr std::string_view kProperties[] = {"cuda", "driver", "arch", "brand"};
constexpr std::string_view kOfOperators = "<>=!";

enum class Answer { no, unknown, yes };

struct Condition {
  std::string property;  // one of kProperties
  std::string_view is;   // one of kOperators
  std::string value;

  std::string text() const { return property + std::string(is) + value; }
};
using Alternative = std::vector<Condition>;

Error invalid_requirement(const Requirement& requirement, const std::string& why) {
  return Error{ErrorCode::invalid,
               requirement.variable + " is not a requirement: " + why,
               {},
               "correct the variable in the image; NVIDIA_DISABLE_REQUIRE=true for the container turns this check off",
               {}};
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower;
}

/// Reads a boolean like Go's strconv.ParseBool; anything else is false.
bool is_true(const std::string& text) {
  constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  return std::ranges::count(kTrue, text) != 0;
}

std::string quoted(std::string_view part) { return "'" + shortened(part) + "'"; }

/// Reads "PROPERTY OPERATOR VALUE", without blanks. Adds nothing for an unknown property.
Status read_condition(const Requirement& requirement, std::string_view text, Alternative& into, std::size_t& read) {
  if (++read > kMostConditions)
    return invalid_requirement(requirement, "it has more than " + std::to_string(kMostConditions) + " conditions");
  const auto begin = text.find_first_of(kOfOperators);
  if (begin == std::string_view::npos || begin == 0)
    return invalid_requirement(requirement, quoted(text) + " is not PROPERTY, OPERATOR and VALUE");
  Condition condition{in_lower_case(text.substr(0, begin)), {}, {}};
  if (std::ranges::count(kProperties, condition.property) == 0) return {};
  const std::string_view rest = text.substr(begin);
  for (const std::string_view one : kOperators)
    if (condition.is.empty() && rest.starts_with(one)) condition.is = one;
  condition.value = in_lower_case(rest.substr(condition.is.size()));
  const bool named = condition.property == "brand";
  const bool valued = named
                          ? condition.value.find_first_of(kOfOperators) == std::string::npos && !condition.value.empty()
                          : is_version(condition.value);
  if (condition.is.empty() || !valued)
    return invalid_requirement(requirement,
                               quoted(text) + " does not compare with a " + std::string(named ? "brand" : "version"));
  if (named && condition.is != "=" && condition.is != "!=")
    return invalid_requirement(requirement, quoted(text) + " compares a brand with an operator other than = and !=");
  into.push_back(std::move(condition));
  return {};
}

/// Leaves out alternatives without a known condition.
Result<std::vector<Alternative>> read_alternatives(const Requirement& requirement) {
  if (requirement.expression.size() > kLongestRequirement)
    return invalid_requirement(requirement, "it has more than " + std::to_string(kLongestRequirement) + " bytes");
  std::vector<Alternative> alternatives;
  std::size_t read = 0;
  for (const std::string_view words : split<std::string_view>(requirement.expression, ' ')) {
    Alternative alternative;
    for (const std::string_view word : split<std::string_view>(words, ','))
      if (!word.empty()) SLIPWAY_CHECK(read_condition(requirement, word, alternative, read));
    if (!alternative.empty()) alternatives.push_back(std::move(alternative));
  }
  return alternatives;
}

Answer holds_for_brand(const Condition& condition, const std::vector<std::string>& brands) {
  if (brands.empty()) return Answer::unknown;
  const bool named = std::ranges::count(brands, condition.value) != 0;
  if (named && brands.size() > 1) return Answer::unknown;
  return named == (condition.is == "=") ? Answer::yes : Answer::no;
}

const std::string& version_of(const std::string& property, const GpuFacts& gpu) {
  return property == "cuda" ? gpu.cuda : property == "driver" ? gpu.driver : gpu.arch;
}

Answer holds(const Condition& condition, const GpuFacts& gpu) {
  if (condition.property == "brand") return holds_for_brand(condition, gpu.brands);
  const std::string& has = version_of(condition.property, gpu);
  if (!is_version(has)) return Answer::unknown;
  const int order = compare_versions(has, condition.value);
  const bool holds = (condition.is == "=" && order == 0) || (condition.is == "!=" && order != 0) ||
                     (condition.is == "<" && order < 0) || (condition.is == "<=" && order <= 0) ||
                     (condition.is == ">" && order > 0) || (condition.is == ">=" && order >= 0);
  return holds ? Answer::yes : Answer::no;
}

/// The result of an alternative, and the condition that decides it.
struct Verdict {
  Answer value = Answer::yes;
  const Condition* by = nullptr;
};
Verdict verdict_on(const Alternative& alternative, const GpuFacts& gpu) {
  Verdict verdict;
  for (const Condition& condition : alternative)
    if (const Answer value = holds(condition, gpu); value < verdict.value) verdict = {value, &condition};
  return verdict;
}

std::string gpu_property_text(const Condition& condition, const GpuFacts& gpu) {
  if (condition.property == "brand") return "is of the brand " + joined(gpu.brands);
  if (condition.property == "arch") return "has the compute capability " + gpu.arch;
  if (condition.property == "driver") return "has driver " + gpu.driver;
  return "has CUDA " + gpu.cuda + (gpu.driver.empty() ? "" : " with driver " + gpu.driver);
}

Error unmet_requirement(const Requirement& requirement, const Condition& condition, const GpuFacts& gpu,
                        std::size_t others) {
  return Error{ErrorCode::unsupported,
               "the container requires " + shortened(condition.text()) + " (" + requirement.variable + "), and " +
                   gpu.name + " " + gpu_property_text(condition, gpu) +
                   (others == 0 ? "" : "; none of its " + std::to_string(others) + " other alternatives is met either"),
               {},
               "update the driver, or take an older image; NVIDIA_DISABLE_REQUIRE=true for the container turns this "
               "check off, `disable_require: true` of the component runtime turns it off for all containers",
               {}};
}

/// Returns "12.4" for "12.4.1"; empty: it is not a version.
std::string major_and_minor(const std::string& text) {
  if (!is_version(text)) return {};
  const auto second = text.find('.', text.find('.') + 1);
  return text.find('.') == std::string::npos ? text : text.substr(0, second);
}

}  // namespace

bool is_version(std::string_view text) {
  constexpr std::size_t kMostParts = 8;
  constexpr std::size_t kMostDigits = 9;
  if (text.size() > kMostParts * (kMostDigits + 1)) return false;
  const auto parts = split<std::string_view>(text, '.');
  return parts.size() <= kMostParts && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= kMostDigits &&
                  part.find_first_not_of("0123456789") == std::string_view::npos;
         });
}

int compare_versions(std::string_view one, std::string_view other) {
  const auto number = [](const std::vector<std::string_view>& parts, std::size_t place) {
    unsigned long value = 0;
    if (place < parts.size()) std::from_chars(parts[place].data(), parts[place].data() + parts[place].size(), value);
    return value;
  };
  const auto left = split<std::string_view>(one, '.');
  const auto right = split<std::string_view>(other, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    if (number(left, i) != number(right, i)) return number(left, i) < number(right, i) ? -1 : 1;
  return 0;
}

Result<std::vector<Requirement>> requirements_of(const std::map<std::string, std::string>& environment) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  std::vector<Requirement> requirements;
  if (is_true(value("NVIDIA_DISABLE_REQUIRE"))) return requirements;
  for (auto each = environment.lower_bound(std::string(kPrefix));
       each != environment.end() && each->first.starts_with(kPrefix); ++each) {
    if (each->first.starts_with(kJetpack) || trimmed(each->second).empty()) continue;
    if (requirements.size() == kMostRequirements)
      return Error{ErrorCode::invalid,
                   "the container has more than " + std::to_string(kMostRequirements) + " variables NVIDIA_REQUIRE_…",
                   {},
                   "put them into one, with commas or blanks between",
                   {}};
    requirements.push_back({shortened(each->first), each->second});
  }
  if (!value(kCuda).empty()) return requirements;
  if (const std::string version = major_and_minor(value(kCudaVersion)); !version.empty())
    requirements.push_back({kCudaVersion, "cuda>=" + version});
  return requirements;
}

Result<std::string> check_requirement(const Requirement& requirement, const GpuFacts& gpu) {
  SLIPWAY_TRY(alternatives, read_alternatives(requirement));
  const Condition* failed = nullptr;
  const Condition* unknown = nullptr;
  for (const Alternative& alternative : alternatives) {
    const Verdict verdict = verdict_on(alternative, gpu);
    if (verdict.value == Answer::yes) return std::string();
    if (verdict.value == Answer::unknown && unknown == nullptr) unknown = verdict.by;
    if (verdict.value == Answer::no && failed == nullptr) failed = verdict.by;
  }
  if (alternatives.empty()) return std::string();
  if (unknown != nullptr)
    return requirement.variable + " was not checked: it is not known whether " + shortened(unknown->text()) +
           " holds for " + gpu.name;
  return unmet_requirement(requirement, *failed, gpu, alternatives.size() - 1);
}

}  // namespace slipway::shim
