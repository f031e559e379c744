"""Runs vllm bench serve and benchtop serve against one simulated server and compares what they send and what they say.

    compare.py requests [CASE...]      bodies, headers, planned arrivals, keys of the result, lines of the report
    compare.py figures [ROUNDS NAME...] every common figure, over interleaved rounds
    compare.py faults                  what each makes of a server that misbehaves

run.sh prepares what this needs and calls it; VERSION below is the folder's that it prepared.
"""

import contextlib
import json
import math
import os
import re
import shlex
import statistics
import struct
import subprocess
import sys
import time
import wave
from datetime import datetime

from prompt_cases import write_models

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.environ.get("SCRATCH", "/tmp/vllm-bench")
SOURCES = os.environ["VLLM_SOURCES"]
PYTHON = os.path.join(SCRATCH, "venv/bin/python")
BENCHTOP = os.environ.get("BENCHTOP", os.path.join(SCRATCH, "benchtop"))
OUT = os.path.join(SCRATCH, "out")
SERVER, RECORDER = int(os.environ.get("COMPAT_PORT", 18123)), 18124

FILE = os.path.join(SCRATCH, "sharegpt.json")
SHAREGPT = f"--dataset-name sharegpt --dataset-path {FILE}"
CHAT = "--backend openai-chat --endpoint /v1/chat/completions"
EMBEDDINGS = "--backend openai-embeddings --endpoint /v1/embeddings"
RESPONSES = "--backend openai-responses --endpoint /v1/responses"
RERANK = "--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --random-input-len 50 --random-batch-size 3"
POOLING = "--backend vllm-pooling --endpoint /pooling"
RECORDINGS = os.path.join(OUT, "recordings")
AUDIO = f"--backend openai-audio --endpoint /v1/audio/transcriptions --dataset-name custom_audio --dataset-path {RECORDINGS}/all.jsonl"
LORA = "--lora-modules sim-8b other third"
ADAPTERS = "--lora-modules other third"
TOKENIZER = f"--tokenizer {OUT}/prompts/qwen2.5"
OFFLINE = {"COMPAT_TOKENIZER": "folder", "COMPAT_NO_TOKENIZE": "1", "HF_HUB_OFFLINE": "1"}


def case(name, flags, arrivals="", benchtop="", simulate="", **environment):
    """One comparison: flags for both, and for benchtop alone; the planned arrivals as benchtop's library is asked for them
    ("" for none to check); flags of the simulated server; and what the launcher of vllm is told."""
    return name, flags, arrivals, benchtop, simulate, environment


def drawn(name, flags, arrivals="", **environment):
    """A comparison with a tokenizer on this machine. Without arrivals those that were recorded speak for themselves."""
    flags += f" {TOKENIZER} --num-prompts 20"
    if "timed_trace" not in flags:
        flags += " --request-rate 20"
    return case(name, flags, arrivals, **(OFFLINE | environment))


