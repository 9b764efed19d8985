#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build, and uses it as other projects do.

    install_test.py REPOSITORY BUILD_FOLDER MODEL_OF_SENTENCES
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY, BUILD, SENTENCES = map(pathlib.Path, sys.argv[1:4])
FIXTURES = REPOSITORY / "tests/models/fixtures"
EXAMPLES = REPOSITORY / "examples/cpp"
BERT = FIXTURES / "bert/onnx"


def run(*command, environment=None) -> str:
    done = subprocess.run(
        [str(part) for part in command], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(os.environ, **(environment or {})))
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n"
                             f"{done.stdout}")
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        installed = cls.folder / "installed"
        run("cmake", "--install", BUILD, "--prefix", installed)
        # An installed tree may be moved: nothing may know where it was.
        cls.prefix = installed.rename(cls.folder / "moved")
        cls.packages = next(cls.prefix.rglob("pkgconfig"))
        cls.libraries = cls.packages.parent

    def pkg_config(self, *arguments) -> "list[str]":
        return run("pkg-config", *arguments, "modelrun",
                   environment={"PKG_CONFIG_PATH": str(self.packages)}).split()

    def test_find_package_builds_examples_that_run(self):
        build = self.folder / "examples"
        run("cmake", "-S", EXAMPLES, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        called = run(build / "call_model", BERT)
        self.assertIn("last_hidden_state", called)
        first = called.split("first element: ")[1].strip()
        repeated = run(build / "repeat_call", BERT).splitlines()
        self.assertEqual([line.split(":")[0] for line in repeated],
                         ["4", "5", "6", "7"])
        self.assertEqual(len({first, *repeated}), 5)
        decoded = run(build / "decode", FIXTURES / "llama-generation/onnx")
        self.assertEqual(len(decoded.split()), 8)
        scores = [float(line.split()[0])
                  for line in run(build / "embed", SENTENCES).splitlines()]
        self.assertEqual(scores.index(max(scores)), 1)

    def test_pkg_config_builds_a_program_that_runs(self):
        program = self.folder / "call_model"
        run("g++", "-std=c++20", EXAMPLES / "call_model.cpp", "-o", program,
            *self.pkg_config("--cflags", "--libs"))
        printed = run(program, BERT, environment={
            "LD_LIBRARY_PATH": str(self.libraries)})
        self.assertIn("last_hidden_state", printed)

    def test_plugin_contract_compiles_as_c(self):
        source = self.folder / "plugin.c"
        source.write_text("#include <modelrun/backend.h>\n"
                          "int abi(void) { return MODELRUN_BACKEND_ABI; }\n")
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", source,
            "-o", self.folder / "plugin.o", *self.pkg_config("--cflags"))

    def test_installed_command_finds_its_library_and_plugins(self):
        printed = run(self.prefix / "bin/modelrun", "inspect", BERT)
        self.assertIn("last_hidden_state", printed)
        plugins = [path.name for path in (self.libraries / "modelrun").iterdir()]
        self.assertIn("modelrun_onnxruntime.so", plugins)
        self.assertIn("onnxruntime", run(self.prefix / "bin/modelrun", "doctor"))

    def test_shared_library_has_its_version_in_its_name(self):
        version = self.pkg_config("--modversion")[0]
        soname = "libmodelrun.so." + ".".join(version.split(".")[:2])
        self.assertTrue((self.libraries / soname).is_symlink())
        self.assertTrue((self.libraries / f"libmodelrun.so.{version}").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
