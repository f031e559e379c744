"""Invented copies of the data sets of vLLM's hf kind, as the hub has them, and the command lines that read them.

Each lies in FOLDER under its name on the hub, so both programs, started there, find it by that name without a network; and
by its path with --hf-name. Some have several shards, row groups and more rows than a shuffle buffer.
"""

import io
import json
import os
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from sharegpt import HARD, text

# datasets writes beside the columns what they hold; so the library decodes the images.
IMAGE = {"_type": "Image"}


def parquet(path, rows, group=None, images=None):
    """images: the column of images, or a list of one."""
    table = pa.Table.from_pylist(rows)
    if images:
        feature = IMAGE if images == "image" else {"feature": IMAGE, "_type": "List"}
        features = {c: feature if c == images else {"dtype": "null", "_type": "Value"} for c in table.column_names}
        features |= {f.name: described(f.type) for f in table.schema if f.name != images}
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table, path, row_group_size=group)


def described(kind):
    if pa.types.is_list(kind):
        return {"feature": described(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {f.name: described(f.type) for f in kind}
    return {"dtype": str(kind).replace("double", "float64"), "_type": "Value"}


def lines(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(row, ensure_ascii=row["n"] % 2 == 0) + "\n" for row in rows)


def array(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rows, f, indent=1, ensure_ascii=False)


def card(folder, configs):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/README.md", "w") as f:
        f.write("---\nlicense: mit\nconfigs:\n")
        for name, splits in configs.items():
            f.write(f"- config_name: {name}\n  data_files:\n")
            f.writelines(f"  - split: {split}\n    path: {path}\n" for split, path in splits.items())
        f.write("---\n# Invented\n")


def split(rows, *sizes):
    for i, size in enumerate(sizes):
        yield i, len(sizes), rows[sum(sizes[:i]) : sum(sizes[: i + 1])]


KINDS = """PNG RGB, JPEG RGB, PNG RGBA, PNG L, PNG P, JPEG L, WEBP RGB, PNG LA, PNG 1, JPEG CMYK, GIF P, BMP RGB, TIFF RGB,
WEBP RGBA"""


def picture(draws, n, small):
    """The bytes of an image, of another format and mode from one to the next."""
    kind, mode = KINDS.split(",")[n % (KINDS.count(",") + 1)].split()
    size = (draws.randint(6, 9), 8) if small else (draws.randint(8, 70), draws.randint(8, 50))
    # A slope of colours: two encoders agree about it closely.
    x, y = np.meshgrid(np.linspace(0, 255, size[0]), np.linspace(0, 255, size[1]))
    pixels = np.stack([x, y, np.full_like(x, n * 37 % 256)], axis=-1).astype(np.uint8)
    image = Image.fromarray(pixels).convert(mode)
    if mode.endswith("A"):
        image.putalpha(Image.fromarray(y.astype(np.uint8)))
    more = {"lossless": True} if kind == "WEBP" else {}
    if n % 4 == 1 and kind == "JPEG":  # a camera that was held upright
        more["exif"] = Image.Exif()
        more["exif"][0x0112] = 6
    data = io.BytesIO()
    image.save(data, format=kind, **more)
    return {"bytes": data.getvalue(), "path": f"{n}.{kind.lower()}"}


def sound(draws, n, small):
    import soundfile

    kind = ["WAV", "FLAC", "WAV"][n % 3]
    rate = [16000, 44100, 8000][n % 3]
    seconds = draws.choice([0.25, 0.5, 1.0, 2.5]) / (50 if small else 1)
    samples = 0.4 * np.sin(np.arange(int(rate * seconds)) * 0.1)
    data = io.BytesIO()
    soundfile.write(data, samples, rate, format=kind)
    return {"bytes": data.getvalue(), "path": f"{n}.{kind.lower()}"}


def write_hf(folder, small=False):
    """small: a few rows of few words in each file, for a test."""
    draws = random.Random(33)
    words = lambda least, most: text(draws, draws.randint(least, 4 if small and most < 2000 else most))
    hard = lambda n, least, most: HARD[n % len(HARD)] if n % 9 == 4 else words(min(least, 4), most)
    at = lambda name: f"{folder}/{name}"

    def shards(name, row, *sizes, **kind):
        sizes = [min(size, 4) if small else size for size in sizes]
        rows = [{"n": n} | row(n) for n in range(sum(sizes))]
        if sum(sizes) > 30 and "problem" in rows[0]:
            rows[7]["problem"] = words(2500, 2600)  # too long
        for i, m, shard in split(rows, *sizes):
            parquet(at(f"{name}-{i:05d}-of-{m:05d}.parquet"), shard, **kind)

    some = lambda row, count: [{"n": n} | row(n) for n in range(min(count, 9) if small else count)]
    shards(
        "likaixin/InstructCoder/data/train",
        lambda n: {"input": f"def f{n}():\n    return {n}", "instruction": hard(n, 3, 20), "output": words(3, 9)},
        3000,
        group=700,
    )
    lines(at("philschmid/mt-bench/question.jsonl"), some(lambda n: {"turns": [hard(n, 5, 60), words(3, 9)]}, 80))
    code = lambda n: {"prompt": f"def h{n}(x):\n    # {words(3, 30)}\n", "test": "assert"}
    shards("openai/openai_humaneval/openai_humaneval/test", code, 164, group=50)
    card(at("openai/openai_humaneval"), {"openai_humaneval": {"test": "openai_humaneval/test-*"}})
    card(at("openai/gsm8k"), {c: {s: f"{c}/{s}-*" for s in ("train", "test")} for c in ("main", "socratic")})
    for config in "main", "socratic":
        for name, sizes in {"train": (30,), "test": (310, 709, 300)}.items():
            ask = lambda n: {"question": f"{config} {name} {hard(n, 5, 40)}", "answer": words(3, 9)}
            shards(f"openai/gsm8k/{config}/{name}", ask, *sizes, group=128)
    edit = lambda n: {"code": f"x = {n}\n", "change_request": hard(n, 3, 30), "norm_distance": n % 21 / 20}
    for name in "edit_5k_char", "edit_10k_char":
        shards(f"vdaita/{name}/data/train", edit, 90, 110)

    def talk(n):
        turns = range(1 + (n % 7 > 0) + n % 3)
        return {"conversations": [{"from": ("human", "gpt")[i % 2], "value": hard(n + i, 1, 90)} for i in turns]}

    array(at("Aeala/ShareGPT_Vicuna_unfiltered/ShareGPT_cleaned_split.json"), some(talk, 1500))
    solve = lambda n: {"problem": hard(n, 1, 60), "solution": words(1, 120), "url": None}
    shards("AI-MO/aimo-validation-aime/data/train", solve, 30, 45, 15)
    shards("AI-MO/NuminaMath-1.5/data/train", solve, 466, 700, 234)
    shards("AI-MO/NuminaMath-CoT/data/train", solve, 20, 30, 10)
    mark = "<|editable_region_start|>"

    def predict(n):
        output = words(1, 5) + ("" if n % 11 == 3 else mark + hard(n, 3, 40))
        return {"events": f"User edited {hard(n, 3, 9)}", "input": f"before {mark}{words(3, 40)}", "output": output}

    lines(at("zed-industries/zeta/train.jsonl"), some(predict, 70))
    lines(at("zed-industries/zeta/eval.jsonl"), some(predict, 9))
    chat = lambda n: {"system_prompt": hard(n, 3, 20), "question": words(3, 200), "output": words(1, 50)}
    for name in "llama2-data", "llama3.1-data":
        lines(at(f"mgoin/mlperf-inference-{name}/data.jsonl"), some(chat, 60))

    image = lambda n: picture(draws, n, small)
    shards("lmms-lab/LLaVA-OneVision-Data/one/train", lambda n: {"image": image(n)} | talk(n), 25, 35, images="image")
    shards("lmms-lab/LLaVA-OneVision-Data/two/train", lambda n: {"image": image(n)} | talk(n), 9, images="image")
    card(at("lmms-lab/LLaVA-OneVision-Data"), {c: {"train": f"{c}/train-*"} for c in ("one", "two")})
    said = lambda n: [[{"role": "user", "content": hard(n, 3, 30)}], [{"role": "assistant", "content": words(3, 9)}]]
    for name, column in ("VisionArena-Chat", "conversation"), ("vision-arena-bench-v0.1", "turns"):
        look = lambda n: {"images": [image(n + k) for k in range(1 + n % 2)], column: said(n)}
        shards(f"lmarena-ai/{name}/data/train", look, 15, 20, 5, images="images")
    choose = lambda n: {"question": f" {hard(n, 3, 30)}\nOptions: A: x, Options: no", "image": image(n), "answer": "A"}
    shards("Lin-Chen/MMStar/mmstar", choose, 30, images="image")
    card(at("Lin-Chen/MMStar"), {"val": {"val": "mmstar-*"}})
    site = "https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos"
    watch = lambda n: {
        "question": hard(n, 3, 30),
        "choices": {k: words(1, 3) for k in "ABCDE"},
        "video": f"{site}/{n % 3}.mp4",
    }
    array(at("yale-nlp/MMVU/validation.json"), some(watch, 30))
    os.makedirs(at("yale-nlp/MMVU/videos"), exist_ok=True)
    for n in range(3):
        with open(at(f"yale-nlp/MMVU/videos/{n}.mp4"), "wb") as f:
            f.write(b"not looked into")
    # Without a description of its columns a recording is what the columns hold: bytes and a path.
    for name in "facebook/voxpopuli", "openslr/librispeech_asr":
        shards(f"{name}/data/train", lambda n: {"audio": sound(draws, n, small), "text": words(3, 9)}, 25, 15)
    name = "ArtificialAnalysis/Earnings22-Cleaned-AA"
    lines(at(f"{name}/test.jsonl"), some(lambda n: {"url": f"audio/{n}.wav", "transcript": words(3, 9)}, 12))
    os.makedirs(at(f"{name}/audio"), exist_ok=True)
    for n in range(12):
        with open(at(f"{name}/audio/{n}.wav"), "wb") as f:
            f.write(sound(draws, 0, small)["bytes"])


TEXT = {
    "likaixin/InstructCoder": "",
    "philschmid/mt-bench": "",
    "openai/openai_humaneval": "",
    "openai/gsm8k": "",
    "vdaita/edit_5k_char": "",
    "vdaita/edit_10k_char": "",
    "Aeala/ShareGPT_Vicuna_unfiltered": "--hf-split train",
    "AI-MO/aimo-validation-aime": "",
    "AI-MO/NuminaMath-1.5": "",
    "AI-MO/NuminaMath-CoT": "",
    "zed-industries/zeta": "",
    "mgoin/mlperf-inference-llama2-data": "",
    "mgoin/mlperf-inference-llama3.1-data": "",
}
MEDIA = {
    "lmarena-ai/VisionArena-Chat": "",
    "lmarena-ai/vision-arena-bench-v0.1": "",
    "Lin-Chen/MMStar": "",
    "lmms-lab/LLaVA-OneVision-Data": "--hf-split train --hf-subset one",
    "yale-nlp/MMVU": "",
}
AUDIO = {
    "facebook/voxpopuli": "",
    "openslr/librispeech_asr": "",
    "ArtificialAnalysis/Earnings22-Cleaned-AA": "--hf-split test",
}


def hf_cases(folder):
    """As those of prompt_cases.py. The name of the data set is in the second part."""
    for name, flags in (TEXT | MEDIA).items():
        at = f"--dataset-name hf --dataset-path {name} {flags} --backend openai-chat"
        yield "hf", f"{name}, streamed", "qwen2.5", f"{at} --num-prompts 40"
        yield "hf", f"{name}, not streamed, another seed", "qwen2.5", f"{at} --num-prompts 25 --no-stream --seed 7"
        yield "hf", f"{name}, in order, own output length", "qwen2.5", f"{at} --num-prompts 12 --disable-shuffle --hf-output-len 11"  # fmt: skip
        if not name.startswith("vdaita/"):  # vLLM knows these by their path alone
            copy = at.replace(f"path {name}", f"path {folder}/{name} --hf-name {name}")
            yield "hf", f"{name}, a folder", "synthetic-spbpe", f"{copy} --num-prompts 15 --seed 3"
        yield "hf", f"{name}, messages, no template", "gpt2", f"{at} --num-prompts 15 --enable-multimodal-chat --skip-chat-template --seed 1"  # fmt: skip
    for name in "likaixin/InstructCoder", "openai/gsm8k", "AI-MO/NuminaMath-1.5", "Aeala/ShareGPT_Vicuna_unfiltered":
        at = f"--dataset-name hf --dataset-path {name} {TEXT[name]}"
        yield "hf", f"{name}, more than a buffer", "gpt2", f"{at} --num-prompts 1250 --seed 42 --hf-output-len 5 --skip-chat-template"  # fmt: skip
    copies = "--dataset-name hf --dataset-path philschmid/mt-bench --num-prompts 120"
    yield "hf", "philschmid/mt-bench, copies", "qwen2.5", f"{copies} --seed 5"
    yield "hf", "philschmid/mt-bench, no copies", "qwen2.5", f"{copies} --no-oversample"
    yield "hf", "openai/gsm8k, another subset and split", "qwen2.5", "--dataset-name hf --dataset-path openai/gsm8k --hf-subset socratic --hf-split train --num-prompts 40"  # fmt: skip
    yield "hf", "zed-industries/zeta, another split", "gpt2", "--dataset-name hf --dataset-path zed-industries/zeta --hf-split test --num-prompts 9"  # fmt: skip
    blazedit = "--dataset-name hf --dataset-path vdaita/edit_10k_char"
    yield "hf", "vdaita/edit_10k_char, distances, copies", "qwen2.5", f"{blazedit} --blazedit-min-distance 0.25 --blazedit-max-distance 0.4 --num-prompts 50 --seed 2"  # fmt: skip
    for name, flags in AUDIO.items():
        at = f"--dataset-name hf --dataset-path {name} {flags} --backend openai-audio"
        yield "hf", f"{name}, streamed", "qwen2.5", f"{at} --num-prompts 10 --seed 4"
        yield "hf", f"{name}, lengths", "gpt2", f"{at} --num-prompts 30 --asr-min-audio-len-sec 0.5 --asr-max-audio-len-sec 1 --no-stream"  # fmt: skip
        yield "hf", f"{name}, in order, copies", "bert-base-uncased", f"{at} --num-prompts 60 --disable-shuffle --hf-output-len 4"  # fmt: skip
    # Refused by both.
    yield "hf", "no such split", "qwen2.5", "--dataset-name hf --dataset-path philschmid/mt-bench --hf-split nope --num-prompts 3"  # fmt: skip
    yield "hf", "no such subset", "qwen2.5", "--dataset-name hf --dataset-path openai/gsm8k --hf-subset nope --num-prompts 3"  # fmt: skip
    yield "hf", "no backend for media", "qwen2.5", "--dataset-name hf --dataset-path Lin-Chen/MMStar --backend openai --num-prompts 3"  # fmt: skip
