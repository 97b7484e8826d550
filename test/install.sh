#!/usr/bin/env bash
# The README's words from a bare machine to a running service, done: demo, package, installation, `init`, first
# documents, a person's login to the console, upgrade, backup and restore, removal; then
# the unit under a real systemd, and the image: built by buildah, run, logged in to.
#
#   test/install.sh        as root, on Debian 12 or newer; ends with 0 when everything is as the README says
#
# All of it happens in a copy of this machine that is thrown away (overlayfs in a mount and a network namespace of its
# own), so the machine itself is not changed, and nothing can be downloaded. Only the image is built outside of it, for
# its steps install from the registry of npm. A part that cannot run here is named; with CI=true that is a failure.
set -Eeuo pipefail
trap 'echo "  FAIL  line $LINENO: $BASH_COMMAND"; tail -n 20 "$log" 2> /dev/null || true' ERR
checkout=$(cd "$(dirname "$0")/.." && pwd)
platform=http://127.0.0.1:18085
log=/var/log/fuelbridge-test.log

# ---- what the README says, part by part (in the copy of the machine, as root, without systemd) ----------------------

the_demo() {
  part "npm run demo: both sides are in step"
  cd "$checkout"
  rm -rf var/demo
  npm run --silent demo -- --once > "$log" 2>&1 || true
  expect "the demo ends in step" grep -q '^In step after' "$log"
  expect "and names the commands that show more" grep -q 'node src/launch.mjs status' "$log"
  cd /
}

the_installation() {
  part "dpkg -i: without a network, without a question"
  # A bare machine has no Node.
  rm -f "$(type -P node)" "$(type -P npm)"
  dpkg -i /packages/fuelbridge_*-1_*.deb < /dev/null > "$log" 2>&1
  expect "it says what comes next" grep -q 'fuelbridge init' "$log"
  expect "fuelbridge is on the PATH" test "$(command -v fuelbridge)" = /usr/bin/fuelbridge
  expect "fuelbridge answers" fuelbridge --version
  # But for the Node of npm, which is the package's own program.
  expect "it holds what npm ci --omit=dev installs here, no more and no less" test "$(modules_of /usr/lib/fuelbridge)" = \
    "$(cat /packages/modules)"
  expect "the state belongs to the service alone" mode /var/lib/fuelbridge 'fuelbridge:fuelbridge 700'
  expect "the configuration belongs to root" mode /etc/fuelbridge 'root:fuelbridge 750'
  expect "the service's user has no shell" grep -q '^fuelbridge:.*:/usr/sbin/nologin$' /etc/passwd
  for shell in bash zsh fish; do
    command -v "$shell" > /dev/null || continue
    expect "$shell can read its completion" "$shell" -n "$(dpkg -L fuelbridge | grep -E "/$shell.*/_?fuelbridge")"
  done
}

the_unit() {
  part "the systemd unit"
  command -v systemd-analyze > /dev/null || { left_out "what systemd says of the unit: there is no systemd-analyze"; return; }
  expect "systemd-analyze verify finds nothing" sh -c '! systemd-analyze verify fuelbridge.service 2>&1 | grep fuelbridge'
  expect "systemd-analyze security says 2.0 or better" \
    systemd-analyze security --no-pager --offline=true --threshold=20 /usr/lib/systemd/system/fuelbridge.service
}

