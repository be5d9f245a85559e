// SPDX-License-Identifier: Apache-2.0
// tests/component/toolkit/nri_engine.hpp - the engine's side of an NRI socket, like containerd's.
#pragma once

#include <cstring>
#include <optional>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "tests/unit/plugins/toolkit/nri/engine_side.hpp"

namespace slipway::nri {

/// A plugin's connection, seen from the engine. Waits at most 10 s for any event.
class PluginEnd {
 public:
  explicit PluginEnd(Fd fd) : fd_(std::move(fd)) {}

  void say(const std::string& bytes) const {
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// Returns the next message; empty when the connection ends or time is up.
  std::optional<Message> hear() {
    while (heard_.empty()) {
      std::string part(4096, '\0');
      pollfd watched{fd_.get(), POLLIN, 0};
      if (::poll(&watched, 1, 10'000) != 1) return {};
      const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), 0);
      if (got <= 0) return {};
      auto messages = frames_.take(std::string_view(part).substr(0, static_cast<std::size_t>(got)));
      if (!messages) return {};
      heard_ = std::move(*messages);
    }
    Message message = std::move(heard_.front());
    heard_.erase(heard_.begin());
    return message;
  }
  /// True when the connection has ended without a message.
  bool ends() { return !hear() && closed(); }
  bool closed() const {
    char byte = 0;
    pollfd watched{fd_.get(), POLLIN, 0};
    return ::poll(&watched, 1, 10'000) == 1 && ::recv(fd_.get(), &byte, 1, 0) <= 0;
  }
  wire::Response ask(const std::string& bytes) {
    say(bytes);
    const auto message = hear();
    wire::Response none;
    none.mutable_status()->set_code(-1);
    return message ? response_in(*message) : none;
  }
  /// Does registration, configuration and synchronization. @return the plugin's name, empty on failure
  std::string take_in(const std::string& version = "v2.1.4") {
    const auto message = hear();
    wire::Request request;
    wire::RegisterPluginRequest plugin;
    if (!message || !request.ParseFromString(message->payload) || !plugin.ParseFromString(request.payload())) return {};
    say(registered());
    const bool configured = ask(configure(1, "containerd", version)).status().code() == 0;
    const bool synchronized = ask(synchronize(3, false)).status().code() == 0;
    return configured && synchronized ? plugin.plugin_idx() + "-" + plugin.plugin_name() : "";
  }

 private:
  Fd fd_;
  FrameReader frames_;
  std::vector<Message> heard_;
};

/// Listens during its lifetime.
class NriEngine {
 public:
  explicit NriEngine(const std::string& socket) : socket_(socket) {
    listening_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof(address.sun_path) - 1);
    ::unlink(socket.c_str());
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0) << socket;
    EXPECT_EQ(::listen(listening_.get(), 8), 0);
  }
  NriEngine(const NriEngine&) = delete;
  NriEngine& operator=(const NriEngine&) = delete;
  ~NriEngine() { ::unlink(socket_.c_str()); }

  PluginEnd accept() const {
    pollfd watched{listening_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&watched, 1, 20'000), 1) << "no plugin came";
    return PluginEnd(Fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }

 private:
  std::string socket_;
  Fd listening_;
};

}  // namespace slipway::nri
