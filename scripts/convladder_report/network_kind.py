"""A run of whole networks: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.json_text import is_of_networks
from convladder_charts.network import record as network_record
from convladder_report import common_sections, network_front, network_sections, quality_sections
from convladder_report.document import Section
from convladder_report.kind import Input, Kind


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield from network_sections.sections(one.record, one.root, one.publications, one.source, prefix)
    yield from filter(None, [quality_sections.section(one.root, one.source, f"{prefix}-trust"),
                             common_sections.failed_section(one.root, one.source, f"{prefix}-failed")])
    yield common_sections.environment_section(one.root, one.source, one.file, f"{prefix}-environment")


KIND = Kind("network", is_of_networks, network_record.read, network_front.front, _chapters, network_sections.networks)
