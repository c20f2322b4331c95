from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import subprocess
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import unseen
from unseen.assessment.resubstitute import resubstitute
from unseen.core.errors import InputError
from unseen.estimators.combined.situation import rule_family
from unseen.models.files.frames import pack, table_of, table_parts, unpack
from unseen.models.files.load import format_of, open_model
from unseen.models.files.sandbox import ModelProcessError
from unseen.models.files.trust import strangers

skops_io = pytest.importorskip("skops.io")


pytestmark = pytest.mark.usefixtures("forked_models")  # but `opened` is of the module, and starts from nothing


@pytest.fixture(scope="module")
def sample():
    return unseen.datasets.load("breast-cancer")


@pytest.fixture(scope="module")
def pipeline(sample):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(sample.X, sample.y)


@pytest.fixture(scope="module")
def file(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    skops_io.dump(pipeline, path)
    return path


@pytest.fixture(scope="module")
def opened(file):
    with open_model(file) as model:
        yield model


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/unseen-was-here",))


class TestRefused:
    @pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
    def test_pickles_of_every_protocol_are_refused_unread(self, tmp_path, protocol):
        path = tmp_path / "model.pkl"
        path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        with pytest.raises(InputError, match="pickle"):
            open_model(path)
        assert not os.path.exists("/tmp/unseen-was-here")

    @pytest.mark.parametrize("protocol", [0, 2, 5])
    def test_a_pickle_in_disguise_is_refused(self, tmp_path, protocol):
        path = tmp_path / "model.skops"
        path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        with pytest.raises(InputError, match="pickle"):
            open_model(path)

    @pytest.mark.parametrize(
        "compress", [("zlib", 1), ("zlib", 3), ("zlib", 9), ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3)]
    )
    def test_compressed_joblib_files_are_refused(self, tmp_path, compress):
        import joblib

        path = tmp_path / "model.bin"
        joblib.dump({"a": np.zeros(100)}, path, compress=compress)
        with pytest.raises(InputError, match="never read here"):
            open_model(path)

    def test_a_torch_archive_is_refused(self, tmp_path):
        path = tmp_path / "net.pt"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("net/data.pkl", pickle.dumps(Bomb()))
        with pytest.raises(InputError, match="PyTorch"):
            open_model(path)

    def test_a_gigabyte_of_zeros_is_refused_at_once(self, tmp_path):
        path = tmp_path / "zeros.skops"
        with path.open("wb") as handle:
            handle.truncate(1 << 30)
        start = time.perf_counter()
        with pytest.raises(InputError, match="zeros"):
            open_model(path)
        assert time.perf_counter() - start < 0.5

    def test_a_file_that_is_too_large_is_refused_at_once(self, tmp_path):
        path = tmp_path / "large.skops"
        with path.open("wb") as handle:
            handle.write(b"PK\x03\x04")
            handle.truncate((1 << 30) + 10)
        with pytest.raises(InputError, match="at most"):
            open_model(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
    def test_truncated_files_are_refused(self, tmp_path, file, share):
        content = file.read_bytes()
        path = tmp_path / "cut.skops"
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(InputError, match="damaged or was cut short"):
            open_model(path)

    def test_a_zip_bomb_is_refused_before_it_unpacks(self, tmp_path):
        path = tmp_path / "bomb.skops"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", "{}")
            for k in range(3):
                archive.writestr(f"{k}.npy", bytes(40 << 20))
        assert path.stat().st_size < 1 << 20
        with pytest.raises(InputError, match="would unpack into 4 parts and 120 MiB"):
            open_model(path, memory_mb=100)

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.skops", b"", "empty"),
            ("a.npy", b"\x93NUMPY\x01", "array of numpy"),
            ("a.txt", b"hello, world, this is text", "no model file"),
            ("a.onnx", b"hello, world", "not an ONNX graph"),
            ("a.safetensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}", "safetensors"),
            ("a.h5", b"\x89HDF\r\n", "HDF5"),
        ],
    )
    def test_other_files_get_a_sentence(self, tmp_path, name, content, words):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=words):
            format_of(path)

    def test_missing_files_folders_and_limits(self, tmp_path, file):
        with pytest.raises(InputError, match="there is no file"):
            open_model(tmp_path / "nothing.skops")
        with pytest.raises(InputError, match="folder"):
            open_model(tmp_path)
        with pytest.raises(InputError, match="memory_mb"):
            open_model(file, memory_mb=1)
        with pytest.raises(InputError, match="seconds"):
            open_model(file, seconds=0)

    @pytest.mark.slow
    @pytest.mark.sample
    def test_a_schema_that_fills_the_memory_does_so_in_the_other_process(self, tmp_path):
        path = tmp_path / "schema.skops"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", "[" + "[]," * 10_000_000 + "[]]")  # 30 MB of text, some 600 MB of lists
        assert path.stat().st_size < 100_000
        tracemalloc.start()
        with pytest.raises(ModelProcessError, match=r"schema\.skops' cannot be opened: the model needs more memory"):
            open_model(path, memory_mb=256)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6, f"{peak / 1e6:.0f} MB here"

    def test_an_archive_of_too_many_parts_is_not_listed(self, tmp_path, monkeypatch):
        path = tmp_path / "many.skops"
        with zipfile.ZipFile(path, "w") as archive:
            for k in range(11):
                archive.writestr(f"{k}", "")
        monkeypatch.setattr("unseen.models.files.load.LARGEST_ENTRIES", 10)
        monkeypatch.setattr(zipfile, "ZipFile", None)
        with pytest.raises(InputError, match="lists more than 10 parts"):
            open_model(path)

    @pytest.mark.parametrize("schema", ["{", "[" * 100_000, "\x00"])
    def test_a_damaged_schema_is_refused(self, tmp_path, schema):
        path = tmp_path / "damaged.skops"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("schema.json", schema)
        with pytest.raises(InputError, match="refused: it is damaged"):
            open_model(path)

    def test_an_archive_without_schema_is_refused(self, tmp_path):
        path = tmp_path / "a.skops"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
        with pytest.raises(InputError, match="without a skops schema"):
            open_model(path)


