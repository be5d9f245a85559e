// SPDX-License-Identifier: Apache-2.0
#include "tests/component/deviceplugin/kubelet.hpp"

#include <chrono>
#include <filesystem>
#include <utility>

#include <slipway/kubelet/pluginregistration_v1.grpc.pb.h>
#include <time.h>

namespace slipway::testing {
namespace {

std::chrono::system_clock::time_point in_seconds(int seconds) {
  return std::chrono::system_clock::now() + std::chrono::seconds(seconds);
}

/// Removes every socket, as kubelet does when it starts; other files, such as its checkpoint, stay.
void empty_folder(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_socket()) std::filesystem::remove(entry.path());
}

}  // namespace

void wait_for_next_tick() {
  const auto coarse_time = [] {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return std::pair(now.tv_sec, now.tv_nsec);
  };
  for (const auto begin = coarse_time(); coarse_time() == begin;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// All allocations belong to one pod.
class Kubelet::PodResources final : public v1::PodResourcesLister::Service {
 public:
  PodResources(Kubelet& kubelet, bool newer) : kubelet_(kubelet), newer_(newer) {}

  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* out) override {
    const std::lock_guard lock(kubelet_.mutex_);
    auto* const pod = out->add_pod_resources();
    pod->set_name("pod");
    pod->set_namespace_("default");
    auto* const container = pod->add_containers();
    container->set_name("c");
    for (const auto& [id, resource] : kubelet_.used_) {  // also ids that the plugin no longer lists
      auto* const devices = container->add_devices();    // an entry for each device
      devices->set_resource_name(resource);
      devices->add_device_ids(id);
    }
    return grpc::Status::OK;
  }
  grpc::Status GetAllocatableResources(grpc::ServerContext*, const v1::AllocatableResourcesRequest*,
                                       v1::AllocatableResourcesResponse* out) override {
    if (!newer_) return {grpc::StatusCode::UNIMPLEMENTED, "unknown method GetAllocatableResources"};
    const std::lock_guard lock(kubelet_.mutex_);
    if (kubelet_.late_answers_ > 0) {
      --kubelet_.late_answers_;
      return grpc::Status::OK;
    }
    for (const auto& [name, plugin] : kubelet_.plugins_)
      for (const auto& [id, device] : plugin.resource.devices) {
        if (device.health() != "Healthy") continue;
        auto* const devices = out->add_devices();
        devices->set_resource_name(name);
        devices->add_device_ids(id);
      }
    return grpc::Status::OK;
  }

 private:
  Kubelet& kubelet_;
  bool newer_;
};

Kubelet::Kubelet(std::string folder, Release release) : folder_(std::move(folder)), release_(release) {
  empty_folder(folder_);
  wait_for_next_tick();
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock", grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

Kubelet::~Kubelet() {
  if (pod_resources_server_) pod_resources_server_->Shutdown(in_seconds(0));
  server_->Shutdown(in_seconds(0));
  std::vector<std::thread> dialers;
  {
    const std::lock_guard lock(mutex_);
    dialers.swap(dialers_);
  }
  for (std::thread& dialer : dialers) dialer.join();
  std::vector<std::thread> readers;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, plugin] : plugins_)
      if (plugin.stream) plugin.stream->TryCancel();
    readers.swap(readers_);
  }
  for (std::thread& reader : readers) reader.join();
}

void Kubelet::set_late_answers(unsigned answers) {
  const std::lock_guard lock(mutex_);
  late_answers_ = answers;
}

void Kubelet::serve_pod_resources(const std::string& socket) {
  std::filesystem::create_directories(std::filesystem::path(socket).parent_path());
  pod_resources_ = std::make_unique<PodResources>(*this, release_.tells_allocatable);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(pod_resources_.get());
  pod_resources_server_ = builder.BuildAndStart();
}

