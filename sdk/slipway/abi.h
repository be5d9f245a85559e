/* SPDX-License-Identifier: Apache-2.0 */
/* sdk/slipway/abi.h - the C boundary between slipway and a plugin: one note, one entry point, JSON texts. */
#ifndef SLIPWAY_ABI_H
#define SLIPWAY_ABI_H

/* A plugin runs under every slipway of the same major and of the same or a later minor. */
#define SLIPWAY_PROTOCOL_MAJOR 1
#define SLIPWAY_PROTOCOL_MINOR 0

/* The ELF note, read before anything of the plugin is loaded: owner "slipway", type 1, and this description:
 *   4 bytes "SLPW"; uint16 major; uint16 minor (native byte order); the plugin's version, NUL-terminated;
 *   the manifest to the end: YAML, UTF-8, one document per component. */
#define SLIPWAY_NOTE_OWNER "slipway"
#define SLIPWAY_NOTE_TYPE 1
#define SLIPWAY_NOTE_MAGIC "SLPW"

#ifndef __ASSEMBLER__ /* the note's template reads no further */
/* C as well as C++. NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an answer goes. The callee copies `json`; it need not be NUL-terminated. Called exactly once per call. */
typedef struct slipway_reply {
  void* context;
  void (*write)(void* context, const char* json, size_t length);
} slipway_reply;

/* How a call ended. With SLIPWAY_FAILED the reply is an error object (code, what, where, next, details). */
enum { SLIPWAY_OK = 0, SLIPWAY_FAILED = 1, SLIPWAY_UNSUPPORTED = 2 };

/* What slipway offers a plugin, valid until the plugin's library is gone. `call` is asked with an operation name and a
 * JSON text; one that this slipway does not know answers SLIPWAY_UNSUPPORTED. Thread-safe.
 *   "log"       {"level": "debug|info|warning", "text": "…"}                       -> null
 *   "progress"  {"label": "…", "done": bytes, "total": 0 if unknown}               -> null
 *   "output"    {"text": "…"}  text of a tool for the user's standard output       -> null
 *   "ready"     {}             the service does its work now                       -> null
 *   "status"    {"text": "…"}  of a service: one line on how things are            -> null
 *   "reasons"   {"lines": ["…"]}  of a service: all that is not as it should be     -> null
 *   "alive"     {}             of a service: its loop turns                        -> null
 *   "core"      {"op": "pkg.build|build.run|…", "request": {…}}                    -> the core's answer */
typedef struct slipway_services {
  uint32_t size; /* sizeof(slipway_services) of who filled it; read no member beyond it */
  void* context;
  int (*call)(void* context, const char* op, const char* json, size_t length, const slipway_reply* reply);
} slipway_services;

/* What a plugin offers. `call` is asked from one thread at a time, but for the operations "service.…", which come from
 * another thread while "service" is under way, or about to begin. Operations (request -> reply):
 *   detect  {component, spec, host}                   -> facts
 *   plan    {component, spec, facts, inputs}          -> plan
 *   check   {component, action, host}                 -> true when the custom action holds already
 *   apply   {component, action, host}                 -> outcome
 *   verify  {component, spec, host}                   -> findings
 *   diagnose {component, spec, host}                  -> findings: known failure patterns that are there
 *   tools   {component}                               -> [{name, purpose, line: {usage, options: [{name, …}], …}}]
 *   tool    {component, tool, options: {NAME: [VALUE]}, arguments, spec, host} -> {exit: 0-255}
 *   import  {component, document}                     -> {spec, warnings}
 *   service {component, spec, host, alive_ms?}        -> null, when service.stop was asked and it has ended; says
 *                                                        "alive" at least as often as alive_ms, when that is given
 *   service.quiesce {component}                       -> null, when it has released the driver
 *   service.resume  {component}                       -> null
 *   service.stop    {component, again?}               -> null, at once; again: true says that another "service" call
 *                                                        follows, with a changed spec
 *   components {}                                     -> {NAME: {check, apply: has one of its own}}: for `plugin check`
 * An operation, component or ability that the plugin does not have answers SLIPWAY_UNSUPPORTED, with an error object or
 * without a reply. Nothing is ever thrown across. */
typedef struct slipway_plugin {
  uint32_t size; /* set by slipway to sizeof(slipway_plugin) before the entry is called */
  void* context;
  int (*call)(void* context, const char* op, const char* json, size_t length, const slipway_reply* reply);
} slipway_plugin;

/* The one exported symbol, "slipway_plugin_open": fills `plugin`; answers SLIPWAY_OK or SLIPWAY_FAILED. */
#define SLIPWAY_ENTRY "slipway_plugin_open"
typedef int (*slipway_plugin_open_fn)(const slipway_services* services, slipway_plugin* plugin);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */
#endif
#endif
