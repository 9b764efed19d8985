# SPDX-License-Identifier: Apache-2.0
"""Kwargs that an exporter computes before it traces a model, such as
Qwen2-VL's `position_ids`: a processor's output does not hold them."""

from __future__ import annotations

import json
import os

from modelrun import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from modelrun._model import ExportedModel


# Of a call, which are no kwargs of the model.
CALL_OPTIONS = ("share_inputs", "share_outputs", "return_type")


class _Reads(dict):  # type: ignore[type-arg]
    """A dict that notes the keys which are read."""

    def __init__(self, values: "dict[str, Any]") -> None:
        super().__init__(values)
        self.keys_read: "set[str]" = set()

    def __getitem__(self, key: str) -> Any:
        self.keys_read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)


def precompute(module: Any, kwargs: "dict[str, Any]") -> "dict[str, list[str]]":
    """Adds to the kwargs what the exporter computes from them, by its own
    code; returns the new names, each with those that were read for it."""
    import torch
    from transformers.exporters.utils import precompute_export_inputs

    given = {key for key, value in kwargs.items() if value is not None}
    inner = getattr(module, "base_model", module)
    found: "dict[str, list[str]]" = {}
    for each in [module] if inner is module else [module, inner]:
        values = _Reads(kwargs)
        with torch.no_grad():
            precompute_export_inputs(each, values)
        for key, value in values.items():
            if key not in given and value is not None and key not in found:
                found[key] = sorted(values.keys_read & given)
        kwargs.update(values)
    return found


class Precomputing:
    """Before ExportedModel among a class's bases: its programs take precomputed
    kwargs, which are computed from a call's other kwargs where they are left
    out."""

    _records: "dict[str, Any]"
    _component: "str | None" = None
    _module: Any = None

    def __call__(self: Any, inputs: Any = None, /, *args: Any,
                 **kwargs: Any) -> Any:
        base: Any = super()
        return base.__call__(
            self._completed(inputs, kwargs), *args,
            **{key: kwargs[key] for key in CALL_OPTIONS if key in kwargs})

    def bind(self: Any, inputs: Any = None, /, **kwargs: Any) -> Any:
        base: Any = super()
        return base.bind(self._completed(inputs, kwargs))

    def component(self: Any, name: str) -> Any:
        base: Any = super()
        model = base.component(name)
        model._component = name
        return model

    def _completed(self: Any, inputs: Any, kwargs: "dict[str, Any]") -> Any:
        """The call's kwargs with those that are missing and can be computed."""
        whole = {**(dict(inputs) if inputs is not None else {}),
                 **{key: value for key, value in kwargs.items()
                    if key not in CALL_OPTIONS}}
        name = self._component or self.component_names()[0]
        record = self._records.get(name)
        if record is None:
            return whole
        missing = {key: sources for key, sources in record["kwargs"].items()
                   if whole.get(key) is None}
        if not missing:
            return whole
        needed = sorted({each for sources in missing.values()
                         for each in sources if whole.get(each) is None})
        if needed:
            raise _core.InvalidArgument(
                f"missing kwargs {sorted(missing)}: give them, or "
                f"{needed}, which they are computed from")
        return self._compute(record, whole, sorted(missing))

    def _compute(self: Any, record: "dict[str, Any]", whole: "dict[str, Any]",
                 missing: "list[str]") -> "dict[str, Any]":
        try:
            import torch
            import transformers  # noqa: F401
        except ImportError as error:
            raise _core.Unsupported(
                f"kwargs {missing} are computed by transformers, which is not "
                f"installed ({error}): give them, or install it with "
                "'pip install modelrun[transformers]'") from error
        computed = {key: torch.as_tensor(value) if hasattr(
            value, "__array__") or isinstance(value, list) else value
            for key, value in whole.items()}
        try:
            precompute(self._source_module(record["architecture"]), computed)
        except _core.Error:
            raise
        except Exception as error:  # of any kind: the model's own code
            raise _core.InvalidArgument(
                f"kwargs {missing} cannot be computed from this call's "
                f"others: {error}; give them") from error
        is_torch = any(isinstance(value, torch.Tensor)
                       for value in whole.values())
        return {**whole, **{
            key: value if is_torch or not isinstance(value, torch.Tensor)
            else value.numpy()
            for key, value in computed.items() if key not in whole
            or whole[key] is None}}

    def _source_module(self: Any, architecture: str) -> Any:
        """The source model without weights, from classes of transformers'
        own."""
        if self._module is None:
            import torch
            import transformers

            kind = getattr(transformers, architecture, None)
            if not (isinstance(kind, type)
                    and issubclass(kind, transformers.PreTrainedModel)):
                raise _core.Unsupported(
                    f"transformers has no model class {architecture!r}, which "
                    "this export's missing kwargs are computed by")
            with torch.device("meta"):
                self._module = kind(self.config)
        return self._module


def class_for(cls: "type[ExportedModel]",
              folder: str) -> "type[ExportedModel]":
    """The class to open an export with."""
    records = records_of(folder)
    if not records or issubclass(cls, Precomputing):
        return cls
    return type(cls.__name__, (Precomputing, cls), {"_records": records})


def records_of(folder: str) -> "dict[str, Any]":
    """The precomputed kwargs of each program of an export, as its
    `modelrun.json` has them."""
    path = os.path.join(folder, "modelrun.json")
    try:
        with open(path, encoding="utf-8") as file:
            records = json.load(file).get("precomputed") or {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise _core.InvalidArgument(f"cannot read {path}: {error}") from error
    if not (isinstance(records, dict) and all(map(_is_record,
                                                  records.values()))):
        raise _core.InvalidArgument(
            f"cannot read {path}: 'precomputed' has another form than "
            "{component: {architecture, kwargs: {name: [names]}}}")
    return records


def _is_record(record: object) -> bool:
    return (isinstance(record, dict)
            and isinstance(record.get("architecture"), str)
            and isinstance(record.get("kwargs"), dict)
            and all(isinstance(names, list)
                    and all(isinstance(name, str) for name in names)
                    for names in record["kwargs"].values()))
