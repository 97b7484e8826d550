#!/usr/bin/env bash
# Records the site of an older version: record.sh COMMIT > site.tar.gz
#
# The program of that commit delivers a few documents between a folder and the sandbox. What it leaves is kept: its
# configuration (etc/fuelbridge), its store with the mark beside it (var/lib), the exchange folder (srv/erp-exchange)
# and the platform's database (platform.sqlite). test/install.sh has the present version take it over. Needs the
# checkout's whole history, node_modules, and port 18085.
set -euo pipefail
commit=$1
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'kill "${sandbox:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

mkdir -p "$work/program" "$work/site/etc/fuelbridge/secrets" "$work/site/var/lib" "$work/site/srv/erp-exchange/export"
git -C "$checkout" archive "$commit" | tar -x -C "$work/program"
# Without a lockfile beside it the launcher installs nothing.
rm "$work/program/package-lock.json"
ln -s "$checkout/node_modules" "$work/program/node_modules"
# The sandbox is started without this function, so that its process id is the one to end.
older() { node "$work/program/src/launch.mjs" "$@"; }

cd "$work/site"
node "$work/program/src/launch.mjs" sandbox --port 18085 --db platform.sqlite --scenario conformance > ready 2> /dev/null &
sandbox=$!
until [ -s ready ]; do sleep 0.2; done

cp -r "$work/program/config/crossref" etc/fuelbridge/
curl -sf http://127.0.0.1:18085/__sandbox__/keys | jq -r '.keys[] | select(.name == "supplier").key' > etc/fuelbridge/secrets/api-key
chmod 0600 etc/fuelbridge/secrets/api-key
sed -e 's|^state: .*|state: ../../var/lib/fuelbridge|' \
  -e 's|url: https://.*|url: http://127.0.0.1:18085/v1/public|' \
  -e 's|folder: /srv/erp-exchange|folder: ../../srv/erp-exchange|' \
  -e 's|company: my-company|company: bluebonnet|' \
  -e 's|# firstStart: .*|firstStart: '"$(date +%F)"'|' \
  -e '/paused: true/d' \
  "$work/program/config/example.yaml" > etc/fuelbridge/fuelbridge.yaml
{ head -4; echo '9001,9001,Broken Mail Ltd,,,office(at)broken.example,,1 Main St,77001,Houston,US-TX,US,Net 10'; } \
  < "$checkout/test/data/tryton-export/customers.csv" > srv/erp-exchange/export/customers.csv

export FUELBRIDGE_CONFIG=etc/fuelbridge/fuelbridge.yaml
older once > /dev/null 2>&1 || true
older status >&2
kill "$sandbox"
wait "$sandbox" || true
rm ready
tar -c --sort=name --owner=0 --group=0 --numeric-owner . | gzip -9n
