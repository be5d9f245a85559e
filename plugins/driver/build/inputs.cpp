// SPDX-License-Identifier: Apache-2.0
#include "driver/build/inputs.hpp"

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "driver/build/description.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

// The sources exist twice, and objects and modules take about as much space as both copies.
constexpr std::uint64_t kSourcesWhenCompiling = 5;

// Returns the nearest existing parent folder.
fs::path existing(fs::path path) {
  std::error_code code;
  while (!fs::exists(path, code) && path.has_relative_path()) path = path.parent_path();
  return path;
}

Status check_writable(const fs::path& folder, const std::string& what, const std::string& option) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  Error error = system_error("write to", folder.string(), errno);
  error.what = fmt::format("{} cannot be written: {}", what, error.what);
  error.next = fmt::format("name a folder that you may write to: {}", option);
  return error;
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MB", (bytes + 999'999) / 1'000'000); }

Result<struct statvfs> room_at(const fs::path& folder) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return system_error("look at", folder.string(), errno);
  return room;
}

Status check_free(const fs::path& folder, std::uint64_t wanted, const std::string& option) {
  SLIPWAY_TRY(room, room_at(folder));
  const std::uint64_t available = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  if (available >= wanted) return {};
  return Error{ErrorCode::no_space,
               fmt::format("the build may take {} in {}, and {} are free", megabytes(wanted), folder.string(),
                           megabytes(available)),
               folder.string(),
               fmt::format("free some space there, or name another folder: {}", option),
               {}};
}

bool on_one_filesystem(const fs::path& a, const fs::path& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev;
}

}  // namespace

Status check_output(const std::string& layout) {
  std::error_code code;
  const auto status = fs::status(layout, code);
  if (fs::exists(status) && !fs::is_directory(status))
    return Error{ErrorCode::invalid,
                 "the layout to write is a folder, and this is a file",
                 layout,
                 "name a folder with --output; `slipway pkg pull FOLDER --to FILE.tar` makes a file of it",
                 {}};
  if (const fs::path above = existing(layout); !fs::is_directory(above))
    return Error{ErrorCode::invalid,
                 "the layout to write would be below a file",
                 above.string(),
                 "name another folder with --output",
                 {}};
  SLIPWAY_CHECK(check_writable(existing(layout), "the layout " + layout, "--output LAYOUT"));
  const fs::path folder(layout);
  const bool is_layout = fs::exists(folder / "oci-layout", code) && fs::exists(folder / "index.json", code);
  if (!fs::exists(status) || is_layout || fs::is_empty(folder, code)) return {};
  return Error{ErrorCode::conflict,
               "the folder is not an OCI layout, and it is not empty",
               layout,
               "name a new folder, or one that is a layout, with --output",
               {}};
}

Status check_scratch(const std::string& folder) {
  std::error_code code;
  if (fs::is_directory(folder, code)) return check_writable(folder, "the folder for temporary files", "--scratch DIR");
  return Error{ErrorCode::not_found,
               "the folder for temporary files is missing",
               folder,
               "make that folder, or name another one with --scratch DIR",
               {}};
}

Status check_signing(const std::string& key, const std::string& certificate) {
  if (key.empty()) return {};
  for (const auto& [file, option] : {std::pair(key, "--sign-key"), std::pair(certificate, "--sign-cert")}) {
    if (::access(file.c_str(), R_OK) == 0 && !fs::is_directory(file)) continue;
    Error error = system_error("read", file, fs::is_directory(file) ? EISDIR : errno);
    error.next = fmt::format("name another file with {}", option);
    return error;
  }
  return check_key_pair(key, certificate);
}

Room room_for(const DriverDebs& driver, const std::vector<DebInfo>& headers, bool compiles) {
  Room room;
  const auto packed = [](const DebInfo& deb) {
    std::error_code code;
    const auto size = fs::file_size(deb.file, code);
    return code ? std::uint64_t{0} : static_cast<std::uint64_t>(size);
  };
  for (const auto* list : {&driver.userspace, &driver.firmware, &driver.source})
    for (const auto& deb : *list) {
      room.scratch += deb.installed_bytes * (compiles && list == &driver.source ? kSourcesWhenCompiling : 1);
      room.output += packed(deb);
    }
  for (const auto& deb : headers) room.scratch += deb.installed_bytes;
  room.output += room.output / 2;  // Debian compresses better than layers are compressed
  return room;
}

Status check_room(const std::string& scratch, const std::string& output, const Room& room) {
  const fs::path temporary = existing(scratch);
  const fs::path layout = existing(output);
  if (on_one_filesystem(temporary, layout))
    return check_free(temporary, room.scratch + room.output, "--scratch DIR, --output LAYOUT");
  SLIPWAY_CHECK(check_free(temporary, room.scratch, "--scratch DIR"));
  return check_free(layout, room.output, "--output LAYOUT");
}

Status check_headers(const DriverDebs& driver, const std::vector<DebInfo>& headers) {
  for (const auto& deb : headers)
    if (deb.architecture != kAnyMachine && deb.architecture != driver.architecture)
      return Error{
          ErrorCode::conflict,
          fmt::format("{} is for {}, and the driver for {}", deb.package, deb.architecture, driver.architecture),
          deb.file,
          fmt::format("put the package for {} there: `apt-get download {}:{}`", driver.architecture, deb.package,
                      driver.architecture),
          {}};
  return {};
}

Status check_compiler(const Host& root, const std::string& root_folder, const KernelHeaders& headers) {
  std::vector<std::string> missing;
  for (const std::string& program : {compiler_program(headers.compiler), std::string("make"), std::string("strip")})
    if (find_program(root, program).empty()) missing.push_back(program == "strip" ? "strip (binutils)" : program);
  if (missing.empty()) return {};
  return Error{
      ErrorCode::not_found,
      fmt::format("the modules cannot be compiled: there is no {} in {}", fmt::join(missing, ", "), root_folder),
      root_folder,
      fmt::format("install {} there, or name another root with --root DIR", fmt::join(missing, ", ")),
      {}};
}

}  // namespace slipway::driver
