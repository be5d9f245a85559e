// SPDX-License-Identifier: Apache-2.0
// plugins/driver/boot/loader_entries.hpp - the entries of the Boot Loader Specification, as systemd-boot and GRUB with
// blscfg show them in their menus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::driver {

struct LoaderEntry {
  std::string id;       ///< name of its file without ".conf" and without a counter of boots, or "NAME.efi"
  std::string release;  ///< of its kernel
  unsigned mode = 0;    ///< of its file
};

/// Returns the entries in loader/entries, and the unified kernel images in EFI/Linux, below these folders.
std::vector<LoaderEntry> read_loader_entries(const Host& host, const std::vector<std::string>& folders);

/// Returns the entry of a kernel; null: it has none.
const LoaderEntry* entry_of_release(const std::vector<LoaderEntry>& entries, std::string_view release);

/// Returns the value of a key of loader.conf or of an entry: the last one; empty: it is not set.
std::string loader_setting(std::string_view text, std::string_view key);

/// Returns loader.conf with this entry as its only default, in the line after slipway's comment.
std::string loader_conf_with(std::string_view text, const std::string& entry);

/// Returns the default in the line after slipway's comment; empty when the file has no such comment.
std::string our_loader_default(std::string_view text);

/// Returns loader.conf without slipway's comment and the default behind it.
std::string loader_conf_without_ours(std::string_view text);

}  // namespace slipway::driver
