// SPDX-License-Identifier: Apache-2.0
#include "core/loader/manifest.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include <slipway/text.hpp>

#include "core/loader/schema/check.hpp"

namespace slipway::core {
namespace {

using Type = SchemaKey::Type;

constexpr const char* kSectionsKey = "sections";
constexpr int kMostTasks = 4194304;  // the maximum number of processes in Linux

SchemaKey word_key(std::string pattern, std::string expects, std::string example) {
  SchemaKey word;
  word.type = Type::string;
  word.pattern = std::move(pattern);
  word.expects = std::move(expects);
  word.example = std::move(example);
  return word;
}

SchemaKey name_key() {
  return word_key("[a-z][a-z0-9-]{0,39}", "lower-case letters, digits and - (at most 40), a letter first", "driver");
}

/// The name of a slipway program, without a path.
SchemaKey program_key() {
  return word_key("slipway-[a-z0-9-]{1,60}", "slipway-NAME, a program in slipway's libexec",
                  "slipway-runtime-configure");
}

SchemaKey one_of(std::vector<std::string> values) {
  SchemaKey word;
  word.type = Type::enumeration;
  word.values = std::move(values);
  return word;
}

/// A systemd unit (systemd.unit(5), "string escaping for inclusion in unit names").
SchemaKey unit_key() {
  return word_key(R"([A-Za-z0-9:_.@-]{1,200}\.(service|socket|target))",
                  "the name of a systemd service, socket or target", "acme.service");
}

/// Keys of other components' sections, by component.
SchemaKey sections_key() {
  SchemaKey key;
  key.type = Type::string;
  SchemaKey keys;
  keys.type = Type::list;
  keys.items = {key};
  SchemaKey sections;
  sections.type = Type::map;
  sections.items = {keys};
  return sections;
}

/// The access that a service's unit grants it.
SchemaKey needs_key() {
  constexpr const char* kKeys = R"(
memory: {type: string, pattern: '[1-9][0-9]{0,5}[MG]', expects: a number and M or G, example: 256M}
tasks: {type: integer}
capabilities: {type: list, items: {type: enum, values: [CAP_AUDIT_CONTROL, CAP_AUDIT_READ, CAP_AUDIT_WRITE,
  CAP_BLOCK_SUSPEND, CAP_BPF, CAP_CHECKPOINT_RESTORE, CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
  CAP_FSETID, CAP_IPC_LOCK, CAP_IPC_OWNER, CAP_KILL, CAP_LEASE, CAP_LINUX_IMMUTABLE, CAP_MAC_ADMIN, CAP_MAC_OVERRIDE,
  CAP_MKNOD, CAP_NET_ADMIN, CAP_NET_BIND_SERVICE, CAP_NET_BROADCAST, CAP_NET_RAW, CAP_PERFMON, CAP_SETFCAP, CAP_SETGID,
  CAP_SETPCAP, CAP_SETUID, CAP_SYSLOG, CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_SYS_CHROOT, CAP_SYS_MODULE, CAP_SYS_NICE,
  CAP_SYS_PACCT, CAP_SYS_PTRACE, CAP_SYS_RAWIO, CAP_SYS_RESOURCE, CAP_SYS_TIME, CAP_SYS_TTY_CONFIG, CAP_WAKE_ALARM]}}
system_calls: {type: list, items: {type: string, pattern: '@?[a-z][a-z0-9_-]{0,40}', example: '@mount'}}
device_classes: {type: list, items: {type: string, pattern: '[A-Za-z0-9._*?-]{1,60}', example: 'acme*'}}
sockets: {type: list, items: {type: enum, values: [inet, netlink]}}
writes: {type: list, items: {type: string, pattern: '[/{].{0,500}', expects: 'an absolute path, or one with {KEY}'}}
reads: {type: list, items: {type: string, pattern: '[/{].{0,500}', expects: 'an absolute path, or one with {KEY}'}}
shared_tmp: {type: boolean}
starts_units: {type: boolean}
writable_code: {type: boolean}
)";
  return *own_schema(kKeys, "service_needs");
}

/// The schema of a manifest's document.
const SchemaKey& manifest_schema() {
  static const SchemaKey schema = [] {
    SchemaKey document;
    document.type = Type::object;
    document.keys["component"] = name_key();
    document.keys["component"].required = true;
    document.keys["purpose"].type = Type::string;
    document.keys["purpose"].required = true;
    for (const char* list : {"after", "requires", "provides", "conflicts"}) {
      document.keys[list].type = Type::list;
      document.keys[list].items = {name_key()};
    }
    document.keys["boot_before"].type = Type::list;
    document.keys["boot_before"].items = {unit_key()};
    document.keys["verify_after"] = document.keys["boot_before"];
    document.keys["outputs"].type = Type::map;
    document.keys["outputs"].items = {one_of({"string", "integer", "boolean"})};
    document.keys[kSectionsKey] = sections_key();
    document.keys["service"] = one_of({"plugin", "beside", "program"});
    document.keys["service_if"].type = Type::map;
    document.keys["service_if"].items = {SchemaKey{}};
    document.keys["service_if"].items.front().type = Type::string;
    document.keys["service_needs"] = needs_key();
    document.keys["service_device"].type = Type::string;
    document.keys["service_device"].pattern = "[a-z0-9]+:[A-Za-z0-9*?_-]+";
    document.keys["service_device"].example = "pci:v000010DEd*sv*sd*bc03sc*i*";
    document.keys["per_kernel"].type = Type::boolean;
    document.keys["service_before"].type = Type::boolean;
    document.keys["service_hands_over"].type = Type::boolean;
    document.keys["memory"] = one_of({"limited", "unlimited"});
    document.keys["tools"].type = Type::boolean;
    document.keys["direct_tools"].type = Type::boolean;
    document.keys["tool_programs"].type = Type::map;
    document.keys["tool_programs"].items = {program_key()};
    document.keys["spec"].type = Type::map;
    return document;
  }();
  return schema;
}

std::vector<std::string> names_in(const Json& document, const char* key) {
  std::vector<std::string> names;
  if (document.contains(key) && document[key].is_array())
    for (const Json& name : document[key])
      if (name.is_string()) names.push_back(name);
  return names;
}

std::string text_in(const Json& document, const char* key) {
  return document.contains(key) && document[key].is_string() ? document[key].get<std::string>() : std::string{};
}

bool is_true(const Json& document, const char* key) { return document.contains(key) && document[key] == true; }

std::map<std::string, std::string> texts_in(const Json& document, const char* key) {
  std::map<std::string, std::string> texts;
  if (document.contains(key) && document[key].is_object())
    for (const auto& [name, text] : document[key].items())
      if (text.is_string()) texts[name] = text;
  return texts;
}

std::map<std::string, std::vector<std::string>> lists_in(const Json& document, const char* key) {
  std::map<std::string, std::vector<std::string>> lists;
  if (document.contains(key) && document[key].is_object())
    for (const auto& [name, list] : document[key].items()) lists[name] = names_in(document[key], name.c_str());
  return lists;
}

Manifest::ServiceIn service_in(const Json& document) {
  const std::string word = text_in(document, "service");
  if (word.empty()) return Manifest::ServiceIn::none;
  if (word == "program") return Manifest::ServiceIn::program;
  return word == "plugin" ? Manifest::ServiceIn::plugin : Manifest::ServiceIn::beside;
}

void check_self(const base::YamlNode& node, const Manifest& manifest, SchemaCheck& check) {
  for (const auto* names : {&manifest.requires_, &manifest.after, &manifest.conflicts})
    for (const std::string& name : *names)
      if (name == manifest.component)
        check.problems.add(node.position, name, "component '" + name + "' requires, follows or excludes itself");
}

/// Checks that the component reads only sections that are complete when it is planned, and has no key of the same name
/// itself.
void check_sections(const base::YamlNode& node, const Manifest& manifest, SchemaCheck& check) {
  const base::YamlEntry* const entry = node.find(kSectionsKey);
  if (entry == nullptr) return;
  for (const auto& [name, keys] : manifest.sections)
    if (std::ranges::count(manifest.after, name) + std::ranges::count(manifest.requires_, name) == 0)
      check.problems.add(entry->value.position, std::string(kSectionsKey) + "." + name,
                         "the component does not come after '" + name + "'", "add it to `after`");
  if (manifest.spec.keys.contains(kSectionsKey))
    check.problems.add(
        entry->value.position, kSectionsKey,
        "the spec may not have a key of that name: slipway passes the other components' sections under it");
}

/// True when "sections.a.b" is a key of another component's section that it reads.
bool is_in_sections(const Manifest& manifest, const std::string& key) {
  const std::vector<std::string> parts = split(key, '.');
  if (parts.size() < 3 || parts[0] != kSectionsKey) return false;
  const auto found = manifest.sections.find(parts[1]);
  return found != manifest.sections.end() && std::ranges::count(found->second, parts[2]) != 0;
}

/// True when "a.b" is a key of the spec that can contain text.
bool is_text(const SchemaKey& object, const std::string& key) {
  const auto found = object.keys.find(key.substr(0, key.find('.')));
  if (found == object.keys.end()) return false;
  const SchemaKey& schema = found->second;
  if (schema.type == Type::any) return true;
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos)
    return schema.type == Type::string || schema.type == Type::path || schema.type == Type::enumeration;
  return schema.type == Type::map || is_text(schema, key.substr(dot + 1));
}

