/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest plugin: an entry that knows no operation. The loader must never call it. */
#include <slipway/abi.h>
#include <stdlib.h>

__attribute__((constructor)) static void loaded(void) { abort(); }

static int call(void* context, const char* op, const char* json, size_t length, const slipway_reply* reply) {
  (void)context, (void)op, (void)json, (void)length;
  reply->write(reply->context, "null", 4);
  return SLIPWAY_UNSUPPORTED;
}

__attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,
                                                               slipway_plugin* plugin) {
  (void)services;
  plugin->call = call;
  return SLIPWAY_OK;
}
