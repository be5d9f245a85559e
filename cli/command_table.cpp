// SPDX-License-Identifier: Apache-2.0
// cli/command_table.cpp - every command, for the command line, --help, the manual page and the completions.
#include <algorithm>

#include "cli/command.hpp"

namespace slipway::core {
namespace {

/// These, and those that say which machine or image it is about, and how it is logged.
std::vector<std::string> on_machine(std::vector<std::string> options) {
  options.insert(options.end(), {"root", "live", "image", "sim", "log-format"});
  return options;
}

/// These, and those of what looks at a host as components do.
std::vector<std::string> on_host(std::vector<std::string> options) {
  options.insert(options.end(), {"kernel", "cache"});
  return on_machine(std::move(options));
}

std::vector<Command> plugin_verbs() {
  return {{.name = "list",
           .usage = "plugin list",
           .purpose = "the plugins that there are, and their components",
           .run = list_plugins,
           .examples = {"slipway plugin list", "slipway plugin list -v"},
           .options = {"output"}},
          {.name = "info",
           .usage = "plugin info FILE",
           .purpose = "what is in the file of a plugin",
           .run = describe_plugin,
           .examples = {"slipway plugin info build/acme.so", "slipway plugin info build/acme.so -o json"},
           .options = {"output"},
           .least_arguments = 1,
           .most_arguments = 1},
          {.name = "new",
           .usage = "plugin new NAME [--to FOLDER]",
           .purpose = "writes the first files of a plugin",
           .run = write_plugin,
           .examples = {"slipway plugin new acme", "slipway plugin new acme --to src/acme"},
           .options = {"output"},
           .own_options = {{"to", "FOLDER", "a folder that is new or empty (default: the plugin's name)"}},
           .least_arguments = 1,
           .most_arguments = 1},
          {.name = "check",
           .usage = "plugin check FILE [-f SPEC]",
           .purpose = "tries a plugin out on scratch roots; exit 1 when it is not fit for use",
           .run = check_plugin,
           .examples = {"slipway plugin check build/acme.so",
                        "slipway plugin check build/acme.so -f acme.yaml --sim h100x8"},
           .options = {"output", "sim"},
           .own_options = {{"file", "SPEC", "host spec to try it with (default: the manifest's defaults and examples)",
                            'f'},
                           {"root", "DIR", "root filesystem that the scratch roots are copies of"}},
           .least_arguments = 1,
           .most_arguments = 1}};
}

std::vector<Command> pkg_verbs() {
  const CommandOption tags{.name = "tag", .value = "TAG", .help = "only this tag", .repeats = true};
  return {
      {.name = "build",
       .usage = "pkg build DIR --to LAYOUT",
       .purpose = "packs a folder with package.yaml into an OCI layout",
       .run = run_pkg,
       .examples = {"slipway pkg build ./acme --to ./layout", "slipway pkg build ./acme --to ./layout --tag 1.2"},
       .options = {"log-format", "output"},
       .own_options = {{.name = "to", .value = "LAYOUT", .help = "layout folder to write", .required = true},
                       {.name = "tag", .value = "TAG", .help = "a further tag of the package", .repeats = true}},
       .least_arguments = 1,
       .most_arguments = 1},
      {.name = "push",
       .usage = "pkg push LAYOUT --to oci://HOST/NAME",
       .purpose = "copies the packages of a layout into a registry",
       .run = run_pkg,
       .examples = {"slipway pkg push ./layout --to oci://registry.example/driver",
                    "slipway pkg push ./layout --to oci://registry.example/driver --tag 1.2 -o json"},
       .options = {"ca", "insecure", "log-format", "output"},
       .own_options = {{.name = "to", .value = "REPOSITORY", .help = "oci:// repository to write", .required = true},
                       tags},
       .least_arguments = 1,
       .most_arguments = 1},
      {.name = "pull",
       .usage = "pkg pull SOURCE --to LAYOUT|FILE.tar",
       .purpose = "copies the packages of a source into a layout or a bundle",
       .run = run_pkg,
       .examples = {"slipway pkg pull oci://registry.example/driver --to ./layout",
                    "slipway pkg pull oci://registry.example/driver:550 --to driver.tar"},
       .options = {"ca", "cache", "insecure", "log-format", "output"},
       .own_options =
           {{.name = "to", .value = "LAYOUT|FILE.tar", .help = "layout folder or bundle to write", .required = true},
            tags},
       .least_arguments = 1,
       .most_arguments = 1},
      {.name = "inspect",
       .usage = "pkg inspect SOURCE",
       .purpose = "what a source offers: tags, digests, layers",
       .run = run_pkg,
       .examples = {"slipway pkg inspect ./layout", "slipway pkg inspect oci://registry.example/driver --tag 550"},
       .options = {"ca", "cache", "insecure", "log-format", "output"},
       .own_options = {{"tag", "TAG", "only this tag"}},
       .least_arguments = 1,
       .most_arguments = 1}};
}

/// The last ones are what the completions ask for while somebody types.
std::vector<Command> completion_verbs() {
  const auto script = [](const std::string& shell, const std::string& purpose, CommandRun run,
                         const std::string& into) {
    const std::string call = "slipway completion " + shell;
    return Command{
        .name = shell, .usage = "completion " + shell, .purpose = purpose, .run = run, .examples = {call + into, call}};
  };
  return {
      script("bash", "the completion script of bash", complete_for_bash, " > /etc/bash_completion.d/slipway"),
      script("zsh", "the completion script of zsh", complete_for_zsh, " > ~/.zfunc/_slipway"),
      script("fish", "the completion script of fish", complete_for_fish, " > ~/.config/fish/completions/slipway.fish"),
      script("man", "the manual page", print_manual_page, " | man -l -"),
      {.name = "names", .usage = "completion names KIND [WORD…]", .run = print_names, .most_arguments = kAnyNumber}};
}

}  // namespace

const Command* find_command(const std::vector<Command>& known, std::string_view name) {
  const auto found = std::ranges::find(known, name, &Command::name);
  return found == known.end() ? nullptr : &*found;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {.name = "init",
       .usage = "init > host.yaml",
       .purpose = "writes a first host.yaml from what it detects",
       .run = run_init,
       .examples = {"slipway init > host.yaml", "slipway init --root ./root --kernel 6.1.0-50-amd64 > host.yaml"},
       .options = on_host({"output"})},
      {.name = "explain",
       .usage = "explain [COMPONENT[.KEY]] | --schema",
       .purpose = "a component's spec keys; the JSON Schema for editors",
       .run = run_explain,
       .examples = {"slipway explain driver.source", "slipway explain --schema > host.schema.json"},
       .options = {"output"},
       .own_options =
           {{.name = "schema",
             .help = "the JSON Schema of host.yaml; `explain --schema output`: of what -o json and jsonl print"}},
       .most_arguments = 1},
      {.name = "detect",
       .usage = "detect [-f SPEC]",
       .purpose = "what is there now",
       .run = run_detect,
       .examples = {"slipway detect", "slipway detect --only driver,runtime -o json"},
       .options = on_host({"file", "only", "output"})},
      {.name = "plan",
       .usage = "plan [-f SPEC]",
       .purpose = "what would change; exit 2 when something would",
       .run = run_plan,
       .examples = {"slipway plan -f host.yaml", "slipway plan -f host.yaml -o json > plan.json"},
       .options = on_host({"file", "only", "output", "lock", "locked", "update", "without-slipway"})},
      {.name = "apply",
       .usage = "apply [-f SPEC | PLAN]",
       .purpose = "makes it so; exit 1 as long as something does not work",
       .run = run_apply,
       .examples = {"slipway apply -f host.yaml --yes", "slipway apply plan.json",
                    "slipway apply --root ./root -f host.yaml --lock slipway.lock"},
       .options = on_host({"file", "only", "output", "locked", "update", "boot", "without-slipway", "yes", "dry-run"}),
       .own_options = {{"lock", "FILE", "pin artifacts by this file; it is made or brought up to date"}},
       .most_arguments = 1},
      {.name = "verify",
       .usage = "verify [COMPONENT…] [--deep]",
       .purpose = "is it really working; exit 1 when not",
       .run = run_verify,
       .examples = {"slipway verify", "slipway verify driver --deep"},
       .options = on_host({"file", "only", "output"}),
       .own_options = {{.name = "deep", .help = "hash every file"}},
       .most_arguments = kAnyNumber},
      {.name = "doctor",
       .usage = "doctor [COMPONENT…]",
       .purpose = "what is wrong and what helps; exit 1 when something is",
       .run = run_doctor,
       .examples = {"slipway doctor", "slipway doctor deviceplugin"},
       .options = on_host({"file", "only", "output", "lock"}),
       .most_arguments = kAnyNumber},
      {.name = "status",
       .usage = "status",
       .purpose = "what slipway owns here",
       .run = run_status,
       .examples = {"slipway status", "slipway status --root ./root -o json"},
       .options = on_machine({"output"})},
      {.name = "rollback",
       .usage = "rollback [GENERATION]",
       .purpose = "applies an earlier generation anew",
       .run = run_rollback,
       .examples = {"slipway rollback --dry-run", "slipway rollback 3"},
       .options = on_host({"only", "output", "locked", "yes", "dry-run"}),
       .most_arguments = 1},
      {.name = "generations",
       .usage = "generations",
       .purpose = "what was applied, and what each generation changed",
       .run = run_generations,
       .examples = {"slipway generations", "slipway generations --root ./root -o json"},
       .options = on_machine({"output"})},
      {.name = "diff",
       .usage = "diff A [B]",
       .purpose = "what two generations differ in; one alone is compared with the one in force",
       .run = run_diff,
       .examples = {"slipway diff 2", "slipway diff 2 4"},
       .options = on_machine({"output"}),
       .most_arguments = 2},
      {.name = "remove",
       .usage = "remove COMPONENT… | --all",
       .purpose = "takes components away and brings back what was there",
       .run = run_remove,
       .examples = {"slipway remove gfd", "slipway remove --all --dry-run"},
       .options = on_host({"only", "output", "locked", "yes", "dry-run"}),
       .own_options = {{.name = "all", .help = "everything that slipway owns, or those of --only"}},
       .most_arguments = kAnyNumber},
      {.name = "repair",
       .usage = "repair [--dry-run]",
       .purpose = "sets damaged records aside and makes up for them",
       .run = run_repair,
       .examples = {"slipway repair --dry-run", "slipway repair --root ./root --yes"},
       .options = on_machine({"output", "yes", "dry-run"})},
      {.name = "graph",
       .usage = "graph [-f SPEC]",
       .purpose = "the components' order, as Graphviz",
       .run = run_graph,
       .examples = {"slipway graph -f host.yaml", "slipway graph | dot -Tsvg > order.svg"},
       .options = on_machine({"file", "output"})},
      {.name = "gc",
       .usage = "gc [--dry-run]",
       .purpose = "drops old generations, and layers and downloads that nobody needs",
       .run = run_gc,
       .examples = {"slipway gc --dry-run", "slipway gc"},
       .options = on_machine({"cache", "dry-run", "output"})},
      {.name = "install",
       .usage = "install --root DIR [--dry-run]",
       .purpose = "puts slipway itself into a root, with the libraries it lacks",
       .run = run_install,
       .examples = {"slipway install --root ./root --dry-run", "slipway install --root ./root -f host.yaml"},
       .options = {"dry-run", "file", "only", "output", "root"}},
      {.name = "log",
       .usage = "log [COUNT] [--root DIR]",
       .purpose = "what was done on this machine or in a root, the newest last",
       .run = run_log,
       .examples = {"slipway log", "slipway log 3 -o json", "slipway log --root ./root"},
       .options = {"output", "root"},
       .most_arguments = 1},
      {.name = "bugreport",
       .usage = "bugreport [--to FILE]",
       .purpose = "one tar file about this host, without secrets",
       .run = run_bugreport,
       .examples = {"slipway bugreport", "slipway bugreport -f host.yaml --to report.tar"},
       .options = on_host({"file", "lock", "output"}),
       .own_options = {{"to", "FILE", "file to write (default: one that is named by the time)"}}},
      {.name = "service",
       .usage = "service NAME [-f SPEC]",
       .purpose = "runs a component's service until SIGTERM; SIGHUP reads the spec again",
       .run = run_service,
       .examples = {"slipway service gfd -f host.yaml", "slipway service deviceplugin -f host.yaml --sim h100x8"},
       .options = on_host({"file", "boot", "condition"}),
       .least_arguments = 1,
       .most_arguments = 1},
      {.name = "plugin",
       .usage = "plugin list|info|new|check …",
       .purpose = "the plugins; writing one, and trying it out",
       .verbs = plugin_verbs()},
      {.name = "pkg",
       .usage = "pkg build|push|pull|inspect …",
       .purpose = "packages as OCI artifacts",
       .verbs = pkg_verbs()},
      {.name = "completion",
       .usage = "completion bash | zsh | fish | man",
       .purpose = "a shell's completion script, or the manual page",
       .verbs = completion_verbs()},
      {.name = "version",
       .usage = "version",
       .purpose = "prints the version",
       .run = run_version,
       .examples = {"slipway version", "slipway version -o json"},
       .options = {"output"}},
      {.name = "help",
       .usage = "help [COMMAND [VERB]]",
       .purpose = "lists commands and options, or those of a command",
       .run = run_help,
       .examples = {"slipway help plan", "slipway help driver build"},
       .most_arguments = 3},
  };
  return table;
}

}  // namespace slipway::core