/// Checks the number of tasks, which systemd limits, and the paths, which keys of the spec contain.
void check_needs(const base::YamlNode& node, const Manifest& manifest, SchemaCheck& check) {
  const base::YamlEntry* const entry = node.find("service_needs");
  if (entry == nullptr) return;
  if (manifest.service == Manifest::ServiceIn::none)
    check.problems.add(entry->value.position, "service_needs", "this key needs the key `service`");
  const Json tasks = manifest.service_needs.value("tasks", Json());
  if (tasks.is_number() && (tasks < 1 || tasks > kMostTasks))
    check.problems.add(entry->value.position, "service_needs.tasks",
                       "expected 1 to " + std::to_string(kMostTasks) + ", found " + tasks.dump());
  static const std::regex kKey(R"(\{([^{}]*)\}?)");
  for (const char* list : {"writes", "reads"})
    for (const std::string& path : names_in(manifest.service_needs, list))
      for (std::sregex_iterator key(path.begin(), path.end(), kKey), end; key != end; ++key)
        if ((!is_text(manifest.spec, (*key)[1].str()) && !is_in_sections(manifest, (*key)[1].str())) ||
            !key->str().ends_with('}'))
          check.problems.add(entry->value.position, std::string("service_needs.") + list,
                             "the spec has no key " + key->str() + " with a string for the path " + path);
}