def _forged(path, **node):
    """A skops file whose root is a node of the forger's choice."""
    schema = {"protocol": 2, "_skops_version": "0.16.0", "__id__": 1, **node}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    return path


class TestTrust:
    def test_a_function_outside_the_list_is_named_and_not_called(self, tmp_path):
        forged = _forged(
            tmp_path / "f.skops", __class__="system", __module__="posix", __loader__="FunctionNode", content=""
        )
        with pytest.raises(InputError, match=r"posix\.system"):
            open_model(forged)

    def test_types_outside_the_list_are_named_and_trust_is_explicit(self, tmp_path, sample):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer
        from sklearn.tree import DecisionTreeClassifier

        model = make_pipeline(FunctionTransformer(np.nan_to_num), DecisionTreeClassifier(max_depth=1)).fit(
            sample.X, sample.y
        )
        path = tmp_path / "f.skops"
        skops_io.dump(model, path)
        with pytest.raises(InputError, match=r"reviewed list: numpy\.nan_to_num.*trusted"):
            open_model(path)
        with open_model(path, trusted=["numpy.nan_to_num"]) as opened:
            assert np.array_equal(opened.predict(sample.X), model.predict(sample.X))

    @pytest.mark.parametrize("loader", ["MethodNode", "PartialNode", "OperatorFuncNode", "ReduceNode", "AnythingElse"])
    def test_nodes_that_call_what_the_file_names_are_strangers_whatever_their_module(self, loader):
        node = {"__class__": "Tree", "__module__": "sklearn.tree._tree", "__loader__": loader}
        assert strangers({"content": {"deep": [node]}}, [], []) == ["sklearn.tree._tree.Tree"]

    def test_a_transformer_cannot_predict(self, tmp_path, sample):
        from sklearn.preprocessing import StandardScaler

        path = tmp_path / "scaler.skops"
        skops_io.dump(StandardScaler().fit(sample.X), path)
        with pytest.raises(InputError, match="cannot predict"):
            open_model(path)