the_configuration() {
  part "fuelbridge init: the configuration from flags"
  platform_starts /var/tmp/platform.sqlite
  of_platform keys keys "keys.find(({ name }) => name === 'supplier').key" > /root/api-key
  fuelbridge init --company bluebonnet --currency USD --time-zone America/Chicago \
    --platform "$platform/v1/public" --api-key-file /root/api-key --erp files --folder /srv/erp-exchange --yes \
    < /dev/null > "$log" 2>&1
  expect "the key is the service's secret" mode /etc/fuelbridge/secrets/api-key 'fuelbridge:fuelbridge 600'
  expect "the key is not in the configuration" sh -c '! grep -Eq "svc_live_[0-9a-f]{8}" /etc/fuelbridge/fuelbridge.yaml'
  # What a person does next: the tables, the flow that is paused at first, and the console.
  cp /usr/lib/fuelbridge/config/crossref/*.csv /etc/fuelbridge/crossref/
  sed -i '/paused: true/d' /etc/fuelbridge/fuelbridge.yaml
  console_on /etc/fuelbridge/fuelbridge.yaml
  expect "check finds nothing" fuelbridge check
  expect "doctor finds nothing" fuelbridge doctor
}

the_first_documents() {
  part "the service delivers its first documents, and goes on after a restart"
  customers 3
  service_starts
  eventually "every flow is asked to look" fuelbridge now all
  eventually "5 orders and 4 invoices are in the ERP's folder" files_are 5 4
  eventually "3 customers are on the platform" writes_are 3
  service_stops
  expect "nothing is written beside the state folder" test "$(echo /var/lib/fuelbridge*)" = /var/lib/fuelbridge
  service_starts
  customers 4
  eventually "a fourth customer follows" brought 4
  expect "nothing was written twice" files_are 5 4
  expect "no stop waits for a person" no_stop
}

the_console() {
  part "fuelbridge user add: a person logs in to the console and reads Today"
  a_person_logs_in
}

the_upgrade() {
  part "dpkg -i of a newer version: no question, same configuration, same state"
  local before
  before=$(find /etc/fuelbridge -type f -exec sha256sum {} + | sort)
  service_stops
  setsid dpkg -i /packages/fuelbridge_*-2_*.deb < /dev/null > "$log" 2>&1 &
  until [ -e /usr/lib/fuelbridge/unpacking ]; do sleep 0.01; done
  kill -KILL -- "-$!"
  # Its lock goes only with the process itself.
  wait "$!" || true
  expect "cut short, it leaves nothing that starts" sh -c "! fuelbridge --version"
  dpkg -i /packages/fuelbridge_*-2_*.deb < /dev/null > "$log" 2>&1
  expect "the newer version is there" dpkg_is 'ii .*-2'
  expect "the configuration is as it was" test "$before" = "$(find /etc/fuelbridge -type f -exec sha256sum {} + | sort)"
  service_starts
  customers 5
  eventually "a fifth customer follows" brought 5
  expect "nothing was written twice" files_are 5 4
}

the_backup() {
  part "backup and restore: stop, copy without no-backup, start; a restored store sends nothing before its release"
  service_stops
  cp -a /var/lib/fuelbridge /var/backups/fuelbridge
  rm -rf /var/backups/fuelbridge/no-backup
  service_starts
  customers 6
  eventually "a sixth customer follows after the backup" brought 6

  service_stops
  rm -rf /var/lib/fuelbridge/* && cp -a /var/backups/fuelbridge/. /var/lib/fuelbridge/
  service_starts
  eventually "the restored store says so" stopped_by restored
  customers 7
  eventually "every flow is asked to look" fuelbridge now all
  eventually "it has looked at every flow, and is released" fuelbridge release restored
  eventually "the seventh customer follows, the sixth is recognised" brought 7
  expect "nothing was written twice" files_are 5 4
  service_stops
}

the_removal() {
  part "dpkg -r and -P: the configuration goes, the memory of what was sent stays"
  dpkg -r fuelbridge < /dev/null > "$log" 2>&1
  expect "the program is gone" test ! -e /usr/bin/fuelbridge
  expect "the configuration is kept" test -e /etc/fuelbridge/fuelbridge.yaml
  dpkg -P fuelbridge < /dev/null > "$log" 2>&1
  expect "the configuration is gone" test ! -e /etc/fuelbridge
  expect "the state is kept" test -e /var/lib/fuelbridge/fuelbridge.sqlite
  expect "and that is said" grep -q '/var/lib/fuelbridge is kept' "$log"
}

# ---- the same under a real systemd (as its first and only job) ------------------------------------------------------

under_systemd() {
  part "systemctl enable --now fuelbridge: the hardened unit itself"
  rm -rf /var/lib/fuelbridge* /srv/erp-exchange
  dpkg -i /packages/fuelbridge_*-1_*.deb < /dev/null > "$log" 2>&1
  platform_starts :memory:
  fuelbridge init --company bluebonnet --currency USD --time-zone America/Chicago \
    --platform "$platform/v1/public" --api-key-file /root/api-key --erp files --folder /srv/erp-exchange --yes \
    < /dev/null > "$log" 2>&1
  cp /usr/lib/fuelbridge/config/crossref/*.csv /etc/fuelbridge/crossref/
  sed -i '/paused: true/d' /etc/fuelbridge/fuelbridge.yaml
  install -D -m 0644 /usr/share/doc/fuelbridge/examples/exchange.conf /etc/systemd/system/fuelbridge.service.d/exchange.conf
  systemctl daemon-reload
  customers 3
  systemctl enable --now fuelbridge > "$log" 2>&1
  eventually "the daemon answers" fuelbridge now all
  eventually "5 orders and 4 invoices are in the ERP's folder" files_are 5 4
  eventually "3 customers are on the platform" writes_are 3
  expect "its log is in the journal" sh -c 'journalctl -u fuelbridge | grep -q "fuelbridge runs"'

  dpkg -i /packages/fuelbridge_*-2_*.deb < /dev/null > "$log" 2>&1
  eventually "after an upgrade the service runs again" fuelbridge now all
  customers 4
  eventually "and goes on" brought 4
  expect "it stops as it should" systemctl stop fuelbridge
  expect "which counts as a normal end" test "$(systemctl show -p Result --value fuelbridge)" = success
  expect "no stop waits for a person" no_stop

  a_backup_to_a_share
  two_sites
  another_machine

  systemctl stop fuelbridge
  sed -i 's/^currency: .*/currency: none/' /etc/fuelbridge/fuelbridge.yaml
  systemctl start fuelbridge || true
  eventually "a wrong configuration is not tried again and again" systemctl is-failed --quiet fuelbridge
  dpkg -P fuelbridge < /dev/null > "$log" 2>&1
  expect "removed, it is not enabled any more" test ! -e /etc/systemd/system/multi-user.target.wants/fuelbridge.service
  touch /var/log/under-systemd.done
}

