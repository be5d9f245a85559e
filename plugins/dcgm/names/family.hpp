// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/family.hpp - the rows of a table of metrics: which field gives the value, in which unit.
#pragma once

#include <optional>
#include <string>

#include <slipway/service/metrics.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Rows of one family stand one after the other.
struct FamilyRow {
  const char* name;
  const char* type;
  const char* help;
  unsigned field;
  double factor = 1;            ///< from the field's unit to the metric's
  const char* label = nullptr;  ///< what tells the rows of a family apart
  const char* label_value = nullptr;
};

/// Base units in the shortest form that keeps the value: "0.43", "85899345920".
std::string plain_number(double value);
/// The value of a field times a factor; empty: the entity does not have it.
std::string scaled_text(const Counters& counters, const Entity& entity, unsigned field, double factor);
/// The value as it was read; null where it is not among the counters.
const Value* value_of(const Counters& counters, const Entity& entity, unsigned field);

}  // namespace slipway::dcgm
