/* Memory operations, faults and the environment of an emitted C kernel.
 * Must not know: expressions, control flow. */
#include "emit/emit_c_internal.h"
#include "kir/access.h"
#include <string.h>

/* clang-format off */
static const char ENVIRONMENT[] =
    "typedef struct hg_memory {\n"
    "    uint8_t *base;\n"
    "    uint64_t size;\n"
    "    bool valid;\n"
    "    bool pool; /* for fault texts */\n"
    "} hg_memory;\n"
    "\n"
    "/* Everything a lane sees. inputs: low 64 bits of each; slots: buffers and pools that the kernel names directly. */\n"
    "typedef struct hg_env {\n"
    "    uint32_t lane_idx[3], block_idx[3], block_dim[3], grid_dim[3];\n"
    "    uint64_t global_lane_id, lane_count;\n"
    "    const uint64_t *inputs;\n"
    "    const hg_memory *slots;\n"
    "    hg_memory shared, class_memory;\n"
    "    hg_memory (*resolve)(void *user, uint64_t handle, bool pool, bool flat);\n"
    "    void (*barrier)(void *user);\n"
    "    void *user;\n"
    "    uint64_t fuel; /* loop rounds left; 0 at the start: no limit */\n"
    "    /* results */\n"
    "    bool stopped;\n"
    "    uint32_t fault; /* 0: none; 1 bounds, 2 division, 3 handle, 4 alignment, 5 domain, 6 barrier, 7 steps, 8 fuel */\n"
    "    uint32_t fault_instruction, fault_operand;\n"
    "    uint64_t fault_offset, fault_limit;\n"
    "    const char *fault_message;\n"
    "} hg_env;\n"
    "\n"
    "static inline float hg_input_f32(const hg_env *env, unsigned index) {\n"
    "    uint32_t bits = (uint32_t)env->inputs[index];\n"
    "    float value;\n"
    "    memcpy(&value, &bits, 4);\n"
    "    return value;\n"
    "}\n"
    "static inline double hg_input_f64(const hg_env *env, unsigned index) {\n"
    "    double value;\n"
    "    memcpy(&value, &env->inputs[index], 8);\n"
    "    return value;\n"
    "}\n"
    "static inline void hg_fault(hg_env *env, uint32_t code, uint32_t instruction, uint32_t operand, const char *message) {\n"
    "    env->stopped = true;\n"
    "    env->fault = code;\n"
    "    env->fault_instruction = instruction;\n"
    "    env->fault_operand = operand;\n"
    "    env->fault_message = message;\n"
    "}\n"
    "static inline bool hg_out_of_fuel(hg_env *env) {\n"
    "    if (env->fuel == 0 || --env->fuel != 0) return false;\n"
    "    hg_fault(env, 8, 0, 0, \"fuel\");\n"
    "    return true;\n"
    "}\n"
    "/* The place of size bytes at index + disp (added exactly), or NULL and a fault. */\n"
    "static inline uint8_t *hg_address(hg_env *env, hg_memory memory, uint64_t index, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {\n"
    "    if (!memory.valid) {\n"
    "        hg_fault(env, 3, instruction, operand, memory.pool ? \"invalid pool handle\" : \"invalid buffer handle\");\n"
    "        return NULL;\n"
    "    }\n"
    "    uint64_t offset = index + (uint64_t)disp;\n"
    "    bool wrapped = disp < 0 ? index < 0 - (uint64_t)disp : offset < index;\n"
    "    if (wrapped || size > memory.size || offset > memory.size - size) {\n"
    "        hg_fault(env, 1, instruction, operand, memory.pool ? \"pool access out of bounds\" : \"buffer access out of bounds\");\n"
    "        env->fault_offset = offset;\n"
    "        env->fault_limit = memory.size;\n"
    "        return NULL;\n"
    "    }\n"
    "    return memory.base ? memory.base + offset : NULL;\n"
    "}\n"
    "/* A flat address: bits 40 to 62 the handle's index, 0 to 39 the offset, bit 63 a pool. */\n"
    "static inline uint8_t *hg_flat_address(hg_env *env, uint64_t address, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {\n"
    "    bool pool = address >> 63 != 0;\n"
    "    uint64_t handle = address >> 40 & 0x7fffff, offset = address & UINT64_C(0xffffffffff);\n"
    "    hg_memory memory = handle == 0 && !pool ? env->class_memory : env->resolve(env->user, handle, pool, true);\n"
    "    memory.pool = pool;\n"
    "    return hg_address(env, memory, offset, disp, size, instruction, operand);\n"
    "}\n"
    "static inline uint8_t *hg_handle_address(hg_env *env, uint64_t handle, bool pool, uint64_t index, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {\n"
    "    hg_memory memory = env->resolve(env->user, handle, pool, false);\n"
    "    memory.pool = pool;\n"
    "    return hg_address(env, memory, index, disp, size, instruction, operand);\n"
    "}\n"
    "static inline hg_memory hg_class(const hg_env *env, uint32_t class_id) {\n"
    "    hg_memory memory = env->class_memory;\n"
    "    memory.base += class_id * UINT64_C(12288);\n"
    "    memory.size = 12288;\n"
    "    return memory;\n"
    "}\n"
    "\n";
