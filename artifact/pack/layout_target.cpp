// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>

#include <fcntl.h>

#include "artifact/io/file.hpp"
#include "artifact/io/sha256.hpp"
#include "artifact/pack/copy.hpp"
#include "artifact/pack/layout_writer.hpp"

namespace slipway::artifact {
namespace {

class LayoutTarget final : public Target {
 public:
  LayoutTarget(LayoutWriter layout, const Reporter& reporter) : layout_(std::move(layout)), reporter_(reporter) {}

  Result<bool> has(const Descriptor& blob) override { return layout_.has(blob.digest); }

  Status put_blob(const Descriptor& blob, Origin& from) override {
    SLIPWAY_TRY(source, from.open(blob));
    const std::string file = layout_.scratch_file();
    const Fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!out) return system_error("write", file, errno);
    Progress progress(reporter_, "copy " + describe(blob), blob.size);
    Sha256 hash;
    std::vector<std::byte> buffer(1 << 18);
    for (;;) {
      SLIPWAY_TRY(count, source->read(buffer));
      if (count == 0) break;
      const std::span bytes(buffer.data(), count);
      hash.update(bytes);
      SLIPWAY_CHECK(write_all(out.get(), bytes, file));
      progress.add(count);
    }
    if (const std::string digest = hash.finish(); digest != blob.digest)
      return Error{.code = ErrorCode::corrupt,
                   .what = "blob " + blob.digest + " has the digest " + digest,
                   .where = from.name(),
                   .next = from.drop_damaged(blob)};
    return layout_.adopt(file, blob.digest);
  }

  Status put_manifest(const Descriptor& manifest, const std::string& text, const std::string& tag) override {
    SLIPWAY_CHECK(layout_.add_text(text, manifest.digest));
    if (!tag.empty()) layout_.set_tag(tag, manifest);
    return {};
  }

  Status list(const Descriptor& manifest) override {
    layout_.list(manifest);
    return {};
  }

  Status finish() override { return layout_.finish(); }

 private:
  LayoutWriter layout_;
  const Reporter& reporter_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_layout_target(const std::string& folder, const Reporter& reporter) {
  SLIPWAY_TRY(layout, LayoutWriter::open(folder));
  return std::unique_ptr<Target>(std::make_unique<LayoutTarget>(std::move(layout), reporter));
}

}  // namespace slipway::artifact
