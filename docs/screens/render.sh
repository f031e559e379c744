#!/usr/bin/env bash
# Takes the pictures in this folder: the real program in a real terminal, drawn by xterm.js in headless Chromium.
#
#   render.sh            all of them: about a quarter of an hour
#   render.sh film       the moving picture of the README; it needs ffmpeg and gifsicle as well
#   render.sh RUN...     those of some runs, see below; "pages" are the pages of the demo, and the first in other sizes and
#                        colour modes
#
# tmux is the terminal and presses the keys, asciinema records the output, render.mjs draws it. Node packages go to a cache
# outside of this folder. CHROMIUM is the browser if it is not found; DURATION is the length of the ramp in seconds: the
# pictures are taken after five sixths of it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/benchtop-screens
duration=${DURATION:-60}
all=(film pages done dead steer request turns form prepare find sweep replay)

die() { echo "render.sh: $*" >&2; exit 1; }

# --- requirements ---

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

# run.sh is the command of the picture: the demo, unless a run writes another.
show() { printf '#!/bin/sh\nexec %s\n' "$1" >"$work/run.sh"; }

# start COLS ROWS [NAME=VALUE...]: run.sh in a terminal of that size and that environment.
start() {
  cols=$1 rows=$2
  shift 2
  dir=$(mktemp -d "$work/run.XXXXXX") cast=$dir/cast
  # With CI set, programs assume that there is no terminal.
  (cd "$dir" && env -u CI -u TMUX -u NO_COLOR -u COLORTERM PATH="$work/bin:$PATH" LC_ALL=C.UTF-8 \
    tmux -u -L "$socket" -f /dev/null start-server \; set-option -g status off \; \
    new-session -d -x "$cols" -y "$rows" \
    "exec env $* asciinema rec -q -c 'sh $work/run.sh' '$cast'")
  began=$(date +%s)
  await "${first:-benchtop|Overview}" 15
}

truecolor=(TERM=xterm-256color COLORTERM=truecolor)

# await TEXT SECONDS: waits until the screen shows the text.
await() {
  local deadline=$(($(date +%s) + $2))
  until on_tmux capture-pane -p | grep -qE -- "$1"; do
    [ "$(date +%s)" -lt "$deadline" ] || die "\"$1\" did not appear on $(on_tmux capture-pane -p)"
    sleep 0.1
  done
}

# midway: waits until the ramp is above the capacity of the server.
midway() { sleep $((duration * 5 / 6 - ($(date +%s) - began))); }

press() {
  on_tmux send-keys "$@"
  sleep 0.5
}

# shoot NAME: records the screen, to be drawn after the run. It waits for a moment without output, so that the frame is
# complete.
shots=()
shoot() {
  local size=-1
  until [ "$(wc -c <"$cast")" -eq "$size" ]; do
    size=$(wc -c <"$cast")
    sleep 0.1
  done
  cp "$cast" "$work/$1.cast"
  shots+=("$1 $cols $rows")
}

# draw: draws the recorded screens, on a white terminal where the name says so.
draw() {
  local shot name
  for shot in "${shots[@]}"; do
    read -r name c r <<<"$shot"
    local tone=
    [[ $name != *-light ]] || tone=light
    local ending=png
    [ "$name" != demo ] || ending=gif
    node "$here/render.mjs" "$cache" "$work/$name.cast" "$c" "$r" "$here/$name.$ending" $tone
    echo "docs/screens/$name.$ending"
  done
  shots=()
}

# leave: presses q until the program ends; three times end it at once in any state.
leave() {
  while on_tmux has-session 2>/dev/null; do
    on_tmux send-keys q 2>/dev/null || true
    sleep 0.3
  done
  draw
}

# simulate: starts a simulated server at $url.
simulate() {
  "$work/bin/benchtop" simulate --port 0 "$@" >"$work/simulator" &
  simulator=$!
  until grep -q 'http://' "$work/simulator"; do sleep 0.1; done
  url=$(grep -o 'http://[^ ]*' "$work/simulator" | head -1)
}

# --- the pictures ---

pages=(overview latency load server requests log)

# pages SIZE MODE COUNT: the first pages of the demo.
pages() {
  local size=$1 mode=$2 suffix=-$2 env=() i
  case $mode in
  true) suffix= env=("${truecolor[@]}") ;;
  light) env=("${truecolor[@]}" "COLORFGBG=0\;15") ;;
  16) env=(TERM=xterm) ;;
  nocolor) env=("${truecolor[@]}" NO_COLOR=1) ;;
  *) die "no colour mode is called $mode" ;;
  esac
  show "benchtop demo --duration ${duration}s"
  start "${size%x*}" "${size#*x}" "${env[@]}"
  midway
  for ((i = 1; i <= $3; i++)); do
    press $i
    sleep 1.2 # until the charts are drawn again
    shoot "${pages[i - 1]}-$size$suffix"
  done
  leave
}

