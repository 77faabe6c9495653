"""Makes a site of records: an index, a page for each, their history, and any two runs compared."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Optional, Sequence

from convladder_charts.json_text import Node, RecordError, parse_json
from convladder_charts.record_file import NO_FILE
from convladder_charts.stage import printable
from convladder_report import build, html
from convladder_report.document import Report
from convladder_report.kind import Input
from convladder_report.kinds import history
from convladder_report.published import publications
from convladder_site import lists, pairs
from convladder_site.entry import Entry, entry_of, from_json, page_of
from convladder_site.pairs import Pair
from convladder_site.records import Bad, Record, found
from convladder_site.store import Store, locked

_SCRIPTS = Path(__file__).resolve().parent.parent
_FEWEST_RUNS = 2
Known = tuple[Entry, Record]


@dataclass(frozen=True)
class Tools:
    """What pages are made with, besides these scripts."""

    program: Optional[Path]
    """What compares; without it there is no history and no comparison."""
    library: Optional[str]
    published: Path
    """The folder of what others published."""
    static: bool = False
    """Whether the pages of records go without scripts."""

    @property
    def made_of(self) -> str:
        """A checksum of all of it: pages are made again when it is another."""
        digest = hashlib.sha256(f"{self.static}\n{self.library or ''}".encode("utf-8"))
        for path in sorted([*_SCRIPTS.glob("convladder_*/**/*"), *self.published.glob("*.json")]):
            if path.suffix in (".py", ".html", ".css", ".js", ".json"):
                digest.update(path.name.encode("utf-8") + b"\0" + path.read_bytes())
        if self.program:
            digest.update(self.program.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Made:
    """What became of the site."""

    index: Path
    pages: int
    written: int
    removed: int
    bad: tuple[str, ...]
    """A line for each file that is left out."""


def make(site: Path, named: Sequence[Path], tools: Tools, progress: Callable[[str], None]) -> Made:
    """Raises RecordError, and writes nothing, where no record can be read."""
    records, bad = found(named)
    if not records:
        raise RecordError(bad.lines[0] if bad.lines else
                          f"{', '.join(map(str, named))}: no record in it or below it; expected a run.json, a "
                          "network.json, or another record of convladder")
    Store(site)  # refuses a folder of somebody else before anything is made in it
    first = _first_readable(records, bad)
    if first is None:
        raise RecordError(bad.lines[0])
    with locked(site):
        maker = _Maker(site, tools, progress, bad)
        try:
            return maker.make(records)
        except KeyboardInterrupt:
            maker.store.keep()
            raise


def _first_readable(records: Sequence[Record], bad: Bad) -> Optional[Record]:
    """So that nothing is made of records none of which can be read."""
    for one in records:
        try:
            one.read()
            return one
        except RecordError as error:
            bad.add(str(error), one.path, one.label)
    return None


class _Maker:
    """One run over the site."""

    def __init__(self, site: Path, tools: Tools, progress: Callable[[str], None], bad: Bad) -> None:
        self.store = Store(site)
        self.tools = tools
        self.progress = progress
        self.bad = bad
        self.made_of = tools.made_of
        self.publications = publications(tools.published)

    def make(self, records: Sequence[Record]) -> Made:
        """Pages first, what links to them then, and last the list of all."""
        known = self._records(records)
        runs = [(entry, record) for entry, record in known if entry.kind == "run"]
        has_history = self._history(runs)
        compared, more = pairs.of(runs) if self.tools.program else ([], 0)
        outcomes = self._pairs(compared)
        compared = [pair for pair in compared if pair.page in outcomes]
        links = [("History", "history.html")] * has_history + [("Comparisons", "compare.html")] * bool(compared)
        if compared:
            page = lists.comparisons([entry for entry, _ in runs], list(pairs.rows(compared, outcomes)),
                                     pairs.left_out(more))
            self._list("compare.html", page)
        index = lists.index([entry for entry, _ in known], tuple(links), self.bad.shown)
        self._list("index.html", index)
        self.store.finish()
        return Made(self.store.folder / "index.html", self.store.pages, len(self.store.written), self.store.removed,
                    tuple(dict.fromkeys(self.bad.lines)))

    def _digest(self, made_of: str) -> str:
        """Of what a page is made of, these scripts among it."""
        return hashlib.sha256(f"{self.made_of}\n{made_of}".encode("utf-8")).hexdigest()

    def _list(self, name: str, text: str) -> None:
        """A page that is made quickly."""
        self.store.put(name, self._digest(text), text)

    def _records(self, records: Sequence[Record]) -> list[Known]:
        known = []
        for number, record in enumerate(records, 1):
            self.progress(f"record {number} of {len(records)}")
            try:
                known.append((self._record(record), record))
            except RecordError as error:
                self.bad.add(str(error), record.path, record.label)
        return known

    def _record(self, record: Record) -> Entry:
        """Its page, made if it is not there, and what the index says of it."""
        page, digest = page_of(record.label), self._digest(record.digest)
        old = self.store.entry(record.digest)
        if old is not None and old.get("label") == record.label and self.store.keeps(page, digest):
            try:
                entry = from_json(old)
                self.store.remember(record.digest, old)
                return entry
            except (TypeError, ValueError, KeyError):
                pass
        one = record.read()
        made = build.report([one], self.publications)
        entry = entry_of(one, made.parts[0].front, record.label)
        self.store.put(page, digest, self._html(replace(made, title=f"{entry.what}: {record.label}",
                                                        links=(("All records", "../index.html"),))))
        self.store.remember(record.digest, entry.as_json())
        return entry

    def _html(self, report: Report) -> str:
        return html.html(report, self.tools.library, self.tools.static)

    def _history(self, runs: Sequence[Known]) -> bool:
        """Whether there is one: it takes two runs with times, and the program."""
        if self.tools.program is None or len(runs) < _FEWEST_RUNS:
            return False
        try:
            self.progress("history")
            digest = self._digest(" ".join(record.digest for _, record in runs))
            if not self.store.keeps("history.html", digest):
                self.store.put("history.html", digest, self._history_page(runs))
        except RecordError as error:
            self.progress("")
            if "no run" not in str(error):
                self.bad.lines.append(f"no history: {error}")
            return False
        return True

    def _history_page(self, runs: Sequence[Known]) -> str:
        command = [str(self.tools.program), "history", "--no-index", "--format", "json", "--",
                   *(str(record.path) for _, record in runs)]
        done = subprocess.run(command, capture_output=True, check=False)
        text = done.stdout.decode("utf-8", "replace")
        if not text.strip():
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
            raise RecordError(f"convladder history: {printable(lines[-1].removeprefix('convladder: '), 300)}")
        path = Path("convladder history --format json")
        root = Node(parse_json(text, path), path)
        one = Input(str(path), root, NO_FILE, history.KIND, history.KIND.read(root))
        return self._html(replace(build.report([one], ()), title="History", links=(("All records", "index.html"),)))

    def _pairs(self, compared: Sequence[Pair]) -> dict[str, str]:
        """The outcome of each pair, by its page."""
        outcomes: dict[str, str] = {}
        for number, pair in enumerate(compared, 1):
            self.progress(f"comparison {number} of {len(compared)}")
            try:
                outcomes[pair.page] = self._pair(pair)
            except RecordError as error:
                self.bad.lines.append(str(error))
        return outcomes

    def _pair(self, pair: Pair) -> str:
        """Its page, made if it is not there, and the outcome."""
        digest, old = self._digest(pair.digest), self.store.entry(pair.page) or {}
        if isinstance(old.get("outcome"), str) and self.store.keeps(pair.page, digest):
            self.store.remember(pair.page, old)
            return str(old["outcome"])
        judgement = pairs.judged(pair, self._program())
        outcome = pairs.sentence(judgement)
        self.store.put(pair.page, digest, self._html(pairs.report(pair, judgement)))
        self.store.remember(pair.page, {"outcome": outcome})
        return outcome

    def _program(self) -> Path:
        assert self.tools.program is not None
        return self.tools.program
