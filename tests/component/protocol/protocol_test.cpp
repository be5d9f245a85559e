// SPDX-License-Identifier: Apache-2.0
// tests/component/protocol/protocol_test.cpp - slipway and plugins exchange the messages of the golden files.
//
// golden/MAJOR.MINOR has one file for each operation: {request, status, reply, says}. A difference from the files of
// the present version means that slipway may no longer understand existing plugins. A change that only adds (a member
// that older versions ignore, an operation) is a new minor version with golden files of its own, and those of the older
// versions stay. Any other change is a new major version. While a minor version is not released yet,
// SLIPWAY_WRITE_GOLDEN=1 in this test's environment writes its files again.
#include <dlfcn.h>
#include <slipway/abi.h>
#include <sys/utsname.h>

#include "tests/component/service/running_service.hpp"

namespace slipway {
namespace {

using testing::Control;
using testing::RunningService;
using testing::ScratchHost;
namespace fs = std::filesystem;

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Replaces texts of a document that differ between runs by names.
void settle(Json& value, const std::vector<std::pair<std::string, std::string>>& names) {
  if (value.is_structured())
    for (Json& member : value) settle(member, names);
  if (!value.is_string()) return;
  auto text = value.get<std::string>();
  for (const auto& [from, to] : names)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  value = text;
}

/// True when it has everything in `wanted`; lists must be equal.
bool has_all(const Json& value, const Json& wanted) {
  if (!wanted.is_object()) return value == wanted;
  if (!value.is_object()) return false;
  for (const auto& [name, member] : wanted.items())
    if (!value.contains(name) || !has_all(value[name], member)) return false;
  return true;
}

class Protocol : public ::testing::Test {
 protected:
  Protocol() {
    host_.put("etc/os-release", "ID=debian\n");
    host_.put("lib/modules/6.1.0-9/modules.dep", "");
    host_.put("etc/mute", "shh\n");
    host_.put("etc/voice.json", "{\"gone\": 1, \"kept\": true}\n");
    section("{}");
  }

  void section(const std::string& keys) const { host_.spec("    speaker: " + keys + "\n"); }
  std::string log() const { return host_.folder().at("tap.log").string(); }
  std::string golden(const std::string& op) const { return std::string(PROTOCOL_GOLDEN) + "/" + op + ".json"; }

  /// Returns the first recorded call of each operation.
  std::map<std::string, Json> calls() const {
    std::map<std::string, Json> all;
    utsname machine{};
    ::uname(&machine);
    std::istringstream lines(text_of(log()));
    for (std::string line; std::getline(lines, line);) {
      Json call = Json::parse(line);
      settle(call, {{host_.folder().at("root").string(), "ROOT"},
                    {host_.folder().at("").string(), "FOLDER/"},
                    {machine.machine, "ARCH"}});
      const std::string op = call["op"];
      call.erase("op");
      if (op.starts_with("service")) call.erase("says");  // the call in which they arrive is random
      all.emplace(op, std::move(call));
    }
    return all;
  }

  ScratchHost host_;
};

/// The tap is between slipway and the speaker.
class Tapped : public Protocol {
 protected:
  Tapped() {
    ::setenv("PROTOCOL_TAP_TARGET", PROTOCOL_SPEAKER, 1);
    ::setenv("PROTOCOL_TAP_LOG", log().c_str(), 1);
  }

  /// Makes every request of slipway.
  void ask_all() {
    const auto applied = host_.slipway({"apply", "--yes"});
    ASSERT_EQ(applied.code, 0) << applied.err;
    ASSERT_EQ(host_.slipway({"verify", "-f", host_.folder().at("host.yaml").string()}).code, 0);
    host_.slipway({"doctor", "-f", host_.folder().at("host.yaml").string()});
    ASSERT_EQ(host_.slipway({"speaker", "say", "one", "--tone=low", "-V", "high", "two"}).code, 5)
        << "all options are the tool's, --root too";
    ask_service();
    section("{live: true}");
    host_.live = true;
    const auto done = host_.slipway({"apply", "--yes"});
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(host_.text("etc/spoken"), "spoken");
  }

