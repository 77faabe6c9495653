"""What is seen first of a run that leaves one idea after the other out of the best stage."""

from __future__ import annotations

from convladder_charts import leave_one_out
from convladder_charts.known_text import either, ends, headline, untold
from convladder_charts.leave_one_out import price_words
from convladder_charts.left_out import LeftOutGroup, LeftOutView
from convladder_charts.record import Record
from convladder_report import common_sections
from convladder_report.common_sections import places_of
from convladder_report.document import Answer, Fact, Front
from convladder_report.figures import figure
from convladder_report.kind import Input
from convladder_report.words import counted, listed


def front(one: Input, prefix: str, trust: Answer) -> Front:
    """Of the first device that has any."""
    record: Record = one.record
    group = record.left_out[0]
    ideas = {row.idea for view in group.ladders for row in view.rows if not row.is_whole}
    layers = listed([f"{view.layer_name} at batch {view.batch}" for view in group.ladders], 3)
    hero = figure(leave_one_out.draw, record, group, f"{prefix}-hero", one.source,
                  places_of(view.place for view in group.ladders),
                  [leave_one_out.table(group, view) for view in group.ladders]) if (
                      leave_one_out.has_figures(group, None)) else None
    return Front(f"{group.ladders[0].best} without one idea at a time",
                 f"{counted(len(ideas), 'idea')} of the stage {group.ladders[0].best} on {group.device}, on {layers}.",
                 (*(_worth(group, view) for view in group.ladders[:2]), trust), common_sections.machine_line(record), hero)


def _worth(group: LeftOutGroup, view: LeftOutView) -> Answer:
    """The idea that is missed most, and how many are not missed."""
    priced = [(row, view.price(row)) for row in view.by_price if not row.is_whole]
    known = [(row, price) for row, price in priced if price]
    question = "Which idea is worth most?" if len(group.ladders) == 1 else f"Which idea is worth most on {view.layer_name}?"
    if not known:
        return Answer(question, "Not known: no stage without an idea has a time.", view.place)
    where = f"on {view.layer_name} at batch {view.batch}"
    how = "is predicted to take" if group.kind != "measured" else "takes"
    dearest, facts = view.dearest, []
    text = f"No idea can be told to be worth anything {where}."
    if dearest:
        names, price = either([f"“{row.idea}”" for row in dearest]), view.price(view.cheapest_of_dearest)
        text = f"Without {names} {view.best} {how} {price_words(price)} {where}."
        shown = headline(price) if price is not None else ""
        facts = [Fact(shown, f"the time without {view.cheapest_of_dearest.idea} ({ends(price)})")] if shown and price is not None else []
    alike = [row.idea for row, price in priced if untold(price)]
    useless = [row.idea for row, price in known if price <= 1 and not untold(price)]
    if useless:
        text += f" {counted(len(useless), 'idea')} could be left out here without loss: {listed(useless, 3)}."
    if alike:
        text += f" Without {either(alike)} no difference can be told."
    return Answer(question, text, dearest[0].place if dearest else view.place, tuple(facts))
