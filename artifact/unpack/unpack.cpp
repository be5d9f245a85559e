// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/unpack.hpp"

#include <algorithm>
#include <charconv>

#include <sys/statvfs.h>

#include "artifact/io/entry_rules.hpp"
#include "artifact/io/file.hpp"
#include "artifact/unpack/layer_stream.hpp"
#include "artifact/unpack/tar_reader.hpp"
#include "artifact/unpack/tree_writer.hpp"

namespace slipway::artifact {
namespace {

constexpr std::uint64_t kMaxRatio = 100;
constexpr std::uint64_t kFloor = 256UL << 20;
constexpr std::uint64_t kCeiling = 32UL << 30;

std::optional<std::uint64_t> announced_size(const Descriptor& layer) {
  const std::string text = layer.annotation(annotation::kLayerSize);
  std::uint64_t size = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return {};
  return size;
}

/// Copies entries from the tar into the tree.
class Unpacker {
 public:
  Unpacker(LayerStream& stream, TreeWriter& tree, const UnpackOptions& options, std::uint64_t limit, Progress& progress)
      : reader_([&stream] { return stream.next(); }),
        tree_(tree),
        options_(options),
        limit_(limit),
        progress_(progress) {}

  Status run() {
    while (true) {
      SLIPWAY_TRY(entry, reader_.next());
      if (!entry) return tree_.finish();
      if (++entries_ > options_.max_entries)
        return Error{.code = ErrorCode::denied,
                     .what = "it has more than " + std::to_string(options_.max_entries) + " entries"};
      Status added = add(*entry);
      if (!added) return about(*entry, std::move(added).error());
    }
  }

  const Unpacked& totals() const { return totals_; }

 private:
  static Error about(const TarEntry& entry, Error error) {
    if (error.code == ErrorCode::denied && error.where.empty())
      error.what = "entry '" + printable(entry.name) + "' is refused: " + error.what;
    return error;
  }

  Status add(const TarEntry& entry) {
    if (entry.kind == TarEntry::Kind::other)
      return Error{.code = ErrorCode::denied, .what = "it is " + entry.kind_name};
    SLIPWAY_CHECK(check_mode(entry.mode));
    if (entry.has_capabilities)
      return Error{.code = ErrorCode::denied, .what = "it carries file capabilities (security.capability)"};
    SLIPWAY_TRY(name, clean_entry_name(entry.name));
    if (entry.kind == TarEntry::Kind::directory)
      return tree_.add_directory(name, directory_mode(entry.mode), clamped(entry.time));
    if (name.empty())
      return Error{.code = ErrorCode::denied, .what = "it has the name of the layer's root but is not a folder"};
    ++totals_.files;
    if (entry.kind == TarEntry::Kind::file) return add_file(name, entry);
    if (entry.kind == TarEntry::Kind::symlink) return tree_.add_symlink(name, entry.link_target, clamped(entry.time));
    SLIPWAY_TRY(target, clean_entry_name(entry.link_target));
    return tree_.add_hard_link(name, target);
  }

  Status add_file(const std::string& name, const TarEntry& entry) {
    if (entry.size > limit_ - totals_.bytes)
      return Error{
          .code = ErrorCode::denied,
          .what = "with this entry the layer exceeds the limit of " + std::to_string(limit_) + " bytes when unpacked"};
    totals_.bytes += entry.size;
    SLIPWAY_TRY(file, tree_.add_file(name));
    SLIPWAY_CHECK(reader_.data([&](std::uint64_t offset, std::span<const std::byte> bytes) -> Status {
      if (offset > entry.size || bytes.size() > entry.size - offset)
        return Error{.code = ErrorCode::denied, .what = "it has more data than its header declares"};
      progress_.add(bytes.size());
      return file.write_at(offset, bytes);
    }));
    return file.finish(entry.size, file_mode(entry.mode), clamped(entry.time));
  }

