// SPDX-License-Identifier: Apache-2.0
#include "driver/build/deb.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 256U << 10;
constexpr std::size_t kLargestControl = 1U << 20;
constexpr la_int64_t kLargestControlArchive = 64 << 20;  // unpacked; maintainer scripts and checksums are beside the
                                                         // control file

// Limit for the files of one package: twice the declared size plus 64 MiB, because dpkg counts as `du` does, and at
// most 8 GiB. A kernel's headers are some ten thousand files.
constexpr std::uint64_t kDataSlackBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostDataBytes = std::uint64_t{8} << 30U;
constexpr std::size_t kMostDataEntries = 100'000;
constexpr std::size_t kMostLeftOutNameBytes = std::size_t{16} << 20U;  // for names that are left out

struct ReadEnd {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct WriteEnd {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
using Reader = std::unique_ptr<archive, ReadEnd>;
using Writer = std::unique_ptr<archive, WriteEnd>;

std::string reason(archive* of) {
  const char* text = archive_error_string(of);
  return text == nullptr ? "unknown reason" : text;
}

Error no_deb(const std::string& file, const std::string& why) {
  return {ErrorCode::corrupt, "this is not a complete Debian package: " + why, file, "download it again", {}};
}

// A tar archive inside an ar archive, both read as a stream.
class Member {
 public:
  static Result<std::unique_ptr<Member>> open(const std::string& file, std::string_view prefix) {
    auto member = std::unique_ptr<Member>(new Member);  // NOLINT(modernize-make-unique): the constructor is private
    SLIPWAY_CHECK(member->find(file, prefix));
    // Only the filters of deb(5): with all of libarchive's, a package could make it run other programs of this machine.
    for (const auto filter :
         {archive_read_support_filter_gzip, archive_read_support_filter_xz, archive_read_support_filter_zstd,
          archive_read_support_filter_bzip2, archive_read_support_filter_lzma})
      filter(member->inner_.get());
    archive_read_support_format_tar(member->inner_.get());
    if (archive_read_open(member->inner_.get(), member.get(), nullptr, read_block, nullptr) != ARCHIVE_OK)
      return no_deb(file, reason(member->inner_.get()));
    return member;
  }
  archive* tar() { return inner_.get(); }

 private:
  Status find(const std::string& file, std::string_view prefix) {
    archive_read_support_format_ar(outer_.get());
    if (!fs::exists(file)) return Error{ErrorCode::not_found, "there is no such package", file, {}, {}};
    if (archive_read_open_filename(outer_.get(), file.c_str(), kBlock) != ARCHIVE_OK)
      return no_deb(file, reason(outer_.get()));
    archive_entry* entry = nullptr;
    while (archive_read_next_header(outer_.get(), &entry) == ARCHIVE_OK)
      if (const char* name = archive_entry_pathname(entry);
          name != nullptr && std::string_view(name).starts_with(prefix))
        return {};
    return no_deb(file, fmt::format("it has no {}*", prefix));
  }

  static la_ssize_t read_block(archive*, void* self, const void** buffer) {
    auto* member = static_cast<Member*>(self);
    *buffer = member->block_.data();
    return archive_read_data(member->outer_.get(), member->block_.data(), member->block_.size());
  }

  Reader outer_{archive_read_new()};
  Reader inner_{archive_read_new()};
  std::vector<char> block_ = std::vector<char>(kBlock);
};

Result<std::string> read_entry(archive* tar, const std::string& file) {
  std::string text;
  std::vector<char> block(kBlock);
  while (true) {
    const auto count = archive_read_data(tar, block.data(), block.size());
    if (count < 0) return no_deb(file, reason(tar));
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > kLargestControl) return no_deb(file, "its control file is larger than 1 MiB");
  }
}

std::map<std::string, std::string> parse_control(const std::string& text) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : lines_of(text)) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos && line[0] != ' ') fields[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return fields;
}

