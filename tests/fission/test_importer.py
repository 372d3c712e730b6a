"""Reading models: what is wrong is named in one line, what is merely unusual is prepared."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from korch import limits
from korch.errors import ModelError, NeedsSegments
from korch.fission import fission
from korch.fission.importer import read

from .oracle import check_model, values


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    """A model written in ONNX's text form; `text` begins with the signature of the graph."""
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "local": 1]>\ng {text}')


def refused(source: object, *words: str, **options: object) -> None:
    """Reading and taking apart `source` raises a ModelError of one line that has all `words`."""
    with pytest.raises(ModelError) as caught:
        fission(read(source, **options))  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text


RELU = "(float[2,3] x) => (float[2,3] y) { y = Relu(x) }"


# Files ---------------------------------------------------------------------------------------------------------


def test_a_path_bytes_and_a_proto_read_alike(tmp_path: Path):
    m = model(RELU)
    onnx.save(m, tmp_path / "m.onnx")
    for source in (m, m.SerializeToString(), tmp_path / "m.onnx", str(tmp_path / "m.onnx")):
        assert [n.op_type for n in read(source).graph.node] == ["Relu"]


def test_the_given_model_stays_as_it_is():
    m = model("(float[N,3] x) => (float[N,3] y) { y = Relu(x) }")
    before = m.SerializeToString()
    read(m, {"x": (2, 3)})
    assert m.SerializeToString() == before


def test_files_that_are_no_models(tmp_path: Path):
    refused(tmp_path / "none.onnx", "none.onnx", "No such file")
    refused(tmp_path, "cannot be read")
    refused(b"\xff\xff not a model", "not an ONNX model")
    refused(b"", "not an ONNX model")
    (tmp_path / "cut.onnx").write_bytes(model(RELU).SerializeToString()[:-5])
    refused(tmp_path / "cut.onnx", "cut.onnx", "not an ONNX model")


def external(tmp_path: Path, **entries: str) -> Path:
    """A model whose weight lies in w.bin, with the given entries in its reference."""
    w = values(2, 3)
    (tmp_path / "w.bin").write_bytes(b"\0" * 8 + w.tobytes())
    m = model("(float[2,3] x) => (float[2,3] y) <float[2,3] w = {0,0,0,0,0,0}> { y = Add(x, w) }")
    t = m.graph.initializer[0]
    t.ClearField("float_data")
    t.ClearField("raw_data")
    t.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": "w.bin", "offset": "8", "length": "24"} | entries).items():
        t.external_data.add(key=key, value=value)
    path = tmp_path / "model.onnx"
    path.write_bytes(m.SerializeToString())
    return path


def test_external_data_is_loaded(tmp_path: Path):
    m = read(external(tmp_path))
    np.testing.assert_array_equal(numpy_helper.to_array(m.graph.initializer[0]), values(2, 3))
    assert not m.graph.initializer[0].external_data


def test_external_data_that_escapes_is_missing_or_short(tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"\0" * 100)
    (folder / "link").symlink_to(tmp_path / "secret")
    for location in ("../secret", str(tmp_path / "secret"), "link", "", "a/../../secret"):
        refused(external(folder, location=location), "'w'", "outside")
    refused(external(folder, location="gone.bin"), "'w'", "missing")
    refused(external(folder, length="4000"), "'w'", "ends at byte 4008")
    refused(external(folder, offset="x"), "'w'", "malformed")
    refused(external(folder, length="20"), "'w'", "malformed")
    refused(external(folder, location="a\0b"), "'w'", "no usable file name")
    refused(external(folder, location="a" * 5000), "'w'", "no usable file name")
    refused(external(folder).read_bytes(), "'w'", "path of the model")


# Structure -----------------------------------------------------------------------------------------------------


