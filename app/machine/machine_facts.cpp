// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "app/machine/facts.hpp"
#include "base/kernels/kernels.hpp"
#include "core/engine/devices.hpp"

namespace slipway::app {
namespace {

constexpr std::size_t kLargestDatabase = std::size_t{8} << 20U;

std::string hex(unsigned number) {
  char text[9];
  std::snprintf(text, sizeof text, "%04x", number);
  return text;
}

std::string name_of(const Host& host) {
  const std::string name = host.attribute("/etc/hostname");
  if (!host.live()) return name;
  utsname running{};
  return ::uname(&running) == 0 ? running.nodename : name;
}

bool asks_for_devices(const core::Session& session) {
  return std::ranges::any_of(session.plugins().component_to_path, [&](const auto& each) {
    return !session.plugins().manifest(each.first)->service_device.empty();
  });
}

std::string database_of(const Host& host) {
  for (const char* path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"})
    if (auto text = host.read(path, kLargestDatabase)) return std::move(*text);
  return {};
}

/// Returns the file system of the state folder, or of the innermost existing folder above it.
std::optional<std::pair<std::string, struct statvfs>> state_file_system(const core::Session& session) {
  const auto root = RootDir::open(session.host_config().root);
  if (!root) return std::nullopt;
  std::filesystem::path path(core::kStateDir);
  for (; path != path.root_path(); path = path.parent_path())
    if (const auto folder = root->open_at(path.string(), O_PATH | O_DIRECTORY)) {
      struct statvfs info {};
      if (::fstatvfs(folder->get(), &info) != 0) return std::nullopt;
      const std::string& base = session.host_config().root;
      return std::pair(base == "/" ? path.string() : base + path.string(), info);
    }
  return std::nullopt;
}

}  // namespace

Json host_facts(const core::Session& session) {
  const Host& host = session.host();
  const bool simulated = session.simulated() != nullptr;
  Json facts{{"kind", simulated     ? "simulated"
                      : host.live() ? "machine"
                                    : "image"},
             {"name", name_of(host)},
             {"os", host.os_release("PRETTY_NAME")},
             {"root", session.options().root}};
  if (simulated) facts["sim"] = session.options().sim;
  return facts;
}

Json kernel_facts(const core::Session& session) {
  const auto release = session.host().kernel_release();
  return {{"release", release.ok() ? *release : ""},
          {"installed", session.host().installed_kernels()},
          {"next", base::next_boot(session.host()).release}};
}

Json full_disk(const core::Session& session) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10U;  // for the journal and a record or two
  const auto found = state_file_system(session);
  if (!found) return {};
  const auto& [path, info] = *found;
  if ((info.f_flag & ST_RDONLY) != 0 || info.f_blocks == 0) return {};
  const std::string subject = "the file system of " + path;
  const std::uint64_t bytes = std::uint64_t{info.f_bfree} * info.f_frsize;
  if (bytes < kLeastBytes)
    return {{"problem", subject + " is full (" + std::to_string(bytes) + " bytes are free), so no apply can work"},
            {"do", "remove files from that file system (`df " + path +
                       "` shows its size); `slipway gc` removes what slipway no longer needs"}};
  if (info.f_files != 0 && info.f_ffree == 0)  // 0 of 0 when inodes are made as needed
    return {{"problem", subject + " has no inodes left, so no apply can work"},
            {"do", "remove files from that file system (`df -i " + path + "` shows its inodes)"}};
  return {};
}

std::string pci_name(const std::string& database, const std::string& vendor, const std::string& device) {
  const std::string lines = "\n" + database;
  std::size_t at = lines.find("\n" + vendor + "  ");
  if (at == std::string::npos) return {};
  const std::string wanted = "\t" + device + "  ";
  while ((at = lines.find('\n', at + 1)) != std::string::npos) {
    const std::string_view line = std::string_view(lines).substr(at + 1, lines.find('\n', at + 1) - at - 1);
    if (line.starts_with(wanted)) return std::string(trimmed(line.substr(wanted.size())));
    if (!line.empty() && line.front() != '\t' && line.front() != '#') return {};  // the next vendor
  }
  return {};
}

Json device_facts(const core::Session& session) {
  const Host& host = session.host();
  if (!host.has_kernel_view() || !asks_for_devices(session)) return {};
  std::map<std::tuple<std::string, std::string, std::string>, int> counts;
  for (const PciDevice& device : core::plugin_devices(session))
    ++counts[{core::pci_id(device), hex(device.device_class >> 8U), device.driver}];
  const std::string database = counts.empty() ? "" : database_of(host);
  Json all = Json::array();
  for (const auto& [model, count] : counts) {
    const auto& [id, device_class, driver] = model;
    all.push_back({{"pci", id},
                   {"name", pci_name(database, id.substr(0, 4), id.substr(5))},
                   {"class", device_class},
                   {"count", count},
                   {"driver", driver}});
  }
  return all;
}

}  // namespace slipway::app
