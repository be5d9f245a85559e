// SPDX-License-Identifier: Apache-2.0
// tests/component/cli/live_machine.hpp - a running machine for the driver component, in a scratch root: its kernel's
// modules are files, which programs in the root change. slipway sees the root's /dev and these files of /proc and /sys
// instead of this machine's, by mounts of its own. Needs root.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/component/engine/fake_systemd.hpp"

namespace slipway::testing {

/// Modules are loaded and unloaded by scripts. A loaded one has the version of the driver that is installed in the
/// root at that moment.
class LiveMachine : public ScratchHost {
 public:
  LiveMachine() {
    for (const char* tool : {"/bin/mkdir", "/bin/rm"}) systemd_.add_program(tool);
    const std::string modules = "lib/modules/6.1.0-50-amd64/";
    put(modules + "modules.builtin", "");
    put(modules + "modules.order", "");
    put("proc/sys/kernel/osrelease", "6.1.0-50-amd64\n");
    put("proc/modules", "");
    // /dev/null's major, so that a process can have a node of this driver open.
    put("proc/devices", "Character devices:\n  1 nvidia\n508 nvidia-uvm\n509 nvidia-caps\n\nBlock devices:\n");
    folder().directory("root/sys/module");
    folder().directory("root/dev/shm");
    const std::map<std::string, unsigned> nodes{{"null", 3},   {"zero", 5},    {"full", 7},
                                                {"random", 8}, {"urandom", 9}, {"nvidia3", 3}};
    for (const auto& [node, minor] : nodes) make_node(node, minor);
    // A node of no driver cannot be opened here, so that these are files.
    for (const char* node : {"nvidiactl", "nvidia-modeset", "nvidia-uvm", "nvidia-uvm-tools"})
      put(std::string("dev/") + node, "");
    add_script("usr/bin/load", kLoad);
    add_script("usr/sbin/modprobe", "#!/bin/sh\nfor name; do :; done\nexec /bin/sh /usr/bin/load \"$name\"\n");
    add_script("usr/sbin/rmmod", kUnload);
    add_script("usr/sbin/ldconfig", "#!/bin/sh\necho cache > /etc/ld.so.cache\necho ldconfig >> /run/kernel\n");
    add_script("usr/sbin/depmod", kDepmod);
    std::string lines;
    for (const char* name : {"nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nvidia_peermem", "gdrdrv"})
      lines += std::string("install ") + name + " /bin/sh /usr/bin/load " + name + "\n";
    put("etc/modprobe.d/test.conf", lines);
    use_program(program);
  }
  /// Makes this slipway run on the machine.
  void use_program(const std::string& path_of_slipway) {
    const std::string root = folder().at("root").string();
    // The root itself may be below /dev/shm, and must still be there.
    std::string mounts = "if [ -d /dev/shm ]; then mount --rbind /dev/shm " + root + "/dev/shm || exit 99; fi; ";
    for (const char* file : {"/proc/modules", "/proc/devices", "/proc/sys/kernel/osrelease", "/sys/module", "/dev"})
      // A kernel without modules has no /proc/modules.
      mounts +=
          "if [ -e " + std::string(file) + " ]; then mount --rbind " + root + file + " " + file + " || exit 99; fi; ";
    folder().file("on-machine", "#!/bin/sh\nexec unshare -m --propagation private /bin/sh -c '" + mounts + "exec " +
                                    path_of_slipway + " \"$@\"' sh \"$@\"\n");
    program = folder().at("on-machine").string();
    ::chmod(program.c_str(), 0755);
  }
  static bool possible() { return FakeSystemd::possible(); }