  EntryTime clamped(EntryTime time) const {
    if (options_.newest_mtime && time.seconds >= *options_.newest_mtime) return {*options_.newest_mtime, 0};
    return time;
  }

  TarReader reader_;
  TreeWriter& tree_;
  const UnpackOptions& options_;
  std::uint64_t limit_;
  Progress& progress_;
  Unpacked totals_;
  std::uint64_t entries_ = 0;
};

/// Fails before gigabytes are written in vain.
Status check_free_space(const Descriptor& layer, const std::string& into) {
  const std::optional<std::uint64_t> needed = announced_size(layer);
  struct statvfs existing {};
  if (!needed || ::statvfs(base::folder_of(into).c_str(), &existing) != 0) return {};
  const std::uint64_t free = static_cast<std::uint64_t>(existing.f_bavail) * existing.f_frsize;
  if (free >= *needed) return {};
  Error error = system_error("unpack to", into, ENOSPC);
  error.details = {
      {"needed", std::to_string((*needed >> 20) + 1) + " MiB; " + std::to_string(free >> 20) + " MiB are free"}};
  return error;
}

/// Adds the layer and its source to an error.
Error in_context(Error error, const Descriptor& layer, const UnpackOptions& options) {
  const bool layers_fault = error.where.empty();
  error.details.insert(error.details.begin(), {"layer", describe(layer) + " of " + options.source});
  if (!layers_fault) return error;
  error.what = "layer " + describe(layer) + " cannot be used: " + error.what;
  error.where = options.source;
  if (error.code == ErrorCode::denied)
    error.next = "do not use this package: a sound package never contains this; tell its publisher";
  if (error.code == ErrorCode::invalid) error.next = "have the package built and published again";
  if (error.code == ErrorCode::corrupt)
    error.next = "download or copy the package again: it was damaged in transit or on the disk";
  error.details.erase(error.details.begin());
  return error;
}

Result<Unpacked> unpack_into(TreeWriter& tree, std::unique_ptr<ByteSource> blob, const Descriptor& layer,
                             const UnpackOptions& options, const Reporter& reporter) {
  const std::uint64_t limit = unpacked_limit(layer);
  LayerStream stream(std::move(blob), layer, limit);
  Progress progress(reporter, "unpack " + describe(layer), announced_size(layer).value_or(0));
  Unpacker unpacker(stream, tree, options, limit, progress);
  const Status unpacked = unpacker.run();
  // A hostile entry is refused at once; for other errors the digest tells whether the bytes were correct.
  if (!unpacked && unpacked.error().code != ErrorCode::invalid) return unpacked.error();
  SLIPWAY_CHECK(stream.finish());
  if (!unpacked) return unpacked.error();
  if (options.sync) SLIPWAY_CHECK(tree.sync());
  progress.finish();
  return unpacker.totals();
}

}  // namespace

std::uint64_t unpacked_limit(const Descriptor& layer) {
  if (const auto size = announced_size(layer)) return std::min(*size, kCeiling);
  if (layer.size > kCeiling / kMaxRatio) return kCeiling;
  return std::max(layer.size * kMaxRatio, kFloor);
}

Result<Unpacked> unpack(std::unique_ptr<ByteSource> blob, const Descriptor& layer, const UnpackOptions& options,
                        const Reporter& reporter) {
  SLIPWAY_CHECK(check_free_space(layer, options.into));
  auto tree = TreeWriter::create(options.into, EntryTime{options.newest_mtime.value_or(0), 0});
  if (!tree) return in_context(std::move(tree).error(), layer, options);
  Result<Unpacked> done = unpack_into(*tree, std::move(blob), layer, options, reporter);
  if (done) return done;
  const Status removed = remove_tree(options.into);
  Error error = in_context(std::move(done).error(), layer, options);
  if (!removed) error.details.emplace_back("left", options.into + ": " + removed.error().what);
  return error;
}

}  // namespace slipway::artifact
