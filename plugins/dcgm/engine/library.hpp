// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/library.hpp - libdcgm.so.4, opened at run time: the client of a DCGM engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/engine/abi.hpp"

namespace slipway::dcgm {

inline constexpr const char* kDcgmSoname = "libdcgm.so.4";

/// Returns the files to try in a root: those in the usual library folders and in DCGM's own.
std::vector<std::string> dcgm_library_candidates(const std::string& root);

/// A loaded library; it is closed when the last owner releases it. Single functions may be missing.
class DcgmLibrary {
 public:
  /// @param root  folder that is "/" of the host; for "/" the loader's path counts as well
  /// Errors: `not_found` no such library; `invalid` the library cannot be loaded, or is not libdcgm.
  static Result<std::shared_ptr<const DcgmLibrary>> open(const std::string& root);
  ~DcgmLibrary();
  DcgmLibrary(const DcgmLibrary&) = delete;
  DcgmLibrary& operator=(const DcgmLibrary&) = delete;

  abi::Init init = nullptr;
  abi::Shutdown shutdown = nullptr;
  abi::Connect connect = nullptr;
  abi::Disconnect disconnect = nullptr;
  abi::CreateFieldGroup create_field_group = nullptr;
  abi::Watch watch = nullptr;
  abi::Update update = nullptr;
  abi::Latest latest = nullptr;
  abi::Entities entities = nullptr;
  abi::GetLinkStates link_states = nullptr;
  abi::CreateGroup create_group = nullptr;
  abi::AddEntity add_entity = nullptr;
  abi::DestroyGroup destroy_group = nullptr;

  /// "DCGM's words (-21)".
  std::string error_text(abi::Return code) const;

 private:
  explicit DcgmLibrary(void* handle) : handle_(handle) {}
  /// Looks up the functions. Returns the name of a missing one; empty: all were found.
  std::string bind();

  void* handle_;
  abi::ErrorText error_text_ = nullptr;
};

}  // namespace slipway::dcgm