/* clang-format on */

/* Not every kernel calls every helper: one pragma keeps clang from warning about that. */
void emit_c_environment(hg_text *out) {
    hg_text_addf(out, "#if defined(__clang__)\n#pragma clang diagnostic ignored "
                      "\"-Wunused-function\"\n#endif\n\n");
    hg_text_add(out, ENVIRONMENT, sizeof ENVIRONMENT - 1);
}

static void text(c_printer *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }

/* The 64-bit argument that starts at args[*i]. */
static void wide_argument(c_printer *p, const kir_value *v, uint8_t *i) {
    if (v->u.mem.split) {
        text(p, "((uint64_t)");
        emit_c_name(p, v->args[*i]);
        text(p, " | (uint64_t)");
        emit_c_name(p, v->args[*i + 1]);
        text(p, " << 32)");
        *i = (uint8_t)(*i + 2);
    } else {
        emit_c_name(p, v->args[(*i)++]);
    }
}

/* "uint8_t *m12 = hg_address(…);" and the way out. Returns the index of the first argument after
 * the address. */
static uint8_t print_address(c_printer *p, const kir_value *v) {
    uint8_t space = v->u.mem.space, next = 0;
    bool pool = space == KIR_POOL, handle = space == KIR_BUFFER || pool;
    bool result = v->op != KIR_CHECK;
    emit_c_line(p);
    if (result)
        hg_text_addf(p->out, "uint8_t *m%u = ", (unsigned)v->id);
    else
        text(p, "if (!");
    if (space == KIR_FLAT) {
        text(p, "hg_flat_address(env, ");
        wide_argument(p, v, &next);
    } else if (handle && v->u.mem.slot >= 0) {
        next = kir_access_of(v).handle_args;
        hg_text_addf(p->out, "hg_address(env, env->slots[%d], ", (int)v->u.mem.slot);
    } else if (handle) {
        text(p, "hg_handle_address(env, ");
        wide_argument(p, v, &next);
        text(p, pool ? ", true, " : ", false, ");
    } else if (space == KIR_SHARED) {
        text(p, "hg_address(env, env->shared, ");
    } else {
        hg_text_addf(p->out, "hg_address(env, hg_class(env, %u), ", (unsigned)v->u.mem.class_id);
    }
    if (v->u.mem.has_index)
        wide_argument(p, v, &next);
    else if (space != KIR_FLAT)
        text(p, "0");
    uint64_t disp = (uint64_t)v->u.mem.disp;
    if (v->u.mem.disp == INT64_MIN)
        text(p, ", INT64_MIN");
    else
        hg_text_addf(p->out, ", %s%llu", v->u.mem.disp < 0 ? "-" : "",
                     (unsigned long long)(v->u.mem.disp < 0 ? 0 - disp : disp));
    unsigned size = v->op == KIR_CHECK || !v->u.mem.bytes ? v->u.mem.bytes_wide : v->u.mem.bytes;
    hg_text_addf(p->out, ", %u, %u, %u)", size, (unsigned)(v->inst ? v->inst - 1 : 0),
                 (unsigned)v->u.mem.operand);
    if (result) {
        text(p, ";\n");
        emit_c_line(p);
        hg_text_addf(p->out, "if (!m%u) ", (unsigned)v->id);
    } else {
        text(p, ") ");
    }
    emit_c_leave(p);
    text(p, "\n");
    return next;
}

static const char *const MEMORY_TYPES[] = {"?", "uint8_t", "uint16_t", "?",       "uint32_t",
                                           "?", "?",       "?",        "uint64_t"};

static void print_load(c_printer *p, const kir_value *v) {
    unsigned id = (unsigned)v->id;
    print_address(p, v);
    if (!v->uses) return;
    uint64_t size = kir_type_bytes(v->type);
    emit_c_line(p);
    if (size == v->u.mem.bytes && v->type != KIR_BOOL) {
        hg_text_addf(p->out, "%s v%u;\n", emit_c_type(p, v->type), id);
        emit_c_line(p);
        hg_text_addf(p->out, "memcpy(&v%u, m%u, %u);\n", id, id, (unsigned)size);
        return;
    }
    const char *narrow = MEMORY_TYPES[v->u.mem.bytes];
    hg_text_addf(p->out, "%s n%u;\n", narrow, id);
    emit_c_line(p);
    hg_text_addf(p->out, "memcpy(&n%u, m%u, %u);\n", id, id, (unsigned)v->u.mem.bytes);
    emit_c_line(p);
    hg_text_addf(p->out, "const %s v%u = %sn%u;\n", emit_c_type(p, v->type), id,
                 v->type == KIR_BOOL ? "0 != " : "", id);
}

