// SPDX-License-Identifier: Apache-2.0
// core/action/file/service_file.cpp - kind `service-file`: a file that the component's service writes while it runs. An
// apply only records the state before, so that removal can restore it.
#include <filesystem>

#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

class ServiceFileKind final : public ActionKind {
 public:
  Result<Check> check(const Action& action, ActionContext& context) const override {
    const std::string path = action.target();
    const std::string summary = "let the service write " + path;
    if (!context.record.is_null()) return Check::satisfied(summary);
    SLIPWAY_TRY(now, look_at(context.host, path, false));
    if (now.absent || now.is(FileInfo::Type::regular) || now.is(FileInfo::Type::symlink))
      return Check{Check::Standing::change, summary, {}, {}};
    return Check::conflict(summary, in_the_way(path, now.info.type, "a file"));
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    const std::string folder = std::filesystem::path(action.target()).parent_path();
    if (!context.host.info(folder)) SLIPWAY_CHECK(context.root.make_directory(folder, 0755));
    return Outcome::done();
  }

  /// The service's output does not depend on the apply, so the fingerprint has no content.
  Result<Json> fingerprint(const Action&, ActionContext&) const override { return Json{{"writer", "service"}}; }
};

}  // namespace

const ActionKind& service_file_kind() {
  static const ServiceFileKind kind;
  return kind;
}

}  // namespace slipway::core
