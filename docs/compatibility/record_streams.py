"""Records the answers of a real server, as the bytes come out of its socket.

    record_streams.py ENGINE VERSION COMMAND URL OUT GROUP...
    record_streams.py OUT

ENGINE, VERSION and COMMAND are written into the recording. URL is the server's, with the model under the name "tiny". OUT is the
JSON file to write. Each GROUP of CASES below is recorded; loadgen/recorded_test.go plays the file to benchtop's client. With OUT
alone its facts are read again from its bytes.

A case has its request (without the body where that is long), the pieces that the reads of the socket returned (a time in milliseconds since the request was written, and
the bytes: head, chunk sizes and all), whether the server closed the connection, and "want": the facts of the answer, read here by
rules of their own that are written down nowhere else.
"""

import io
import json
import math
import socket
import struct
import sys
import time
import urllib.parse
import wave

PROMPT = "The first ship of the year came up the river, and the town went down to meet it."
OTHER = "A second text."
DOCUMENTS = ["A ship on a river.", "Bread and butter.", "The town hall was closed for the day."]
USAGE = {"stream_options": {"include_usage": True}}
LIVE = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
EOS = {"ignore_eos": True}
N = 8


def completions(prompt=PROMPT, n=N, **more):
    body = {"model": "tiny", "prompt": prompt, "repetition_penalty": 1.0, "max_tokens": n, "logprobs": None, "stream": True}
    return "vllm", "/v1/completions", body | USAGE | EOS | more


def chat(prompt=PROMPT, n=N, **more):
    body = {"model": "tiny", "messages": messages(prompt), "max_completion_tokens": n, "stream": True}
    return "openai-chat", "/v1/chat/completions", body | USAGE | EOS | more


def messages(prompt):
    return [{"role": "user", "content": [{"type": "text", "text": prompt}]}]


def responses(prompt=PROMPT, n=N, **more):
    body = {"model": "tiny", "input": prompt, "max_output_tokens": n, "stream": True, "store": False}
    return "openai-responses", "/v1/responses", body | EOS | more


def anthropic(prompt=PROMPT, n=N, **more):
    body = {"model": "tiny", "max_tokens": n, "messages": [{"role": "user", "content": prompt}], "stream": True}
    return "anthropic-messages", "/v1/messages", body | more


def ollama(prompt=PROMPT, n=N, **more):
    body = {"model": "tiny", "messages": [{"role": "user", "content": prompt}], "stream": True}
    return "ollama", "/api/chat", body | {"options": {"num_predict": n}} | more


def embeddings(given=PROMPT, **more):
    return "openai-embeddings", "/v1/embeddings", {"model": "tiny", "input": given, "truncate_prompt_tokens": -1} | more


def embeddings_chat(**more):
    body = {"model": "tiny", "messages": messages(PROMPT), "truncate_prompt_tokens": -1}
    return "openai-embeddings-chat", "/v1/embeddings", body | more


def pooling(**more):
    return "vllm-pooling", "/pooling", {"model": "tiny", "truncate_prompt_tokens": -1, "input": PROMPT} | more


def rerank(**more):
    body = {"model": "tiny", "query": "ships", "documents": DOCUMENTS, "truncate_prompt_tokens": -1}
    return "vllm-rerank", "/v1/rerank", body | more


def transcribe(file, **more):
    form = {"file": file, "model": "tiny", "max_completion_tokens": N, "stream": True, "language": "en", "stream_include_usage": True}
    return "openai-audio", "/v1/audio/transcriptions", form | {"stream_continuous_usage_stats": True} | more


def tone(seconds):
    """A WAV file."""
    rate = 16000
    samples = b"".join(struct.pack("<h", round(9000 * math.sin(i / 7))) for i in range(round(seconds * rate)))
    with io.BytesIO() as file:
        with wave.open(file, "wb") as w:
            w.setparams((1, 2, rate, 0, "NONE", None))
            w.writeframes(samples)
        return file.getvalue()