def test_a_model_that_is_a_link_may_have_its_data_beside_what_it_links_to(tmp_path: Path):
    """As in caches of downloads, where files are kept under names of their own."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    original = external(tmp_path)
    data = next(f for f in original.parent.iterdir() if f != original and f.is_file())
    for file, blob in ((original, "a"), (data, "b")):
        file.rename(blobs / blob)
        (snapshot / file.name).symlink_to(blobs / blob)
    assert not read(snapshot / original.name).graph.initializer[0].external_data
    (snapshot / original.name).unlink()
    (snapshot / original.name).write_bytes((blobs / "a").read_bytes())
    refused(snapshot / original.name, "'w'", "outside")


def test_graphs_that_are_none():
    refused(model("(float[2] x) => (float[2] y) { y = Add(x, q) }"), "Add", "'q'", "nothing defines")
    refused(model("(float[2] x) => (float[2] z) { y = Relu(x) }"), "'z'", "nothing defines")
    refused(model("(float[2] x) => (float[2] y) { y = Relu(x) y = Abs(x) }"), "Abs", "'y'", "already")
    refused(model("(float[2] x) => (float[2] y) { x = Relu(x) y = Abs(x) }"), "Relu", "'x'", "already")
    refused(model("(float[2] x) => (float[2] a) { a = Add(x, b) b = Relu(a) }"), "cycle", "Add", "Relu")
    refused(model("(float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }"), "'x'", "twice")


def test_nodes_out_of_order_are_sorted():
    m = model("(float[2] x) => (float[2] y) { y = Relu(b) b = Abs(a) a = Neg(x) }")
    assert [n.op_type for n in read(m).graph.node] == ["Neg", "Abs", "Relu"]


@pytest.mark.parametrize("version", [-1, 2**31, 2**63 - 1])
def test_versions_that_are_none(version: int):
    m = model("(float[2] x) => (float[2] y) { y = Relu(x) }")
    m.ir_version = version
    refused(m, "ir_version", "no version")
    m.ir_version = 8
    m.opset_import.add(domain="own", version=version)
    refused(m, "own", "no version")


@pytest.mark.parametrize("name", ["Relu", "x", "graph"])
def test_names_are_text(name: str):
    text = model("(float[2] x) => (float[2] y) { y = Relu(x) }")
    text.graph.name = "graph"
    damaged = text.SerializeToString().replace(name.encode(), name[:-1].encode() + b"\xd4")
    refused(damaged, "no UTF-8 text")


def test_nodes_that_do_not_fit_their_operator():
    refused(model("(float[2] x) => (float[2] y) { y = Frobnicate(x) }"), "Frobnicate", "malformed")
    refused(model("(float[2] x) => (float[2] y) { y = Add(x) }"), "Add", "malformed")
    refused(model("(float[2] x) => (float[2] y) { y = local.Strange(x) }"), "Strange", "onnxruntime refuses it")
    refused(model("(float[2,3] x, float[4] z) => (float[2,3] y) { y = Add(x, z) }"), "Add", "shape")


def test_operators_that_onnxruntime_puts_into_the_domain_of_onnx():
    text = "(float[2,8] x, float[8] s) => (float[2,8] y) { y = SimplifiedLayerNormalization<axis=-1>(x, s) }"
    check_model(read(model(text)), {"x": values(2, 8), "s": values(8)})


def test_layer_normalization_that_onnxruntime_puts_into_older_models():
    text = "(float[2,8] x, float[8] s) => (float[2,8] y) { y = LayerNormalization<axis=-1>(x, s) }"
    x, s = values(2, 8), values(8)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * s
    check_model(read(model(text, opset=14)), {"x": x, "s": s}, [expected])


def test_nodes_that_no_output_depends_on_go():
    """Whoever cuts a model before what cannot be compiled leaves that behind."""
    m = model("(float[2] x) => (float[2] y) { y = Relu(x) a = NonZero(y) b = local.Strange(a) }")
    assert [n.op_type for n in read(m).graph.node] == ["Relu"]
    assert [n.op_type for n in m.graph.node] == ["Relu", "NonZero", "Strange"]


def test_weights_that_no_output_depends_on_go_too():
    """Of types that Korch does not compute with, or damaged; a listed input that was one of them is none either."""
    m = model("""(float[2] x, float[2] w) => (float[2] y, float[2] c) <float[2] w = {1, 2}, float[2] c = {3, 4}> {
        y = Relu(x) a = Add(x, w) k = LabelEncoder(s)
    }""")
    m.graph.initializer.append(helper.make_tensor("s", TensorProto.STRING, [1], [b"a"]))
    m.graph.initializer.append(helper.make_tensor("b", TensorProto.BFLOAT16, [1], [1.0]))
    m.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([1, np.nan], np.float32), "w"))
    prepared = read(m)
    assert [t.name for t in prepared.graph.initializer] == ["c"]
    assert [t.name for t in fission(prepared).inputs] == ["x"]


def test_weights_that_only_a_branch_reads_stay():
    m = model("""(float[2] x) => (float[2] y) <bool c = {1}, float[2] w = {1, 2}> {
        y = If (c) <then_branch = a () => (float[2] t) <float[2] u = {3, 4}, float[2] v = {5, 6}> { t = Add(w, u) },
                    else_branch = b () => (float[2] e) { e = Neg(x) }>
    }""")
    prepared = read(m)
    assert [t.name for t in prepared.graph.initializer] == ["c", "w"]
    assert [t.name for t in prepared.graph.node[0].attribute[0].g.initializer] == ["u"]
    check_model(prepared, {"x": values(2)})


@pytest.mark.parametrize("opset", [18, 20])
def test_group_normalization_before_it_was_mended(opset):
    """ONNX has since called it deprecated; exporters wrote it."""
    inputs = "float[2,4,3] x, float[2] s, float[2] t"
    text = f"({inputs}) => (float[2,4,3] y) {{ y = GroupNormalization<num_groups=2>(x, s, t) }}"
    x, s, t = values(2, 4, 3), values(2), values(2, seed=1)
    g = x.reshape(2, 2, 6)
    g = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5) * s[:, None] + t[:, None]
    check_model(read(model(text, opset=opset)), {"x": x, "s": s, "t": t}, [g.reshape(x.shape)])


def test_operators_that_a_newer_one_has_replaced_are_refused():
    m = model("(float[1,1,2,2] x, float[4] s) => (float[1,1,4,4] y) { y = Upsample(x, s) }")
    refused(m, "Upsample", "malformed")


def test_opsets():
    assert fission(read(model("(float[2] x) => (float[2] y) { y = Relu(x) }", opset=6))).primitives
    refused(model(RELU, opset=999), "opset 999", "upgrade")
    m = model(RELU)
    del m.opset_import[:]
    refused(m, "opset_import")


def test_functions_are_inlined():
    m = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17, "local": 1]>
        g (float[2] x) => (float[2] y) { y = local.Twice(x) }
        <domain: "local", opset_import: ["": 17]>
        Twice (a) => (b) { b = Add(a, a) }
    """)
    assert [p.op for p in check_model(read(m), {"x": values(2)}).primitives] == ["Add"]