a_backup_to_a_share() {
  part "docs/recipes.md: a backup to a share, every night"
  systemctl start fuelbridge
  recipe ini ConditionPathIsMountPoint > /etc/systemd/system/fuelbridge-backup.service
  recipe ini OnCalendar > /etc/systemd/system/fuelbridge-backup.timer
  recipe sh fuelbridge-backup.timer > /tmp/recipe
  mkdir -p /mnt/nas
  expect "while the share is not mounted" sh -e /tmp/recipe
  expect "nothing is written in its place" test -z "$(ls /mnt/nas)"
  mount -t tmpfs -o "uid=$(id -u fuelbridge),mode=0700" tmpfs /mnt/nas
  eventually "once it is, a backup is made" systemctl start fuelbridge-backup.service
  expect "one whole copy is on the share" test "$(ls /mnt/nas | grep -c '^fuelbridge-.*[.]sqlite$')" = 1
  expect "the timer has its next night" sh -c 'systemctl list-timers fuelbridge-backup.timer | grep -q "03:40"'
}

two_sites() {
  part "docs/recipes.md: two sites on one machine"
  recipe sh fuelbridge-north |
    sed "s,^fuelbridge init .*,& --company north --currency USD --time-zone America/Chicago --platform $platform/v1/public \
      --api-key-file /root/api-key --erp files --folder /srv/erp-north --yes," > /tmp/recipe
  install -d -o fuelbridge -g fuelbridge /srv/erp-north/export /srv/erp-north/import
  expect "the second site is installed" sh -e /tmp/recipe
  eventually "its daemon answers" north now all
  expect "it has a state of its own" test -e /var/lib/fuelbridge-north/fuelbridge.sqlite
  # A backup may have had the store when it started: the service manager starts it again.
  eventually "the first goes on beside it" fuelbridge now all
  systemctl disable --now fuelbridge-north > "$log" 2>&1
}
north() { FUELBRIDGE_CONFIG=/etc/fuelbridge-north/fuelbridge.yaml fuelbridge "$@"; }

