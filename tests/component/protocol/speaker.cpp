// SPDX-License-Identifier: Apache-2.0
// tests/component/protocol/speaker.cpp - a component that uses every feature of the plugin protocol.
#include <fstream>

#include <slipway/commands.hpp>
#include <slipway/importer.hpp>
#include <slipway/plugin.hpp>

#include "tests/component/service/ticking.hpp"

namespace slipway::speaker {

class Tools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override {
    return {{"say",
             "says it",
             {.call = "slipway speaker say",
              .usage = "[options] WORD…",
              .about = "Says it.",
              .notes = "Not loud.",
              .options = {{.name = "voice",
                           .value = "high|low",
                           .help = "how it sounds",
                           .letter = 'V',
                           .variables = {"SPEAKER_VOICE"},
                           .aliases = {"tone"},
                           .repeats = true},
                          {.name = "root", .value = "DIR", .help = "where it is heard", .required = true},
                          {.name = "cache", .value = "DIR"},
                          {.name = "loud"}},
              .least_arguments = 1,
              .most_arguments = kAnyNumber,
              .examples = {"slipway speaker say hello"},
              .last_counts = true,
              .empty_variables = true}}};
  }
  Result<int> run(std::string_view, const CommandWords& words, const Host&, ToolIo& io) const override {
    for (const std::string& word : words.arguments) io.print(word + "\n");
    for (const std::string& voice : words.texts("voice")) io.print(voice + "\n");
    io.log("said");
    io.progress("saying", words.arguments.size(), words.arguments.size());
    const auto refused = io.core("dance", {{"how", "slowly"}});
    return refused ? 1 : static_cast<int>(words.values.size() + words.arguments.size());
  }
};

class FromPolicy final : public Importer {
 public:
  Result<Section> import(std::string_view api_version, std::string_view kind, const Json& document) const override {
    if (kind != "ClusterPolicy") return Error{ErrorCode::unsupported, "cannot read " + std::string(kind), {}, {}, {}};
    return Section{{{"text", document.value("text", "") + " " + std::string(api_version)}}, {"spec.other: not known"}};
  }
};

class Speaker final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host& host) const override {
    Facts facts;
    facts.set("release", host.read("/etc/os-release").value_or("none"));
    facts.set("list", {"one", "two"});
    facts.set_volatile("temperature", 40);
    return facts;
  }

  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override {
    Plan plan;
    if (!spec.flag("live")) add_all(spec, plan);
    plan.add(
        action::custom({.name = "speak",
                        .data = {{"text", spec.text("text")}, {"arch", inputs.target().arch.empty() ? "" : "known"}},
                        .inverse = {{"text", ""}},
                        .irreversible = {}}));
    plan.output("said", spec.text("text") + facts.text("release"));
    plan.output("loud", false);
    plan.note("it speaks");
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host&) const override {
    Findings findings;
    findings.pass("speaker.text", "it says " + spec.text("text"));
    findings.add({Finding::Status::warning, "speaker.voice", "hoarse", "drink tea", "speaker.throat"});
    findings.not_applicable("speaker.stage", "there is none");
    findings.not_exercised("speaker.echo", "nobody listens");
    return findings;
  }

  Result<Findings> diagnose(const Spec&, const Host&) const override {
    Findings findings;
    findings.fail("speaker.silence", "it was too quiet", "speak up");
    return findings;
  }

  Result<bool> check(const Action& action, const Host& host) const override {
    return host.read("/etc/spoken").value_or("") == action.value("data").value("text", "");
  }

  Result<Outcome> apply(const Action& action, const Host& host) const override {
    std::ofstream(host.root_folder() + "/etc/spoken") << action.value("data").value("text", "");
    return Outcome::done();
  }

  const Commands* commands() const override { return &tools_; }
  const Importer* importer() const override { return &importer_; }
  Service* service() override { return &service_; }

 private:
  static void add_all(const Spec& spec, Plan& plan) {
    plan.add(action::file({.path = "/etc/speaker/text", .content = spec.text("text") + "\n", .mode = 0640}))
        .triggers({"reload:speaker.service"})
        .because("somebody asked");
    plan.add(action::file({.path = "/etc/speaker/raw", .content = "x", .on_drift = "replace"}));
    plan.add(action::directory("/srv/speaker", 0750));
    plan.add(action::symlink("/etc/speaker/link", "text"));
    plan.add(action::remove("/etc/mute"));
    plan.add(
        action::merge({.path = "/etc/voice.json", .format = "json", .set = {{"a", {{"b", 1}}}, {"gone", nullptr}}}));
    plan.add(action::systemd_unit({.name = "speaker.service",
                                   .content = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
                                   .enabled = true,
                                   .started = false}));
    plan.add(action::kernel_module("speaker", {"volume=11"}, "1.0"));
    plan.add(action::device_node({.path = "/dev/speaker", .major_of = "speaker", .minor = 7}));
    plan.add(action::device_node({.path = "/dev/speaker0", .major = 195, .minor = 0, .mode = 0660}));
    plan.add(action::exec(
        {.name = "tune", .argv = {"/bin/true"}, .check = {"/bin/test", "-e", "/etc/tuned"}, .undo = {"/bin/true"}}));
  }
  Tools tools_;
  FromPolicy importer_;
  ticker::Ticking service_;
};

}  // namespace slipway::speaker

SLIPWAY_PLUGIN(slipway::component<slipway::speaker::Speaker>("speaker"))
