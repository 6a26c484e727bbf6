"""Documents that are JSON kernels and documents that are not: (name, text, shape, error).

shape: what the JSON Schema must say (None: it is not asked, the text is not JSON). error: None where the translator must take the
document, else words that its message must hold. A document of good shape with an error is one whose types or names are wrong."""
import json

from generate import assign, binary, call, choose, element, let, lit, unary, var

LET_I = let("i", call("get_global_id"))
FLOAT = {"kind": "scalar", "type": "f32"}


def array(kind):
    return {"kind": "device_array", "element_type": {"kind": "scalar", "type": kind}}


def scalar(kind):
    return {"kind": "scalar", "type": kind}


PARAMS = {"x": array("f32"), "y": array("f32"), "k": array("i32"), "t": array("u32"), "n": scalar("u64"), "a": scalar("f32"), "d": scalar("f64"),
          "j": scalar("i32"), "b": scalar("u8")}


def kernel(*body, params=None, name="one"):
    types = PARAMS if params is None else params
    return {"version": "1.0", "kernel": {"name": name, "params": [{"name": key, "type": kind} for key, kind in types.items()], "body": list(body)}}


def store(value, array_name="y"):
    return assign(element(array_name, var("i")), value)


def stores(value, array_name="y"):
    return kernel(LET_I, store(value, array_name))


def without(node, key):
    return {name: value for name, value in node.items() if name != key}


def loop(**changes):
    return dict({"type": "for", "var": "r", "start": lit(0), "stop": lit(4), "step": lit(1), "body": []}, **changes)


def branch(condition, then, other=None):
    return {"type": "if", "condition": condition, "then_body": then, "else_body": other}


DOCUMENTS = []


def good(name, document):
    DOCUMENTS.append((name, document if isinstance(document, str) else json.dumps(document), True, None))


def bad(name, document, error, shape=False):
    """shape True: only the translator can know."""
    DOCUMENTS.append((name, document if isinstance(document, str) else json.dumps(document), shape, error))


def broken(name, text, error):
    DOCUMENTS.append((name, text, None, error))


# ---- good ones ----
good("one store", stores(lit(1.5)))
good("an else that is left out", kernel(LET_I, without(branch(lit(True), [store(lit(1))]), "else_body")))
good("a return without value", kernel({"type": "return"}))
good("a return with a value", kernel({"type": "return", "value": lit(3)}))
good("int and float", stores(binary("mul", call("float", var("j")), lit(2))))
good("usize", kernel(LET_I, store(call("f32", var("u"))), params={"y": array("f32"), "u": scalar("usize")}))
good("every comparison", stores(choose(binary("and", binary("lt", var("a"), lit(1)), binary("or", binary("ge", var("j"), lit(-5)),
                                                                                              binary("ne", var("n"), lit(0)))), lit(1), lit(0))))
good("an integer condition", kernel(LET_I, branch(var("j"), [store(lit(1))])))
good("an escaped key", json.dumps(stores(lit(1))).replace('"version"', '"ver\\u0073ion"'))
good("largest literals", stores(binary("add", var("n"), lit(18446744073709551615))))
good("smallest literal", stores(binary("add", var("j"), lit(-2147483648))))
good("atomics", kernel(LET_I, call("atomic_add", var("t"), lit(0), lit(1)), call("atomic_add_u32", var("t"), lit(0), lit(1)),
                       call("atomic_min", var("k"), lit(0), lit(-1)), call("atomic_add_i32", var("k"), lit(0), lit(1))))
good("whole arrays", kernel({"type": "parallel_map_unary", "input": var("x"), "output": var("y"), "operation": "ReLU", "count": var("n")},
                            {"type": "parallel_map_binary", "input_a": var("x"), "input_b": var("y"), "output": var("y"), "operation": "Atan2",
                             "count": lit(4)},
                            {"type": "parallel_reduce", "input": var("y"), "output": var("x"), "operation": "sum", "count": var("n")}))
