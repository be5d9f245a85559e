// SPDX-License-Identifier: Apache-2.0
#include "driver/module/kernel_symbols.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "driver/module/module_info.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kOwnModuleLimit = 64U << 20;
constexpr std::size_t kSymversFileLimit = 64U << 20;
constexpr int kMostModules = 10;

// Symbols of vmlinux in all kernels that NVIDIA's drivers support. A symbol's checksum covers the structures that its
// parameters lead to.
constexpr std::array kWatched{
    std::string_view{"__alloc_pages"},
    std::string_view{"__free_pages"},
    std::string_view{"__pci_register_driver"},
    std::string_view{"__task_pid_nr_ns"},
    std::string_view{"cdev_add"},
    std::string_view{"dma_alloc_attrs"},
    std::string_view{"dma_map_page_attrs"},
    std::string_view{"fget"},
    std::string_view{"find_vma"},
    std::string_view{"fput"},
    std::string_view{"handle_mm_fault"},
    std::string_view{"iommu_dev_enable_feature"},
    std::string_view{"kmem_cache_create"},
    std::string_view{"kthread_create_on_node"},
    std::string_view{"migrate_vma_setup"},
    std::string_view{"mmput"},
    kModuleLayout,
    std::string_view{"param_ops_uint"},
    std::string_view{"pci_enable_device"},
    std::string_view{"pin_user_pages"},
    std::string_view{"proc_create_data"},
    std::string_view{"request_threaded_irq"},
    std::string_view{"seq_read"},
    std::string_view{"unmap_mapping_range"},
    std::string_view{"vm_insert_page"},
    std::string_view{"vmap"},
    std::string_view{"wake_up_process"},
};

// Modules that import much of what NVIDIA's modules import, the most useful first.
constexpr std::array kLargeModules{
    std::string_view{"drivers/gpu/drm/drm"},
    std::string_view{"drivers/gpu/drm/i915/i915"},
    std::string_view{"drivers/gpu/drm/nouveau/nouveau"},
    std::string_view{"drivers/infiniband/core/ib_uverbs"},
    std::string_view{"drivers/infiniband/core/ib_core"},
    std::string_view{"drivers/vfio/pci/vfio-pci-core"},
    std::string_view{"drivers/acpi/video"},
    std::string_view{"drivers/gpu/drm/drm_kms_helper"},
    std::string_view{"drivers/net/ethernet/mellanox/mlx5/core/mlx5_core"},
    std::string_view{"fs/fuse/fuse"},
};

base::SymbolVersions keep(const base::SymbolVersions& versions, const std::function<bool(std::string_view)>& wanted) {
  base::SymbolVersions kept;
  for (const auto& [name, checksum] : versions)
    if (wanted(name)) kept.emplace(name, checksum);
  return kept;
}

/// Returns a module's uncompressed bytes; empty when it is missing or cannot be read.
std::string read_module(const Host& host, const std::string& path) {
  const auto bytes = host.read(path, kOwnModuleLimit);
  if (!bytes) return {};
  auto elf = decompress(*bytes);
  return elf ? std::move(*elf) : std::string{};
}

std::optional<SymbolSource> read_symvers(const Host& host, const std::string& release,
                                         const std::function<bool(std::string_view)>& wanted) {
  const std::string modules = fmt::format("/lib/modules/{}/", release);
  for (const auto& path :
       {modules + "build/Module.symvers", modules + "symvers.gz", modules + "symvers.xz", modules + "symvers.zst",
        fmt::format("/boot/symvers-{}.gz", release), fmt::format("/boot/symvers-{}.xz", release)}) {
    const auto bytes = host.read(path, kSymversFileLimit);
    if (!bytes) continue;
    const auto text = path.ends_with(".symvers") ? Result<std::string>(*bytes) : decompress(*bytes);
    if (!text) continue;
    SymbolSource source{host.resolve(path).value_or(path), base::symbol_versions_in(*text, wanted)};
    if (!source.versions.empty()) return source;
  }
  return std::nullopt;
}

