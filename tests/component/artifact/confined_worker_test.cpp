// SPDX-License-Identifier: Apache-2.0
// The attacks of an archive that takes over the worker that unpacks it: the same code in the same process, once before
// and once after slipway-artifact.so was told to confine itself.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <slipway/abi.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/program.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

/// The module as a worker uses it, in a separate process.
class Module {
 public:
  Module() {
    void* const library = ::dlopen(SLIPWAY_ARTIFACT_MODULE, RTLD_NOW | RTLD_LOCAL);
    const auto open = reinterpret_cast<slipway_plugin_open_fn>(::dlsym(library, SLIPWAY_ENTRY));
    open(&services_, &plugin_);
  }

  int ask(const char* op, const Json& request) {
    const std::string text = canonical(request);
    answer.clear();
    const slipway_reply reply{&answer, [](void* context, const char* json, std::size_t length) {
                                static_cast<std::string*>(context)->append(json, length);
                              }};
    return plugin_.call(plugin_.context, op, text.data(), text.size(), &reply);
  }

  std::string answer;

 private:
  static int hear(void*, const char*, const char*, std::size_t, const slipway_reply* reply) {
    reply->write(reply->context, "null", 4);
    return SLIPWAY_OK;
  }
  slipway_services services_{sizeof(slipway_services), nullptr, hear};
  slipway_plugin plugin_{sizeof(slipway_plugin), nullptr, nullptr};
};

/// Another idle process of root.
class Bystander {
 public:
  Bystander() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

bool has_landlock() {
  constexpr int kCreateRuleset = 444;  // landlock_create_ruleset(2), which returns the version here
  return ::syscall(kCreateRuleset, nullptr, 0, 1U) >= 2;
}

std::string effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) return line.substr(line.find_last_of("\t ") + 1);
  return "unknown";
}

/// Returns those of these socket families, by number, that can be created here.
std::string families_of(const std::vector<long>& asked) {
  std::string answered;
  for (const long family : asked)
    if (Fd(static_cast<int>(::syscall(SYS_socket, family, SOCK_DGRAM | SOCK_CLOEXEC, 0))) || errno != EAFNOSUPPORT)
      answered += std::to_string(family) + " ";
  return answered;
}