another_machine() {
  part "docs/recipes.md: to another machine"
  recipe sh 'tar -C / -czf' > /tmp/recipe
  expect "the old machine stops, and its archive is made" sh -e /tmp/recipe
  dpkg -P fuelbridge < /dev/null > "$log" 2>&1
  rm -rf /var/lib/fuelbridge /etc/fuelbridge /etc/systemd/system/fuelbridge.service.d
  dpkg -i /packages/fuelbridge_*-2_*.deb < /dev/null > "$log" 2>&1
  recipe sh 'tar -C / -xzf' > /tmp/recipe
  expect "the new machine starts with it" sh -e /tmp/recipe
  eventually "it knows that its memory is a copy" stopped_by restored
  customers 5
  recipe sh 'release restored' > /tmp/recipe
  eventually "every flow has looked, and it is released" sh -e /tmp/recipe
  eventually "a new customer follows, and no other one goes again" brought 5
  expect "nothing was written twice" files_are 5 4
  expect "no stop waits for a person" no_stop
}

# The block of that language on the page of recipes that has this text.
recipe() {
  awk -v language="$1" -v text="$2" '
    /^```/ { if (inside) { if (index(block, text)) printf "%s", block; inside = 0 } else { inside = $0 == "```" language; block = "" } next }
    inside { block = block $0 "\n" }' "$checkout/docs/recipes.md"
}

# ---- the image (without Docker: buildah, whose containers are folders) -----------------------------------------------

# Node's own image for Debian is not to be had from the registries that CI reaches. A base under the name that the
# Dockerfile asks for is made of the same parts: Debian's packages, the Node of npm, npm, and the user `node`.
builds_the_image() {
  local base=$work/base name suite container
  for name in buildah debootstrap; do
    has "$name" "$name" || { left_out "the image: there is no $name"; return; }
  done
  part "Dockerfile: an image, built by its own steps"
  name=$(sed -nE 's/^FROM (node:[^ ]+)$/\1/p' "$checkout/Dockerfile")
  suite=$(sed -E 's/.*-([a-z]+)-slim$/\1/' <<< "$name")
  expect "a base of Debian's packages is made" \
    debootstrap --variant=minbase --include=ca-certificates,libstdc++6 "$suite" "$base"
  install -D -m 0755 "$(realpath "$checkout/node_modules/.bin/node")" "$base/usr/local/bin/node"
  mkdir -p "$base/usr/local/lib/node_modules" "$base/usr/local/etc"
  cp -rL "$(npm root --global 2> /dev/null)/npm" "$base/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
  # How this machine reaches the registry.
  cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/ca-certificates.crt"
  printf 'cafile=/etc/ssl/certs/ca-certificates.crt\nregistry=%s\n' "$(npm config get registry 2> /dev/null)" > "$base/usr/local/etc/npmrc"
  chroot "$base" useradd --create-home --uid 1000 node
  container=$(image from scratch)
  image copy --quiet "$container" "$base" / > /dev/null
  image commit --quiet "$container" "docker.io/library/$name" > /dev/null
  image rm "$container" > /dev/null
  rm -rf "$base"
  expect "every step of the Dockerfile succeeds" \
    image bud --isolation chroot --pull-never --layers=false --format docker --tag fuelbridge-test "$checkout"
}

