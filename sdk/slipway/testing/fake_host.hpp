// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/fake_host.hpp - a machine for tests: described in a few lines, and backed by a real tree.
//
//   FakeHost host;
//   host.os_release({{"ID", "debian"}}).kernel("6.1.0-50-amd64").pci({.address = "0000:65:00.0", .vendor = 0x10de});
//   const Result<Facts> facts = component.detect(spec, host);
//
// Files are files in a temporary folder, so that links, folders and errors behave as on a real machine. No program is
// ever run: programs give recorded answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/local_host.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway::testing {

/// A root filesystem that is not live and has no kernel view, unless set otherwise.
class FakeHost final : public Host {
 public:
  FakeHost();
  FakeHost(FakeHost&& other) noexcept;
  ~FakeHost() override;

  // The description. Each call returns the same host. Paths below /sys, /proc and /dev give it a kernel view.

  FakeHost& file(const std::string& path, const std::string& content, unsigned mode = 0644);
  FakeHost& directory(const std::string& path);
  FakeHost& link(const std::string& path, const std::string& points_to);
  /// Adds a character device. It can be opened unless `opens` is false (then: `denied`).
  FakeHost& device(const std::string& path, unsigned major, unsigned minor, unsigned mode = 0666, bool opens = true);
  /// Removes a file, link, device or whole folder.
  FakeHost& without(const std::string& path);

  using Host::os_release;
  FakeHost& os_release(const std::map<std::string, std::string>& values);
  /// Adds a kernel in /lib/modules.
  FakeHost& kernel(const std::string& release);
  /// Sets --kernel; a second call is a second `--kernel`.
  FakeHost& asked_kernel(const std::string& release);
  FakeHost& arch(const std::string& machine);
  /// Sets the spec's `hardware`.
  FakeHost& hardware(const std::string& word);

  /// Makes this host a running machine with that kernel.
  FakeHost& live(const std::string& kernel_release);
  /// Makes this host a machine on which slipway-boot.service applies.
  FakeHost& at_boot();
  FakeHost& pci(const PciDevice& device);
  FakeHost& module_loaded_now(const std::string& name);
  FakeHost& module_built_in(const std::string& name);
  /// Adds a line to the character part of /proc/devices.
  FakeHost& device_major(const std::string& name, unsigned major);
  /// Adds a program with a recorded answer. Only live hosts run programs.
  FakeHost& answers(const std::vector<std::string>& argv, const ProcessOutput& output);
  /// Adds a program with an effect and an answer: a function that may change this host.
  FakeHost& does(const std::vector<std::string>& argv, std::function<Result<ProcessOutput>()> effect);
  /// Makes a call of this program fail with that error.
  FakeHost& fails(const std::vector<std::string>& argv, const Error& error);

  /// Sets an environment variable, which a secret's reference can name.
  FakeHost& variable(const std::string& name, const std::string& value);

  /// Returns the programs that were run, in order.
  const std::vector<std::vector<std::string>>& ran() const { return ran_; }
  /// Returns the folder that is the root, and that of the kernel view.
  const TempDir& root() const { return root_; }
  const TempDir& kernel_view() const { return view_; }
  /// Returns the HostConfig of the same machine, for a worker. Recorded programs and devices are not part of it.
  HostConfig config() const;

  bool live() const override { return config_.live; }
  bool has_kernel_view() const override { return !config_.kernel_view.empty(); }
  /// The default of a spec without it: "detect" with a kernel view, else "assume".
  std::string hardware() const override;
  bool booting() const override { return config_.booting; }
  std::string root_folder() const override { return root_.string(); }
  std::string kernel_folder() const override { return config_.kernel_view; }
  std::string arch() const override { return arch_; }
  Result<std::string> kernel_release() const override;
  std::vector<std::string> asked_kernels() const override;
  std::optional<KernelChange> kernel_change() const override { return config_.kernel_change; }
  Result<std::string> read(std::string_view path, std::size_t limit_bytes = 1 << 20) const override;
  Result<std::string> read_part(std::string_view path, std::uint32_t offset_bytes,
                                std::uint32_t size_bytes) const override;
  Result<FileInfo> info(std::string_view path) const override;
  Result<std::string> read_link(std::string_view path) const override;
  Result<std::string> resolve(std::string_view path) const override;
  Result<std::vector<std::string>> list(std::string_view path) const override;
  Status opens(std::string_view path) const override;
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override;
  /// Uses this host's own files, and the variables set by variable().
  Result<std::string> secret(const Json& reference, std::size_t limit_bytes = 1 << 16) const override;

 private:
  struct Device {
    FileInfo info;
    bool opens = true;
  };
  const TempDir& tree(const std::string& path);
  void changed() { host_.reset(); }
  const Host& host() const;
  const Device* device_at(std::string_view path) const;
  void append(const std::string& path, const std::string& line);

  TempDir root_;
  TempDir view_;
  HostConfig config_;
  std::string arch_ = "x86_64";
  std::map<std::string, Device> devices_;
  std::map<std::vector<std::string>, std::function<Result<ProcessOutput>()>> programs_;
  std::map<std::string, std::string> variables_;
  mutable std::unique_ptr<Host> host_;
  mutable std::vector<std::vector<std::string>> ran_;
};

}  // namespace slipway::testing
