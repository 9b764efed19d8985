# SPDX-License-Identifier: Apache-2.0
"""The modelrun command, as a shell uses it. Argument: the command's path."""

import concurrent.futures
import json
import math
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
COMMANDS = ("inspect", "run", "embed", "similar", "compile", "export",
            "doctor")

TOKENIZER = {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": False,
                      "lstrip": False, "rstrip": False, "normalized": False,
                      "special": True}],
    "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": None, "decoder": None,
    "model": {"type": "WordLevel", "unk_token": "[UNK]",
              "vocab": {"[PAD]": 0, "[UNK]": 1, "a": 2, "b": 3, "c": 4}},
}


def modelrun(*arguments, stdin=None, **variables):
    environment = {**os.environ, "NO_COLOR": "1", **variables}
    return subprocess.run([COMMAND, *map(os.fsencode, arguments)],
                          input=stdin, capture_output=True, timeout=120,
                          env=environment)


def text(data):
    return data.decode("utf-8")


def read_safetensors(path):
    """Name to (dtype, shape, bytes), and the metadata."""
    data = pathlib.Path(path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    body = data[8 + size:]
    return {name: (entry["dtype"], entry["shape"],
                   body[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, metadata


FLOATS = {"F16": "e", "F32": "f", "F64": "d"}


def values(data, dtype):
    letter = FLOATS[dtype]
    return struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}",
                         data)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="modelrun-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def succeed(self, *arguments, **options):
        done = modelrun(*arguments, **options)
        self.assertEqual(done.returncode, 0, text(done.stderr))
        return text(done.stdout)

    def as_json(self, *arguments, **options):
        content = json.loads(self.succeed(*arguments, "--json", **options))
        self.assertIsInstance(content, dict)
        return content

    def refuse(self, code, *arguments, **options):
        done = modelrun(*arguments, **options)
        self.assertEqual(done.returncode, code, text(done.stderr))
        self.assertEqual(done.stdout, b"")
        message = text(done.stderr)
        self.assertTrue(message.startswith("modelrun: error: "), message)
        return message.removeprefix("modelrun: error: ").rstrip("\n")

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path


class Usage(Case):
    def test_every_command_has_help_with_examples(self):
        for command in ((), *((name,) for name in COMMANDS)):
            shown = self.succeed(*command, "--help")
            self.assertIn("Examples:", shown)
            self.assertIn("modelrun", shown)

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^modelrun \d+\.\d+\.\d+\n$")

    def test_wrong_usage_exits_with_2_and_points_at_help(self):
        for arguments, hint in (
                ((), "Try 'modelrun --help'."),
                (("fly",), "Try 'modelrun --help'."),
                (("inspect",), "Try 'modelrun inspect --help'."),
                (("run", "x"), "Try 'modelrun run --help'."),
                (("inspect", "x", "--no-such"), "Try 'modelrun inspect --help'."),
                (("embed", "x"), "Try 'modelrun embed --help'."),
                (("embed", "x", "a", "--output", "a.txt"),
                 "Try 'modelrun embed --help'."),
                (("embed", "x", "a", "--threads", "0"),
                 "Try 'modelrun embed --help'."),
                (("embed", "x", "a", "--option", "bare"),
                 "Try 'modelrun embed --help'."),
                (("similar", "x", "one"), "Try 'modelrun similar --help'.")):
            message = self.refuse(2, *arguments)
            self.assertEqual(message.splitlines()[-1], hint, arguments)

    def test_arguments_that_are_not_utf8_are_refused(self):
        self.assertEqual(self.refuse(3, "inspect", os.fsdecode(b"a\xff")),
                         r"argument 2, 'a\xff', is not UTF-8")

    def test_a_reader_that_has_gone_is_no_error(self):
        process = subprocess.Popen(
            [COMMAND, "inspect", FIXTURES / "llama/onnx"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        process.wait()

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "--version"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(text(done.stderr), "modelrun: error: cannot write to "
                                            "the standard output\n")


class Inspect(Case):
    def test_a_decoder_shows_its_ports_and_trees(self):
        shown = self.succeed("inspect", FIXTURES / "llama-decode/onnx")
        for part in ("format", "onnx", "export.json", "input_ids", "int64",
                     "past_key_values.layers.0.keys", "CausalLMOutputWithPast",
                     "DynamicCache", "transformers 5."):
            self.assertIn(part, shown)

    def test_json_says_the_same(self):
        content = self.as_json("inspect", FIXTURES / "bert/onnx")
        self.assertEqual(content["format"], "onnx")
        component, = content["components"]
        names = [port["name"] for port in component["inputs"]]
        self.assertEqual(sorted(names), ["attention_mask", "input_ids"])
        self.assertTrue(all(len(port["shape"]) == 2
                            for port in component["inputs"]))
        self.assertIn("last_hidden_state",
                      component["output_structure"]["fields"])
        size = sum(path.stat().st_size
                   for path in (FIXTURES / "bert/onnx").glob("model.onnx*"))
        self.assertEqual(component["size"], size)

    def test_one_component_of_several(self):
        content = self.as_json("inspect", FIXTURES / "t5-generation/onnx",
                               "--component", "decode")
        self.assertEqual([part["name"] for part in content["components"]],
                         ["decode"])
        self.assertIn("no component 'fly', there are",
                      self.refuse(3, "inspect", FIXTURES / "t5-generation/onnx",
                                  "--component", "fly"))

    def test_what_is_no_export_is_refused(self):
        self.refuse(3, "inspect", self.folder / "missing")
        self.refuse(3, "inspect", self.folder)
        self.write("export.json", "{")
        self.assertIn("export.json", self.refuse(3, "inspect", self.folder))

    def test_names_from_a_file_cannot_steer_the_terminal(self):
        shutil.copytree(FIXTURES / "bert/onnx", self.folder / "model")
        manifest = self.folder / "model/export.json"
        content = json.loads(manifest.read_text())
        component = content["components"]["model"]
        component["metadata"]["architecture"] = "Bert\x1b[2J\nModel"
        manifest.write_text(json.dumps(content))
        shown = self.succeed("inspect", self.folder / "model")
        self.assertNotIn("\x1b", shown)
        self.assertIn("Bert [2J Model", shown)


class Run(Case):
    def run_case(self, fixture, case, output, *arguments):
        cases = FIXTURES / fixture / "cases"
        return self.as_json("run", FIXTURES / fixture / "onnx", "--inputs",
                            cases / f"{case}.inputs.safetensors", "--output",
                            output, *arguments)

    def test_outputs_are_eagers(self):
        output = self.folder / "out.safetensors"
        summary = self.run_case("bert", "padded", output)
        self.assertEqual(summary["output"], str(output))
        got, _ = read_safetensors(output)
        wanted, _ = read_safetensors(
            FIXTURES / "bert/cases/padded.outputs.safetensors")
        self.assertEqual(set(got), set(wanted))
        for name, (dtype, shape, data) in wanted.items():
            self.assertEqual(got[name][:2], (dtype, shape))
            self.assertLess(max(abs(a - b) for a, b in
                                zip(values(data, "F32"), values(got[name][2], "F32"))), 1e-5)

    def test_every_case_of_every_fixture_is_eagers(self):
        index = json.loads((FIXTURES / "index.json").read_text())
        calls = [(fixture, case) for fixture in index for case in fixture["cases"]
                 if fixture["format"] == "onnx" and fixture["runs"]]
        self.assertGreater(len(calls), 100)

        def call(number):
            fixture, case = calls[number]
            output = self.folder / f"{number}.safetensors"
            return output, modelrun(
                "run", str(FIXTURES / fixture["path"]),
                "--component", case["component"],
                "--inputs", str(FIXTURES / case["inputs"]),
                "--output", str(output), "--threads", "1")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(call, range(len(calls))))
        for (fixture, case), (output, done) in zip(calls, results):
            with self.subTest(fixture=fixture["name"], case=case["name"]):
                self.assertEqual(done.returncode, 0, text(done.stderr))
                self.assert_alike(output, FIXTURES / case["outputs"],
                                  fixture["tolerance"])

    def assert_alike(self, output, golden, tolerance):
        got, _ = read_safetensors(output)
        wanted, _ = read_safetensors(golden)
        self.assertEqual(set(got), set(wanted))
        for name, (dtype, shape, data) in wanted.items():
            self.assertEqual(got[name][:2], (dtype, shape), name)
            if dtype in FLOATS:
                far = max((abs(a - b) for a, b in
                           zip(values(data, dtype), values(got[name][2], dtype))
                           if not (math.isnan(a) and math.isnan(b)) and a != b),
                          default=0)
                self.assertLessEqual(far, tolerance, name)
            else:
                self.assertEqual(got[name][2], data, name)

    def test_a_cache_is_stored_under_its_leaf_paths(self):
        output = self.folder / "out.npz"
        summary = self.run_case("llama-generation", "batch1-prefill", output,
                                "--component", "prefill")
        self.assertEqual(summary["class"], "transformers.modeling_outputs."
                                           "CausalLMOutputWithPast")
        with zipfile.ZipFile(output) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
        self.assertIn("past_key_values.layers.0.keys.npy", names)

    def test_json_files_go_in_and_out(self):
        inputs = self.write("in.json", json.dumps(
            {"input_ids": [[1, 2, 3]], "attention_mask": [[1, 1, 1]]}))
        output = self.folder / "out.json"
        shown = self.succeed("run", FIXTURES / "bert/onnx", "--inputs", inputs,
                             "--output", output)
        self.assertIn("last_hidden_state", shown)
        self.assertIn("[1, 3, 32]", shown)
        hidden = json.loads(output.read_text())["last_hidden_state"]
        self.assertEqual((len(hidden), len(hidden[0]), len(hidden[0][0])),
                         (1, 3, 32))

    def test_wrong_inputs_are_refused_by_name(self):
        missing = self.write("a.json", '{"input_ids": [[1, 2]]}')
        self.assertIn("attention_mask", self.refuse(
            3, "run", FIXTURES / "bert/onnx", "--inputs", missing))
        shape = self.write("b.json", '{"input_ids": [[1, 2]], '
                                     '"attention_mask": [[1, 1, 1]]}')
        self.assertIn("attention_mask", self.refuse(
            3, "run", FIXTURES / "bert/onnx", "--inputs", shape))
        broken = self.write("c.json", '{"input_ids": [[1, 2], [3]]}')
        self.assertIn("c.json: 'input_ids': expected lists of equal lengths",
                      self.refuse(3, "run", FIXTURES / "bert/onnx",
                                  "--inputs", broken))
        self.assertIn("No such file", self.refuse(
            3, "run", FIXTURES / "bert/onnx", "--inputs",
            self.folder / "no.npz"))

    def test_a_missing_runtime_is_a_failure_not_a_refusal(self):
        inputs = self.write("in.json", '{"input_ids": [[1]], '
                                       '"attention_mask": [[1]]}')
        message = self.refuse(1, "run", FIXTURES / "bert/onnx", "--inputs",
                              inputs, "--runtime", self.folder)
        self.assertIn(str(self.folder), message)

    def test_unknown_backends_and_options_are_refused(self):
        inputs = self.write("in.json", '{"input_ids": [[1]], '
                                       '"attention_mask": [[1]]}')
        for option in (("--backend", "fly"), ("--option", "fly=1"),
                       ("--device", "fly")):
            self.assertIn("fly", self.refuse(
                3, "run", FIXTURES / "bert/onnx", "--inputs", inputs, *option))


class Embed(Case):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model"
        shutil.copytree(FIXTURES / "bert/onnx", self.model)
        (self.model / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        (self.model / "tokenizer_config.json").write_text(json.dumps(
            {"pad_token": "[PAD]", "unk_token": "[UNK]",
             "model_max_length": 16}))
        self.vectors = self.as_json("embed", self.model, "a b", "c")[
            "embeddings"]

    def assert_close(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for left, right in zip(got, wanted):
            self.assertLess(max(abs(a - b) for a, b in zip(left, right)), 1e-5)

    def test_json_has_one_vector_a_text(self):
        self.assertEqual([len(row) for row in self.vectors], [32, 32])
        self.assertNotEqual(*self.vectors)

    def test_the_table_shows_each_text(self):
        shown = self.succeed("embed", self.model, "a b", "c")
        self.assertIn("2 texts, 32 dimensions", shown)
        self.assertEqual(len(shown.splitlines()), 5)

    def test_every_input_format_gives_the_same(self):
        inputs = {
            ("lines.txt",): "a b\r\nc\n",
            ("bare.txt",): "a b\nc",
            ("data.jsonl",): '{"text": "a b"}\n{"text": "c", "x": 1}\n',
            ("field.jsonl", "--field", "t"): '{"t": "a b"}\n{"t": "c"}',
            ("data.csv",): 'id,text\r\n1,a b\r\n2,"c"\r\n',
            ("column.csv", "--column", "t,x"):
                '"t,x",id\n"a\nb",1\n"c","say ""2"""\n',
        }
        for (name, *options), content in inputs.items():
            path = self.write(name, content)
            got = self.as_json("embed", self.model, "--input", path, *options)
            self.assertEqual(got["count"], 2)
            self.assert_close(got["embeddings"], self.vectors)
        got = self.as_json("embed", self.model, "--input", "-",
                           stdin=b"a b\nc\n")
        self.assert_close(got["embeddings"], self.vectors)

    def test_every_output_format_holds_the_same(self):
        def embed(name):
            path = self.folder / name
            self.assertEqual(
                self.as_json("embed", self.model, "a b", "c", "--output", path),
                {"count": 2, "dimension": 32, "output": str(path)})
            return path

        lines = [json.loads(line)
                 for line in embed("v.jsonl").read_text().splitlines()]
        self.assertEqual([line["text"] for line in lines], ["a b", "c"])
        self.assert_close([line["embedding"] for line in lines], self.vectors)
        tensors, _ = read_safetensors(embed("v.safetensors"))
        dtype, shape, data = tensors["embeddings"]
        self.assertEqual((dtype, shape), ("F32", [2, 32]))
        self.assert_close([values(data, "F32")[:32], values(data, "F32")[32:]], self.vectors)
        data = embed("v.npy").read_bytes()
        self.assertTrue(data.startswith(b"\x93NUMPY\x01\x00"))
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, "
                      b"'shape': (2, 32), }", data)
        self.assert_close([values(data[128:256], "F32"), values(data[256:], "F32")],
                          self.vectors)

    def test_broken_input_names_the_line(self):
        broken = {
            "a.jsonl": ('{"text": "a"}\n{"text": 1}\n',
                        "line 2: 'text': expected a string, got the number 1"),
            "b.jsonl": ('{"text": "a"}\n\n{"text": "b"}\n', "line 2: is not JSON"),
            "c.jsonl": ('{"t": "a"}\n',
                        "line 1: no field 'text': name one with --field"),
            "a.csv": ("text,id\na,1\nb\n", "line 3: expected 2 fields, got 1"),
            "b.csv": ('text\na\n"b\n', "line 3: a quoted field is not closed"),
            "c.csv": ('text\na"b\n',
                      "line 2: a quote within a field that is not quoted"),
            "d.csv": ('text\n"a"b\n', "line 2: expected a comma or the end of "
                                      "the line after a quoted field"),
            "e.csv": ("id\n1\n", "line 1: no column 'text', there are 'id': "
                                 "name one with --column"),
            "a.txt": (b"a\nb\xff\n", "line 2: is not UTF-8"),
            "b.txt": ("", "b.txt: holds no text"),
        }
        for name, (content, expected) in broken.items():
            path = self.write(name, content)
            message = self.refuse(3, "embed", self.model, "--input", path)
            self.assertIn(expected, message)
            self.assertIn(name, message)
        self.assertIn("No such file", self.refuse(
            3, "embed", self.model, "--input", self.folder / "none.txt"))

    def test_similar_is_one_on_the_diagonal(self):
        got = self.as_json("similar", self.model, "a b", "c", "a b")
        self.assertEqual(got["texts"], ["a b", "c", "a b"])
        matrix = got["similarities"]
        for i in range(3):
            self.assertAlmostEqual(matrix[i][i], 1.0, places=5)
            for j in range(3):
                self.assertAlmostEqual(matrix[i][j], matrix[j][i], places=5)
        self.assertAlmostEqual(matrix[0][2], 1.0, places=5)
        self.assertLess(matrix[0][1], 0.9999)

    def test_similar_draws_a_matrix(self):
        shown = self.succeed("similar", self.model, "a b", "c").splitlines()
        self.assertEqual(len(shown), 3)
        self.assertEqual(shown[0].split(), ["1", "2"])
        self.assertEqual(shown[1].split()[:4], ["1", "a", "b", "1.00"])


class Export(Case):
    """The command that starts Python; here, a script in its place."""

    def python(self, missing="", code=0):
        path = pathlib.Path(self.folder) / "python"
        path.write_text('#!/bin/sh\n'
                        f'[ "$1" = -c ] && {{ echo "{missing}"; exit 0; }}\n'
                        f'printf "%s|" "$@"; exit {code}\n')
        path.chmod(0o755)
        return path

    def test_python_gets_what_was_asked_for(self):
        done = modelrun("export", "a model", "out", "--format", "openvino",
                        "--static", "--generation", "--quantize",
                        "int8-weights", "--json", "--python", self.python())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(text(done.stdout), (
            "-m|modelrun|export|--format|openvino|--quantize|int8-weights|"
            "--static|--generation|--json|--|a model|out|"))

    def test_its_exit_code_is_the_commands(self):
        done = modelrun("export", "a", "b", "--python", self.python(code=3))
        self.assertEqual(done.returncode, 3)

    def test_packages_that_are_missing_are_named_with_the_way_to_add_them(self):
        python = self.python(missing="missing: transformers")
        message = self.refuse(1, "export", "a", "b", "--python", python)
        self.assertIn("has no transformers", message)
        self.assertIn("pip install modelrun[export]", message)
        message = self.refuse(1, "export", "a", "b", "--python", "no-such-one")
        self.assertIn("cannot start no-such-one", message)


class Doctor(Case):
    def test_says_what_is_usable(self):
        done = modelrun("doctor", "--json")
        content = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if content["usable"] else 1)
        self.assertGreaterEqual(content["usable_cores"], 1)
        names = [runtime["backend"] for runtime in content["runtimes"]]
        self.assertIn("onnxruntime", names)

    def test_says_what_is_missing_and_how_to_add_it(self):
        done = modelrun("doctor", MODELRUN_ONNXRUNTIME=str(self.folder))
        shown = text(done.stdout)
        self.assertIn("add it", shown)
        self.assertIn("onnxruntime", shown)
        self.assertIn(str(self.folder), shown)


if __name__ == "__main__":
    unittest.main()