TESTS = os.path.normpath(f"{HERE}/../../datasets/testdata")
MEDIA = f"{SHAREGPT} --num-prompts 80 --request-rate 30"
RAMP = "--ramp-up-start-rps 5 --ramp-up-end-rps 40"
CASES = [
    case("completions", f"{SHAREGPT} --num-prompts 60 --request-rate 20", "-n 60 -rate 20"),
    case("chat", f"{CHAT} {SHAREGPT} --num-prompts 60 --request-rate 20", "-n 60 -rate 20"),
    case("embeddings", f"{EMBEDDINGS} {SHAREGPT} --num-prompts 60 --request-rate 20", "-n 60 -rate 20"),
    case(
        "embeddings, all figures",
        f"{EMBEDDINGS} {SHAREGPT} --num-prompts 40 --max-concurrency 4 --request-rate 50 --num-warmups 2 --extra-body.encoding_format base64 "
        "--percentile-metrics ttft,e2el,client_queue_time,e2el_including_client_queue --temperature 0.5",
        "-n 40 -rate 50",
    ),
    case("responses", f"{RESPONSES} {SHAREGPT} --num-prompts 60 --request-rate 20", "-n 60 -rate 20"),
    case(
        "responses, all figures",
        f"{RESPONSES} {SHAREGPT} --num-prompts 40 --max-concurrency 4 --ignore-eos --temperature 0 --top-k 3 --logprobs 2 "
        "--percentile-metrics ttft,tpot,itl,e2el --extra-body.min_tokens 3",
    ),
    drawn("rerank", RERANK),
    drawn("rerank with a model of embeddings", f"{RERANK} --no-reranker"),
    drawn("embeddings, four in a request", f"{EMBEDDINGS} --dataset-name random --random-input-len 50 --random-batch-size 4"),
    case("pooling", f"{POOLING} {SHAREGPT} --num-prompts 40 --request-rate 20 --extra-body.task embed", "-n 40 -rate 20"),
    drawn("pooling, four in a request", f"{POOLING} --dataset-name random --random-input-len 50 --random-batch-size 4"),
    case("embeddings of messages", f"--backend openai-embeddings-chat --endpoint /v1/embeddings {MEDIA}", "-n 80 -rate 30"),
    case("embeddings, clip", f"--backend openai-embeddings-clip --endpoint /v1/embeddings {MEDIA}", "-n 80 -rate 30"),
    case("embeddings, vlm2vec", f"--backend openai-embeddings-vlm2vec --endpoint /v1/embeddings {MEDIA}", "-n 80 -rate 30"),
    case("infinity", f"--backend infinity-embeddings --endpoint /embeddings {MEDIA}", "-n 80 -rate 30"),
    case("infinity, clip", f"--backend infinity-embeddings-clip --endpoint /embeddings {MEDIA}", "-n 80 -rate 30"),
    drawn("audio", f"{AUDIO} --custom-output-len 20"),
    drawn("audio, all figures", f"{AUDIO} --custom-output-len -1 --ignore-eos --max-concurrency 2 --percentile-metrics ttft,itl,e2el --extra-body.prompt Hé"),
    drawn("audio in messages", f"{CHAT} --dataset-name custom_audio --dataset-path {RECORDINGS}/all.jsonl --custom-output-len 9 --enable-multimodal-chat"),
    drawn(
        "random pictures",
        f"{CHAT} --dataset-name random-mm --random-input-len 20 --random-mm-bucket-config '{{(64,64,1): 1.0}}' "
        "--random-mm-limit-mm-per-prompt '{\"image\": 1, \"video\": 0}'",
    ),
    case(
        "lora in turn, embeddings",
        f"{EMBEDDINGS} {SHAREGPT} --num-prompts 9 {LORA} --lora-assignment round-robin",
        simulate=ADAPTERS,
    ),
    case("chat with media", f"{CHAT} {MEDIA}", "-n 80 -rate 30"),
    case("chat messages from the client", f"{CHAT} {MEDIA} --enable-multimodal-chat", "-n 80 -rate 30"),
    case(
        "burstiness 0.5",
        f"{SHAREGPT} --num-prompts 60 --request-rate 20 --burstiness 0.5 --seed 7",
        "-n 60 -rate 20 -burstiness 0.5 -seed 7",
    ),
    case(
        "burstiness 3",
        f"{SHAREGPT} --num-prompts 60 --request-rate 20 --burstiness 3 --seed 7",
        "-n 60 -rate 20 -burstiness 3 -seed 7",
    ),
    case(
        "constant spacing",
        f"{SHAREGPT} --num-prompts 20 --request-rate 20 --burstiness inf",
        "-n 20 -rate 20 -burstiness +Inf",
    ),
    case(
        "all at once, limited", f"{SHAREGPT} --num-prompts 40 --max-concurrency 8 --seed 1", "-n 40 -rate +Inf -seed 1"
    ),
    case(
        "rate and limit",
        f"{SHAREGPT} --num-prompts 40 --request-rate 20 --max-concurrency 4 --percentile-metrics "
        "ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue --metric-percentiles 50,90,99.9",
        "-n 40 -rate 20",
    ),
    case(
        "repeated prompts",
        f"{SHAREGPT} --num-prompts 100 --request-rate 50 --sharegpt-output-len 8 --seed 11",
        "-n 100 -rate 50 -seed 11",
    ),
    case(
        "neither repeated nor shuffled",
        f"{SHAREGPT} --num-prompts 100 --no-oversample --disable-shuffle --output-len 6 --max-concurrency 20",
    ),
    case(
        "linear ramp",
        f"{SHAREGPT} --num-prompts 60 --ramp-up-strategy linear {RAMP}",
        "-n 60 -ramp linear -from 5 -to 40",
    ),
    case(
        "exponential ramp",
        f"{SHAREGPT} --num-prompts 60 --ramp-up-strategy exponential {RAMP} --burstiness 0.5",
        "-n 60 -ramp exponential -from 5 -to 40 -burstiness 0.5",
    ),
    case(
        "sampling",
        f"{SHAREGPT} --num-prompts 8 --temperature 0 --top-p 0.9 --top-k 40 --min-p 1e-05 --frequency-penalty 1 "
        "--presence-penalty=-0.5 --repetition-penalty 1.1",
    ),
    case("sampling, chat", f"{CHAT} {SHAREGPT} --num-prompts 8 --repetition-penalty 2 --top_k 5 --temperature=0.7"),
    case(
        "extra body",
        f"""{SHAREGPT} --num-prompts 8 --temperature 0.5 --extra-body '{{"temperature": 1, "stop": ["ü", "\\u2028"],
     "nested": {{"b": 1.0, "a": [1, 2.50, 1e5, true, null]}}, "max_tokens": 7, "big": 123456789012345678901234567890}}'""",
    ),
    case(
        "extra body, dotted",
        f"{SHAREGPT} --num-prompts 4 --extra-body.min_tokens 3 --extra-body.a.b x --extra_body.stop+ X,Y --extra-body.c 0.10",
    ),
    case("ignore eos, logprobs", f"{SHAREGPT} --num-prompts 8 --ignore-eos --logprobs 3"),
    case("logprobs, chat", f"{CHAT} {SHAREGPT} --num-prompts 8 --logprobs 3 --ignore-eos"),
    case(
        "lora, random",
        f"{SHAREGPT} --num-prompts 30 --model sim-8b {LORA} --request-rate 30 --seed 5",
        "-n 30 -rate 30 -seed 5",
        simulate=ADAPTERS,
    ),
    case("lora, in turn", f"{SHAREGPT} --num-prompts 9 {LORA} --lora-assignment round-robin", simulate=ADAPTERS),
    case(
        "goodput, metadata",
        f"{SHAREGPT} --num-prompts 30 --request-rate 20 --goodput ttft:40 tpot:14 e2el:2000 --metadata tp=2 note=a=b "
        "--label run-1 --percentile-metrics ttft,e2el --metric-percentiles 25,50,99",
        "-n 30 -rate 20",
    ),
    case(
        "warm-ups, ready check",
        f"{SHAREGPT} --num-prompts 10 --num-warmups 3 --ready-check-timeout-sec 5 --max-concurrency 2",
    ),
    case("headers", f"{SHAREGPT} --num-prompts 4 --header X-A=1 'x-b = c=d ' Content-Type=application/json;x=1"),
    case("key, header over it", f"{SHAREGPT} --num-prompts 4 --header authorization=Basic", OPENAI_API_KEY="key-1"),
    case("key", f"{SHAREGPT} --num-prompts 4", OPENAI_API_KEY="key-1"),
    case(
        "served name",
        f"{SHAREGPT} --num-prompts 4 --model sim-8b --served-model-name sim-8b --disable-tqdm",
    ),
    case("probes", f"{SHAREGPT} --num-prompts 20 --request-rate 10 --probe-request-rate 5", "-n 20 -rate 10"),
    case("profile", f"{SHAREGPT} --num-prompts 4 --profile"),
    case("speculative decoding", f"{SHAREGPT} --num-prompts 20 --request-rate 20", simulate="--spec-tokens 3"),
    case("some fail", f"{SHAREGPT} --num-prompts 20 --request-rate 20", simulate="--fault status=503,every=4"),
    case(
        "random ids",
        "--dataset-name random --random-input-len 50 --random-output-len 5 --random-range-ratio 0.5 --random-prefix-len 4 "
        "--num-prompts 40 --request-rate 40 --seed 9",
        "-n 40 -rate 40 -seed 9",
        benchtop="--vocab-size 32000",
        COMPAT_TOKENIZER="identity",
        COMPAT_NO_TOKENIZE="1",
    ),
    drawn("random text", "--dataset-name random --random-input-len 50 --random-range-ratio 0.5", "-n 20 -rate 20"),
    drawn("random text, chat", f"{CHAT} --dataset-name random --random-input-len 50", "-n 20 -rate 20"),
    drawn(
        "random text, cut to the server's measure",
        "--dataset-name random --random-input-len 50",
        "-n 20 -rate 20",
        COMPAT_NO_TOKENIZE="",
    ),
    drawn("shared prefixes", "--dataset-name prefix_repetition --prefix-repetition-num-prefixes 3"),
    drawn("custom", f"--dataset-name custom --dataset-path {TESTS}/custom_small.jsonl", "-n 20 -rate 20"),
    drawn(
        "a trace",
        f"--dataset-name timed_trace --dataset-path {TESTS}/trace_small.jsonl --timed-trace-sec-multiplier 0.001",
        PYTHONHASHSEED="0",
    ),
    drawn("pictures", f"{CHAT} --dataset-name custom_image --dataset-path {TESTS}/custom_image_small.jsonl"),
    drawn(
        "tools",
        f"{CHAT} --dataset-name hf --dataset-path {TESTS} --hf-name gorilla-llm/Berkeley-Function-Calling-Leaderboard",
        "-n 20 -rate 20",
    ),
]

