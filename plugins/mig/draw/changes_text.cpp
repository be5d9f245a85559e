// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mig/draw/picture.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kPlanColumns = 76;
constexpr std::size_t kPlanHanging = 2;
constexpr const char* kLegend = "(= stays, - is destroyed, + is created)\n";

bool is_same_change(const Intent& one, const Intent& other) {
  return one.gpu.name == other.gpu.name && one.gpu.id == other.gpu.id && one.gpu.enabled == other.gpu.enabled &&
         one.gpu.pending == other.gpu.pending && one.gpu.profiles == other.gpu.profiles &&
         one.gpu.instances == other.gpu.instances && one.target.enabled == other.target.enabled &&
         one.target.instances == other.target.instances && one.target.unplaced == other.target.unplaced;
}

/// The marks of the instances of one layout, compared with another.
class Marks {
 public:
  /// @param lost  the mark of an instance that the other layout does not have
  Marks(const Instances& other, char lost) : other_(other), lost_(lost) {}

  /// ' ': its parts have marks of their own.
  char operator()(const Block& block, const Cell* cell) const {
    const GpuInstance& instance = block.instance;
    const auto same = std::ranges::find_if(other_, [&](const GpuInstance& each) {
      return each.start == instance.start && each.profile_id == instance.profile_id;
    });
    if (same == other_.end()) return lost_;
    if (same->compute == instance.compute) return '=';
    if (cell == nullptr || cell->is_free) return ' ';
    return std::ranges::count(same->compute, cell->place) != 0 ? '=' : lost_;
  }

 private:
  const Instances& other_;
  char lost_;
};

std::string drawn(const char* gutter, const Rows& rows, const Marks& marks) {
  std::string text = rows.names(gutter, {});
  if (rows.has_parts()) text += rows.parts();
  return text + rows.marks(marks);
}

std::vector<Block> blocks_after(const Intent& intent) {
  const Target& target = intent.target;
  if (!target.unplaced.empty())
    return one_block(intent.gpu, {to_text(intent.wanted) + ", placed once MIG is enabled", to_text(intent.wanted),
                                  "placed once MIG is enabled"});
  return blocks_of(intent.gpu, target.enabled, target.instances);
}

std::string drawn(const ChangeGroup& group, bool has_heading) {
  const Intent& intent = *group.first;
  const Gpu& gpu = intent.gpu;
  const unsigned slices = memory_slices(gpu);
  const Rows now(blocks_of(gpu), slices, {});
  const Rows then(blocks_after(intent), slices, {});
  const Instances before = gpu.enabled ? gpu.instances : Instances();
  std::string text;
  if (has_heading) text = folded_counts(group.name() + ": " + intent.change_text(), kPlanColumns, kPlanHanging, 0);
  if (!gpu.profiles.empty()) text += now.scale();
  return text + drawn("now", now, {intent.target.instances, '-'}) + drawn("then", then, {before, '+'});
}

}  // namespace

std::string ChangeGroup::name() const {
  return indices.size() == 1 ? first->gpu.text() : "GPU " + ranges_text(indices);
}

std::vector<ChangeGroup> changes_of(const std::vector<Intent>& intents) {
  std::vector<ChangeGroup> groups;
  for (const Intent& each : intents) {
    if (each.holds()) continue;
    const auto same =
        std::ranges::find_if(groups, [&](const ChangeGroup& group) { return is_same_change(*group.first, each); });
    if (same == groups.end())
      groups.push_back({.indices = {each.gpu.index}, .first = &each});
    else
      same->indices.push_back(each.gpu.index);
  }
  return groups;
}

std::string changes_text(const std::vector<ChangeGroup>& groups) {
  std::string text;
  for (const ChangeGroup& group : groups) text += drawn(group, groups.size() > 1);
  return text.empty() ? text : text + kLegend;
}

}  // namespace slipway::mig