class ConfinedWorker : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"store", "cache", "beside"}) std::filesystem::create_directory(dir_ / folder);
    if (::geteuid() != 0) GTEST_SKIP() << "an attack shows something where it is root's";
    test::LayoutMaker layout(dir_ / "layout");
    const Json layer = layout.layer(test::tar_of({{.name = "f", .content = "hello"}}), "userspace");
    layout.list(layout.manifest({layer}), "1");
    stage_ = {{"source", {{"repository", layout.path()}, {"trust", "unsigned"}}},
              {"cache", dir_ / "cache"},
              {"layer", layer},
              {"into", dir_ / "store/out"}};
  }

  /// Returns the names of the attacks that succeed in a new process, after `prepare`.
  std::string attacks_that_succeed(const std::function<void()>& prepare) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      prepare();
      const auto tell = [&](const char* name, bool succeeds) {
        const std::string line = std::string(name) + " ";
        if (succeeds) (void)!::write(ends[1], line.data(), line.size());
      };
      const std::string beside = dir_ / "beside/";
      tell("write", ::open((beside + "written").c_str(), O_CREAT | O_WRONLY, 0600) >= 0);
      tell("rename", ::rename((dir_ / "cache").c_str(), (beside + "cache").c_str()) == 0);
      tell("node", ::mknod((beside + "node").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0);
      tell("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
      tell("local", ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
      int pair[2];
      tell("datagrams", ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0);
      tell("unmount",
           ::umount2(beside.c_str(), 0) != 0 && errno == EINVAL);  // with the permission: it is not a mount point
      tell("namespace", ::unshare(CLONE_NEWNS) == 0);
      tell("memory", ::process_vm_readv(::getpid(), nullptr, 0, nullptr, 0, 0) == 0);
      take_uncounted_memory(tell);
      attack_bystander(tell);
      tell("user", ::setuid(12345) == 0);
      ::close(ends[0]);
      ::dup2(ends[1], 1);
      ::execl("/bin/echo", "echo", "-n", "program", nullptr);
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string output;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) output += byte;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return output;
  }

  /// Takes memory and queues that outlive their creator and are charged to no process.
  static void take_uncounted_memory(const std::function<void(const char*, bool)>& tell) {
    const int memory = ::shmget(IPC_PRIVATE, 4096, 0600);
    tell("shmget", memory >= 0 && ::shmctl(memory, IPC_RMID, nullptr) == 0);
    const int semaphores = ::semget(IPC_PRIVATE, 1, 0600);
    tell("semget", semaphores >= 0 && ::semctl(semaphores, 0, IPC_RMID) == 0);
    const int messages = ::msgget(IPC_PRIVATE, 0600);
    tell("msgget", messages >= 0 && ::msgctl(messages, IPC_RMID, nullptr) == 0);
    tell("memfd", ::syscall(SYS_memfd_create, "memory", 0) >= 0);
  }

  void attack_bystander(const std::function<void(const char*, bool)>& tell) const {
    const pid_t other = bystander_.pid();
    tell("kill", ::kill(other, 0) == 0);
    tell("group", ::kill(-::getpgid(other), 0) == 0);
    tell("tkill", ::syscall(SYS_tkill, other, 0) == 0);
    tell("tgkill", ::syscall(SYS_tgkill, other, other, 0) == 0);
    siginfo_t info{};
    info.si_code = SI_QUEUE;
    tell("queue", ::syscall(SYS_rt_sigqueueinfo, other, 0, &info) == 0);
    tell("tgqueue", ::syscall(SYS_rt_tgsigqueueinfo, other, other, 0, &info) == 0);
    constexpr int kPidfdSendSignal = 424;
    constexpr int kPidfdOpen = 434;
    const long handle = ::syscall(kPidfdOpen, other, 0);
    tell("pidfd", ::syscall(kPidfdSendSignal, handle, 0, nullptr, 0) == 0);
    int ends[2];
    (void)!::pipe(ends);
    tell("owner", ::fcntl(ends[0], F_SETOWN, other) == 0);
    tell("number", ::fcntl(ends[0], F_SETSIG, SIGKILL) == 0);
    const rlimit limit{1024, 1024};
    tell("limit", ::prlimit(other, RLIMIT_NOFILE, &limit, nullptr) == 0);
    tell("nice", ::setpriority(PRIO_PROCESS, static_cast<id_t>(other), 1) == 0);
    cpu_set_t all;
    ::sched_getaffinity(other, sizeof(all), &all);
    tell("affinity", ::sched_setaffinity(other, sizeof(all), &all) == 0);
    sched_param none{};
    tell("scheduler", ::sched_setscheduler(other, SCHED_BATCH, &none) == 0);
    tell("ioprio", ::syscall(SYS_ioprio_set, 1, other, 0) == 0);
  }

  /// Returns the output of `work` in a process that has confined itself for this operation.
  std::string in_worker(const char* op, const Json& request, const std::function<std::string(Module&)>& work) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Module module;
      const bool confined = module.ask("confine", {{"op", op}, {"request", request}}) == SLIPWAY_OK;
      const std::string text = confined ? work(module) : "not confined: " + module.answer;
      (void)!::write(ends[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string output;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) output += byte;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? output + "signal " + std::to_string(WTERMSIG(status)) : output;
  }

  Json of_registry(const std::string& repository = "oci://127.0.0.1:1/none") const {
    return {{"source", {{"repository", repository}, {"trust", "unsigned"}}}, {"cache", dir_ / "cache"}};
  }

  const Bystander bystander_;
  test::TempDir dir_;
  Json stage_;
};

constexpr const char* kOfNobody = "shmget semget msgget memfd ";
constexpr const char* kOnBystander =
    "kill group tkill tgkill queue tgqueue pidfd owner number limit nice affinity scheduler ioprio ";

