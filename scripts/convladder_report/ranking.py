"""A ranking of submissions (rank.json) as sentences and sections of a report."""

from __future__ import annotations

from typing import Iterator

from convladder_charts import known_text
from convladder_charts.kinds.rank import RankRecord, Ranking, interval_name, tables
from convladder_report.document import Block, Paragraph, Section, Sentence, TableBlock


def sentences(record: RankRecord) -> Iterator[Sentence]:
    """Who is first, and of how many nothing can be said."""
    for one in record.rankings:
        ranked = [row for row in one.rows if row.rank is not None]
        first = [row.name for row in ranked if row.rank == 1]
        people = len([row for row in one.rows if not row.is_baseline or row.rank is not None])
        if not ranked:
            yield Sentence(f"On {one.device} none of {people} submissions could be ranked.", one.place)
            continue
        best = ranked[0].speed
        said = known_text.speed(best, one.baseline) if best is not None and not ranked[0].is_baseline else ""
        why = known_text.why_no_headline(best) if best is not None and not said and not ranked[0].is_baseline else ""
        speed = f", which {said} ({one.figures})" if said else f"; by how much is not told: {why}" if why else ""
        names = known_text.either(first) + (", which cannot be told apart" if len(first) > 1 else "")
        yield Sentence(f"On {one.device} {len(ranked)} of {people} submissions are ranked; first: {names}"
                       f"{speed}.", one.place)


def sections(record: RankRecord, source: str, prefix: str) -> Iterator[Section]:
    """A section for each family."""
    for index, one in enumerate(record.rankings, 1):
        yield Section(f"{prefix}-ranking-{index}", f"{record.title}: submissions on {one.device}",
                      tuple(_blocks(one, source)))


def _blocks(one: Ranking, source: str) -> Iterator[Block]:
    of_gpu = f" for {one.gpu}, from counters" if one.gpu else ""
    what = {"measured": "measured times", "predicted": f"times predicted{of_gpu}"}.get(one.figures, "counted cycles")
    if one.baseline:
        yield Paragraph(f"Speed by {what}, as a multiple of {one.baseline}: the geometric mean over the sizes. "
                        f"{interval_name(one).capitalize()} of a multiple: from its low to its high end. A rank with = is "
                        f"shared by those of whom nobody is surely faster by more than {one.tau * 100:g} %.")
    yield from (TableBlock(table, source) for table in tables(one))
