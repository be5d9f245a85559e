// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/service.cpp - the validator's service: status files and gauges that follow what is so.
#include <map>

#include <slipway/component.hpp>
#include <slipway/http/http_listener.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service_loop.hpp>

#include "nvidia/config/choose.hpp"
#include "nvidia/config/watch.hpp"
#include "validator/service/keeper.hpp"

namespace slipway::validator {
namespace {

using nvidia::config::ConfigWatch;

// A round costs a few file look-ups and one question per GPU, so that a file is right within a second.
constexpr std::chrono::milliseconds kInterval{500};
constexpr std::chrono::seconds kPortAgain{5};

class ValidatorService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    SLIPWAY_TRY(settings, read_settings(spec, host));
    root_folder_ = host.root_folder();
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    Keeper keeper(host, settings);
    SLIPWAY_TRY(config, config_of(spec, host));
    ConfigWatch watch(
        std::move(config), [&] { return config_of(spec, host); }, std::chrono::steady_clock::now());
    StatusFiles files(std::move(root), settings.directory);
    bool reported_ready = false;
    const auto pass = [&]() -> Status {
      follow(watch, keeper, io);
      report(keeper.pass(), keeper, io);
      show(files, keeper.files(), keeper, io);
      serve(settings, keeper, io);
      if (!reported_ready) io.ready();
      reported_ready = true;
      return {};
    };
    const Status status = loop_.run(stop, io,
                                    {.interval = kInterval,
                                     .pass = pass,
                                     .release = [&] { keeper.release(); },
                                     .while_quiet =
                                         [&] {
                                           keeper.pass_without_driver();
                                           show(files, keeper.files(), keeper, io);
                                         }});
    server_.reset();
    show(files, {}, keeper, io);  // nobody keeps them true any more
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override { return loop_.resume(); }

 private:
  static Result<nvidia::config::Settings> config_of(const Spec& spec, const Host& host) {
    return nvidia::config::read_settings(spec, "validator", host, nvidia::config::no_environment);
  }

  /// Takes up a config file that has changed; a wrong one leaves the last good one in force.
  static void follow(ConfigWatch& watch, Keeper& keeper, ServiceIo& io) {
    switch (watch.look(std::chrono::steady_clock::now())) {
      case ConfigWatch::News::none:
        return;
      case ConfigWatch::News::wrong:
        io.log("warning",
               "the configuration stays as it was: " + watch.problem()->where + ": " + watch.problem()->what);
        return;
      case ConfigWatch::News::changed:
        keeper.take_names(given_names(watch.in_force()));
        io.log("info", "a changed configuration is in force");
    }
  }

  void report(const std::vector<Finding>& changed, const Keeper& keeper, ServiceIo& io) {
    for (const Finding& finding : changed) {
      const bool bad = finding.status == Verdict::fail;
      const std::string remedy = finding.remedy.empty() ? "" : " (do: " + finding.remedy + ")";
      io.log(bad ? "warning" : "info",
             finding.name + ": " + std::string(to_string(finding.status)) + ": " + finding.text + remedy);
    }
    if (changed.empty() && told_port_problem_ == port_problem_) return;
    told_port_problem_ = port_problem_;
    io.status(keeper.summary() + (port_problem_.empty() ? "" : "; no gauges"));
    std::vector<std::string> reasons = keeper.failures();
    if (!port_problem_.empty()) reasons.push_back("no gauges: " + port_problem_);
    io.reasons(reasons);
  }

  /// A folder that cannot be written is said once, and tried again with every round.
  void show(StatusFiles& files, const std::map<std::string, StatusFile>& wanted, const Keeper& keeper, ServiceIo& io) {
    const Status shown = files.show(wanted, keeper.looked_after());
    if (!shown && file_problem_ != shown.error().what) io.log("warning", "status files: " + shown.error().what);
    file_problem_ = shown ? "" : shown.error().what;
  }

  void serve(const Settings& settings, const Keeper& keeper, ServiceIo& io) {
    const auto now = std::chrono::steady_clock::now();
    if (settings.port == 0 || now < serve_after_ || (server_ && !server_->files_changed())) return;
    if (server_) io.log("info", "the web-config file or what it names has changed");
    server_.reset();
    auto server =
        HttpListener::start({settings.address, settings.port, settings.web_config, root_folder_, "validator.port"},
                            [&keeper] { return std::make_shared<const std::string>(gauges_text(keeper.gauges())); });
    if (server) {
      server_ = std::move(*server);
      port_problem_.clear();
      return io.log("info", "gauges are at port " + std::to_string(server_->port()) + ", /metrics");
    }
    serve_after_ = now + kPortAgain;
    if (port_problem_ != server.error().what)
      io.log("warning", "no gauges: " + server.error().what + " (at: " + server.error().where +
                            (server.error().next.empty() ? "" : ", do: " + server.error().next) + ")");
    port_problem_ = server.error().what;
  }

  ServiceLoop loop_;
  std::string root_folder_;
  std::unique_ptr<HttpListener> server_;
  std::chrono::steady_clock::time_point serve_after_;
  std::string file_problem_;
  std::string port_problem_;
  std::string told_port_problem_;  ///< in the service's status
};

}  // namespace
}  // namespace slipway::validator

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::validator::ValidatorService>>("validator"))
