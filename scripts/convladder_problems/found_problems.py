"""Finds the problems in what a user names, and says of which kind each is. Runs none of their code."""
from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from pathlib import Path

LARGEST_FILE = 16 << 20
LONGEST_NAME = 60
SKIPPED = {"__pycache__", "node_modules"}


class BadSource(Exception):
    """The user's mistake, in one line."""


@dataclasses.dataclass
class Found:
    path: Path
    kind: str  # kernelbench, definition or gpu-mode
    file: str  # of the original, in the folder of its copy
    name: str  # of the problem and its folder
    title: str
    copied: list[tuple[Path, str]]  # which files go along, under which names
    more: dict = dataclasses.field(default_factory=dict)  # for the importer

    def stage(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for path, name in self.copied:
            shutil.copyfile(path, folder / name)


def problem_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not name or not name[0].isalpha():
        name = "p" + name
    return name[:LONGEST_NAME].rstrip("-")


def plain(text: str) -> str:
    """A title: printable, and not too long for one."""
    return re.sub(r"[^\x20-\x7e]+", " ", text).strip()[:200]


def text_of(path: Path) -> str | None:
    """A file's text; None if it is no text, or too long."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def module_in(path: Path) -> Found | None:
    text = text_of(path)
    if text is None or not all(re.search(rf"^{one}\b", text, re.M) for one in ("class Model", "def get_inputs", "def get_init_inputs")):
        return None
    words = [path.parent.name, path.stem] if re.match(r"[A-Za-z]", path.parent.name) else [path.stem]
    title = plain(re.sub(r"^\d+_|_+$", "", path.stem).replace("_", " ")) or "module"
    return Found(path, "kernelbench", path.name, problem_name("-".join(words)), title, [(path, path.name)])


def workloads_of(path: Path) -> list[dict]:
    """The workloads beside a definition: workload.jsonl, or the file of its name below `workloads` instead of `definitions`."""
    places = [path.parent / "workload.jsonl"]
    parts = list(path.with_suffix(".jsonl").parts)
    if "definitions" in parts:
        parts[len(parts) - 1 - parts[::-1].index("definitions")] = "workloads"
        places.append(Path(*parts))
    for place in places:
        text = text_of(place) if place.is_file() else None
        if text is None:
            continue
        try:
            lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise BadSource(f"{place}: not valid JSON: {error}") from error
        found = [one.get("workload", one) for one in lines if isinstance(one, dict)]
        return [one for one in found if isinstance(one.get("axes"), dict) and isinstance(one.get("inputs"), dict)]
    return []


def definition_in(path: Path) -> Found | None:
    text = text_of(path)
    try:
        read = json.loads(text) if text else None
    except ValueError:
        return None
    if not isinstance(read, dict) or not all(isinstance(read.get(one), dict) for one in ("axes", "inputs", "outputs")):
        return None
    name = str(read.get("name") or path.stem)
    return Found(path, "definition", "definition.json", problem_name(name), plain(name) or "definition", [(path, "definition.json")],
                 {"workloads": workloads_of(path)})


def task_in(path: Path) -> Found | None:
    try:
        import yaml
    except ImportError as error:
        raise BadSource(f"{path}: reading it takes PyYAML (Debian: python3-yaml)") from error
    try:
        read = yaml.safe_load(text_of(path) or "")
    except yaml.YAMLError as error:
        raise BadSource(f"{path}: not valid YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(read, dict) or not isinstance(read.get("files"), list):
        return None
    folder = path.resolve().parent
    copied = []
    for one in read["files"]:
        source = one.get("source", "") if isinstance(one, dict) else ""
        name = one.get("name", "") if isinstance(one, dict) else ""
        place = (folder / source).resolve()
        is_near = folder.parent.parent in place.parents and place.is_file()  # what a task shares lies beside or just above it
        is_wanted = re.fullmatch(r"\w+\.py", name) and name not in ("submission.py", "eval.py")
        if is_wanted and is_near and source.endswith(".py"):
            copied.append((place, name))
    if (folder / "reference.py").is_file() and "reference.py" not in [name for _, name in copied]:
        copied.append((folder / "reference.py", "reference.py"))
    sizes = [one for key in ("tests", "benchmarks") for one in read.get(key) or [] if isinstance(one, dict)]
    name = f"{folder.parent.name}-{folder.name}"
    return Found(path, "gpu-mode", "reference.py", problem_name(name), plain(name) or "task", [*copied, (path, "task.yml")], {"sizes": sizes})


def file_in(path: Path) -> Found | None:
    if path.suffix == ".py":
        return module_in(path)
    if path.suffix == ".json":
        return definition_in(path)
    return task_in(path) if path.name in ("task.yml", "task.yaml") else None


def folder_in(folder: Path) -> list[Found]:
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in SKIPPED)
        found += [one for one in (file_in(Path(place) / name) for name in sorted(files)) if one]
    return found


def natural(one: Found) -> list:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(one.path))]


def found_problems(sources: list[str]) -> list[Found]:
    """All problems, each under a name of its own. Throws BadSource if a source has none."""
    found: dict[Path, Found] = {}
    for source in sources:
        path = Path(source)
        if not path.exists():
            raise BadSource(f"{path} is not there")
        here = folder_in(path) if path.is_dir() else [one for one in [file_in(path)] if one]
        if not here:
            raise BadSource(f"{path}: expected a KernelBench module, a definition.json or a task.yml, or a folder of them")
        for one in sorted(here, key=natural):
            found.setdefault(one.path.resolve(), one)
    taken: set[str] = set()
    for one in found.values():
        base, count = one.name, 2
        while one.name in taken:
            one.name = f"{base[:LONGEST_NAME - 4]}-{count}"
            count += 1
        taken.add(one.name)
    return list(found.values())