good("scans and indices", kernel({"type": "parallel_scan", "input": var("x"), "output": "y", "operation": "Max", "count": var("n"), "reverse": True},
                                 {"type": "parallel_gather", "input": var("x"), "indices": var("t"), "output": var("y"), "count": 4, "size": var("n")},
                                 {"type": "parallel_scatter", "input": var("x"), "indices": "t", "output": var("y"), "operation": "sum",
                                  "count": var("n"), "size": lit(4)}))
good("bool parameters", kernel(LET_I, branch(var("go"), [store(choose(element("m", var("i")), lit(1), lit(0)))]),
                               params={"y": array("f32"), "m": array("bool"), "go": scalar("bool")}))
good("counting down an unsigned variable", kernel(LET_I, loop(start=var("n"), stop=lit(0), step=lit(-1), body=[store(lit(1))])))
good("a literal alone beyond i32", kernel(LET_I, let("v", lit(2147483648)), store(call("f32", var("v")))))
bad("a field of a document that nobody knows", dict(stores(lit(1)), producer="me"), "producer: unknown field 'producer'")
bad("a field of a kernel that nobody knows", {"version": "1.0", "kernel": dict(stores(lit(1))["kernel"], source="a.py")}, "unknown field 'source'")
bad("a field of a parameter", {"version": "1.0", "kernel": {"name": "k", "params": [{"name": "x", "type": FLOAT, "unit": "m"}],
                                                            "body": [{"type": "return"}]}}, "unknown field 'unit'")
bad("a field of a type", kernel(LET_I, params={"x": dict(array("f32"), shape=[4])}), "unknown field 'shape'")
bad("a field of an element's type", kernel(LET_I, params={"x": {"kind": "device_array", "element_type": dict(FLOAT, bits=32)}}), "unknown field 'bits'")
bad("a field of a statement", kernel(dict(LET_I, mutable=True)), "unknown field 'mutable'")
bad("a word nearly right", kernel(LET_I, dict(loop(), stpe=lit(1))), "unknown field 'stpe'")
bad("a field of an expression", stores(dict(lit(1), kind="f32")), "unknown field 'kind'")
bad("a field of an array's name", stores({"type": "index", "array": dict(var("x"), of="y"), "index": lit(0)}), "unknown field 'of'")
bad("a field of a target", kernel(assign(dict(element("y", lit(0)), op="add"), lit(1))), "unknown field 'op'")
bad("a field of a call", kernel(dict(call("atomic_add", var("t"), lit(0), lit(1)), scope="block")), "unknown field 'scope'")
good("arrays by their names alone", kernel({"type": "parallel_reduce", "input": "x", "output": "y", "operation": "MAX", "count": 4}))
good("a name first given a value in both branches", kernel(LET_I, branch(binary("lt", var("i"), var("n")), [let("v", lit(1.0))], [assign(var("v"), lit(2))]),
                                                           store(var("v"))))
good("two loops over one name", kernel(LET_I, loop(body=[store(call("f32", var("r")))]), loop(body=[store(call("f32", var("r")))])))

LONG = loop(stop=var("n"))
good("another type in a loop that gives the old one its value first", kernel(LET_I, loop(), {"type": "while", "condition": lit(False), "body": [loop(), LONG]}))
good("the same in two loops", kernel(LET_I, loop(), loop(var="o", body=[loop(var="p", body=[loop(), LONG])])))
for name, first in (("that reads it before", [let("v", var("r")), loop()]), ("that gives it one in a branch", [branch(var("n"), [loop()])]),
                    ("that gives it one in another loop", [loop(var="q", body=[loop()])])):
    bad("another type in a loop " + name, kernel(LET_I, loop(), loop(var="o", body=first + [LONG])), "variable 'r' changes its type from i32 to u64", shape=True)
