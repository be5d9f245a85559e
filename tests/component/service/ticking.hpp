// SPDX-License-Identifier: Apache-2.0
// tests/component/service/ticking.hpp - a service that writes down what it does, one line each.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <slipway/service_loop.hpp>

namespace slipway::ticker {

class Ticking final : public Service {
 public:
  Status run(const Spec& spec, const Host&, const std::stop_token& stop, ServiceIo& io) override {
    file_ = spec.text("file");
    const std::string how = spec.json().value("how", "works");  // neighbour has neither key
    const std::string text = spec.json().value("text", "");
    write("begin " + text);
    if (how == "fails") return Error{ErrorCode::denied, "the service was told to fail", {}, "expect it", {}};
    if (how == "dawdles") {  // until the test lets it fail
      while (!std::filesystem::exists(file_ + ".go")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return Error{ErrorCode::denied, "the service was told to fail later", {}, "expect it", {}};
    }
    if (how == "ends") return {};
    const auto pass = [&]() -> Status {
      if (how == "crashes") {
        io.log("info", "about to crash");
        std::abort();
      }
      write(text);
      io.status(how == "ails" ? "the hand is bent" : "wrote a line");
      if (how == "ails") io.reasons({"the hand is bent", "the spring is tired"});
      if (how == "advises") {
        constexpr const char* kAdvice = "the spring is tired (`slipway pause -- wind --up`)";
        io.log("warning", kAdvice);
        io.reasons({kAdvice});
      }
      if (!output_ && how != "never-ready") io.ready();
      output_ = true;
      while (how == "deaf") std::this_thread::sleep_for(std::chrono::seconds(1));
      return {};
    };
    const Status status =
        loop_.run(stop, io, {.interval = std::chrono::seconds(60), .pass = pass, .release = [&] { write("release"); }});
    write("end");
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override { return loop_.resume(); }

 private:
  void write(const std::string& line) const { std::ofstream(file_, std::ios::app) << line << std::endl; }
  std::string file_;
  bool output_ = false;
  ServiceLoop loop_;
};

}  // namespace slipway::ticker
