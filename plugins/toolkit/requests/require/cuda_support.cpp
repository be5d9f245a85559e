// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/require/cuda_support.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace slipway::shim {
namespace {

struct Branch {
  unsigned number;
  std::string_view cuda;
};
// From the release notes of each branch's first driver.
constexpr std::array kBranches{
    Branch{384, "9.0"},  Branch{387, "9.1"},  Branch{390, "9.1"},  Branch{396, "9.2"},  Branch{410, "10.0"},
    Branch{418, "10.1"}, Branch{430, "10.1"}, Branch{440, "10.2"}, Branch{450, "11.0"}, Branch{455, "11.1"},
    Branch{460, "11.2"}, Branch{465, "11.3"}, Branch{470, "11.4"}, Branch{495, "11.5"}, Branch{510, "11.6"},
    Branch{515, "11.7"}, Branch{520, "11.8"}, Branch{525, "12.0"}, Branch{530, "12.1"}, Branch{535, "12.2"},
    Branch{545, "12.3"}, Branch{550, "12.4"}, Branch{555, "12.5"}, Branch{560, "12.6"}, Branch{565, "12.7"},
    Branch{570, "12.8"}, Branch{575, "12.9"}, Branch{580, "13.0"}, Branch{590, "13.1"},
};

}  // namespace

std::string cuda_of_driver(std::string_view driver) {
  unsigned branch = 0;
  const std::string_view number = driver.substr(0, driver.find('.'));
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), branch);
  if (problem != std::errc{} || end != number.data() + number.size()) return {};
  const auto* const found = std::ranges::find(kBranches, branch, &Branch::number);
  return found == kBranches.end() ? std::string() : std::string(found->cuda);
}

std::vector<std::string> brands_of(std::string_view product) {
  if (product.starts_with("NVIDIA ")) product.remove_prefix(7);
  if (product.starts_with("Tesla ")) return {"tesla"};
  if (product.starts_with("Quadro RTX")) return {"quadrortx", "quadro"};
  if (product.starts_with("Quadro")) return {"quadro"};
  if (product.starts_with("GeForce RTX")) return {"geforce", "geforcertx"};
  if (product.starts_with("GeForce")) return {"geforce"};
  if (product.starts_with("TITAN RTX")) return {"titan", "titanrtx"};
  if (product.starts_with("TITAN") || product.starts_with("Titan")) return {"titan"};
  if (product.starts_with("RTX ")) return {"nvidiartx", "quadrortx", "nvidia"};
  for (const std::string_view board : {"A100",  "A10",   "A16",  "A2",  "A30",  "A40",  "A800", "B200", "B300", "GB200",
                                       "GB300", "GH200", "H100", "H20", "H200", "H800", "L2",   "L20",  "L4",   "L40"})
    if (product.starts_with(board) && product.substr(board.size()).find_first_of("0123456789") != 0)
      return {"nvidia", "tesla"};
  return {};
}

}  // namespace slipway::shim
