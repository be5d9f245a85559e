// SPDX-License-Identifier: Apache-2.0
// The attacks of pods in the folder that they share with the MPS control daemon, and their results.
#include <algorithm>
#include <array>

#include <fcntl.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "deviceplugin/service/mps/daemon.hpp"
#include "deviceplugin/service/mps/pipe/pipe_folder.hpp"
#include "tests/component/deviceplugin/held.hpp"
#include "tests/component/deviceplugin/mps_node.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using deviceplugin::MpsBudget;
using deviceplugin::MpsDaemon;
using deviceplugin::MpsProgram;
using deviceplugin::MpsSettings;
using slipway::testing::eventually;
using slipway::testing::Held;
using slipway::testing::kGpuResource;
using slipway::testing::Mps;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

/// True when a program that opens the pipe without further flags blocks.
bool delays_units(const fs::path& fifo) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC) < 0 ? 1 : 0);
  std::this_thread::sleep_for(300ms);
  const bool waits = ::waitpid(child, nullptr, WNOHANG) == 0;
  ::kill(child, SIGKILL);
  if (waits) ::waitpid(child, nullptr, 0);
  return waits;
}

/// Replaces the file like a pod: creates the FIFO beside it, and renames it over the file.
void put_fifo(const fs::path& over) {
  const fs::path fresh = over.string() + ".fresh";
  ASSERT_EQ(::mkfifo(fresh.c_str(), 0666), 0);
  fs::rename(fresh, over);
}

bool runs(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto close = text.rfind(") ");
  return close != std::string::npos && text[close + 2] != 'Z';
}

// Before the fix, a program that opened a pipe under the lock's name blocked for good, even after a restart.
TEST_F(Mps, APipeAtTheNameOfTheLockDoesNotBlock) {
  const auto lock = node_.host().path(kFolder + "pipe/control_lock");
  fs::create_directories(lock.parent_path());
  put_fifo(lock);
  ASSERT_TRUE(delays_units(lock));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  put_fifo(lock);
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != first && kubelet_.healthy(kGpuResource) == 8; }))
      << service.log();
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
  EXPECT_TRUE(says(service, "look for the pod that writes in")) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

// Before the fix, a daemon without its lock was not found, kept running, and blocked the next one's start.
TEST_F(Mps, AnAdoptedDaemonEndsWhenItsLockIsRemoved) {
  const auto lock = node_.host().path(kFolder + "pipe/control_lock");
  pid_t first = 0;
  {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    first = daemon();
    node_.host().put(kFolder + "pipe/servers", "4711\n");
    node_.host().put(kFolder + "pipe/clients", "4712\n");
    service.signal(SIGKILL);
    (void)service.exit_code();
  }
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  ASSERT_EQ(daemon(), first);
  put_fifo(lock);
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != first && kubelet_.healthy(kGpuResource) == 8; }))
      << service.log();
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
}

TEST_F(Mps, ADaemonWithoutFilesEndsBeforeTheNextOneStarts) {
  pid_t first = 0;
  {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    first = daemon();
    node_.host().put(kFolder + "pipe/servers", "4711\n");
    node_.host().put(kFolder + "pipe/clients", "4712\n");
    service.signal(SIGKILL);
    (void)service.exit_code();
  }
  for (const auto& entry : fs::directory_iterator(node_.host().path(kFolder + "pipe"))) fs::remove_all(entry);
  ASSERT_TRUE(runs(first));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_NE(daemon(), first);
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
}

// Before the fix, a non-empty folder in place of the lock was never removed, and the daemon followed a link as root.
TEST_F(Mps, FilesOfPodsAreRemovedBeforeTheDaemonStarts) {
  node_.host().put(kFolder + "pipe/control_lock/deep/file", "");
  const auto outside = node_.host().path("outside");
  node_.host().put("outside", "text");
  fs::permissions(outside, fs::perms(0600));
  fs::create_symlink(outside, node_.host().path(kFolder + "pipe/log"));
  fs::create_symlink("/nowhere", node_.host().path(kFolder + "pipe/control"));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_EQ(fs::status(outside).permissions(), fs::perms(0600)) << "the daemon followed the link";
  EXPECT_EQ(node_.host().text("outside"), "text");
}

