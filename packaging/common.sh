# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What packaging/demo and packaging/test share: installing what is missing, and building.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Prints the packages of deps.txt that are not installed.
missing_packages() {
  local package
  sed -e 's/#.*//' "$ROOT/packaging/deps.txt" | while read -r package _; do
    [ -n "$package" ] || continue
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

# Installs them: as root, or through sudo with one question.
install_missing() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "needs Debian 12 or a relative of it (no apt-get here); packaging/deps.txt lists what to install"
  local missing log
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  say "installing: $missing"
  local install="export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing"
  log=$(mktemp)
  if [ "$(id -u)" = 0 ]; then
    bash -c "$install" >"$log" 2>&1 || { tail -n 5 "$log" >&2; rm -f "$log"; die "the packages above could not be installed"; }
  elif command -v sudo >/dev/null; then
    sudo bash -c "$install" >"$log" 2>&1 || { tail -n 5 "$log" >&2; rm -f "$log"; die "the packages above could not be installed"; }
  else
    rm -f "$log"
    die "not root and no sudo; as root: apt-get install --no-install-recommends $missing"
  fi
  rm -f "$log"
  missing=$(missing_packages)
  [ -z "$missing" ] || die "still missing after the installation: $missing"
}

# Configures and builds a preset with all cores: the targets named, or all. The whole log on failure
# only.
build_preset() {
  local preset=$1 log
  shift
  say "building ($preset, $(nproc) cores)"
  log=$(mktemp)
  if ! { cd "$ROOT" && cmake --preset "$preset" && cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}; } >"$log" 2>&1; then
    grep -E -A 20 'FAILED|error|Error' "$log" | head -n 60 >&2 || tail -n 40 "$log" >&2
    say "the whole log: $log" >&2
    exit 1
  fi
  rm -f "$log"
}