class TestAnswers:
    def test_predictions_and_scores_are_those_of_the_object(self, opened, pipeline, sample):
        assert np.array_equal(opened.predict(sample.X), pipeline.predict(sample.X))
        assert np.array_equal(opened.decision_function(sample.X), pipeline.decision_function(sample.X))
        assert not hasattr(opened, "predict_proba")
        assert opened.classes_.tolist() == pipeline.classes_.tolist()
        assert opened.n_features_in_ == sample.n_features

    def test_the_linear_rule_and_the_steps_cross_as_arrays(self, opened, pipeline, sample):
        coef, intercept = opened.linear()
        assert np.array_equal(coef, pipeline[-1].coef_)
        assert np.array_equal(intercept, pipeline[-1].intercept_)
        assert np.array_equal(opened[:-1].transform(sample.X), pipeline[:-1].transform(sample.X))
        assert type(opened.steps[0][1]).__name__ == "StandardScaler"

    def test_estimates_equal_those_of_the_object_bit_for_bit(self, opened, pipeline, sample):
        methods = ["resub", "bolster", "semi-bolster", "posterior", "bolster-posterior"]
        ours = resubstitute(opened, sample, methods=methods, random_state=3)
        theirs = resubstitute(pipeline, sample, methods=methods, random_state=3)
        assert [e.value for e in ours.estimates] == [e.value for e in theirs.estimates]
        assert ours["bolster"].integration == "exact"
        assert ours["bolster"].space == theirs["bolster"].space == "after StandardScaler"
        assert all(e.n_fits == 0 for e in ours.estimates)

    def test_a_wrong_number_of_features_is_a_sentence(self, opened, sample):
        with pytest.raises(InputError, match="30 features and X has 3"):
            resubstitute(opened, sample.X[:, :3], sample.y, methods=["bolster"])
        with pytest.raises(ModelProcessError, match="features"):
            opened.predict(sample.X[:, :3])

    def test_methods_that_retrain_refuse_a_file(self, opened, sample):
        with pytest.raises(InputError):
            unseen.estimate(opened, sample, method="kfold", fitted=True)
        with pytest.raises(InputError):
            unseen.estimate(opened, sample, method="calibrated-bolster", fitted=True)

    def test_kinds_of_model(self, tmp_path, sample):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import GridSearchCV
        from sklearn.neighbors import KNeighborsClassifier

        path = tmp_path / "m.skops"
        some = sample.X[:50]
        for model in (
            GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3),
            RandomForestClassifier(5, random_state=0),
        ):
            skops_io.dump(model.fit(sample.X, sample.y), path)
            with open_model(path) as opened:
                assert np.array_equal(opened.predict_proba(some), model.predict_proba(some))
                assert opened.linear() is None
                assert rule_family(opened) == rule_family(model)

    def test_frames_with_text_and_missing_values_cross(self, tmp_path):
        import pandas as pd
        from sklearn.compose import make_column_transformer
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        frame = pd.DataFrame({"colour": ["red", "blue", None, "red"] * 10, "size": [1.0, np.nan, 3.0, 4.0] * 10})
        y = np.array(["no", "yes", "yes", "no"] * 10)
        prepare = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["colour"]), (SimpleImputer(), ["size"])
        )
        model = make_pipeline(prepare, LogisticRegression()).fit(frame, y)
        path = tmp_path / "m.skops"
        skops_io.dump(model, path)
        with open_model(path) as opened:
            assert opened.predict(frame).tolist() == model.predict(frame).tolist()
            assert np.allclose(opened.predict_proba(frame), model.predict_proba(frame), rtol=0, atol=1e-12)


class TestLimits:
    def test_time_is_limited_and_the_process_is_gone(self, file, sample):
        with open_model(file, seconds=30) as model:
            process = model._sandbox._process
            model._sandbox.seconds = -2.999
            many = np.tile(sample.X, (100, 1))
            with pytest.raises(ModelProcessError, match="was stopped"):
                model.predict(many)
            assert process.poll() is not None
            with pytest.raises(ModelProcessError, match="has ended"):
                model.predict(sample.X)

    def test_memory_is_limited(self, file, sample):
        with open_model(file, memory_mb=64) as model, pytest.raises(ModelProcessError, match=r"memory|crashed"):
            model.predict(np.tile(sample.X, (2000, 1)))

    def test_a_dead_process_is_reported(self, file, sample):
        with open_model(file) as model:
            model._sandbox._process.kill()
            with pytest.raises(ModelProcessError):
                model.predict(sample.X)

    def test_the_child_may_not_write_start_or_connect(self):
        code = (
            "import sys, os, socket, subprocess; from unseen.models.files.child import _lock_down; _lock_down()\n"
            "def tried(f):\n"
            "    try: f()\n"
            "    except PermissionError: return 'refused'\n"
            "    except BaseException as e: return repr(e)\n"
            "    return 'done'\n"
            "print([tried(lambda: open('/tmp/unseen-x', 'w')), tried(lambda: os.system('true')), tried(lambda: subprocess.run(['true'])),\n"
            "       tried(lambda: socket.socket()), tried(lambda: __import__('pickle').loads(b'cposix\\nsystem\\n.')), tried(lambda: os.fork()),\n"
            "       tried(lambda: os.open('/tmp/unseen-x', os.O_WRONLY | os.O_CREAT)), tried(lambda: open(os.devnull).close())])"
        )
        import sys

        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert out.stdout.strip() == str([*["refused"] * 7, "done"])