/// Another program with the daemon's command line that holds the lock and listens: a pod can run one.
class Impostor {
 public:
  Impostor(const fs::path& folder, const std::string& file) : pipe_(folder / "pipe") {
    const std::string pipe = "CUDA_MPS_PIPE_DIRECTORY=" + pipe_.string();
    const std::string log = "CUDA_MPS_LOG_DIRECTORY=" + (folder / "impostor-log").string();
    for (const char* name : {"pipe", "impostor-log"}) fs::create_directories(folder / name);
    fs::copy_file(SLIPWAY_MPS_STAND_IN, file);
    std::string name = SLIPWAY_MPS_STAND_IN;
    std::string option = "-f";
    char* const argv[] = {name.data(), option.data(), nullptr};
    char* const environment[] = {const_cast<char*>(pipe.c_str()), const_cast<char*>(log.c_str()), nullptr};
    if (::posix_spawn(&pid_, file.c_str(), nullptr, nullptr, argv, environment) != 0) pid_ = -1;
    EXPECT_TRUE(pid_ < 0 || eventually([&] { return fs::exists(pipe_ / "daemon"); }));
  }
  ~Impostor() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;
  pid_t pid() const { return pid_; }
  bool alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  fs::path pipe_;
  pid_t pid_ = -1;
};

/// Returns the stand-in for the program, with the folders of this host.
MpsProgram program_in(const ScratchHost& host) {
  return {.path = SLIPWAY_MPS_STAND_IN,
          .libraries = {},
          .root = host.path("run/nvidia/mps"),
          .look = SLIPWAY_TEST_PLUGINS "/deviceplugin-empty",
          .live = false};
}

TEST_F(Mps, AProcessThatOnlyLooksLikeTheDaemonIsNeitherUsedNorStopped) {
  const Impostor impostor(node_.host().path(kFolder), node_.host().path("impostor"));
  ASSERT_GT(impostor.pid(), 0);
  ASSERT_TRUE(send_to_mps_daemon(program_in(node_.host()), kGpuResource, "get_server_list", 20s).ok())
      << "commands reach it";
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_NE(daemon(), impostor.pid());
  EXPECT_THAT(service.log(), Not(HasSubstr("took over")));
  service.signal(SIGKILL);
  (void)service.exit_code();
  node_.spec("{quiet_seconds: 1}");
  RunningService next(node_.host(), node_.words());
  ASSERT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 2; })) << next.log();
  next.signal(SIGTERM);
  EXPECT_EQ(next.exit_code(), 0) << next.log();
  EXPECT_TRUE(impostor.alive());
}

// A pod in the host's pid namespace can run a program of that name as root.
TEST_F(Mps, AProgramOfTheSameNameFromAnotherFileSystemIsNotTheDaemon) {
  const fs::path folder = "/dev/shm/slipway-mps-" + std::to_string(::getpid());
  fs::create_directories(folder);
  {
    const Impostor impostor(node_.host().path(kFolder), folder / fs::path(SLIPWAY_MPS_STAND_IN).filename());
    fs::remove_all(folder);
    if (impostor.pid() < 0) GTEST_SKIP() << "no program may be run from /dev/shm";
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    EXPECT_NE(daemon(), impostor.pid());
    EXPECT_TRUE(impostor.alive());
  }
}

TEST_F(Mps, ASocketInThePlaceOfTheDaemonsIsNotContacted) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  const auto fresh = node_.host().path(kFolder + "pipe/fresh");
  const int listening = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const sockaddr_un address = slipway::testing::socket_address(fresh);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening, 1), 0);
  fs::rename(fresh, node_.host().path(kFolder + "pipe/control_privileged"));
  node_.spec("{quiet_seconds: 1, config: {version: v1, sharing: {mps: {replicas: 2}}}}");
  service.signal(SIGHUP);
  EXPECT_TRUE(says(service, "another process has replaced the socket")) << service.log();
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != first && kubelet_.healthy(kGpuResource) == 4; }))
      << service.log();
  ::close(listening);
}

