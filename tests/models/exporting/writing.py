# SPDX-License-Identifier: Apache-2.0
"""Exports a fixture in one format and writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers.exporters import ExportedModel
from transformers.exporters.auto import AutoExportConfig, get_exporter_class
from transformers.exporters.utils import decompose_for_generation

from .fixture import Fixture


def source_model(fixture: Fixture) -> torch.nn.Module:
    """The seeded source model, in the fixture's precision."""
    torch.manual_seed(0)
    model = fixture.build()
    return model.to(getattr(torch, fixture.dtype)).eval()


def export(fixture: Fixture, export_format: str) -> ExportedModel:
    """Export a fixture in one format."""
    model = source_model(fixture)
    torch.manual_seed(1)
    sample = fixture.sample(model)
    exporter = get_exporter_class(export_format)()
    if not fixture.generation:
        config = export_config(fixture, export_format, sample)
        return exporter.export(model, sample, config)
    multi_token = fixture.dynamic and fixture.multi_token
    arguments: dict[str, Any] = {"multi_token_decode": multi_token}
    if fixture.generation_config is not None:
        arguments["generation_config"] = fixture.generation_config()
    components = decompose_for_generation(model, sample, **arguments)
    configs = {
        name: export_config(fixture, export_format, kwargs)
        for name, (_, kwargs) in components.items()
    }
    return exporter.export_for_generation(model, sample, configs, **arguments)


def export_config(fixture: Fixture, export_format: str, kwargs: dict) -> Any:
    """The exporter's config for a component traced with `kwargs`."""
    values = {"export_format": export_format, "dynamic": fixture.dynamic}
    if fixture.dynamic and fixture.shapes is not None:
        values["dynamic_shapes"] = fixture.shapes(kwargs)
    if fixture.quantizer is not None:
        values["quantizer"] = fixture.quantizer()
    values |= fixture.options.get(export_format, {})
    return AutoExportConfig.from_dict(values)


def write(exported: ExportedModel, directory: Path) -> None:
    """Save an export without the traces of the machine that made it."""
    for component in exported.components.values():
        _drop_traces(component.program)
    exported.save_pretrained(directory)


# What torch notes on each node about the source that it was traced from.
NODE_NOTES = (
    "from_node",
    "nn_module_stack",
    "source_fn_stack",
    "stack_trace",
    "torch_fn",
)


def _drop_traces(program: Any) -> None:
    """Drop the notes on each node: they hold paths and most of the bytes."""
    if isinstance(program, torch.export.ExportedProgram):
        for module in program.graph_module.modules():
            for node in getattr(getattr(module, "graph", None), "nodes", ()):
                for note in NODE_NOTES:
                    node.meta.pop(note, None)
    elif hasattr(program, "graphs"):
        for graph in program.graphs():
            for node in graph:
                node.metadata_props.clear()
                for value in node.outputs:
                    value.metadata_props.clear()