bad("another type in its own loop", kernel(LET_I, loop(), loop(body=[loop(), LONG])), "variable 'r' changes its type from i32 to u64", shape=True)
bad("another type in a loop whose condition reads it", kernel(LET_I, loop(), {"type": "while", "condition": binary("lt", var("r"), lit(1)), "body": [loop(), LONG]}),
    "variable 'r' changes its type from i32 to u64", shape=True)

# ---- documents and kernels ----
bad("another version", dict(stores(lit(1)), version="2.0"), "Unsupported schema version: 2.0")
bad("a version that is a number", dict(stores(lit(1)), version=1.0), "version")
bad("no version", without(stores(lit(1)), "version"), "version")
bad("no kernel", {"version": "1.0"}, "kernel")
bad("kernel is null", {"version": "1.0", "kernel": None}, "kernel")
bad("an empty name", kernel(name=""), "Kernel name cannot be empty")
bad("no name", {"version": "1.0", "kernel": {"params": [], "body": []}}, "name")
bad("a body that is an object", {"version": "1.0", "kernel": {"name": "k", "params": [], "body": {}}}, "body")
bad("params that are an object", {"version": "1.0", "kernel": {"name": "k", "params": {}, "body": []}}, "params")
bad("a string as document", '"kernel"', "object")
bad("null as document", "null", "object")
bad("an empty list of documents", "[]", "")
bad("a list with something else", "[1]", "object")
bad("a parameter twice", {"version": "1.0", "kernel": {"name": "k", "params": [{"name": "x", "type": FLOAT}] * 2, "body": [{"type": "return"}]}}, "x",
    shape=True)
bad("an unknown scalar type", kernel(params={"x": scalar("f80")}), "f80")
bad("an unknown kind", kernel(params={"x": {"kind": "matrix"}}), "matrix")
bad("an array without element type", kernel(params={"x": {"kind": "device_array"}}), "element_type")
bad("an array of arrays", kernel(params={"x": {"kind": "device_array", "element_type": array("f32")}}), "scalar")

# ---- statements ----
bad("a name without value on one path", kernel(LET_I, branch(binary("lt", var("i"), var("n")), [let("v", lit(1.0))]), store(var("v"))), "v", shape=True)
bad("an unknown statement", kernel({"type": "repeat"}), "repeat")
bad("a statement that is a number", kernel(1), "expected a statement")
bad("a statement without type", kernel({"name": "x"}), "type")
bad("let without value", kernel({"type": "let", "name": "v"}), "value")
bad("let without name", kernel({"type": "let", "value": lit(1)}), "name")
bad("assign to a literal", kernel(assign(lit(1), lit(1))), "target")
bad("assign to a call", kernel(assign(call("get_global_id"), lit(1))), "target")
bad("assign to an unknown name", kernel(assign(var("q"), lit(1))), "q", shape=True)
bad("assign to an array", kernel(assign(var("x"), lit(1))), "x", shape=True)
bad("then_body missing", kernel({"type": "if", "condition": lit(True)}), "then_body")
bad("a float condition", kernel(branch(var("a"), [])), "bool", shape=True)
bad("step 0", kernel(loop(step=lit(0))), "step", shape=True)
bad("a float step", kernel(loop(step=lit(0.5))), "step", shape=True)
bad("float bounds", kernel(loop(stop=var("a"))), "integer", shape=True)
bad("a for without step", kernel(without(loop(), "step")), "step")
bad("while without body", kernel({"type": "while", "condition": lit(False)}), "body")
bad("an unknown map operation", kernel({"type": "parallel_map_unary", "input": var("x"), "output": var("y"), "operation": "cube", "count": lit(1)}), "cube")
bad("a map of two types", kernel({"type": "parallel_map_unary", "input": var("x"), "output": var("k"), "operation": "abs", "count": lit(1)}), "i32",
    shape=True)
bad("a map in a branch of lanes", kernel(LET_I, branch(binary("lt", var("i"), lit(2)), [
    {"type": "parallel_map_unary", "input": var("x"), "output": var("y"), "operation": "abs", "count": lit(1)}])), "", shape=True)