# What is compared in figures: flags for both, and of the simulated server. 5 requests/s leave it mostly idle.
LOW = (
    f"{SHAREGPT} --num-prompts 60 --request-rate 5 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el "
    "--metric-percentiles 50,90,99 --goodput ttft:2000 e2el:4000 --seed 2"
)
POOLED = "--request-rate 10 --percentile-metrics e2el --metric-percentiles 50,90,99 --seed 2"
FIGURES = {
    # A server that thinks for half a second before it begins: a millisecond of the client's own is little beside it.
    "slow to begin": (LOW, "--fault slow-headers=500ms"),
    # The simulated server as it is: it answers within some 30 ms, so the client's own milliseconds show.
    "quick to begin": (LOW, ""),
    "chat": (f"{CHAT} {LOW}", "--fault slow-headers=500ms"),
    "responses": (f"{RESPONSES} {LOW}", "--fault slow-headers=500ms"),
    "embeddings": (f"{EMBEDDINGS} {SHAREGPT} --num-prompts 100 {POOLED}", "--fault slow-headers=500ms"),
    "rerank": (f"{RERANK} {TOKENIZER} --num-prompts 300 {POOLED}", "--fault slow-headers=500ms"),
    "limited": (
        f"{SHAREGPT} --num-prompts 40 --max-concurrency 2 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el,client_queue_time "
        "--seed 2 --output-len 40",
        "--fault slow-headers=500ms",
    ),
}


