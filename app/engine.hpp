// SPDX-License-Identifier: Apache-2.0
// app/engine.hpp - the core's engine as a program uses it: sessions, plans, applies, verification, and the records of a
// root. A command line, an agent or a test needs no other header of the engine.
#pragma once

#include "core/action/systemd/systemd.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/advice.hpp"
#include "core/engine/apply/apply.hpp"
#include "core/engine/devices.hpp"
#include "core/engine/model/planned.hpp"
#include "core/engine/packages/sources.hpp"
#include "core/engine/records/failing_components.hpp"
#include "core/engine/records/generations.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/root_lock.hpp"
#include "core/engine/session.hpp"
#include "core/engine/stop.hpp"
#include "core/engine/ui.hpp"
#include "core/engine/unit/units.hpp"
#include "core/engine/verify/causes.hpp"
#include "core/engine/verify/doctor.hpp"
#include "core/engine/verify/gpu_check.hpp"
#include "core/engine/verify/services.hpp"
#include "core/engine/verify/verify.hpp"
#include "core/exit_code.hpp"
#include "core/graph/graph.hpp"
#include "core/spec/document.hpp"
#include "core/spec/yaml_value.hpp"
