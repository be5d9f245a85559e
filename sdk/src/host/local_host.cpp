// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "program.hpp"
#include "root_walk.hpp"
#include "src/text/read.hpp"

namespace slipway {
namespace {

FileInfo::Type type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileInfo::Type::regular;
    case S_IFDIR:
      return FileInfo::Type::directory;
    case S_IFLNK:
      return FileInfo::Type::symlink;
    case S_IFCHR:
      return FileInfo::Type::character_device;
    case S_IFBLK:
      return FileInfo::Type::block_device;
    default:
      return FileInfo::Type::other;
  }
}

class LocalHost final : public Host {
 public:
  LocalHost(HostConfig config, RootDir root, std::optional<RootDir> kernel_view)
      : config_(std::move(config)), root_(std::move(root)), kernel_view_(std::move(kernel_view)) {}

  bool live() const override { return config_.live; }
  bool has_kernel_view() const override { return kernel_view_.has_value(); }
  std::string hardware() const override { return config_.hardware.empty() ? Host::hardware() : config_.hardware; }
  bool booting() const override { return config_.booting; }
  std::string root_folder() const override { return config_.root; }
  std::string kernel_folder() const override { return kernel_view_ ? kernel_view_->folder() : ""; }
  std::string arch() const override { return config_.live ? detail::running_arch() : detail::root_arch(root_); }
  Result<std::string> kernel_release() const override;
  std::vector<std::string> asked_kernels() const override;
  std::optional<KernelChange> kernel_change() const override { return config_.kernel_change; }

  Result<std::string> read(std::string_view path, std::size_t limit_bytes) const override;
  Result<std::string> read_part(std::string_view path, std::uint32_t offset_bytes,
                                std::uint32_t size_bytes) const override;
  Result<FileInfo> info(std::string_view path) const override;
  Result<std::string> read_link(std::string_view path) const override;
  Result<std::string> resolve(std::string_view path) const override;
  Result<std::vector<std::string>> list(std::string_view path) const override;
  Status opens(std::string_view path) const override;
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override;

 private:
  /// A path and the folder tree that contains it.
  struct Place {
    const RootDir& tree;
    std::string path;
  };
  Result<Place> place(std::string_view path) const;
  Result<Fd> open(std::string_view path, int flags) const;

  HostConfig config_;
  RootDir root_;
  std::optional<RootDir> kernel_view_;
};

Result<LocalHost::Place> LocalHost::place(std::string_view path) const {
  std::string normal = (std::filesystem::path("/") / path).lexically_normal().string();
  const std::string first = normal.substr(0, normal.find('/', 1));
  if (first != "/sys" && first != "/proc" && first != "/dev") return Place{root_, std::string(path)};
  if (!kernel_view_) return system_error("look at", path, ENOENT);
  return Place{*kernel_view_, std::move(normal)};
}

Result<Fd> LocalHost::open(std::string_view path, int flags) const {
  SLIPWAY_TRY(where, place(path));
  return where.tree.open_at(where.path, flags);
}

std::vector<std::string> LocalHost::asked_kernels() const {
  if (config_.kernel.empty()) return {};
  std::vector<std::string> kernels{config_.kernel};
  kernels.insert(kernels.end(), config_.further_kernels.begin(), config_.further_kernels.end());
  return kernels;
}

Result<std::string> LocalHost::kernel_release() const {
  if (const auto asked = asked_kernels(); !asked.empty())
    return *std::max_element(asked.begin(), asked.end(), [](const std::string& a, const std::string& b) {
      return ::strverscmp(a.c_str(), b.c_str()) < 0;
    });
  if (config_.live) {
    if (std::string release = attribute("/proc/sys/kernel/osrelease"); !release.empty()) return release;
    utsname names{};
    if (uname(&names) == 0) return std::string(names.release);
  }
  std::vector<std::string> kernels = installed_kernels();
  if (kernels.size() == 1) return std::move(kernels.front());
  if (kernels.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = "there is no kernel in the root, so it is not known which one to plan for",
                 .where = config_.root + "/lib/modules",
                 .next = "install a kernel there, or name its release with --kernel RELEASE"};
  return Error{.code = ErrorCode::conflict,
               .what = "there are several kernels in the root: " + joined(kernels),
               .where = config_.root + "/lib/modules",
               .next = "choose one, for example --kernel " + kernels.back() + "; --kernel may be repeated"};
}

Result<std::string> LocalHost::read(std::string_view path, std::size_t limit_bytes) const {
  SLIPWAY_TRY(where, place(path));
  return read_regular(where.tree, where.path, limit_bytes);
}

Result<std::string> LocalHost::read_part(std::string_view path, std::uint32_t offset_bytes,
                                         std::uint32_t size_bytes) const {
  SLIPWAY_TRY(where, place(path));
  SLIPWAY_TRY(file, open_regular(where.tree, where.path));
  return read_range(file.get(), path, offset_bytes, size_bytes);
}