unsigned Kubelet::look_into_registry(const std::string& folder) {
  namespace api = pluginregistration;
  unsigned taken = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto stub = api::Registration::NewStub(
        grpc::CreateChannel("unix:" + entry.path().string(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext asking;
    asking.set_deadline(in_seconds(5));
    api::PluginInfo info;
    if (!stub->GetInfo(&asking, {}, &info).ok() || info.type() != "DevicePlugin") continue;
    // The endpoint is a path of the host; here the host's root is a folder.
    const std::string name = std::filesystem::path(info.endpoint()).filename();
    const auto status = take(info.name(), folder_ + "/" + name);
    api::RegistrationStatus told;
    told.set_plugin_registered(status.ok());
    told.set_error(status.error_message());
    grpc::ClientContext telling;
    telling.set_deadline(in_seconds(5));
    api::RegistrationStatusResponse answer;
    if (stub->NotifyRegistrationStatus(&telling, told, &answer).ok() && status.ok()) ++taken;
  }
  return taken;
}

grpc::Status Kubelet::Register(grpc::ServerContext*, const v1beta1::RegisterRequest* request, v1beta1::Empty*) {
  {
    const std::lock_guard lock(mutex_);
    if (!refusal_.empty()) return {grpc::StatusCode::UNKNOWN, refusal_};
  }
  if (request->version() != "v1beta1") return {grpc::StatusCode::UNKNOWN, "unsupported version " + request->version()};
  const std::string socket = folder_ + "/" + request->endpoint();
  if (release_.dials_before_it_answers) return take(request->resource_name(), socket);
  const std::lock_guard lock(mutex_);
  dialers_.emplace_back([this, name = request->resource_name(), socket] { (void)take(name, socket); });
  return grpc::Status::OK;
}

grpc::Status Kubelet::take(const std::string& resource, const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(4 << 20);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto stub = v1beta1::DevicePlugin::NewStub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext asking;
  asking.set_deadline(in_seconds(10));
  v1beta1::DevicePluginOptions options;
  if (const auto status = stub->GetDevicePluginOptions(&asking, {}, &options); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_[resource];
  if (plugin.stream) plugin.stream->TryCancel();
  if (plugin.stub) former_.push_back(std::move(plugin.stub));
  plugin.stub = std::move(stub);
  plugin.stream = std::make_shared<grpc::ClientContext>();
  plugin.options = options;
  ++plugin.resource.registrations;
  readers_.emplace_back(
      [this, name = resource, stream = plugin.stream, &used = *plugin.stub] { listen_to(name, stream, used); });
  return grpc::Status::OK;
}

void Kubelet::listen_to(const std::string& resource, std::shared_ptr<grpc::ClientContext> context,
                        v1beta1::DevicePlugin::Stub& stub) {
  const auto reader = stub.ListAndWatch(context.get(), {});
  v1beta1::ListAndWatchResponse list;
  while (reader->Read(&list)) {
    const std::lock_guard lock(mutex_);
    Plugin& plugin = plugins_[resource];
    if (plugin.stream != context) continue;
    plugin.resource.connected = true;
    plugin.resource.devices.clear();
    for (const auto& device : list.devices()) plugin.resource.devices[device.id()] = device;
    ++plugin.resource.lists;
  }
  (void)reader->Finish();
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_[resource];
  if (plugin.stream != context) return;
  plugin.resource.connected = false;  // all its devices count as unhealthy from now on
  for (auto& [id, device] : plugin.resource.devices) device.set_health("Unhealthy");
}

Kubelet::Resource Kubelet::of(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = plugins_.find(resource);
  return found == plugins_.end() ? Resource() : found->second.resource;
}

std::size_t Kubelet::healthy(const std::string& resource) const {
  std::size_t count = 0;
  const Resource seen = of(resource);
  for (const auto& [id, device] : seen.devices) count += device.health() == "Healthy" ? 1U : 0U;
  return count;
}

std::size_t Kubelet::capacity(const std::string& resource) const { return of(resource).devices.size(); }

std::set<std::string> Kubelet::resources() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& [name, plugin] : plugins_) names.insert(name);
  return names;
}

v1beta1::DevicePluginOptions Kubelet::options_of(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return plugins_.at(resource).options;
}

v1beta1::DevicePlugin::Stub* Kubelet::stub_of(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  const auto found = plugins_.find(resource);
  return found == plugins_.end() ? nullptr : found->second.stub.get();
}

std::vector<std::string> Kubelet::prefer(const std::string& resource, const std::vector<std::string>& available,
                                         int size) {
  v1beta1::PreferredAllocationRequest request;
  auto* const desired = request.add_container_requests();
  for (const std::string& id : available) desired->add_available_deviceids(id);
  desired->set_allocation_size(size);
  grpc::ClientContext context;
  context.set_deadline(in_seconds(20));
  v1beta1::PreferredAllocationResponse response;
  const auto status = stub_of(resource)->GetPreferredAllocation(&context, request, &response);
  if (!status.ok() || response.container_responses_size() != 1) return {};
  const auto& ids = response.container_responses(0).deviceids();
  return {ids.begin(), ids.end()};
}

Kubelet::Allocated Kubelet::allocate(const std::string& resource, unsigned count) {
  std::vector<std::string> free;
  {
    const std::lock_guard lock(mutex_);
    const auto found = plugins_.find(resource);
    if (found == plugins_.end()) return {{grpc::StatusCode::NOT_FOUND, "cannot allocate unregistered device"}, {}, {}};
    for (const auto& [id, device] : found->second.resource.devices)
      if (device.health() == "Healthy" && !used_.contains(id)) free.push_back(id);
  }
  if (free.size() < count) return {{grpc::StatusCode::RESOURCE_EXHAUSTED, "not enough devices"}, {}, {}};
  std::vector<std::string> ids = prefer(resource, free, static_cast<int>(count));
  std::erase_if(ids, [&free](const std::string& id) { return std::ranges::find(free, id) == free.end(); });
  for (const std::string& id : free)
    if (ids.size() < count && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  ids.resize(count);
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& id : ids) used_.emplace(id, resource);
  }
  Allocated allocated = allocate_ids(resource, ids);
  if (!allocated.status.ok()) this->free(ids);
  return allocated;
}

Kubelet::Allocated Kubelet::allocate_ids(const std::string& resource, const std::vector<std::string>& ids) {
  v1beta1::AllocateRequest request;
  auto* const container = request.add_container_requests();
  for (const std::string& id : ids) container->add_devices_ids(id);
  grpc::ClientContext context;
  context.set_deadline(in_seconds(20));
  v1beta1::AllocateResponse response;
  Allocated allocated;
  allocated.status = stub_of(resource)->Allocate(&context, request, &response);
  allocated.ids = ids;
  if (response.container_responses_size() == 1) allocated.response = response.container_responses(0);
  if (!release_.takes_cdi_devices) allocated.response.clear_cdi_devices();
  return allocated;
}

void Kubelet::free(const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  for (const std::string& id : ids) used_.erase(id);
}

void Kubelet::refuse(std::string why) {
  const std::lock_guard lock(mutex_);
  refusal_ = std::move(why);
}

void Kubelet::drop_stream(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  plugins_.at(resource).stream->TryCancel();
}

}  // namespace slipway::testing
