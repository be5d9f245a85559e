// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/host.hpp - the only door to the machine: this one, or an offline root filesystem.
//
// A Host serves one thread, its worker's. Paths are absolute inside the root, and no symlink leads out of it. Paths
// below /sys, /proc and /dev show the kernel's view: the running kernel's when live, a simulated machine's with --sim,
// and nothing (`not_found`) for an offline root. A Host only looks; what must change is said in a plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

/// What a path is; never follows a final symlink.
struct FileInfo {
  enum class Type { regular, directory, symlink, character_device, block_device, other };
  Type type = Type::other;
  std::uint64_t size_bytes = 0;
  unsigned mode = 0;  ///< permission bits with setuid, setgid and sticky, no type
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  unsigned device_major = 0;  ///< of a device node
  unsigned device_minor = 0;
};

/// A PCI function as sysfs shows it (Documentation/ABI/testing/sysfs-bus-pci).
struct PciDevice {
  std::string address;  ///< "0000:65:00.0"
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem_device = 0;
  std::uint32_t device_class = 0;  ///< 24 bits: base class, subclass, interface
  std::string driver;              ///< name of the bound driver; empty: none
  std::optional<int> numa_node;    ///< empty when the kernel does not know (sysfs says -1)
};

/// Which PCI functions to list; an empty member takes all.
struct PciFilter {
  std::optional<std::uint16_t> vendor;
  std::optional<std::uint8_t> base_class;
};

struct ProcessOutput {
  int exit_status = 0;     ///< 0-255; 128 + signal when a signal ended it
  std::string output;      ///< standard output, at most 1 MiB: the newest bytes
  std::string errors;      ///< standard error, likewise
  bool truncated = false;  ///< something was dropped
};

class Host {
 public:
  virtual ~Host() = default;

  /// Acts on the running kernel and init system. Independent of where the root is.
  virtual bool live() const = 0;
  /// There is a kernel's view to look at (live or simulated): devices that are not shown are not there.
  virtual bool has_kernel_view() const = 0;
  /// What to think of devices that are not shown: "assume" they will be there, "require" them now, or "detect" what is
  /// there. A component without its hardware is not applicable only with "detect".
  virtual std::string hardware() const { return "detect"; }
  /// slipway-boot.service applies, before container engines and jobs begin.
  virtual bool booting() const { return false; }
  /// The kernel that is planned for: --kernel (of several the newest), else the running one when live, else the only
  /// one in /lib/modules. Errors: `not_found` none, or `conflict` several, listing them.
  virtual Result<std::string> kernel_release() const = 0;
  /// The releases that --kernel names, in that order; none when it was not given.
  virtual std::vector<std::string> asked_kernels() const { return {}; }
  /// The folder of this machine's file system that is "/" for every path: "/" itself when live without a container.
  /// For what cannot go through a Host: a library to load, a file that a Service keeps up to date.
  virtual std::string root_folder() const { return "/"; }
  /// The folder whose sys/, proc/ and dev/ are the kernel's view: "/" for this machine's own; empty: there is none. For
  /// the same as root_folder().
  virtual std::string kernel_folder() const { return has_kernel_view() ? root_folder() : ""; }
  /// As `uname -m` says it, of the root ("x86_64").
  virtual std::string arch() const = 0;

  /// The content of a file, following links inside the root. Errors: `not_found`, `denied`, `io`; `invalid` when it is
  /// longer than `limit_bytes`.
  virtual Result<std::string> read(std::string_view path, std::size_t limit_bytes = 1 << 20) const = 0;
  /// What is at the path itself. Errors: `not_found`, `denied`, `io`.
  virtual Result<FileInfo> info(std::string_view path) const = 0;
  /// Where a symlink points, as it is written. Errors: `not_found`, `invalid` (no link).
  virtual Result<std::string> read_link(std::string_view path) const = 0;
  /// The path with every link followed inside the root. Errors: `not_found` when something on the way is missing.
  virtual Result<std::string> resolve(std::string_view path) const = 0;
  /// The names in a folder, sorted, without "." and "..". Errors: `not_found`, `denied`, `io`.
  virtual Result<std::vector<std::string>> list(std::string_view path) const = 0;
  /// Opening the path for reading and writing works (device nodes); opened and closed at once.
  virtual Status opens(std::string_view path) const = 0;

  /// Runs a program of the root and waits for it. No shell; argv[0] is looked up inside the root. It gets no input, the
  /// environment PATH, HOME and LC_ALL=C, and no descriptor of ours. In a container (live, root "/host") it runs in the
  /// namespaces of the host's process 1 when that can be seen, else under chroot. A limit of zero is none.
  /// Errors: `not_found` no such program, `denied` not executable, `timed_out` SIGTERM, then SIGKILL 5 s later (what it
  /// had printed is in the details), `offline` the root is not live.
  virtual Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const = 0;

  /// The secret that a key of type `secret` refers to: {"file": PATH} or {"env": NAME}, without the line's end behind
  /// it. The file is one of the machine that slipway runs on, wherever the root is, since the user's spec names it; a
  /// variable is one of slipway's environment. Read it where it is used, in a custom action or a service: it has no
  /// place in facts, plans and outputs, and no error quotes it.
  /// Errors: `not_found` no such file, or the variable is not set; `denied` others than its owner could change the
  /// file, or everybody can read it; `invalid` no reference, an empty secret, or one that is longer than `limit_bytes`.
  virtual Result<std::string> secret(const Json& reference, std::size_t limit_bytes = 1 << 16) const;

  /// `size_bytes` of a file from `offset_bytes` on; fewer where it ends. Nothing else of it is read: for a large file
  /// whose start is enough, and for one of which every byte is an access to a device (PCI's configuration space).
  /// Errors: `not_found`, `denied`, `io`; where a host has only read(), also those of that.
  virtual Result<std::string> read_part(std::string_view path, std::uint32_t offset_bytes,
                                        std::uint32_t size_bytes) const;

  // What follows is made of the calls above.

  /// The root is this machine's own and the host is another: a simulated machine, or an image where it is built. What
  /// runs below the root, and what it and the kernel tell there (sockets, kubelet's notes, the kernel's log), is this
  /// machine's, and none of it counts for the host.
  bool borrows_root() const { return !live() && root_folder() == "/"; }
  /// Something is there (after links).
  bool exists(std::string_view path) const { return resolve(path).ok(); }
  /// read() without white space at both ends; empty when it cannot be read. For sysfs and procfs attributes.
  std::string attribute(std::string_view path) const;
  /// PCI functions in address order; empty without a kernel's view.
  std::vector<PciDevice> pci_devices(const PciFilter& filter) const;
  /// In /proc/modules, or built in: /sys/module/NAME exists. '-' and '_' are the same.
  bool module_loaded(std::string_view name) const;
  /// The major number under a name in the character part of /proc/devices.
  std::optional<unsigned> character_major(std::string_view name) const;
  /// A value of /etc/os-release (or /usr/lib/os-release), unquoted: "ID", "VERSION_ID". Empty when missing.
  std::string os_release(std::string_view key) const;
  /// The releases that have a kernel's modules in /lib/modules, sorted. A folder in which a removed kernel or a headers
  /// package left only modules.dep or `build` counts when there is no better one.
  std::vector<std::string> installed_kernels() const;
};

}  // namespace slipway