the_image() {
  local container node_of=(in_the_image node) daemon
  part "the image: its container starts as the Dockerfile says, and logs a person in"
  install -d -o 1000 -g 1000 "$work/etc" "$work/erp"
  container=$(image from --pull-never fuelbridge-test)
  fuelbridge() { in_the_image fuelbridge "$@"; }
  expect "it starts fuelbridge run" test "fuelbridge run" = "$(of_the_image Entrypoint 0) $(of_the_image Cmd 0)"
  expect "as a user who is not root" test "$(in_the_image id -u)" = 1000
  expect "it holds what npm ci --omit=dev installs here, no more and no less" \
    test "$(modules_of "$(image mount "$container")/opt/fuelbridge")" = "$(cat "$work/packages/modules")"
  platform_starts :memory:
  install -o 1000 -g 1000 -m 0600 /dev/null "$work/etc/given-key"
  of_platform keys keys "keys.find(({ name }) => name === 'supplier').key" > "$work/etc/given-key"
  expect "fuelbridge init writes a configuration for it" fuelbridge init --directory /etc/fuelbridge --company bluebonnet \
    --currency USD --time-zone America/Chicago --platform "$platform/v1/public" --api-key-file /etc/fuelbridge/given-key \
    --erp files --folder /srv/erp-exchange --state /var/lib/fuelbridge --yes
  console_on "$work/etc/fuelbridge.yaml"
  in_the_image fuelbridge run > "$work/daemon.log" 2>&1 &
  daemon=$!
  eventually "the daemon runs" grep -q 'fuelbridge runs' "$work/daemon.log"
  expect "its health is that it answers" in_the_image \
    "$(of_the_image Healthcheck.Test 1)" "$(of_the_image Healthcheck.Test 2)" "$(of_the_image Healthcheck.Test 3)"
  a_person_logs_in
  kill "$daemon" "$platform_pid"
}

image() { buildah --root "$work/containers" --runroot "$work/run" --storage-driver vfs "$@"; }
in_the_image() {
  image run --isolation chroot --volume "$work/etc:/etc/fuelbridge" --volume "$work/erp:/srv/erp-exchange" "$container" -- "$@"
}
# A word of a list in the image's configuration.
of_the_image() {
  image inspect --type image --format "{{index .Docker.Config.$1 $2}}" fuelbridge-test
}

# ---- words that the parts are made of -------------------------------------------------------------------------------

part() { printf '\n%s\n' "$*"; }

expect() {
  local what=$1
  shift
  if "$@" > /tmp/said 2>&1; then echo "  ok    $what"; else fails "$what"; fi
}

# The command, from the Debian package where it is not here yet.
has() {
  command -v "$1" > /dev/null && return
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${@:2}")
  "${install[@]}" > /dev/null 2>&1 || { apt-get -qq update && "${install[@]}"; } > /dev/null 2>&1 || true
  command -v "$1" > /dev/null
}

# Within 60 seconds.
eventually() {
  local what=$1 until=$((SECONDS + 60))
  shift
  until "$@" > /tmp/said 2>&1; do
    [ "$SECONDS" -lt "$until" ] || fails "$what"
    sleep 0.3
  done
  echo "  ok    $what"
}

fails() {
  echo "  FAIL  $1"
  tail -n 20 /tmp/said "$log" /var/log/service.log 2> /dev/null || true
  journalctl -u fuelbridge -n 40 --no-pager 2> /dev/null || true
  exit 1
}

# The Node of what is tested: that of the package, or that of the image.
node() { "${node_of[@]}" "$@"; }
node_of=(/usr/lib/fuelbridge/bin/node)

# As the comment in the configuration says.
console_on() { sed -i -e 's/^  # web:/  web:/' -e 's/^  #   port: 8090/    port: 8090/' "$1"; }

a_person_logs_in() {
  expect "a user is created" user_is_added kim
  expect "with the right password Today is shown" logs_in kim "$password"
  expect "with another password nothing is" stays_out kim "not $password"
}
password="correct horse battery"
user_is_added() { echo "$password" | fuelbridge user add "$1" --role operator; }
# What runs a container has words of its own to add.
stays_out() { test "$(logs_in "$@" 2>&1 | head -n 1)" = "login: 401"; }

