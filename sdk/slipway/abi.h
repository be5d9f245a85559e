/* SPDX-License-Identifier: Apache-2.0 */
/* sdk/slipway/abi.h - the C boundary between slipway and a plugin: one note, one entry point, JSON texts. */
#ifndef SLIPWAY_ABI_H
#define SLIPWAY_ABI_H

/* A plugin runs under every slipway of the same major and of the same or a later minor. */
#define SLIPWAY_PROTOCOL_MAJOR 1
#define SLIPWAY_PROTOCOL_MINOR 0

/* The ELF note, read before the plugin is loaded: owner "slipway", type 1, and this description:
 *   4 bytes "SLPW"; uint16 major; uint16 minor (native byte order); the plugin's version, NUL-terminated;
 *   the manifest to the end: YAML, UTF-8, one document per component. */
#define SLIPWAY_NOTE_OWNER "slipway"
#define SLIPWAY_NOTE_TYPE 1
#define SLIPWAY_NOTE_MAGIC "SLPW"

#ifndef __ASSEMBLER__ /* the note's template only includes the part above */
/* C as well as C++. NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives an answer. The callee copies `json`; it need not be NUL-terminated. Called exactly once per call. */
typedef struct slipway_reply {
  void* context;
  void (*write)(void* context, const char* json, size_t length);
} slipway_reply;

/* The result of a call. With SLIPWAY_FAILED the reply is an error object (code, what, where, next, details). */
enum { SLIPWAY_OK = 0, SLIPWAY_FAILED = 1, SLIPWAY_UNSUPPORTED = 2 };

/* The functions that slipway offers a plugin, valid as long as the plugin is loaded. `call` takes an operation name and
 * a JSON text, and returns SLIPWAY_UNSUPPORTED for an unknown operation. Thread-safe.
 *   "log"       {"level": "debug|info|warning", "text": "…"}                       -> null
 *   "progress"  {"label": "…", "done": bytes, "total": 0 if unknown}               -> null
 *   "output"    {"text": "…"}  text of a tool for the user's standard output       -> null
 *   "ready"     {}             the service is working now                          -> null
 *   "status"    {"text": "…"}  of a service: its status line                       -> null
 *   "reasons"   {"lines": ["…"]}  of a service: all present problems                -> null
 *   "alive"     {}             of a service: its loop is running                   -> null
 *   "core"      {"op": "pkg.build|build.run|…", "request": {…}}                    -> the core's answer */
typedef struct slipway_services {
  uint32_t size; /* sizeof(slipway_services) of slipway; read no member beyond it */
  void* context;
  int (*call)(void* context, const char* op, const char* json, size_t length, const slipway_reply* reply);
} slipway_services;

/* The functions of a plugin. `call` is called from one thread at a time, except for the operations "service.…", which
 * come from another thread while "service" is running or about to start. Operations (request -> reply):
 *   detect  {component, spec, host}                   -> facts
 *   plan    {component, spec, facts, inputs}          -> plan
 *   check   {component, action, host}                 -> true when the custom action is already done
 *   apply   {component, action, host}                 -> outcome
 *   verify  {component, spec, host}                   -> findings
 *   diagnose {component, spec, host}                  -> findings: known failure patterns that are present
 *   tools   {component}                               -> [{name, purpose, line: {usage, options: [{name, …}], …}}]
 *   tool    {component, tool, options: {NAME: [VALUE]}, arguments, spec, host} -> {exit: 0-255}
 *   import  {component, document}                     -> {spec, warnings}
 *   service {component, spec, host, alive_ms?}        -> null, after service.stop, when it has ended; calls
 *                                                        "alive" at least as often as alive_ms, when that is given
 *   service.quiesce {component}                       -> null, when it has released the driver
 *   service.resume  {component}                       -> null
 *   service.stop    {component, again?}               -> null, at once; again: true when another "service" call
 *                                                        follows, with a changed spec
 *   components {}                                     -> {NAME: {check, apply: it has one}}: for `plugin check`
 * An operation, component or ability that the plugin does not have returns SLIPWAY_UNSUPPORTED, with an error object or
 * without a reply. No exception crosses this boundary. */
typedef struct slipway_plugin {
  uint32_t size; /* set by slipway to sizeof(slipway_plugin) before the entry is called */
  void* context;
  int (*call)(void* context, const char* op, const char* json, size_t length, const slipway_reply* reply);
} slipway_plugin;

/* The only exported symbol, "slipway_plugin_open": fills `plugin`; returns SLIPWAY_OK or SLIPWAY_FAILED. */
#define SLIPWAY_ENTRY "slipway_plugin_open"
typedef int (*slipway_plugin_open_fn)(const slipway_services* services, slipway_plugin* plugin);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */
#endif
#endif
