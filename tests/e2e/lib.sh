# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/lib.sh - what the e2e scripts share: logging, the cache directory, and an apt of their own. Source it.
#
# The apt used here has its own lists, cache and status: it sees contrib, non-free and non-free-firmware although the
# machine's own apt may not, and it changes nothing outside of the cache directory.

shopt -s inherit_errexit # a failure inside $(...) counts too

E2E_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
E2E_CACHE="${SLIPWAY_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slipway-e2e}"
E2E_SUITE=bookworm
E2E_DRIVER_VERSION=535.261.03
# Kernel ABI names: one that the open 535.261.03 source compiles on, and one on which it does not (the kernel trap).
E2E_KERNEL="${SLIPWAY_E2E_KERNEL:-6.1.0-50-amd64}"
E2E_TRAP_KERNEL="${SLIPWAY_E2E_TRAP_KERNEL:-6.1.0-56-amd64}"
# The time of all files that must be reproducible byte for byte: 2026-01-01T00:00:00Z.
E2E_SOURCE_DATE_EPOCH=1767225600
export E2E_DIR E2E_CACHE E2E_SUITE E2E_DRIVER_VERSION E2E_KERNEL E2E_TRAP_KERNEL E2E_SOURCE_DATE_EPOCH

log() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

die() {
  log "error: $*"
  exit 1
}

# need TOOL... : exits with the names of all missing tools.
need() {
  local tool missing=()
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  ((${#missing[@]} == 0)) || die "not installed: ${missing[*]}"
}

# with_lock NAME COMMAND... : runs the command while no other one runs under the same name.
with_lock() {
  local name="$1"
  shift
  mkdir -p "$E2E_CACHE"
  (
    flock 9
    "$@"
  ) 9>"$E2E_CACHE/.$name.lock"
}

# mirror_of SUITE : prints the URI of this machine's first source for the suite; empty when there is none.
mirror_of() { python3 "$E2E_DIR/apt_sources.py" | awk -v suite="$1" '$2 == suite { print $1; exit }'; }

# write_apt_config : writes the private apt configuration; prints its path.
write_apt_config() {
  local etc="$E2E_CACHE/apt" main security areas="main contrib non-free non-free-firmware"
  main="$(mirror_of "$E2E_SUITE")"
  security="$(mirror_of "$E2E_SUITE-security")"
  [[ -n "$main" ]] || die "no apt source of this machine serves $E2E_SUITE"
  mkdir -p "$etc/lists/partial" "$etc/cache/archives/partial"
  : >"$etc/status"
  {
    printf 'deb %s %s %s\n' "$main" "$E2E_SUITE" "$areas"
    [[ -z "$security" ]] || printf 'deb %s %s %s\n' "$security" "$E2E_SUITE-security" "$areas"
  } >"$etc/sources.list"
  cat >"$etc/apt.conf" <<CONF
Dir::Etc::SourceList "$etc/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State::Lists "$etc/lists";
Dir::State::Status "$etc/status";
Dir::Cache "$etc/cache";
APT::Architecture "amd64";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
  printf '%s\n' "$etc/apt.conf"
}

# private_apt COMMAND ARGS... : apt-get or apt-cache under the private configuration.
private_apt() {
  local tool="$1"
  shift
  "$tool" -qq -c "$E2E_CACHE/apt/apt.conf" "$@"
}

# update_apt : writes the configuration and fetches the package lists.
update_apt() {
  write_apt_config >/dev/null
  private_apt apt-get update
}