# By the form of the console, as a browser sends it.
logs_in() {
  node -e '
    const [origin, name, password] = process.argv.slice(1);
    const cookies = (answer) => answer.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
    const log = async () => {
      const form = await fetch(`${origin}/login`);
      const [, csrf] = /name="csrf" value="([^"]+)"/.exec(await form.text());
      const entered = await fetch(`${origin}/login`, {
        method: "POST",
        redirect: "manual",
        headers: { cookie: cookies(form), origin, "content-type": "application/x-www-form-urlencoded" },
        body: String(new URLSearchParams({ csrf, name, password, to: "/" })),
      });
      if (entered.status !== 303) throw new Error(`login: ${entered.status}`);
      const today = await fetch(`${origin}/`, { headers: { cookie: cookies(entered) }, redirect: "manual" });
      if (today.status !== 200 || !(await today.text()).includes("<h1>Today")) throw new Error(`Today: ${today.status}`);
    };
    log().catch((error) => { console.error(error.message); process.exitCode = 1; });
  ' http://127.0.0.1:8090 "$@"
}

# Folders of the modules in that folder, one a line.
modules_of() { (cd "$1" && find node_modules -name package.json | sed -nE 's,^((.*/)?node_modules/(@[^/]+/)?[^/]+)/package.json$,\1,p' | LC_ALL=C sort); }

mode() { test "$(stat -c '%U:%G %a' "$1")" = "$2"; }
dpkg_is() { dpkg -l fuelbridge | grep -q "^$1"; }
count() { find "$1" -maxdepth 1 -name '*.csv' 2> /dev/null | wc -l; }
files_are() { test "$(count /srv/erp-exchange/import/orders) $(count /srv/erp-exchange/import/invoices)" = "$1 $2"; }
stopped_by() { fuelbridge status | grep -q "$1"; }
no_stop() { test "$(fuelbridge status --json | node -p 'JSON.parse(fs.readFileSync(0)).data.stops.length')" = 0; }

# What the platform was asked since it was started: so many writes.
writes_are() { requests "requests.filter(({ method }) => method !== 'GET').length === $1"; }
requests() { test "$(of_platform requests "requests.slice($asked_before)" "$1")" = true; }
of_platform() {
  node -e "fetch('$platform/__sandbox__/$1').then((answer) => answer.json()).then(({ $1 }) => { $1 = $2; console.log($3); })"
}

# A look at a flow that is due later; a file is read once it is at rest.
brought() { fuelbridge now customers && sleep 1 && writes_are "$1"; }

# The ERP exports so many customers: a whole file, moved into place.
customers() {
  local folder=/srv/erp-exchange/export
  mkdir -p "$folder"
  {
    head -n 1 "$checkout/test/data/tryton-export/customers.csv"
    for number in $(seq "$1"); do
      echo "91$number,A-91$number,Customer $number LLC,,,office@customer-$number.example,,$number Main St,77001,Houston,US-TX,US,Net 10"
    done
  } > "$folder/customers.csv.tmp"
  chown -R fuelbridge:fuelbridge /srv/erp-exchange
  mv "$folder/customers.csv.tmp" "$folder/customers.csv"
}

platform_starts() {
  rm -f /tmp/ready
  fuelbridge sandbox --port 18085 --db "$1" --scenario conformance > /tmp/ready 2> /dev/null &
  platform_pid=$!
  eventually "the sandbox is the platform" test -s /tmp/ready
  asked_before=$(of_platform requests requests requests.length)
}

platform_stops() {
  kill "$platform_pid"
  wait "$platform_pid" || true
}

# What the unit does, done by hand: its user, no further groups or rights, no home, a root file system that can only
# be read, and the two folders that it may write.
service_starts() {
  local command
  : > /var/log/service.log
  command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/fuelbridge.service)
  unshare --mount sh -c "
    mount --bind /var/lib/fuelbridge /var/lib/fuelbridge
    mount --bind /srv/erp-exchange /srv/erp-exchange
    mount -t tmpfs tmpfs /tmp
    mount -o remount,bind,ro /
    cd /var/lib/fuelbridge
    exec env -i PATH=/usr/bin:/bin FUELBRIDGE_CONFIG=/etc/fuelbridge/fuelbridge.yaml \
      setpriv --reuid=fuelbridge --regid=fuelbridge --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
      $command" >> /var/log/service.log 2>&1 &
  service_pid=$!
  eventually "the service runs" grep -q 'fuelbridge runs' /var/log/service.log
}

