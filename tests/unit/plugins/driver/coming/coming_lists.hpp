// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/coming/coming_lists.hpp - parts of real package lists: Debian 12's, Ubuntu 24.04's, and
// those of Enterprise Linux 9.
#pragma once

#include <string>

namespace slipway::driver::testing {

/// A metapackage as in Debian's lists.
inline std::string debian_meta(const std::string& abi, const std::string& version) {
  return "Package: linux-image-amd64\nSource: linux-signed-amd64 (6.1.192+2)\nVersion: " + version +
         "\nInstalled-Size: 13\nMaintainer: Debian Kernel Team <debian-kernel@lists.debian.org>\nArchitecture: amd64\n"
         "Provides: linux-image-generic, linux-latest-modules-6.1.0-" +
         abi + "-amd64, virtualbox-guest-modules, wireguard-modules (= 1.0.0)\nDepends: linux-image-6.1.0-" + abi +
         "-amd64 (= " + version +
         ")\nDescription: Linux for 64-bit PCs (meta-package)\nHomepage: https://www.kernel.org/\nBuilt-Using: linux "
         "(= " +
         version + ")\nSection: kernel\nPriority: optional\n\n";
}

inline std::string debian_headers(const std::string& abi, const std::string& version) {
  return "Package: linux-headers-amd64\nSource: linux-signed-amd64 (6.1.192+2)\nVersion: " + version +
         "\nArchitecture: amd64\nDepends: linux-headers-6.1.0-" + abi + "-amd64 (= " + version + ")\n\n";
}

inline const std::string kDebianKernel =
    "Package: linux-image-6.1.0-56-amd64\nSource: linux-signed-amd64 (6.1.192+2)\nVersion: 6.1.192-2\n"
    "Installed-Size: 400652\nMaintainer: Debian Kernel Team <debian-kernel@lists.debian.org>\nArchitecture: amd64\n"
    "Replaces: linux-image-6.1.0-56-amd64-unsigned\n"
    "Depends: kmod, linux-base (>= 4.3~), initramfs-tools (>= 0.120+deb8u2) | linux-initramfs-tool\n"
    "Suggests: linux-doc-6.1, debian-kernel-handbook, grub-pc | grub-efi-amd64 | extlinux\n"
    "Description: Linux 6.1 for 64-bit PCs (signed)\n\n";

inline const std::string kDebianRelease =
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nOrigin: Debian\nLabel: Debian-Security\n"
    "Suite: oldstable-security\nVersion: 12\nCodename: bookworm-security\nDate: Thu, 26 Nov 2026 21:03:35 UTC\n"
    "Acquire-By-Hash: yes\nArchitectures: amd64 arm64 armhf i386 ppc64el\nSHA256:\n"
    " 0123 2553701 main/binary-amd64/Packages\n";

inline const std::string kBackportsRelease =
    "Origin: Debian Backports\nLabel: Debian Backports\nSuite: oldstable-backports\nCodename: bookworm-backports\n"
    "NotAutomatic: yes\nButAutomaticUpgrades: yes\n";

inline std::string installed(const std::string& name, const std::string& version, const std::string& depends,
                             const std::string& status = "install ok installed") {
  return "Package: " + name + "\nStatus: " + status + "\nPriority: optional\nArchitecture: amd64\nVersion: " + version +
         "\nDepends: " + depends + "\nDescription: as dpkg has it\n and its second line\n\n";
}

/// A package as in primary.xml of Enterprise Linux 9.
inline std::string rpm_package(const std::string& name, const std::string& version, const std::string& release,
                               const std::string& arch = "x86_64") {
  return "<package type=\"rpm\">\n  <name>" + name + "</name>\n  <arch>" + arch +
         "</arch>\n  <version epoch=\"0\" ver=\"" + version + "\" rel=\"" + release +
         "\"/>\n  <checksum type=\"sha256\" pkgid=\"YES\">0f3d</checksum>\n  <summary>The Linux kernel</summary>\n"
         "  <description>The kernel package contains the Linux kernel (vmlinuz), the core of any\n"
         "Linux operating system.</description>\n  <packager>AlmaLinux Packaging Team</packager>\n"
         "  <time file=\"1763000000\" build=\"1762990000\"/>\n  <location href=\"Packages/" +
         name + "-" + version + "-" + release + "." + arch +
         ".rpm\"/>\n  <format>\n    <rpm:license>GPLv2</rpm:license>\n"
         "    <rpm:provides>\n      <rpm:entry name=\"" +
         name + "\" flags=\"EQ\" epoch=\"0\" ver=\"" + version + "\" rel=\"" + release +
         "\"/>\n    </rpm:provides>\n  </format>\n</package>\n";
}

inline std::string primary_xml(const std::string& packages) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metadata xmlns=\"http://linux.duke.edu/metadata/common\" "
         "xmlns:rpm=\"http://linux.duke.edu/metadata/rpm\" packages=\"3\">\n" +
         packages + "</metadata>\n";
}

}  // namespace slipway::driver::testing