def test_functions_of_another_opset_are_inlined_too():
    m = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 18, "local": 1]>
        g (float[2,3] x) => (float[2,1] y) { y = local.Total(x) }
        <domain: "local", opset_import: ["": 17]>
        Total (a) => (b) { b = ReduceMax<axes = [1]>(a) }
    """)
    assert [p.op for p in check_model(read(m), {"x": values(2, 3)}).primitives] == ["ReduceMax"]


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_the_other_name_of_onnxs_domain(domain: str):
    m = model("(float[2] x) => (float[2] y) { y = Relu(x) }")
    m.graph.node[0].domain, m.opset_import[0].domain = "ai.onnx", domain
    assert [p.op for p in fission(read(m)).primitives] == ["Relu"]


def test_functions_bring_the_opsets_of_their_bodies():
    m = parser.parse_model("""
        <ir_version: 8, opset_import: ["local": 1]>
        g (float[2] x) => (float[2] y) { y = local.Over(x) }
        <domain: "local", opset_import: ["": 17, "ai.onnx.ml": 3]>
        Over (a) => (c) { b = Add(a, a) c = ai.onnx.ml.Binarizer<threshold = 0.5>(b) }
    """)
    prepared = read(m)
    assert {o.domain: o.version for o in prepared.opset_import if o.domain != "local"} == {"": 17, "ai.onnx.ml": 3}
    assert [p.op for p in check_model(prepared, {"x": values(2)}).primitives] == ["Add", "Opaque"]


# Constants -----------------------------------------------------------------------------------------------------


def test_initializers_that_are_listed_as_inputs_are_constants():
    m = model("(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    graph = fission(read(m))
    assert [t.name for t in graph.inputs] == ["x"]
    assert graph.primitives[0].inputs[1].const


def test_nan_is_refused_and_infinity_is_not():
    m = model("(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    for value in (np.nan, -np.inf):
        m.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([1, value], np.float32), "w"))
        if np.isnan(value):
            refused(m, "'w'", "NaN")
        else:
            assert fission(read(m)).primitives


def test_nan_in_an_attribute_is_refused_too():
    m = model("(float[2] x) => (float[2] y) { c = Constant<value_float=1.0>() y = Add(x, c) }")
    m.graph.node[0].attribute[0].f = np.nan
    refused(m, "Constant", "NaN")
    m = model("(float[2] x) => (float[2] y) { c = Constant<value_floats=[1.0, 2.0]>() y = Add(x, c) }")
    m.graph.node[0].attribute[0].floats[1] = np.nan
    refused(m, "Constant", "NaN")


def test_sparse_initializers_are_made_dense():
    m = model("(float[2,3] x) => (float[2,3] y) { y = Add(x, w) }")
    for indices in (np.array([1, 5]), np.array([[0, 1], [1, 2]])):
        del m.graph.sparse_initializer[:]
        sparse = helper.make_sparse_tensor(
            numpy_helper.from_array(np.array([7, 8], np.float32), "w"),
            numpy_helper.from_array(indices.astype(np.int64)),
            [2, 3],
        )
        m.graph.sparse_initializer.add().CopyFrom(sparse)
        dense = numpy_helper.to_array(read(m).graph.initializer[0])
        assert dense.tolist() == [[0, 7, 0], [0, 0, 8]]
    m.graph.sparse_initializer[0].indices.CopyFrom(numpy_helper.from_array(np.array([1, 50])))
    refused(m, "'w'", "malformed")


def test_data_that_do_not_fill_their_shape():
    m = model("(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    for length in (3, -2):
        m.graph.initializer[0].dims[0] = length
        refused(m, "'w'", "malformed")


def test_types_without_numbers():
    refused(model("(string[2] x) => (string[2] y) { y = Identity(x) }"), "'x'", "object")
    refused(
        model("(seq(float[2]) x) => (float[2] y) { i = Constant<value_int=0>() y = SequenceAt(x, i) }"),
        "'x'",
        "sequence",
    )
    for kind in (0, 99):
        m = model(RELU)
        m.graph.input[0].type.tensor_type.elem_type = kind
        refused(m, "'x'", f"unknown element type {kind}")


# Inputs --------------------------------------------------------------------------------------------------------

DYNAMIC = "(float[N,3] x, float[N,M] z) => (float[N,3] y) { y = Add(x, z) }"


def test_dynamic_inputs_ask_for_a_shape():
    refused(model(DYNAMIC), "'x'", "[N,3]", "--shape x=1,3")
    refused(model("(float[?,3,?,?] x) => (float[?,3,?,?] y) { y = Relu(x) }"), "[?,3,?,?]", "--shape x=1,3,1,1")
    m = model("(float[2,3] x) => (float[N,3] y) { y = Relu(x) }")
    m.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1  # as some exporters write it
    refused(m, "[?,3]", "--shape x=1,3")
    m = model(RELU)
    m.graph.input[0].type.tensor_type.ClearField("shape")
    refused(m, "'x'", "--shape x=1,3,224,224")
    assert read(m, {"x": (4, 5)}).graph.input[0].type.tensor_type.shape.dim[1].dim_value == 5


def test_a_named_dimension_is_given_once():
    graph = fission(read(model(DYNAMIC), {"z": (4, 1)}))
    assert [t.shape for t in graph.inputs] == [(4, 3), (4, 1)]


def test_shapes_that_do_not_fit():
    refused(model(DYNAMIC), "'q'", "'x', 'z'", shapes={"q": (1,)})
    refused(model(DYNAMIC), "'x'", "2 dimensions, not 3", shapes={"x": (1, 2, 3)})
    refused(model(DYNAMIC), "'N'", "4 and 5", shapes={"x": (4, 3), "z": (5, 3)})
    refused(model(DYNAMIC), "'x'", "negative", shapes={"x": (-1, 3)})


def test_a_static_shape_may_be_replaced():
    assert fission(read(model(RELU), {"x": (7, 9)})).outputs[0].shape == (7, 9)


# Control flow, shapes that depend on data, emptiness -------------------------------------------------------------

BRANCH = """(float[2] x) => (float[2] y) {{
    s = Shape(x)
    two = Constant<value = int64[1] {{{length}}}>()
    c = Equal(s, two)
    y = If (c) <then_branch = a () => (float[2] t) {{ t = Relu(x) }},
                else_branch = b () => (float[2] e) {{ e = Neg(x) }}>
}}"""


@pytest.mark.parametrize(("length", "op"), [(2, "Relu"), (3, "Neg")])
def test_a_constant_branch_is_inlined(length, op):
    assert [p.op for p in check_model(read(model(BRANCH.format(length=length))), {"x": values(2)}).primitives] == [op]


def test_the_names_of_a_branch_are_its_own():
    """Outside, y and z are each other's, and a is still Exp x."""
    m = model("""(float[2] x) => (float[2] y, float[2] z, float[2] w) <bool c = {1}> {
        a = Exp(x)
        y, z = If (c) <then_branch = t () => (float[2] z, float[2] y) { z = Neg(x) a = Abs(x) y = Sqrt(a) },
                       else_branch = e () => (float[2] z, float[2] y) { z = Abs(x) y = Neg(x) }>
        w = Identity(a)
    }""")
    x = values(2)
    check_model(read(m), {"x": x}, [-x, np.sqrt(np.abs(x)), np.exp(x)])