# The same for a server that runs already, on the port that COMPAT_PORT names, with the model that COMPAT_MODEL names and the tokenizer
# in the folder of COMPAT_MODEL_DIR.
REAL = "COMPAT_PORT" in os.environ
if REAL:
    MODEL = f"--model {os.environ['COMPAT_MODEL']} --tokenizer {os.environ['COMPAT_MODEL_DIR']}"
    SHORT = f"--dataset-name random --random-input-len 64 --random-output-len 16 --num-prompts 100 --request-rate 4 {MODEL} --percentile-metrics ttft,tpot,itl,e2el --seed 2"
    POOLED_SHORT = f"--num-prompts 100 {MODEL} {POOLED}"
    FIGURES = {
        "completions": (SHORT, ""),
        "chat": (f"{CHAT} {SHORT}", ""),
        "responses": (f"{RESPONSES} {SHORT}", ""),
        "embeddings": (f"{EMBEDDINGS} --dataset-name random --random-input-len 64 {POOLED_SHORT}", ""),
        "rerank": (f"{RERANK} {POOLED_SHORT}", ""),
    }


class Program:
    """A program that runs beside this one, until the block ends."""

    def __init__(self, *command, **environment):
        self.command, self.environment = command, environment

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, env=os.environ | self.environment
        )
        self.process.stdout.readline()  # says that it is ready
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def simulator(flags=""):
    if REAL:
        return contextlib.nullcontext()
    return Program(BENCHTOP, "simulate", "--port", str(SERVER), *shlex.split(flags))


def recorder(path, **environment):
    return Program(PYTHON, f"{HERE}/record.py", str(RECORDER), f"http://127.0.0.1:{SERVER}", path, **environment)


