// SPDX-License-Identifier: Apache-2.0
#include "test_deb.hpp"

#include <fstream>
#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "driver/build/deb_set.hpp"
#include "driver/detect/root_layout.hpp"
#include "test_host.hpp"

namespace slipway::driver::testing {
namespace {

void check(bool good, archive* writer) {
  if (!good) throw std::runtime_error(archive_error_string(writer));
}

void fill(archive_entry* entry, const DebEntry& desired) {
  archive_entry_set_pathname(entry, desired.path.c_str());
  archive_entry_set_perm(entry, static_cast<mode_t>(desired.mode));
  archive_entry_set_mtime(entry, 1700000000, 0);
  archive_entry_set_filetype(entry, desired.device ? AE_IFCHR : AE_IFREG);
  archive_entry_set_size(entry, static_cast<la_int64_t>(desired.content.size()));
  if (!desired.link.empty()) {
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_symlink(entry, desired.link.c_str());
    archive_entry_set_size(entry, 0);
  }
  if (!desired.hardlink.empty()) {
    archive_entry_set_hardlink(entry, desired.hardlink.c_str());
    archive_entry_set_size(entry, 0);
  }
}

std::string tar(const std::vector<DebEntry>& entries, const std::string& filter) {
  std::size_t size = 1 << 20;
  for (const auto& desired : entries) size += desired.content.size() + 4096;
  std::string bytes(size, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  check(archive_write_add_filter_by_name(writer, filter.c_str()) == ARCHIVE_OK, writer);
  check(archive_write_set_format_gnutar(writer) == ARCHIVE_OK, writer);
  if (filter == "xz") archive_write_set_filter_option(writer, nullptr, "compression-level", "0");
  check(archive_write_open_memory(writer, bytes.data(), bytes.size(), &used) == ARCHIVE_OK, writer);
  for (const auto& desired : entries) {
    archive_entry* entry = archive_entry_new();
    fill(entry, desired);
    check(archive_write_header(writer, entry) == ARCHIVE_OK, writer);
    if (!desired.content.empty()) archive_write_data(writer, desired.content.data(), desired.content.size());
    archive_entry_free(entry);
  }
  check(archive_write_close(writer) == ARCHIVE_OK, writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

// deb(5): an ar archive; each member has a header of 60 bytes and is padded to an even length.
std::string ar_member(const std::string& name, const std::string& content) {
  std::string text =
      fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 1700000000, 0, 0, 100644, content.size());
  text += content;
  return content.size() % 2 == 0 ? text : text + "\n";
}

}  // namespace

std::string TestDeb::write(const std::string& folder, const std::string& filter) const {
  std::string control = fmt::format("Package: {}\nVersion: {}\nArchitecture: {}\n", package, version, architecture);
  if (!depends.empty()) control += "Depends: " + depends + "\n";
  control += fields;
  control += "Description: a test\n Depends: not-this-one\n";
  const std::string ending = filter == "zstd" ? "zst" : filter == "gzip" ? "gz" : filter;
  std::vector<DebEntry> in_control = scripts;
  in_control.push_back({.path = "./control", .content = control});
  const std::string file = fmt::format("{}/{}_{}_{}.deb", folder, package, version, architecture);
  std::ofstream(file, std::ios::binary) << "!<arch>\n"
                                        << ar_member("debian-binary", "2.0\n")
                                        << ar_member("control.tar." + ending, tar(in_control, filter))
                                        << ar_member("data.tar." + ending, tar(entries, filter));
  return file;
}

std::vector<TestDeb> driver_debs(const std::string& version, const std::string& architecture) {
  const std::string v = version.substr(0, version.find('-'));
  const std::string lib = "./usr/lib/" + debian_triplet(machine_of(architecture)) + "/nvidia/current/";
  const auto copyright = [](const std::string& package) {
    return DebEntry{.path = "./usr/share/doc/" + package + "/copyright", .content = "licence\n"};
  };
  const std::string library = content_of(SHARED_LIBRARY);
  std::vector<TestDeb> debs{
      {.package = "libcuda1",
       .version = version,
       .entries = {{.path = lib + "libcuda.so." + v, .content = library},
                   {.path = lib + "libcuda.so", .link = "libcuda.so.1"},
                   copyright("libcuda1")}},
      {.package = "libnvidia-ml1",
       .version = version,
       .entries = {{.path = lib + "libnvidia-ml.so." + v, .content = "no ELF"}}},
      {.package = "libnvidia-ptxjitcompiler1",
       .version = version,
       .entries = {{.path = lib + "libnvidia-ptxjitcompiler.so." + v, .content = "no ELF"}}},
      {.package = "nvidia-smi",
       .version = version,
       .entries = {{.path = "./usr/lib/nvidia/current/nvidia-smi", .content = "tool", .mode = 0755},
                   {.path = "./usr/lib/nvidia/current/nvidia-smi.1.gz", .content = "manual"}}},
      {.package = "firmware-nvidia-gsp",
       .version = version,
       .entries = {{.path = "./lib/firmware/nvidia/" + v + "/gsp_tu10x.bin", .content = "firmware"},
                   {.path = "./usr/share/nvidia/rim/" + v + "/x.swidtag"}}},
      {.package = "nvidia-open-kernel-dkms",
       .version = version,
       .entries = {{.path = "./usr/src/nvidia-current-open-" + v + "/Makefile", .content = "modules:\n"},
                   {.path = "./usr/src/nvidia-current-open-" + v + "/nvidia/nv.c", .content = "int nv;\n"},
                   {.path = "./usr/src/nvidia-current-open-" + v + "/nvidia-uvm/uvm.c", .content = "int uvm;\n"},
                   {.path = "./usr/src/nvidia-current-open-" + v + "/nvidia-peermem/p.c", .content = "int p;\n"},
                   copyright("nvidia-open-kernel-dkms")}}};
  for (TestDeb& deb : debs) deb.architecture = architecture;
  return debs;
}

std::vector<TestDeb> header_debs(const std::string& release, const std::string& version) {
  const std::string abi = release.substr(0, release.rfind('-'));
  const std::string headers = "./usr/src/linux-headers-" + release;
  return {{.package = "linux-headers-" + release,
           .version = version,
           .depends = fmt::format("linux-headers-{}-common (= {}), linux-kbuild-6.1 (>= {}), linux-compiler-gcc-12-x86",
                                  abi, version, version),
           .entries = {{.path = "./lib/modules/" + release + "/build", .link = headers.substr(1)},
                       {.path = headers + "/Makefile", .content = "all:\n"},
                       {.path = headers + "/.config",
                        .content = "CONFIG_CC_VERSION_TEXT=\"gcc-12 (Debian 12.2.0) 12.2.0\"\n"},
                       {.path = headers + "/Module.symvers", .content = version}}},
          {.package = "linux-headers-" + abi + "-common", .version = version},
          {.package = "linux-kbuild-6.1", .version = version},
          {.package = "linux-compiler-gcc-12-x86", .version = version}};
}

}  // namespace slipway::driver::testing