class TestOnnx:
    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, sample):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression()).fit(sample.X, sample.y)

    @pytest.fixture(scope="class")
    @classmethod
    def graph(cls, model, sample, tmp_path_factory):
        pytest.importorskip("onnxruntime")
        skl2onnx = pytest.importorskip("skl2onnx")
        path = tmp_path_factory.mktemp("onnx") / "model.onnx"
        path.write_bytes(skl2onnx.to_onnx(model, sample.X[:1].astype(np.float32)).SerializeToString())
        return path

    def test_a_graph_answers_like_the_model_it_came_from(self, graph, model, sample):
        with open_model(graph) as opened:
            assert np.mean(opened.predict(sample.X) == model.predict(sample.X)) > 0.995
            assert np.allclose(opened.predict_proba(sample.X), model.predict_proba(sample.X), atol=1e-4)
            found = resubstitute(opened, sample, methods=["resub", "bolster"], random_state=0)
            assert found["resub"].value == pytest.approx(np.mean(model.predict(sample.X) != sample.y), abs=2 / sample.n)
            assert found["bolster"].space == "standardised columns"
            assert [n.code for n in found["bolster"].notes] == ["U046"]
            raw = resubstitute(opened, sample, methods=["bolster"], options={"space": "input"}, random_state=0)
            assert raw["bolster"].space == "input"

    def test_the_same_pipeline_has_the_same_error_in_every_format(self, graph, model, sample, tmp_path):
        """Scaled by its own scaler in a skops file, by the columns of the training data in a graph: the same kernels."""
        skops_io = pytest.importorskip("skops.io")
        skops_io.dump(model, tmp_path / "model.skops")
        found = {}
        for path in (tmp_path / "model.skops", graph):
            with open_model(path) as opened:
                found[path.suffix] = resubstitute(opened, sample, methods=["bolster"], random_state=0)["bolster"]
        here = unseen.resubstitution.bolster(model, sample.X, sample.y, random_state=0)
        assert found[".skops"].value == here.value
        # an integral by points instead of the exact one, and float32
        assert found[".onnx"].value == pytest.approx(here.value, abs=4 * found[".onnx"].mc_error + 0.002)
        assert found[".onnx"].bandwidth == pytest.approx(found[".skops"].bandwidth)

    def test_a_bare_model_too(self, sample, tmp_path):
        from sklearn.neighbors import KNeighborsClassifier

        skops_io, skl2onnx = pytest.importorskip("skops.io"), pytest.importorskip("skl2onnx")
        X = sample.X.astype(np.float32)
        bare = KNeighborsClassifier(5).fit(X, sample.y)
        skops_io.dump(bare, tmp_path / "model.skops")
        (tmp_path / "model.onnx").write_bytes(skl2onnx.to_onnx(bare, X[:1]).SerializeToString())
        values = []
        for name in ("model.skops", "model.onnx"):
            with open_model(tmp_path / name) as opened:
                e = resubstitute(opened, sample, methods=["bolster"], random_state=0)["bolster"]
            assert e.space == "standardised columns"
            values.append(e.value)
        assert values[0] == pytest.approx(values[1], abs=0.01)

    def test_a_table_of_scores_takes_labels(self, model, sample, tmp_path):
        skl2onnx = pytest.importorskip("skl2onnx")
        onnx = pytest.importorskip("onnx")
        made = skl2onnx.to_onnx(model, sample.X[:1].astype(np.float32), options={id(model): {"zipmap": False}})
        for k in reversed(range(len(made.graph.output))):
            if "label" in made.graph.output[k].name:
                del made.graph.output[k]
        path = tmp_path / "scores.onnx"
        path.write_bytes(made.SerializeToString())
        onnx.checker.check_model(made)
        with open_model(path, classes=["ill", "well"]) as opened:
            named = opened.predict(sample.X[:20])
        renamed = dict(zip(model.classes_, ["ill", "well"]))
        assert named.tolist() == [renamed[v] for v in model.predict(sample.X[:20])]
        assert set(named) == {"ill", "well"}
        with pytest.raises(InputError, match="3 labels"):
            open_model(path, classes=["a", "b", "c"])

    def test_damaged_graphs_are_refused(self, graph, tmp_path):
        path = tmp_path / "cut.onnx"
        path.write_bytes(graph.read_bytes()[:300])
        with pytest.raises((InputError, ModelProcessError), match=r"failed|refused"):
            open_model(path)


def test_frames_survive_the_wire_and_refuse_objects():
    import pandas as pd
    from scipy.sparse import csr_matrix

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.5, np.nan]})
    for table in (np.arange(6.0).reshape(2, 3), csr_matrix(np.eye(3)), frame):
        message, arrays = table_parts(table)
        stream = io.BytesIO(b"".join(pack(message, arrays)))
        back_message, back, _ = unpack(stream.read)
        again = table_of(back_message, back)
        if hasattr(table, "iloc"):
            assert again["a"].tolist() == [1, 2]
            assert again["b"][0] == "x"
            assert pd.isna(again["b"][1])
            assert again["c"][0] == 1.5
        else:
            dense = [t.toarray() if hasattr(t, "toarray") else t for t in (table, again)]
            assert np.array_equal(*dense)
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        pack({}, [np.array([{}], dtype=object)])


def test_gzip_is_recognised(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(gzip.compress(b"x" * 100))
    with pytest.raises(InputError, match="gzip"):
        format_of(path)
