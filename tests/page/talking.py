"""A model for the page's tests: what it answers depends on a word in what is said to it."""

import json
from collections.abc import Mapping
from typing import Any

from tests.chaos.keeper import SAVE_MEMORY, is_flush, is_summary
from tests.fakes.openai_server import Call, Reply, Say
from tests.fakes.said import said

RICH = """\
Here is what stands in the notes, **three things**:

1. The *mill race* is `2.4 m` wide, see [the survey](https://example.org/survey).
2. 今天的水位是一米二。🐟
3. Hours and litres:

| Pump | Hours | Litres |
|:-----|------:|-------:|
| North | 12 | 4,300 |
| South | 7 | 2,050 |

```python
def level(readings: list[float]) -> float:
    recent = readings[-3:]
    return sum(recent) / len(recent)
```

> The wheel turns slowly, and the water does not mind.
"""

FORMULAS = r"""
The root is $x = \frac{-b}{2a}$ and costs $5 to $6:

$$
\int_0^1 x^2\,dx = \frac{1}{3}
$$

An unfinished one: $\frac{$ stays.
"""

DOCKER = """\
```docker
FROM debian:13
RUN apt-get install -y valkey
```
"""
"""In a language whose colours are in a file of their own."""

ZIG = f"""\
```mongodb
{"a" * 18_000}
```

```zig
const level = 3;
```
"""
"""In languages that only Prism knows; it takes many seconds for the first text."""

SENT = {"content": "Here is the picture.", "media": ["pond.png", "notes.txt"]}

PICTURE = "https://evil.example/p.png"
HOSTILE = (
    f"<img src=x onerror=alert(1)><script>alert(2)</script> [a](javascript:alert(3)) ![b]({PICTURE}) "
    "<svg onload=alert(4)> [c](data:text/html,<script>alert(5)</script>) <a href='/api/logout'>d</a>"
)
"""What must be shown as it is written, and never run."""

SLOW_S = 0.15  # before each word of a slow answer: there is time to look at it, and to stop it


ANSWERS = {
    "slow": Say("One word after the other, " * 8, delay_s=SLOW_S),
    "rich": Say(RICH),
    "formulas": Say(FORMULAS),
    "a container": Say(DOCKER),
    "a rare one": Say(ZIG),
    "send a picture": Say(calls=[Call("message", json.dumps(SENT))]),
    "hostile": Say(HOSTILE),
    "much": Say("The mill turns as long as there is water. " * 60),
}
"""The answer to a message that contains a word."""


def answer(body: Mapping[str, Any]) -> Reply:
    if is_summary(body):
        fields = {
            "history_entry": "Pumps and the mill race\n\nThey went through the notes.",
            "memory_update": "# Pumps\n",
        }
        return Say(calls=[Call(SAVE_MEMORY, json.dumps(fields | {"continuity": "They spoke of pumps."}))])
    if is_flush(body):
        return Say("NO_REPLY")
    last = body["messages"][-1]
    text = said(last["content"])
    if last["role"] == "tool":
        return Say("The tool has answered.")
    return _to(text.rpartition("\n")[2])


def _to(text: str) -> Reply:
    if "tool" in text:
        return Say(calls=[Call("time", json.dumps({"note": HOSTILE}))])
    found = next((reply for word, reply in ANSWERS.items() if word in text), None)
    return found or Say(f"You said {text[:200]}")
