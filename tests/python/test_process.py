# SPDX-License-Identifier: Apache-2.0
"""Threads, asyncio, forks, pickling and Ctrl-C."""

import asyncio
import concurrent.futures
import copy
import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import goldens
import modelrun
from conftest import open_export, run_python

IDS = np.array([[2, 45, 17, 3]])
MASK = np.ones_like(IDS)


def hidden(model, ids):
    return model(input_ids=ids, attention_mask=np.ones_like(ids))[0]


def test_many_threads_at_once(bert):
    inputs = [np.array([[2, 45 + i % 8, 17, 3 + i % 5]]) for i in range(40)]
    want = [hidden(bert, ids) for ids in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            got = list(pool.map(lambda ids: hidden(bert, ids), inputs))
            assert all(map(np.array_equal, got, want))


def test_threads_that_load(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        models = list(pool.map(
            lambda _: modelrun.ExportedModel.from_pretrained(
                goldens.path_of("bert"), threads=1), range(3)))
    assert len({hidden(model, IDS).tobytes() for model in models}) == 1


def test_other_threads_go_on_during_a_run():
    # A run of a Python backend that waits for another Python thread.
    from test_custom_backend import write_export

    import tempfile
    import pathlib

    started, seen = threading.Event(), threading.Event()

    class Waits:
        inputs = []
        outputs = [("last_hidden_state", "bool", [])]

        def __init__(self, program):
            pass

        def run(self, inputs):
            started.set()
            return [np.array(seen.wait(30))]

    modelrun.register_backend("waits", Waits)
    with tempfile.TemporaryDirectory() as folder:
        write_export(pathlib.Path(folder), "waits",
                     outputs=("last_hidden_state",))
        model = modelrun.ExportedModel.from_pretrained(folder)

        def answer():
            started.wait(30)
            seen.set()

        thread = threading.Thread(target=answer)
        thread.start()
        assert bool(model().last_hidden_state)
        thread.join()


def test_asyncio(bert):
    async def both():
        return await asyncio.gather(*(
            asyncio.to_thread(hidden, bert, IDS) for _ in range(4)))

    got = asyncio.run(both())
    assert all(np.array_equal(each, hidden(bert, IDS)) for each in got)


@pytest.mark.parametrize("use", [pickle.dumps, copy.deepcopy, copy.copy])
def test_pickling_is_refused_with_the_recipe(bert, use):
    with pytest.raises(TypeError, match="from_pretrained\\('.*bert/onnx'\\)"):
        use(bert)


@pytest.mark.parametrize("make, recipe", [
    (lambda bert, kwargs: bert(**kwargs), "to_tuple"),
    (lambda bert, kwargs: bert(**kwargs, return_type="dlpack")[0], "numpy"),
    (lambda bert, kwargs: bert.bind(**kwargs), "bind the model anew"),
])
def test_what_belongs_to_a_model_is_not_pickled(bert, make, recipe):
    made = make(bert, {"input_ids": IDS, "attention_mask": MASK})
    with pytest.raises(TypeError, match=recipe):
        pickle.dumps(made)


def load_and_run(path):
    model = modelrun.ExportedModel.from_pretrained(path, threads=1)
    return hidden(model, IDS)


def test_spawned_processes_load_their_own(bert):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        got = pool.apply(load_and_run, (goldens.path_of("bert"),))
    assert np.array_equal(got, hidden(bert, IDS))


def test_fork_after_load_is_refused():
    printed = run_python(f"""
        import os, sys
        import numpy as np
        import modelrun
        ids = np.array([[2, 45, 17, 3]])
        path = {goldens.path_of("bert")!r}
        model = modelrun.ExportedModel.from_pretrained(path, threads=2)
        bound = model.bind(input_ids=ids, attention_mask=np.ones_like(ids))
        outputs = bound()
        child = os.fork()
        if child == 0:
            for call in (bound, model, model.report, model.warmup,
                         lambda: model.to("cpu").report() and sys.exit(0)):
                try:
                    call() if call is not model else model(
                        input_ids=ids, attention_mask=np.ones_like(ids))
                except modelrun.Error as error:
                    print("refused" if "spawn" in str(error) else error)
            fresh = modelrun.ExportedModel.from_pretrained(path, threads=1)
            print(fresh(input_ids=ids, attention_mask=np.ones_like(ids))[0].shape)
            del model, bound, outputs, fresh
            sys.stdout.flush()
            # As multiprocessing does: the runtime's own exit waits for the
            # parent's threads.
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        model(input_ids=ids, attention_mask=np.ones_like(ids))
        print("parent goes on")
        """)
    assert printed.splitlines() == ["refused"] * 5 + ["(1, 4, 32)",
                                                      "parent goes on"]


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    sys.path.insert(0, "tests/python")
    import modelrun
    {setup}
    def interrupt():
        started.wait()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
    started = threading.Event()
    threading.Thread(target=interrupt).start()
    begin = time.monotonic()
    try:
        started.set()
        {call}
    except KeyboardInterrupt:
        took = time.monotonic() - begin
        assert took < 5, took
        print("interrupted")
    {after}
    """


def long_graph(path, steps):
    """A loop that takes long, as an ONNX graph."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]),
         helper.make_node("MatMul", ["m", "m"], ["p"]),
         helper.make_node("Sigmoid", ["p"], ["next"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("m", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [64, 64])])
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor("n", TensorProto.INT64, [], [steps])])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)


