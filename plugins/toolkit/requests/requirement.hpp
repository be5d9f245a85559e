// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/requirement.hpp - what an image requires of driver and GPU: the expressions of
// the variables NVIDIA_REQUIRE_*.
//
// An expression has alternatives, which blanks separate; of one of them all conditions must hold, which commas
// separate: "cuda>=12.4 brand=tesla,driver>=470,driver<471". Who writes them is the author of an image, so what is read
// is bounded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::shim {

/// A variable of the container, or what an image before CUDA 9 means by CUDA_VERSION.
struct Requirement {
  std::string variable;
  std::string expression;
};

/// What is known of a GPU and its driver. Empty members are not known, and what is not known fails no requirement.
struct GpuFacts {
  std::string name;                 ///< for messages: "GPU 0 (0000:65:00.0)", or "the driver" where there is no GPU
  std::string driver;               ///< "535.104.05"
  std::string cuda;                 ///< the newest CUDA that the driver has: "12.2"
  std::string arch;                 ///< compute capability: "9.0"
  std::vector<std::string> brands;  ///< in lower case; several: it is one of these
};

/// More than any image of NVIDIA's has.
inline constexpr std::size_t kMostRequirements = 64;
inline constexpr std::size_t kLongestRequirement = 16U << 10U;  ///< bytes; of all of a container together as well
inline constexpr std::size_t kMostConditions = 1024;

/// The requirements of a container; none where NVIDIA_DISABLE_REQUIRE is true. An image with CUDA_VERSION and without
/// NVIDIA_REQUIRE_CUDA requires that CUDA, major and minor; a CUDA_VERSION that is not a version requires nothing.
/// NVIDIA_REQUIRE_JETPACK… is about other machines. Errors: `invalid` more than kMostRequirements.
Result<std::vector<Requirement>> requirements_of(const std::map<std::string, std::string>& environment);

/// Conditions about properties other than cuda, driver, arch and brand do not count, as for NVIDIA's runtime.
/// @return why it could not be told, for a warning; empty: it holds
/// Errors: `unsupported` it does not hold, naming the condition and what the GPU has; `invalid` it is no expression.
Result<std::string> check_requirement(const Requirement& requirement, const GpuFacts& gpu);

/// -1, 0 or 1; missing parts count as 0. @param one, other  numbers and dots
int compare_versions(std::string_view one, std::string_view other);

/// 1 to 8 numbers of at most 9 digits, with a dot between two.
bool is_version(std::string_view text);

}  // namespace slipway::shim
