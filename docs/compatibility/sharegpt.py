"""Writes a made-up file in ShareGPT's format: sharegpt.py FILE

The texts are drawn from a short list of words with a fixed seed. Some conversations are there to be left out (too short,
too long, one turn), some to be hard to write down: many alphabets, control characters, quotes, and what JSON escapes.
"""

import json
import random
import sys

WORDS = """the a this that server queue token batch answer model prompt cache block step time second user load rate burst
window chart screen number report latency first last slow fast long short read write send wait run stop begin end and or
because when while after before under over with without every some none please tell show explain compare list name""".split()

HARD = [
    "Grüße aus Köln – “quoted”, ‘single’ … and a dash —",
    "東京の天気はどうですか。雨が降りそうです。",
    "Привет, сколько будет два плюс два?",
    "مرحبا كيف حالك اليوم يا صديقي",
    "emoji 😀 👩‍👩‍👧 🇩🇪 and a clef 𝄞 in one line",
    "tabs\tnewlines\nreturns\r\nform\ffeed back\bspace",
    'quotes " and backslashes \\ and slashes / and </script>',
    "separators \u2028 and \u2029, delete \x7f, nul \x00, escape \x1b[31m, C1 \x85",
    "combining e\u0301 and no-break\u00a0space, zero\u200bwidth, BOM \ufeff, U+FFFD \ufffd, last \uffff",
    "   leading and trailing blanks   ",
]


def text(draws, words):
    return " ".join(draws.choice(WORDS) for _ in range(words)).capitalize() + "."


def conversation(number, *values):
    turns = [{"from": ("human", "gpt")[i % 2], "value": value} for i, value in enumerate(values)]
    return {"id": f"made-up-{number}", "conversations": turns}


def main():
    draws = random.Random(20)
    all = [conversation(i, text(draws, draws.randint(60, 320)), text(draws, draws.randint(12, 48))) for i in range(36)]
    all += [
        conversation(100 + i, text(draws, draws.randint(3, 30)), text(draws, draws.randint(3, 12)), "More?")
        for i in range(10)
    ]
    all += [conversation(200 + i, hard, hard + " " + text(draws, 8)) for i, hard in enumerate(HARD)]
    all += [
        conversation(300, "ab", text(draws, 20)),  # the prompt is too short
        conversation(301, text(draws, 20), "ab"),  # the answer is too short
        conversation(302, text(draws, 900), text(draws, 20)),  # the prompt is too long
        conversation(303, text(draws, 330), text(draws, 900)),  # both together are
        conversation(304, text(draws, 20)),  # one turn
        {"id": "made-up-305"},
        {"image": "https://example.com/a.png", **conversation(306, text(draws, 30), text(draws, 12))},
        {"video": "/tmp/a video.mp4", **conversation(307, text(draws, 30), text(draws, 12))},
    ]
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(all, f, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
