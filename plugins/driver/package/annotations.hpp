// SPDX-License-Identifier: Apache-2.0
// plugins/driver/package/annotations.hpp - the words of a driver package: artifact type, annotations, layer roles.
//
// docs/driver-packages.md describes the format; `slipway driver build` writes it and plan() reads it.
#pragma once

namespace slipway::driver {

inline constexpr const char* kArtifactType = "application/vnd.slipway.driver.v1";

namespace annotation {
// Annotations of a manifest.
inline constexpr const char* kVersion = "dev.slipway.driver.version";                 ///< "535.261.03"
inline constexpr const char* kFlavour = "dev.slipway.driver.flavour";                 ///< "open", "proprietary"
inline constexpr const char* kDefaultFlavour = "dev.slipway.driver.default-flavour";  ///< used when no GPU decides
inline constexpr const char* kKernel = "dev.slipway.kernel.release";                  ///< absent: it is a source
                                                                                      ///< package
inline constexpr const char* kFails = "dev.slipway.kernel.fails";    ///< in a source package: kernels for which it does
                                                                     ///< not compile
inline constexpr const char* kOs = "dev.slipway.os";                 ///< "debian12"; absent: any
inline constexpr const char* kArch = "dev.slipway.arch";             ///< "x86_64"; absent: any
inline constexpr const char* kSigner = "dev.slipway.driver.signer";  ///< signer of the modules; absent: unsigned
inline constexpr const char* kGpus = "dev.slipway.driver.gpus";      ///< SupportedGpus as JSON; absent: unknown
// Annotations of a layer.
inline constexpr const char* kLayer = "dev.slipway.layer";                  ///< its role
inline constexpr const char* kFiles = "dev.slipway.driver.files";           ///< of user space: PackageFiles as JSON
inline constexpr const char* kModules = "dev.slipway.driver.modules";       ///< of modules: file names, a JSON list
inline constexpr const char* kVermagic = "dev.slipway.kernel.vermagic";     ///< of modules
inline constexpr const char* kSymbols = "dev.slipway.kernel.symbols";       ///< of modules: file to symbol to checksum
inline constexpr const char* kSignerKey = "dev.slipway.driver.signer-key";  ///< of modules: KeyId as JSON
inline constexpr const char* kSource = "dev.slipway.driver.source";         ///< of source: SourceTree as JSON
}  // namespace annotation

namespace role {
inline constexpr const char* kUserspace = "userspace";
inline constexpr const char* kFirmware = "firmware";
inline constexpr const char* kModules = "modules";
inline constexpr const char* kSource = "source";
}  // namespace role

}  // namespace slipway::driver
