# SPDX-License-Identifier: Apache-2.0
"""Programs that `modelrun compile` makes native. Argument: the command's path.

What compiles needs a Python with torch and transformers: the active
environment's, or the one that runs this.
"""

import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

COMMAND = str(pathlib.Path(sys.argv.pop(1)).resolve())
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "models/fixtures"
CODE = "data/aotinductor/model/"


def python_with_torch():
    prefix = os.environ.get("VIRTUAL_ENV")
    candidates = [pathlib.Path(prefix) / "bin/python3"] if prefix else []
    for python in [*candidates, pathlib.Path(sys.executable)]:
        script = ("from importlib.util import find_spec as f; "
                  "exit(not (f('torch') and f('transformers')))")
        if python.exists() and not subprocess.call([python, "-c", script]):
            return str(python)
    return None


PYTHON = python_with_torch()


def modelrun(*arguments, **variables):
    environment = {**os.environ, "NO_COLOR": "1", **variables}
    return subprocess.run([COMMAND, *map(str, arguments)], text=True,
                          capture_output=True, env=environment)


def floats(path):
    data = pathlib.Path(path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: struct.unpack_from(
                f"<{(entry['data_offsets'][1] - entry['data_offsets'][0]) // 4}f",
                data, 8 + size + entry["data_offsets"][0])
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] == "F32"}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="modelrun-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)


class Refusals(Case):
    def test_only_archives_of_torch_are_compiled(self):
        done = modelrun("compile", FIXTURES / "bert/onnx", "-o",
                        self.folder / "none")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is an export of format 'onnx'", done.stderr)

    def test_a_python_without_torch_is_named(self):
        done = modelrun("compile", FIXTURES / "bert/dynamo", "-o",
                        self.folder / "none", "--python", "no-such-python")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot start no-such-python", done.stderr)
        self.write_executable("bare", f'exec "{sys.executable}" -S "$@"')
        done = modelrun("compile", FIXTURES / "bert/dynamo", "-o",
                        self.folder / "none", "--python", self.folder / "bare",
                        PYTHONPATH="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No module named 'torch'", done.stderr)
        self.assertIn("pip install torch==", done.stderr)
        self.assertEqual(list(self.folder.glob("none*")), [])

    def test_what_torch_says_is_shown(self):
        self.write_executable("broken", 'echo "out of paper" >&2; exit 1')
        done = modelrun("compile", FIXTURES / "bert/dynamo", "-o",
                        self.folder / "none", "--python",
                        self.folder / "broken")
        self.assertEqual(done.returncode, 1)
        self.assertIn("component 'model' cannot be compiled: torch says:\n"
                      "  out of paper", done.stderr)

    def test_a_folder_that_is_there_is_kept(self):
        (self.folder / "there").mkdir(exist_ok=True)
        done = modelrun("compile", FIXTURES / "bert/dynamo", "-o",
                        self.folder / "there")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is there already", done.stderr)

    def write_executable(self, name, script):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@unittest.skipUnless(PYTHON, "needs a Python with torch and transformers")
class Compiled(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.export = cls.folder / "bert"
        done = modelrun("compile", FIXTURES / "bert/dynamo", "--output",
                        cls.export, "--python", PYTHON, "--json")
        assert done.returncode == 0, done.stderr
        assert "compiling 'model' (1 of 1)" in done.stderr
        cls.report = json.loads(done.stdout)

    def run_case(self, case, *arguments, cache="cache", export=None):
        output = self.folder / "out.safetensors"
        cases = FIXTURES / "bert/cases"
        done = modelrun("run", export or self.export, "--inputs",
                        cases / f"{case}.inputs.safetensors", "--output",
                        output, *arguments,
                        XDG_CACHE_HOME=str(self.folder / cache))
        if done.returncode:
            return done.stderr
        got = floats(output)
        wanted = floats(cases / f"{case}.outputs.safetensors")
        self.assertEqual(set(got), set(wanted))
        for name, values in wanted.items():
            self.assertEqual(len(values), len(got[name]))
            far = max(abs(a - b) for a, b in zip(values, got[name]))
            self.assertLess(far, 1e-5, name)
        return None

    def code_hash(self):
        code = hashlib.sha256()
        with zipfile.ZipFile(self.export / "model.pt2") as archive:
            for name in sorted(archive.namelist()):
                data = archive.read(name)
                _, is_code, short = name.partition(CODE)
                if is_code:
                    code.update(f"{short}\n{len(data)}\n".encode() + data)
        return code.hexdigest()

    def test_the_report_says_what_was_made(self):
        self.assertEqual(self.report["directory"], str(self.export))
        component, = self.report["components"]
        self.assertEqual(component["name"], "model")
        self.assertEqual(component["size"],
                         (self.export / "model.pt2").stat().st_size)
        self.assertTrue((self.export / "export.json").exists())
        self.assertTrue((self.export / "config.json").exists())

    def test_native_code_is_refused_unless_it_is_allowed(self):
        message = self.run_case("padded", cache="refused")
        self.assertIn("holds native code", message)
        self.assertIn("allow_native_code=true", message)
        self.assertFalse((self.folder / "refused").exists())

    def test_it_gives_eagers_outputs_at_every_shape(self):
        for case in ("one", "batch1", "padded", "traced-shape"):
            with self.subTest(case=case):
                self.assertIsNone(
                    self.run_case(case, "--option", "allow_native_code=true"))
        folder, = (self.folder / "cache/modelrun/aotinductor").iterdir()
        self.assertEqual(folder.name, self.code_hash())

    def test_it_does_not_open_cuda(self):
        library = next(
            (self.folder / "cache/modelrun/aotinductor").glob("*/*.so"), None)
        if library is None:
            self.run_case("one", "--option", "allow_native_code=true")
            library = next(
                (self.folder / "cache/modelrun/aotinductor").glob("*/*.so"))
        self.assertNotIn(b"\0libtorch.so\0", library.read_bytes())

    def test_its_inputs_are_checked(self):
        inputs = self.folder / "long.json"
        inputs.write_text(json.dumps({"input_ids": [[1] * 65],
                                      "attention_mask": [[1] * 65]}))
        done = modelrun("run", self.export, "--inputs", inputs, "--output",
                        self.folder / "long.npz", "--option",
                        "allow_native_code=true",
                        XDG_CACHE_HOME=str(self.folder / "cache"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("at most 64", done.stderr)

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        self.run_case("one", "--option", "allow_native_code=true",
                      cache="open")
        folder, = (self.folder / "open/modelrun/aotinductor").iterdir()
        folder.chmod(0o777)
        self.assertIn("only this user may write to", self.run_case(
            "one", "--option", "allow_native_code=true", cache="open"))

    def test_a_failed_load_leaves_no_folder_behind(self):
        (self.folder / "file").write_text("")
        message = self.run_case("one", "--option", "allow_native_code=true",
                                cache="file")
        self.assertIn("cannot be unpacked to", message)

    def test_another_instruction_set_is_refused_before_it_is_opened(self):
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(self.export / "export.json", other)
        with zipfile.ZipFile(self.export / "model.pt2") as source, \
                zipfile.ZipFile(other / "model.pt2", "w") as target:
            for name in source.namelist():
                data = source.read(name)
                if name.endswith("_metadata.json"):
                    data = json.dumps({**json.loads(data),
                                       "AOTI_CPU_ISA": "SVE256"}).encode()
                target.writestr(name, data)
        message = self.run_case("one", "--option", "allow_native_code=true",
                                cache="never", export=other)
        self.assertIn("'sve' instructions", message)
        self.assertFalse((self.folder / "never").exists())


if __name__ == "__main__":
    unittest.main()
