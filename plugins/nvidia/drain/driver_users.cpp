// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/driver_users.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "nvidia/process/process_files.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kLongestMaps = std::size_t{8} << 20U;
constexpr std::chrono::seconds kMapsLimit{2};
constexpr std::array<std::string_view, 6> kLibraries{"libcuda.so.",    "libcudadebugger.so.", "libnvidia-",
                                                     "libnvcuvid.so.", "libGLX_nvidia.so.",   "libEGL_nvidia.so."};

/// Matches "7f00-7f01 r-xp 00000000 08:01 1234   /usr/lib/libcuda.so.1", see proc(5). A file that is mapped without
/// execute permission may come from another process, under any name, so it does not count.
bool runs_library(std::string_view line) {
  const auto rights = line.find(' ');
  const auto path = line.find('/');
  if (rights == std::string_view::npos || path == std::string_view::npos) return false;
  if (line.substr(rights + 1, 4).find('x') == std::string_view::npos) return false;
  const std::string_view name = line.substr(line.rfind('/') + 1);
  return std::ranges::any_of(kLibraries, [&](std::string_view library) { return name.starts_with(library); });
}

}  // namespace

/// A process can hold the lock of its memory maps, which blocks a reader.
std::optional<std::string> DriverUsers::maps_of(unsigned pid) {
  const std::string file = fmt::format("/proc/{}/maps", pid);
  const std::size_t limit = std::min(kLongestMaps, left_);
  const auto maps = std::make_shared<Result<std::string>>(Error{});
  if (!is_here(host_, pid))
    *maps = host_.read(file, limit);
  else if (!thread_.run([=] { *maps = read_regular(file, limit); }, kMapsLimit))
    return std::nullopt;
  if (!*maps) return std::nullopt;
  left_ -= (*maps)->size();
  return std::move(**maps);
}

bool DriverUsers::contains(const DeviceHolder& holder) {
  if (!holder.only_open) return true;
  const std::string maps = maps_of(holder.process.pid).value_or("");
  return std::ranges::any_of(lines_of<std::string_view>(maps), runs_library);
}

}  // namespace slipway::nvidia::drain
