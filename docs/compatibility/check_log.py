"""Checks the request log of a server against the conversations or the agent sessions that a client was to send.

    benchtop simulate --log requests.jsonl
    python3 check_log.py conversations requests.jsonl --turns 5 --delay-ms 1000
    python3 check_log.py sessions requests.jsonl sessions.jsonl --time-scale 10

It shares no code with the client and the server and needs nothing but Python. It prints what it checked, with counts; the exit status
is 1 with the first problems if there are any.
"""

import argparse
import collections
import hashlib
import json
import re
import statistics
import sys
from array import array

SHOWN = 10  # problems


class Report:
    """Counts of what was checked, and the problems."""

    def __init__(self):
        self.checks = collections.Counter()
        self.problems = []
        self.notes = []

    def check(self, what, ok, problem, *values):
        """Counts a check; problem is a format for values, used if it failed."""
        self.checks[what] += 1
        if not ok:
            self.problems.append(what + ": " + problem.format(*values))
        return ok

    def show(self):
        for what, n in self.checks.items():
            print(f"{n:9}  {what}")
        for note in self.notes:
            print(f"           {note}")
        for problem in self.problems[:SHOWN]:
            print("PROBLEM  " + problem)
        if len(self.problems) > SHOWN:
            print(f"... and {len(self.problems) - SHOWN} more problems")
        if not self.checks:
            print("PROBLEM  nothing was checked")
        return 1 if self.problems or not self.checks else 0


def requests_of(path, report, take):
    """The lines of a log by session, each session in order of arrival. take(request, body) keeps what is needed of a body, {} for none."""
    sessions = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            r = json.loads(line)
            r["name"] = f"line {number}, {r['request_id'] or 'no request id'}"
            ok = r["status"] == 200 and not r["fault"] and r["last_byte_s"] is not None
            report.check("requests succeed", ok, "{}: status {}, fault {!r}", r["name"], r["status"], r["fault"])
            if not ok:
                continue
            report.check("requests name their session", r["session"] != "", "{}", r["name"])
            turn = re.fullmatch(r".*" + re.escape(r["session"]) + r"-turn(\d+)", r["request_id"])
            report.check("request ids are SESSION-turnN", turn, "{} of session {!r}", r["name"], r["session"])
            r["turn"] = int(turn[1]) if turn else None
            body = json.loads(r["body"]) if r["body"] else {}
            r["body"] = None  # it may be long
            take(r, body)
            sessions[r["session"]].append(r)
    for all_of_it in sessions.values():
        all_of_it.sort(key=lambda r: r["at_s"])
    return sessions


def gap_note(what, gaps):
    return f"{what}: {min(gaps):.1f} to {max(gaps):.1f} ms, median {statistics.median(gaps):.1f} ms" if gaps else f"{what}: none"


# Conversations over chat.


def check_conversations(o, report):
    given = texts_in(o.data) if o.data else None
    least, _, most = (o.turns or "").partition("-")
    late, hits, possible, unread = [], 0, 0, 0

    def take(r, body):
        r["messages"] = body.get("messages")

    for name, turns in requests_of(o.log, report, take).items():
        if o.turns:
            ok = int(least) <= len(turns) <= int(most or least)
            report.check("conversations have their number of turns", ok, "session {} has {} turns, not {}", name, len(turns), o.turns)
        report.check("turns are numbered from 0 in order of arrival", [r["turn"] for r in turns] == list(range(len(turns))),
                     "session {}: {}", name, [r["turn"] for r in turns])
        for before, r in zip(turns, turns[1:]):
            gap = (r["at_s"] - before["last_byte_s"]) * 1000
            if report.check("one request of a conversation at a time", gap >= 0, "{} begins {:.3f} ms before the end of {}",
                            r["name"], -gap, before["name"]):
                report.check("turns wait for the delay", gap >= o.delay_ms - o.tolerance_ms, "{} begins {:.3f} ms after {}, not {} ms",
                             r["name"], gap, before["name"], o.delay_ms)
                late.append(gap - o.delay_ms)
            hits += r["cached_tokens"] or 0
            possible += before["prompt_tokens"] + before["output_tokens"]
        unread += sum(r["messages"] is None for r in turns)
        check_messages(turns, o.replies, given, report)
    report.notes.append(gap_note("turns begin after their delay", late))
    report.notes.append(f"{hits} tokens cached of {possible} in earlier prompts and answers" + (f": {hits / possible:.1%}" if possible else ""))
    if unread:
        report.notes.append(f"{unread} requests have no messages in the log, so these were not compared")


