// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "sandbox/image_root.hpp"
#include "sandbox/restrict_mount.hpp"
#include "sandbox/sandbox_child.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::array kStagingFolders{"/tmp", "/run", "/var/tmp", "/mnt"};
constexpr std::array kEmptyFolders{"/tmp", "/var/tmp", "/run"};
constexpr mode_t kEmptyFolderMode = 01777;
constexpr std::uint64_t kBytesForAFile = 16384;  // on average; an empty file needs memory too

struct Device {
  const char* name;
  unsigned minor;
  unsigned major = 1;
};
constexpr std::array kDevices{Device{"null", 3},   Device{"zero", 5},    Device{"full", 7},
                              Device{"random", 8}, Device{"urandom", 9}, Device{"tty", 0, 5}};

/// Keeps the first error; later steps then do nothing.
class Mounts {
 public:
  explicit Mounts(const Sandbox& request) : request_(request) {}

  SandboxReport make() {
    open_sources();
    make_private();
    mount_root();
    for (std::size_t i = 0; i < request_.overlays.size(); ++i) mount_overlay(i);
    mount_dev();
    // Read-only: sysctls and sysrq-trigger are files that belong to root, even without capabilities.
    mount_at("/proc", "proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
    mount_at("/sys", "tmpfs", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=0555");
    mount_empty_folders();
    for (std::size_t i = 0; i < request_.binds.size(); ++i) mount_bind(request_.binds[i], bind_sources_[i]);
    enter();
    return report_;
  }

 private:
  bool failed() const { return !report_.text.empty(); }

  void step(const std::string& what, long result) {
    if (failed() || result >= 0) return;
    const bool refused = errno == EPERM || errno == EACCES;
    report_ = {refused ? SandboxReport::refused : SandboxReport::setup, errno, what};
  }

  /// Returns a name for a descriptor that mount(2) can follow even when another mount covers the path.
  static std::string name_of(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

  Fd source(const std::string& path) {
    if (failed()) return {};
    Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    step("open " + path, fd.get());
    return fd;
  }

  /// Hides the mounts from other namespaces. In a plain chroot, "/" is a folder somewhere in a mount, which cannot be
  /// made private: entering the same namespace again gives the top of these mounts.
  void make_private() {
    if (failed()) return;
    const auto done = [] { return ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr); };
    if (done() == 0) return;
    if (errno == EINVAL) {
      const Fd mounts(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
      step("find the mounts (is /proc mounted?)", mounts.get());
      step("leave the chroot for the private mounts", failed() ? 0 : ::setns(mounts.get(), CLONE_NEWNS));
    }
    step("make the mounts private", failed() ? 0 : done());
  }

  /// Called before anything is covered, so that a root or source below /tmp can still be found.
  void open_sources() {
    root_source_ = source(request_.root);
    for (const SandboxOverlay& overlay : request_.overlays)
      for (const std::string& layer : overlay.layers) layer_sources_.push_back(source(layer));
    for (const SandboxBind& bind : request_.binds) bind_sources_.push_back(source(bind.source));
    for (const SandboxBind& tool : request_.tools) tool_sources_.push_back(source(tool.source));
  }

  std::vector<OpenTool> open_tools() const {
    std::vector<OpenTool> tools;
    for (std::size_t i = 0; i < request_.tools.size(); ++i)
      tools.push_back({request_.tools[i].target, name_of(tool_sources_[i])});
    return tools;
  }

  void mount_root() {
    if (failed()) return;
    struct stat info {};
    for (const char* folder : kStagingFolders)
      if (staging_.empty() && ::stat(folder, &info) == 0 && S_ISDIR(info.st_mode)) staging_ = folder;
    step("mount memory on " + staging_, ::mount("tmpfs", staging_.c_str(), "tmpfs", 0, "mode=0700"));
    const std::string top = staging_ + "/root";
    step("make " + top, ::mkdir(top.c_str(), 0755));
    const std::string image = request_.tools.empty() ? top : staging_ + "/image";
    if (image != top) step("make " + image, ::mkdir(image.c_str(), 0755));
    step("show " + request_.root,
         ::mount(name_of(root_source_).c_str(), image.c_str(), nullptr, MS_BIND | MS_REC, nullptr));
    restrict_shown(image, request_.root, request_.read_only);
    if (!failed() && image != top) report_ = build_image_root(image, top, open_tools());
    if (failed()) return;
    auto opened = RootDir::open(top);
    step("open " + request_.root, opened.ok() ? 0 : -1);
    if (opened.ok()) root_.emplace(std::move(*opened));
  }

  void restrict_shown(const std::string& place, const std::string& shown, bool read_only) {
    if (failed()) return;
    errno = restrict_mount(place, MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0));
    step("limit what can be done in " + shown, errno == 0 ? 0 : -1);
  }

  /// Returns the path inside, following links inside; empty when it does not exist.
  std::optional<Fd> place(const std::string& path) const {
    auto found = root_->open_at(path, O_PATH);
    return found ? std::optional<Fd>(std::move(*found)) : std::nullopt;
  }

  /// Skips folders that the root lacks: a caller that requires one adds it to `needs`.
  void mount_at(const std::string& path, const char* from, const char* type, unsigned long flags, const char* options) {
    if (failed()) return;
    const auto target = place(path);
    if (target) step("mount " + path, ::mount(from, name_of(*target).c_str(), type, flags, options));
  }

  /// Mounts them as one file system, so that they share one limit: files in memory are not counted when the memory
  /// limit is enforced by checking.
  void mount_empty_folders() {
    if (failed()) return;
    const std::string all = staging_ + "/empty";
    const std::string options = "mode=0755,size=" + std::to_string(request_.limits.memory_bytes / 2) +
                                ",nr_inodes=" + std::to_string(request_.limits.memory_bytes / kBytesForAFile);
    step("make " + all, ::mkdir(all.c_str(), 0700));
    step("mount memory for files", ::mount("tmpfs", all.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()));
    for (const char* folder : kEmptyFolders) {
      std::string part = folder;
      std::ranges::replace(part, '/', '-');
      part.insert(0, all + "/");
      step("make " + part, ::mkdir(part.c_str(), 0700));
      step("make " + part, ::chmod(part.c_str(), kEmptyFolderMode));
      mount_at(folder, part.c_str(), nullptr, MS_BIND, nullptr);
    }
  }

  void mount_overlay(std::size_t index) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < index; ++i) first += request_.overlays[i].layers.size();
    if (failed()) return;
    const SandboxOverlay& overlay = request_.overlays[index];
    std::string options = "lowerdir=";
    for (std::size_t i = 0; i < overlay.layers.size(); ++i)
      options += (i == 0 ? "" : ":") + name_of(layer_sources_[first + i]);
    const auto target = place(overlay.target);
    if (!target) errno = ENOENT;
    step("lay " + overlay.layers.front() + " over " + overlay.target,
         target ? ::mount("overlay", name_of(*target).c_str(), "overlay", MS_RDONLY | MS_NODEV | MS_NOSUID,
                          options.c_str())
                : -1);
  }