void add_large_modules(const Host& host, const std::string& release,
                       const std::function<bool(std::string_view)>& wanted, int most, KernelSymbols& symbols) {
  for (const auto module : kLargeModules) {
    for (const auto* ending : {".ko", ".ko.zst", ".ko.xz", ".ko.gz"}) {
      const std::string path = fmt::format("/lib/modules/{}/kernel/{}{}", release, module, ending);
      const std::string elf = read_module(host, path);
      if (elf.empty()) continue;
      if (const auto versions = base::symbol_versions_of(elf))
        symbols.sources.push_back({path, keep(*versions, wanted)});
      if (--most == 0) return;
      break;
    }
  }
}

}  // namespace

bool is_watched(std::string_view symbol) { return std::ranges::count(kWatched, symbol) != 0; }

std::optional<OwnModule> read_own_module(const Host& host, const std::string& path) {
  if (path.empty()) return std::nullopt;
  OwnModule own;
  own.path = path;
  const std::string elf = read_module(host, path);
  const auto info = base::module_info_of(elf);
  if (!info || !info->contains("vermagic")) return std::nullopt;
  own.vermagic = trimmed(info->find("vermagic")->second);
  if (auto versions = base::symbol_versions_of(elf)) own.versions = std::move(*versions);
  if (auto signer = signer_of_module(elf)) own.signer = std::move(*signer);
  return own;
}

const SymbolSource* KernelSymbols::find(std::string_view symbol) const {
  const auto has = [&](const SymbolSource& source) { return source.versions.contains(symbol); };
  const auto found = std::ranges::find_if(sources, has);
  return found == sources.end() ? nullptr : &*found;
}

KernelSymbols read_kernel_symbols(const Host& host, const std::string& release, const std::optional<OwnModule>& own,
                                  const std::function<bool(std::string_view)>& wanted, bool thorough) {
  KernelSymbols symbols;
  if (!own) return symbols;
  symbols.known = true;
  symbols.modversions = !own->versions.empty();
  if (!symbols.modversions) return symbols;
  symbols.sources.push_back({own->path, keep(own->versions, wanted)});
  auto listed =
      read_symvers(host, release, [&](std::string_view name) { return name == kModuleLayout || wanted(name); });
  const auto layout = own->versions.find(kModuleLayout);
  if (listed && layout != own->versions.end()) {
    const auto other = listed->versions.find(kModuleLayout);
    if (other != listed->versions.end() && other->second != layout->second) {
      symbols.left_out = fmt::format(
          "{} is of another build of kernel {}: it has {} for {}, and the kernel's own {} has {}", listed->file,
          release, base::checksum_text(other->second), kModuleLayout, own->path, base::checksum_text(layout->second));
      listed.reset();
    }
  }
  if (listed)
    symbols.sources.push_back(std::move(*listed));
  else
    add_large_modules(host, release, wanted, thorough ? kMostModules : 1, symbols);
  return symbols;
}

void to_json(Json& value, const KernelSymbols& symbols) {
  Json sources = Json::array();
  for (const auto& source : symbols.sources)
    sources.push_back({{"file", source.file}, {"versions", symbol_versions_to_json(source.versions)}});
  value = {{"known", symbols.known}, {"modversions", symbols.modversions}, {"sources", std::move(sources)}};
  if (!symbols.left_out.empty()) value["left_out"] = symbols.left_out;
}

void from_json(const Json& value, KernelSymbols& symbols) {
  symbols.known = value.value("known", false);
  symbols.modversions = value.value("modversions", false);
  symbols.left_out = value.value("left_out", "");
  for (const auto& source : value.value("sources", Json::array())) {
    SymbolSource one{source.value("file", ""), {}};
    one.versions = symbol_versions_from_json(source.value("versions", Json::object()));
    symbols.sources.push_back(std::move(one));
  }
}

Json symbol_versions_to_json(const base::SymbolVersions& versions) {
  Json value = Json::object();
  for (const auto& [name, checksum] : versions) value[name] = base::checksum_text(checksum);
  return value;
}

base::SymbolVersions symbol_versions_from_json(const Json& value) {
  base::SymbolVersions versions;
  if (!value.is_object()) return versions;
  for (const auto& [name, text] : value.items()) {
    std::uint32_t checksum = 0;
    if (text.is_string() && base::read_checksum(text.get_ref<const std::string&>(), checksum))
      versions[name] = checksum;
  }
  return versions;
}

}  // namespace slipway::driver
