// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/offers.hpp - what deviceplugin offers of a machine by the same config, so that labels say it too.
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

/// "1g.10gb+me" as keys and values of labels have it: "1g.10gb.me".
std::string in_label(std::string profile);

/// A GPU, or a MIG device of it, that is a device of a resource.
struct Part {
  const Gpu* gpu = nullptr;
  const MigDevice* mig = nullptr;
  std::string named;  ///< its resource before sharing: NVIDIA's own name, or that of the config's `resources`
  nvidia::config::Offer offer;

  /// Sharing gives it to a resource of another name.
  bool is_moved() const { return offer.resource != named; }
};

/// How a resource is shared, as its labels say it.
struct Shared {
  unsigned replicas = 1;
  std::string strategy = "none";
  std::string ending;  ///< of the product
};

/// A machine's devices by the resources that they make under NVIDIA's own names, which labels have, with how each is
/// offered. Borrows the GPUs.
class Offers {
 public:
  /// @param absent  GPUs that do not answer, which keep their places in `devices: 4`
  Offers(const std::vector<Gpu>& gpus, const Config& config, const std::vector<nvidia::AbsentGpu>& absent = {});

  /// nvidia.com/gpu and nvidia.com/mig-…, as far as there are any.
  std::set<std::string> resources() const;
  /// The devices that carry the labels of a resource: all of them, or, when sharing gives a part of them to a resource
  /// of another name, those that are left.
  std::vector<Part> labelled(const std::string& resource) const;
  /// What sharing gives to resources of other names, by these, where it leaves some devices behind or gives them to
  /// several.
  std::map<std::string, std::vector<Part>> moved() const;
  /// @param parts  not empty; of one model or profile
  Shared shared(const std::vector<Part>& parts) const;

 private:
  const nvidia::config::Sharing& sharing_;
  std::map<std::string, std::vector<Part>> parts_;
};

}  // namespace slipway::gfd
