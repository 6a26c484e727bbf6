#!/usr/bin/python3
"""Writes a C program that calls every function of the public headers once, with valid arguments, and notes what it gives.

    generate.py HEADERS-FOLDER OUTPUT.c

What functions there are, and what is valid for them, is told by tests/misuse/generate.py; VALID here has what makes them compute. Functions that end
an object are called when the test puts its objects away.
"""
import importlib.util
import os
import re
import sys

place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "misuse", "generate.py")
spec = importlib.util.spec_from_file_location("misuse", place)
misuse = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(misuse)

# By function and parameter.
VALID = {
    ("hg_backend_create", "name"): "f.backend_name", ("hg_backend_create", "device"): "0", ("hg_buffer_import", "memory"): "f.import",
    ("hg_buffer_import", "size"): "4096", ("hg_type_from_f64", "value"): "f.real", ("hg_type_from_f64", "type"): "HG_TYPE_F16",
    ("hg_type_to_f64", "type"): "HG_TYPE_F32", ("hg_type_to_f64", "bytes"): "&f.small", ("hg_type_to_f64", "value"): "(double *)f.bytes",
    ("hg_graph_call_program", "args"): "NULL", ("hg_graph_call_program", "arg_count"): "0", ("hg_graph_call_program", "made"): "NULL",
    ("hg_graph_call_program", "made_count"): "0", ("hg_graph_call", "args"): "NULL", ("hg_graph_call", "arg_count"): "0",
    ("hg_graph_call", "made"): "NULL", ("hg_graph_call", "made_count"): "0", ("hg_graph_binding_submit", "wait_count"): "0",
    ("hg_graph_read_text", "text"): "f.graph_text", ("hg_graph_read_text", "options"): "NULL", ("hg_graph_read_stablehlo", "text"): "f.stablehlo_text", ("hg_graph_add_text", "text"): "f.graph_text",
    ("hg_graph_add_text", "options"): "NULL", ("hg_graph_bind", "params"): "f.graph_params", ("hg_graph_compile", "options"): "NULL",
    ("hg_circuit_parse", "text"): "f.circuit_text", ("hg_circuit_compile", "text"): "f.circuit_text",
    ("hg_circuit_to_isa_translate", "text"): "f.circuit_text", ("hg_circuit_constant", "text"): '"0.1"', ("hg_circuit_set_type", "type"): '"f32"',
    ("hg_kernel_by_name", "name"): '"atlas_add_f32"', ("hg_program_assemble_with", "options"): "&f.assembling",
    ("hg_json_to_isa_translate_named", "kernel"): '"mix"', ("hg_params_set_scalar", "type"): "HG_TYPE_F32",
    ("hg_params_set_scalar", "value"): "&f.small", ("hg_backend_write_profile", "path"): '"/dev/null"',
    ("hg_devices_list", "capacity"): "0", ("hg_devices_list", "devices"): "NULL", ("hg_devices_list", "size"): "sizeof(hg_device_info)",
    ("hg_backend_describe", "size"): "sizeof(hg_device_info)", ("hg_config_init", "size"): "sizeof(hg_config)",
    ("hg_program_emit", "target"): "f.target", ("hg_queue_submit", "commands"): "f.commands", ("hg_queue_submit", "count"): "2",
    ("hg_backend_type_memory", "type"): "HG_TYPE_U8", ("hg_class_free", "block"): "f.block", ("hg_class_allocate", "block"): "&f.block",
    ("hg_class_resonate", "vector"): "f.lift", ("hg_class_lift", "vector"): "f.lift", ("hg_free_typed", "buffer"): "f.spare_typed",
    ("hg_backend_free_buffer", "buffer"): "f.spare", ("hg_backend_free_pool", "pool"): "f.spare_pool", ("hg_context_set_phase", "value"): "5",
    ("hg_execute_unary", "input"): "f.typed", ("hg_execute_unary", "output"): "f.typed_out", ("hg_execute_binary", "output"): "f.typed_out",
    ("hg_execute_reduce", "output"): "f.typed_one", ("hg_execute_binary", "operation"): '"div"', ("hg_execute_reduce", "operation"): '"sum"',
    ("hg_copy_typed_to", "type"): "HG_TYPE_F32", ("hg_copy_typed_from", "type"): "HG_TYPE_F32", ("hg_copy_typed_to", "data"): "f.floats",
    ("hg_comm_create", "provider"): '"threads"', ("hg_comm_start", "wait_count"): "0", ("hg_context_set_comm", "comm"): "NULL",
    ("hg_multi_gpu_create", "backend"): '"cpu"', ("hg_distributed_create", "backend"): '"cpu"', ("hg_distributed_broadcast", "root"): "0",
    ("hg_copy_typed_to", "count"): "8", ("hg_copy_typed_from", "count"): "8", ("hg_type_zero", "type"): "HG_TYPE_F32",
    ("hg_type_one", "type"): "HG_TYPE_BF16", ("hg_circuit_run", "circuit"): "&f.translated", ("hg_circuit_submit", "circuit"): "&f.translated",
}
# Texts are the JSON kernel for these.
JSON = ("hg_json_to_isa_translate", "hg_json_to_isa_translate_named", "hg_json_to_isa_translate_all")
# Not called: they change what later calls find, or need what this test does not have. Each with its reason.
SKIPPED = {
    "hg_set_allocator": "only before all other calls: the test has its own place for it", "hg_json_programs_free": "takes what another made",
    "hg_buffer_import_device": "needs another device's memory", "hg_backend_create_auto": "asks for other devices than the test's",
    "hg_executor_create_auto": "asks for other devices than the test's", "hg_ffi_new_executor_auto": "asks for other devices than the test's",
    "hg_executor_create_with_backend": "asks for other devices than the test's", "hg_tree_create": "the test makes one",
    "hg_translated_program_release": "takes what another made", "hg_thread_cancel_word": "ends the launches behind it", "hg_comm_revoke": "ends the calls behind it", "hg_opening_poll": "what it says depends on time; hg_backend_create opens the same way",
}
CALLED_OPERATIONS = ("hg_ops_call", "hg_ops_call_into", "hg_ops_find", "hg_ops_add", "hg_ops_exp_into")
# What is written through these is noted; records may hold pointers.
NUMBERS = {"double *", "float *", "uint64_t *", "uint32_t *", "uint8_t *", "int *", "bool *", "void *", "size_t *"}
TEXTS = ("char *", "const char *")


