// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/trust.hpp"

#include <map>

#include "artifact/oci/catalogue.hpp"
#include "artifact/oci/digest.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kListed = 8;

Error nothing_vouches(Origin& origin, const Source& source) {
  Error error{
      .code = ErrorCode::denied,
      .what = "nothing proves the origin of the content of " + source.repository +
              ": it is unsigned, and no digest is pinned",
      .where = source.repository,
      .next =
          "write `digest: sha256:…` beside the repository (compare it with the digest that the publisher names), or "
          "`trust: unsigned`"};
  const auto roots = origin.roots(source.tag, {});
  if (!roots) return error;  // the advice is valid even when the source cannot be listed
  const std::vector<TaggedRoot>& all = roots->wanted;
  for (std::size_t i = 0; i < all.size() && i < kListed; ++i)
    error.details.emplace_back("holds", all[i].tag + " " + all[i].descriptor.digest);
  if (all.size() > kListed) error.details.emplace_back("and", std::to_string(all.size() - kListed) + " more tags");
  return error;
}

}  // namespace

Status require_pinned(Origin& origin, const Source& source, const std::string& locked) {
  if (source.trust_unsigned || !source.digest.empty() || !locked.empty()) return {};
  return nothing_vouches(origin, source);
}

Status require_trusted(Origin& origin, const Source& source, const std::string& locked,
                       const std::vector<Descriptor>& layers, const Reporter& reporter) {
  if (source.trust_unsigned) return {};
  SLIPWAY_CHECK(require_pinned(origin, source, locked));
  SLIPWAY_TRY(manifests, read_manifests(origin, source, {.tags = {}, .digest = locked}, reporter));
  std::map<std::string, std::uint64_t> listed;
  for (const Located& located : manifests)
    for (const Json& item : located.entry.layers) {
      SLIPWAY_TRY(layer, descriptor_from_json(item, located.entry.digest));
      listed[layer.digest] = layer.size;
    }
  for (const Descriptor& layer : layers) {
    const auto found = listed.find(layer.digest);
    if (found != listed.end() && found->second == layer.size) continue;
    return Error{.code = ErrorCode::denied,
                 .what = "layer " + describe(layer) + " is not part of the pinned " +
                         short_digest(source.digest.empty() ? locked : source.digest) + " of " + source.repository,
                 .where = source.repository,
                 .next = "plan again: the source has changed since the plan was made"};
  }
  return {};
}

}  // namespace slipway::artifact
