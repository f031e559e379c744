"""Compares the prompts of vllm bench serve with those of benchtop dataset: prompts.py [WORD...]

Nothing is sent. vllm's own client draws the requests (see vllm_prompts.py), benchtop writes them with --jsonl, and both are
held against each other, field by field and in order; with words, only cases whose names have one of them.
"""

import base64
import collections
import importlib.metadata
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from compare import BENCHTOP, HERE, PYTHON, SCRATCH, SOURCES
from hf_cases import hf_cases, write_hf
from prompt_cases import all_cases, slices, write_files, write_models

OUT = os.path.join(SCRATCH, "out/prompts")
TABLES = os.path.join(OUT, "hf")
HF = {"HF_HUB_OFFLINE": "1", "HF_HOME": f"{OUT}/home", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
ENVIRONMENT = os.environ | HF | {"COMPAT_TOKENIZER": "folder", "PYTHONHASHSEED": "0"}

NOT_THERE = "this vllm does not have it"


def command_line(case):
    dataset, _, model, flags = case
    arguments = shlex.split(flags.replace("SCRATCH/", SCRATCH + "/").replace("OUT/", OUT + "/"))
    if "--dataset-name" not in arguments:
        arguments += ["--dataset-name", dataset]
    if model:
        arguments += ["--tokenizer", f"{OUT}/{model}"]
    return arguments + ["--model", "m", "--request-id-prefix", "id-"]


def run(*command, **more):
    """Runs in the folder whose data sets have their names on the hub."""
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd=TABLES, **more)


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def versions():
    """Those that the order of rows depends on."""
    return {"vllm": os.path.basename(SOURCES).removeprefix("vllm-"), "datasets": importlib.metadata.version("datasets")}


def vllm_prompts(cases):
    lines = [[f"{OUT}/v{i}.jsonl", *command_line(case)] for i, case in enumerate(cases)]
    done = run(PYTHON, f"{HERE}/vllm_bench.py", SOURCES, "prompts", input=json.dumps(lines))
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return [read(path) for path, *_ in lines]


def benchtop_prompts(case):
    order = ["--hf-datasets-version", versions()["datasets"]] if case[0] == "hf" else []
    done = run(BENCHTOP, "dataset", *command_line(case), *order, "--jsonl", f"{OUT}/b.jsonl")
    if done.returncode:
        return [{"error": (done.stderr.strip().splitlines() or ["no words"])[-1]}]
    return read(f"{OUT}/b.jsonl")


def as_sent(row, chat):
    """The request in one form for both: on chat as the messages that vllm's client makes of it."""
    row = dict(row)
    media = row.pop("multi_modal_data", None) or []
    prompt, messages = row.pop("prompt", None), row.pop("chat_messages", None)
    if chat and isinstance(prompt, list) and prompt and "role" in prompt[0]:
        messages = messages or prompt
    if chat and messages is None:
        text = prompt if isinstance(prompt, list) else [{"type": "text", "text": prompt}]
        messages = [{"role": "user", "content": text + (media if isinstance(media, list) else [media])}]
    row["sent"] = messages if chat else prompt
    if "request_overrides" in row:
        row["request_overrides"] = json.dumps(row["request_overrides"])  # in their order
    if "timestamp" in row:
        row["timestamp"] = round(row["timestamp"], 9)  # benchtop has whole nanoseconds
    return row


def video(data):
    """What of a video two encoders agree about."""
    import cv2

    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        file.write(data)
        file.flush()
        frames = cv2.VideoCapture(file.name)
        told = [frames.get(p) for p in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FPS)]
        count = 0
        while frames.read()[0]:
            count += 1
    return f"video {told} {count} frames"


def pictures(value):
    """Takes the JPEG pictures out, which no two encoders write alike, and describes videos."""
    from PIL import Image

    found = []

    def take(v):
        if isinstance(v, dict):
            return {k: take(x) for k, x in v.items()}
        if isinstance(v, list):
            return [take(x) for x in v]
        if isinstance(v, str) and v.startswith("data:image/jpeg;base64,"):
            found.append(Image.open(io.BytesIO(base64.b64decode(v.split(",")[1]))))
            return f"picture {found[-1].size} {found[-1].mode}"
        if isinstance(v, str) and v.startswith("data:video/"):
            return video(base64.b64decode(v.split(",")[1]))
        return v

    return take(value), found


