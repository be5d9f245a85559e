// SPDX-License-Identifier: Apache-2.0
// artifact/registry/registry_target.cpp - writes to a registry (distribution-spec 1.1, "Push").
#include <algorithm>

#include "artifact/io/entry_rules.hpp"
#include "artifact/pack/copy.hpp"
#include "artifact/registry/client.hpp"
#include "artifact/registry/http/http.hpp"
#include "artifact/registry/tags.hpp"

namespace slipway::artifact {
namespace {

constexpr int kUploadAttempts = 3;

/// Counts a blob's bytes while it is read.
class CountedSource final : public ByteSource {
 public:
  CountedSource(ByteSource& source, Progress& progress) : source_(source), progress_(progress) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    SLIPWAY_TRY(count, source_.read(into));
    progress_.add(count);
    return count;
  }

 private:
  ByteSource& source_;
  Progress& progress_;
};

/// Checks a manifest's own media type, which becomes a header: a line break in it would begin another request.
Status check_media_type(const Descriptor& manifest) {
  const std::string& type = manifest.media_type;
  const auto is_plain = [](unsigned char letter) { return letter >= 0x20 && letter < 0x7f; };
  if (!type.empty() && std::all_of(type.begin(), type.end(), is_plain)) return {};
  return Error{.code = ErrorCode::invalid,
               .what = "manifest " + manifest.digest + " says that it is of the type '" + printable(type) +
                       "', which is not a media type",
               .where = manifest.digest,
               .next = "push a package from a publisher whom you trust"};
}

class RegistryTarget final : public Target {
 public:
  RegistryTarget(std::unique_ptr<RegistryClient> client, const Reporter& reporter)
      : client_(std::move(client)), reporter_(reporter) {}

  Status accepts(const std::string& tag, const std::string& source) const override { return check_tag(tag, source); }

  Result<bool> has(const Descriptor& blob) override {
    SLIPWAY_TRY(answer, client_->send({.method = "HEAD", .url = client_->url("blobs/" + blob.digest)}));
    if (answer.status == 200) return true;
    if (answer.status == 404) return false;
    return refusal(answer, "ask for blob " + blob.digest);
  }

  /// Opens a new session for each attempt: a streamed body cannot be sent again.
  Status put_blob(const Descriptor& blob, Origin& from) override {
    Status last;
    for (int attempt = 0; attempt < kUploadAttempts; ++attempt) {
      SLIPWAY_TRY(location, open_upload());
      SLIPWAY_TRY(source, from.open(blob));
      Progress progress(reporter_, "push " + describe(blob), blob.size);
      CountedSource counted(*source, progress);
      const std::string joint = location.find('?') == std::string::npos ? "?" : "&";
      HttpRequest request{.method = "PUT",
                          .url = location + joint + "digest=" + percent_encoded(blob.digest),
                          .headers = {"Content-Type: application/octet-stream"},
                          .upload = &counted,
                          .upload_size = blob.size};
      auto answer = client_->send_once(std::move(request));
      if (!answer && !is_worth_retrying(answer.error())) return std::move(answer).error();
      if (answer && answer->status == 201) return {};
      last = answer ? refusal(*answer, "upload blob " + blob.digest) : std::move(answer).error();
    }
    return last;
  }

  Status put_manifest(const Descriptor& manifest, const std::string& text, const std::string& tag) override {
    if (!tag.empty()) SLIPWAY_CHECK(check_tag(tag, client_->reference().name));
    SLIPWAY_CHECK(check_media_type(manifest));
    const std::string name = tag.empty() ? manifest.digest : tag;
    SLIPWAY_TRY(answer, client_->send({.method = "PUT",
                                       .url = client_->url("manifests/" + name),
                                       .headers = {"Content-Type: " + manifest.media_type},
                                       .body = text}));
    if (answer.status == 201) return {};
    return refusal(answer, "write manifest " + name);
  }

  Status list(const Descriptor&) override { return {}; }

 private:
  Result<std::string> open_upload() {
    SLIPWAY_TRY(answer, client_->send({.method = "POST", .url = client_->url("blobs/uploads/")}));
    if (answer.status != 202) return refusal(answer, "begin an upload");
    const std::string location = resolve_url(answer.url, answer.header("location"));
    if (!location.empty()) {
      SLIPWAY_CHECK(client_->may_send(location));
      return location;
    }
    return Error{.code = ErrorCode::invalid,
                 .what = "registry " + client_->reference().authority() + " does not return a URL for the upload",
                 .where = answer.url,
                 .next = "tell the operator of the registry"};
  }

  std::unique_ptr<RegistryClient> client_;
  const Reporter& reporter_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_registry_target(const Source& source, const Reporter& reporter) {
  ClientSettings settings;
  settings.push = true;
  SLIPWAY_TRY(client, RegistryClient::open(source, reporter, settings));
  return std::unique_ptr<Target>(std::make_unique<RegistryTarget>(std::move(client), reporter));
}

}  // namespace slipway::artifact