def check_messages(turns, replies, given, report):
    """Each turn has the messages of the one before, the answer to it, and something new."""
    for before, r in zip(turns, turns[1:]):
        old, new = before["messages"], r["messages"]
        if old is None or new is None:
            continue
        same = new[:len(old)] == old
        if not report.check("messages begin with those of the turn before", same, "{} has not those of {}", r["name"], before["name"]):
            continue
        added = new[len(old):]
        if not report.check("an answer and a new message follow", [m["role"] for m in added[:1]] == ["assistant"] and len(added) > 1,
                            "{} adds {}", r["name"], [m["role"] for m in added]):
            continue
        text = text_of(added[0])
        if replies == "served":
            report.check("the answer is that of the server", text == before["answer"], "{} has {!r:.60}, the answer to {} is {!r:.60}",
                         r["name"], text, before["name"], before["answer"])
        elif given is not None:
            report.check("the answer is in the data", text in given, "{} has {!r:.60}", r["name"], text)


def text_of(message):
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or [])


def texts_in(path):
    """All texts of a file of JSON or of JSON lines."""
    with open(path, encoding="utf-8") as file:
        data = file.read()
    try:
        todo = [json.loads(data)]
    except json.JSONDecodeError:
        todo = [json.loads(line) for line in data.splitlines() if line.strip()]
    texts = set()
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            texts.add(value)
        elif isinstance(value, (list, dict)):
            todo.extend(value.values() if isinstance(value, dict) else value)
    return texts


# Agent sessions.