bad("a scan of two types", kernel({"type": "parallel_scan", "input": var("x"), "output": var("k"), "operation": "sum", "count": lit(1)}), "i32", shape=True)
bad("a scan whose flag is a number", kernel({"type": "parallel_scan", "input": var("x"), "output": var("y"), "operation": "sum", "count": lit(1),
                                             "exclusive": 1}), "true or false")
bad("indices that are floats", kernel({"type": "parallel_gather", "input": var("x"), "indices": var("x"), "output": var("y"), "count": lit(1), "size": lit(1)}),
    "indices are u32 or i64", shape=True)
bad("a gather without a size", kernel({"type": "parallel_gather", "input": var("x"), "indices": var("t"), "output": var("y"), "count": lit(1)}), "size")
bad("a scatter of products", kernel({"type": "parallel_scatter", "input": var("x"), "indices": var("t"), "output": var("y"), "count": lit(1),
                                     "size": lit(1), "operation": "product"}), "product")

# ---- expressions ----
bad("an unknown expression", stores({"type": "lambda"}), "lambda")
bad("an expression that is a number", stores(1), "expected an expression")
bad("an expression that is null", stores(None), "expected an expression")
bad("an unknown name", stores(var("q")), "q", shape=True)
bad("an array as a value", stores(var("x")), "x", shape=True)
bad("a literal that is a string", stores(lit("1")), "value")
bad("a literal that is null", stores(lit(None)), "value")
bad("the operator unknown", stores(binary("unknown", lit(1), lit(2))), "unknown")
bad("an operator that is none", stores(binary("xor", lit(1), lit(2))), "xor")
bad("an operator without right side", stores(without(binary("add", lit(1), lit(2)), "right")), "right")
bad("an unknown unary operator", stores(unary("unknown", lit(1))), "unknown")
bad("inv of a float", stores(unary("inv", var("a"))), "f32", shape=True)
bad("arithmetic of bools", stores(binary("add", binary("lt", var("j"), lit(1)), lit(1))), "bool", shape=True)
bad("an index into a scalar", stores(element("n", lit(0))), "n", shape=True)
bad("an index into an expression", stores({"type": "index", "array": lit(1), "index": lit(0)}), "array")
bad("a float index", stores(element("x", var("a"))), "index", shape=True)
bad("a negative literal index", stores(element("x", lit(-1))), "-1", shape=True)
bad("a literal too large for u8", stores(binary("add", var("b"), lit(256))), "256", shape=True)
bad("a negative literal beside u64", stores(binary("add", var("n"), lit(-1))), "-1", shape=True)
bad("a literal alone beyond i64", kernel(let("v", lit(9223372036854775808))), "9223372036854775808", shape=True)
bad("a literal beyond u64", stores(binary("add", var("n"), lit(18446744073709551616))), "18446744073709551616", shape=True)
bad("an unknown function", stores(call("sinc", lit(1.0))), "sinc")
bad("a function with too many arguments", stores(call("exp", lit(1.0), lit(1.0))), "exp")
bad("a function with too few arguments", stores(call("pow", lit(1.0))), "pow")
bad("get_global_id with an argument", stores(call("get_global_id", lit(0))), "get_global_id")
bad("a float atomic", kernel(LET_I, call("atomic_add_f32", var("x"), lit(0), lit(1.0))),
    "atomic_add_f32 is not supported: its result would depend on lane order; use parallel_reduce")
bad("an atomic on floats", kernel(LET_I, call("atomic_add", var("x"), lit(0), lit(1.0))), "lane order", shape=True)
bad("an atomic on a scalar", kernel(LET_I, call("atomic_add", var("n"), lit(0), lit(1))), "n", shape=True)
bad("an atomic of another type", kernel(LET_I, call("atomic_add_i32", var("t"), lit(0), lit(1))), "i32", shape=True)
for reserved in ("parallel_scan", "parallel_gather", "parallel_scatter"):
    bad(reserved + " as a function", stores(call(reserved, lit(1))), reserved)

