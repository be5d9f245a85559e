// SPDX-License-Identifier: Apache-2.0
#include "artifact/pack/tar_layer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include "artifact/io/entry_rules.hpp"
#include "artifact/io/file.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 18;

/// The destination of the compressed bytes: a file and its hash.
struct Sink {
  Fd file;
  std::string name;
  base::Sha256 hash;
  std::uint64_t size = 0;
  Status status;
};

la_ssize_t write_to_sink(archive*, void* context, const void* bytes, std::size_t length) {
  auto& sink = *static_cast<Sink*>(context);
  const std::span data(static_cast<const std::byte*>(bytes), length);
  sink.status = base::write_all(sink.file.get(), data, sink.name);
  if (!sink.status) return -1;
  sink.hash.update(data);
  sink.size += length;
  return static_cast<la_ssize_t>(length);
}

struct Free {
  void operator()(archive* writer) const { archive_write_free(writer); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Writer = std::unique_ptr<archive, Free>;

Error archive_error(archive* writer, const std::string& path) {
  return Error{
      .code = ErrorCode::io,
      .what = std::string("cannot pack: ") + (archive_error_string(writer) ? archive_error_string(writer) : ""),
      .where = path};
}

/// Adds libarchive's filter of that name, with settings that give equal bytes for equal input.
int add_filter(archive* writer, const std::string& compression) {
  if (compression == "zstd") {
    const int added = archive_write_add_filter_zstd(writer);
    return added != ARCHIVE_OK ? added : archive_write_set_filter_option(writer, "zstd", "compression-level", "10");
  }
  if (compression == "gzip") {
    const int added = archive_write_add_filter_gzip(writer);
    return added != ARCHIVE_OK ? added : archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr);
  }
  if (compression == "xz") return archive_write_add_filter_xz(writer);
  return archive_write_add_filter_none(writer);
}

Result<Writer> open_writer(Sink& sink, const std::string& compression) {
  Writer writer(archive_write_new());
  const bool ready = archive_write_set_format_gnutar(writer.get()) == ARCHIVE_OK &&
                     add_filter(writer.get(), compression) == ARCHIVE_OK &&
                     archive_write_set_bytes_per_block(writer.get(), kBufferBytes) == ARCHIVE_OK &&
                     archive_write_set_bytes_in_last_block(writer.get(), 1) == ARCHIVE_OK &&
                     archive_write_open(writer.get(), &sink, nullptr, write_to_sink, nullptr) == ARCHIVE_OK;
  if (!ready) return archive_error(writer.get(), sink.name);
  return writer;
}

std::vector<fs::path> sorted_paths(const fs::path& folder, std::error_code& code) {
  std::vector<fs::path> paths;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
    paths.push_back(entry->path());
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return paths;
}

Status append_content(archive* writer, const std::string& path, std::uint64_t size, Progress& progress) {
  SLIPWAY_TRY(file, open_regular(path));
  std::vector<std::byte> buffer(kBufferBytes);
  std::uint64_t left = size;
  while (left > 0) {
    const ssize_t got = ::read(file.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), left));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path, errno);
    if (got == 0)
      return Error{.code = ErrorCode::conflict, .what = path + " became shorter while it was packed", .where = path};
    if (archive_write_data(writer, buffer.data(), static_cast<std::size_t>(got)) < 0)
      return archive_error(writer, path);
    left -= static_cast<std::uint64_t>(got);
    progress.add(static_cast<std::uint64_t>(got));
  }
  return {};
}

/// Refuses entries that unpacking would refuse.
Status check_entry(const fs::path& path, const std::string& name, const struct stat& info) {
  Status fits;
  if (const auto clean = clean_entry_name(name); !clean) fits = clean.error();
  if (fits && S_ISLNK(info.st_mode))
    if (const auto target = check_link_target(name, fs::read_symlink(path).string()); !target) fits = target.error();
  if (fits && S_ISREG(info.st_mode)) fits = check_mode(info.st_mode);
  if (fits) return {};
  return Error{.code = ErrorCode::unsupported,
               .what = path.string() + " cannot be part of a layer: " + fits.error().what,
               .where = path.string(),
               .next = "change it in the package folder, or remove it"};
}

Status append(archive* writer, const fs::path& path, const std::string& name, std::int64_t mtime, Progress& progress) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return system_error("read", path.string(), errno);
  SLIPWAY_CHECK(check_entry(path, name, info));
  const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_mtime(entry.get(), mtime, 0);
  archive_entry_set_uname(entry.get(), "root");
  archive_entry_set_gname(entry.get(), "root");
  if (S_ISDIR(info.st_mode)) {
    archive_entry_set_mode(entry.get(), S_IFDIR | 0755);
  } else if (S_ISLNK(info.st_mode)) {
    archive_entry_set_mode(entry.get(), S_IFLNK | 0777);
    archive_entry_set_symlink(entry.get(), fs::read_symlink(path).c_str());
  } else if (S_ISREG(info.st_mode)) {
    archive_entry_set_mode(entry.get(), S_IFREG | ((info.st_mode & 0111) != 0 ? 0755 : 0644));
    archive_entry_set_size(entry.get(), info.st_size);
  } else {
    return Error{.code = ErrorCode::unsupported,
                 .what = path.string() + " is neither a file nor a folder nor a link, so it cannot be part of a layer",
                 .where = path.string(),
                 .next = "remove it from the package folder"};
  }
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) return archive_error(writer, path.string());
  if (!S_ISREG(info.st_mode)) return {};
  return append_content(writer, path.string(), static_cast<std::uint64_t>(info.st_size), progress);
}

}  // namespace

Result<TarLayer> write_tar_layer(const std::string& folder, const std::string& output, const TarOptions& options,
                                 const Reporter& reporter) {
  std::error_code code;
  const auto paths = sorted_paths(folder, code);
  if (code) return system_error("read the layer folder", folder, code.value());
  SLIPWAY_TRY(file, create_file(output));
  Sink sink{std::move(file), output, {}, 0, {}};
  SLIPWAY_TRY(writer, open_writer(sink, options.compression));
  Progress progress(reporter, "packing " + fs::path(folder).filename().string(), 0);
  for (const fs::path& path : paths)
    SLIPWAY_CHECK(append(writer.get(), path, path.lexically_relative(folder).string(), options.mtime, progress));
  if (archive_write_close(writer.get()) != ARCHIVE_OK)
    return sink.status ? archive_error(writer.get(), output) : std::move(sink.status).error();
  progress.finish();
  TarLayer layer{sink.hash.digest(), sink.size, 0};
  layer.unpacked_size = static_cast<std::uint64_t>(archive_filter_bytes(writer.get(), 0));
  return layer;
}

}  // namespace slipway::artifact