// "a (= 1) | b, c:any" -> a, c
std::vector<std::string> parse_depends(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& word : split_list(text)) names.push_back(word.substr(0, word.find_first_of(" :|")));
  return names;
}

// Adds 1 for a in "a (= 1)"; ignores alternatives, other relations, and invalid ones.
void add_exact(std::string_view one, std::map<std::string, std::string>& versions) {
  const auto opens = one.find('(');
  const auto closes = one.find(')');
  if (opens == std::string_view::npos || closes == std::string_view::npos || closes < opens) return;
  std::string_view name = trimmed(one.substr(0, opens));
  name = name.substr(0, name.find(':'));
  const std::string_view relation = trimmed(one.substr(opens + 1, closes - opens - 1));
  if (!relation.starts_with('=') || name.empty() || name.find_first_of(" |") != std::string_view::npos) return;
  const std::string_view version = trimmed(relation.substr(1));
  if (!version.empty() && version.find(' ') == std::string_view::npos) versions[std::string(name)] = version;
}

// "a (= 1) | b, c:any (= 2)" -> a: 1, c: 2
std::map<std::string, std::string> parse_exact(std::string_view text) {
  std::map<std::string, std::string> versions;
  for (const std::string_view one : split<std::string_view>(text, ',')) add_exact(one, versions);
  return versions;
}

std::uint64_t installed_bytes(const std::string& kibibytes) {
  std::uint64_t count = 0;
  std::from_chars(kibibytes.data(), kibibytes.data() + kibibytes.size(), count);
  return count << 10U;
}

// Returns the path of an entry without "./" and surrounding slashes; empty when it leads upwards.
std::string plain_path(const char* name) {
  const fs::path path = fs::path(name == nullptr ? "" : name).lexically_normal();
  for (const auto& part : path)
    if (part == "..") return {};
  std::string text = path.string();
  while (!text.empty() && text.back() == '/') text.pop_back();
  while (text.starts_with('/')) text.erase(0, 1);
  return text == "." ? std::string{} : text;
}

// Counts the data that a package has taken so far.
class DataCeiling {
 public:
  explicit DataCeiling(const std::string& file) : file_(file) {
    const auto info = read_deb_info(file);
    const std::uint64_t declared = info ? std::min(info->installed_bytes, kMostDataBytes) : 0;
    most_bytes_ = std::min(2 * declared + kDataSlackBytes, kMostDataBytes);
  }

  Status add(archive_entry* entry) {
    const la_int64_t size = archive_entry_size(entry);
    bytes_ += size > 0 ? std::min(static_cast<std::uint64_t>(size), kMostDataBytes) : 0;
    if (bytes_ > most_bytes_)
      return beyond(fmt::format("its files take more than {} MiB, which is more than it declares", most_bytes_ >> 20U));
    if (++entries_ > kMostDataEntries) return beyond(fmt::format("it has more than {} files", kMostDataEntries));
    return {};
  }
  Status add_name(const std::string& path) {
    name_bytes_ += path.size();
    if (name_bytes_ > kMostLeftOutNameBytes) return beyond("the names of its files take more than 16 MiB");
    return {};
  }

 private:
  Error beyond(const std::string& what) const {
    return {ErrorCode::corrupt,
            "this Debian package is not what it claims to be: " + what,
            file_,
            "take the package from Debian's own archive",
            {}};
  }

  const std::string& file_;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t entries_ = 0;
  std::size_t name_bytes_ = 0;
};

Status copy_data(archive* from, archive* to, const std::string& file) {
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  while (true) {
    const int status = archive_read_data_block(from, &block, &size, &offset);
    if (status == ARCHIVE_EOF) return {};
    if (status < ARCHIVE_WARN) return no_deb(file, reason(from));
    if (archive_write_data_block(to, block, size, offset) < 0)
      return system_error("write", archive_error_string(to), archive_errno(to));
  }
}

