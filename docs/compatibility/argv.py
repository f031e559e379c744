"""Compares which command lines vllm bench serve and benchtop serve accept.

    argv.py

Neither reaches a server: what vllm accepts ends with a failed request and exit code 0, what it refuses with 1 or 2;
benchtop ends with 1 (no server) or 2 (refused).
"""

import concurrent.futures
import os
import shlex
import subprocess

from compare import BENCHTOP, FILE, HERE, OUT, PYTHON, SOURCES

LINES = """
--num-prompts 1
--num_prompts 1
--num-p 1
--num 1
--num-prompts=1
--num-prompts 1_0
--num-prompts ' 1 '
--num-prompts 1.0
--num-prompts 1e1
--num-prompts -1
--num-prompts 0
--num-prompts
--num-prompts 2 --num-prompts 1
--request-rate inf
--request-rate INF
--request-rate infinity
--request-rate +inf
--request-rate nan
--request-rate 1e6
--request-rate 1_000.5
--request-rate .5e6
--request-rate 0
--request-rate -1
--request-rate -1e5
--request-rate 0x10
--burstiness 0
--burstiness -1
--burstiness inf
--burstiness nan
--max-concurrency 1
--max-concurrency 0
--max-concurrency -1
--max-concurrency None
--seed 4294967295
--seed 4294967296
--seed -1
--port 99999
--port 0
--backend vllm
--backend openai-chat
--backend openai-chat --endpoint /v1/chat/completions
--backend nothing
--endpoint /v1/other
--endpoint v1/completions
--goodput ttft:500 tpot:50
--goodput ttft:500 --goodput tpot:50
--goodput=ttft:500
--goodput ttft:500,tpot:50
--goodput ttft:-1
--goodput ttft:inf
--goodput ttft:0
--goodput itl:5
--goodput TTFT:5
--goodput ttft:1e3
--goodput 'ttft: 5'
--goodput
--header
--header a=b
--header a=b c=d
--header a
--header a=b=c
--metadata
--metadata a=b c=
--metadata a
--save-result --result-dir OUT --result-filename argv.json
--save-result=true
--save-result true
--save-detailed
--append-result --result-dir OUT --result-filename argv.json
--percentile-metrics ttft
--percentile-metrics ttft,tpot,itl,e2el
--percentile-metrics 'ttft, tpot'
--percentile-metrics nothing
--percentile-metrics ''
--percentile-metrics TTFT
--metric-percentiles 50,99.9
--metric-percentiles '50, 99'
--metric-percentiles 50,50
--metric-percentiles 101
--metric-percentiles x
--metric-percentiles ''
--metric-percentiles 50,
--temperature 0
--temperature -1
--top-k -1
--top-k 1.5
--top-p 2
--presence-penalty -0.5
--presence-penalty -1e-05
--presence-penalty=-1e-05
--min-p nan
--logprobs 5
--logprobs -1
--ignore-eos
--use-beam-search
--extra-body '{"a": 1}'
--extra-body '[1]'
--extra-body 'null'
--extra-body '{}'
--extra-body '{"a": NaN}'
--extra-body '{a: 1}'
--extra-body '{"a": 1, "a": 2}'
--extra-body.a 1
--extra-body.a.b x --extra_body.a.c 2
--extra-body.stop+ X,Y
--extra-body.a 1 --extra-body '{"b": 2}'
--extra-body.a
--chat-template-kwargs '{"thinking": true}'
--lora-modules a b
--lora-modules
--lora-modules a --lora-assignment round-robin
--lora-assignment other
--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2
--ramp-up-strategy linear --ramp-up-start-rps 2 --ramp-up-end-rps 2
--ramp-up-strategy linear --ramp-up-start-rps 0 --ramp-up-end-rps 2
--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 2
--ramp-up-strategy linear --ramp-up-start-rps 1
--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2 --request-rate 5
--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2 --request-rate inf
--ramp-up-strategy linear --ramp-up-start-rps 1.5 --ramp-up-end-rps 2
--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 2
--ramp-up-strategy other --ramp-up-start-rps 1 --ramp-up-end-rps 2
--ramp-up-start-rps 1
--ready-check-timeout-sec 0
--ready-check-timeout-sec -1
--num-warmups 0
--num-warmups -1
--probe-request-rate 0
--probe-request-rate -1
--disable-tqdm
--profile
--plot-timeline --result-dir OUT --result-filename argv.json
--plot-timeline --timeline-itl-thresholds 1
--plot-timeline --timeline-itl-thresholds ' 10 , 20 ' --result-dir OUT --result-filename argv.json
--timeline-itl-thresholds x
--plot-dataset-stats
--self-timed
--no-self-timed
--input-len 10
--input-len 0
--output-len 10
--random-input-len 10 --random-output-len 5
--random-range-ratio 0.5
--random-range-ratio 1
--random-range-ratio '{"input": 0.1, "output": 0.5}'
--random-prefix-len 5
--random-batch-size 1
--random-batch-size 2
--no-reranker
--dataset-name random --dataset-path FILE
--dataset-name sharegpt --dataset-path FILE
--dataset-name sharegpt
--dataset-name sharegpt --dataset-path /nowhere
--dataset-name nothing
--dataset-name sonnet --dataset-path FILE
--tokenizer x
--tokenizer-mode slow
--skip-tokenizer-init
--skip-tokenizer-init --dataset-name sharegpt --dataset-path FILE
--trust-remote-code
--insecure
--label a/b
--label ''
--request-id-prefix ''
--request-id-prefix x-
--served-model-name y
--no-stream
--no-oversample
--skip-chat-template
--disable-shuffle
--hf-split train
--custom-output-len 5
--unknown
--unknown 5
positional
--
-x
--model
--model ''
--host ::1 --port 1
--base-url localhost:1
--config x.yaml
"""


def outcome(line):
    arguments = shlex.split(line.replace("FILE", FILE).replace("OUT", OUT))
    common = ["--model", "sim-8b"] if "--model" not in line else []
    if "--base-url" not in line and "--host" not in line:
        common += ["--base-url", "http://127.0.0.1:1"]
    if "--num" not in line:
        common += ["--num-prompts", "1"]
    environment = os.environ | {"COMPAT_TOKENIZER": "identity" if "sharegpt" not in line else "words"}
    done = {}
    for client, command in ("vllm", [PYTHON, f"{HERE}/vllm_bench.py", SOURCES, "serve"]), (
        "benchtop",
        [BENCHTOP, "serve"],
    ):
        try:
            done[client] = subprocess.run(
                [*command, *common, *arguments],
                capture_output=True,
                text=True,
                env=environment,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            done[client] = subprocess.CompletedProcess(command, 0, "", "did not end in 60 s")
    v, b = done["vllm"], done["benchtop"]
    last = lambda d: (d.stderr.strip().splitlines() or [""])[-1][:160]
    return line, v.returncode == 0, b.returncode != 2, last(v), last(b)


def main():
    os.chdir("/tmp")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(outcome, [line for line in LINES.splitlines() if line]))
    same = [row for row in rows if row[1] == row[2]]
    print(f"{len(same)} of {len(rows)} command lines are accepted or refused by both")
    for line, v, b, words_v, words_b in rows:
        if v != b:
            print(
                f"\n{line}\n   vllm {'accepts' if v else 'refuses: ' + words_v}\n   benchtop {'accepts' if b else 'refuses: ' + words_b}"
            )


if __name__ == "__main__":
    main()
