"""Records the requests that vLLM's client makes of small copies of the hub's data sets, for a test: record_hf.py FOLDER"""

import gzip
import io
import json
import os
import shutil
import sys
import tarfile

from hf_cases import AUDIO, MEDIA, TEXT, write_hf
from prompts import OUT, TABLES, as_sent, pictures, versions, vllm_prompts, write_models

TWICE = "edit_10k_char NuminaMath mlperf-inference-llama3.1 librispeech".split()  # of a class that is there already


def main():
    folder = sys.argv[1]
    names = {n: f for n, f in (TEXT | MEDIA | AUDIO).items() if not any(w in n for w in TWICE)}
    shutil.rmtree(f"{OUT}/home", ignore_errors=True)
    shutil.rmtree(TABLES, ignore_errors=True)
    write_models(OUT)
    write_hf(TABLES, small=True)
    # A model as modelDirectory of the Go tests makes it.
    os.makedirs(f"{OUT}/small", exist_ok=True)
    shutil.copy(f"{OUT}/synthetic-spbpe/tokenizer.json", f"{OUT}/small")
    with open(f"{OUT}/small/chat_template.jinja", "w") as f:
        f.write("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>")
    with open(f"{OUT}/small/tokenizer_config.json", "w") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast"}, f)
    cases = []
    for name, flags in names.items():
        at = f"--dataset-name hf --dataset-path {name} {flags} --backend " + ("openai-audio" if name in AUDIO else "openai-chat")  # fmt: skip
        cases.append(("hf", name, "small", f"{at} --num-prompts 4 --no-oversample"))
        cases.append(("hf", name, "small", f"{at} --num-prompts 3 --no-stream --seed 7 --hf-output-len 9"))
    recorded = []
    for (_, _, _, flags), rows in zip(cases, vllm_prompts(cases)):
        if "error" in rows[0]:
            sys.exit(f"{flags}: {rows[0]}")
        sent = [short(pictures(as_sent(row, "openai-chat" in flags))) for row in rows]
        recorded.append(json.dumps({"flags": flags.split(), "requests": sent}, ensure_ascii=False))
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/requests.json", "w") as f:
        f.write(json.dumps(versions())[:-1] + ', "cases": [\n' + ",\n".join(recorded) + "\n]}\n")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in sorted(names):
            for root, _, files in sorted(os.walk(f"{TABLES}/{name}")):
                for file in sorted(files):
                    path = os.path.join(root, file)
                    entry = tarfile.TarInfo(os.path.relpath(path, TABLES))
                    entry.size = os.path.getsize(path)
                    with open(path, "rb") as f:
                        tar.addfile(entry, f)
    with open(f"{folder}/data.tar.gz", "wb") as f:
        f.write(gzip.compress(packed.getvalue(), mtime=0))


def short(taken):
    """A picture as its size and its mean colour."""
    row, found = taken
    words = [f"picture {p.width} {p.height} " + " ".join(str(round(sum(c) / len(c))) for c in map(list, map(lambda b: b.get_flattened_data(), p.split()))) for p in found]  # fmt: skip
    text = json.dumps(row, ensure_ascii=False).replace(TABLES, "DATA")
    for picture, word in zip(found, words):
        text = text.replace(f"picture {picture.size} {picture.mode}", word, 1)
    return json.loads(text)


main()
