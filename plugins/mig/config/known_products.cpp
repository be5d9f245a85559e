// SPDX-License-Identifier: Apache-2.0
#include "mig/config/known_products.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <slipway/text.hpp>

#include "mig/layout/arrange.hpp"

namespace slipway::mig {
namespace {

/// PCI device ids of a product, and its profiles with their counts.
struct Product {
  std::array<std::uint16_t, 4> chips;  ///< 0: unused
  std::string_view offers;
};

constexpr std::array<Product, 8> kProducts{{
    {{0x20B0, 0x20B1, 0x20F1, 0x20F6}, "1g.5gb 7,1g.5gb+me 1,1g.10gb 4,2g.10gb 3,3g.20gb 2,4g.20gb 1,7g.40gb 1"},
    {{0x20B2, 0x20B5, 0x20F3, 0x20F5}, "1g.10gb 7,1g.10gb+me 1,1g.20gb 4,2g.20gb 3,3g.40gb 2,4g.40gb 1,7g.80gb 1"},
    {{0x2330, 0x2331, 0x2322, 0x2324}, "1g.10gb 7,1g.10gb+me 1,1g.20gb 4,2g.20gb 3,3g.40gb 2,4g.40gb 1,7g.80gb 1"},
    {{0x20B6, 0, 0, 0}, "1g.12gb 7,2g.24gb 3,3g.48gb 2,7g.96gb 1"},
    {{0x20B7, 0, 0, 0}, "1g.6gb 4,1g.6gb+me 1,2g.12gb 2,2g.12gb+me 1,4g.24gb 1"},
    {{0x2321, 0x233A, 0, 0}, "1g.12gb 7,1g.12gb+me 1,1g.24gb 4,2g.24gb 3,3g.47gb 2,4g.47gb 1,7g.94gb 1"},
    {{0x2342, 0x233D, 0x2329, 0}, "1g.12gb 7,1g.12gb+me 1,1g.24gb 4,2g.24gb 3,3g.48gb 2,4g.48gb 1,7g.96gb 1"},
    {{0x2335, 0x233B, 0, 0}, "1g.18gb 7,1g.18gb+me 1,1g.35gb 4,2g.35gb 3,3g.71gb 2,4g.71gb 1,7g.141gb 1"},
}};

std::vector<Offer> offers_from(std::string_view text) {
  std::vector<Offer> offers;
  for (const std::string_view each : split<std::string_view>(text, ',')) {
    const std::size_t space = each.find(' ');
    const auto profile = parse_profile(each.substr(0, space), "the published profiles");
    if (profile) offers.push_back({*profile, static_cast<unsigned>(each[space + 1] - '0')});
  }
  return offers;
}

}  // namespace

std::vector<Offer> published_offers(const DeviceId& id) {
  const std::uint32_t chip = id.chip >> 16U;
  for (const Product& product : kProducts)
    if (std::ranges::find(product.chips, chip) != product.chips.end()) return offers_from(product.offers);
  return {};
}

bool is_published(const Profile& profile) {
  return std::ranges::any_of(kProducts, [&](const Product& product) {
    const std::vector<Offer> offers = offers_from(product.offers);
    return std::ranges::any_of(offers, [&](const Offer& each) { return each.profile == profile; });
  });
}

std::vector<Offer> offers_of(const Gpu& gpu) {
  if (gpu.profiles.empty()) return published_offers(gpu.id);
  std::vector<Offer> offers;
  for (const InstanceProfile& each : gpu.profiles)
    if (const unsigned count = capacity(gpu, each); count != 0) offers.push_back({each.profile, count});
  return offers;
}

}  // namespace slipway::mig
