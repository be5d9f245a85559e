# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/agent.sh - runs in the guest: takes commands from the second serial port, answers with what came out.
#
# The port is built into every Debian kernel, so the channel is there even when no module loads. Lines from the host:
#   BEGIN / DATA BASE64... / RUN ID SECONDS      each of the first two is answered by OK
# The answer to RUN: "OUT ID", base64 lines, "ERR ID", base64 lines, "END ID STATUS SHA256(out) SHA256(err)".

tty=/dev/ttyS1
dir=/run/slipway-e2e

hash_of() { sha256sum "$1" | cut -d ' ' -f 1; }

run_command() {
  base64 -d "$dir/command.b64" >"$dir/command"
  cd / || exit 1
  HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    timeout -k 5 "$2" sh "$dir/command" >"$dir/out" 2>"$dir/err" </dev/null
  status=$?
  echo "OUT $1"
  base64 -w 1000 "$dir/out"
  echo "ERR $1"
  base64 -w 1000 "$dir/err"
  echo "END $1 $status $(hash_of "$dir/out") $(hash_of "$dir/err")"
}

exec 0<>"$tty" 1>&0
stty sane -echo -isig -ixon -opost clocal 115200
echo "READY $(cat /proc/sys/kernel/random/boot_id)"
while read -r word first second; do
  case "$word" in
    BEGIN) : >"$dir/command.b64" && echo OK ;;
    DATA) echo "$first" >>"$dir/command.b64" && echo OK ;;
    RUN) run_command "$first" "$second" ;;
  esac
done