# ---- functions, bits ----
good("more functions", stores(call("atan2", call("erf", var("a")), call("hypot", call("expm1", var("j")), call("rint", var("a"))))))
good("functions", stores(call("fma", call("log2", lit(2)), call("gelu", var("a")), call("clamp", var("a"), lit(0), lit(1)))))
good("coordinates", kernel(LET_I, let("l", binary("add", call("get_local_id"), binary("mul", call("get_group_id"), call("get_local_size")))),
                           let("all", binary("sub", call("get_global_size"), lit(1))), let("x2", call("block_idx_y")), store(call("f32", var("l")))))
good("bits", stores(call("f32", binary("bit_xor", binary("shl", var("j"), lit(3)), binary("bit_and", var("b"), lit(15))))))
good("functions of integers", stores(call("f32", call("rotr", call("add_sat", var("b"), lit(200)), call("popc", call("mulhi", var("j"), lit(-5)))))))
bad("popc of a float", stores(call("popc", var("a"))), "popc of f32", shape=True)
bad("rotl by a float", stores(call("rotl", var("j"), var("a"))), "rotl of f32", shape=True)
bad("bits of a float", stores(binary("bit_or", var("a"), lit(1))), "bit_or of f32", shape=True)
bad("bits of a bool", stores(binary("bit_and", binary("lt", var("j"), lit(1)), lit(1))), "bit_and of bool", shape=True)
bad("a shift by a float", stores(binary("shl", var("j"), lit(1.5))), "shl of a real literal", shape=True)
bad("clamp of two", stores(call("clamp", var("a"), lit(1))), "clamp")
bad("clamp of a bool", stores(call("clamp", var("a"), lit(True), lit(1))), "clamp of f32 and bool", shape=True)

# ---- memory of a block, launches ----
TILE = {"name": "tile", "element_type": FLOAT, "length": 16}


def local(*body, **fields):
    document = kernel(LET_I, let("l", call("get_local_id")), *body)
    document["kernel"].update(fields)
    return document


def shaped(shape, kind=None):
    return {"version": "1.0", "kernel": {"name": "k", "params": [{"name": "y", "type": kind or array("f32"), "shape": shape},
                                                                 {"name": "n", "type": scalar("u64")}, {"name": "a", "type": FLOAT}],
                                         "body": [LET_I, store(lit(1))]}}


WRITE = assign(element("tile", var("l")), lit(1))
good("shared memory", local(WRITE, {"type": "barrier"}, store(element("tile", binary("sub", lit(15), var("l")))), shared=[TILE], block=16, lanes="n"))
good("an atomic on shared memory", local(call("atomic_add", var("sums"), lit(0), lit(1)), block=[4, 2, 2], lanes=["n", 4],
                                         shared=[dict(TILE, name="sums", element_type=scalar("u32"))]))
