"""Checks boards and alerts: `files ROOT` compares them with the metrics, `ask ROOT PROMETHEUS`
sends each query of each board."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

# Metrics that a fresh stack need not have: nothing was counted under their labels yet.
MAY_BE_EMPTY = re.compile(r"> 0$|increase|webhooks_total|status=~|histogram_quantile")


def fail(why: str) -> None:
    sys.exit(f"FAIL: {why}")


def boards(root: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted((root / "tools/monitoring/boards").glob("*.json"))]


def questions(board: dict) -> list[tuple[str, str, bool]]:
    """Title, text, whether it is SQL."""
    out = []
    for panel in board["panels"]:
        for target in panel["targets"]:
            out.append((f"{board['uid']}: {panel['title']}", target.get("rawSql") or target["expr"], "rawSql" in target))
    return out


def files(root: Path) -> None:
    known = set(re.findall(r"\bX?\w*\(\s*(\w+)\s*,", (root / "api/metrics/metrics.def").read_text()))
    known = {f"tidemark_{name}" for name in known}
    rules = (root / "tools/monitoring/alerts.yml").read_text()
    tests = (root / "tools/monitoring/alerts_test.yml").read_text()
    texts = [("alerts.yml", "\n".join(re.findall(r"expr: (.*)", rules)))]
    for board in boards(root):
        texts += [(title, text) for title, text, sql in questions(board) if not sql]
    for where, text in texts:
        for name in re.findall(r"\btidemark_\w+", text):
            if re.sub(r"_(bucket|sum|count)$", "", name) not in known:
                fail(f"{where} names {name}, which api/metrics/metrics.def does not have")
    alerts = re.findall(r"- alert: (\w+)", rules)
    for alert in alerts:
        if not re.search(rf"- alert: {alert}\n(?:(?!- alert:).)*?runbook: >-\n {{12}}\w", rules, re.S):
            fail(f"{alert} has no runbook")
        for kind in ("fires", "quiet"):
            if f"- name: {alert} {kind}\n" not in tests:
                fail(f"{alert} has no test named '{alert} {kind}'")
    if len(alerts) < 10 or len(texts) < 30:
        fail("alerts or boards are missing")
    for board in boards(root):
        ids = [panel["id"] for panel in board["panels"]]
        if len(ids) != len(set(ids)) or not all(panel["title"] and panel["description"] for panel in board["panels"]):
            fail(f"{board['uid']}: ids, titles, descriptions")
    print(f"ok {len(alerts)} alerts with runbook and tests, {len(texts) - 1} questions about metrics that exist")


def prometheus(url: str, path: str, **query: str) -> dict:
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
        return json.load(answer)


def wait_for_scrapes(url: str) -> None:
    """Until rates over two scrapes have values."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if prometheus(url, "/api/v1/query", query="rate(tidemark_api_cpu_seconds_total[1m])")["data"]["result"]:
                return
        except OSError:
            pass
        time.sleep(0.5)
    fail("Prometheus has scraped nothing in 120 s")


def ask_prometheus(url: str, title: str, text: str) -> bool:
    """A figure of a daemon has a value once that daemon has told it and Prometheus has scraped it."""
    end = time.monotonic() + 60
    while True:
        answer = prometheus(url, "/api/v1/query", query=text.replace("$job", ".*"))
        if answer["status"] != "success":
            fail(f"{title}: {answer}")
        if answer["data"]["result"] or MAY_BE_EMPTY.search(text):
            break
        if time.monotonic() > end:
            fail(f"{title}: no values of {text}")
        time.sleep(0.5)
    return bool(answer["data"]["result"])


def ask_database(title: str, text: str) -> bool:
    text = re.sub(r"\$__timeFilter\((\w+)\)", r"\1 BETWEEN '2000-01-01' AND '2100-01-01'", text).replace("$deployment", "1")
    done = subprocess.run(
        ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", os.environ["TIDEMARK_DATABASE_URL"], "-c", f"SET ROLE tidemark_analyst; {text}"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{title}: {done.stderr}")
    return bool(done.stdout.strip())


def ask(root: Path, url: str) -> None:
    wait_for_scrapes(url)
    answered = 0
    for board in boards(root):
        for title, text, sql in questions(board):
            answered += ask_database(title, text) if sql else ask_prometheus(url, title, text)
    rules = prometheus(url, "/api/v1/rules")["data"]["groups"]
    bad = [rule["name"] for group in rules for rule in group["rules"] if rule["health"] == "err"]
    if bad or not rules:
        fail(f"rules that Prometheus cannot evaluate: {bad}")
    if answered < 30:
        fail(f"{answered} questions only had an answer")
    print(f"ok {answered} questions of the boards answered by a real Prometheus and a real database")


if __name__ == "__main__":
    if sys.argv[1] == "files":
        files(Path(sys.argv[2]))
    else:
        ask(Path(sys.argv[2]), sys.argv[3])
