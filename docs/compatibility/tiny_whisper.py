"""Makes a Whisper of 7 M random weights with GPT-2's tokenizer, for `vllm serve`: no hub is asked.

    tiny_whisper.py FOLDER TOKENIZER      TOKENIZER is internal/hf/tokenizer/testdata/gpt2.tokenizer.json.gz

It needs torch and transformers 5; `vllm serve FOLDER` needs soundfile, av, soxr and scipy beside vLLM.
"""

import gzip
import json
import sys

import torch
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration, WhisperProcessor, WhisperTokenizer
from transformers.models.whisper.tokenization_whisper import LANGUAGES

END, START = "<|endoftext|>", "<|startoftranscript|>"
TASKS = ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]


def main():
    folder, tokenizer = sys.argv[1:]
    with gzip.open(tokenizer) as f:
        model = json.load(f)["model"]
    vocab = {k: v for k, v in model["vocab"].items() if k != END}
    merges = [tuple(m.split(" ") if isinstance(m, str) else m) for m in model["merges"]]
    tokens = WhisperTokenizer(vocab=vocab, merges=merges)
    tokens.add_special_tokens({"extra_special_tokens": [END, START, *(f"<|{code}|>" for code in LANGUAGES), *TASKS]})
    tokens.add_tokens([f"<|{i * 0.02:.2f}|>" for i in range(1501)])
    end, start = map(tokens.convert_tokens_to_ids, (END, START))
    ids = {"begin_suppress_tokens": None, "bos_token_id": end, "eos_token_id": end, "pad_token_id": end, "decoder_start_token_id": start}
    # vLLM's attention on a CPU takes heads of 64.
    sides = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 128))}
    torch.manual_seed(0)
    whisper = WhisperForConditionalGeneration(WhisperConfig(vocab_size=len(tokens), d_model=128, **sides, **ids)).to(torch.bfloat16)
    whisper.generation_config = GenerationConfig(**ids)
    whisper.save_pretrained(folder)
    WhisperProcessor(WhisperFeatureExtractor(feature_size=80), tokens).save_pretrained(folder)


main()