NONE = {"model": "none"}
LONG = "ship " * 5000
BLOCKS = PROMPT * 15  # more than the 128 tokens of a block in vLLM's prefix cache
CASES = {
    "generate": {
        "completions": completions(),
        "completions, continuous usage": completions(**LIVE),
        "completions, log probabilities": completions(logprobs=2),
        "completions, too long": completions(LONG),
        "chat": chat(),
        "chat, continuous usage": chat(**LIVE),
        "chat, log probabilities": chat(logprobs=True, top_logprobs=2),
        "chat, two choices": chat(n_=2),
        "chat, too long": chat(LONG),
        "responses": responses(),
        "responses, too long": responses(LONG),
        "messages": anthropic(),
        "messages, too long": anthropic(LONG),
        "unknown path": ("vllm", "/v2/completions", completions()[2]),
    },
    "unknown model": {
        "completions, unknown model": completions(**NONE),
        "chat, unknown model": chat(**NONE),
        "responses, unknown model": responses(**NONE),
        "messages, unknown model": anthropic(**NONE),
        "completions, bad temperature": completions(temperature=-1),
    },
    "embeddings of a generator": {"embeddings of a generator": embeddings()},
    "no usage": {
        "completions, usage not asked for": completions(stream_options=None),
        "chat, usage not asked for": chat(stream_options=None),
    },
    "cached": {
        "completions, cached": completions(BLOCKS),
        "chat, cached": chat(BLOCKS),
        "responses, cached": responses(BLOCKS),
        "messages, cached": anthropic(BLOCKS),
    },
    "vllm": {
        "completions, token ids": completions([785, 1156, 8284, 315, 279, 1042]),
        "completions, ids of the output": completions(return_token_ids=True),
        "chat, ids of the output": chat(return_token_ids=True),
    },
    "embed": {
        "embeddings": embeddings(),
        "embeddings, base64": embeddings(encoding_format="base64"),
        "embeddings, several": embeddings([PROMPT, OTHER, "c"]),
        "embeddings, token ids": embeddings([785, 1156, 8284]),
        "embeddings, unknown model": embeddings(**NONE),
        "embeddings, too long": embeddings(LONG, truncate_prompt_tokens=None),
    },
    "vllm embed": {
        "embeddings, messages": embeddings_chat(),
        "pooling, embed": pooling(task="embed"),
        "pooling, unknown model": pooling(**NONE),
        "rerank by similarity": rerank(),
    },
    "vllm classify": {
        "pooling, classify": pooling(task="classify"),
        "rerank": rerank(),
        "rerank, unknown model": rerank(**NONE),
    },
    "llama rerank": {"rerank": rerank()},
    "ollama": {
        "lines": ollama(),
        "lines, a long prompt": ollama(BLOCKS),
        "lines, not a stream": ollama(stream=False),
        "lines, unknown model": ollama(**NONE),
    },
    "vllm whisper": {
        "transcription": transcribe(tone(1)),
        "transcription, two segments": transcribe(tone(40)),
        "transcription, usage at the end": transcribe(tone(1), stream_continuous_usage_stats=False),
        "transcription, no recording": transcribe(b"RIFF"),
        "transcription, unknown model": transcribe(tone(1), **NONE),
    },
}


def record(url, path, body):
    """The pieces of an answer, and whether the server closed the connection behind it."""
    at = urllib.parse.urlsplit(url)
    kind, data = ("multipart/form-data; boundary=part", form(body)) if "file" in body else ("application/json", json.dumps(body).encode())
    head = f"POST {path} HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    pieces = []
    with socket.create_connection((at.hostname, at.port), timeout=60) as s:
        s.sendall(head.encode() + data)
        start = time.perf_counter()
        while not whole(b"".join(p for _, p in pieces)):
            piece = s.recv(65536)
            if not piece:
                return pieces, True
            pieces.append((round((time.perf_counter() - start) * 1000), piece))
        s.settimeout(0.3)
        try:
            return pieces, s.recv(1) == b""
        except TimeoutError:
            return pieces, False


def form(fields):
    parts = b""
    for name, value in fields.items():
        file = '; filename="tone.wav"\r\nContent-Type: audio/x-wav' if name == "file" else ""
        parts += f'--part\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
        parts += (value if file else str(value).encode()) + b"\r\n"
    return parts + b"--part--\r\n"


def split(answer):
    head, _, rest = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}, rest


def whole(answer):
    if b"\r\n\r\n" not in answer:
        return False
    _, headers, rest = split(answer)
    if "content-length" in headers:
        return len(rest) >= int(headers["content-length"])
    return rest.endswith(b"0\r\n\r\n")


def body_of(answer):
    """The status and the body, as far as they are there."""
    status, headers, rest = split(answer)
    if "content-length" in headers:
        return status, rest
    body = b""
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        if not int(size, 16):
            break
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return status, body


