// SPDX-License-Identifier: Apache-2.0
// base/yaml/load.hpp - an untrusted YAML document as yaml-cpp's nodes, within limits.
//
// A kilobyte of aliases of aliases stands for billions of values. yaml-cpp shares the aliased values, so that the
// document's nodes are small, but a walk over it, which every reader makes, would never end. So the values are counted
// first.
#pragma once

#include <optional>
#include <string>

#include <yaml-cpp/yaml.h>

namespace slipway::yaml {

struct Limits {
  std::size_t bytes = 4U << 20U;     ///< of the text
  std::size_t values = 200'000;      ///< scalars, lists and maps; aliased ones are counted each time they are named
  std::size_t scalars = 16U << 20U;  ///< bytes of all scalars, counted in the same way
  std::size_t depth = 64;            ///< of lists and maps
};

/// Returns YAML::Load() of the first document. An alias inside its own value is also an error. Throws YAML::Exception;
/// problem_text() describes its what().
YAML::Node load(const std::string& text, const Limits& limits = {});

/// Returns 0, 1, or 2 for more. YAML::LoadAll() adds empty documents without end when a comma or a bracket follows one.
/// Throws YAML::Exception as that does.
int count_documents(const std::string& text);

/// Returns the start of a second document, or of text after the first one that does not belong to it. Lines of --- and
/// ... at the end start none. Throws YAML::Exception as YAML::LoadAll() does.
std::optional<YAML::Mark> second_document(const std::string& text);

/// Returns "is not YAML: …", or "is not read: …" when a limit of load() is exceeded; without the position.
std::string problem_text(const YAML::Exception& problem);

/// Returns FILE:LINE:COLUMN of a mark, both from 1; only FILE when the mark is empty.
std::string place(const std::string& file, const YAML::Mark& mark);

}  // namespace slipway::yaml
