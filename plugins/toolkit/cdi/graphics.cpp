// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/graphics.cpp - the part of DriverFiles for displays, OpenGL, Vulkan and X.
#include <cstdlib>

#include "toolkit/cdi/driver_files.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Edits;

// Below a share folder of the host; in containers always below /usr/share.
constexpr const char* kShared[] = {"glvnd/egl_vendor.d/10_nvidia.json",
                                   "egl/egl_external_platform.d/15_nvidia_gbm.json",
                                   "egl/egl_external_platform.d/10_nvidia_wayland.json",
                                   "egl/egl_external_platform.d/09_nvidia_wayland2.json",
                                   "egl/egl_external_platform.d/20_nvidia_xcb.json",
                                   "egl/egl_external_platform.d/20_nvidia_xlib.json",
                                   "nvidia/nvoptix.bin",
                                   "X11/xorg.conf.d/10-nvidia.conf",
                                   "X11/xorg.conf.d/nvidia-drm-outputclass.conf"};
// In containers always below /etc.
constexpr const char* kSettings[] = {"OpenCL/vendors/nvidia.icd",
                                     "vulkan/icd.d/nvidia_icd.json",
                                     "vulkan/icd.d/nvidia_layers.json",
                                     "vulkan/icd.d/nvidia_icd.x86_64.json",
                                     "vulkan/icd.d/nvidia_icd.aarch64.json",
                                     "vulkan/implicit_layer.d/nvidia_layers.json"};
constexpr const char* kLibraries[] = {"libnvidia-egl-gbm.so.*.*", "libnvidia-egl-wayland.so.*.*",
                                      "libnvidia-egl-wayland2.so.*.*", "libnvidia-egl-xcb.so.*.*",
                                      "libnvidia-egl-xlib.so.*.*"};
constexpr const char* kXorgFolders[] = {"/nvidia/xorg", "/xorg/modules/drivers", "/xorg/modules/extensions",
                                        "/xorg/modules/updates/drivers", "/xorg/modules/updates/extensions"};

}  // namespace

void DriverFiles::add_config_file(const std::string& name, const std::string& container_folder,
                                  const std::vector<std::string>& folders, Edits& edits) const {
  for (const std::string& folder : folders) {
    const auto real = roots_.driver.resolve(folder + "/" + name);
    if (!real) continue;
    const auto info = roots_.driver.info(*real);
    if (info && info->type == FileInfo::Type::regular) return mount(*real, container_folder + "/" + name, edits);
  }
}

void DriverFiles::add_xorg(const std::vector<std::string>& folders, std::vector<std::string>& links,
                           Edits& edits) const {
  std::vector<std::string> places;
  for (const std::string& folder : folders)
    for (const char* below : kXorgFolders) places.push_back(folder + below);
  for (const char* place : {"/usr/lib/xorg", "/usr/lib64/xorg", "/usr/X11R6/lib", "/usr/X11R6/lib64"})
    for (const char* below : {"", "/modules/drivers", "/modules/extensions"})
      places.push_back(std::string(place) + below);
  const std::string extension = "libglxserver_nvidia.so." + version_;
  for (const std::string& name : {std::string("nvidia_drv.so"), extension})
    for (const std::string& place : places) {
      const std::vector<Found> found = search_.find_in(place, name);
      if (found.empty()) continue;
      mount(found.front().real, container_of(found.front().real), edits);
      if (name == extension)
        give_names(found.front(),
                   {name + "::" + folder_of(container_of(found.front().real)) + "/libglxserver_nvidia.so"}, links,
                   edits);
      break;
    }
}

void DriverFiles::add_graphics(Edits& edits) const {
  std::vector<std::string> links;
  std::vector<std::string> folders;
  for (const char* pattern : kLibraries)
    for (const Found& library : search_.find(pattern)) {
      mount(library.real, container_of(library.real), edits);
      give_names(library, links_of(library), links, edits);
    }
  for (const Found& library : search_.find("libnvidia-allocator.so." + version_))  // mounted with the driver's other
                                                                                   // libraries
    give_names(library,
               {"../libnvidia-allocator.so.1::" + folder_of(container_of(library.real)) + "/gbm/nvidia-drm_gbm.so"},
               links, edits);
  for (const Found& library : search_.find("libnvidia-vulkan-producer.so." + version_)) {
    mount(library.real, container_of(library.real), edits);
    give_names(
        library,
        {file_name(library.real) + "::" + folder_of(container_of(library.real)) + "/libnvidia-vulkan-producer.so"},
        links, edits);
  }
  for (const Found& library : search_.find("libcuda.so." + version_)) folders.push_back(folder_of(library.real));
  add_xorg(folders, links, edits);

  std::vector<std::string> places = options_.config_folders;
  if (places.empty()) places = {"/etc", "/usr/local/share", "/usr/share"};
  for (const char* name : kShared) add_config_file(name, "/usr/share", places, edits);
  places.emplace_back("");  // on some systems Vulkan's files are directly below the driver root
  for (const char* name : kSettings) add_config_file(name, "/etc", places, edits);
  hooks_.create_symlinks(links, edits);
}

}  // namespace slipway::toolkit
