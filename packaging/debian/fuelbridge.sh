#!/bin/sh
# /usr/bin/fuelbridge. As root, every command but `init` runs as the service's user: files that root creates in the
# state folder would be closed to the service, and `check` and `doctor` would judge root's rights in place of its own.
# `init` stays root, to write /etc/fuelbridge, and gives the files to the service's user.
export FUELBRIDGE_CONFIG="${FUELBRIDGE_CONFIG:-/etc/fuelbridge/fuelbridge.yaml}"
# Threads share what they give back; short-lived garbage does not spread over 64 MB.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
home=/usr/lib/fuelbridge
if [ -e $home/unpacking ]; then
  echo "fuelbridge: an upgrade is under way, or was cut short: install the package again (dpkg -i)." >&2
  exit 3
fi
node="$home/bin/node --max-semi-space-size=4 $home/dist/src/main.js"
[ "$(id -u)" = 0 ] || exec $node "$@"
if [ "${1:-}" = init ]; then
  shift
  exec $node init --owner fuelbridge "$@"
fi
exec setpriv --reuid=fuelbridge --regid=fuelbridge --init-groups $node "$@"
