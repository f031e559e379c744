"""Runs the real `vllm bench serve` from its Python sources alone, without torch, CUDA or a model.

    vllm_bench.py SOURCES serve ...     what `vllm bench serve ...` does
    vllm_bench.py SOURCES flags         the command line's options, as JSON
    vllm_bench.py SOURCES prompts       the requests of the command lines on standard input; see vllm_prompts.py
    vllm_bench.py SOURCES slices ...    what its helper that cuts a text into prompts does

SOURCES is the folder that holds vllm's unpacked Python files. What the benchmark client itself consists of is loaded
from there unchanged; the rest of vllm, which it imports for things it does not use here, is replaced by empty modules.
The tokenizer is the loaded server's own, asked through /tokenize.

COMPAT_DELAYS names a file that gets the planned arrival offsets in seconds, as vllm computed them.
COMPAT_TRACE names a file that gets how long requests and answers spent inside the client.
COMPAT_TOKENIZER=identity takes a tokenizer whose text is the ids themselves, separated by blanks; =words one that counts
words; =folder the one in the folder that --tokenizer names.
"""

import asyncio
import importlib.abc
import importlib.machinery
import json
import logging
import os
import re
import sys
import time
import types

import vllm_prompts

# What is loaded from the sources. Everything else below "vllm." becomes an empty module.
REAL = (
    "vllm.benchmarks",
    "vllm.multimodal.image",
    "vllm.utils.argparse_utils",
    "vllm.utils.gc_utils",
    "vllm.utils.mistral",
    "vllm.utils.network_utils",
)


class Nothing:
    """Stands for a class or function of vllm that this run must not need."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("this part of vllm is left out here")


class Missing:
    """Stands for an optional package that is not installed."""

    def __init__(self, name):
        self.name = name

    def placeholder_attr(self, name):
        return Nothing


class EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives an empty module for every part of vllm that is not in REAL."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        if name != "vllm" and not name.startswith("vllm."):
            return None
        if any(name == r or name.startswith(r + ".") for r in REAL):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = [os.path.join(self.sources, *spec.name.split("."))]
        module.__getattr__ = lambda name: absent(spec.name, name)
        return module

    def exec_module(self, module):
        if module.__name__ == "vllm.logger":
            module.init_logger = logging.getLogger
        elif module.__name__ == "vllm.utils.import_utils":
            module.PlaceholderModule = Missing
            module.LazyLoader = lambda *_: None
        elif module.__name__ == "vllm.transformers_utils.repo_utils":
            module.hf_api = vllm_prompts.Hub
        elif module.__name__ == "vllm.multimodal.audio":
            module.get_audio_duration = lambda *, y, sr: y.shape[-1] / sr  # its module needs torch
        elif module.__name__ == "vllm.tokenizers":
            module.get_tokenizer = lambda name, **_: TOKENIZERS[os.environ.get("COMPAT_TOKENIZER", "server")](name)


def absent(module, name):
    if name.startswith("__"):
        raise AttributeError(name)
    if module == "vllm.envs":
        return None
    return type(name, (Nothing,), {})


class Encoded:
    def __init__(self, ids):
        self.input_ids = ids


class ServerTokenizer:
    """Counts as the loaded server does. benchtop asks the same endpoint."""

    all_special_ids = []
    vocab_size = 32000

    def __init__(self, model):
        import requests

        self.session, self.model, self.known = requests.Session(), model, {}

    def __call__(self, text, add_special_tokens=True, **_):
        return Encoded(self.encode(text, add_special_tokens))

    def encode(self, text, add_special_tokens=True, **_):
        key = (text, add_special_tokens)
        if key not in self.known:
            self.known[key] = self.ask("/tokenize", prompt=text, add_special_tokens=add_special_tokens)["tokens"]
        return self.known[key]

    def decode(self, ids, **_):
        return self.ask("/detokenize", tokens=list(map(int, ids)))["prompt"]

    def num_special_tokens_to_add(self):
        return 0

    def ask(self, path, **body):
        answer = self.session.post(base_url() + path, json={"model": self.model, **body}, timeout=30)
        answer.raise_for_status()
        return answer.json()


class IdentityTokenizer:
    """Text is the ids in decimal: shows which ids were drawn."""

    all_special_ids = []
    vocab_size = 32000

    def __init__(self, model):
        pass

    def __call__(self, text, **_):
        return Encoded(self.encode(text))

    def encode(self, text, **_):
        return [int(word) for word in text.split()]

    def decode(self, ids, **_):
        return " ".join(str(int(i)) for i in ids)

    def num_special_tokens_to_add(self):
        return 0


class WordTokenizer(IdentityTokenizer):
    """A token for each word: for files of text, without a server."""

    def encode(self, text, **_):
        return [0] * len(text.split())


TOKENIZERS = {
    "server": ServerTokenizer,
    "identity": IdentityTokenizer,
    "words": WordTokenizer,
    "folder": vllm_prompts.tokenizer,
}


def base_url():
    return os.environ["COMPAT_BASE_URL"]


class Frozen:
    """Looks like a module, but for some functions."""

    def __init__(self, module, **replaced):
        self.module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name):
        return getattr(self.module, name)


def record_delays(serve, path):
    """Has vllm's own generator run once with a clock that stands still: what it then sleeps are its planned offsets."""
    import numpy as np

    original = serve.get_request

    async def planned(*args, **kwargs):
        offsets, slept = [], [0.0]

        async def sleep(seconds):
            slept[0] = seconds

        state = np.random.get_state()
        serve.time, serve.asyncio = Frozen(time, time=lambda: 0.0), Frozen(asyncio, sleep=sleep)
        try:
            async for _, rate in original(*args, **kwargs):
                offsets.append({"offset_s": float(slept[0]), "rate": float(rate)})
                slept[0] = 0.0
        finally:
            serve.time, serve.asyncio = time, asyncio
            np.random.set_state(state)
        return offsets

    async def wrapper(*args, **kwargs):
        with open(path, "w") as f:
            json.dump(await planned(*args, **kwargs), f)
        async for item in original(*args, **kwargs):
            yield item

    serve.get_request = wrapper