  void mount_bind(const SandboxBind& bind, const Fd& from) {
    if (failed()) return;
    const auto target = place(bind.target);
    if (!target) errno = ENOENT;
    step("show " + bind.source + " at " + bind.target,
         target ? ::mount(name_of(from).c_str(), name_of(*target).c_str(), nullptr, MS_BIND | MS_REC, nullptr) : -1);
    if (failed()) return;
    const auto made = place(bind.target);
    if (made) restrict_shown(name_of(*made), bind.target, bind.read_only);
  }

  void mount_dev() {
    if (failed() || !place("/dev")) return;
    std::vector<std::pair<const Device*, Fd>> nodes;
    for (const Device& device : kDevices)
      nodes.emplace_back(&device, Fd(::open(("/dev/" + std::string(device.name)).c_str(), O_PATH | O_CLOEXEC)));
    mount_at("/dev", "tmpfs", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=1m,nr_inodes=256");
    const auto folder = place("/dev");
    if (failed() || !folder) return;
    for (const auto& [device, node] : nodes) add_device(*folder, *device, node);
    step("link /dev/fd", ::symlinkat("/proc/self/fd", folder->get(), "fd"));
    step("link /dev/stdin", ::symlinkat("/proc/self/fd/0", folder->get(), "stdin"));
    step("link /dev/stdout", ::symlinkat("/proc/self/fd/1", folder->get(), "stdout"));
    step("link /dev/stderr", ::symlinkat("/proc/self/fd/2", folder->get(), "stderr"));
  }

  /// Makes a node if allowed, else shows this machine's (in containers without CAP_MKNOD).
  void add_device(const Fd& folder, const Device& device, const Fd& node) {
    if (failed()) return;
    const dev_t number = makedev(device.major, device.minor);
    if (::mknodat(folder.get(), device.name, S_IFCHR | 0666, number) == 0) {
      step("set the mode of /dev/" + std::string(device.name), ::fchmodat(folder.get(), device.name, 0666, 0));
      return;
    }
    const Fd file(::openat(folder.get(), device.name, O_CREAT | O_CLOEXEC | O_RDONLY, 0666));
    if (node && file)
      step("show /dev/" + std::string(device.name),
           ::mount(name_of(node).c_str(), name_of(file).c_str(), nullptr, MS_BIND, nullptr));
  }

  void enter() {
    if (failed()) return;
    const std::string top = staging_ + "/root";
    step("enter " + request_.root, ::chdir(top.c_str()));
    if (::syscall(SYS_pivot_root, ".", ".") == 0) {
      step("leave the old root", ::umount2(".", MNT_DETACH));
    } else {  // the old root is the kernel's initial one, which cannot be replaced
      step("enter " + request_.root, ::chroot("."));
    }
    step("enter " + request_.root, ::chdir("/"));
  }

  const Sandbox& request_;
  SandboxReport report_;
  Fd root_source_;
  std::vector<Fd> layer_sources_;
  std::vector<Fd> bind_sources_;
  std::vector<Fd> tool_sources_;
  std::string staging_;
  std::optional<RootDir> root_;
};

}  // namespace

SandboxReport make_sandbox_mounts(const Sandbox& request) { return Mounts(request).make(); }

}  // namespace slipway::sandbox