def test_interrupt_ends_a_native_run(tmp_path):
    path = str(tmp_path / "loop.onnx")
    long_graph(path, 10**9)
    printed = run_python(INTERRUPTED.format(
        setup=f"model = modelrun.ExportedModel.from_pretrained({path!r}, "
              "threads=1); x = np.ones((64, 64), 'float32')",
        call="model(x=x)", after="print(signal.getsignal(signal.SIGINT) "
                                 "is signal.default_int_handler)"))
    assert printed.splitlines() == ["interrupted", "True"]


def test_interrupt_ends_a_bound_run(tmp_path):
    path = str(tmp_path / "loop.onnx")
    long_graph(path, 10**9)
    printed = run_python(INTERRUPTED.format(
        setup=f"model = modelrun.ExportedModel.from_pretrained({path!r}, "
              "threads=1); x = np.ones((64, 64), 'float32'); "
              "bound = model.bind(x=x)",
        call="bound()", after=""))
    assert printed.splitlines() == ["interrupted"]


SLOW = """
    from test_custom_backend import write_export
    import pathlib, tempfile
    class Slow:
        inputs = []
        outputs = [("last_hidden_state", "bool", [])]
        def __init__(self, program):
            for _ in range({loops}): time.sleep(0.1)
            print("loaded")
        def run(self, inputs): return [np.array(True)]
    modelrun.register_backend("slow", Slow)
    folder = pathlib.Path(tempfile.mkdtemp())
    write_export(folder, "slow", outputs=("last_hidden_state",))
"""


def test_interrupt_leaves_a_load():
    printed = run_python(INTERRUPTED.format(
        setup=SLOW.format(loops=10).strip(),
        call="modelrun.ExportedModel.from_pretrained(folder)",
        after="begin = time.monotonic()"))
    # The load that was left to itself ends before the process does.
    assert printed.splitlines() == ["interrupted", "loaded"]


def test_interrupt_of_a_handler_of_ones_own():
    printed = run_python("""
        import os, signal
        import numpy as np
        import modelrun
        calls = []
        signal.signal(signal.SIGINT, lambda *_: calls.append(1))
        model = modelrun.ExportedModel.from_pretrained(
            "tests/models/fixtures/bert/onnx", threads=1)
        ids = np.array([[2, 45, 17, 3]])
        for _ in range(20):
            model(input_ids=ids, attention_mask=np.ones_like(ids))
            os.kill(os.getpid(), signal.SIGINT)
        print(len(calls))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        model(input_ids=ids, attention_mask=np.ones_like(ids))
        os.kill(os.getpid(), signal.SIGINT)
        print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
        """)
    assert printed.split() == ["20", "True"]


def test_warnings_go_to_the_logger(bert, caplog):
    model = open_export("bert-static")
    ids = np.zeros(tuple(int(n) for n in model.program.inputs[0].shape),
                   "int64")
    model(input_ids=ids, attention_mask=ids + 1, nonsense=1)
    assert [(record.name, record.levelname) for record in caplog.records
            if "nonsense" in record.message] == [("modelrun", "WARNING")]
