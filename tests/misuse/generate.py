#!/usr/bin/python3
"""Writes a C program that calls every function of the public headers wrongly, once for each pointer (NULL) and each number (out of range).

    generate.py HEADERS-FOLDER OUTPUT.c

All other arguments are valid, so that the wrong one is what the function meets. A call may fail by value or do nothing; it may not crash. A function that returns HG_OK for a NULL must have that parameter in OPTIONAL.
A type that this file does not know is passed as zeros, so new functions are covered without a line here.
"""
import glob
import os
import re
import sys

# Functions of which NULL is a promised way to say "none".
OPTIONAL = {
    ("*", "diagnostics"), ("*", "options"), ("hg_backend_execute_program", "launch"), ("hg_backend_execute_program_with_params", "launch"),
    ("hg_backend_execute_program_with_params", "params"), ("hg_executable_create_for", "launch"), ("hg_executable_create_for", "params"),
    ("hg_binding_create", "launch"), ("hg_binding_create", "params"), ("hg_binding_start", "context"), ("hg_context_set_comm", "context"), ("hg_context_set_comm", "comm"), ("hg_distributed_create", "backend"), ("hg_distributed_execute_cluster", "launch"), ("hg_multi_gpu_execute", "launch"), ("hg_multi_gpu_data_parallel", "launch"), ("hg_multi_gpu_model_parallel", "launch"), ("hg_multi_gpu_pipeline_parallel", "launch"), ("hg_multi_gpu_lanes", "launch"), ("hg_multi_gpu_lanes", "lanes"), ("hg_queue_create", "context"),
    ("hg_queue_submit", "signal"), ("hg_backend_listen", "call"), ("hg_program_print_structured", "length"), ("hg_tree_place", "text"), ("hg_tree_begin_function", "parameters"),
    ("hg_tree_lanes", "extents"), ("hg_tree_grid", "extents"), ("hg_tree_meta", "key"), ("hg_tree_meta", "value"), # hg_tree_build says it
    ("hg_config_read_files", "path"), ("hg_config_load", "path"), ("hg_config_list", "path"), ("hg_config_list", "user"), ("hg_executor_execute", "launch"), ("hg_executor_execute", "params"), ("hg_backend_listen", "user"), ("hg_event_on_done", "user"), ("hg_program_print", "length"), ("hg_graph_print", "length"),
    ("hg_tensor_save", "names"), ("hg_tensor_split", "sizes"), ("hg_tensor_from_host", "executor"), ("hg_tensor_wrap_host", "executor"), ("hg_tensor_wrap_host", "strides"), ("hg_tensor_wrap_host", "release"), ("hg_tensor_wrap_host", "user"), ("hg_scope_end", "scope"),
    ("hg_ops_gemm", "c"), ("hg_ops_conv2d", "bias"), ("hg_ops_conv2d", "stride"), ("hg_ops_conv2d", "padding"), ("hg_ops_conv2d", "dilation"), ("hg_ops_attention", "mask"), ("hg_ops_quantize", "zero"), ("hg_ops_matmul_integer", "a_zero"), ("hg_ops_matmul_integer", "b_zero"),
    ("hg_graph_constant", "elements"), ("hg_graph_view", "name"), ("hg_graph_strided_view", "name"), ("hg_graph_permuted", "name"), ("hg_graph_broadcast", "name"), ("hg_graph_output", "name"), ("hg_graph_binding_submit", "signal"), ("hg_program_emit", "length"), ("hg_program_optimize", "stats"), ("hg_character_f64", "real"), ("hg_character_f64", "imaginary"),
}
# A valid argument by the parameter's type, or by type and name.
VALID = {
    "hg_backend *": "f.backend", "const hg_backend *": "f.backend", "hg_context *": "f.context", "hg_queue *": "f.queue",
    "hg_comm *": "f.comm", "const hg_comm *": "f.comm", "const hg_comm_call *": "&f.call", "hg_backend *const *": "&f.backend", "hg_event *": "f.event", "hg_executor *": "f.executor", "const hg_executor *": "f.executor", "hg_tree *": "f.tree", "const hg_tree *": "f.tree", "hg_opening *": "f.opening", "const hg_host_device *": "&(hg_host_device){.size = sizeof(hg_host_device)}", "hg_event *const *": "&f.event", "hg_executable *": "f.executable", "hg_binding *": "f.binding", "const hg_binding *": "f.binding",
    "hg_graph *": "f.graph", "const hg_graph *": "f.graph", "hg_graph *const *": "&f.graph", "const hg_graph_shard_options *": "&(hg_graph_shard_options){.size = sizeof(hg_graph_shard_options), .ranks = 1}", "hg_graph_executable *": "f.graph_executable",
    "hg_graph_binding *": "f.graph_binding", "const hg_graph_binding *": "f.graph_binding", "const hg_program *": "f.program", "hg_program *": "f.program", "hg_params *": "f.params", "const hg_params *": "f.no_params",
    "const hg_launch *": "&f.launch", "hg_launch *": "&f.launch", "hg_builder *": "f.builder", "const hg_builder *": "f.builder",
    "hg_circuit *": "f.circuit", "const hg_circuit *": "f.circuit", "const hg_ring *": "f.ring", "hg_ring *": "f.ring",
    "hg_diagnostics *": "f.diagnostics", "const hg_diagnostics *": "f.diagnostics", "hg_config *": "&f.config", "hg_tensor *": "f.tensor", "const hg_tensor *": "f.tensor", "hg_tensor_freed *": "NULL", "hg_tensor ** results": "f.results", "hg_tensor ** views": "f.results", "const hg_tensor *const *": "(const hg_tensor *const *)&f.tensor", "hg_tensor *const *": "&f.tensor", "const int32_t *": "f.order", "const int64_t *": "f.axes", "const uint64_t * shape": "f.extents", "hg_element": "HG_TYPE_F32", "hg_operation": "HG_OPS_NEG", "const hg_ops_options *": "NULL",
    "const hg_config *": "&f.config", "const hg_dim *": "f.dims", "const hg_arg *": "f.args", "hg_buffer": "f.buffer",
    "hg_pool": "f.pool", "hg_typed_buffer": "f.typed", "hg_type": "HG_TYPE_U32", "const hg_operator *": "hg_operator_at(0)",
    "const hg_dispatch_record *": "hg_dispatch_at(0)", "double": "1.0", "float": "1.0f", "hg_status": "HG_OK", "hg_label": "f.label",
    "const char * text": "f.text", "const char * operation": '"sqrt"', "const char * name": '"x"', "const char *": '"x"',
    "const char * path": '"/dev/null"', "int dir": "HG_PARAM_INOUT", "size_t length": "8", "uint64_t length": "8", "size_t size": "64",
    "hg_multi_gpu *": "f.multi", "const hg_multi_gpu *": "f.multi", "hg_distributed *": "f.distributed", "const hg_distributed *": "f.distributed",
    "const hg_placement *": "&f.placement", "const char *const * addresses": "&f.address", "const double * weights": "&f.weight", "const uint32_t * devices": "f.devices",
    "const hg_command *": "&f.command", "hg_program_cache *": "f.program_cache", "const hg_program_cache *": "f.program_cache",
    "hg_class_allocator *": "f.class_allocator", "hg_optimizer *": "f.optimizer", "hg_optimize_stats *": "NULL", "hg_code_listener *": "NULL", "hg_event_listener *": "f.on_done", "hg_config_listener *": "f.on_config", "const char * target": '"kir"', "hg_class_block": "(hg_class_block){{0}, 0, 0, 0, 1}",
}
# Structures that begin with their size, which the call fills.
FILLED = ["hg_op_description", "hg_operand_description", "hg_type_description", "hg_program_description", "hg_param_description", "hg_label_description",
          "hg_native_buffer", "hg_graph_memory_info", "hg_graph_part", "hg_executor_memory_info"]