def test_a_constant_branch_that_is_missing():
    m = model(BRANCH.format(length=3))
    del m.graph.node[-1].attribute[1]
    refused(m, "If", "no else_branch")


def test_branches_on_data_are_refused():
    text = BRANCH.format(length=2).replace("(float[2] x)", "(float[2] x, bool c)", 1).replace("c = Equal", "d = Equal")
    refused(model(text), "If", "branches on data")


def test_shapes_that_depend_on_data_are_refused():
    refused(model("(float[4] x) => (int64[1,N] y) { y = NonZero(x) }"), "NonZero", "depends on data")


def test_random_numbers_are_refused():
    refused(model("() => (float[2] y) { y = RandomNormal<shape = [2]>() }"), "RandomNormal", "input of the model")


def test_empty_tensors_need_no_computation():
    m = model("""(float[2,3] x) => (float[2,3] y, float[0,3] z) {
        b = Constant<value = int64[1] {0}>()
        z0 = Slice(x, b, b) z = Relu(z0)
        y = Concat<axis = 0>(z, x)
    }""")
    graph = check_model(read(m), {"x": values(2, 3)})
    assert not graph.primitives


@pytest.mark.parametrize(
    "text",
    [
        "Conv(z, w)",
        "ConvTranspose(z, w)",
        "MaxPool<kernel_shape = [3, 3]>(z)",
        "Resize(z, , s)",
        "Softmax(z)",
        'Einsum<equation = "abcd,efgh->ae">(z, w)',
    ],
)
def test_what_is_computed_from_an_empty_tensor_is_empty(text):
    m = model(f"""(float[1,3,8,8] x) => (float y) <int64[1] b = {{0}}, float[4] s = {{1, 1, 2, 2}}> {{
        z = Slice(x, b, b) y = {text}
    }}""")
    m.graph.initializer.append(numpy_helper.from_array(values(3, 3, 3, 3), "w"))
    m.graph.output[0].type.Clear()
    graph = fission(read(m))
    assert not graph.primitives and graph.outputs[0].shape[0] == 0