def record_client_time(path):
    """Notes how long requests and answers spend inside the client: from its call to the first write to the socket, and from
    the moment bytes came out of the socket to the moment its reader gets them."""
    import contextvars

    import aiohttp
    from aiohttp import client_proto, http_writer, streams

    requests, reads, arrived = [], [], {}
    current = contextvars.ContextVar("request", default=None)
    trace = aiohttp.TraceConfig()

    async def started(session, context, params):
        context.row = {"path": params.url.path, "start": time.perf_counter(), "dial_ms": None, "until_written_ms": None}
        requests.append(context.row)
        current.set(context.row)

    async def dialling(session, context, params):
        context.dial = time.perf_counter()

    async def dialled(session, context, params):
        context.row["dial_ms"] = (time.perf_counter() - context.dial) * 1000

    trace.on_request_start.append(started)
    trace.on_connection_create_start.append(dialling)
    trace.on_connection_create_end.append(dialled)
    session_init = aiohttp.ClientSession.__init__
    aiohttp.ClientSession.__init__ = lambda self, *a, **k: session_init(self, *a, trace_configs=[trace], **k)

    def noting(write):
        def noted(self, chunk):
            write(self, chunk)
            row = current.get()
            if row and row["until_written_ms"] is None:
                row["until_written_ms"] = (time.perf_counter() - row["start"]) * 1000

        return noted

    writer = http_writer.StreamWriter
    writer._write, writer._writelines = noting(writer._write), noting(writer._writelines)
    data_received, readany = client_proto.ResponseHandler.data_received, streams.StreamReader.readany

    def received(self, data):
        arrived[id(self)] = time.perf_counter()
        data_received(self, data)

    async def read(self):
        data = await readany(self)
        if data:
            reads.append((time.perf_counter() - arrived[id(self._protocol)]) * 1000)
        return data

    client_proto.ResponseHandler.data_received, streams.StreamReader.readany = received, read

    def finish():
        with open(path, "w") as f:
            json.dump({"requests": requests, "until_read_ms": reads}, f)

    return finish


def flags(parser):
    """The options with their types and defaults."""
    rows = []
    for group in parser._action_groups:
        for action in group._group_actions:
            if action.option_strings and action.dest != "help":
                rows.append(
                    {
                        "flags": action.option_strings,
                        "type": getattr(action.type, "__name__", type(action).__name__),
                        "nargs": action.nargs,
                        "default": re.sub("^bench-.*", "bench-00000000-", str(action.default)),  # else new each time
                        "choices": sorted(map(str, action.choices)) if action.choices else None,
                    }
                )
    return rows


def main():
    sources, command, arguments = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    sys.path.insert(0, sources)
    sys.meta_path.insert(0, EmptyModules(sources))
    from vllm.benchmarks import serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    # The whole program's parser, reduced to this one command: how it splits a command line depends on the nesting.
    top = FlexibleArgumentParser(prog="vllm")
    bench = top.add_subparsers(dest="subparser").add_parser("bench").add_subparsers(dest="bench_type")
    parser = bench.add_parser("serve")
    serve.add_cli_args(parser)
    if command == "flags":
        print("[\n" + ",\n".join(map(json.dumps, flags(parser))) + "\n]")
        return
    if command == "prompts":
        vllm_prompts.write_prompts(serve, top.parse_args)
        return
    if command == "slices":
        from vllm.benchmarks.datasets import create_txt_slices_dataset

        create_txt_slices_dataset.main(arguments)
        return
    args = top.parse_args(["bench", "serve", *arguments])
    os.environ.setdefault("COMPAT_BASE_URL", args.base_url or f"http://{args.host}:{args.port}")
    if path := os.environ.get("COMPAT_DELAYS"):
        record_delays(serve, path)
    finish = lambda: None
    if path := os.environ.get("COMPAT_TRACE"):
        finish = record_client_time(path)
    serve.main(args)
    finish()


main()
