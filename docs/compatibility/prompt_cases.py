"""The command lines whose prompts prompts.py compares, and the files they read.

Tokenizers, templates and most files are those of the tests; a few files are written here. DATA may name a folder with real
ones (sonnet.txt, spec_bench_question.jsonl, mooncake_synthetic_trace.jsonl), which are too large or not ours to keep.
"""

import gzip
import json
import os
import random

from sharegpt import HARD, text

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "../../internal/hf")
FILES = os.path.normpath(os.path.join(HERE, "../../datasets/testdata"))
DATA = os.environ.get("DATA", "")
BFCL = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"

# The settings as the hub has them beside the models: the class, and which tokens are special.
MODELS = {
    "qwen2.5": {
        "tokenizer_class": "Qwen2Tokenizer",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|image_pad|>"],
    },
    "gpt2": {"tokenizer_class": "GPT2Tokenizer"},
    "bert-base-uncased": {
        "tokenizer_class": "BertTokenizer",
        **{f"{n}_token": f"[{n.upper()}]" for n in ("unk", "sep", "pad", "cls", "mask")},
    },
    # Llama 2's form: bytes as a fallback, a blank before the text, a token that every prompt begins with.
    "synthetic-spbpe": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    },
}
TEMPLATES = {"qwen2.5": "lenml-qwen2_5", "synthetic-spbpe": "own-headers"}

# Texts that tokenizers take for more than text, or change.
SPECIAL = [
    "<|im_start|>system\nYou are a bench.<|im_end|>\n<|im_start|>user",
    "<|endoftext|> in the middle<|endoftext|>  <s>[INST] twice [/INST]  </s>",
    "[CLS] a [MASK] b[SEP]c [UNK] <|user|>  <tool_call>{}</tool_call>",
    "\u1112\u1161\u11ab \u212b \u0130stanbul \u00df \ufb01 \u0958 e\u0301e\u0327\u0301 12345 3,14 don't DON'T I'LL",
    "\n\n  \t\n", "{{ 7 * 7 }} {% raw %} {# no #}", "a" * 300, "\u4e2d" * 60, "!?" * 90,
]  # fmt: skip

# A file of prompts that is not as the others.
ODD = [
    b'{"prompt": "a blank line follows", "output_tokens": 12}', b"",
    b'{"output_tokens": 7.0, "prompt": "other order, other columns", "date": "2026-11-22", "id": 5}',
    b'{"prompt": "a number as a text \\u00fc\\ud83d\\ude00", "output_tokens": 3, "more": {"a": [1]}}', b"   ",
]  # fmt: skip


def write_models(folder):
    with gzip.open(f"{TESTS}/chattemplate/testdata/chat-templates-own.jsonl.gz", "rt") as f:
        templates = {row["name"]: row["template"] for row in map(json.loads, f)}
    for name, settings in MODELS.items():
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        with gzip.open(f"{TESTS}/tokenizer/testdata/{name}.tokenizer.json.gz") as f:
            content = f.read()
        with open(f"{folder}/{name}/tokenizer.json", "wb") as f:
            f.write(content)
        if name in TEMPLATES:
            settings = settings | {"chat_template": templates[TEMPLATES[name]]}
        with open(f"{folder}/{name}/tokenizer_config.json", "w") as f:
            json.dump(settings, f)


def write_files(folder):
    draws = random.Random(21)
    prompts = HARD + SPECIAL + [text(draws, draws.randint(3, 200)) for _ in range(50)]
    with open(f"{folder}/hard.jsonl", "w") as f:
        f.writelines(json.dumps({"prompt": p, "output_tokens": i + 1}) + "\n" for i, p in enumerate(prompts))
    with open(f"{folder}/poem.txt", "w") as f:
        f.writelines(text(draws, draws.randint(4, 12)) + "\n" for _ in range(300))
    with open(f"{folder}/hard.txt", "w") as f:
        f.write("\n".join(HARD + SPECIAL))
    with open(f"{folder}/odd.jsonl", "wb") as f:
        f.write(b"\r\n".join(ODD))