Result<FileInfo> LocalHost::info(std::string_view path) const {
  SLIPWAY_TRY(fd, open(path, O_PATH | O_NOFOLLOW));
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return system_error("look at", path, errno);
  FileInfo info{.type = type_of(status.st_mode),
                .size_bytes = static_cast<std::uint64_t>(status.st_size),
                .mode = status.st_mode & 07777U,
                .uid = status.st_uid,
                .gid = status.st_gid};
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    info.device_major = major(status.st_rdev);
    info.device_minor = minor(status.st_rdev);
  }
  return info;
}

Result<std::string> LocalHost::read_link(std::string_view path) const {
  SLIPWAY_TRY(fd, open(path, O_PATH | O_NOFOLLOW));
  std::array<char, PATH_MAX> text;
  const ssize_t length = readlinkat(fd.get(), "", text.data(), text.size());
  if (length >= 0) return std::string(text.data(), static_cast<std::size_t>(length));
  if (errno != EINVAL && errno != ENOENT) return system_error("read the link", path, errno);
  return Error{
      .code = ErrorCode::invalid, .what = std::string(path) + " is not a symbolic link", .where = std::string(path)};
}

Result<std::string> LocalHost::resolve(std::string_view path) const {
  SLIPWAY_TRY(where, place(path));
  return where.tree.resolve(where.path);
}

Result<std::vector<std::string>> LocalHost::list(std::string_view path) const {
  SLIPWAY_TRY(fd, open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  DIR* const folder = fdopendir(fd.get());
  if (folder == nullptr) return system_error("list", path, errno);
  (void)fd.release();  // the stream owns it now
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  closedir(folder);
  if (error != 0) return system_error("list", path, error);
  std::sort(names.begin(), names.end());
  return names;
}

Status LocalHost::opens(std::string_view path) const {
  SLIPWAY_CHECK(open(path, O_RDWR | O_NONBLOCK | O_NOCTTY));
  return {};
}

Result<ProcessOutput> LocalHost::run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const {
  if (config_.live) return detail::run_program(root_, argv, limit);
  return Error{.code = ErrorCode::offline,
               .what = "cannot run " + (argv.empty() ? std::string("a program") : argv.front()) +
                       ": the root is not this running machine's",
               .where = config_.root};
}

/// Returns the folder whose sys/, proc/ and dev/ show the kernel. Empty when the host does not run and none is
/// configured.
std::string kernel_view_of(const HostConfig& config, const RootDir& root) {
  if (!config.kernel_view.empty() || !config.live) return config.kernel_view;
  // In a container, the host's own folders, mounted with its root, show more than the container's.
  return root.resolve("/proc/sys/kernel/osrelease").ok() ? config.root : "/";
}

}  // namespace

HostConfig host_of_tools() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  HostConfig host;
  host.live = !is_set("SLIPWAY_SIM") || !is_set("SLIPWAY_NVML");
  host.kernel_view = "/";
  return host;
}

namespace {

/// The words of KernelChange::Kind.
constexpr std::array<std::string_view, 3> kChangeWords{"installed", "without_modules", "removed"};

}  // namespace

Json to_json(const HostConfig& config) {
  Json value{{"root", config.root},
             {"live", config.live},
             {"kernel_view", config.kernel_view},
             {"kernel", config.kernel},
             {"hardware", config.hardware}};
  if (!config.further_kernels.empty()) value["further_kernels"] = config.further_kernels;
  if (config.booting) value["booting"] = true;
  if (config.kernel_change)
    value["kernel_change"] = {{"release", config.kernel_change->release},
                              {"kind", kChangeWords[static_cast<std::size_t>(config.kernel_change->kind)]}};
  return value;
}

namespace {

std::optional<KernelChange> kernel_change_from(const Json* value) {
  if (value == nullptr || !value->is_object()) return std::nullopt;
  const auto word = std::ranges::find(kChangeWords, detail::text_at(*value, "kind"));
  if (word == kChangeWords.end()) return std::nullopt;
  return KernelChange{detail::text_at(*value, "release"),
                      static_cast<KernelChange::Kind>(std::distance(kChangeWords.begin(), word))};
}

}  // namespace

HostConfig host_config_from_json(const Json& value) {
  HostConfig config{.live = detail::flag_at(value, "live"),
                    .kernel_view = detail::text_at(value, "kernel_view"),
                    .kernel = detail::text_at(value, "kernel"),
                    .hardware = detail::text_at(value, "hardware"),
                    .further_kernels = detail::texts_or_none(detail::member(value, "further_kernels")),
                    .booting = detail::flag_at(value, "booting"),
                    .kernel_change = kernel_change_from(detail::member(value, "kernel_change"))};
  if (std::string root = detail::text_at(value, "root"); !root.empty()) config.root = std::move(root);
  return config;
}

Result<std::unique_ptr<Host>> open_host(const HostConfig& config) {
  SLIPWAY_TRY(root, RootDir::open(config.root));
  std::optional<RootDir> view;
  if (const std::string folder = kernel_view_of(config, root); !folder.empty()) {
    SLIPWAY_TRY(opened, RootDir::open(folder));
    view = std::move(opened);
  }
  return std::unique_ptr<Host>(std::make_unique<LocalHost>(config, std::move(root), std::move(view)));
}

}  // namespace slipway