def run(client, flags, port, stem, **environment):
    """Runs one of the two clients; returns how it ended and its result."""
    name = f"{stem}.{client}.json"
    path = os.path.join(OUT, name)
    if os.path.exists(path):
        os.remove(path)
    command = (
        [BENCHTOP, "serve", "--no-plots"]
        if client == "benchtop"
        else [PYTHON, f"{HERE}/vllm_bench.py", SOURCES, "serve"]
    )
    command += ["--base-url", f"http://127.0.0.1:{port}", *shlex.split(flags)]
    command += [
        "--save-result",
        "--save-detailed",
        "--result-dir",
        OUT,
        "--result-filename",
        name,
        "--request-id-prefix",
        "id-",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    result = None
    if os.path.exists(path):
        with open(path) as f:
            result = json.load(f)
    return done, result


def requests(path):
    """What was recorded, by request id; those without one in a list under None."""
    by_id = {None: []}
    others = []
    with open(path) as f:
        for line in f:
            row = json.loads(line)
            if row["method"] != "POST" or not row["path"].endswith(("completions", "responses", "embeddings", "pooling", "rerank", "transcriptions")):
                others.append(f'{row["method"]} {row["path"]}')
                continue
            id = {k.lower(): v for k, v in row["headers"]}.get("x-request-id")
            if id is None:
                by_id[None].append(row)
            else:
                by_id[id] = row
    return by_id, others


def write_recordings():
    """Recordings for custom_audio: a tone in files of 16 bits, with one channel and with two, and as samples in the rows."""
    os.makedirs(RECORDINGS, exist_ok=True)
    rows = []
    for rate, channels in ((16000, 1), (44100, 2), (8000, 1)):
        path = f"{RECORDINGS}/{rate}.wav"
        tone = [math.sin(i / 20) * 0.5 for i in range(rate // 4)]
        with wave.open(path, "wb") as f:
            f.setnchannels(channels)
            f.setsampwidth(2)
            f.setframerate(rate)
            f.writeframes(b"".join(struct.pack("<h", round(32767 * x)) * channels for x in tone))
        rows.append({"prompt": "Transcribe.", "audio": path, "output_tokens": 12})
        rows.append({"prompt": "Transcribe.", "audio": {"array": tone[:2000], "sampling_rate": rate}, "output_tokens": 7})
    with open(f"{RECORDINGS}/all.jsonl", "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)


PICTURE = re.compile(r'"data:image/jpeg;base64,[^"]+"')


def compare_bodies(v, b):
    for rows in v, b:  # each client draws a boundary of its own for the parts of a form
        for row in [r for i, r in rows.items() if i]:
            _, _, boundary = headers_of(row).get("content-type", "").partition("multipart/form-data; boundary=")
            if boundary:
                row["body"] = row["body"].replace(boundary, "boundary")
                row["headers"] = [(k, v.replace(boundary, "boundary")) for k, v in row["headers"]]
    pictures = [sum(len(PICTURE.findall(row["body"])) for i, row in rows.items() if i) for rows in (v, b)]
    if any(pictures):  # two encoders of JPEG do not write the same bytes
        yield f"pictures: vllm {pictures[0]}, benchtop {pictures[1]}; bodies are compared without their data"
        for rows in v, b:
            for row in [r for i, r in rows.items() if i]:
                row["body"] = PICTURE.sub('"data:image/jpeg;base64,"', row["body"])
    ids = [i for i in v if i is not None]
    missing = [i for i in ids if i not in b] + [i for i in b if i not in v and i is not None]
    if missing:
        yield f"requests that only one of them sent: {len(missing)}, such as {missing[0]}"
    differ = [i for i in ids if i in b and v[i]["body"] != b[i]["body"]]
    yield f"bodies: {len(ids) - len(differ)} of {len(ids)} identical"
    if differ and same_ids(v[differ[0]], b[differ[0]]):
        yield f"  but for ids in place of text; the same ids: {sum(same_ids(v[i], b[i]) for i in differ)} of {len(differ)}"
        differ = []
    for i in differ[:2]:
        yield f"  {i} vllm     {v[i]['body'][:900]}"
        yield f"  {i} benchtop {b[i]['body'][:900]}"
    if v[None] or b[None]:
        same = sorted(r["body"] for r in v[None]) == sorted(r["body"] for r in b[None])
        yield f"requests without an id: vllm {len(v[None])}, benchtop {len(b[None])}{', the same' if same else ''}"
        for name, rows in (("vllm", v), ("benchtop", b)):
            for row in rows[None][: 0 if same else 1]:
                yield f"  {name} {row['body'][:300]}"


def same_ids(v, b):
    """The identity tokenizer's text against ids."""
    v, b = json.loads(v["body"]), json.loads(b["body"])
    text, ids = v.pop("prompt", None), b.pop("prompt", None)
    return (
        isinstance(text, str)
        and isinstance(ids, list)
        and v == b
        and re.fullmatch(r"[\d ]+", text)
        and list(map(int, text.split())) == ids
    )


def headers_of(row):
    return {k.lower(): v for k, v in row["headers"] if k.lower() not in ("content-length", "x-request-id", "host")}


def compare_headers(v, b):
    i = next((i for i in v if i is not None and i in b), None)
    if i is None:
        return
    hv, hb = headers_of(v[i]), headers_of(b[i])
    differ = {k: (hv.get(k), hb.get(k)) for k in sorted(hv | hb) if hv.get(k) != hb.get(k)}
    yield f"headers that differ: {differ or 'none'}"


def compare_arrivals(path, arguments, v, b):
    with open(path) as f:
        planned = [row["offset_s"] for row in json.load(f)]
    if arguments:
        done = subprocess.run(
            [os.path.join(SCRATCH, "arrivals"), *shlex.split(arguments)], capture_output=True, text=True
        )
        if done.returncode:
            yield f"planned arrivals: {done.stderr.strip()}"
        else:
            ours = json.loads(done.stdout)
            worst = max(abs(x - y) for x, y in zip(planned, ours)) if planned else 0
            same = len(planned) == len(ours) and worst <= 1e-9
            yield f"planned arrivals: {'same' if same else 'DIFFERENT'}, {len(planned)} and {len(ours)}, largest difference {worst:.2g} s"
    if len(planned) > 1 and planned[-1] > 0:
        for name, rows in (("vllm", v), ("benchtop", b)):
            at = [rows[f"id-{i}"]["at"] for i in range(len(planned)) if f"id-{i}" in rows]
            at = at or sorted(row["at"] for row in rows[None])  # prefix_repetition has no ids
            if len(at) == len(planned):
                late = [x - p for x, p in zip(at, planned)]
                middle = statistics.median(late)  # the clocks have different origins
                yield f"arrivals as recorded, {name}: {1000 * (min(late) - middle):+.2f} to {1000 * (max(late) - middle):+.2f} ms beside the plan"


def kind(value):
    if isinstance(value, list):
        return f"list of {kind(value[0])}" if value else "empty list"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {kind(x)}" for k, x in value.items()) + "}"
    return type(value).__name__


def compare_results(v, b):
    if v is None or b is None:
        yield f"result: vllm {'saved' if v else 'NONE'}, benchtop {'saved' if b else 'NONE'}"
        return
    keys = [k for k in b if k not in ("input_throughput", "failed_requests", "benchtop")]  # the first two are the Rust client's
    if list(v) == keys:
        yield f"result: the same {len(keys)} keys in the same order"
    else:
        yield f"result: KEYS DIFFER; only vllm {[k for k in v if k not in keys]}, only benchtop {[k for k in keys if k not in v]}"
        if sorted(v) == sorted(keys):
            yield f"  another order: {[(x, y) for x, y in zip(v, keys) if x != y][:3]}"
    for k in v:
        if k in b and kind(v[k]) != kind(b[k]):
            yield f"  type of {k}: vllm {kind(v[k])}, benchtop {kind(b[k])}"
    exact = [
        "endpoint_type",
        "backend",
        "label",
        "model_id",
        "tokenizer_id",
        "num_prompts",
        "request_rate",
        "burstiness",
        "max_concurrency",
        "ramp_up_strategy",
        "ramp_up_start_rps",
        "ramp_up_end_rps",
        "completed",
        "failed",
        "total_input_tokens",
        "total_output_tokens",
        "input_lens",
        "output_lens",
        "generated_texts",
        "errors",
        "tp",
        "note",
        "rtfx",
    ]
    for k in exact:
        if k in v and k in b and v[k] != b[k]:
            yield f"  value of {k}: vllm {short(v[k])}, benchtop {short(b[k])}"
    for k in v:
        if isinstance(v[k], list) and k in b and len(v[k]) != len(b[k]):
            yield f"  length of {k}: vllm {len(v[k])}, benchtop {len(b[k])}"
    if "itls" in v and "itls" in b and [len(x) for x in v["itls"]] != [len(x) for x in b["itls"]]:
        yield f"  gaps of the first requests: vllm {[len(x) for x in v['itls']][:5]}, benchtop {[len(x) for x in b['itls']][:5]}"
    if "rps_change_events" in v:
        since = lambda r: [
            (
                datetime.fromisoformat(e["timestamp"]) - datetime.fromisoformat(r["rps_change_events"][0]["timestamp"])
            ).total_seconds()
            for e in r["rps_change_events"]
        ]
        yield f"  moments of rps_change_events: up to {1000 * max(abs(x - y) for x, y in zip(since(v), since(b))):.1f} ms apart"
        yield f"  rps_change_events: vllm {[e['rps'] for e in v['rps_change_events']]} {v['rps_change_events'][0]}, benchtop " f"{[e['rps'] for e in b.get('rps_change_events', [])]} {(b.get('rps_change_events') or [None])[0]}"


def short(value):
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + "..."


def report(text):
    """The lines of the printed report, without the numbers."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if "Serving Benchmark Result" in line), len(lines))
    end = next((i for i in range(start + 1, len(lines)) if lines[i] == "=" * 50), len(lines))
    return [
        re.sub(r"-?\d+\.\d\d *$", "<2>", re.sub(r"(:\s+)\d+ *$", r"\1<0>", line)) for line in lines[start : end + 1]
    ]


def compare_reports(v, b):
    lv, lb = report(v), report(b)
    if lv == lb:
        yield f"report: the same {len(lv)} lines but for their numbers"
        return
    yield "report: LINES DIFFER"
    for line in lv:
        if line not in lb:
            yield f"  only vllm:     {line}"
    for line in lb:
        if line not in lv:
            yield f"  only benchtop: {line}"


def run_case(name, flags, arrivals, benchtop, simulate, environment):
    """Runs a case, prints what differs, and returns a row of the table."""
    stem = re.sub(r"\W+", "-", name)
    delays = os.path.join(OUT, f"{stem}.delays.json")
    if os.path.exists(delays):
        os.remove(delays)
    seen = {}
    for client in ("vllm", "benchtop"):
        log = os.path.join(OUT, f"{stem}.{client}.log")
        # One server for each: a cache of prompts would serve the second better.
        with simulator(simulate), recorder(log, **environment):
            more = f" {benchtop}" if client == "benchtop" else ""
            done, result = run(client, flags + more, RECORDER, stem, COMPAT_DELAYS=delays, **environment)
        seen[client] = (done, result, *requests(log))
    print(f"\n== {name}\n   {flags.replace(SHAREGPT, '--dataset-name sharegpt ...')} {simulate}")
    (dv, v, rv, ov), (db, b, rb, ob) = seen["vllm"], seen["benchtop"]
    if dv.returncode != db.returncode:
        print(f"   exit code: vllm {dv.returncode}, benchtop {db.returncode}")
        for n, d in (("vllm", dv), ("benchtop", db)):
            if d.returncode:
                print(f"   {n}: " + "\n      ".join(d.stderr.strip().splitlines()[-4:]))
    if v is None or (b is None and db.returncode == 2):
        return f"| {name} | did not run | | | |"
    lines = [*compare_bodies(rv, rb), *compare_headers(rv, rb)]
    if os.path.exists(delays):
        lines += compare_arrivals(delays, arrivals, rv, rb)
    lines += [*compare_results(v, b), *compare_reports(dv.stdout, db.stdout)]
    tally = lambda others: {o: others.count(o) for o in dict.fromkeys(others)}
    if tally(ov) != tally(ob):
        lines.append(f"other requests: vllm {tally(ov)}, benchtop {tally(ob)}")
    for line in lines:
        print("   " + line)
    found = lambda start: next((line.split(": ", 1)[1] for line in lines if line.startswith(start)), "–")
    return f"| {name} | {found('bodies')} | {found('planned arrivals')} | {found('result')} | {found('report')} |"


FAULTS = [
    "",
    "status=503,every=4",
    "reset-header,every=4",
    "close,after=3,every=4",
    "truncate,after=3,every=4",
    "error-in-stream,after=3,every=4",
    "malformed,after=3,every=4",
    "empty,every=4",
    "no-done",
    "no-usage",
    "crlf",
    "comments",
    "coalesce=4",
    "slow-body=2ms",
    "split-utf8",
]


def faults():
    flags = f"{SHAREGPT} --num-prompts 20 --request-rate 20 --ignore-eos --output-len 30"
    print(
        f"   {flags}\n\n| fault | client | completed | failed | output tokens | gaps | mean TTFT (ms) | mean ITL (ms) |\n|---|---|--:|--:|--:|--:|--:|--:|"
    )
    for fault in FAULTS:
        for client in "vllm", "benchtop":
            with simulator(f"--fault {fault}" if fault else ""):
                _, r = run(client, flags, SERVER, "fault")
            gaps = sum(map(len, r["itls"]))
            print(
                f"| {fault or 'none'} | {client} | {r['completed']} | {r['failed']} | {r['total_output_tokens']} | {gaps} | "
                f"{r['mean_ttft_ms']:.1f} | {r['mean_itl_ms']:.2f} |",
                flush=True,
            )


def figures(rounds, names):
    try:  # other work of the machine waits for both clients and the server, which inherit this
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except PermissionError:
        pass
    for name in names or FIGURES:
        flags, simulate = FIGURES[name]
        write_models(f"{OUT}/prompts")
        print(f"\n== {name}\n   {flags.replace(SHAREGPT, '--dataset-name sharegpt ...')} {simulate}")
        compare_figures(rounds, flags, simulate)


def compare_figures(rounds, flags, simulate):
    runs, beyond = {"vllm": [], "benchtop": []}, {"vllm": [], "benchtop": []}
    environment = OFFLINE if "--tokenizer" in flags else {}
    for i in range(rounds):
        for client in ("vllm", "benchtop") if i % 2 == 0 else ("benchtop", "vllm"):
            log = os.path.join(OUT, "server.log")
            for _ in range(TRIES):
                wait_for_quiet()
                before = idle_time()
                with simulator(f"{simulate} --log {log}"):
                    _, r = run(client, flags, SERVER, f"figures-{i}", **environment)
                idle = idle_share(before)
                means = "  ".join(f"{k} {r[k]:.3f}" for k in ("mean_ttft_ms", "mean_itl_ms", "mean_e2el_ms") if k in r)
                print(f"   round {i + 1} {client:8} machine {idle:.0%} idle  {means}", flush=True)
                if idle >= QUIET:
                    break
            runs[client].append(r)
            if "ttfts" in r and not REAL:
                beyond[client].append(beyond_server(r, log))
    keys = [k for k, x in runs["vllm"][0].items() if isinstance(x, (int, float)) and k in runs["benchtop"][0]]
    print("\n| key | vLLM | benchtop | difference | in % | vLLM against itself | |\n|---|--:|--:|--:|--:|--:|---|")
    for k in keys:
        v, b = [r[k] for r in runs["vllm"]], [r[k] for r in runs["benchtop"]]
        mv, mb = statistics.median(v), statistics.median(b)
        percent = 0 if mv == mb else (mb / mv - 1) * 100 if mv else float("inf")
        spread = (max(v) - min(v)) / mv * 100 if mv else 0
        verdict = (
            "same"
            if mv == mb
            else "within 1 %" if abs(percent) <= 1 else "within its spread" if abs(percent) <= spread else "**more**"
        )
        print(f"| `{k}` | {mv:.6g} | {mb:.6g} | {mb - mv:+.4g} | {percent:+.2f} | {spread:.2f} | {verdict} |")
    for client, rows in beyond.items():
        if not rows:
            return  # no log of the server tells its own times
        first, last, own = (statistics.median(r[i] for r in rows) for i in range(3))
        print(
            f"\n{client}: by the server's own clock {own:.2f} ms from a request's header to its first token; the client's times to the "
            f"first token are {first:.2f} ms longer, its end-to-end latencies {last:.2f} ms (medians of requests and rounds)"
        )
    trace = os.path.join(OUT, "trace.json")
    with simulator(simulate):
        run("vllm", flags, SERVER, "traced", COMPAT_TRACE=trace)
    with open(trace) as f:
        trace = json.load(f)
    sent = [r for r in trace["requests"] if r["path"].endswith(("completions", "responses"))]
    dials = [r["dial_ms"] for r in sent if r["dial_ms"] is not None]
    dialled = f"{len(dials)} of {len(sent)} requests dialled, which took {statistics.median(dials):.2f} ms"
    print(
        f"\ninside vllm's client: {statistics.median(r['until_written_ms'] for r in sent):.2f} ms from its start of a request to its first "
        f"write (median; {dialled}), {statistics.median(trace['until_read_ms']):.3f} ms from the socket to its reader"
    )


# A run counts if the machine was idle for this share of it, all its cores together; else it is repeated, so many times.
QUIET = float(os.environ.get("COMPAT_QUIET", "0.7"))
TRIES = 3


def idle_time():
    with open("/proc/stat") as f:
        fields = [int(x) for x in f.readline().split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def idle_share(before):
    idle, total = idle_time()
    return (idle - before[0]) / max(1, total - before[1])


def wait_for_quiet():
    """Waits until little else runs, a minute at most."""
    for _ in range(20):
        before = idle_time()
        time.sleep(3)
        if idle_share(before) >= QUIET:
            return


def beyond_server(result, log):
    """By how many milliseconds a client's times to the first and to the last token exceed those that the server measured, and
    the server's time to the first token: medians over the requests."""
    server = {}
    with open(log) as f:
        for line in f:
            row = json.loads(line)
            server[row["request_id"]] = row
    first, last, own = [], [], []
    for i, (ttft, latency) in enumerate(zip(result["ttfts"], result["latencies"])):
        row = server[f"id-{i}"]
        own.append(1000 * (row["first_token_s"] - row["at_s"]))
        first.append(1000 * ttft - own[-1])
        last.append(1000 * (latency - (row["last_byte_s"] - row["at_s"])))
    return statistics.median(first), statistics.median(last), statistics.median(own)


def main():
    os.makedirs(OUT, exist_ok=True)
    command, *arguments = sys.argv[1:]
    if command == "figures":
        figures(int(arguments[0]) if arguments else 5, arguments[1:])
        return
    if command == "faults":
        faults()
        return
    write_models(f"{OUT}/prompts")
    write_recordings()
    rows = []
    for c in CASES:
        if not arguments or any(a in c[0] for a in arguments):
            rows.append(run_case(*c))
            sys.stdout.flush()
    print("\n| case | request bodies | planned arrivals | result's keys | report |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
