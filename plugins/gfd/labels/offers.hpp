// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/offers.hpp - deviceplugin's offer on a machine with the same config, so that the labels match it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gfd/labels/config.hpp"
#include "gfd/labels/snapshot.hpp"
#include "nvidia/config/offer.hpp"

namespace slipway::gfd {

inline const std::string kGpu = "nvidia.com/gpu";
inline const std::string kMig = "nvidia.com/mig-";

/// Returns "1g.10gb.me" for "1g.10gb+me", for use in keys and values of labels.
std::string in_label(std::string profile);

/// A GPU or MIG device that is a device of a resource.
struct Part {
  const Gpu* gpu = nullptr;
  const MigDevice* mig = nullptr;
  std::string named;  ///< its resource before sharing: NVIDIA's own name, or one from the config's `resources`
  nvidia::config::Offer offer;

  /// True when sharing moves it to a resource of another name.
  bool is_moved() const { return offer.resource != named; }
};

/// The sharing of a resource, as in its labels.
struct SharingLabels {
  unsigned replicas = 1;
  std::string strategy = "none";
  std::string ending;  ///< of the product
};

/// A machine's devices by resource under NVIDIA's own names, as labels use them, with the offer of each. Borrows the
/// GPUs.
class Offers {
 public:
  /// @param absent  GPUs that do not answer; they still count in `devices: 4`
  Offers(const std::vector<Gpu>& gpus, const Config& config, const std::vector<nvidia::AbsentGpu>& absent = {});

  /// Returns nvidia.com/gpu and nvidia.com/mig-…, if there are such devices.
  std::set<std::string> resources() const;
  /// Returns the devices that carry the labels of a resource: all of them, or, when sharing moves some to a resource of
  /// another name, the remaining ones.
  std::vector<Part> labelled(const std::string& resource) const;
  /// Returns the devices that sharing moves to resources of other names, by name, if some devices remain or there are
  /// several names.
  std::map<std::string, std::vector<Part>> moved() const;
  /// @param parts  not empty; all of one model or profile
  SharingLabels shared(const std::vector<Part>& parts) const;

 private:
  const nvidia::config::Sharing& sharing_;
  std::map<std::string, std::vector<Part>> parts_;
};

}  // namespace slipway::gfd
