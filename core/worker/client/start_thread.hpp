// SPDX-License-Identifier: Apache-2.0
// core/worker/client/start_thread.hpp - one thread that lives until the process ends and runs small things for others.
#pragma once

#include <functional>

namespace slipway::core {

/// Runs `work` on that thread and waits for it. PR_SET_PDEATHSIG means the thread, not the process, that forked: what
/// a short-lived thread started would be killed with it. All signals are blocked there.
void run_on_start_thread(const std::function<void()>& work);

}  // namespace slipway::core