static void print_store(c_printer *p, const kir_value *v) {
    unsigned id = (unsigned)v->id;
    const kir_value *value = v->args[print_address(p, v)];
    uint64_t size = kir_type_bytes(value->type);
    emit_c_line(p);
    if (size == v->u.mem.bytes)
        hg_text_addf(p->out, "const %s n%u = ", emit_c_type(p, value->type), id);
    else
        hg_text_addf(p->out, "const %s n%u = (%s)", MEMORY_TYPES[v->u.mem.bytes], id,
                     MEMORY_TYPES[v->u.mem.bytes]);
    emit_c_name(p, value);
    text(p, ";\n");
    emit_c_line(p);
    hg_text_addf(p->out, "memcpy(m%u, &n%u, %u);\n", id, id, (unsigned)v->u.mem.bytes);
}

static void print_atomic(c_printer *p, const kir_value *v) {
    static const char *const FETCH[] = {[KIR_ATOMIC_ADD] = "__atomic_fetch_add",
                                        [KIR_ATOMIC_AND] = "__atomic_fetch_and",
                                        [KIR_ATOMIC_OR] = "__atomic_fetch_or",
                                        [KIR_ATOMIC_XOR] = "__atomic_fetch_xor",
                                        [KIR_ATOMIC_EXCH] = "__atomic_exchange_n"};
    unsigned id = (unsigned)v->id, bytes = v->u.mem.bytes;
    const char *type = MEMORY_TYPES[bytes], *as_signed = bytes == 4 ? "(int32_t)" : "(int64_t)";
    uint8_t next = print_address(p, v);
    emit_c_line(p);
    hg_text_addf(p->out, "if ((uintptr_t)m%u %% %u) {\n", id, bytes);
    hg_text_addf(p->out, "%*shg_fault(env, 4, %u, %u, \"misaligned atomic\");\n%*s",
                 emit_c_blanks(p->indent + 1), "", (unsigned)(v->inst ? v->inst - 1 : 0),
                 (unsigned)v->u.mem.operand, emit_c_blanks(p->indent + 1), "");
    emit_c_leave(p);
    hg_text_addf(p->out, "\n%*s}\n", emit_c_blanks(p->indent), "");
    emit_c_line(p);
    if (v->u.mem.atomic < HG_COUNT_OF(FETCH) && FETCH[v->u.mem.atomic]) {
        hg_text_addf(p->out, "const %s v%u = %s((%s *)(void *)m%u, ", type, id,
                     FETCH[v->u.mem.atomic], type, id);
        emit_c_name(p, v->args[next]);
        hg_text_addf(p->out, ", __ATOMIC_RELAXED);\n");
    } else {
        hg_text_addf(p->out, "%s v%u = __atomic_load_n((%s *)(void *)m%u, __ATOMIC_RELAXED);\n",
                     type, id, type, id);
        emit_c_line(p);
        bool cas = v->u.mem.atomic == KIR_ATOMIC_CAS,
             sign = v->u.mem.atomic == KIR_ATOMIC_SMIN || v->u.mem.atomic == KIR_ATOMIC_SMAX;
        bool smaller = v->u.mem.atomic == KIR_ATOMIC_SMIN || v->u.mem.atomic == KIR_ATOMIC_UMIN;
        hg_text_addf(p->out, "while (%s", cas ? "" : sign ? as_signed : "");
        if (cas)
            hg_text_addf(p->out, "v%u == ", id);
        else
            hg_text_addf(p->out, smaller ? "v%u > %s" : "v%u < %s", id, sign ? as_signed : "");
        emit_c_name(p, v->args[next]);
        hg_text_addf(p->out, " && !__atomic_compare_exchange_n((%s *)(void *)m%u, &v%u, ", type, id,
                     id);
        emit_c_name(p, v->args[cas ? next + 1 : next]);
        hg_text_addf(p->out, ", false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}\n");
    }
    emit_c_line(p);
    hg_text_addf(p->out, "(void)v%u;\n", id);
}