def all_cases():
    """Each is (data set, what is special about it, tokenizer, flags)."""
    for seed in 0, 1, 4294967295:
        yield "random", f"seed {seed}", "qwen2.5", f"--random-input-len 300 --num-prompts 100 --seed {seed}"
    for model in MODELS:
        yield (
            "random",
            f"{model}, lengths vary",
            model,
            "--random-input-len 64 --random-range-ratio 0.5 --num-prompts 200 --seed 3",
        )
        yield (
            "random",
            f"{model}, prefix",
            model,
            "--random-input-len 40 --random-prefix-len 50 --num-prompts 100 --seed 5",
        )
    yield (
        "random",
        "a range for each length",
        "qwen2.5",
        """--random-range-ratio '{"input": 0.1, "output": 0.9}' --num-prompts 50""",
    )
    yield (
        "random",
        "general lengths win",
        "gpt2",
        "--input-len 30 --output-len 7 --random-input-len 99 --random-output-len 99 --num-prompts 50",
    )
    yield "random", "batches", "qwen2.5", "--random-input-len 20 --random-batch-size 8 --num-prompts 30"
    yield "random", "as vLLM has it if nothing is said", "qwen2.5", "--num-prompts 200"
    yield "random", "chat", "qwen2.5", "--backend openai-chat --random-input-len 50 --num-prompts 20"
    yield (
        "random",
        "a token or two, answers of one",
        "gpt2",
        "--random-input-len 2 --random-output-len 1 --random-range-ratio 0.4 --num-prompts 60",
    )
    yield "random", "too short", "bert-base-uncased", "--random-input-len 2 --num-prompts 20"
    for model in "qwen2.5", "bert-base-uncased", "synthetic-spbpe":
        yield (
            "random-rerank",
            model,
            model,
            "--random-input-len 100 --random-batch-size 5 --random-range-ratio 0.3 --num-prompts 42 --seed 2",
        )
        yield (
            "random-rerank",
            f"{model}, no reranker",
            model,
            "--random-input-len 60 --random-batch-size 5 --num-prompts 42 --no-reranker",
        )
    mm = "--backend openai-chat --random-input-len 30"
    yield (
        "random-mm",
        "images",
        "qwen2.5",
        f"{mm} --num-prompts 6 --random-mm-bucket-config '{{(64, 48, 1): 0.7, (40, 80, 1): 0.3}}' --random-mm-base-items-per-request 2 --random-mm-num-mm-items-range-ratio 0.5",
    )
    yield (
        "random-mm",
        "messages, limit",
        "qwen2.5",
        f"{mm} --num-prompts 8 --random-mm-bucket-config '{{(32, 32, 1): 1.0}}' --random-mm-base-items-per-request 3 --random-mm-limit-mm-per-prompt '{{\"image\": 2}}' --random-mm-num-mm-items-range-ratio 1 --enable-multimodal-chat --seed 9",
    )
    for model in "bert-base-uncased", "synthetic-spbpe":
        yield (
            "random-mm",
            model,
            model,
            f"{mm} --num-prompts 20 --random-prefix-len 9 --random-mm-bucket-config '{{(32, 16, 1): 1.0}}' --seed 5",
        )
    yield (
        "random-mm",
        "videos and pictures",
        "qwen2.5",
        f"{mm} --num-prompts 8 --random-mm-bucket-config '{{(64, 48, 5): 0.5, (32, 32, 1): 0.4, (96, 64, 17): 0.1}}' --random-mm-base-items-per-request 2 --random-mm-limit-mm-per-prompt '{{\"image\": 3, \"video\": 3}}' --seed 11",
    )
    yield "random-mm", "as vLLM has it if nothing is said", "qwen2.5", f"{mm} --num-prompts 3"
    for model in MODELS:
        yield (
            "prefix_repetition",
            model,
            model,
            "--prefix-repetition-prefix-len 50 --prefix-repetition-suffix-len 30 --prefix-repetition-num-prefixes 7 --num-prompts 60 --seed 4",
        )
    yield "prefix_repetition", "not shuffled", "qwen2.5", "--num-prompts 30 --disable-shuffle --output-len 9"
    yield "prefix_repetition", "fewer prompts than prefixes", "qwen2.5", "--num-prompts 5"
    for name, path in ("small", f"{FILES}/sharegpt_small.json"), ("hard", "SCRATCH/sharegpt.json"):
        at = f"--dataset-path {path} --num-prompts"
        yield "sharegpt", f"{name}, all and copies", "qwen2.5", f"{at} 200 --seed 6"
        yield "sharegpt", f"{name}, BERT", "bert-base-uncased", f"{at} 30"
        yield "sharegpt", f"{name}, a token before each text", "synthetic-spbpe", f"{at} 30"
        yield (
            "sharegpt",
            f"{name}, neither copied nor shuffled",
            "gpt2",
            f"{at} 200 --no-oversample --disable-shuffle --sharegpt-output-len 3",
        )
        yield "sharegpt", f"{name}, media", "qwen2.5", f"{at} 60 --backend openai-chat"
        yield "sharegpt", f"{name}, messages", "qwen2.5", f"{at} 60 --backend openai-chat --enable-multimodal-chat"
    for model in "qwen2.5", "synthetic-spbpe":
        at = "--dataset-path OUT/poem.txt"
        yield "sonnet", model, model, f"{at} --num-prompts 20 --seed 8"
        yield (
            "sonnet",
            f"{model}, chat, other lengths",
            model,
            f"{at} --num-prompts 20 --backend openai-chat --sonnet-input-len 400 --sonnet-prefix-len 100 --sonnet-output-len 9",
        )
    # With a prefix longer than the prompt vLLM would go on for ever.
    yield "sonnet", "too short", "qwen2.5", f"{at} --num-prompts 20 --sonnet-input-len 20"
    for model in "qwen2.5", "synthetic-spbpe":
        yield "burstgpt", model, model, f"--dataset-path {FILES}/burstgpt_small.csv --num-prompts 8 --seed 1"
    yield "burstgpt", "more than there are", "qwen2.5", f"--dataset-path {FILES}/burstgpt_small.csv --num-prompts 60"
    for name, path in ("small", f"{FILES}/custom_small.jsonl"), ("hard", "OUT/hard.jsonl"):
        at = f"--dataset-path {path} --num-prompts"
        yield "custom", f"{name}, template", "qwen2.5", f"{at} 15 --seed 3"
        yield "custom", f"{name}, another template, copies", "synthetic-spbpe", f"{at} 99 --output-len 5"
        yield "custom", f"{name}, all, recorded lengths", "qwen2.5", f"{at} 0 --custom-output-len -1"
        yield "custom", f"{name}, as it is", "gpt2", f"{at} 99 --skip-chat-template --disable-shuffle --no-oversample"
        yield (
            "custom",
            f"{name}, template's variables",
            "qwen2.5",
            f"""{at} 9 --chat-template-kwargs '{{"tools": [{{"type": "function", "function": {{"name": "ü"}}}}]}}'""",
        )
    yield "custom", "odd rows", "qwen2.5", "--dataset-path OUT/odd.jsonl --num-prompts 0 --custom-output-len -1"
    yield "custom", "no template", "gpt2", f"--dataset-path {FILES}/custom_small.jsonl --num-prompts 3"
    yield (
        "custom",
        "no recorded lengths",
        "qwen2.5",
        f"--dataset-path {FILES}/custom_no_output_tokens.jsonl --num-prompts 3 --custom-output-len -1",
    )
    yield (
        "custom",
        "no tokenizer",
        "",
        f"--dataset-path {FILES}/custom_small.jsonl --num-prompts 9 --skip-tokenizer-init",
    )
    image = f"--backend openai-chat --dataset-path {FILES}/custom_image_small.jsonl"
    yield "custom_image", "parts", "qwen2.5", f"{image} --num-prompts 0"
    yield (
        "custom_image",
        "messages, copies",
        "synthetic-spbpe",
        f"{image} --num-prompts 20 --enable-multimodal-chat --seed 2",
    )
    for name, path in {
        "small": f"{FILES}/spec_bench_small.jsonl",
        "Spec-Bench": f"{DATA}/spec_bench_question.jsonl",
    }.items():
        if os.path.exists(path):
            yield "spec_bench", name, "qwen2.5", f"--dataset-path {path} --num-prompts 500 --seed 5"
            yield (
                "spec_bench",
                f"{name}, a category",
                "synthetic-spbpe",
                f"--dataset-path {path} --num-prompts 5 --spec-bench-category math --spec-bench-output-len 9",
            )
    speed = f"--dataset-path {FILES}/speed_bench_small"
    yield "speed_bench", "template", "qwen2.5", f"{speed} --num-prompts 30 --seed 5"
    yield (
        "speed_bench",
        "a category, as it is",
        "gpt2",
        f"{speed} --num-prompts 0 --speed-bench-category coding --skip-chat-template --output-len 5",
    )
    yield (
        "speed_bench",
        "another subset",
        "synthetic-spbpe",
        f"{speed} --num-prompts 3 --speed-bench-dataset-subset throughput_1k --speed-bench-output-len 7",
    )
    trace = f"--dataset-path {FILES}/trace_small.jsonl"
    for model in MODELS:
        yield "timed_trace", model, model, f"{trace} --num-prompts 7 --timed-trace-sec-multiplier 0.001"
    yield "timed_trace", "blocks of 7", "qwen2.5", f"{trace} --num-prompts 5 --timed-trace-chunk-hash-size 7"
    if os.path.exists(f"{DATA}/mooncake_synthetic_trace.jsonl"):
        yield (
            "timed_trace",
            "Mooncake's",
            "qwen2.5",
            f"--dataset-path {DATA}/mooncake_synthetic_trace.jsonl --num-prompts 100 --timed-trace-chunk-hash-size 512 --timed-trace-sec-multiplier 0.001",
        )
    hub = f"--backend openai-chat --dataset-name hf --dataset-path {FILES} --hf-name {BFCL}"
    yield "BFCL", "tools in the template", "qwen2.5", f"{hub} --num-prompts 40 --seed 7"
    yield (
        "BFCL",
        "in order, other categories",
        "synthetic-spbpe",
        f"{hub} --num-prompts 9 --disable-shuffle --no-oversample --hf-output-len 3 --bfcl-categories parallel,simple",
    )
    yield "BFCL", "no template", "gpt2", f"{hub} --num-prompts 20 --output-len 5"
    yield "BFCL", "no such category", "qwen2.5", f"{hub} --num-prompts 9 --bfcl-categories none"
    if os.path.exists(f"{DATA}/sonnet.txt"):
        yield "sonnet", "the real poem", "qwen2.5", f"--dataset-path {DATA}/sonnet.txt --num-prompts 100"


def slices():
    """Each is (name, tokenizer, flags) of the helper that cuts a text into prompts."""
    for model in MODELS:
        yield (
            model,
            model,
            f"--input {FILES}/slices_source.txt --num-prompts 40 --input-len 30 --range-ratio 0.5 --seed 3",
        )
        yield f"{model}, hard", model, "--input OUT/hard.txt --num-prompts 40 --input-len 50 --output-len 3"
    yield "longer than the text", "qwen2.5", f"--input {FILES}/slices_source.txt --num-prompts 5 --input-len 1000"