good("extents", shaped(["n", 2]))
good("no extents", shaped([]))
good("extents that are expressions", shaped(["n + 2", "max(n, 4) * 3"]))
good("a grid", local(block=[16, 16], grid=["ceil(n / 16)", 4]))
bad("a grid and lanes", local(grid=1, lanes=1), "grid and lanes both say", shape=True)
bad("a grid of four extents", local(grid=[1, 1, 1, 1]), "4 extents: at most 3")
bad("an expression with something unknown", shaped(["n + q"]), "q", shape=True)
bad("an expression that ends early", shaped(["n + "]), "", shape=True)
bad("an extent that is a float", shaped([1.5]), "an extent is a number")
bad("an extent that nobody knows", shaped(["m"]), "there is no parameter 'm'", shape=True)
bad("an extent of f32", shaped(["a"]), "'a' is f32", shape=True)
bad("an extent that is an array", shaped(["y"]), "'y' is an array", shape=True)
bad("nine extents", shaped([1] * 9), "9 extents: at most 8")
bad("the shape of a scalar", shaped([1], FLOAT), "only arrays have a shape", shape=True)
bad("a shape that is a number", shaped(4), "expected a list of extents")
bad("a block of four extents", local(block=[1, 1, 1, 1]), "one to three extents, got 4")
bad("a block of nothing", local(block=0), "an extent of a block is a number from 1")
bad("lanes that nobody knows", local(lanes="m"), "there is no parameter 'm'", shape=True)
bad("shared memory without length", local(shared=[without(TILE, "length")]), "'length' is missing")
bad("shared memory of nothing", local(shared=[dict(TILE, length=0)]), "the length of an array is a number from 1 to 65536")
bad("shared memory that a parameter is", local(shared=[dict(TILE, name="x")]), "array 'x' is declared twice", shape=True)
bad("too much shared memory", local(shared=[TILE, dict(TILE, name="more", length=16380)]), "65584 bytes of shared memory: at most 65536", shape=True)
bad("a field of an array", local(shared=[dict(TILE, size=4)]), "unknown field 'size'")
bad("a map over shared memory", local({"type": "parallel_map_unary", "input": var("x"), "output": var("tile"), "operation": "abs", "count": lit(1)},
                                      shared=[TILE]), "over memory of a block", shape=True)
bad("a barrier for some", local(branch(binary("lt", var("l"), lit(2)), [{"type": "barrier"}]), store(lit(1)), {"type": "barrier"}), "V09", shape=True)

# ---- memory of a lane ----
OWN = {"name": "own", "element_type": FLOAT, "length": 16}
KEEP = assign(element("own", var("j")), lit(1))
good("private memory", local(KEEP, store(element("own", binary("add", var("b"), lit(1)))), private=[OWN]))
good("private and shared memory", local(KEEP, WRITE, {"type": "barrier"}, store(binary("add", element("tile", lit(0)), element("own", lit(0)))),
                                        shared=[TILE], private=[OWN], block=16))
good("private memory that nothing uses", local(store(lit(1)), private=[OWN, dict(OWN, name="more", element_type=scalar("bool"))]))
good("all of private memory", local(store(lit(1)), private=[dict(OWN, length=4096)]))
good("a private element as the argument of a block", local(KEEP, let("s", call("block_sum", element("own", lit(3)))), store(var("s")), private=[OWN]))
bad("private memory that is no list", local(private=OWN), "expected a list of arrays, got an object")
bad("private memory without length", local(private=[without(OWN, "length")]), "'length' is missing")
bad("private memory without a type", local(private=[without(OWN, "element_type")]), "'element_type' is missing")
bad("private memory of an unknown type", local(private=[dict(OWN, element_type=scalar("f80"))]), "unknown scalar type 'f80'")
bad("private memory of arrays", local(private=[dict(OWN, element_type=array("f32"))]), "elements are scalars")
bad("private memory of nothing", local(private=[dict(OWN, length=0)]), "the length of an array is a number from 1 to 16384")
bad("private memory of a length that is a name", local(private=[dict(OWN, length="n")]), "the length of an array is a number")
bad("a private array too long", local(private=[dict(OWN, length=16385)]), "the length of an array is a number from 1 to 16384, got 16385")
bad("too much private memory", local(private=[OWN, dict(OWN, name="more", length=4090)]), "16424 bytes of private memory: at most 16384", shape=True)
bad("a private array twice", local(private=[OWN, OWN]), "array 'own' is declared twice", shape=True)
bad("private memory that a parameter is", local(private=[dict(OWN, name="x")]), "array 'x' is declared twice", shape=True)
bad("private memory that is shared", local(shared=[TILE], private=[dict(OWN, name="tile")]), "array 'tile' is declared twice", shape=True)
bad("a private array with a register's name", local(private=[dict(OWN, name="r1")]), "'r1' cannot be an array's name", shape=True)
bad("a field of a private array", local(private=[dict(OWN, scope="lane")]), "unknown field 'scope'")
bad("a private array as a value", local(store(var("own")), private=[OWN]), "own", shape=True)
bad("a private array that is given a value", local(let("own", lit(1)), private=[OWN]), "'own' is an array", shape=True)
bad("a float as a private index", local(store(element("own", var("a"))), private=[OWN]), "an index is an integer, got f32", shape=True)
bad("a negative private index", local(store(element("own", lit(-1))), private=[OWN]), "-1", shape=True)
bad("a store of a device_ptr", {"version": "1.0", "kernel": {"name": "k", "private": [OWN], "params": [{"name": "p", "type": {"kind": "device_ptr"}}],
                                                              "body": [assign(element("own", lit(0)), var("p"))]}},
    "a device_ptr is no element of an array", shape=True)