[ $# -gt 0 ] || set -- "${all[@]}"

for run in "$@"; do
  show "benchtop demo --duration ${duration}s"
  case $run in
  pages)
    pages 120x40 true ${#pages[@]}
    pages 80x24 true 1
    pages 200x50 true 1
    pages 120x40 light 1
    pages 120x40 16 1
    pages 120x40 nocolor 1
    continue
    ;;
  film) # the demo as a moving picture
    show "benchtop demo --duration 30s"
    start 100 30 "${truecolor[@]}"
    await DONE 60
    sleep 3
    shoot demo
    ;;
  done) # the help, the end and the report
    start 120 40 "${truecolor[@]}"
    press '?'
    sleep 1
    shoot help-120x40
    press Escape
    await DONE $((duration + 40))
    sleep 1
    press 7
    shoot report-120x40
    press 1
    shoot done-120x40
    ;;
  dead) # the server dies in the middle of the ramp
    simulate
    show "benchtop serve --base-url $url --dataset-name random --vocab-size 32000 --ignore-eos --random-input-len 256 --random-output-len 64 --ramp-up-strategy linear --ramp-up-start-rps 4 --ramp-up-end-rps 50 --ramp-over ${duration}s --goodput ttft:500 tpot:50"
    start 120 40 "${truecolor[@]}"
    sleep $((duration * 2 / 5))
    kill -9 "$simulator"
    simulator=
    await 'not answering for [89]s' 30
    shoot dead-120x40
    ;;
  steer) # the load is taken over by hand
    start 120 40 "${truecolor[@]}"
    sleep $((duration / 4))
    press c
    press '}'
    sleep $((duration / 6))
    press '}'
    sleep $((duration / 6))
    press i
    press 2 8
    press Enter
    sleep 6
    shoot steer-120x40
    ;;
  request) # one request, opened
    start 120 40 "${truecolor[@]}"
    sleep $((duration / 3))
    press 5
    sleep 1
    press j
    press j
    press Enter
    sleep 1.5
    shoot request-120x40
    ;;
  turns) # conversations of several turns, with a prefix cache that has room for all of them
    simulate --num-gpu-blocks unbounded
    show "benchtop serve --base-url $url --backend openai-chat --multi-turn --multi-turn-num-turns 6 --multi-turn-delay-ms 800 --random-input-len 300 --random-output-len 40 --num-prompts 40 --max-active-conversations 4 --goodput ttft:300 tpot:50"
    start 120 40 "${truecolor[@]}"
    await RUN 30
    sleep $((duration * 2 / 3))
    press 2
    sleep 1.2
    shoot turns-120x40
    ;;
  form)
    simulate
    show "benchtop"
    start 120 40 "${truecolor[@]}"
    sleep 1
    shoot form-120x40
    on_tmux kill-server
    ;;
  prepare) # the server makes and counts the text of many long prompts
    simulate
    show "benchtop serve --base-url $url --backend openai-chat --random-input-len 8000 --num-prompts 4000 --request-rate 8 --ready-check-timeout-sec 60 --num-warmups 4"
    start 120 40 "${truecolor[@]}"
    await 'prompts .*[0-9]/4000' 60
    sleep 2.2
    shoot prepare-120x40
    ;;
  find)
    simulate
    show "benchtop serve --base-url $url --random-input-len 256 --random-output-len 64 --find --find-from 16 --find-step 5s --find-hold 30s --goodput ttft:300 tpot:50"
    start 120 40 "${truecolor[@]}"
    sleep 55
    press 3
    sleep 1.2
    shoot find-120x40
    ;;
  sweep) # combinations of server and benchmark parameters, in the middle
    port=$((20000 + $$ % 10000))
    printf '[{"profile": "a10-8b-tight"}, {"profile": "l40s-8b"}]\n' >"$work/serve.json"
    printf '[{"max_concurrency": 1, "num_prompts": 8}, {"max_concurrency": 4, "num_prompts": 30}, {"max_concurrency": 16, "num_prompts": 100}, {"max_concurrency": 64, "num_prompts": 300}]\n' >"$work/bench.json"
    show "benchtop sweep serve --serve-cmd 'benchtop simulate --port $port' --bench-cmd 'benchtop serve --base-url http://127.0.0.1:$port --dataset-name random --vocab-size 32000 --ignore-eos --random-input-len 256 --random-output-len 64' --serve-params $work/serve.json --bench-params $work/bench.json --num-runs 1 -o results -e sweep"
    first=combinations start 120 40 "${truecolor[@]}"
    await 'combinations 6/8' 400
    sleep 1.5
    shoot sweep-120x40
    press q
    press y
    ;;
  replay) # a saved run again, over an older one
    show "sh -c 'benchtop demo --duration 20s --exit --result-filename old.json >/dev/null; exec benchtop demo --duration 20s --exit --result-filename new.json --seed 2 >/dev/null'"
    first='sent ' start 120 40 "${truecolor[@]}" # no dashboard
    saved=$dir
    while on_tmux has-session 2>/dev/null; do sleep 0.5; done
    show "benchtop report --baseline '$saved/benchtop-results/old.json' '$saved/benchtop-results/new.json'"
    start 120 40 "${truecolor[@]}"
    sleep 12
    shoot replay-120x40
    ;;
  *) die "no run is called $run" ;;
  esac
  leave
  [ -z "$simulator" ] || { kill "$simulator"; simulator=; }
done