def argument(name, kind, parameter):
    if (name, parameter) in VALID:
        return VALID[(name, parameter)]
    if parameter == "text" and name in JSON:
        return "f.json"
    if parameter == "length" and kind == "size_t" and any(p == "text" for _, p in PARAMETERS[name]):
        text = next(argument(name, k, p) for k, p in PARAMETERS[name] if p == "text")
        return f"strlen({text})"
    if kind == "hg_diagnostics *":
        return "NULL"
    return misuse.valid(kind, parameter)


PARAMETERS = {}


def call(result, name, parameters):
    arguments = ", ".join(argument(name, *p) for p in parameters)
    out = [f"static void call_{name}(void) {{", f'    modes_begin("{name}");']
    if result == "void":
        out.append(f"    {name}({arguments});\n    modes_end();")
    elif result in TEXTS or result == "hg_status" or result in misuse.INTEGER or result in ("bool", "hg_type", "double"):
        kind = "text" if result in TEXTS else "double" if result == "double" else "number"
        out.append(f"    {result} r = {name}({arguments});\n    modes_end();\n    modes_note_{kind}({'' if kind != 'number' else '(uint64_t)'}r);")
        if result == "char *":
            out.append("    hg_string_free(r);")
    else: # a pointer or a record: that it comes is enough
        out.append(f"    (void){name}({arguments});\n    modes_end();")
    for kind, parameter in parameters:
        if misuse.valid(kind, parameter) == "f.results":
            out.append("    for (int i = 0; i < 8; i++) {\n    hg_tensor_release(f.results[i]);\n    f.results[i] = NULL;\n    }")
            break
        if (name, parameter) in VALID or kind not in misuse.RELEASE:
            continue
        if kind == "hg_program **":
            out.append("    modes_note_program(f.made);")
        elif kind in ("char **", "uint8_t **"):
            out.append("    modes_note_made(f.status_length);")
        out.append(f"    {misuse.RELEASE[kind]}(f.made);\n    f.made = NULL;")
        break
    if any(kind in NUMBERS and (name, parameter) not in VALID for kind, parameter in parameters):
        out.append("    modes_note_bytes();")
    out.append("}")
    return out


def main():
    folder, output = sys.argv[1:]
    lines, names, put_away = [], [], []
    for result, name, parameters in misuse.functions(folder):
        PARAMETERS[name] = parameters
        if name in SKIPPED or name in names:
            continue
        if name.startswith("hg_ops_") and result.startswith("hg_status") and name not in CALLED_OPERATIONS: # each is one line around these
            continue
        if misuse.ENDS.search(name) or name.endswith("_create") and result.endswith("*") and not parameters:
            put_away.append(name)
            continue
        names.append(name)
        lines += call(result, name, parameters)
    with open(output, "w", encoding="utf-8") as file:
        file.write('/* Written by tests/modes/generate.py from the public headers. */\n#include "modes.h"\n\n' + "\n".join(lines))
        file.write("\n\nvoid modes_all(void) {\n" + "".join(f"    call_{n}();\n" for n in names) + "}\n")
        file.write(f"\nconst unsigned modes_functions = {len(names) + len(put_away)}, modes_left_out = {len(SKIPPED)};\n")


main()