TEST_F(ConfinedWorker, ReachesNothingBesideTheStoreAndItsCache) {
  std::filesystem::create_directory(dir_ / "cache/kept");
  const std::string succeed = attacks_that_succeed([&] {
    Module module;
    if (module.ask("confine", {{"op", "stage"}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
  });
  EXPECT_EQ(succeed, has_landlock() ? "" : "write rename ");
  EXPECT_EQ(std::filesystem::exists(dir_ / "beside/written"), !has_landlock());
}

TEST_F(ConfinedWorker, WouldReachAllThatIfItWereNotConfined) {
  EXPECT_THAT(attacks_that_succeed([] { const Module module; }),
              testing::AllOf(testing::HasSubstr("write rename "),
                             testing::HasSubstr("socket local datagrams unmount namespace memory " +
                                                std::string(kOfNobody) + kOnBystander + "user program")));
}

// Before the fix, a missing cache folder was replaced by its nearest parent: with "--cache /data/x" and no /data, all
// of / was writable.
TEST_F(ConfinedWorker, WritesIntoAFolderThatWasNotThereAndNotIntoItsNearest) {
  if (!has_landlock()) GTEST_SKIP() << "the kernel has no Landlock to speak of";
  stage_["cache"] = dir_ / "missing/cache";
  const std::string written = in_worker("stage", stage_, [&](Module&) {
    const auto can_write = [&](const char* name) {
      return ::open((dir_ / name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0 ? std::string(name) + " " : "";
    };
    return can_write("missing/cache/a") + can_write("missing/b") + can_write("c") + can_write("store/d");
  });
  EXPECT_EQ(written, "missing/cache/a store/d ");
}

TEST_F(ConfinedWorker, HasTheCapabilitiesThatItsWorkNeedsAndNoOthers) {
  const auto capabilities = [](Module&) { return effective_capabilities(); };
  EXPECT_EQ(in_worker("stage", stage_, capabilities), "000000000000001b") << "CHOWN, DAC_OVERRIDE, FOWNER, FSETID";
  EXPECT_EQ(in_worker("build", {{"output", dir_ / "out"}}, capabilities), "000000000000001b");
  EXPECT_EQ(in_worker("inspect", stage_, capabilities), "0000000000000002") << "DAC_OVERRIDE, for others' layouts";
  EXPECT_EQ(in_worker("fetch", of_registry(), capabilities), "0000000000000000");
  std::filesystem::create_directory(dir_ / "mine");
  ASSERT_EQ(::chown((dir_ / "mine").c_str(), 12345, 12345), 0);
  Json pull = of_registry();
  pull["output"] = dir_ / "mine/file.tar";
  EXPECT_EQ(in_worker("pull", pull, capabilities), "0000000000000002") << "as with sudo, into somebody's own folder";
}

TEST_F(ConfinedWorker, MayStillAbort) {
  EXPECT_EQ(in_worker("stage", stage_,
                      [](Module&) -> std::string {
                        std::signal(SIGABRT, SIG_DFL);
                        const rlimit none{0, 0};
                        ::setrlimit(RLIMIT_CORE, &none);
                        std::abort();
                      }),
            "signal " + std::to_string(SIGABRT));
}

TEST_F(ConfinedWorker, StillUnpacks) {
  const pid_t child = ::fork();
  if (child == 0) {
    Module module;
    if (module.ask("confine", {{"op", "stage"}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
    if (module.ask("stage", stage_) != SLIPWAY_OK) {
      std::fputs(module.answer.c_str(), stderr);
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(test::file_text(dir_ / "store/out/f"), "hello");
}

TEST_F(ConfinedWorker, OfARegistryKeepsOnlyTheNetwork) {
  const std::string output = attacks_that_succeed([&] {
    Module module;
    if (module.ask("confine", {{"op", "fetch"}, {"request", of_registry()}}) != SLIPWAY_OK) ::_exit(1);
  });
  EXPECT_EQ(output, has_landlock() ? "socket " : "write rename socket ");
}

// It could otherwise reach virtual machines, and rarely used parts of the kernel.
TEST_F(ConfinedWorker, OfARegistryMakesOnlyNetworkSockets) {
  constexpr long kUnseen = 1L << 32;  // the kernel looks at an int
  std::vector<long> all;
  for (long family = 0; family < 64; ++family) all.push_back(family);
  all.push_back(kUnseen + AF_UNIX);
  const std::string confined = in_worker("fetch", of_registry(), [&](Module&) { return families_of(all); });
  const std::string with_ipv6 = families_of({AF_INET, AF_INET6, AF_NETLINK});  // the kernel may lack IPv6
  EXPECT_EQ(confined, with_ipv6);
  EXPECT_THAT(confined, testing::StartsWith("2 ")) << "AF_INET";
  // The kernel loads a module for other families on request.
  EXPECT_EQ(families_of({AF_UNIX, AF_PACKET, kUnseen + AF_UNIX}), "1 17 4294967297 ") << "where it is not confined";
}

TEST_F(ConfinedWorker, OfALayoutOrBundleNeverHasANetwork) {
  for (const char* op : {"catalogue", "fetch", "inspect", "pull"}) {
    const std::string output = attacks_that_succeed([&] {
      Module module;
      if (module.ask("confine", {{"op", op}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
    });
    EXPECT_THAT(output, testing::Not(testing::HasSubstr("socket"))) << op;
    EXPECT_THAT(output, testing::Not(testing::HasSubstr("program"))) << op;
  }
}

// The helper is root's own program, and may need any resource: files in a home folder, a keyring, an agent's socket.
TEST_F(ConfinedWorker, OfARegistryLogsInByAHelperThatIsNotConfined) {
  const test::SamplePackage package;
  const test::LayoutRegistry registry(
      package.layout, [](const test::ServedRequest& request) -> std::optional<test::ServedResponse> {
        if (request.target == "/v2/" || request.header("authorization") == "Basic c2xpcHdheTpnZWhlaW0=") return {};
        return test::ServedResponse{.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"r\""}}};
      });
  const std::string helper = dir_ / "docker-credential-own";
  test::write_file(helper, "#!/bin/sh\necho asked >> " + (dir_ / "beside/helper") +
                               "\necho '{\"Username\":\"slipway\",\"Secret\":\"geheim\"}'\n");
  ASSERT_EQ(::chmod(helper.c_str(), 0755), 0);
  test::write_file(dir_ / "config.json", R"({"credsStore": "own"})");
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (dir_.path() + ":" + path).c_str(), 1);
  Json request = of_registry(registry.repository());
  request["source"]["auth"] = dir_ / "config.json";
  const std::string answer = in_worker("inspect", request, [&](Module& module) {
    const bool twice = module.ask("inspect", request) == SLIPWAY_OK && module.ask("inspect", request) == SLIPWAY_OK;
    return twice ? std::string("read") : module.answer;
  });
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(answer, "read");
  EXPECT_EQ(test::file_text(dir_ / "beside/helper"), "asked\n") << "once, since it may ask somebody for a password";
}

// The worker reads foreign archives: work that it requests from slipway itself would run as root, unconfined.
TEST_F(ConfinedWorker, CannotSendRequestsToSlipway) {
  const std::string bin = dir_ / "prefix/bin";
  std::filesystem::create_directories(bin);
  for (const char* name : {"slipway", "slipway-engine", "slipway-worker"})
    std::filesystem::copy(std::string(SLIPWAY_BIN) + "/" + name, bin + "/" + name);
  std::filesystem::copy(SLIPWAY_HOSTILE_ARTIFACT_MODULE, bin + "/slipway-artifact.so");
  const std::string cache = dir_ / "cache";
  const test::ProgramOutput ran = test::run(bin + "/slipway pkg inspect --cache " + cache + " " + (dir_ / "layout"));
  EXPECT_THAT(ran.text, testing::HasSubstr("does not offer plugins the operation 'build.run'")) << "it did ask";
  EXPECT_FALSE(std::filesystem::exists(cache + "/made-by-the-core.log")) << ran.text;
}

}  // namespace
}  // namespace slipway::artifact
