// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/validator/container_machine.hpp - a running machine with a CDI spec, and engines that answer.
#pragma once

#include <algorithm>

#include "gpu_machine.hpp"
#include "tests/unit/plugins/toolkit/runtime/engine_socket.hpp"
#include "validator/container/check.hpp"

namespace slipway::validator::testing {

using Command = std::vector<std::string>;

/// The probe's output in a container that got its GPUs.
inline const ProcessOutput kOpened{0, "it has 2 nodes of the driver, and can open each\n", "", false};

class ContainerMachine : public ::testing::Test {
 protected:
  /// @param engine  the engine that runs the check
  explicit ContainerMachine(const std::string& engine) : place{engine, kNumber} {
    host.live("6.1.0-50-amd64").file("/usr/bin/rm", "x", 0755).file("/usr/bin/tar", "x", 0755);
    removes(place);
    spec.kind = "nvidia.com/gpu";
    spec.devices = {"0", "all"};
  }
  /// A program that prints its version and does nothing else.
  void program(const std::string& path, const std::string& version, const Command& words = {}) {
    Command command{path};
    command.insert(command.end(), words.begin(), words.end());
    command.emplace_back("--version");
    host.file(path, "x", 0755).answers(command, {0, version + "\n", "", false});
  }
  /// A process listens there as long as this test runs.
  void listen(const std::string& socket) {
    host.file(socket, "").without(socket);  // its folder
    listening_.push_back(toolkit::listen_at(host, socket));
  }
  std::string run() { return shown(check_container(host, {spec}, CONTAINER_PROBE, terms)); }
  static Command removal_of(const Place& of) { return {"/usr/bin/rm", "-rf", "--one-file-system", of.folder()}; }
  /// Removes the folder of a check when rm is run for it.
  void removes(const Place& of) {
    host.does(removal_of(of), [this, of] {
      host.without(of.folder());
      return ProcessOutput{};
    });
  }
  auto times_run(const Command& words) const { return std::ranges::count(host.ran(), words); }
  /// Returns that many of the last commands.
  std::vector<Command> last(std::size_t count) const {
    const auto& all = host.ran();
    return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
  }

  static constexpr const char* kNumber = "0123456789abcdef";
  const Place place;
  const std::string kRoot = place.root();
  const std::string kName = place.name();
  const Command kRemoval = removal_of(place);
  slipway::testing::FakeHost host;
  CdiSpec spec;
  CheckTerms terms{.number = kNumber};

 private:
  std::vector<Fd> listening_;
};

}  // namespace slipway::validator::testing
