// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/host.hpp - the only access to the machine: this one, or an offline root filesystem.
//
// A Host serves one thread, its worker's. Paths are absolute inside the root, and no symlink leads out of it. Paths
// below /sys, /proc and /dev show the kernel's view: the running kernel's when live, a simulated machine's with --sim,
// and nothing (`not_found`) for an offline root. A Host only reads; changes go into a plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

/// The type and attributes of a path; never follows a final symlink.
struct FileInfo {
  enum class Type { regular, directory, symlink, character_device, block_device, other };
  Type type = Type::other;
  std::uint64_t size_bytes = 0;
  unsigned mode = 0;  ///< permission bits with setuid, setgid and sticky, without the type
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

/// Selects PCI functions; an empty member selects all.
struct PciFilter {
  std::optional<std::uint16_t> vendor;
  std::optional<std::uint8_t> base_class;
};

struct ProcessOutput {
  int exit_status = 0;     ///< 0-255; 128 + signal when a signal ended it
  std::string output;      ///< standard output, at most 1 MiB: the newest bytes
  std::string errors;      ///< standard error, at most 1 MiB: the newest bytes
  bool truncated = false;  ///< some bytes were dropped
};

/// A kernel that was installed or removed, of which a package manager has told slipway (`slipway kernel`).
struct KernelChange {
  enum class Kind {
    installed,  ///< the plan has files for this kernel, in addition to those of the kernels that have some already
    without_modules,  ///< the same kernel, for which a plan with files of its own was not possible
    removed,          ///< the plan has no file for this kernel
  };
  std::string release;
  Kind kind = Kind::installed;
};

class Host {
 public:
  virtual ~Host() = default;

  /// True when the host has the running kernel and init system. Independent of the root's path.
  virtual bool live() const = 0;
  /// True when there is a kernel view (live or simulated): devices that it does not show do not exist.
  virtual bool has_kernel_view() const = 0;
  /// How to treat devices that are not visible: "assume" that they will exist, "require" them now, or "detect" the
  /// existing ones. A component without its hardware is not applicable only with "detect".
  virtual std::string hardware() const { return "detect"; }
  /// True when slipway-boot.service applies, before container engines and jobs start.
  virtual bool booting() const { return false; }
  /// Returns the kernel to plan for: --kernel (the newest of several), else the running one when live, else the only
  /// one in /lib/modules. Errors: `not_found` there is none, or `conflict` there are several, which it lists.
  virtual Result<std::string> kernel_release() const = 0;
  /// Returns the releases that --kernel names, in that order; empty when it was not given.
  virtual std::vector<std::string> asked_kernels() const { return {}; }
  /// Returns the kernel that has come or gone, if that is the reason for this plan. The plan then is for the version
  /// that is installed, and differs from what is installed by this kernel alone.
  virtual std::optional<KernelChange> kernel_change() const { return std::nullopt; }
  /// Returns the folder of this machine's file system that is "/" for every path: "/" itself when live without a
  /// container. For uses that cannot go through a Host: loading a library, a file that a Service keeps up to date.
  virtual std::string root_folder() const { return "/"; }
  /// Returns the folder whose sys/, proc/ and dev/ are the kernel view: "/" for this machine's own; empty when there is
  /// none. For the same uses as root_folder().
  virtual std::string kernel_folder() const { return has_kernel_view() ? root_folder() : ""; }
  /// Returns the root's architecture in the form of `uname -m` ("x86_64").
  virtual std::string arch() const = 0;

  /// Returns the content of a file, following links inside the root. Errors: `not_found`, `denied`, `io`; `invalid`
  /// when it is longer than `limit_bytes`.
  virtual Result<std::string> read(std::string_view path, std::size_t limit_bytes = 1 << 20) const = 0;
  /// Returns information about the path itself. Errors: `not_found`, `denied`, `io`.
  virtual Result<FileInfo> info(std::string_view path) const = 0;
  /// Returns a symlink's target, as written. Errors: `not_found`, `invalid` (not a link).
  virtual Result<std::string> read_link(std::string_view path) const = 0;
  /// Returns the path with every link followed inside the root. Errors: `not_found` when a part of it is missing.
  virtual Result<std::string> resolve(std::string_view path) const = 0;
  /// Returns the names in a folder, sorted, without "." and "..". Errors: `not_found`, `denied`, `io`.
  virtual Result<std::vector<std::string>> list(std::string_view path) const = 0;
  /// Tries to open the path for reading and writing (device nodes), and closes it at once.
  virtual Status opens(std::string_view path) const = 0;

  /// Runs a program of the root and waits for it. No shell; argv[0] is looked up inside the root. It gets no input, the
  /// environment PATH, HOME and LC_ALL=C, and no further descriptor. In a container (live, root "/host") it runs in the
  /// namespaces of the host's process 1 when that is visible, else under chroot. A limit of zero means no limit.
  /// Errors: `not_found` no such program, `denied` not executable, `timed_out` SIGTERM, then SIGKILL 5 s later (its
  /// output so far is in the details), `offline` the root is not live.
  virtual Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const = 0;

  /// Returns the secret that a key of type `secret` refers to: {"file": PATH} or {"env": NAME}, without a final
  /// newline. The file is on the machine that slipway runs on, for any root, since the user's spec names it; a variable
  /// is from slipway's environment. Read it where it is used, in a custom action or a service: it must not be in facts,
  /// plans and outputs, and no error quotes it.
  /// Errors: `not_found` no such file, or the variable is not set; `denied` users other than its owner could change the
  /// file, or every user can read it; `invalid` the reference is invalid, or the secret is empty or longer than
  /// `limit_bytes`.
  virtual Result<std::string> secret(const Json& reference, std::size_t limit_bytes = 1 << 16) const;

  /// Returns `size_bytes` of a file from `offset_bytes` on; fewer at its end. Reads nothing else of it: for a large
  /// file of which the start is enough, and for a file of which every byte is an access to a device (PCI's
  /// configuration space). Errors: `not_found`, `denied`, `io`; also those of read() for a host that only has that.
  virtual Result<std::string> read_part(std::string_view path, std::uint32_t offset_bytes,
                                        std::uint32_t size_bytes) const;

  // The following functions use the calls above.

  /// True when the root is this machine's own and the host is another one: a simulated machine, or an image while it is
  /// built. The processes below the root, and what they and the kernel report there (sockets, kubelet's files, the
  /// kernel's log), belong to this machine, and none of it is about the host.
  bool borrows_root() const { return !live() && root_folder() == "/"; }
  /// True when the path exists (after links).
  bool exists(std::string_view path) const { return resolve(path).ok(); }
  /// read() without white space at both ends; empty when it cannot be read. For attributes in sysfs and procfs.
  std::string attribute(std::string_view path) const;
  /// Returns the PCI functions in address order; empty without a kernel view.
  std::vector<PciDevice> pci_devices(const PciFilter& filter) const;
  /// True when the module is in /proc/modules, or built in: /sys/module/NAME exists. '-' and '_' are the same.
  bool module_loaded(std::string_view name) const;
  /// Returns the major number of a name in the character part of /proc/devices.
  std::optional<unsigned> character_major(std::string_view name) const;
  /// Returns a value of /etc/os-release (or /usr/lib/os-release), unquoted: "ID", "VERSION_ID". Empty when missing.
  std::string os_release(std::string_view key) const;
  /// Returns the releases with a kernel's modules in /lib/modules, sorted. A folder with only modules.dep or `build`,
  /// left by a removed kernel or a headers package, counts when there is no better one.
  std::vector<std::string> installed_kernels() const;
};

}  // namespace slipway
