"""Checks check_log.py: makes logs by hand, good ones and ones with one mistake each, and compares what it says of them.

    python3 check_log_cases.py
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def line(session, turn, at, end, body, prompt, out, cached=0, answer=""):
    return {"arrival": 0, "at_s": at, "request_id": f"{session}-turn{turn}", "session": session, "body": body, "status": 200,
            "last_byte_s": end, "prompt_tokens": prompt, "cached_tokens": cached, "output_tokens": out, "answer": answer, "fault": ""}


def conversations():
    """Two conversations of three turns, with a second between them."""
    lines = []
    for c in range(2):
        messages, at = [], c * 0.5
        for turn in range(3):
            messages = messages + [{"role": "user", "content": f"question {turn} of {c}"}]
            body, answer = {"messages": messages}, f" answer {turn} of {c}"
            lines.append(line(f"c{c}", turn, at, at + 1, body, 20 * (turn + 1), 4, 20 * turn, answer))
            messages = messages + [{"role": "assistant", "content": answer}]
            at += 2.001
    return lines


# Block numbers name tokens: block n is a row of n, a prompt's own tokens are drawn from its name.
SESSIONS = [
    {"session": "s1", "block_size": 32, "requests": [
        {"in": 100, "out": 5, "blocks": [[1, 3]]},
        {"in": 150, "out": 6, "blocks": [[1, 4]], "delay_ms": 1000},
        {"in": 70, "out": 7, "blocks": [[9, 2]], "after": [0], "delay_ms": 100, "agent": "search"},
        {"in": 170, "out": 8, "blocks": [[1, 4], [20, 1]], "after": [1, 2]},
        {"in": 50, "out": 1, "blocks": [[1, 2]], "after": [], "delay_ms": 500}]},
    {"session": "s2", "block_size": 32, "requests": [{"in": 64, "out": 5, "blocks": [[1, 2]]}, {"in": 64, "out": 5, "blocks": [[1, 2]]}]},
]
STARTS = {"s1": [0, 2, 1.1, 3, 0.5], "s2": [0.2, 1.2]}
CACHED = {"s1": [0, 96, 0, 128, 32], "s2": [0, 48]}


def sessions():
    lines = []
    for number, s in enumerate(SESSIONS):
        for place, r in enumerate(s["requests"]):
            blocks = [first + k for first, count in r["blocks"] for k in range(count)]
            ids = [1000 * number + block for block in blocks for _ in range(s["block_size"])][:r["in"]]
            ids += [50000 + 1000 * number + place] * (r["in"] - len(ids))
            at = STARTS[s["session"]][place]
            body = {"prompt": ids, "max_tokens": r["out"]}
            lines.append(line(s["session"], place, at, at + 0.9, body, r["in"], r["out"], CACHED[s["session"]][place]))
    return sorted(lines, key=lambda r: r["at_s"])


def in_blocks(lines, size=16):
    """The same log as --log-bodies prefix writes it."""
    numbers = {}
    for r in lines:
        ids = r["body"]["prompt"]
        row = [numbers.setdefault((r["session"], *ids[:end]), len(numbers)) for end in range(size, len(ids) + 1, size)]
        r["body"], r["block_size"], r["prompt_blocks"] = None, size, [[n, 1] for n in row]
    return lines


def at(lines, request_id):
    return next(r for r in lines if r["request_id"] == request_id)


def change(which, **values):
    return lambda lines: at(lines, which).update(values)


def change_messages(request_id, place, **values):
    return lambda lines: at(lines, request_id)["body"]["messages"][place].update(values)


def change_ids(request_id, place, ids):
    def do(lines):
        at(lines, request_id)["body"]["prompt"][place:place + len(ids)] = ids
    return do


def drop(request_id):
    return lambda lines: lines.remove(at(lines, request_id))


CONVERSATIONS = [
    ("", None),
    ("one request of a conversation at a time", change("c0-turn1", at_s=0.9)),
    ("turns wait for the delay", change("c0-turn1", at_s=1.9)),
    ("turns are numbered from 0", change("c0-turn1", request_id="c0-turn7")),
    ("turns are numbered from 0", drop("c1-turn1")),
    ("conversations have their number of turns", drop("c1-turn2")),
    ("request ids are SESSION-turnN", change("c0-turn2", request_id="other-turn2")),
    ("requests name their session", change("c0-turn0", session="")),
    ("requests succeed", change("c0-turn2", status=500)),
    ("requests succeed", change("c0-turn2", fault="stall=1s")),
    ("messages begin with those of the turn before", change_messages("c1-turn2", 0, content="another question")),
    ("an answer and a new message follow", lambda lines: at(lines, "c1-turn2")["body"]["messages"].pop()),
    ("an answer and a new message follow", change_messages("c1-turn1", 1, role="user")),
    ("the answer is that of the server", change_messages("c1-turn2", 3, content="another answer")),
    ("the answer is that of the server", change("c1-turn0", answer="another answer")),
]

SESSION_CASES = [
    ("", None),
    ("prompts have their length", change("s1-turn1", prompt_tokens=131)),
    ("answers have their length", change("s1-turn1", output_tokens=5)),
    ("requests wait for others and their delay", change("s1-turn1", at_s=1.8)),
    ("requests wait for others and their delay", change("s1-turn3", at_s=2.8)),  # s1-turn1 has not ended
    ("requests wait for the session and their delay", change("s1-turn4", at_s=0.4)),
    ("each request of a session is sent once", drop("s1-turn3")),
    ("each request of a session is sent once", change("s1-turn3", request_id="s1-turn2")),
    ("sessions are in the file", lambda lines: [change(f"s2-turn{i}", session="s3", request_id=f"s3-turn{i}")(lines) for i in range(2)]),
    ("prompts share no longer beginning", change_ids("s1-turn1", 128, [20] * 16)),  # as s1-turn3 goes on
    ("no more tokens are cached", change("s1-turn2", cached_tokens=32)),
    ("the cache has what it can have", change("s1-turn3", cached_tokens=0)),
]

ONLY_BODIES = [
    ("prompts are as long as the server says", lambda lines: at(lines, "s1-turn2")["body"]["prompt"].pop()),
    ("answers have their length", lambda lines: at(lines, "s1-turn2")["body"].update(max_tokens=9)),
    ("equal blocks are equal tokens", change_ids("s1-turn1", 40, [77])),
    ("different blocks are different tokens", change_ids("s1-turn3", 128, [2] * 32)),
    ("different blocks are different tokens", lambda lines: [change_ids(f"s2-turn{i}", 0, [1] * 32)(lines) for i in range(2)]),
]

ONLY_BLOCKS = [
    ("prompts that share blocks share that beginning", change_ids("s1-turn1", 40, [77])),
]


def run(lines, *args):
    with tempfile.TemporaryDirectory() as folder:
        log, file = os.path.join(folder, "log"), os.path.join(folder, "sessions")
        with open(log, "w", encoding="utf-8") as out:
            for number, r in enumerate(lines, 1):
                out.write(json.dumps({**r, "arrival": number, "body": json.dumps(r["body"]) if r["body"] else ""}) + "\n")
        with open(file, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(s) + "\n" for s in SESSIONS)
        args = [file if a == "FILE" else a for a in args]
        done = subprocess.run([sys.executable, os.path.join(HERE, "check_log.py"), args[0], log, *args[1:]], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    wrong = total = 0
    chats = ["conversations", "--turns", "3", "--delay-ms", "1000"]
    agents = ["sessions", "FILE", "--least-hits", "0.85"]
    for make, args, cases in [
        (conversations, chats, CONVERSATIONS),
        (sessions, agents, SESSION_CASES + ONLY_BODIES),
        (sessions, agents, [(problem, spoil, "blocks") for problem, spoil in SESSION_CASES + ONLY_BLOCKS]),
    ]:
        for problem, spoil, *form in cases:
            lines = json.loads(json.dumps(make()))  # nothing in it twice
            if spoil:
                spoil(lines)
            code, text = run(in_blocks(lines) if form else lines, *args)
            total += 1
            if code != (1 if problem else 0) or problem and "PROBLEM  " + problem not in text or "Traceback" in text:
                wrong += 1
                print(f"expected {problem or 'no problem'!r}, exit status {code}:\n{text}")
    print(f"{total - wrong} of {total} logs are judged as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
