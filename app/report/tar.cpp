// SPDX-License-Identifier: Apache-2.0
#include "app/report/tar.hpp"

#include <cstdio>
#include <cstring>

namespace slipway::app {
namespace {

constexpr std::size_t kBlock = 512;

/// The layout from POSIX.1-2017 (pax, "ustar Interchange Format").
struct Header {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char linkname[100];
  char magic[6];
  char version[2];
  char uname[32];
  char gname[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char rest[12];
};
static_assert(sizeof(Header) == kBlock);

void put(char* field, std::size_t width, std::uint64_t number) {
  std::snprintf(field, width, "%0*llo", static_cast<int>(width - 1), static_cast<unsigned long long>(number));
}

/// Splits a path that is longer than `name` at a slash. @return false when it is too long
bool put_path(Header& header, const std::string& path) {
  constexpr std::size_t kLongest = sizeof(Header::name);
  std::size_t slash = 0;
  if (path.size() > kLongest) {
    slash = path.find('/', path.size() - kLongest - 1);
    if (slash == std::string::npos || slash > sizeof header.prefix) return false;
    std::memcpy(header.prefix, path.data(), slash);
    ++slash;
  }
  std::memcpy(header.name, path.data() + slash, path.size() - slash);
  return true;
}

}  // namespace

Result<std::string> tar_of(const std::string& folder, const std::map<std::string, std::string>& files,
                           std::int64_t mtime) {
  std::string bytes;
  for (const auto& [name, content] : files) {
    Header header{};
    if (!put_path(header, folder + "/" + name))
      return Error{ErrorCode::invalid, "the name is too long for a tar file", name, "", {}};
    put(header.mode, sizeof header.mode, 0600);
    put(header.uid, sizeof header.uid, 0);
    put(header.gid, sizeof header.gid, 0);
    put(header.size, sizeof header.size, content.size());
    put(header.mtime, sizeof header.mtime, static_cast<std::uint64_t>(mtime));
    header.type = '0';
    std::memcpy(header.magic, "ustar", sizeof header.magic);
    std::memcpy(header.version, "00", sizeof header.version);
    std::memset(header.checksum, ' ', sizeof header.checksum);
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += reinterpret_cast<const unsigned char*>(&header)[i];
    std::snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
    bytes.append(reinterpret_cast<const char*>(&header), kBlock);
    bytes += content;
    bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, '\0');
  }
  bytes.resize(bytes.size() + 2 * kBlock, '\0');
  return bytes;
}

}  // namespace slipway::app