  /// Sets the spec with these keys of the driver.
  void driver(const std::string& version, const std::string& keys = "") const {
    folder().file("host.yaml",
                  "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: assume\n"
                  "  components:\n    driver: {version: \"" +
                      version + "\", modules: open, parameters: {nvidia: {NVreg_ModifyDeviceFiles: 0}}" +
                      (keys.empty() ? "" : ", " + keys) +
                      ", source: {repository: \"" SLIPWAY_TEST_VERSIONS "\", trust: unsigned}}\n");
  }
  /// Returns what was done to the kernel and the units, a line each, and forgets it: "load nvidia 535.261.03".
  std::string done() const {
    const std::string lines = text("run/kernel");
    std::filesystem::remove(path("run/kernel"));
    return lines;
  }
  /// Loads a module, as another program does.
  void load(const std::string& name, const std::string& version) const {
    put("sys/module/" + name + "/version", version + "\n");
    put("sys/module/" + name + "/refcnt", "0\n");
    put("proc/modules", text("proc/modules") + name + " 1 0 - Live 0x0\n");
  }
  bool is_loaded(const std::string& name) const { return std::filesystem::exists(path("sys/module/" + name)); }
  std::string version_of(const std::string& name) const {
    const std::string version = text("sys/module/" + name + "/version");
    return version.substr(0, version.find('\n'));
  }
  /// Makes a module of that version refuse to start; or be in use, so that it cannot be unloaded.
  void refuse(const std::string& name, const std::string& version) const {
    put("run/refuses/" + name + "-" + version, "");
  }
  void use(const std::string& name) const { put("run/uses/" + name, ""); }
  /// Returns what was done to units, a line each, and forgets it: "stop nvidia-persistenced.service".
  std::string units() const {
    std::string lines;
    std::istringstream all(systemd_.told());
    for (std::string line; std::getline(all, line);)
      if (line.find("slipway") == std::string::npos) lines += line + "\n";
    std::filesystem::remove(path("run/told"));
    return lines;
  }
  const FakeSystemd& systemd() const { return systemd_; }

 private:
  void make_node(const std::string& name, unsigned minor) const {
    folder().directory("root/dev");
    ::mknod(path("dev/" + name).c_str(), S_IFCHR | 0666, makedev(1, minor));
  }
  void add_script(const std::string& inside, const std::string& script) const {
    put(inside, script);
    ::chmod(path(inside).c_str(), 0755);
  }

  static constexpr const char* kLoad = R"(#!/bin/sh
for file in /usr/lib/slipway/store/driver/current/userspace/usr/lib/*/libcuda.so.*.*; do version=${file##*libcuda.so.}; done
name=
rest=$1
while [ "$rest" != "${rest#*-}" ]; do rest=${rest%%-*}_${rest#*-}; done
name=$rest
if [ -e "/run/refuses/$name-$version" ]; then echo "modprobe: ERROR: could not insert '$name': Invalid argument" >&2; exit 1; fi
[ -e "/sys/module/$name" ] && exit 0
echo "load $name $version" >> /run/kernel
mkdir -p "/sys/module/$name/holders" /proc/driver/nvidia
echo "$version" > "/sys/module/$name/version"
echo 0 > "/sys/module/$name/refcnt"
echo "$name 1 0 - Live 0x0" >> /proc/modules
[ "$name" = nvidia ] && echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  $version  Release Build  (a@b)  Mon" > /proc/driver/nvidia/version
exit 0
)";
  static constexpr const char* kUnload = R"(#!/bin/sh
for name; do :; done
if [ -e "/run/uses/$name" ]; then echo "rmmod: ERROR: Module $name is in use" >&2; exit 1; fi
if ! [ -e "/sys/module/$name" ]; then echo "rmmod: ERROR: Module $name is not currently loaded" >&2; exit 1; fi
echo "unload $name" >> /run/kernel
rm -rf "/sys/module/$name"
[ "$name" = nvidia ] && rm -rf /proc/driver/nvidia
others=
while read -r module rest; do [ "$module" = "$name" ] || others="$others$module $rest
"; done < /proc/modules
printf '%s' "$others" > /proc/modules
)";
  static constexpr const char* kDepmod = R"(#!/bin/sh
for release; do :; done
for file in "/lib/modules/$release/updates/slipway"/*.ko; do echo "updates/slipway/${file##*/}:"; done > "/lib/modules/$release/modules.dep"
echo depmod >> /run/kernel
)";

  FakeSystemd systemd_{*this};
};

}  // namespace slipway::testing