service_stops() {
  kill -TERM "$service_pid"
  local code=0
  wait "$service_pid" || code=$?
  expect "the service stops with 143" test "$code" = 143
}

# ---- the copy of the machine ----------------------------------------------------------------------------------------

main() {
  local tool missing=""
  [ "$(id -u)" = 0 ] || left_out "everything: it needs root"
  for tool in dpkg-deb setpriv unshare ip; do
    command -v "$tool" > /dev/null || left_out "everything: there is no $tool"
  done
  has systemd-analyze systemd || true
  has systemd-nspawn systemd-container || true

  part "npm run package:deb: twice over one commit, the same bytes"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/packages" "$work/upper" "$work/work" "$work/root"
  cd "$checkout"
  npm run --silent package:deb -- --revision 1 --out "$work/packages" &
  npm run --silent package:deb -- --revision 2 --out "$work/packages"
  wait $!
  # All but the version, which is not among the files.
  expect "the files in both packages are the same, bit by bit" test 1 = \
    "$(for package in "$work"/packages/*.deb; do dpkg-deb --fsys-tarfile "$package" | sha256sum; done | sort -u | wc -l)"

  # As npm itself reads the folder, without fuelbridge and the Node that is for who has none.
  npm ls --omit=dev --all --parseable 2> /dev/null | sed "s,^$checkout/\?,," | grep -vE '^(node_modules/node-(linux|win)-[^/]+)?$' |
    LC_ALL=C sort > "$work/packages/modules"
  builds_the_image

  unshare --mount --net --pid --mount-proc --fork --kill-child --propagation private bash "$0" in-namespaces "$work"
}

in_namespaces() {
  work=$1
  local root=$work/root
  ip link set lo up
  mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$root" ||
    left_out "everything: overlayfs cannot be mounted"
  mkdir "$root/packages"
  cp "$work"/packages/* "$root/packages/"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  chroot "$root" bash "$checkout/test/install.sh" in-the-copy
  umount -R "$root/proc" "$root/dev" "$root/run"
  # What runs in its containers outlives who started it, and holds the ports: it ends with a namespace of its own.
  [ ! -e "$work/containers" ] ||
    unshare --mount --pid --mount-proc --fork --kill-child --propagation private bash "$0" in-the-image "$work"

  command -v systemd-nspawn > /dev/null || { left_out "the unit under a real systemd: there is no systemd-nspawn"; return; }
  printf '%s\n' '[Unit]' 'SuccessAction=exit-force' 'FailureAction=exit-force' 'FailureActionExitStatus=1' \
    '[Service]' 'Type=oneshot' 'ExecStart=/bin/bash /checkout/test/install.sh under-systemd' \
    'StandardOutput=file:/var/log/under-systemd.log' 'StandardError=inherit' > "$root/etc/systemd/system/install-test.service"
  # Its exit code says how the container was torn down.
  systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --machine=install-test --bind-ro="$checkout:/checkout" \
    /lib/systemd/systemd --unit=install-test.service --show-status=no < /dev/null > "$work/systemd.log" 2>&1 || true
  cat "$root/var/log/under-systemd.log" 2> /dev/null || cat "$work/systemd.log"
  test -e "$root/var/log/under-systemd.done"
}

left_out() {
  echo "left out: $*" >&2
  [ "${CI:-}" = true ] && exit 1
  case "$*" in everything*) exit 0 ;; esac
}

case "${1:-}" in
  "")
    main
    printf '\nDone: nothing failed.\n'
    ;;
  in-namespaces) in_namespaces "$2" ;;
  in-the-image)
    work=$2
    the_image
    ;;
  in-the-copy)
    the_demo
    the_installation
    the_unit
    the_configuration
    the_first_documents
    the_console
    the_upgrade
    the_backup
    the_removal
    platform_stops
    ;;
  under-systemd) under_systemd ;;
esac
