"""A run of whole networks: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.json_text import is_of_networks
from convladder_charts.network import record as network_record
from convladder_report import common_sections, network_sections, summary
from convladder_report.document import Answer, Front, Section
from convladder_report.kind import Input, Kind


def _front(one: Input, _: str) -> Front:
    record: network_record.NetworkRecord = one.record
    return Front("Whole networks", "How long does a whole pass take?",
                 tuple(Answer("", text.text, text.place) for text in summary.of_networks(record)),
                 common_sections.machine_line(record))


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield from network_sections.sections(one.record, one.root, one.publications, one.source, prefix)
    yield from filter(None, [common_sections.failed_section(one.root, one.source, f"{prefix}-failed")])
    yield common_sections.environment_section(one.root, one.source, one.content, f"{prefix}-environment")


KIND = Kind("network", is_of_networks, network_record.read, _front, _chapters, network_sections.networks)