def recordings(v, b):
    """Leaves of a recording its length, and its bytes where that is WAV: vLLM sends others as WAV, benchtop as they are."""
    if "audio" in v and "audio" in b:
        told = ("bytes", "seconds") if b["audio"]["name"].endswith(".wav") else ("seconds",)
        v["audio"], b["audio"] = ({key: row["audio"][key] for key in told} for row in (v, b))


def apart(a, b):
    """How far two pictures are from each other: the mean difference of a sample, of 255."""
    import numpy as np

    return float(np.abs(np.asarray(a, dtype=int) - np.asarray(b, dtype=int)).mean())


def differences(v, b, chat):
    if "error" in (v or [{}])[0] or "error" in (b or [{}])[0]:
        if v and v[0].get("error") == "SystemExit: 2":
            return NOT_THERE, ""
        said = [rows[0].get("error") if rows else None for rows in (v, b)]
        if all(said):
            return None, f"both refuse: {said[0][:80]} | {said[1][:120]}"
        return f"only one refuses: vllm {said[0]} | benchtop {said[1]}", ""
    if len(v) != len(b):
        return f"{len(v)} and {len(b)} requests", ""
    worst = 0.0
    for i, (x, y) in enumerate(zip(v, b)):
        (x, seen), (y, drawn) = pictures(as_sent(x, chat)), pictures(as_sent(y, chat))
        recordings(x, y)
        if x != y:
            keys = [k for k in x | y if x.get(k) != y.get(k)]
            shown = "; ".join(f"{k}: vllm {str(x.get(k))[:150]!r}, benchtop {str(y.get(k))[:150]!r}" for k in keys)
            return f"request {i} of {len(v)}: {shown}", ""
        worst = max([worst, *map(apart, seen, drawn)])
    note = f"pictures up to {worst:.1f} of 255 apart" if worst else ""
    # Two encoders' losses on noise are within a few steps; other pixels would be some 80 apart.
    return (
        "other pictures" if worst > 8 else None
    ), f"{len(v)} requests, {sum(r['prompt_len'] for r in v)} tokens {note}"


def cut(name, model, flags):
    """Both helpers that cut a text into prompts."""
    arguments = shlex.split(flags.replace("OUT/", OUT + "/")) + ["--tokenizer", f"{OUT}/{model}"]
    v = run(PYTHON, f"{HERE}/vllm_bench.py", SOURCES, "slices", *arguments, "--output", f"{OUT}/v.jsonl")
    b = run(BENCHTOP, "dataset", "slices", *arguments, "--output", f"{OUT}/b.jsonl")
    if v.returncode or b.returncode:
        return f"vllm {v.stderr[-200:]} benchtop {b.stderr[-200:]}", ""
    with open(f"{OUT}/v.jsonl", "rb") as f, open(f"{OUT}/b.jsonl", "rb") as g:
        same = f.read() == g.read()
    return (None if same else "the files differ"), f"{len(read(f'{OUT}/v.jsonl'))} lines, byte for byte"


def main():
    os.makedirs(TABLES, exist_ok=True)
    write_models(OUT)
    write_files(OUT)
    words = sys.argv[1:]
    wanted = lambda *names: not words or any(w in " ".join(names) for w in words)
    cases = [case for case in [*all_cases(), *hf_cases(TABLES)] if wanted(*case[:2])]
    if any(case[0] == "hf" for case in cases):
        shutil.rmtree(f"{OUT}/home", ignore_errors=True)  # the library's copies of rows, which it knows by path and time
        write_hf(TABLES)
    count, same = collections.Counter(), collections.Counter()

    def tell(dataset, name, difference, note):
        if difference == NOT_THERE:
            print(f"not there {dataset}: {name}", flush=True)
            return
        count[dataset] += 1
        same[dataset] += difference is None
        print(
            f"{'same     ' if difference is None else 'DIFFERENT'} {dataset}: {name}: {difference or note}", flush=True
        )

    for case, v in zip(cases, vllm_prompts(cases)):
        tell(*case[:2], *differences(v, benchtop_prompts(case), "openai-chat" in case[3]))
    for name, *rest in slices():
        if wanted("text slices", name):
            tell("text slices", name, *cut(name, *rest))
    print("\n| data set | cases | the same |\n|---|--:|--:|")
    for dataset in count:
        print(f"| {dataset} | {count[dataset]} | {same[dataset]} |")
    sys.exit(same != count)


if __name__ == "__main__":
    main()