/// The daemon without its service; it is told how long each command takes.
class MpsCommands : public ::testing::Test {
 protected:
  ~MpsCommands() override { end_mps_daemons(program_, kGpuResource); }
  void SetUp() override {
    ASSERT_TRUE(eventually([&] {
      daemon_.tick(settings_, MpsBudget(20s));
      return daemon_.ready();
    })) << daemon_.problem();
    fs::remove(host_.path(kFolder + "log/asked"));
  }
  void put(const std::string& name, const std::string& text) const { host_.put(kFolder + name, text); }
  std::size_t asked() const {
    const std::string text = host_.text(kFolder + "log/asked");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  static std::string numbers(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "1\n";
    return text;
  }

  const std::string kFolder = "run/nvidia/mps/nvidia.com/gpu/";
  ScratchHost host_;
  MpsProgram program_ = program_in(host_);
  MpsSettings settings_{.gpus = {"GPU-0"}, .limits = {{0, 1024}}, .thread_percentage = 50};
  MpsDaemon daemon_{program_, kGpuResource, [](const char*, const std::string&) {}};
};

TEST_F(MpsCommands, QueryOnlySomeOfManyServers) {
  put("pipe/servers", numbers(1'000));
  EXPECT_FALSE(daemon_.stop_when_idle(MpsBudget(1h))) << "so many have clients";
  EXPECT_LE(asked(), 65U);
}

TEST_F(MpsCommands, AnAnswerThatIsTooLongIsRefused) {
  put("pipe/servers", numbers(deviceplugin::kMostAnswerBytes / 2));
  EXPECT_TRUE(send_to_mps_daemon(program_, kGpuResource, "get_server_list", 20s).ok());
  put("pipe/servers", numbers(deviceplugin::kMostAnswerBytes / 2 + 1));
  const auto answer = send_to_mps_daemon(program_, kGpuResource, "get_server_list", 20s);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::timed_out);
  EXPECT_FALSE(daemon_.stop_when_idle(MpsBudget(1h)));
}

TEST_F(MpsCommands, AServerThatIsNotANumberIsIgnored) {
  put("pipe/servers", std::string(50'000, '1'));
  EXPECT_FALSE(daemon_.stop_when_idle(MpsBudget(1h)));
  EXPECT_EQ(asked(), 1U);
}

TEST_F(MpsCommands, TakeNoLongerThanTheBudgetOfATurn) {
  put("pipe/servers", numbers(40));
  put("log/slow", "500");
  EXPECT_FALSE(daemon_.stop_when_idle(MpsBudget(2s)));
  EXPECT_LE(asked(), 5U);
  put("log/slow", "0");
  EXPECT_TRUE(daemon_.stop_when_idle(MpsBudget(1h))) << "none of them has a client";
}

TEST_F(MpsCommands, ThatDoNotFitIntoATurnRunInTheNext) {
  settings_.limits.clear();
  for (unsigned i = 0; i < 6; ++i) settings_.limits.push_back({i, 2048});
  put("log/slow", "400");
  put("log/commands", "");
  // The turns grow, so that one of them is long enough on any machine. Each turn must continue where the last one
  // ended.
  std::chrono::milliseconds turn = 1500ms;
  int turns = 0;
  const auto commands = [&] { return host_.text(kFolder + "log/commands"); };
  while (!commands().ends_with("percentage 50\n") && turns++ < 12) {
    daemon_.tick(settings_, MpsBudget(turn));
    turn += turn / 2;
  }
  EXPECT_GT(turns, 1) << commands();
  std::vector<unsigned> told;
  for (std::size_t at = 0; (at = commands().find("mem_limit ", at)) != std::string::npos; at += 10)
    told.push_back(static_cast<unsigned>(commands()[at + 10] - '0'));
  EXPECT_TRUE(std::ranges::is_sorted(told)) << commands();
  EXPECT_TRUE(std::ranges::includes(told, std::vector<unsigned>{0, 1, 2, 3, 4, 5})) << commands();
  EXPECT_TRUE(eventually([&] {
    daemon_.tick(settings_, MpsBudget(1h));
    return daemon_.ready();
  })) << daemon_.problem();
}

class PipeFolder : public ::testing::Test {
 protected:
  fs::path aside(int number) const { return deviceplugin::aside_name(folder_, number); }

  ScratchHost host_;
  const fs::path folder_ = host_.path("nvidia.com/gpu");
};

/// Runs as in the device plugin's unit, without privileges over other users' files. @return true when it worked
bool recreate_without_capabilities(const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, 2> none{};
    const bool given_up = ::syscall(SYS_capset, &header, none.data()) == 0;
    ::_exit(given_up && deviceplugin::renew_resource_folder(folder).ok() ? 0 : 1);
  }
  int status = 1;
  return eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }) && status == 0;
}

// A pod is root in its container, and owns the folder: before the fix, an unreadable folder was taken for empty.
TEST_F(PipeFolder, ThatAPodLockedIsMovedAside) {
  host_.put("nvidia.com/gpu/pipe/closed/file", "");
  ASSERT_EQ(::chmod((folder_ / "pipe/closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod((folder_ / "pipe").c_str(), 0), 0);
  ASSERT_TRUE(recreate_without_capabilities(folder_));
  EXPECT_FALSE(fs::exists(folder_ / "pipe"));
  EXPECT_TRUE(fs::exists(aside(0) / "pipe/closed/file"));
}

TEST_F(PipeFolder, ThatAPodChownedIsMovedAside) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  fs::create_directories(folder_ / "pipe");
  ASSERT_EQ(::chown((folder_ / "pipe").c_str(), 1000, 1000), 0);
  ASSERT_TRUE(recreate_without_capabilities(folder_));
  EXPECT_FALSE(fs::exists(folder_ / "pipe"));
  EXPECT_TRUE(fs::exists(aside(0) / "pipe"));
}

TEST_F(PipeFolder, KeepsTheFilesBesideIt) {
  host_.put("nvidia.com/gpu/pipe/file", "");
  host_.put("nvidia.com/gpu/gpus", "GPU-0\n");
  host_.put("nvidia.com/gpu/log/control.log", "Starting control daemon\n");
  ASSERT_TRUE(deviceplugin::renew_resource_folder(folder_).ok());
  EXPECT_EQ(host_.text("nvidia.com/gpu/gpus"), "GPU-0\n");
  EXPECT_EQ(host_.text("nvidia.com/gpu/log/control.log"), "Starting control daemon\n");
}

// Before the fix, the service's thread removed its contents, was blocked by the pod, and could not be killed.
TEST_F(PipeFolder, ThatAPodKeepsLockedDoesNotBlock) {
  host_.put("nvidia.com/gpu/pipe/file", "");
  const Held folder(folder_ / "pipe");
  const Held file(folder_ / "pipe/file");
  if (!folder || !file) GTEST_SKIP() << "the kernel gives nobody such memory";
  EXPECT_TRUE(recreate_without_capabilities(folder_));
  EXPECT_FALSE(fs::exists(folder_ / "pipe"));
}

TEST_F(PipeFolder, IsMovedAsideALimitedNumberOfTimes) {
  constexpr int kMost = 64;
  for (int i = 0; i < kMost; ++i) {
    host_.put("nvidia.com/gpu/pipe/file", "");
    ASSERT_TRUE(deviceplugin::renew_resource_folder(folder_).ok());
  }
  host_.put("nvidia.com/gpu/pipe/file", "");
  const Status full = deviceplugin::renew_resource_folder(folder_);
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().next, HasSubstr("end the pods"));
  fs::remove_all(aside(kMost / 2));
  EXPECT_TRUE(deviceplugin::renew_resource_folder(folder_).ok());
}

constexpr const char* kOneShared =
    "{quiet_seconds: 1, config: {version: v1, sharing: {mps: {resources: "
    "[{name: nvidia.com/gpu, devices: [0], replicas: 4, rename: nvidia.com/gpu.shared}]}}}}";

class HeldPipe : public Mps {
 protected:
  HeldPipe() { node_.spec(kOneShared); }
  ~HeldPipe() override {
    if (const pid_t daemon = daemon_of_shared(); daemon > 0) ::kill(daemon, SIGKILL);
  }
  /// The service waits half a minute for a check before it gives a folder up.
  bool shared(std::size_t replicas) const {
    const auto holds = [&] { return kubelet_.healthy("nvidia.com/gpu.shared") == replicas; };
    return eventually(holds) || eventually(holds) || eventually(holds) || eventually(holds);
  }
  fs::path pipe() const { return node_.host().path("run/nvidia/mps/nvidia.com/gpu.shared/pipe"); }
  pid_t daemon_of_shared() const {
    return std::atoi(node_.host().text("run/nvidia/mps/nvidia.com/gpu.shared/pipe/daemon").c_str());
  }
};

// Before the fix, the service's watchdog could not end the service, because the kernel blocked its thread.
TEST_F(HeldPipe, OfOneResourceDoesNotBlockOthers) {
  fs::create_directories(pipe());
  Held pod(pipe());
  if (!pod) GTEST_SKIP() << "the kernel gives nobody such memory";
  ASSERT_TRUE(pod.queue(pipe() / "queued"));
  RunningService service(node_.host(), node_.words());
  EXPECT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 1; })) << service.log();
  EXPECT_TRUE(shared(4)) << "in a new folder: " << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

// Before the fix, the service was also blocked if the pod started later, and a looked-up name was missing.
TEST_F(HeldPipe, OfARunningDaemonIsReplacedAtTheNextLook) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(shared(4)) << service.log();
  const pid_t first = daemon_of_shared();
  fs::remove(pipe() / "control_privileged");
  Held pod(pipe());
  if (!pod) GTEST_SKIP() << "the kernel gives nobody such memory";
  ASSERT_TRUE(pod.queue(pipe() / "queued"));
  std::string other = kOneShared;
  node_.spec(other.replace(other.find("replicas: 4"), 11, "replicas: 2"));
  service.signal(SIGHUP);
  EXPECT_TRUE(shared(2)) << service.log();
  EXPECT_NE(daemon_of_shared(), first);
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
}

}  // namespace
}  // namespace slipway
