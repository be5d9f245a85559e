// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/registry_origin.hpp"

#include <algorithm>
#include <numeric>

#include "artifact/oci/digest.hpp"
#include "artifact/oci/manifest.hpp"
#include "artifact/registry/client.hpp"
#include "artifact/registry/http/http.hpp"
#include "artifact/registry/parallel.hpp"
#include "artifact/registry/tags.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {

namespace {

HttpRequest manifest_request(RegistryClient& client, const std::string& method, const std::string& reference) {
  return {.method = method,
          .url = client.url("manifests/" + reference),
          .headers = {std::string("Accept: ") + media_type::kManifest + ", " + media_type::kIndex + ", " +
                      media_type::kDockerManifest + ", " + media_type::kDockerList}};
}

std::uint64_t number(const std::string& text) {
  return text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos
             ? 0
             : std::stoull(text);
}

class RegistryOrigin final : public Origin {
 public:
  RegistryOrigin(Source source, OriginContext context, const ClientSettings& settings)
      : source_(std::move(source)), context_(std::move(context)), settings_(settings), cache_(context_.cache) {}

  const std::string& name() const override { return source_.repository; }

  Result<TaggedRoots> roots(const std::string& tag, const TagSelection& selection) override {
    SLIPWAY_CHECK(connect());
    TaggedRoots roots;
    std::vector<std::string> tags{tag};
    if (tag.empty()) {
      SLIPWAY_TRY(all, list_tags(*client_));
      tags.clear();
      for (std::string& one : all)
        if (!is_companion_tag(one)) (selection.takes(one) ? tags : roots.unread).push_back(std::move(one));
    }
    std::vector<std::optional<Result<Descriptor>>> found(tags.size());
    for_each_in_parallel(tags.size(), [&](std::size_t i) {
      found[i] = resolve(tags[i]);
      return found[i]->ok() || found[i]->error().code == ErrorCode::not_found;
    });
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (!found[i]) continue;  // not resolved: another tag failed first, and is reported below
      if (found[i]->ok()) {
        roots.wanted.push_back({tags[i], **found[i]});
      } else if (found[i]->error().code != ErrorCode::not_found) {
        return found[i]->error();
      } else if (!tag.empty()) {
        return missing_tag(tag);
      }
    }
    return roots;
  }