VALID.update({f"{name} *": f"&({name}){{.size = sizeof({name})}}" for name in FILLED})
# What a call made, and how it is given back.
RELEASE = {
    "hg_program **": "hg_program_release", "char **": "hg_string_free", "uint8_t **": "hg_string_free", "hg_backend **": "hg_backend_destroy",
    "hg_opening **": "hg_opening_destroy", "hg_context **": "hg_context_destroy", "hg_queue **": "hg_queue_destroy", "hg_executable **": "hg_executable_destroy",
    "hg_binding **": "hg_binding_destroy", "hg_circuit **": "hg_circuit_destroy", "hg_ring **": "hg_ring_destroy",
    "hg_event **": "hg_event_destroy", "hg_comm **": "hg_comm_destroy", "hg_executor **": "hg_executor_destroy", "hg_tensor **": "hg_tensor_release", "hg_tensor_scope **": "(void)!hg_scope_end", "hg_graph **": "hg_graph_release", "hg_graph_executable **": "hg_graph_executable_destroy",
    "hg_graph_binding **": "hg_graph_binding_destroy", "hg_program_cache **": "hg_program_cache_destroy",
    "hg_multi_gpu **": "hg_multi_gpu_destroy", "hg_distributed **": "hg_distributed_destroy",
    "hg_class_allocator **": "hg_class_allocator_destroy", "hg_optimizer **": "hg_optimizer_destroy",
}
ENDS = re.compile(r"_(destroy|release|free|programs_free)$|^hg_string_free$")
LENGTHS = re.compile(r"length|count|size|capacity|rank|total")
INTEGER = {"uint8_t": "UINT8_MAX", "uint16_t": "UINT16_MAX", "uint32_t": "UINT32_MAX", "uint64_t": "UINT64_MAX", "size_t": "SIZE_MAX",
           "int64_t": "INT64_MIN", "int": "INT_MAX"}