/// Checks two keys that need a service; the first one also needs units.
void check_service_unit(const base::YamlNode& node, const Manifest& manifest, SchemaCheck& check) {
  for (const char* key : {"service_before", "service_hands_over"})
    if (const base::YamlEntry* const entry = node.find(key);
        entry != nullptr && manifest.service == Manifest::ServiceIn::none)
      check.problems.add(entry->value.position, key, "this key needs the key `service`");
  const base::YamlEntry* const before = node.find("service_before");
  if (before != nullptr && manifest.service_before && manifest.boot_before.empty())
    check.problems.add(before->value.position, "service_before", "this key needs units in `boot_before`");
}

/// Accepts only keys and values that the spec can have.
void check_condition(const base::YamlNode& node, const Manifest& manifest, SchemaCheck& check) {
  const base::YamlEntry* const entry = node.find("service_if");
  if (entry == nullptr) return;
  const auto refuse = [&](const std::string& key, const std::string& what) {
    check.problems.add(entry->value.position, key, what);
  };
  if (manifest.service == Manifest::ServiceIn::none) refuse("service_if", "this key needs the key `service`");
  for (const auto& [key, value] : manifest.service_if) {
    const auto found = manifest.spec.keys.find(key);
    const bool known = found != manifest.spec.keys.end() && found->second.type == Type::enumeration &&
                       std::ranges::count(found->second.values, value) != 0;
    if (!known) refuse("service_if." + key, "the spec has no enum '" + key + "' with the value '" + value + "'");
  }
}

Manifest parse_document(const base::YamlNode& node, SchemaCheck& check) {
  const Json document = check_value(node, manifest_schema(), "", check);
  Manifest manifest;
  manifest.spec.type = Type::object;
  if (!document.is_object()) return manifest;
  manifest.component = text_in(document, "component");
  manifest.purpose = text_in(document, "purpose");
  manifest.after = names_in(document, "after");
  manifest.requires_ = names_in(document, "requires");
  manifest.provides = names_in(document, "provides");
  manifest.conflicts = names_in(document, "conflicts");
  manifest.has_tools = is_true(document, "tools");
  manifest.tool_programs = texts_in(document, "tool_programs");
  manifest.service = service_in(document);
  manifest.unlimited_memory = text_in(document, "memory") == "unlimited";
  manifest.service_if = texts_in(document, "service_if");
  manifest.declares_needs = document.contains("service_needs") && document["service_needs"].is_object();
  if (manifest.declares_needs) manifest.service_needs = document["service_needs"];
  manifest.service_device = text_in(document, "service_device");
  manifest.boot_before = names_in(document, "boot_before");
  manifest.verify_after = names_in(document, "verify_after");
  manifest.per_kernel = is_true(document, "per_kernel");
  manifest.service_before = is_true(document, "service_before");
  manifest.service_hands_over = is_true(document, "service_hands_over");
  manifest.outputs = texts_in(document, "outputs");
  manifest.sections = lists_in(document, kSectionsKey);
  if (const base::YamlEntry* spec = node.find("spec"))
    manifest.spec.keys = parse_schema_keys(spec->value, "spec", check);
  check_self(node, manifest, check);
  check_condition(node, manifest, check);
  check_sections(node, manifest, check);
  check_needs(node, manifest, check);
  check_service_unit(node, manifest, check);
  return manifest;
}

}  // namespace

bool has_service(const Manifest& component, const Json& section) {
  if (component.service == Manifest::ServiceIn::none) return false;
  return std::ranges::all_of(component.service_if, [&](const auto& condition) {
    return section.is_object() && section.contains(condition.first) && section[condition.first] == condition.second;
  });
}

Result<std::vector<Manifest>> parse_manifests(std::string_view yaml, const std::string& origin) {
  SLIPWAY_TRY(documents, base::read_yaml(yaml, origin));
  SchemaCheck check(origin);
  std::vector<Manifest> manifests;
  std::set<std::string> seen;
  for (const base::YamlNode& document : documents) {
    if (document.kind == base::YamlNode::Kind::null) continue;  // nothing after a "---"
    manifests.push_back(parse_document(document, check));
    const std::string& name = manifests.back().component;
    if (!name.empty() && !seen.insert(name).second)
      check.problems.add(document.position, "component", "component '" + name + "' is described twice");
  }
  if (manifests.empty() && check.problems.none())
    check.problems.add({}, "", "the manifest describes no component", "write component, purpose and spec into it");
  if (!check.problems.none()) return check.problems.to_error();
  return manifests;
}

}  // namespace slipway::core
