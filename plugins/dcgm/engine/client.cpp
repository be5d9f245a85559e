// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/client.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <unistd.h>

#include "dcgm/engine/library.hpp"

namespace slipway::dcgm {
namespace {

constexpr double kKeepSeconds = 600;  // as dcgm-exporter asks for
constexpr int kKeepSamples = 1;       // only the newest is read

Error failed(const DcgmLibrary& library, const std::string& doing, abi::Return code) {
  return Error{.code = code == abi::kConnectionNotValid ? ErrorCode::not_found : ErrorCode::internal,
               .what = "the DCGM engine " + doing + ": " + library.error_text(code),
               .next = "see the log of nv-hostengine (/var/log/nv-hostengine.log)"};
}

Value value_of(const abi::FieldValue& field) {
  if (field.status != abi::kOk) return {};
  if (field.type == 'd') return field.value.real >= abi::kBlankReal ? Value() : Value(field.value.real);
  if (field.type == 'i' || field.type == 't')
    return field.value.integer >= abi::kBlankInteger ? Value() : Value(field.value.integer);
  if (field.type != 's') return {};
  std::string text(field.value.text, strnlen(field.value.text, abi::kTextBytes));
  return text.starts_with(abi::kBlankText) ? Value() : Value(std::move(text));
}

/// What the library calls back with; by DCGM's number of the GPU.
struct Taken {
  std::map<unsigned, std::map<unsigned, Value>> gpus;

  static int take(int group, unsigned entity, abi::FieldValue* values, int count, void* context) {
    if (group != abi::kGpu || values == nullptr) return 0;
    auto& gpu = static_cast<Taken*>(context)->gpus[entity];
    for (const abi::FieldValue& each : std::span(values, static_cast<std::size_t>(std::max(count, 0))))
      gpu[each.field] = value_of(each);
    return 0;
  }
};

std::string group_name() {
  static std::atomic<unsigned> count{0};
  return "slipway-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace

struct EngineClient::Session {
  std::shared_ptr<const DcgmLibrary> library;
  bool initialised = false;
  std::optional<abi::Handle> handle;
  std::vector<abi::FieldGroup> groups;

  ~Session() { end(false); }
  /// @param shut_down  the whole library, which ends other connections as well
  void end(bool shut_down) {
    if (handle) (void)library->disconnect(*handle);
    handle.reset();
    if (initialised && shut_down) (void)library->shutdown();
    initialised = false;
  }

  Status begin(const EngineAddress& address) {
    if (const abi::Return code = library->init(); code != abi::kOk)
      return failed(*library, "cannot be reached, since DCGM's library does not begin", code);
    initialised = true;
    abi::ConnectParameters how{.version = abi::kConnectParametersVersion,
                               .persist_after_disconnect = 0,
                               .timeout_ms = static_cast<unsigned>(kConnectLimit.count()),
                               .address_is_unix_socket = address.is_unix_socket ? 1U : 0U};
    abi::Handle made = 0;
    if (const abi::Return code = library->connect(address.text.c_str(), &how, &made); code != abi::kOk)
      return failed(*library, "does not answer at " + address.text, code);
    handle = made;
    return {};
  }

  Status watch(std::vector<unsigned> fields, std::chrono::milliseconds interval) {
    fields.push_back(abi::kUuidField);
    for (std::size_t at = 0; at < fields.size(); at += abi::kMostFieldsOfAGroup) {
      const std::size_t end = std::min(fields.size(), at + abi::kMostFieldsOfAGroup);
      const std::vector<unsigned short> part(fields.begin() + static_cast<std::ptrdiff_t>(at),
                                             fields.begin() + static_cast<std::ptrdiff_t>(end));
      abi::FieldGroup group = 0;
      abi::Return code = library->create_field_group(*handle, static_cast<int>(part.size()), part.data(),
                                                     group_name().c_str(), &group);
      if (code == abi::kOk)
        code = library->watch(*handle, abi::kAllGpus, group, std::chrono::microseconds(interval).count(), kKeepSeconds,
                              kKeepSamples);
      if (code != abi::kOk) return failed(*library, "does not watch the fields", code);
      groups.push_back(group);
    }
    (void)library->update(*handle, 1);  // so that there are values at the first read
    return {};
  }

  Result<EngineReading> read() const {
    Taken taken;
    for (const abi::FieldGroup group : groups) {
      const abi::Return code = library->latest(*handle, abi::kAllGpus, group, &Taken::take, &taken);
      if (code != abi::kOk && code != abi::kNoData) return failed(*library, "gives no values", code);
    }
    EngineReading reading;
    for (auto& [number, values] : taken.gpus) {
      const auto* const uuid = std::get_if<std::string>(&values[abi::kUuidField]);
      if (uuid != nullptr) reading[*uuid] = std::move(values);
    }
    return reading;
  }
};

EngineClient::EngineClient() = default;
EngineClient::~EngineClient() { release(); }

Status EngineClient::connect(const std::string& root, const EngineAddress& address, const std::vector<unsigned>& fields,
                             std::chrono::milliseconds interval) {
  release();
  SLIPWAY_TRY(library, DcgmLibrary::open(root));
  auto session = std::make_shared<Session>();
  session->library = library;
  auto status = std::make_shared<Status>();
  const bool came_back = thread_.run(
      [session, status, address, fields, interval] {
        *status = session->begin(address);
        if (*status) *status = session->watch(fields, interval);
      },
      kCallLimit);
  if (!came_back)
    return Error{.code = ErrorCode::timed_out,
                 .what = "the DCGM engine at " + address.text + " does not answer within 5 s",
                 .next = "restart nv-hostengine"};
  if (!*status) {
    end(std::move(session));
    return *status;
  }
  session_ = std::move(session);
  return {};
}

Result<EngineReading> EngineClient::read() {
  if (!session_) return Error{.code = ErrorCode::internal, .what = "the DCGM engine is not connected"};
  struct Answer {
    Result<EngineReading> reading = EngineReading();
  };
  auto answer = std::make_shared<Answer>();
  const bool came_back = thread_.run([session = session_, answer] { answer->reading = session->read(); }, kCallLimit);
  if (!came_back) {
    session_.reset();  // the call that hangs has it
    return Error{.code = ErrorCode::timed_out,
                 .what = "the DCGM engine does not answer within 5 s",
                 .next = "restart nv-hostengine"};
  }
  if (!answer->reading) release();
  return std::move(answer->reading);
}

/// On the thread for calls, since the end may hang as well. Where no further thread may hang, the session stays.
void EngineClient::end(std::shared_ptr<Session> session) {
  if (thread_.stuck() >= nvidia::nvml::CallThread::kMaxStuck)
    (void)new std::shared_ptr<Session>(std::move(session));
  else
    (void)thread_.run([session = std::move(session), alone = thread_.stuck() == 0] { session->end(alone); },
                      kCallLimit);
}

void EngineClient::release() {
  if (session_) end(std::exchange(session_, nullptr));
}

}  // namespace slipway::dcgm