def check_sessions(o, report):
    recorded = {}
    with open(o.sessions, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                session = json.loads(line)
                recorded[session["session"]] = session

    def take(r, body):
        r["max_tokens"], ids = body.get("max_tokens"), ids_of(body)
        r["ids"], r["units"] = None if ids is None else len(ids), units_of(r, ids)
        if ids is not None and r["session"] in recorded:
            size = recorded[r["session"]]["block_size"]
            r["digests"] = [digest(b"", ids[i:i + size]) for i in range(0, len(ids) - size + 1, size)]

    sessions = requests_of(o.log, report, take)
    late, pairs, tokens_of, block_of = [], [], {}, {}
    for name, sent in sessions.items():
        if not report.check("sessions are in the file", name in recorded, "{} is not", name):
            continue
        session = recorded[name]
        wanted = session["requests"]
        places = collections.Counter(r["turn"] for r in sent)
        report.check("each request of a session is sent once", places == collections.Counter(range(len(wanted))) or o.partial and
                     max(places.values()) == 1, "session {} has {} requests, of {} places, of {}", name, len(sent), len(places), len(wanted))
        by_place = {r["turn"]: r for r in sent if r["turn"] is not None and r["turn"] < len(wanted)}
        late += check_starts(by_place, wanted, o, report)
        scope = "" if session.get("shared") else name
        for place, r in by_place.items():
            w = wanted[place]
            report.check("prompts have their length", r["prompt_tokens"] == w["in"], "{} has {}, not {}", r["name"], r["prompt_tokens"], w["in"])
            report.check("answers have their length", r["output_tokens"] == w["out"] and r["max_tokens"] in (None, w["out"]),
                         "{} has {} of at most {}, not {}", r["name"], r["output_tokens"], r["max_tokens"], w["out"])
            r["blocks"], r["block"], r["scope"] = blocks_of(w, session["block_size"]), session["block_size"], scope
            pairs.append(r)
            check_tokens(r, tokens_of.setdefault(scope, {}), block_of, report)
    missing = len(recorded) - len(sessions)
    report.notes.append(f"{len(sessions)} sessions of {len(recorded)} in the file" + (f", {missing} were not sent" if missing > 0 else ""))
    report.notes.append(gap_note("requests begin after what they wait for", late))
    check_prefixes(pairs, report)
    check_hits(pairs, o.least_hits, report)


def check_starts(by_place, wanted, o, report):
    """Requests start no earlier than their delay after what they wait for. It returns how much later they started, in ms."""
    late = []

    def after(place):
        given = wanted[place].get("after")
        return given if given is not None else [place - 1] if place > 0 else []

    def delay(place):
        return wanted[place].get("delay_ms", 0) / 1000 / o.time_scale

    # The log does not say when the session started: the request that waits least for it is taken to have been in time.
    first = min((p for p in by_place if not after(p)), key=lambda p: (delay(p), by_place[p]["at_s"]), default=None)
    start = by_place[first]["at_s"] - delay(first) if first is not None else 0
    for place, r in by_place.items():
        parents = after(place)
        if any(p not in by_place for p in parents):
            report.check("what a request waits for was sent", o.partial, "{} waits for {}", r["name"], parents)
            continue
        due = max((by_place[p]["last_byte_s"] for p in parents), default=start) + delay(place)
        what = "requests wait for others and their delay" if parents else "requests wait for the session and their delay"
        ms = (r["at_s"] - due) * 1000
        report.check(what, ms >= -o.tolerance_ms, "{} begins {:.3f} ms too early", r["name"], -ms)
        if parents:
            late.append(ms)
    if o.timed:
        recorded = {p: wanted[p].get("at_ms", 0) / 1000 / o.time_scale for p in by_place}
        start = min(by_place[p]["at_s"] - at for p, at in recorded.items())
        for place, at in recorded.items():
            ms = (by_place[place]["at_s"] - start - at) * 1000
            report.check("requests wait for their recorded time", ms >= -o.tolerance_ms, "{} begins {:.3f} ms too early",
                         by_place[place]["name"], -ms)
    return late


def blocks_of(wanted, size):
    """The blocks of a prompt; the last may be cut by its end."""
    blocks = [first + k for first, count in wanted.get("blocks", []) for k in range(count)]
    return blocks[:-(-wanted["in"] // size)]


def check_tokens(r, tokens_of, block_of, report):
    """Wherever they stand, equal blocks are equal tokens, and different ones different. Only a log with bodies shows it."""
    if r["ids"] is None:
        return
    report.check("prompts are as long as the server says", r["ids"] == r["prompt_tokens"], "{} has {}, the server read {}",
                 r["name"], r["ids"], r["prompt_tokens"])
    for block, tokens in zip(r["blocks"], r.pop("digests")):
        report.check("equal blocks are equal tokens", tokens_of.setdefault(block, tokens) == tokens, "block {} of {} has other tokens than before",
                     block, r["name"])
        owner = block_of.setdefault(tokens, (r["scope"], block))
        report.check("different blocks are different tokens", owner == (r["scope"], block), "block {} of {} has the tokens of block {} of {!r}",
                     block, r["name"], owner[1], owner[0])


def digest(before, ids):
    return hashlib.blake2b(before + ids.tobytes(), digest_size=8).digest()


UNIT = 16  # tokens, where the log has bodies


def ids_of(body):
    """The prompt as token ids, None where it is something else."""
    try:
        return array("I", body["prompt"]) if isinstance(body["prompt"], list) else None
    except (KeyError, TypeError):
        return None


def units_of(r, ids):
    """The prompt as (tokens in a unit, eight bytes for each full unit). They are equal where the unit and all before it are."""
    if r.get("prompt_blocks") is not None:
        numbers = array("Q", (first + k for first, count in r["prompt_blocks"] for k in range(count)))
        numbers.byteswap()  # any order will do
        return r["block_size"], numbers.tobytes()
    if ids is None:
        return None
    chain, units = b"", []
    for i in range(0, len(ids) - UNIT + 1, UNIT):
        chain = digest(chain, ids[i:i + UNIT])
        units.append(chain)
    return UNIT, b"".join(units)


def common(a, b, width=1):
    """The length of the beginning that two sequences have in common, in items of that width."""
    low, high = 0, min(len(a), len(b)) // width
    while low < high:
        middle = (low + high + 1) // 2
        if a[low * width:middle * width] == b[low * width:middle * width]:
            low = middle
        else:
            high = middle - 1
    return low


def check_prefixes(requests, report):
    """The beginnings that prompts share are exactly the blocks that they share. In sorted order the neighbours stand for all pairs."""
    known = [r for r in requests if r["units"] is not None]
    if len(known) < len(requests):
        report.notes.append(f"{len(requests) - len(known)} prompts are not in the log, so their beginnings were not compared")

    def stated(a, b):
        return common(a["blocks"], b["blocks"]) * a["block"] if (a["scope"], a["block"]) == (b["scope"], b["block"]) else 0

    def whole(r):
        return r["prompt_tokens"] // r["block"] * r["block"]

    def compare(a, b):
        unit, tokens = a["units"][0], stated(a, b)
        shared = common(a["units"][1], b["units"][1], 8)
        least = min(tokens, whole(a), whole(b)) // unit  # a block that the end of a prompt cuts need not be there
        most = min(tokens, a["prompt_tokens"], b["prompt_tokens"]) // unit
        return shared, least, most, unit

    text = "{} and {} share {} units of {} tokens, stated are {} to {}"
    known.sort(key=lambda r: (r["scope"], r["block"], r["blocks"]))
    for a, b in zip(known, known[1:]):
        shared, least, most, unit = compare(a, b)
        report.check("prompts that share blocks share that beginning", shared >= least, text, a["name"], b["name"], shared, unit, least, most)
    known.sort(key=lambda r: r["units"][1])
    for a, b in zip(known, known[1:]):
        shared, least, most, unit = compare(a, b)
        report.check("prompts share no longer beginning than their blocks", shared <= most, text, a["name"], b["name"], shared, unit, least, most)


def known_tokens(requests):
    """The tokens that prompts have in common with the ones before, in the order given; yields (request, tokens)."""
    seen = set()
    for r in requests:
        unit = r["block_size"] if "block_size" in r else 1
        chain, found, tokens = (r["scope"], r["block"]), True, 0
        for k, block in enumerate(r["blocks"]):
            chain = hash((chain, block))
            if found and chain in seen:
                tokens = min((k + 1) * r["block"], r["prompt_tokens"] - 1) // unit * unit
            else:
                found = False
            seen.add(chain)
        yield r, tokens


def check_hits(requests, least_hits, report):
    """No prompt has more tokens cached than an earlier one began with; the sums are compared with a cache that forgets nothing. Of prompts that are
    there at the same time, one that arrived later may have been computed first, so the order of the first tokens counts as well."""
    computed = {r["name"]: tokens for r, tokens in known_tokens(sorted(requests, key=lambda r: (r.get("first_token_s") or r["at_s"], r["arrival"])))}
    cached, ideal, prompts = 0, 0, 0
    for r, tokens in known_tokens(sorted(requests, key=lambda r: r["arrival"])):
        hits, most = r["cached_tokens"] or 0, max(tokens, computed[r["name"]])
        report.check("no more tokens are cached than earlier prompts had", hits <= most, "{} has {} cached, earlier prompts share {}",
                     r["name"], hits, most)
        cached, ideal, prompts = cached + hits, ideal + tokens, prompts + r["prompt_tokens"]
    share = cached / ideal if ideal else 1
    report.notes.append(f"hit rate {cached / max(prompts, 1):.4f}, ideal {ideal / max(prompts, 1):.4f}: {share:.2%} of {ideal} tokens")
    if least_hits is not None:
        report.check("the cache has what it can have", share >= least_hits, "{:.2%} of it, not {:.2%}", share, least_hits)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="command", required=True)
    c = commands.add_parser("conversations", help="conversations over chat")
    c.add_argument("--turns", help="turns of each conversation: N, or N-M")
    c.add_argument("--delay-ms", type=float, default=0, help="least time from an answer to the next turn")
    c.add_argument("--replies", choices=["served", "recorded"], default="served", help="answers in later turns: the server's, or those of the data")
    c.add_argument("--data", help="with --replies recorded: the file that has the answers")
    s = commands.add_parser("sessions", help="agent sessions")
    s.add_argument("--time-scale", type=float, default=1, help="by which delays were divided")
    s.add_argument("--timed", action="store_true", help="requests start no earlier than at_ms, too")
    s.add_argument("--partial", action="store_true", help="sessions may lack requests: the run was cut")
    s.add_argument("--least-hits", type=float, help="least share of the ideal hits, 0 to 1")
    for command in (c, s):
        command.add_argument("log")
        command.add_argument("--tolerance-ms", type=float, default=1, help="by which a request may start too early (default 1)")
    s.add_argument("sessions")
    o = p.parse_args()
    report = Report()
    (check_conversations if o.command == "conversations" else check_sessions)(o, report)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
