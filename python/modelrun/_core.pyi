# SPDX-License-Identifier: Apache-2.0
"""The native part of modelrun."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

__version__: str


class Error(Exception):
    """The root of everything that modelrun raises."""

class InvalidArgument(Error, ValueError):
    """A value, option or file content that the call cannot accept."""

class InvalidType(Error, TypeError):
    """An object of a kind, or an option, that the call does not take."""

class BackendError(Error, RuntimeError):
    """A failure inside a runtime, with the runtime's own words."""

class NotFound(Error, FileNotFoundError):
    """A file, component, key, backend or runtime that is not there."""

class Unsupported(Error, NotImplementedError):
    """Something legal that this build, backend or runtime cannot do."""


class Tensor:
    """
    An array on its own memory, or on another package's: read it with numpy.asarray, numpy.from_dlpack or torch.from_dlpack.
    """

    @staticmethod
    def from_dlpack(array: object) -> Tensor:
        """A tensor on the memory of an array, which it keeps alive."""

    @property
    def dtype(self) -> str: ...

    @property
    def device(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def numpy(self) -> Any:
        """A numpy array on the same memory."""

    def __dlpack__(self, *, stream: object | None = None, max_version: object | None = None, dl_device: object | None = None, copy: object | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __reduce__(self) -> NoReturn: ...

    def __repr__(self) -> str: ...

class Outputs:
    """
    The outputs of a call, or an object within them, read by attribute, key or position. It can be passed to the next call as it is.
    """

    def __getattr__(self, name: str, /) -> Any: ...

    def __getitem__(self, key: str | int | slice, /) -> Any: ...

    def __len__(self) -> int: ...

    def __contains__(self, arg: object, /) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def __dir__(self) -> list[str]: ...

    def keys(self) -> list[str]: ...

    def values(self) -> list[Any]: ...

    def items(self) -> list[tuple[str, Any]]: ...

    def get(self, key: str, default: Any = None) -> Any: ...

    def to_tuple(self) -> tuple[Any, ...]:
        """The outputs in the source model's order."""

    @property
    def class_name(self) -> str:
        """The source model's own class, as 'module.Class'."""

    def __reduce__(self) -> NoReturn: ...

    def __repr__(self) -> str: ...

def export_format(path: str, subfolder: str = '', file_name: str = '') -> str: ...

def find_runtime(backend: str) -> dict[str, Any]: ...

def registered_backends() -> list[str]: ...

def default_backend(format: str) -> str: ...

def backend_options(backend: str, runtime_path: str = '') -> list[str]: ...

def set_python_packages(folders: Sequence[str]) -> None: ...

class BoundCall:
    """
    A call whose inputs stay bound: write new values into the arrays, and call it again. The outputs are overwritten by the next run.
    """

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

    def __reduce__(self) -> NoReturn: ...

class Model:
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

    def __init__(self, other: Model) -> None: ...

    def bind(self, *args: Any, **kwargs: Any) -> BoundCall: ...

    def component_names(self) -> list[str]: ...

    def component_model(self, name: str) -> Model: ...

    def replace(self, other: Model) -> None: ...

    def describe(self) -> dict[str, Any]: ...

    @property
    def export_format(self) -> str: ...

    def dtype_name(self) -> str: ...

    def device_name(self) -> str: ...

    def config_dict(self) -> dict[str, Any] | None: ...

    def generation_config_dict(self) -> dict[str, Any] | None: ...

    def report(self) -> dict[str, Any]:
        """What runs where, for each component."""

    def save(self, directory: str) -> None: ...

    def warmup(self) -> None:
        """
        Runs every component once, so that the first real call pays for no lazy initialization.
        """

def load(path: str, *, subfolder: str = '', file_name: str = '', backend: str = '', device: str | None = None, threads: int | None = None, runtime_path: str = '', check_recorded_shapes: bool = True, options: dict[str, Any] = {}) -> Model: ...

def register_backend(name: str, runner_class: type[Any], formats: Sequence[str]) -> None: ...

def wait_for_abandoned() -> None: ...
