"""What vllm's client would send: the part of vllm_bench.py for the commands prompts and slices.

vllm's own main runs up to the moment at which its data set has made the requests; they are written down, and it goes no
further. Its tokenizer is the one of Hugging Face's transformers, read from a folder, as vllm has it.
"""

import asyncio
import dataclasses
import functools
import io
import json
import os
import sys


class Drawn(Exception):
    """The requests are there."""

    def __init__(self, requests):
        self.requests = requests


@functools.cache
def tokenizer(name):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name, truncation_side="left")


class Hub:
    """Stands for the hub: a data set's files lie in the folder that its name is."""

    def hf_hub_download(self, repository, file, repo_type):
        from huggingface_hub.errors import EntryNotFoundError

        path = os.path.join(repository, file)
        if not os.path.exists(path):
            raise EntryNotFoundError(path)
        return path

    def snapshot_download(self, repository, repo_type):
        return os.path.abspath(repository)


def plain(value):
    """What JSON has no form for: a recording is told by what is sent of it, a WAV file."""
    import soundfile

    samples, rate = value["audio"] if "audio" in value else soundfile.read(value["audio_path"], dtype="float32")
    sent = io.BytesIO()
    soundfile.write(sent, samples, rate, format="WAV")
    return {"bytes": len(sent.getvalue()), "seconds": round(len(samples) / rate, 6)}


def lines(requests):
    for request in requests:
        fields = {f.name: getattr(request, f.name) for f in dataclasses.fields(request)}
        media = fields["multi_modal_data"]
        if isinstance(media, dict) and media.keys() & {"audio", "audio_path"}:
            fields["audio"], fields["multi_modal_data"] = plain(media), None
        yield {k: v for k, v in fields.items() if v is not None and k != "lora_request"}


def write_prompts(serve, parse):
    """Reads a JSON list of [file, flag, ...] and writes to each file the requests, or {"error": …} where vllm refuses."""

    def drawn(*args, **kwargs):
        raise Drawn(get_samples(*args, **kwargs))

    get_samples, serve.get_samples = serve.get_samples, drawn
    for path, *flags in json.load(sys.stdin):
        rows = []
        try:
            asyncio.run(serve.main_async(parse(["bench", "serve", *flags])))
        except Drawn as made:
            rows = lines(made.requests)
        except (Exception, SystemExit) as error:
            rows = [{"error": f"{type(error).__name__}: {error}"}]
        with open(path, "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)