Status write_entry(archive* from, archive* to, archive_entry* entry, const std::string& path, const std::string& file) {
  constexpr unsigned kSpecialBits = 07000;
  archive_entry_copy_pathname(entry, path.c_str());
  archive_entry_set_perm(entry, archive_entry_perm(entry) & ~kSpecialBits);
  const auto type = archive_entry_filetype(entry);
  if (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK && archive_entry_hardlink(entry) == nullptr)
    return no_deb(file, "it holds a device or pipe");
  if (archive_write_header(to, entry) != ARCHIVE_OK) {
    const int number = archive_errno(to) > 0 ? archive_errno(to) : EIO;
    return system_error("unpack", path, number);
  }
  SLIPWAY_CHECK(copy_data(from, to, file));
  if (archive_write_finish_entry(to) < ARCHIVE_WARN) return system_error("unpack", path, archive_errno(to));
  return {};
}

}  // namespace

std::string DebInfo::upstream_version() const {
  std::string text = version.substr(version.find(':') == std::string::npos ? 0 : version.find(':') + 1);
  return text.substr(0, text.rfind('-'));
}

Result<DebInfo> read_deb_info(const std::string& file) {
  SLIPWAY_TRY(member, Member::open(file, "control.tar"));
  archive_entry* entry = nullptr;
  la_int64_t size = 0;
  while (archive_read_next_header(member->tar(), &entry) == ARCHIVE_OK) {
    size += archive_entry_size(entry);
    if (size > kLargestControlArchive) return no_deb(file, "its control.tar holds more than 64 MiB");
    if (plain_path(archive_entry_pathname(entry)) != "control") continue;
    SLIPWAY_TRY(text, read_entry(member->tar(), file));
    auto fields = parse_control(text);
    DebInfo info{file,
                 fields["Package"],
                 fields["Version"],
                 fields["Architecture"],
                 parse_depends(fields["Depends"]),
                 parse_exact(fields["Depends"]),
                 installed_bytes(fields["Installed-Size"])};
    if (info.package.empty() || info.version.empty()) return no_deb(file, "its control file names no package");
    return info;
  }
  return no_deb(file, "it has no control file");
}

Status unpack_deb(const std::string& file, const std::string& into, const DebPaths& paths,
                  std::vector<std::string>* left_out) {
  SLIPWAY_TRY(member, Member::open(file, "data.tar"));
  std::error_code code;
  fs::create_directories(into, code);
  const std::string base = fs::canonical(into, code).string();
  if (code) return system_error("open", into, code.value());
  const Writer disk(archive_write_disk_new());
  archive_write_disk_set_options(disk.get(), ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
                                                 ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                                                 ARCHIVE_EXTRACT_UNLINK);
  DataCeiling ceiling(file);
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(member->tar(), &entry)) == ARCHIVE_OK) {
    SLIPWAY_CHECK(ceiling.add(entry));
    const std::string path = plain_path(archive_entry_pathname(entry));
    const std::string target = path.empty() ? std::string{} : paths(path);
    if (target.empty()) {
      if (left_out == nullptr || path.empty() || archive_entry_filetype(entry) == AE_IFDIR) continue;
      SLIPWAY_CHECK(ceiling.add_name(path));
      left_out->push_back(path);
      continue;
    }
    if (const char* link = archive_entry_hardlink(entry)) {
      const std::string other = paths(plain_path(link));
      if (other.empty()) return no_deb(file, fmt::format("{} is a hard link to a file that is left out", path));
      archive_entry_copy_hardlink(entry, (base + "/" + other).c_str());
    }
    SLIPWAY_CHECK(write_entry(member->tar(), disk.get(), entry, base + "/" + target, file));
  }
  if (status != ARCHIVE_EOF) return no_deb(file, reason(member->tar()));
  if (archive_write_close(disk.get()) != ARCHIVE_OK) return system_error("unpack", into, archive_errno(disk.get()));
  return {};
}

}  // namespace slipway::driver
