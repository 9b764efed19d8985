// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace modelrun::cli {

/// What Python runs to compile one program: arguments are the manifest ("" for
/// none), the component, the program and the file to write. It writes lines of
/// JSON after `modelrun: `; other lines are what torch says meanwhile. Exit
/// code 3: something that it needs is not installed.
constexpr const char* kCompileScript = R"py(
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile

CODE = "data/aotinductor/model/"
# What a compiler for this processor may use.
FEATURES = r"(sse|ssse|avx|fma|f16c|bmi|amx|popcnt|movbe|abm|asimd|sve|bf16|i8mm)"


def say(**fields):
    print("modelrun: " + json.dumps(fields), flush=True)


def leave_out_libtorch(folder):
    """libtorch.so has no code that is needed, but opens all of CUDA."""
    compiler = os.environ.get("CXX", "g++")
    wrapper = os.path.join(folder, os.path.basename(compiler.split()[0]))
    with open(wrapper, "w") as file:
        file.write(
            "#!/bin/sh\n"
            "for word do shift; "
            '[ "$word" = -ltorch ] || set -- "$@" "$word"; done\n'
            f'exec {compiler} "$@"\n'
        )
    os.chmod(wrapper, 0o700)
    os.environ["CXX"] = wrapper


def register_types(manifest, component):
    """The classes that the program takes and returns."""
    if not manifest:
        return
    with open(manifest) as file:
        metadata = json.load(file)["components"][component]["metadata"]
    from transformers.exporters.metadata import register_treespec_types

    for spec in (metadata["in_spec"], metadata["out_spec"]):
        register_treespec_types(spec)


def processor_features():
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, words = line.partition(":")
            if name.strip() in ("flags", "Features"):
                found = (w for w in words.split() if re.match(FEATURES, w))
                return sorted(found)
    return []


def copy_records(source, target, folder):
    """Stored as they are: they are mapped, never unpacked."""
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            name = info.filename.partition("/")[2]
            if not name.startswith(folder):
                continue
            with archive.open(info) as record:
                with target.open("model/" + name, "w", force_zip64=True) as copy:
                    shutil.copyfileobj(record, copy)


def compile_program(manifest, component, source, target):
    with tempfile.TemporaryDirectory() as folder:
        leave_out_libtorch(folder)
        try:
            import torch

            register_types(manifest, component)
        except ImportError as error:
            say(missing=str(error))
            sys.exit(3)
        say(torch=torch.__version__)
        program = torch.export.load(source)
        if program.example_inputs is None:
            say(error="it was saved without its sample inputs: export it again")
            sys.exit(1)
        package = os.path.join(folder, "package.pt2")
        with torch.no_grad():
            torch._inductor.aoti_compile_and_package(
                program,
                package_path=package,
                inductor_configs={
                    "cpp.dynamic_threads": True,
                    "cpp_cache_precompile_headers": False,
                    "aot_inductor.check_lowerbound": False,
                },
            )
        features = {"processor_features": processor_features()}
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            copy_records(source, archive, "models/")
            copy_records(package, archive, CODE)
            archive.writestr("model/" + CODE + "modelrun.json", json.dumps(features))


compile_program(*sys.argv[1:5])
)py";

}  // namespace modelrun::cli
