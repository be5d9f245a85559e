// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/repository.hpp - the grammar of what names an artifact: repository, tag and digest
// (OCI distribution-spec 1.1).
#pragma once

#include <string>
#include <string_view>

namespace slipway::core {

/// The parts of oci://HOST[:PORT]/NAME[:TAG][@DIGEST]. A path is all repository: it may hold any of these characters.
struct RepositoryParts {
  std::string repository;  ///< without tag and digest
  std::string tag;
  std::string digest;
};
RepositoryParts split_repository(const std::string& text);

/// Why a text is no repository; "" when it is one.
std::string repository_problem(const std::string& text);

bool is_tag(std::string_view text);
bool is_digest(std::string_view text);

}  // namespace slipway::core
