#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/initrd-hook.sh - the last script of the initrd: brings the agent into the guest's /run.
#
# /run moves from the initrd to the root filesystem, and systemd takes units from there. So the disk stays exactly the
# tree under test. An initrd without busybox has no cp and no chmod.

mkdir -p /run/slipway-e2e /run/systemd/system/sysinit.target.wants
cat /slipway-e2e/agent.sh >/run/slipway-e2e/agent.sh
cat /slipway-e2e/agent.service >/run/systemd/system/slipway-e2e.service
ln -s ../slipway-e2e.service /run/systemd/system/sysinit.target.wants/slipway-e2e.service
