#!/usr/bin/env bash
# Compares benchtop serve with the real vllm bench serve.
#
#   docs/compatibility/run.sh                     everything; half an hour on a quiet machine
#   docs/compatibility/run.sh requests [CASE...]  what both send and save
#   docs/compatibility/run.sh datasets [WORD...]  which prompts both draw
#   docs/compatibility/run.sh record FOLDER       what vLLM draws from small copies of the hub's data sets, for internal/cli/testdata/vllm_hf
#   docs/compatibility/run.sh figures [ROUNDS NAME...]  COMPAT_PORT names a real server instead of the simulated one, see compare.py
#   docs/compatibility/run.sh faults
#   docs/compatibility/run.sh argv                   which command lines both accept
#   docs/compatibility/run.sh flags [rust]           vLLM's flags, as internal/cli/testdata/vllm_serve_flags.json has them for a test;
#                                                    with rust those of its Rust client, of vllm_rs_serve_flags.json
#   docs/compatibility/run.sh sweep [DIRECTORY]      the plots that both draw of a sweep: of DIRECTORY, or of one that benchtop runs first
#
# It needs Python 3.11 or later, Go, unzip, and PyPI. vLLM's package is loaded from there once (340 MB) and only the Python
# files of its client are unpacked, outside the repository; torch and a GPU are not needed. VLLM chooses the version, SCRATCH
# the folder for all of it, BENCHTOP a binary to compare instead of one built from this tree, DATA a folder with real data sets
# (prompt_cases.py names them) for datasets, DATASETS the release of the library of that name.
set -euo pipefail

VLLM=${VLLM:-0.33.0}
DATASETS=${DATASETS:-5.2.0}
export PYTHONDONTWRITEBYTECODE=1
export SCRATCH=${SCRATCH:-/tmp/vllm-bench}
here=$(cd "$(dirname "$0")" && pwd)
export VLLM_SOURCES=$SCRATCH/vllm-$VLLM
mkdir -p "$SCRATCH/out"

if [ ! -x "$SCRATCH/venv/bin/python" ]; then
  "${PYTHON:-python3.11}" -m venv "$SCRATCH/venv"
  "$SCRATCH/venv/bin/pip" install --quiet numpy==2.4.6 aiohttp==3.14.5 tqdm==4.70.1 requests==2.34.2 \
    regex PyYAML pillow pybase64 psutil pyzmq urllib3 typing_extensions
fi
if [ ! -f "$VLLM_SOURCES/vllm/multimodal/image.py" ]; then
  "$SCRATCH/venv/bin/pip" download --quiet --no-deps --dest "$SCRATCH/wheel" "vllm==$VLLM"
  unzip -q -o "$SCRATCH"/wheel/vllm-"$VLLM"-*.whl 'vllm/benchmarks/*.py' 'vllm/utils/*.py' 'vllm/multimodal/image.py' \
    -d "$VLLM_SOURCES"
fi
# The tokenizers are only needed where prompts are drawn with them. These are the releases that vLLM 0.33 asks for; of datasets it takes any,
# and its order of rows is another in 4, 5.0 and 5.1. It needs another huggingface_hub before 5.1, and so another SCRATCH.
if [[ ${1:-all} =~ ^(all|datasets|record|requests|figures)$ ]] && ! "$SCRATCH/venv/bin/python" -c 'import cv2, datasets, transformers, pandas, soundfile' 2>/dev/null; then
  "$SCRATCH/venv/bin/pip" install --quiet transformers==5.20.2 tokenizers==0.23.3 jinja2==3.1.6 pandas==3.1.1 soundfile opencv-python-headless \
    datasets=="$DATASETS"
fi
if [[ ${1:-all} =~ ^(all|sweep)$ ]] && ! "$SCRATCH/venv/bin/python" -c 'import seaborn' 2>/dev/null; then
  "$SCRATCH/venv/bin/pip" install --quiet pandas==3.1.1 matplotlib==3.11.2 seaborn==0.13.2
fi
"$SCRATCH/venv/bin/python" "$here/sharegpt.py" "$SCRATCH/sharegpt.json"
(cd "$here/../.." && go build -o "$SCRATCH/arrivals" ./docs/compatibility/testdata/arrivals)
if [ -z "${BENCHTOP:-}" ]; then
  export BENCHTOP=$SCRATCH/benchtop
  (cd "$here/../.." && go build -o "$BENCHTOP" .)
fi

python=$SCRATCH/venv/bin/python
echo "vllm $VLLM, $("$BENCHTOP" version 2>/dev/null || echo benchtop), $(date +%F), $(nproc) cores" >&2
sweep() { # of a directory, or of a new one
  local directory=${1:-$SCRATCH/out/sweep}
  if [ -z "${1:-}" ]; then
    rm -rf "$directory"
    echo '[{"max_concurrency": 1, "random_output_len": 8}, {"max_concurrency": 4, "random_output_len": 8}, {"max_concurrency": 16, "random_output_len": 8},
      {"max_concurrency": 1, "random_output_len": 32}, {"max_concurrency": 4, "random_output_len": 32}]' >"$SCRATCH/out/bench.json"
    "$BENCHTOP" sweep serve --serve-cmd "'$BENCHTOP' simulate --port 18433" --bench-params "$SCRATCH/out/bench.json" --num-runs 2 \
      --bench-cmd "vllm bench serve --port 18433 --dataset-name random --random-input-len 64 --num-prompts 24" \
      -o "$(dirname "$directory")" -e "$(basename "$directory")" >/dev/null 2>"$directory.log" || { tail "$directory.log"; return 1; }
  fi
  "$python" "$here/plots.py" "$VLLM_SOURCES" "$directory" "$BENCHTOP"
}
case "${1:-all}" in
  sweep) sweep "${2:-}" ;;
  argv) "$python" "$here/argv.py" ;;
  flags)
    if [ "${2:-}" = rust ]; then
      unzip -q -n "$SCRATCH"/wheel/vllm-"$VLLM"-*.whl vllm/vllm-rs -d "$VLLM_SOURCES"
      chmod +x "$VLLM_SOURCES/vllm/vllm-rs"
      "$python" "$here/rust_flags.py" "$VLLM_SOURCES/vllm/vllm-rs"
    else "$python" "$here/vllm_bench.py" "$VLLM_SOURCES" flags; fi ;;
  datasets) "$python" "$here/prompts.py" "${@:2}" ;;
  record) "$python" "$here/record_hf.py" "$2" ;;
  all)
    "$python" "$here/prompts.py" || true
    "$python" "$here/argv.py"
    "$python" "$here/compare.py" requests
    "$python" "$here/compare.py" faults
    "$python" "$here/compare.py" figures
    sweep
    ;;
  *) "$python" "$here/compare.py" "$@" ;;
esac
