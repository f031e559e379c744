#!/usr/bin/env bash
# Takes the pictures in this folder: the real program in a real terminal, drawn by xterm.js in headless Chromium.
#
#   render.sh            all of them: eight minutes
#   render.sh RUN...     those of some runs: small, middle, large, 256, nocolor, 16, ascii, slo
#
# tmux is the terminal and presses the keys, asciinema writes down what the program writes, render.mjs draws that. What it
# needs of node goes to a cache, not in here. CHROMIUM names the browser if it is not found; DURATION is the ramp's length
# in seconds, of which five sixths are over when the pictures are taken.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/benchtop-screens
duration=${DURATION:-60}
runs=("$@")
[ $# -gt 0 ] || runs=(small middle large 256 nocolor 16 ascii slo)

die() { echo "render.sh: $*" >&2; exit 1; }

# --- what has to be there ---

missing=()
for tool in go tmux asciinema node npm; do command -v "$tool" >/dev/null || missing+=("$tool"); done
for browser in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
  CHROMIUM=$(command -v "$browser") && break
done
[ -n "$CHROMIUM" ] || missing+=(chromium)
[ "$(fc-match -f '%{family}' 'DejaVu Sans Mono' 2>/dev/null)" = "DejaVu Sans Mono" ] || missing+=("the font DejaVu Sans Mono")
if [ ${#missing[@]} -gt 0 ]; then
  printf 'render.sh needs: %s\n' "${missing[@]}" >&2
  die "on Debian or Ubuntu: apt-get install tmux asciinema chromium fonts-dejavu-core fontconfig nodejs npm"
fi
export CHROMIUM

work=$(mktemp -d)
socket=benchtop-screens-$$
simulator=
on_tmux() { tmux -L "$socket" "$@"; }
trap 'on_tmux kill-server 2>/dev/null || true; [ -z "$simulator" ] || kill "$simulator"; rm -rf "$work"' EXIT

if ! cmp -s "$here/package.json" "$cache/installed.json"; then
  mkdir -p "$cache"
  cp "$here/package.json" "$cache/package.json"
  npm install --prefix "$cache" --silent --ignore-scripts --no-package-lock --no-audit --no-fund
  cp "$here/package.json" "$cache/installed.json"
fi

mkdir "$work/bin"
(cd "$here/../.." && go build -o "$work/bin/benchtop" .)

# --- one run ---

# run.sh is what is shown: the demo, unless a run writes another.
show() { printf '#!/bin/sh\nexec %s\n' "$1" >"$work/run.sh"; }

# start COLS ROWS [NAME=VALUE...]: run.sh in a terminal of that size and that environment.
start() {
  cols=$1 rows=$2
  shift 2
  dir=$(mktemp -d "$work/run.XXXXXX") cast=$dir/cast
  # With CI set, programs believe that there is no terminal.
  (cd "$dir" && env -u CI -u TMUX -u NO_COLOR -u COLORTERM PATH="$work/bin:$PATH" LC_ALL=C.UTF-8 \
    tmux -u -L "$socket" -f /dev/null start-server \; set-option -g status off \; \
    new-session -d -x "$cols" -y "$rows" \
    "exec env $* asciinema rec -q -c 'sh $work/run.sh' '$cast'")
  began=$(date +%s)
  await RUN 15
}

truecolor=(TERM=xterm-256color COLORTERM=truecolor)

# await TEXT SECONDS: until the screen shows it.
await() {
  local deadline=$(($(date +%s) + $2))
  until on_tmux capture-pane -p | grep -qF -- "$1"; do
    [ "$(date +%s)" -lt "$deadline" ] || die "\"$1\" did not appear on $(on_tmux capture-pane -p)"
    sleep 0.1
  done
}

# midway: when the ramp has crossed what the server can do.
midway() { sleep $((duration * 5 / 6 - ($(date +%s) - began))); }

press() {
  on_tmux send-keys "$@"
  sleep 0.5
}

# shoot NAME: the screen as it is now. No picture of half a frame: it waits for a moment without output.
shoot() {
  local size=-1
  until [ "$(wc -c <"$cast")" -eq "$size" ]; do
    size=$(wc -c <"$cast")
    sleep 0.1
  done
  cp "$cast" "$cast.now"
  draw "$1"
}

# draw NAME [light]: what was shot last.
draw() {
  node "$here/render.mjs" "$cache" "$cast.now" "$cols" "$rows" "$here/$1.png" ${2:+"$2"}
  echo "docs/screens/$1.png"
}

# leave: three times q is out at once, whatever the state.
leave() {
  while on_tmux has-session 2>/dev/null; do
    on_tmux send-keys q 2>/dev/null || true
    sleep 0.3
  done
}

# --- the pictures ---

for run in "${runs[@]}"; do
  show "benchtop demo --duration ${duration}s"
  case $run in
  small)
    start 80 24 "${truecolor[@]}"
    midway
    shoot overview-80x24
    ;;
  middle)
    start 120 40 "${truecolor[@]}"
    midway
    shoot overview-120x40
    draw overview-120x40-light light # the program does not know what is behind its letters
    press '?'
    shoot help-120x40
    press Escape
    await DONE $((duration + 15))
    sleep 1
    shoot done-120x40
    ;;
  large)
    start 200 50 "${truecolor[@]}"
    midway
    shoot overview-200x50
    ;;
  256)
    start 120 40 TERM=screen-256color
    midway
    shoot overview-120x40-256
    ;;
  nocolor)
    start 120 40 "${truecolor[@]}" NO_COLOR=1
    midway
    shoot overview-120x40-nocolor
    ;;
  16)
    start 120 40 TERM=xterm
    midway
    shoot overview-120x40-16
    draw overview-120x40-16-light light
    ;;
  ascii)
    show "env LC_ALL=C benchtop demo --duration ${duration}s"
    start 120 40 "${truecolor[@]}" NO_COLOR=1
    midway
    shoot overview-120x40-ascii
    ;;
  slo) # four stages, objectives and gates against the simulator
    "$work/bin/benchtop" simulate --port 0 >"$work/simulator" &
    simulator=$!
    until grep -q 'http://' "$work/simulator"; do sleep 0.1; done
    url=$(grep -o 'http://[^ ]*' "$work/simulator" | head -1)
    each=$((duration / 4))s
    show "benchtop serve --base-url $url --dataset-name random --random-input-len 200 --random-output-len 60 \
      --stages 8:$each,24:$each,40:$each,60:$each --warmup 5s --goodput ttft:200 tpot:30 \
      --fail-on 'goodput<90%' --fail-on 'p99_ttft_ms>2000'"
    start 120 40 "${truecolor[@]}"
    midway
    shoot slo-120x40
    draw slo-120x40-light light
    leave
    start 80 24 "${truecolor[@]}"
    midway
    shoot slo-80x24
    ;;
  *) die "no run is called $run" ;;
  esac
  leave
done
