// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/catalogue.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "artifact/oci/digest.hpp"
#include "artifact/oci/trust.hpp"

namespace slipway::artifact {
namespace {

/// A manifest that has not been read yet.
struct Node {
  Descriptor descriptor;
  std::string tag;
  Json annotations = Json::object();  ///< of the descriptors that led to this manifest
  std::vector<std::string> above;
};

class Walk {
 public:
  Walk(Origin& origin, std::string wanted, bool named, const Reporter& reporter)
      : origin_(origin), wanted_(std::move(wanted)), named_(named), reporter_(reporter) {}

  Status run(const std::vector<TaggedRoot>& roots) {
    std::vector<Node> level;
    for (const TaggedRoot& root : roots) level.push_back({root.descriptor, root.tag, root.descriptor.annotations, {}});
    for (std::size_t depth = 0; !level.empty(); ++depth) {
      count_ += level.size();
      if (depth > kMaxManifestDepth || count_ > kMaxManifests) return too_many_manifests(origin_.name());
      SLIPWAY_TRY(next, read_level(level, depth));
      level = std::move(next);
    }
    return {};
  }

  std::vector<Located> result() {
    std::vector<Located> all;
    for (auto& [digest, located] : found_) all.push_back(std::move(located));
    std::sort(all.begin(), all.end(), [](const Located& a, const Located& b) {
      return std::tie(a.entry.tag, a.entry.digest) < std::tie(b.entry.tag, b.entry.digest);
    });
    return all;
  }

 private:
  Result<std::vector<Node>> read_level(const std::vector<Node>& level, std::size_t depth) {
    std::vector<Descriptor> wanted;
    for (const Node& node : level) wanted.push_back(node.descriptor);
    auto texts = origin_.manifests(wanted);
    std::vector<Node> next;
    for (std::size_t i = 0; i < level.size(); ++i) {
      Result<Manifest> manifest =
          texts[i] ? parse_manifest(*texts[i], level[i].descriptor) : Result<Manifest>(std::move(texts[i]).error());
      if (!manifest && may_skip(manifest.error(), depth)) {
        reporter_.warn(manifest.error().what + "; slipway continues without this manifest");
        continue;
      }
      if (!manifest) return located(std::move(manifest).error());
      if (manifest->is_index) {
        descend(level[i], *manifest, next);
      } else {
        keep(level[i], *manifest);
      }
    }
    return next;
  }

  bool may_skip(const Error& error, std::size_t depth) const {
    if (depth == 0 && named_) return false;
    return error.code == ErrorCode::unsupported || (depth > 0 && error.code == ErrorCode::not_found);
  }

  Error located(Error error) const {
    if (error.where.empty()) error.where = origin_.name();
    return error;
  }

  void descend(const Node& node, const Manifest& index, std::vector<Node>& next) {
    const auto is_wanted = [this](const Descriptor& child) { return child.digest == wanted_; };
    const bool only_wanted = std::any_of(index.manifests.begin(), index.manifests.end(), is_wanted);
    for (const Descriptor& child : index.manifests) {
      if (only_wanted && !is_wanted(child)) continue;
      Node below{child, node.tag, node.annotations, node.above};
      below.annotations.update(child.annotations);
      below.above.push_back(node.descriptor.digest);
      next.push_back(std::move(below));
    }
  }

  // A manifest can be reached by its own tag and through an index: its own tag is used, annotations are merged.
  void keep(const Node& node, const Manifest& manifest) {
    Json annotations = node.annotations;
    annotations.update(manifest.annotations);
    Located located{.entry = {.digest = node.descriptor.digest,
                              .tag = node.tag,
                              .artifact_type = manifest.artifact_type,
                              .annotations = annotations,
                              .layers = manifest.layers},
                    .config = manifest.config,
                    .above = node.above};
    const auto [place, is_new] = found_.try_emplace(node.descriptor.digest, located);
    if (is_new) return;
    Located& known = place->second;
    annotations.update(known.entry.annotations);
    if (std::make_tuple(node.above.size(), node.tag) < std::make_tuple(known.above.size(), known.entry.tag))
      known = std::move(located);
    known.entry.annotations = std::move(annotations);
  }

  Origin& origin_;
  std::string wanted_;
  bool named_;
  const Reporter& reporter_;
  std::map<std::string, Located> found_;
  std::size_t count_ = 0;
};

Result<TaggedRoots> roots_of(Origin& origin, const Source& source, const CatalogueQuery& query) {
  const std::string& pinned = source.digest.empty() ? query.digest : source.digest;
  if (pinned.empty()) return origin.roots(source.tag, query.tags);
  return TaggedRoots{{{source.tag, Descriptor{.digest = pinned}}}, {}};
}

}  // namespace

Result<std::vector<Located>> read_manifests(Origin& origin, const Source& source, const CatalogueQuery& query,
                                            const Reporter& reporter, std::vector<std::string>* unread) {
  for (const std::string& digest : {source.digest, query.digest})
    if (!digest.empty() && !is_digest(digest))
      return Error{.code = ErrorCode::invalid, .what = "'" + digest + "' is not a digest", .where = source.repository};
  SLIPWAY_TRY(roots, roots_of(origin, source, query));
  const bool named = !source.tag.empty() || !source.digest.empty() || !query.digest.empty();
  Walk walk(origin, query.digest, named, reporter);
  SLIPWAY_CHECK(walk.run(roots.wanted));
  if (unread != nullptr) *unread = std::move(roots.unread);
  std::vector<Located> all = walk.result();
  if (!source.digest.empty() && !query.digest.empty()) {
    std::erase_if(all, [&](const Located& located) {
      return located.entry.digest != query.digest &&
             std::find(located.above.begin(), located.above.end(), query.digest) == located.above.end();
    });
    if (all.empty())
      return Error{
          .code = ErrorCode::not_found,
          .what = "the pinned " + short_digest(source.digest) + " of " + source.repository +
                  " does not list the manifest that slipway.lock has: " + short_digest(query.digest),
          .where = source.repository,
          .next = "remove the entry of this source from slipway.lock, so that the lock follows the pinned digest"};
  }
  return all;
}

Result<Catalogue> read_catalogue(Origin& origin, const Source& source, const CatalogueQuery& query,
                                 const Reporter& reporter) {
  SLIPWAY_CHECK(require_pinned(origin, source, query.digest));
  Catalogue catalogue{.source = source.repository};
  SLIPWAY_TRY(all, read_manifests(origin, source, query, reporter, &catalogue.unread));
  catalogue.complete = query.digest.empty() && catalogue.unread.empty();
  for (Located& located : all) catalogue.entries.push_back(std::move(located.entry));
  return catalogue;
}

}  // namespace slipway::artifact
