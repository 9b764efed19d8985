# SPDX-License-Identifier: Apache-2.0
"""The command `modelrun export`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from typing import Any, Sequence

from modelrun import _core
from modelrun._export import export

EXIT_FAILED, EXIT_REFUSED = 1, 3

EXAMPLES = """\
examples:
  modelrun export path/to/all-MiniLM-L6-v2 minilm
  modelrun export path/to/llama llama --generation --format openvino
  modelrun export path/to/bert bert-int8 --quantize int8-dynamic
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="modelrun export", epilog=EXAMPLES,
        description="Export a checkpoint of transformers, and check the "
                    "export against it",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL",
                        help="the directory of a checkpoint, or the name of "
                             "a repository of the Hub")
    parser.add_argument("output", metavar="OUT",
                        help="the directory to make")
    parser.add_argument("--format", default="onnx",
                        help="onnx (the default), openvino, dynamo or "
                             "executorch")
    shapes = parser.add_mutually_exclusive_group()
    shapes.add_argument("--dynamic", dest="dynamic", action="store_true",
                        default=True,
                        help="let batch and length change (the default)")
    shapes.add_argument("--static", dest="dynamic", action="store_false",
                        help="fix every size to that of the sample inputs")
    parser.add_argument("--dtype", help="float32, float16 or bfloat16; by "
                                        "default that of the checkpoint")
    parser.add_argument("--task", help="such as text-classification; by "
                                       "default the checkpoint's own class")
    parser.add_argument("--generation", action="store_true",
                        help="export the programs that generate calls")
    parser.add_argument("--quantize", metavar="HOW",
                        help="int8-dynamic or int8-weights")
    parser.add_argument("--ort-fusions", metavar="PROVIDER",
                        help="fuse into ONNX Runtime's own operators for cpu, "
                             "cuda, webgpu or dml")
    parser.add_argument("--no-check", dest="check", action="store_false",
                        help="do not compare the export with the checkpoint")
    parser.add_argument("--json", action="store_true",
                        help="print what was made as JSON")
    return parser


def main(arguments: "Sequence[str]") -> int:
    """Runs the command, and returns its exit code."""
    options = vars(_parser().parse_args(arguments))
    as_json = options.pop("json")
    if options["ort_fusions"] is None:
        del options["ort_fusions"]
    try:
        _silence()
        made = export(options.pop("model"), options.pop("output"),
                      progress=_progress if sys.stderr.isatty() else None,
                      **options)
    except _core.Error as error:
        print("modelrun: error: " + " ".join(str(error).split()), file=sys.stderr)
        refused = isinstance(error, (_core.InvalidArgument, _core.NotFound))
        return EXIT_REFUSED if refused else EXIT_FAILED
    if as_json:
        print(json.dumps(made, indent=2))
    else:
        _report(made)
    return 0


def _silence() -> None:
    """Those of the libraries beneath are not of this command, nor is what
    torch says of its own future when it is imported."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger("torch.utils._pytree").setLevel(logging.ERROR)
    try:
        from transformers.utils import logging as transformers_logging
    except ImportError:
        return  # which the export itself reports

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()


def _progress(text: str) -> None:
    print(f"modelrun: {text}", file=sys.stderr)


def _report(made: "dict[str, Any]") -> None:
    print(made["directory"])
    error = made["largest_error"]
    for name in made["golden"]:
        print(f"  {name}: {made['source']['architecture']}")
    for name in made["encoders"]:
        print(f"  {name}: its own export, in the folder {name}")
    print("not compared with the checkpoint" if error is None else
          f"as the checkpoint computes: the largest error is {error:.1e} of an "
          f"output's {made['tolerance']['measure']}")
