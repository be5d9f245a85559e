// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/list_reader.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <slipway/root_dir.hpp>

namespace slipway::driver {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
constexpr const char* kGetNewOnes = "get the package manager's lists again: `apt-get update`, or `dnf makecache`";

struct ListEnd {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

Error broken_list(const std::string& file, std::string why) {
  return {ErrorCode::corrupt, "this package list cannot be read: " + std::move(why), file, kGetNewOnes, {}};
}

/// Cuts what is added into entries.
class Cutter {
 public:
  Cutter(std::string file, const EntryForm& form, const ListLimits& limits,
         const std::function<Status(std::string_view)>& take)
      : file_(std::move(file)), form_(form), limits_(limits), take_(take) {}

  Status add(std::string_view part) {
    seen_ += part.size();
    if (seen_ > limits_.unpacked_bytes)
      return broken_list(file_, fmt::format("it is larger than {} MiB", limits_.unpacked_bytes >> 20U));
    if (std::chrono::steady_clock::now() > limits_.until)
      return Error{ErrorCode::timed_out, "the package lists take too long to read", file_, kGetNewOnes, {}};
    text_.append(part);
    std::size_t begin = 0;
    for (std::size_t end = text_.find(form_.end, searched_); end != std::string::npos;
         end = text_.find(form_.end, begin)) {
      SLIPWAY_CHECK(hand_over(begin, end));
      begin = end + form_.end.size();
    }
    text_.erase(0, begin);
    searched_ = text_.size() - std::min(text_.size(), form_.end.size());
    if (text_.size() > limits_.entry_bytes) return too_long();
    return {};
  }
  Status end() { return hand_over(0, text_.size()); }

 private:
  Status hand_over(std::size_t begin, std::size_t end) {
    if (end - begin > limits_.entry_bytes) return too_long();
    const std::string_view entry = std::string_view(text_).substr(begin, end - begin);
    return entry.empty() ? Status{} : take_(entry);
  }
  Error too_long() const {
    return broken_list(file_, fmt::format("an entry is longer than {} MiB", limits_.entry_bytes >> 20U));
  }

  std::string file_;
  const EntryForm& form_;
  const ListLimits& limits_;
  const std::function<Status(std::string_view)>& take_;
  std::string text_;
  std::size_t searched_ = 0;  ///< the entry's end does not begin before
  std::size_t seen_ = 0;
};

/// Compressed by one of the programs that apt and dnf use.
bool is_compressed(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::array kBeginnings{"\x1f\x8b"sv,          // gzip
                                   "\xfd\x37zXZ\0"sv,     // xz
                                   "\x28\xb5\x2f\xfd"sv,  // zstd
                                   "\x04\x22\x4d\x18"sv,  // lz4
                                   "BZh"sv};
  return std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return bytes.starts_with(begin); });
}

}  // namespace

Status read_entries(std::string_view bytes, const std::string& file, const EntryForm& form, const ListLimits& limits,
                    const std::function<Status(std::string_view entry)>& take) {
  Cutter cutter(file, form, limits, take);
  if (!is_compressed(bytes)) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kBlockBytes, bytes.size())))
      SLIPWAY_CHECK(cutter.add(bytes.substr(0, kBlockBytes)));
    return cutter.end();
  }
  const std::unique_ptr<archive, ListEnd> reader(archive_read_new());
  // With all of libarchive's filters, a list could make it run other programs of this machine.
  for (const auto filter :
       {archive_read_support_filter_gzip, archive_read_support_filter_xz, archive_read_support_filter_zstd,
        archive_read_support_filter_lz4, archive_read_support_filter_bzip2})
    if (filter(reader.get()) != ARCHIVE_OK)
      return broken_list(file, "this slipway was built without a way to unpack it");
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK ||
      archive_read_next_header(reader.get(), &entry) != ARCHIVE_OK)
    return broken_list(file, "its compression is broken_list");
  std::vector<char> block(kBlockBytes);
  while (true) {
    const auto count = archive_read_data(reader.get(), block.data(), block.size());
    if (count < 0) return broken_list(file, "its compression is broken_list");
    if (count == 0) return cutter.end();
    SLIPWAY_CHECK(cutter.add({block.data(), static_cast<std::size_t>(count)}));
  }
}

Status read_entries_of(const Host& host, const std::string& file, const EntryForm& form, const ListLimits& limits,
                       const std::function<Status(std::string_view entry)>& take) {
  SLIPWAY_TRY(bytes, host.read(file, limits.file_bytes));
  return read_entries(bytes, file, form, limits, take);
}

std::int64_t newest_change(const Host& host, const std::vector<std::string>& paths) {
  const auto root = RootDir::open(host.root_folder());
  std::int64_t newest = 0;
  if (!root) return newest;
  for (const std::string& path : paths) {
    const auto opened = root->open_at(path, O_PATH);
    struct stat info {};
    if (opened && ::fstat(opened->get(), &info) == 0) newest = std::max<std::int64_t>(newest, info.st_mtim.tv_sec);
  }
  return newest;
}

}  // namespace slipway::driver