BAD_TYPES = ["HG_TYPE_COUNT", "255", "256", "65536", "-1", "INT_MAX"]


def functions(folder):
    for path in sorted(glob.glob(os.path.join(folder, "hologram", "*.h"))):
        if path.endswith("testing.h"): # for tests, and ends them itself
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        text = re.sub(r"//[^\n]*", "", text)
        found = re.findall(r"(?:\bHG_API\b|static inline)\s+((?:\w+[ \n*]+)+)(hg_\w+)\s*\(([^;{()]*)\)", text)
        for result, name, parameters in found:
            result = result.replace("HG_NODISCARD", "").replace("*", " * ")
            yield " ".join(result.split()), name, split(parameters)


def split(parameters):
    listed = []
    for one in parameters.split(","):
        one = " ".join(one.replace("*", " * ").split())
        if one in ("void", ""):
            continue
        array = re.match(r"(.*?)(\w+) ?\[.*\]$", one)
        kind, name = (array[1].strip() + " *", array[2]) if array else re.match(r"(.*?)(\w+)$", one).groups()
        listed.append((kind.strip().replace("* *", "**").replace("* const *", "*const *"), name))
    return listed


def valid(kind, name):
    if f"{kind} {name}" in VALID:
        return VALID[f"{kind} {name}"]
    if kind in VALID:
        return VALID[kind]
    if kind.endswith("**"):
        return f"({kind})&f.made"
    if kind.endswith("*"):
        return f"({kind})f.bytes"
    if kind in INTEGER or kind == "bool":
        return "1"
    return f"({kind}){{0}}" if kind.startswith("hg_") else "0"


def call(result, name, parameters, wrong, value, out):
    """One call. wrong: index of the wrong argument, None: all are valid."""
    arguments = ", ".join(value if i == wrong else valid(*p) for i, p in enumerate(parameters))
    title = f"{name}({', '.join(value if i == wrong else p[1] for i, p in enumerate(parameters))})"
    out.append(f'    if (begin("{title}")) {{')
    if result == "hg_status":
        out.append(f"    f.status = {name}({arguments});")
    elif result == "char *":
        out.append(f"    hg_string_free({name}({arguments}));")
    else:
        out.append(f"    {'' if result == 'void' else '(void)'}{name}({arguments});")
    if result == "hg_status" and value == "NULL":
        may = (name, parameters[wrong][1]) in OPTIONAL or ("*", parameters[wrong][1]) in OPTIONAL
        if not may:
            out.append(f'    refused("{title}");')
    for i, (kind, parameter) in enumerate(parameters):
        if valid(kind, parameter) == "f.results":
            out.append("    for (int i = 0; i < 8; i++) {\n    hg_tensor_release(f.results[i]);\n    f.results[i] = NULL;\n    }")
            break
        if i != wrong and kind in RELEASE:
            out.append(f"    {RELEASE[kind]}(f.made);")
            out.append("    f.made = NULL;")
            break
    out.append("    end();")
    out.append("    }")


def main():
    folder, output = sys.argv[1:]
    cases, count = [], 0
    skipped = {"hg_type_of", "hg_set_allocator", "hg_json_programs_free"}
    for result, name, parameters in functions(folder):
        if name in skipped or name.endswith("_create") and result.endswith("*"):
            continue
        body = []
        for i, (kind, parameter) in enumerate(parameters):
            if kind.endswith("*") or kind.endswith("**"):
                call(result, name, parameters, i, "NULL", body)
            elif ENDS.search(name):
                continue
            elif kind == "hg_type" or kind == "hg_status":
                for bad in BAD_TYPES:
                    call(result, name, parameters, i, f"({kind}){bad}", body)
            elif kind in INTEGER and not LENGTHS.search(parameter):
                for bad in ("0", INTEGER[kind]):
                    call(result, name, parameters, i, bad, body)
        if body:
            count += 1
            cases += [f"static void call_{name}(void) {{", *body, "}"]
    with open(output, "w", encoding="utf-8") as file:
        file.write("/* Written by tests/misuse/generate.py from the public headers. */\n#include \"misuse.h\"\n\n" + "\n".join(cases))
        names = re.findall(r"^static void (call_\w+)", "\n".join(cases), re.M)
        file.write("\n\nvoid misuse_all(void) {\n" + "".join(f"    {n}();\n" for n in names) + "}\n")


if __name__ == "__main__":
    main()
