# SPDX-License-Identifier: Apache-2.0
"""The configs of an export, as objects."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Config:
    """A config as plain attributes, for where transformers is not installed."""

    def __init__(self, values: "dict[str, Any]") -> None:
        self._values = values
        for key, value in values.items():
            setattr(self, key, Config(value) if isinstance(value, dict)
                    else value)

    def to_dict(self) -> "dict[str, Any]":
        return self._values

    def to_json_string(self) -> str:
        import json

        return json.dumps(self._values, indent=2)

    def __repr__(self) -> str:
        return f"Config({self._values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._values == other._values


def load_config(values: "dict[str, Any] | None", folder: str, kind: str,
                trust_remote_code: bool) -> Any:
    """The config in a folder, of transformers' own class where there is one."""
    if values is None:
        return None
    import importlib.util
    import logging

    if importlib.util.find_spec("transformers") is None:
        return Config(values)
    try:
        if kind == "GenerationConfig":
            from transformers import GenerationConfig

            return GenerationConfig.from_pretrained(folder)
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(
            folder, trust_remote_code=trust_remote_code)
    except Exception as error:  # of any kind: the folder's content is foreign
        logging.getLogger("modelrun").warning(
            "transformers has no config for %s, which is read as plain "
            "attributes: %s", folder, error)
        return Config(values)
