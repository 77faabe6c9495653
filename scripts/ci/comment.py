#!/usr/bin/env python3
"""Puts a duel's table into a comment of a pull request on GitHub: the same comment is written anew each time."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MOST_CHARACTERS = 65_000
"""GitHub takes 65,536 of a comment."""
PAGE = 100
TRIES = 3
SECONDS = 30


def marker(name: str) -> str:
    """Invisible, and the first line of our comment: by it the comment is found again."""
    return f"<!-- convladder duel: {re.sub(r'[^A-Za-z0-9 ._-]', '-', name)} -->"


def comment(name: str, table: str, footer: str) -> str:
    """The whole comment; of a table that is too long the first lines."""
    begin = f"{marker(name)}\n### {name}\n\n"
    end = f"\n\n{footer}\n" if footer else "\n"
    room = MOST_CHARACTERS - len(begin) - len(end)
    table = table.strip()
    if len(table) > room:
        cut = "\n\n*The rest does not fit into a comment: it is in the job's summary.*"
        table = table[:table.rfind("\n", 0, room - len(cut))] + cut
    return begin + table + end


class Service:
    """GitHub's REST API, or what answers like it."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address.rstrip("/")
        self._token = token

    def ask(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        """Raises OSError for what does not answer, or refuses."""
        data = None if content is None else json.dumps(content).encode()
        headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {self._token}",
                   "Content-Type": "application/json", "User-Agent": "convladder", "X-GitHub-Api-Version": "2022-11-28"}
        for left in reversed(range(TRIES)):
            try:
                request = urllib.request.Request(self._address + path, data, headers, method=method)
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code < 500 or left == 0:
                    raise
            except OSError:
                # A new comment may be there although nobody has heard of it: not twice.
                if left == 0 or method == "POST":
                    raise
            time.sleep(1)
        raise AssertionError("unreachable")

    def find(self, comments: str, first_line: str) -> int | None:
        """The number of the comment that begins with this line."""
        page = 1
        while True:
            listed = self.ask("GET", f"{comments}?per_page={PAGE}&page={page}")
            for one in listed:
                if str(one.get("body", "")).splitlines()[:1] == [first_line]:
                    return int(one["id"])
            if len(listed) < PAGE:
                return None
            page += 1


def run_footer(environment: dict[str, str]) -> str:
    """A link to the job that has measured."""
    needed = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    if not all(needed):
        return ""
    commits = [environment.get(name, "")[:10] for name in ("BASE", "NEW")]
    of = f"`{commits[0]}` → `{commits[1]}`. " if all(commits) else ""
    return f"<sub>{of}[Every slot and every coin]({needed[0]}/{needed[1]}/actions/runs/{needed[2]}) is in this run's artifact.</sub>"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, epilog="environment: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN; "
                                     "exit status: 0 written, or refused, which a warning says; 2 bad usage")
    parser.add_argument("table", type=Path, metavar="TABLE.md")
    parser.add_argument("--pull", required=True, type=int, metavar="NUMBER", help="the pull request's number")
    parser.add_argument("--name", default="Duel", help="the heading, by which the comment is found again (default Duel)")
    arguments = parser.parse_args()
    environment = dict(os.environ)
    for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN"):
        if not environment.get(name):
            parser.error(f"{name} is not set")
    try:
        text = comment(arguments.name, arguments.table.read_text(encoding="utf-8"), run_footer(environment))
    except (OSError, UnicodeDecodeError) as error:
        parser.error(str(error))
    service = Service(environment.get("GITHUB_API_URL") or "https://api.github.com", environment["GITHUB_TOKEN"])
    issues = f"/repos/{environment['GITHUB_REPOSITORY']}/issues"
    try:
        number = service.find(f"{issues}/{arguments.pull}/comments", marker(arguments.name))
        if number is None:
            done = service.ask("POST", f"{issues}/{arguments.pull}/comments", {"body": text})
        else:
            done = service.ask("PATCH", f"{issues}/comments/{number}", {"body": text})
        print(done.get("html_url", ""))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        # The duel's verdict does not depend on who may write here: pull requests from forks may not.
        print(f"::warning::the comment could not be written (permissions: pull-requests: write?): {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
