// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>

#include <unistd.h>

#include "artifact/io/file.hpp"
#include "artifact/pack/copy.hpp"
#include "artifact/pack/layout_writer.hpp"
#include "artifact/pack/tar_layer.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

class LayoutTarget final : public Target {
 public:
  LayoutTarget(LayoutWriter layout, const Reporter& reporter) : layout_(std::move(layout)), reporter_(reporter) {}

  /// A layout's tag is an annotation: any text is allowed.
  Status accepts(const std::string&, const std::string&) const override { return {}; }

  Result<bool> has(const Descriptor& blob) override { return layout_.has(blob.digest); }

  Status put_blob(const Descriptor& blob, Origin& from) override {
    SLIPWAY_TRY(source, from.open(blob));
    const std::string file = layout_.scratch_file();
    SLIPWAY_TRY(out, create_file(file));
    Progress progress(reporter_, "copy " + describe(blob), blob.size);
    base::Sha256 hash;
    std::uint64_t total = 0;
    std::vector<std::byte> buffer(1 << 18);
    for (std::uint64_t next_look = 0;;) {
      if (total >= next_look) SLIPWAY_CHECK(check_room(out.get(), blob.size - total, file));
      if (total >= next_look) next_look = total + kBytesBetweenLooks;
      SLIPWAY_TRY(count, source->read(buffer));
      if (count == 0) break;
      if (total += count; total > blob.size)
        return damaged(blob, "is longer than its " + std::to_string(blob.size) + " bytes", from);
      const std::span bytes(buffer.data(), count);
      hash.update(bytes);
      SLIPWAY_CHECK(base::write_all(out.get(), bytes, file));
      progress.add(count);
    }
    if (const std::string digest = hash.digest(); digest != blob.digest)
      return damaged(blob, "has the digest " + digest, from);
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
  static Error damaged(const Descriptor& blob, const std::string& how, Origin& from) {
    return Error{.code = ErrorCode::corrupt,
                 .what = "blob " + blob.digest + " " + how,
                 .where = from.name(),
                 .next = from.drop_damaged(blob)};
  }

  LayoutWriter layout_;
  const Reporter& reporter_;
};

/// Until finish() the layout is in a folder beside the file, with an unpredictable name, that no other user can write
/// to.
class BundleTarget final : public Target {
 public:
  BundleTarget(std::string file, base::ScratchFolder scratch, std::unique_ptr<Target> layout, const Reporter& reporter)
      : file_(std::move(file)), scratch_(std::move(scratch)), layout_(std::move(layout)), reporter_(reporter) {}

  Status accepts(const std::string& tag, const std::string& source) const override {
    return layout_->accepts(tag, source);
  }
  Result<bool> has(const Descriptor& blob) override { return layout_->has(blob); }
  Status put_blob(const Descriptor& blob, Origin& from) override { return layout_->put_blob(blob, from); }
  Status put_manifest(const Descriptor& manifest, const std::string& text, const std::string& tag) override {
    return layout_->put_manifest(manifest, text, tag);
  }
  Status list(const Descriptor& manifest) override { return layout_->list(manifest); }

  Status finish() override {
    SLIPWAY_CHECK(layout_->finish());
    layout_.reset();  // removes its own temporary files, which must not be packed
    const std::string finished = scratch_.path() + "/finished.tar";
    const auto tar = write_tar_layer(layout_in(scratch_), finished, {.compression = "none", .mtime = 0}, reporter_);
    if (!tar) return tar.error();
    SLIPWAY_TRY(written, open_regular(finished));
    if (::fsync(written.get()) != 0) return system_error("write", file_, errno);
    if (std::rename(finished.c_str(), file_.c_str()) != 0) return system_error("write", file_, errno);
    return {};
  }

  static std::string layout_in(const base::ScratchFolder& scratch) { return scratch.path() + "/layout"; }

 private:
  std::string file_;
  base::ScratchFolder scratch_;
  std::unique_ptr<Target> layout_;  ///< until it is packed
  const Reporter& reporter_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_bundle_target(const std::string& file, const Reporter& reporter) {
  const std::string parent = base::folder_of(file);
  SLIPWAY_CHECK(make_directories(parent));
  SLIPWAY_TRY(scratch, base::ScratchFolder::make(parent, file.substr(file.rfind('/') + 1) + base::kNewSuffix));
  SLIPWAY_TRY(layout, open_layout_target(BundleTarget::layout_in(scratch), reporter));
  return std::unique_ptr<Target>(std::make_unique<BundleTarget>(file, std::move(scratch), std::move(layout), reporter));
}

Result<std::unique_ptr<Target>> open_layout_target(const std::string& folder, const Reporter& reporter) {
  SLIPWAY_TRY(layout, LayoutWriter::open(folder));
  return std::unique_ptr<Target>(std::make_unique<LayoutTarget>(std::move(layout), reporter));
}

}  // namespace slipway::artifact