bad("a store of an array", local(assign(element("own", lit(0)), var("x")), private=[OWN]), "x", shape=True)
bad("an atomic on private memory", local(call("atomic_add", var("sums"), lit(0), lit(1)), private=[dict(OWN, name="sums", element_type=scalar("u32"))]),
    "atomic_add on the private array 'sums'", shape=True)
bad("an atomic on private floats", local(call("atomic_max", var("own"), lit(0), lit(1)), private=[OWN]), "atomic_max on the private array 'own'", shape=True)
bad("a sum of a private array over the block", local(let("s", call("block_sum", var("own"))), private=[OWN]), "own", shape=True)
bad("a map over private memory", local({"type": "parallel_map_unary", "input": var("own"), "output": var("y"), "operation": "abs", "count": lit(1)},
                                       private=[OWN]), "over memory of a lane", shape=True)
bad("a reduction into private memory", local({"type": "parallel_reduce", "input": "x", "output": "own", "operation": "sum", "count": 4},
                                             private=[OWN]), "over memory of a lane", shape=True)

# ---- functions of a block, barriers ----
good("functions of a block", local(let("s", call("block_sum", var("a"))), let("p", call("scan_xor_before", var("j"))), let("q", call("shuffle", var("s"), lit(0))),
                                   let("m", call("scan_max", lit(3)))))
bad("a sum of bools", local(let("s", call("block_sum", binary("lt", var("j"), lit(1))))), "breduce.add of bool", shape=True)
bad("bits of floats over a block", local(let("s", call("block_and", var("a")))), "breduce.and of f32", shape=True)
bad("a shuffle from a float", local(let("s", call("shuffle", var("a"), var("a")))), "the number of a lane is an integer", shape=True)
bad("a block before", local(let("s", call("block_sum_before", var("a")))), "unknown function 'block_sum_before'")
bad("a sum for some", local(branch(binary("lt", var("l"), lit(2)), [let("s", call("block_sum", var("a"))), store(var("s"))]), store(lit(1)), {"type": "barrier"}),
    "V09", shape=True)
good("a barrier of the grid", local({"type": "barrier", "scope": "grid"}, {"type": "barrier", "scope": "block"}))
bad("a barrier of something else", local({"type": "barrier", "scope": "lane"}), "unknown scope 'lane'")
bad("a barrier of the grid for some", local(branch(binary("lt", var("i"), lit(2)), [{"type": "barrier", "scope": "grid"}])), "V08", shape=True)
bad("a field of a barrier", local({"type": "barrier", "id": 1}), "unknown field 'id'")

# ---- not JSON ----
broken("nothing", "", "S02")
broken("a comma too many", '{"version":"1.0",}', "S02")
broken("a comment", '{"version":"1.0" /* */}', "S02")
broken("cut off", json.dumps(stores(lit(1)))[:-3], "S02")
broken("something behind", json.dumps(stores(lit(1))) + "]", "S02")
broken("a key twice", '{"version":"1.0","version":"1.0","kernel":{}}', "version")
broken("a byte-order mark behind a blank", " \ufeff" + json.dumps(stores(lit(1))), "S02")
broken("a number with leading zero", '{"version":"1.0","kernel":{"name":"k","params":[],"body":[01]}}', "S03")
broken("nested too deep", "[" * 100000 + "]" * 100000, "S05")
