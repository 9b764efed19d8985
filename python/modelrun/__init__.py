# SPDX-License-Identifier: Apache-2.0
"""Runs exported Hugging Face models on their backend's runtime.

    from modelrun import ExportedModel
    model = ExportedModel.from_pretrained("path/to/export")
    outputs = model(input_ids=ids, attention_mask=mask)
    outputs.last_hidden_state

Inputs of torch give torch tensors in the source model's own classes; those of
numpy give numpy arrays, and neither torch nor transformers is imported.
"""

from modelrun import _environment as _environment
from modelrun._backend import Runner, register_backend
from modelrun._core import (
    BackendError,
    BoundCall,
    Error,
    InvalidArgument,
    InvalidType,
    NotFound,
    Outputs,
    Tensor,
    Unsupported,
    __version__,
    default_backend,
    registered_backends,
)
from modelrun._model import ExportedModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from modelrun._export import export
    from modelrun._program import Port, Program

__all__ = [
    "BackendError",
    "BoundCall",
    "Error",
    "ExportedModel",
    "InvalidArgument",
    "InvalidType",
    "NotFound",
    "Outputs",
    "Port",
    "Program",
    "Runner",
    "Tensor",
    "Unsupported",
    "__version__",
    "default_backend",
    "export",
    "register_backend",
    "registered_backends",
]


def __getattr__(name: str) -> object:
    if name in ("Port", "Program"):
        from modelrun import _program

        return getattr(_program, name)
    if name == "export":
        # Needs torch and transformers, which running an export does not.
        from modelrun._export import export

        return export
    raise AttributeError(f"module 'modelrun' has no attribute {name!r}")
