// SPDX-License-Identifier: Apache-2.0
#include "validator/service/keeper.hpp"

#include <cstdlib>
#include <ctime>
#include <utility>

#include <unistd.h>

#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"
#include "validator/cuda_check.hpp"
#include "validator/device_plugin_check.hpp"
#include "validator/driver_check.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kTryAgain{60};
constexpr const char* kContainerFile = ".driver-ctr-ready";

std::string node_name(const Settings& settings) {
  if (!settings.node.empty()) return settings.node;
  if (const char* named = std::getenv("NODE_NAME"); named != nullptr && *named != '\0') return named;
  char name[256] = "";
  (void)::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Keeper::Keeper(const Host& host, Settings settings, DriverLook look, std::function<void()> tried)
    : host_(host),
      settings_(std::move(settings)),
      tried_(std::move(tried)),
      driver_(host, settings_.driver_root, std::move(look)),
      toolkit_(host) {
  gauges_.node = node_name(settings_);
  gauges_.start_time = std::time(nullptr);
}

void Keeper::take(Finding finding) {
  const auto before = findings_.find(finding.name);
  const bool same = before != findings_.end() && before->second.status == finding.status &&
                    (passed(finding) || before->second.text == finding.text);
  if (!same) changed_.push_back(finding);
  findings_[finding.name] = std::move(finding);
}

std::vector<Finding> Keeper::pass(bool ask_nvml) {
  changed_.clear();
  const std::uint64_t looks = driver_.looks();
  take(ask_nvml ? driver_.run() : driver_.run_without_nvml());
  if (driver_.looks() != looks && driver_works()) driver_time_ = std::time(nullptr);
  if (settings_.wants("toolkit")) take(toolkit_.run());
  if (settings_.wants("plugin")) take(check_device_plugin(host_, settings_.kubelet));
  if (settings_.wants("cuda")) look_at_cuda();
  for (const std::string& companion : settings_.companions) take(check_companion(host_, companion));
  update_gauges();
  return changed_;
}

/// An unloaded driver is not ready; a reloaded driver is noticed when it may be used again.
void Keeper::pass_without_driver() {
  changed_.clear();
  if (host_.live() && !host_.module_loaded("nvidia")) {
    take(fails(kDriverCheck, "the kernel module nvidia is not loaded",
               "if the apply for which this service was paused still runs, wait for its end"));
    if (settings_.wants("cuda")) take(not_tried(kCudaCheck, "the driver is not loaded"));
    tried_for_.clear();
  }
  update_gauges();
}

void Keeper::release() {
  trial_thread_ = std::jthread();
  trial_ = {};
  driver_.forget();
}

std::vector<std::string> Keeper::paths() const {
  std::vector<std::string> all = driver_.paths();
  for (const std::string& name : looked_after()) all.push_back(settings_.directory + "/" + name);
  all.push_back(settings_.kubelet.device_plugins());
  const auto toolkit = settings_.wants("toolkit") ? toolkit_.paths() : std::vector<std::string>();
  all.insert(all.end(), toolkit.begin(), toolkit.end());
  return all;
}

/// Returns the state that a CUDA result is valid for.
std::string Keeper::cuda_reason() const {
  std::string reason = driver_.version();
  for (const std::string& gpu : driver_.gpus()) reason += " " + gpu;
  return reason;
}

void Keeper::look_at_cuda() {
  if (trial_.valid()) {
    if (trial_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    take(trial_.get());
  }
  if (!host_.live()) return take(not_tried(kCudaCheck, "this root is not running, so nothing can compute"));
  if (!passed(findings_.at(kDriverCheck))) {
    tried_for_.clear();
    return take(not_tried(kCudaCheck, "CUDA was not tried: " + findings_.at(kDriverCheck).text));
  }
  const bool again = !ready(kCudaCheck) && Clock::now() - tried_at_ >= kTryAgain;
  if (cuda_reason() == tried_for_ && !again) return;
  if (cuda_reason() != tried_for_) take(not_tried(kCudaCheck, "CUDA is being tried"));
  tried_for_ = cuda_reason();
  tried_at_ = Clock::now();
  std::promise<Finding> came;
  trial_ = came.get_future();
  trial_thread_ = std::jthread([around = look_around(host_, driver_), came = std::move(came),
                                tried = tried_](const std::stop_token& stop) mutable {
    came.set_value(check_cuda(around, stop));
    if (tried) tried();
  });
}

bool Keeper::ready(const char* check) const {
  const auto found = findings_.find(check);
  return found != findings_.end() && passed(found->second);
}

std::map<std::string, StatusFile> Keeper::files() const {
  std::map<std::string, StatusFile> wanted;
  if (settings_.wants("driver") && ready(kDriverCheck)) {
    const DriverPlace place = driver_.place().value_or(DriverPlace{.root = "/", .library = ""});
    wanted["driver-ready"] = {driver_ready_text(place), 0600};
    if (place.of_host)
      wanted[kContainerFile] = {driver_ctr_ready_text(host_), 0644};  // else the driver's container writes the file
  }
  if (ready(kToolkitCheck)) wanted["toolkit-ready"] = {};
  if (ready(kCudaCheck)) wanted["cuda-ready"] = {};
  if (ready(kPluginCheck)) wanted["plugin-ready"] = {};
  for (const std::string& companion : settings_.companions)
    if (ready(("validator." + companion).c_str())) wanted[companion + "-ready"] = {};
  return wanted;
}

std::vector<std::string> Keeper::looked_after() const {
  std::vector<std::string> names;
  for (const std::string& check : settings_.checks) names.push_back(check + "-ready");
  for (const std::string& companion : settings_.companions) names.push_back(companion + "-ready");
  const bool of_host = !driver_.place() || driver_.place()->of_host;
  if (settings_.wants("driver") && of_host) names.emplace_back(kContainerFile);
  return names;
}

void Keeper::update_gauges() {
  const std::int64_t now = std::time(nullptr);
  const std::int64_t devices = device_total(host_, settings_.kubelet);
  const auto functions = host_.pci_devices({.vendor = nvidia::kVendor, .base_class = {}});
  const std::scoped_lock lock(mutex_);
  gauges_.driver_ready = settings_.wants("driver") && ready(kDriverCheck);
  gauges_.toolkit_ready = ready(kToolkitCheck);
  gauges_.plugin_ready = ready(kPluginCheck);
  gauges_.cuda_ready = ready(kCudaCheck);
  gauges_.driver_valid = ready(kDriverCheck);
  gauges_.driver_valid_time = driver_time_;
  gauges_.plugin_devices = devices;
  if (devices > 0) gauges_.plugin_valid_time = now;
  gauges_.pci_devices = host_.has_kernel_view() ? static_cast<std::int64_t>(functions.size()) : -1;
}

Gauges Keeper::gauges() const {
  const std::scoped_lock lock(mutex_);
  return gauges_;
}

std::string Keeper::summary() const {
  std::vector<std::string> good;
  std::vector<std::string> bad;
  for (const auto& [name, finding] : findings_)
    (passed(finding) ? good : bad).push_back(name.substr(name.find('.') + 1));
  return "ready: " + (good.empty() ? "nothing" : joined(good)) + (bad.empty() ? "" : "; not ready: " + joined(bad));
}

std::vector<std::string> Keeper::failures() const {
  std::vector<std::string> lines;
  for (const auto& [name, finding] : findings_)
    if (!passed(finding)) lines.push_back(name + ": " + finding.text);
  return lines;
}

}  // namespace slipway::validator