def test_shape_arithmetic_vanishes():
    m = model("""(float[2,3,4] x) => (float[6,4] y) {
        s = Shape(x)
        i = Constant<value = int64[2] {0, 1}>() j = Constant<value = int64 {2}>()
        front = Gather(s, i) last = Gather(s, j)
        rows = ReduceProd<keepdims = 0>(front)
        z = Constant<value = int64[1] {0}>()
        a = Unsqueeze(rows, z) b = Unsqueeze(last, z)
        t = Concat<axis = 0>(a, b)
        y = Reshape(x, t)
    }""")
    assert [p.op for p in check_model(read(m), {"x": values(2, 3, 4)}).primitives] == ["Reshape"]


# Opaque nodes --------------------------------------------------------------------------------------------------


def test_small_constants_are_part_of_an_opaque_node():
    m = model(
        "(float[1,1,4,4] x) => (float[1,1,2,2] y) <float[4] s = {1, 1, 0.5, 0.5}> {"
        ' y = Resize<mode = "linear", antialias = 1>(x, , s) }',
        18,
    )
    (p,) = check_model(read(m), {"x": values(1, 1, 4, 4)}).primitives
    assert p.op == "Opaque" and [t.name for t in p.inputs] == ["x"]


def test_operators_of_which_nobody_knows_the_shape_are_tried():
    """Most of those for classical learning."""
    m = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17, "ai.onnx.ml": 3]>
        g (float[1,4] x) => (float[N,M] y) {
            s = ai.onnx.ml.Scaler<offset = [1.0, 2.0, 3.0, 4.0], scale = [1.0, 1.0, 2.0, 2.0]>(x)
            y = Relu(s)
        }
    """)
    assert [p.output.shape for p in check_model(read(m), {"x": values(1, 4)}).primitives] == [(1, 4), (1, 4)]


# Functions -----------------------------------------------------------------------------------------------------


def nested_functions(levels: int, calls: int = 2) -> onnx.ModelProto:
    """A model whose functions call the next one `calls` times each; the last one is a Relu."""
    heads = '<domain: "local", opset_import: ["": 17, "local": 1]>\n'
    bodies = "".join(
        f"{heads}f{i} (x0) => (x{calls}) {{ {' '.join(f'x{k + 1} = local.f{i + 1}(x{k})' for k in range(calls))} }}\n"
        for i in range(levels)
    )
    text = (
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
        f"g (float[2] x) => (float[2] y) {{ y = local.f0(x) }}\n{bodies}{heads}f{levels} (x) => (y) {{ y = Relu(x) }}"
    )
    return parser.parse_model(text)


def test_functions_are_counted_before_they_are_inlined(monkeypatch: pytest.MonkeyPatch):
    few, many = nested_functions(4), nested_functions(40)
    assert len(read(few).graph.node) == 16
    assert many.ByteSize() < 4096
    refused(many, f"{2**40} nodes", "functions")
    monkeypatch.setattr(limits, "INLINED_BYTES", 500)
    refused(few, "the most", "0.5 kB")


def test_functions_in_bodies_are_counted_too():
    m = nested_functions(40)
    inner = m.graph.node[0]
    branch = helper.make_graph([inner], "then", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    condition = numpy_helper.from_array(np.array(True), "c")
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([node], "g", m.graph.input, m.graph.output, [condition])
    m.graph.CopyFrom(graph)
    refused(m, f"{2**41 + 1} nodes")


def test_functions_that_call_themselves():
    m = nested_functions(2)
    m.functions[2].node[0].op_type, m.functions[2].node[0].domain = "f0", "local"
    refused(m, "call themselves", "'f0'")


@pytest.mark.parametrize("last", [1, 4])
def test_functions_of_one_name_are_refused(last: int):
    """Which of them a call means decides how many nodes it stands for."""
    m = nested_functions(4)
    m.functions.add().CopyFrom(m.functions[0])
    m.functions[-1].opset_import[0].version = last
    refused(m, "two functions 'f0'")


def test_loops_in_loops_are_counted():
    """Bodies of two nodes, which run 100 times and 50 times in each of these, would be 10,000 nodes."""
    inner = (
        "i, c, s) => (bool c2, float[1] s2) <int64 n = {50}> { c2 = Identity(c) s2 = Loop(n, c, s) <body = h "
        "(int64 j, bool d, float[1] t) => (bool d2, float[1] t2) { d2 = Identity(d) t2 = Add(t, t) }> }"
    )
    m = model(
        "(float[1] x) => (float[1] y) <int64 n = {100}, bool c = {1}> "
        f"{{ y = Loop(n, c, x) <body = b (int64 {inner}> }}"
    )
    with pytest.raises(NeedsSegments, match="for the loops in its body"):
        fission(read(m))


def test_names_that_are_no_text():
    data = model(RELU.replace("x", "name")).SerializeToString().replace(b"name", b"\xff\xfe\xc0x")
    refused(data, "no UTF-8")


def test_sparse_initializers_are_no_larger_than_dense_ones_may_be():
    m = model("(float[2] x) => (float[2] y) { y = Add(x, w) }")
    values, indices = np.ones(1, np.float32), np.zeros(1, np.int64)
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(values, "w"), numpy_helper.from_array(indices, "w_at"), [1 << 20, 1 << 20]
    )
    m.graph.sparse_initializer.append(sparse)
    refused(m, "'w'", "4.4 TB", "1.0 GB")