  void ask_service() {
    section("{file: " + host_.folder().at("ticks").string() + "}");
    RunningService service(host_, {"service", "speaker", "-f", host_.folder().at("host.yaml").string()});
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    const Control control(host_.path("run/slipway/service/speaker.sock").string());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    ASSERT_EQ(control.ask(R"({"op":"resume"})")["ok"], true);
    service.signal(SIGTERM);
    ASSERT_EQ(service.exit_code(), 0) << service.log();
  }
};

TEST_F(Tapped, MatchesTheGoldenFiles) {
  ask_all();
  const auto output = calls();
  for (const char* op : {"detect", "plan", "check", "apply", "verify", "diagnose", "tools", "tool", "service",
                         "service.quiesce", "service.resume", "service.stop"}) {
    ASSERT_TRUE(output.contains(op)) << "slipway never asks for " << op;
    if (std::getenv("SLIPWAY_WRITE_GOLDEN") != nullptr) std::ofstream(golden(op)) << pretty(output.at(op));
    const Json wanted = Json::parse(text_of(golden(op)), nullptr, false);
    EXPECT_EQ(output.at(op), wanted) << op << " differs from " << golden(op) << ":\n"
                                     << Json::diff(wanted, output.at(op)).dump(1);
  }
}

TEST_F(Protocol, ThePluginsNoteMatchesTheGoldenFile) {
  const std::string file = host_.folder().at("note").string();
  const std::string command =
      std::string("objcopy -O binary --only-section=.note.slipway ") + PROTOCOL_SPEAKER + " " + file;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string golden = std::string(PROTOCOL_GOLDEN) + "/note.bin";
  if (std::getenv("SLIPWAY_WRITE_GOLDEN") != nullptr) fs::copy_file(file, golden, fs::copy_options::overwrite_existing);
  EXPECT_EQ(text_of(file), text_of(golden));
}

TEST_F(Protocol, APluginOfThisMinorVersionStillWorks) {
  host_.plugins = PROTOCOL_PLAYED;
  const auto applied = host_.slipway({"apply", "--yes"});
  ASSERT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(host_.text("etc/speaker/text"), "spoken\n");
  EXPECT_EQ(fs::read_symlink(host_.path("etc/speaker/link")), "text");
  EXPECT_EQ(fs::status(host_.path("srv/speaker")).permissions(), fs::perms(0750));
  EXPECT_FALSE(fs::exists(host_.path("etc/mute")));
  EXPECT_EQ(Json::parse(host_.text("etc/voice.json")), Json({{"a", {{"b", 1}}}, {"kept", true}}));
  EXPECT_TRUE(fs::exists(host_.path("etc/systemd/system/speaker.service")));
  const auto again = host_.slipway({"plan"});
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(host_.slipway({"verify", "-f", host_.folder().at("host.yaml").string()}).code, 0);
  const auto removed = host_.slipway({"remove", "--all", "--yes"});
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(host_.text("etc/mute"), "shh\n");
  EXPECT_EQ(host_.text("etc/voice.json"), "{\"gone\": 1, \"kept\": true}\n");
}

/// Calls today's SDK like the slipway of the golden files.
TEST_F(Protocol, ASlipwayOfThisMinorVersionStillWorks) {
  struct Copy {
    std::string text;
    static void write(void* context, const char* json, std::size_t length) {
      static_cast<Copy*>(context)->text.assign(json, length);
    }
  };
  void* const library = ::dlopen(PROTOCOL_SPEAKER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto open = reinterpret_cast<slipway_plugin_open_fn>(::dlsym(library, SLIPWAY_ENTRY));
  slipway_services services{sizeof(slipway_services), nullptr,
                            [](void*, const char* op, const char*, std::size_t, const slipway_reply* reply) {
                              if (std::string(op) == "core") return int{SLIPWAY_UNSUPPORTED};
                              reply->write(reply->context, "null", 4);
                              return int{SLIPWAY_OK};
                            }};
  slipway_plugin plugin{sizeof(slipway_plugin), nullptr, nullptr};
  ASSERT_EQ(open(&services, &plugin), SLIPWAY_OK);
  for (const char* op : {"detect", "plan", "check", "verify", "diagnose", "tools", "tool", "import", "unknown"}) {
    const Json recorded = Json::parse(text_of(golden(op)));
    Json request = recorded["request"];
    settle(request, {{"ROOT", host_.folder().at("root").string()}});
    const std::string text = canonical(request);
    Copy copy;
    const slipway_reply reply{&copy, Copy::write};
    EXPECT_EQ(plugin.call(plugin.context, op, text.data(), text.size(), &reply), recorded["status"].get<int>()) << op;
    const Json answer = copy.text.empty() ? Json() : Json::parse(copy.text);
    EXPECT_TRUE(has_all(answer, recorded["reply"])) << op << "\n" << answer.dump(1);
  }
}

}  // namespace
}  // namespace slipway