def events(body):
    if body.startswith(b"{"):
        yield from map(json.loads, body.splitlines())
        return
    for block in body.split(b"\n\n")[:-1]:
        data = b"".join(line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:"))
        if data and data != b"[DONE]":
            yield json.loads(data)


def moments(backend, pieces):
    """The times of the first and the last event that counts as output."""
    counts, answer = [], b""
    for _, piece in pieces:
        answer += piece
        counts.append(sum(map(READERS[backend][0], events(body_of(answer)[1]))))
    return {"first_ms": next(ms for (ms, _), n in zip(pieces, counts) if n), "last_ms": pieces[counts.index(counts[-1])][0]}


def facts(backend, pieces):
    """What the answer says."""
    status, body = body_of(b"".join(p for _, p in pieces))
    if status != 200:
        return {"status": status}
    if backend not in READERS:
        return {"status": status, "input_tokens": (json.loads(body).get("usage") or {}).get("prompt_tokens")}
    counts, read = READERS[backend]
    all = list(events(body))
    return {"status": status, "chunks": sum(map(counts, all))} | moments(backend, pieces) | read(all) | clocks(all)


def clocks(all):
    """The server's own times, as the last event has them."""
    last = all[-1].get("response", {}) | all[-1]
    theirs, timings = last.get("metrics") or {}, last.get("timings") or {}
    if "prompt_eval_duration" in last:  # in nanoseconds
        timings = {"prompt_ms": last["prompt_eval_duration"] / 1e6}
    return {"queue_ms": theirs.get("queue_time_ms"), "prefill_ms": theirs.get("time_to_first_token_ms", timings.get("prompt_ms"))}


def openai_counts(event):
    if not event["choices"]:
        return False
    delta = event["choices"][0].get("delta")
    return delta is None or bool(delta.get("content") or delta.get("reasoning")) or delta.get("content") == "" and "role" not in delta


def openai_facts(all):
    text, reason, usage = "", None, {}
    for e in all:
        usage = e.get("usage") or usage
        for choice in e["choices"][:1]:
            reason = choice.get("finish_reason") or reason
            text += (choice["text"] if "text" in choice else choice["delta"].get("content")) or ""
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    return {"text": text, "finish": reason} | tokens(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)


def responses_counts(event):
    return event["type"] in ("response.output_text.delta", "response.reasoning_text.delta")


def responses_facts(all):
    text = "".join(e["delta"] for e in all if e["type"] == "response.output_text.delta")
    last = all[-1]["response"]
    u = last["usage"]
    cached = (u.get("input_tokens_details") or {}).get("cached_tokens")
    return {"text": text, "finish": last["status"]} | tokens(u["input_tokens"], u["output_tokens"], cached)


def anthropic_counts(event):
    return event["type"] == "content_block_delta"


def anthropic_facts(all):
    usage, reason = {}, None
    for e in all:
        usage |= e.get("usage") or e.get("message", {}).get("usage") or {}
        reason = e.get("delta", {}).get("stop_reason") or reason
    text = "".join(e["delta"].get("text", "") for e in all if anthropic_counts(e))
    # The API's input_tokens leave out those that the cache had or got.
    given = sum(usage.get(k) or 0 for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"))
    return {"text": text, "finish": reason} | tokens(given, usage.get("output_tokens"), usage.get("cache_read_input_tokens"))


def ollama_counts(event):
    return bool(event["message"]["content"])


def ollama_facts(all):
    text, last = "".join(e["message"]["content"] for e in all), all[-1]
    return {"text": text, "finish": last["done_reason"]} | tokens(last["prompt_eval_count"], last["eval_count"], None)


READERS = {
    "ollama": (ollama_counts, ollama_facts),
    "vllm": (openai_counts, openai_facts),
    "openai-chat": (openai_counts, openai_facts),
    "openai-responses": (responses_counts, responses_facts),
    "anthropic-messages": (anthropic_counts, anthropic_facts),
    "openai-audio": (lambda event: bool(event["choices"]), openai_facts),
}


def tokens(given, made, cached):
    return {"input_tokens": given, "output_tokens": made, "cached_tokens": cached}


def main():
    if len(sys.argv) < 3:
        return again(sys.argv[1])
    engine, version, command, url, out, *groups = sys.argv[1:]
    cases = []
    for name, (backend, path, body) in ((n, c) for g in groups for n, c in CASES[g].items()):
        body = {"n" if k == "n_" else k: v for k, v in body.items() if (k, v) != ("stream_options", None)}
        pieces, closed = record(url, path, body)
        latin = any(not readable(p) for _, p in pieces)
        cases.append(
            {
                "name": name,
                "backend": backend,
                "path": path,
                "body": json.dumps(body) if "file" not in body and len(json.dumps(body)) < 2000 else None,
                "encoding": "latin-1" if latin else "utf-8",
                "pieces": [[ms, p.decode("latin-1" if latin else "utf-8")] for ms, p in pieces],
                "closed": closed,
                "want": facts(backend, pieces),
            }
        )
        print(name, cases[-1]["want"], len(pieces), "pieces", "closed" if closed else "", file=sys.stderr)
    about = {"engine": engine, "version": version, "command": command, "recorded": time.strftime("%F", time.gmtime())}
    write(out, about | {"cases": cases})


def again(path):
    """Reads the facts of a recording again."""
    with open(path) as f:
        recording = json.load(f)
    for c in recording["cases"]:
        c["want"] = facts(c["backend"], [(ms, p.encode(c["encoding"])) for ms, p in c["pieces"]])
    write(path, recording)


def write(path, recording):
    with open(path, "w") as f:
        json.dump(recording, f, indent=1, ensure_ascii=False)
        f.write("\n")


def readable(piece):
    try:
        return bool(piece.decode("utf-8")) or True
    except UnicodeDecodeError:
        return False


main()
