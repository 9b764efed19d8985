# SPDX-License-Identifier: Apache-2.0
"""`ExportedModel`: an export, called like the model that it came from."""

from __future__ import annotations

import os

from modelrun import _core, _options

# As typing has it, whose import takes longer than all of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, NoReturn

    from modelrun._core import BoundCall
    from modelrun._program import Program


class ExportedModel(_core.Model):
    """An exported model, called like the model that it came from.

    >>> model = ExportedModel.from_pretrained("path/to/export")
    >>> outputs = model(input_ids=ids, attention_mask=mask)
    >>> outputs.last_hidden_state

    Many threads may call one model at the same time.
    """

    _path: str
    _load: "dict[str, Any]"
    _trust_remote_code: bool
    # What removes the files of a fresh export, when the last model of it goes.
    _files: object

    if TYPE_CHECKING:

        def __call__(self, inputs: "Mapping[str, Any] | None" = None, /,
                     share_inputs: bool = True, share_outputs: bool = False, *,
                     return_type: "str | None" = None, **kwargs: Any) -> Any:
            """Runs the model on the source model's kwargs, and returns what
            the source model returns.

            `share_inputs` reads the inputs in place rather than from copies;
            `share_outputs` returns the backend's own buffers, which are used
            again once nobody holds them. `return_type` is 'torch', 'numpy' or
            'dlpack'; left out, the outputs are what the inputs are. Kwargs that
            the export was not traced with are dropped, with one warning.
            """

        def bind(self, inputs: "Mapping[str, Any] | None" = None, /,
                 **kwargs: Any) -> BoundCall:
            """Checks and binds the kwargs once, for calls that repeat on the
            same memory."""

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: "str | os.PathLike[str]",
        *,
        device: Any = None,
        cache_dir: "str | os.PathLike[str] | None" = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: "str | bool | None" = None,
        revision: "str | None" = None,
        subfolder: str = "",
        trust_remote_code: bool = False,
        **runner_kwargs: Any,
    ) -> ExportedModel:
        """Opens an export and loads its programs, ready to run.

        The path is a directory that transformers' exporters wrote (or one in
        optimum's layout), or one program file. `trust_remote_code` lets
        `config` be of a class whose code lies beside it; programs are loaded
        the same either way. `runner_kwargs` are `backend`, `threads`,
        `file_name`, `runtime_path`, `check_recorded_shapes`, and the options
        of the backend.
        """
        path = os.fspath(pretrained_model_name_or_path)
        if not os.path.exists(path):
            raise _core.NotFound(
                f"{path!r} is no directory or file of this machine: expected "
                "the path of an export; download a repository of the Hub "
                "first, with 'hf download'")
        load = {"subfolder": subfolder or "",
                **_prepare(path, subfolder or "", device, runner_kwargs)}
        return cls._completing(path, load)._wrap(
            _core.load(path, **load), path, load, trust_remote_code)

    @classmethod
    def _completing(cls, path: str,
                    load: "dict[str, Any]") -> "type[ExportedModel]":
        """This class, or one that computes the kwargs which the export says
        that its exporter has computed."""
        folder = os.path.join(path, load["subfolder"])
        if not os.path.exists(os.path.join(folder, "modelrun.json")):
            return cls
        from modelrun import _precomputed

        return _precomputed.class_for(cls, folder)

    @classmethod
    def _wrap(cls, core: _core.Model, path: str, load: "dict[str, Any]",
              trust_remote_code: bool, files: object = None) -> ExportedModel:
        model = cls.__new__(cls)
        _core.Model.__init__(model, core)
        model._path = path
        model._load = load
        model._trust_remote_code = trust_remote_code
        model._files = files
        return model

    @classmethod
    def from_exported(cls, exported: Any, *, device: Any = None,
                      **runner_kwargs: Any) -> ExportedModel:
        """Runs an export of transformers' exporters that is in memory: it is
        saved to a temporary folder, which goes with the model."""
        from modelrun._temporary import TemporaryFolder

        files = TemporaryFolder()
        exported.save_pretrained(files.path)
        model = cls.from_pretrained(files.path, device=device, **runner_kwargs)
        model._files = files
        return model

    def to(self, device: Any = None, **runner_kwargs: Any) -> ExportedModel:
        """Loads the programs anew, on another device or with other options,
        and returns this model."""
        common: "dict[str, Any]" = {
            key: self._load[key] for key in ("backend", "file_name",
                                                   "runtime_path")
                  if key in self._load}
        load = {"subfolder": self._load["subfolder"],
                **_prepare(self._path, self._load["subfolder"], device,
                           {**common, **runner_kwargs})}
        names = self.component_names()
        core = _core.load(self._path, **load)
        if core.component_names() != names:
            core = core.component_model(names[0])
        self.replace(core)
        self._load = load
        return self

    @property
    def components(self) -> "dict[str, ExportedModel]":
        """Each program of the export as a model of its own, by its name."""
        return {name: self.component(name) for name in self.component_names()}

    def component(self, name: str) -> ExportedModel:
        """One program of the export as a model of its own."""
        return type(self)._wrap(self.component_model(name), self._path,
                                self._load, self._trust_remote_code,
                                self._files)

    @property
    def runners(self) -> "dict[str, ExportedModel]":
        """What runs each component: callable, with `device` and `dtype`."""
        return self.components

    @property
    def program(self) -> Program:
        """The file and the signature of a single-graph export."""
        from modelrun._program import Program

        return Program._from_description(self.describe())

    @property
    def device(self) -> Any:
        """Where it runs: a torch.device where torch is imported, else text."""
        import sys

        torch = sys.modules.get("torch")
        name = self.device_name()
        return torch.device(name) if torch is not None else name

    @property
    def dtype(self) -> Any:
        """The precision of the export: a torch.dtype where torch is imported,
        else text."""
        import sys

        torch = sys.modules.get("torch")
        name = self.dtype_name()
        return getattr(torch, name) if torch is not None else name

    @property
    def config(self) -> Any:
        """The source model's config: of transformers' own class where it is
        installed, else a plain object; None when there is none."""
        from modelrun._config import load_config

        return load_config(self.config_dict(), self._folder(),
                           "PreTrainedConfig", self._trust_remote_code)

    @property
    def generation_config(self) -> Any:
        """The source model's generation config, as `config` is."""
        from modelrun._config import load_config

        return load_config(self.generation_config_dict(), self._folder(),
                           "GenerationConfig", self._trust_remote_code)

    def _folder(self) -> str:
        folder = os.path.join(self._path, self._load["subfolder"])
        return folder if os.path.isdir(folder) else os.path.dirname(folder)

    def save_pretrained(self, save_directory: "str | os.PathLike[str]") -> None:
        """Writes the programs, the manifest and the configs to a directory.
        Each file is written aside and moved, so it may be the export's own."""
        self.save(os.fspath(save_directory))

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(format={self.export_format!r}, "
                f"components={self.component_names()})")

    def __reduce__(self) -> NoReturn:
        raise _core.InvalidType(
            "a loaded model cannot be pickled, since its runtime's memory is "
            "this process's own: send the path, and call "
            f"ExportedModel.from_pretrained({self._path!r}) where it is needed")


def _prepare(path: str, subfolder: str, device: Any,
             runner_kwargs: "dict[str, Any]") -> "dict[str, Any]":
    file_name = runner_kwargs.get("file_name") or ""
    backend = runner_kwargs.get("backend") or _core.default_backend(
        _core.export_format(path, subfolder, file_name))
    return _options.prepare(backend, device, runner_kwargs)
