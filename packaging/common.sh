# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What packaging/demo and packaging/test share: installing what is missing, and building.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Prints the packages of deps.txt that are not installed. With the word `tests` or `all`, also those that
# are marked with it.
missing_packages() {
  local package mark
  sed -e 's/#.*//' "$ROOT/packaging/deps.txt" | while read -r package mark; do
    [ -n "$package" ] || continue
    [ -z "$mark" ] || [ "$mark" = "${1:-}" ] || continue
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

is_commit() { git -C "$ROOT" rev-parse --quiet --verify "$1^{commit}" >/dev/null; }

# Prints a pattern of the layers whose tests can see a change since the commit: ptc < engine < agents < app, ui < app.
# A change outside of these concerns all.
layers_changed_since() {
  local layers='' path
  while read -r path; do
    case "$path" in
      *.md|resources/guide/*|tests/bench/*|tests/e2e/*) ;;
      ptc/*) layers+='ptc engine agents ui app ' ;;
      engine/*) layers+='engine agents ui app ' ;;
      agents/*) layers+='agents app ' ;;
      ui/*) layers+='ui app ' ;;
      app/*) layers+='app ' ;;
      tests/ptc/*|tests/engine/*|tests/agents/*|tests/ui/*|tests/app/*)
        path=${path#tests/}
        layers+="${path%%/*} " ;;
      *) echo '.*'; return ;;
    esac
  done < <(git -C "$ROOT" diff --name-only "$1")
  tr ' ' '\n' <<<"$layers" | sort -u | sed '/^$/d' | paste -sd '|'
}

# Installs them: as root, or through sudo with one question. Services that come with them stay off.
install_missing() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "needs Debian 12 or a relative of it (no apt-get here); packaging/deps.txt lists what to install"
  local missing log
  missing=$(missing_packages "${1:-}")
  [ -n "$missing" ] || return 0
  local count install_as=()
  count=$(wc -w <<<"$missing")
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && install_as=(sudo); } ||
    die "not root and no sudo; as root: apt-get install --no-install-recommends $missing"
  say "installing $count packages: $missing"
  # Tests run these programs themselves.
  local package masked=()
  for package in $missing; do
    case $package in
      etcd-server) masked+=(etcd.service) ;;
      openssh-server) masked+=(ssh.service ssh.socket) ;;
      slurmctld | slurmd | munge) masked+=("$package.service") ;;
    esac
  done
  [ ${#masked[@]} = 0 ] || say "masked, because only tests use the programs: ${masked[*]}"
  log=$(mktemp)
  # shellcheck disable=SC2086  # the list is words
  if ! "${install_as[@]}" bash -c 'export DEBIAN_FRONTEND=noninteractive
      for service in $1; do ln -sf /dev/null "/etc/systemd/system/$service"; done
      apt-get update -qq && apt-get install -y --no-install-recommends "${@:2}"' _ "${masked[*]}" $missing 2>&1 </dev/null |
      tee "$log" | show_steps packages "$(apt_steps "$missing")" '^Setting up '; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    die "the packages above could not be installed"
  fi
  rm -f "$log"
  missing=$(missing_packages "${1:-}")
  [ -z "$missing" ] || die "still missing after the installation: $missing"
}

# How many packages apt would set up for those: the missing ones and what they depend on. 0 if unknown.
apt_steps() {
  # shellcheck disable=SC2086
  LC_ALL=C apt-get install -s --no-install-recommends $1 2>/dev/null | grep -c '^Inst ' || true
}

# Reads the output of a long command and shows how far it is: on a terminal one line that changes,
# elsewhere a line a minute. The total is given, or read from lines `[12/340] …` if it is `-`.
show_steps() {
  local what=$1 total=$2 pattern=$3 finished=0 begin=$SECONDS shown=$SECONDS line text left
  while IFS= read -r line; do
    [[ $line =~ $pattern ]] || continue
    if [ "$2" = - ]; then
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    else
      finished=$((finished + 1))
    fi
    [ -t 1 ] || [ $((SECONDS - shown)) -ge 60 ] || continue
    shown=$SECONDS
    text="[ $finished"
    [ "$total" -le 0 ] || text+="/$total"
    text+=" ] $what"
    if [ "$finished" -gt 20 ] && [ "$total" -ge "$finished" ]; then
      left=$(((SECONDS - begin) * (total - finished) / finished))
      if [ "$left" -ge 90 ]; then text+=", $(((left + 30) / 60)) min left"; else text+=", $left s left"; fi
    fi
    if [ -t 1 ]; then printf '\r\033[K%s' "$text"; else printf '%s\n' "$text"; fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

# run_ctest FOLDER [OPTIONS]: runs the tests of a build. They state their load in thirds of a core.
run_ctest() {
  ctest --test-dir "$1" --output-on-failure --no-tests=error -j $((3 * $(nproc))) "${@:2}"
}

# Configures and builds a preset with all cores: the targets named, or all. Shows progress; prints the
# errors and the name of the whole log if it fails. TESSERA_CMAKE has further options of cmake, for example
# -DTESSERA_CCACHE=OFF.
build_preset() {
  local preset=$1 log begin=$SECONDS
  shift
  log=$(mktemp)
  # shellcheck disable=SC2086  # TESSERA_CMAKE is words
  (cd "$ROOT" && cmake --preset "$preset" ${TESSERA_CMAKE:-}) >"$log" 2>&1 || build_failed "$log"
  say "building ($preset, $(nproc) cores); $(sed -n 's/^-- \(Compiler cache: \|Linker: \)\(.*\)$/\1\2/p' "$log" |
    paste -sd ';' | sed 's/;/; /')"
  (cd "$ROOT" && NINJA_STATUS='[%f/%t] ' cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}) 2>&1 |
    tee -a "$log" | show_steps "built" - '^\[([0-9]+)/([0-9]+)\] ' || build_failed "$log"
  say "built in $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
  rm -f "$log"
}

build_failed() {
  grep -E -A 20 'FAILED|error|Error' "$1" | head -n 60 >&2 || tail -n 40 "$1" >&2
  say "the whole log: $1" >&2
  exit 1
}
