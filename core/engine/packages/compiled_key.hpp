// SPDX-License-Identifier: Apache-2.0
// core/engine/packages/compiled_key.hpp - everything that compiled kernel modules depend on: with an equal key, they
// need not be compiled again.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Returns the key of a layer with a `build`, compiled in this root. Its parts:
///
///   format    a number that changes when slipway itself compiles or collects in another way
///   live      true on a live machine. Its programs and headers are its administrator's; an image's may be anybody's,
///   and
///             no image may decide what the machine's kernel loads. Images that share a cache trust each other
///   source    digest of the source package's layer
///   kernel    {"identity", "files"}: `build.identity`, with the release, and the digests of the files below
///             /lib/modules/RELEASE/build that another build of the same release changes: Module.symvers (the exported
///             symbols and their checksums), .config and include/config/, Makefile (the kernel's own flags),
///             include/generated/ (version, build time, sizes of structures), and include/linux/vermagic.h, which
///             together with these decides the vermagic
///   programs  for each program in `build.needs` (compiler, make): {"file", "digest", "version"}: the path with all
///             links followed, the digest of the file, and the output of `--version`, which also names the version of
///             the parts of a compiler that are other files
///   tools     digests of the root's assembler, linker and strip
///   make      {"directory", "argv", "environment"}: the flags and options of the build
///   files     `build.collect`: names, whether stripped, and the compression; `signer` is "unsigned" or the digest of
///             the certificate, and no part names or contains the private key
///
/// Errors: `unsupported` the build is not for a kernel; those of reading, and of running the programs.
Result<Json> compiled_key(const Json& layer, const RootDir& root, bool live);

/// Returns the SHA-256 of the key, 64 hex digits.
std::string compiled_name(const Json& key);

}  // namespace slipway::core