static void print_fault_if(c_printer *p, const kir_value *v) {
    emit_c_line(p);
    text(p, "if (");
    emit_c_name(p, v->args[0]);
    hg_text_addf(p->out, ") {\n%*shg_fault(env, %u, %u, %u, ", emit_c_blanks(p->indent + 1), "",
                 (unsigned)v->u.fault.code, (unsigned)(v->inst ? v->inst - 1 : 0),
                 (unsigned)v->u.fault.operand);
    const char *message = v->u.fault.message                      ? v->u.fault.message
                          : v->u.fault.code == KIR_FAULT_DIVISION ? "division by zero"
                                                                  : "fault";
    text(p, "\"");
    for (; *message; message++) {
        unsigned char c = (unsigned char)*message;
        if (c == '"' || c == '\\' || c < 32 || c == '?')
            hg_text_addf(p->out, "\\%03o", (unsigned)c);
        else
            hg_text_add(p->out, message, 1);
    }
    text(p, "\");");
    static const char *const FIELDS[KIR_FAULT_VALUES] = {"fault_offset", "fault_limit"}; /* the
                                                                                            numbers
                                                                                            for {}
                                                                                            in the
                                                                                            message
                                                                                          */
    for (uint8_t i = 0; i < v->u.fault.values && v->nargs == 1 + v->u.fault.values; i++) {
        hg_text_addf(p->out, "\n%*senv->%s = ", emit_c_blanks(p->indent + 1), "", FIELDS[i]);
        emit_c_name(p, v->args[1 + i]);
        text(p, ";");
    }
    hg_text_addf(p->out, "\n%*s", emit_c_blanks(p->indent + 1), "");
    emit_c_leave(p);
    hg_text_addf(p->out, "\n%*s}\n", emit_c_blanks(p->indent), "");
}

static bool print_memory(c_printer *p, const kir_value *v) {
    static const char *const ORDER[] = {NULL, "__ATOMIC_ACQ_REL", "__ATOMIC_ACQ_REL",
                                        "__ATOMIC_SEQ_CST"};
    switch ((kir_op)v->op) {
    case KIR_LOAD: print_load(p, v); return true;
    case KIR_STORE: print_store(p, v); return true;
    case KIR_CHECK: print_address(p, v); return true;
    case KIR_ATOMIC: print_atomic(p, v); return true;
    case KIR_FAULT_IF: print_fault_if(p, v); return true;
    case KIR_FENCE:
        if (ORDER[v->u.imm & 3]) {
            emit_c_line(p);
            hg_text_addf(p->out, "__atomic_thread_fence(%s);\n", ORDER[v->u.imm & 3]);
        }
        return true;
    case KIR_BARRIER:
        emit_c_line(p);
        hg_text_addf(p->out, "env->barrier(env->user); /* barrier %u */\n", (unsigned)v->u.imm);
        return true;
    default: return false;
    }
}

static void print_kernel_head(c_printer *p) {
    hg_text_addf(p->out,
                 "/* One lane of the kernel. */\nvoid %s(hg_env *env) {\n    %s_lane "
                 "lane_variables = {0}, *lane = &lane_variables;\n"
                 "    (void)lane;\n    env->stopped = false;\n",
                 p->name, p->name);
}

static const char *const ID_FIELDS[] = {
    "lane_idx[0]",  "lane_idx[1]",  "lane_idx[2]",    "block_idx[0]", "block_idx[1]",
    "block_idx[2]", "block_dim[0]", "block_dim[1]",   "block_dim[2]", "grid_dim[0]",
    "grid_dim[1]",  "grid_dim[2]",  "global_lane_id", "lane_count"};

static void print_id(c_printer *p, const kir_value *v) {
    hg_text_addf(p->out, "(%s)%senv->%s%s;\n", emit_c_type(p, v->type),
                 v->u.imm & KIR_ID_HIGH ? "(" : "", ID_FIELDS[v->u.imm & (KIR_ID_HIGH - 1)],
                 v->u.imm & KIR_ID_HIGH ? " >> 32)" : "");
}

static void print_input(c_printer *p, const kir_value *v) {
    unsigned index = (unsigned)v->u.imm;
    if (v->type == HG_TYPE_F32)
        hg_text_addf(p->out, "hg_input_f32(env, %u);\n", index);
    else if (v->type == HG_TYPE_F64)
        hg_text_addf(p->out, "hg_input_f64(env, %u);\n", index);
    else if (v->type == KIR_BOOL)
        hg_text_addf(p->out, "(env->inputs[%u] & 1) != 0;\n", index);
    else
        hg_text_addf(p->out, "(%s)env->inputs[%u];\n", emit_c_type(p, v->type), index);
}

static void print_parameters(c_printer *p) {
    hg_text_addf(p->out, "hg_env *env, %s_lane *lane", p->name);
}

const c_form emit_c_lane = {
    .lane_at_a_time = true,
    .shared = "lane->",
    .arguments = "env, lane",
    .unused = "    (void)env;\n    (void)lane;\n",
    .parameters = print_parameters,
    .kernel_head = print_kernel_head,
    .id = print_id,
    .input = print_input,
    .memory = print_memory,
};
