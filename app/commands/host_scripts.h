// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What `up --hosts` and `down` run on a host: scripts for a POSIX shell that need /proc, grep and
/// sed of Linux. Assignments of the variables that a script names come first.

#include <string_view>

namespace tessera::app {

/// `alive PID`; a zombie is not. `agents CONFIG`: the agents with that configuration.
/// `family PID…`: these and all below them. `gone TENTHS PID…`: whether they end within that time.
/// `listening PORT…`: the first of these ports that is in use. `clear FOLDER`: removes a node's
/// folder but for the history in it, which the next registrar there continues.
inline constexpr std::string_view kHostFunctions = R"sh(
alive() {
  { read -r stat </proc/$1/stat; } 2>/dev/null || return 1
  case ${stat##*) } in Z* | X*) return 1 ;; esac
}
agents() {
  for file in $(grep -slzxF -e "$1" /proc/[0-9]*/cmdline); do
    pid=${file#/proc/}
    pid=${pid%/cmdline}
    { read -r comm </proc/$pid/comm; } 2>/dev/null || continue
    [ "$comm" = tessera-agent ] && alive $pid && printf '%s ' $pid
  done
}
family() {
  parents=$(sed -n 's/^\([0-9]*\) (.*) [A-Z] \([0-9]*\) .*/\1 \2/p' /proc/[0-9]*/stat 2>/dev/null)
  known=" $* "
  grown=yes
  while [ -n "$grown" ]; do
    grown=
    while read -r pid parent; do
      case $known in *" $pid "*) continue ;; esac
      case $known in *" $parent "*) known="$known$pid " grown=yes ;; esac
    done <<END
$parents
END
  done
  echo $known
}
gone() {
  tenths=$1
  shift
  while :; do
    left=
    for pid in "$@"; do alive $pid && left=yes; done
    [ -z "$left" ] && return 0
    [ $tenths -le 0 ] && return 1
    tenths=$((tenths - 1))
    sleep 0.1
  done
}
listening() {
  for port in "$@"; do
    hex=$(printf '%04X' $port)
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
      grep -Eq "^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F]+:0000 0A " && echo $port && return 0
  done
  return 1
}
clear() {
  for file in "$1"/* "$1"/.[!.]*; do
    case ${file##*/} in history.db*) ;; *) rm -rf "$file" ;; esac
  done
  rmdir "$1" 2>/dev/null
}
)sh";

/// `programs` (a folder), `folder`, `cluster`, `node`: what the host has.
inline constexpr std::string_view kProbeScript = R"sh(
if [ ! -x "$programs/tesseractl" ]; then
  programs=$(command -v tesseractl) || { say path "$PATH"; return 0; }
  programs=${programs%/tesseractl}
fi
say programs "$programs"
say version "$("$programs/tesseractl" --version 2>&1)"
[ -x "$programs/tessera-agent" ] && say agent "$("$programs/tessera-agent" --version 2>&1)"
say machine "$(uname -n)"
home=$(pwd -P)
[ -n "$folder" ] || folder=${TESSERA_HOME:-${XDG_DATA_HOME:-$home/.local/share}/tessera}/clusters
case $folder in "/"*) ;; *) folder=$home/$folder ;; esac
say folder "$folder/$cluster/n$node"
say running "$(agents "$folder/$cluster/n$node/agent.json")"
set -- ${SSH_CONNECTION:-}
say address "${3:-}"
)sh";

/// `programs`, `folder` (of the node), `ports`, and the function `files`, which writes its files:
/// starts the agent, and waits until it listens or has ended.
inline constexpr std::string_view kStartScript = R"sh(
taken=$(listening $ports) && { say taken $taken; return 0; }
if [ ! -e "$folder/agent.json" ] && ls -A "$folder" 2>/dev/null | grep -qv '^history\.db'; then
  say problem "$folder has other files; --folder chooses another place"
  return 0
fi
clear "$folder"
[ ! -e "$folder/history.db" ] || : >"$folder/history.db.kept"
error=$(mkdir -p "$folder/allowed" 2>&1) || { say problem "$error"; return 0; }
chmod 700 "$folder"
error=$(files 2>&1) || { say problem "$error"; return 0; }
cd "$folder" || return 1
$(command -v setsid) "$programs/tessera-agent" --config "$folder/agent.json" \
  </dev/null >>agent.log 2>&1 &
keeper=$!
# Every node binds its last port; only the registrar binds its first.
while alive $keeper && ! listening ${ports##* } >/dev/null; do sleep 0.2; done
alive $keeper || say ended "$(tail -n 1 agent.log)"
)sh";

/// `folder`: the last line of the agent's log.
inline constexpr std::string_view kLogScript = R"sh(
say log "$(tail -n 1 "$folder/agent.log" 2>/dev/null)"
)sh";

/// `folder`, `grace` (tenths of a second), `remove` (empty: the files stay): ends the agent with
/// all its processes.
inline constexpr std::string_view kEndScript = R"sh(
first=$(agents "$folder/agent.json")
if [ -n "$first" ]; then
  all=$(family $first)
  if ! gone $grace $first; then
    kill -TERM $first 2>/dev/null
    gone 50 $first
    all=$(family $all)
  fi
  if ! gone 20 $all; then
    kill -KILL $all 2>/dev/null
    gone 20 $all
  fi
  say ended "$first"
fi
[ -e "$folder/agent.json" ] || return 0
rm -f "$folder"/agent.key "$folder"/*.sock
if [ -n "$remove" ]; then
  # A history that is there since this start alone is nobody's.
  if [ -e "$folder/history.db.kept" ]; then clear "$folder"; else rm -rf "$folder"; fi
  rmdir "$(dirname "$folder")" 2>/dev/null
fi
return 0
)sh";

}  // namespace tessera::app
