# SPDX-License-Identifier: Apache-2.0
"""The suite's results for a terminal and as a page."""

from __future__ import annotations

import importlib.metadata
import platform

import plan

HEAD = """# Conformance

Each model is exported by `transformers.exporters`, loaded by modelrun in another
process, called at shapes other than the traced ones, and compared with what the
eager model returned: every class, key, shape, dtype and number. `make
conformance` makes this page.

The numbers are the largest absolute difference over all outputs of all calls,
caches included, and the smallest cosine where it is not 1. A call that follows
another is made twice: with eager's cache, and with the one that the call before
returned. *transformers* is the same calls through its own runner. In 16 bits the
bound is twice what eager itself loses against float32, and one step of the format.

"""

COLUMNS = ("family", "model", "precision", "shapes", "format", "runtime",
           "modelrun", "bound", "transformers")


def markdown(jobs: list) -> str:
    packages = ("torch", "transformers", "onnxruntime", "openvino", "executorch")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}"
                         for name in packages)
    models = {job.row.fixture.name for job in jobs}
    text = HEAD + f"Made with {versions}, on {platform.machine()}: {len(models)} "
    text += f"of the {len(plan.ROWS)} models of the plan.\n\n"
    text += "| " + " | ".join(COLUMNS) + " |\n" + "| --- " * len(COLUMNS) + "|\n"
    for job in jobs:
        fixture = job.row.fixture
        shapes = "dynamic" if fixture.dynamic else "static"
        cells = [job.row.family, fixture.name, fixture.dtype, shapes, job.format,
                 job.backend, cell(job, "modelrun"), f"{job.bound:.0e}",
                 cell(job, "reference")]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def cell(job, runner: str) -> str:
    if job.refused:
        where = f"{job.folder / job.format}/"
        why = escaped(job.refused.splitlines()[0].replace(where, "")[:160])
        return f"refused: {why}" if runner == "modelrun" else ""
    worst = job.worst(runner)
    if worst is None:
        answer = job.answers.get(runner, {})
        error = answer.get("error", answer.get("refused", ""))
        return escaped(error.splitlines()[0][:120]) if error else ""
    text = f"{worst[0]:.1e}"
    if worst[1] < 0.999999:
        text += f", cosine {worst[1]:.6f}"
    answer = job.answers[runner]
    if any(call["differences"] for call in answer["calls"]):
        line = next(c["differences"][0] for c in answer["calls"]
                    if c["differences"])
        text += f"; {escaped(line[:100])}"
    return text


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def lines(jobs: list) -> str:
    """One line for each export that is not as eager, and how many are."""
    bad = [job for job in jobs if job.failures()]
    refused = [job for job in jobs if job.refused]
    text = "".join(f"FAILED {job.shown('modelrun')}\n" for job in bad)
    text += "".join(f"refused {job.row.fixture.name} {job.format} on "
                    f"{job.backend}: {job.refused[:200]}\n" for job in refused)
    right = len(jobs) - len(bad) - len(refused)
    return f"{text}{right} as eager, {len(bad)} not, {len(refused)} refused"
