// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/requirement.hpp - an image's requirements for driver and GPU: the expressions of the
// variables NVIDIA_REQUIRE_*.
//
// An expression has alternatives, separated by blanks; all conditions of one of them, separated by commas, must be
// true: "cuda>=12.4 brand=tesla,driver>=470,driver<471". Their author is the author of an image, so the input is
// bounded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::shim {

/// A variable of the container, or the meaning of CUDA_VERSION in an image from before CUDA 9.
struct Requirement {
  std::string variable;
  std::string expression;
};

/// Facts about a GPU and its driver. An empty member is unknown, and does not fail a requirement.
struct GpuFacts {
  std::string name;                 ///< for messages: "GPU 0 (0000:65:00.0)", or "the driver" without a GPU
  std::string driver;               ///< "535.104.05"
  std::string cuda;                 ///< the newest CUDA that the driver supports: "12.2"
  std::string arch;                 ///< compute capability: "9.0"
  std::vector<std::string> brands;  ///< in lower case; several: one of these
};

/// More than any image of NVIDIA has.
inline constexpr std::size_t kMostRequirements = 64;
inline constexpr std::size_t kLongestRequirement = 16U << 10U;  ///< bytes; also over all of a container's requirements
inline constexpr std::size_t kMostConditions = 1024;

/// Returns the requirements of a container; empty if NVIDIA_DISABLE_REQUIRE is true. An image with CUDA_VERSION and
/// without NVIDIA_REQUIRE_CUDA requires that CUDA, major and minor; a CUDA_VERSION that is not a version requires
/// nothing. NVIDIA_REQUIRE_JETPACK… applies to other machines. Errors: `invalid` more than kMostRequirements.
Result<std::vector<Requirement>> requirements_of(const std::map<std::string, std::string>& environment);

/// Ignores conditions about properties other than cuda, driver, arch and brand, like NVIDIA's runtime.
/// @return why it could not be decided, for a warning; empty: it is met
/// Errors: `unsupported` it is not met, with the condition and the GPU's value; `invalid` it is not an expression.
Result<std::string> check_requirement(const Requirement& requirement, const GpuFacts& gpu);

/// Returns -1, 0 or 1; missing parts are 0. @param one, other  numbers and dots
int compare_versions(std::string_view one, std::string_view other);

/// True for 1 to 8 numbers of at most 9 digits, separated by dots.
bool is_version(std::string_view text);

}  // namespace slipway::shim
