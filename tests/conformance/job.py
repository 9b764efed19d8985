# SPDX-License-Identifier: Apache-2.0
"""One export on one backend, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import plan

RUNTIMES = {
    "onnx": "onnxruntime",
    "openvino": "openvino",
    "dynamo": "torch",
    "executorch": "executorch",
}


@dataclass
class Job:
    row: plan.Row
    format: str
    backend: str
    folder: Path
    bound: float
    # Why there is no such export, or why its runtime cannot run it.
    known_refusal: str
    answers: dict[str, dict] = field(default_factory=dict)

    @staticmethod
    def of(row, export_format, folder, bound, refused) -> list["Job"]:
        own = RUNTIMES[export_format]
        backends = (own, *plan.ALSO.get(export_format, ()))
        jobs = []
        for backend in backends:
            why = refused
            if not why and backend == own:
                why = row.fixture.not_run.get(export_format, "")
            jobs.append(Job(row, export_format, backend, folder, bound, why))
        return jobs

    @property
    def refused(self) -> str:
        """Why it cannot run. A runtime must load its own format; another one
        may refuse a program, and says why."""
        if self.known_refusal or self.own_runtime:
            return self.known_refusal
        return self.answers.get("modelrun", {}).get("refused", "")

    @property
    def own_runtime(self) -> bool:
        return self.backend == RUNTIMES[self.format]

    def request(self) -> dict:
        options = {} if self.own_runtime else {"backend": self.backend}
        return {
            "export": str(self.folder / self.format),
            "calls": str(self.folder / "calls.pt"),
            "options": options,
        }

    def worst(self, runner: str) -> tuple[float, float] | None:
        """The largest difference and the smallest cosine of all calls."""
        calls = self.answers.get(runner, {}).get("calls")
        if not calls:
            return None
        return (max(call["max_abs"] for call in calls),
                min(call["cosine"] for call in calls))

    def failures(self, runner: str = "modelrun") -> list[str]:
        """What of the answer is not eager's."""
        if self.refused:
            return []
        answer = self.answers.get(runner, {})
        for failure in ("refused", "error"):
            if failure in answer:
                return [answer[failure]]
        if not answer.get("calls"):
            return ["no call was made"]
        lines = []
        for call in answer["calls"]:
            lines += [f"{call['name']}: {line}" for line in call["differences"]]
            if not call["max_abs"] <= self.bound:
                lines.append(f"{call['name']}: off by {call['max_abs']:.2e}, "
                             f"{self.bound:.2e} is right")
        return lines

    def shown(self, runner: str) -> str:
        failures = self.failures(runner)
        worst = self.worst(runner)
        number = f"{worst[0]:.1e}" if worst else "-"
        text = f"{self.row.fixture.name} {self.format} on {self.backend}: "
        text += f"{number} of {self.bound:.1e}"
        return text + "".join(f"\n    {line}" for line in failures[:4])