  std::vector<Result<std::string>> manifests(const std::vector<Descriptor>& wanted) override {
    std::vector<Result<std::string>> texts(wanted.size(), Error{.what = "not read: another manifest failed first"});
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (auto cached = cache_.manifest(wanted[i])) {
        texts[i] = std::move(*cached);
      } else {
        missing.push_back(i);
      }
    }
    if (missing.empty()) return texts;
    if (const Status connected = connect(); !connected) {
      for (const std::size_t i : missing) texts[i] = connected.error();
      return texts;
    }
    for_each_in_parallel(missing.size(), [&](std::size_t i) {
      texts[missing[i]] = download_manifest(wanted[missing[i]]);
      return true;
    });
    return texts;
  }

  Result<Fetched> fetch(const std::vector<Descriptor>& blobs) override {
    Fetched fetched;
    for (const Descriptor& blob : blobs) fetched.blobs.push_back({blob.digest, cache_.path_of(blob.digest)});
    std::vector<Descriptor> missing;
    for (const Descriptor& blob : blobs)
      if (!cache_.has(blob)) missing.push_back(blob);
    if (missing.empty()) return fetched;
    SLIPWAY_CHECK(connect());
    const std::uint64_t total =
        std::accumulate(missing.begin(), missing.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Descriptor& one) { return sum + one.size; });
    Progress progress(context_.reporter, "download " + client_->reference().name, total);
    std::vector<std::optional<Result<std::uint64_t>>> done(missing.size());
    for_each_in_parallel(missing.size(), [&](std::size_t i) {
      done[i] = download(*client_, cache_, missing[i], progress);
      return done[i]->ok();
    });
    for (const auto& one : done) {
      if (!one) continue;
      if (!*one) return one->error();
      fetched.bytes += **one;
    }
    return fetched;
  }

  Result<std::unique_ptr<ByteSource>> open(const Descriptor& blob) override {
    SLIPWAY_CHECK(fetch({blob}));
    return open_file_source(cache_.path_of(blob.digest));
  }

  std::string drop_damaged(const Descriptor& blob) override {
    cache_.drop(blob.digest);
    return "run the same command again: the damaged copy was removed from the cache, so the file is downloaded again";
  }

 private:
  Status connect() {
    if (client_) return {};
    SLIPWAY_TRY(client, RegistryClient::open(source_, context_.reporter, settings_));
    client_ = std::move(client);
    return {};
  }

  /// Returns a tag's target: one HEAD, or the manifest itself when the registry does not tell the digest.
  Result<Descriptor> resolve(const std::string& tag) {
    SLIPWAY_TRY(head, client_->send(manifest_request(*client_, "HEAD", tag)));
    if (head.status != 200) return refusal(head, "read tag " + tag + " of " + client_->reference().name);
    const std::string digest = head.header("docker-content-digest");
    const std::string length = head.header("content-length");
    if (is_digest(digest) && number(length) > 0)
      return Descriptor{.media_type = head.header("content-type"), .digest = digest, .size = number(length)};
    SLIPWAY_TRY(response, client_->send(manifest_request(*client_, "GET", tag)));
    if (response.status != 200) return refusal(response, "read tag " + tag + " of " + client_->reference().name);
    Descriptor descriptor{.media_type = response.header("content-type"),
                          .digest = base::digest_of(response.body),
                          .size = response.body.size()};
    keep(descriptor.digest, response.body);
    return descriptor;
  }

  Result<std::string> download_manifest(const Descriptor& descriptor) {
    SLIPWAY_TRY(response, client_->send(manifest_request(*client_, "GET", descriptor.digest)));
    if (response.status != 200) {
      Error error =
          refusal(response, "read manifest " + short_digest(descriptor.digest) + " of " + client_->reference().name);
      if (response.status == 404) error.next = "check the digest; or push the package again, with all of its manifests";
      return error;
    }
    if (const std::string told = response.header("docker-content-digest"); !told.empty() && told != descriptor.digest)
      return Error{.code = ErrorCode::corrupt,
                   .what = client_->reference().authority() + " returned a different manifest from the requested one",
                   .where = name(),
                   .next = "tell the operator of the registry, or of the proxy in front of it",
                   .details = {{"expected", descriptor.digest}, {"got", told}}};
    SLIPWAY_CHECK(check_bytes(response.body, descriptor, name()));
    keep(descriptor.digest, response.body);
    return std::move(response.body);
  }

  /// The cache only saves time here: an error of writing to it is ignored.
  void keep(const std::string& digest, const std::string& bytes) {
    const Status kept = cache_.keep_manifest(digest, bytes);
    if (!kept && context_.reporter.log) context_.reporter.log("debug", kept.error().what);
  }

  Error missing_tag(const std::string& tag) {
    const auto all = list_tags(*client_);
    return all ? no_such_tag(name(), tag, *all) : all.error();
  }

  Source source_;
  OriginContext context_;
  ClientSettings settings_;
  BlobCache cache_;
  std::unique_ptr<RegistryClient> client_;
};

}  // namespace

Result<std::unique_ptr<Origin>> open_registry(const Source& source, const OriginContext& context,
                                              const ClientSettings& settings) {
  SLIPWAY_CHECK(parse_reference(source.repository));
  if (!context.cache.starts_with('/'))
    return Error{
        .code = ErrorCode::invalid, .what = "a registry needs a cache folder: name an absolute path", .where = "cache"};
  return std::unique_ptr<Origin>(std::make_unique<RegistryOrigin>(source, context, settings));
}

Result<std::unique_ptr<Origin>> open_origin(const Source& source, const OriginContext& context) {
  return source.is_registry() ? open_registry(source, context) : open_local(source);
}

}  // namespace slipway::artifact
