/* Instructions (language.md 4): the form among rows that share a mnemonic, operands checked against
 * the row, branches. Everything about an instruction comes from the table.
 * Must not know: types of registers, control flow. */
#include "isa/assemble_inst.h"

#include <stdio.h>

/* ---- the form ---- */

/* How strictly operands are taken: as the forms are, or also what the assembler can put into a
 * register. */
typedef enum strictness { EXACTLY, LOOSELY } strictness;

static bool fits_register(const hg_op_info *row, const hg_operand_info *info,
                          const hg_raw_operand *raw, strictness how) {
    if (hg_raw_is_register(raw)) return true;
    bool run = (row->flags & HG_F_RUN) && (info->access & HG_READ);
    if (run) return raw->kind == HG_RAW_WORD && raw->word == HG_WORD_ARRAY;
    bool value = raw->literal.length || (raw->kind == HG_RAW_WORD && raw->word == HG_WORD_ID);
    return how == LOOSELY && value && !(info->access & HG_WRITE);
}

static bool fits(const hg_op_info *row, const hg_operand_info *info, const hg_raw_operand *raw,
                 strictness how) {
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG: return fits_register(row, info, raw, how);
    case HG_K_PRED:
        return raw->kind == HG_RAW_PRED ||
               (raw->kind == HG_RAW_WORD && raw->word == HG_WORD_PREDICATE);
    case HG_K_LABEL: return raw->kind == HG_RAW_TARGET;
    case HG_K_ADDRESS: return raw->kind == HG_RAW_ADDRESS;
    case HG_K_ARRAY: return raw->kind == HG_RAW_ADDRESS || hg_raw_is_register(raw);
    case HG_K_COUNT:
        return hg_raw_is_register(raw) || raw->literal.length != 0 ||
               (how == LOOSELY && raw->kind == HG_RAW_WORD && raw->word == HG_WORD_ID);
    case HG_K_LITERAL:
    case HG_K_U8:
    case HG_K_I8: return raw->literal.length != 0;
    case HG_K_POOL: return raw->kind == HG_RAW_POOL;
    case HG_K_OPNAME:
    case HG_K_IDNAME:
    case HG_K_BOOL: return raw->kind == HG_RAW_WORD;
    case HG_K_TUPLE: return raw->kind == HG_RAW_TUPLE;
    case HG_K_TUPLES:
        return raw->kind == HG_RAW_TUPLES ||
               (raw->kind == HG_RAW_TUPLE && raw->value.item_count == 0);
    default: return false;
    }
}

static const char *kind_text(const hg_operand_info *info) {
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG: return "a register";
    case HG_K_PRED: return "a predicate";
    case HG_K_LABEL: return "a label (@name)";
    case HG_K_ADDRESS: return "an address ([...])";
    case HG_K_ARRAY: return "an array (a register holding a buffer, or an address)";
    case HG_K_COUNT: return "an unsigned number or a register";
    case HG_K_LITERAL: return "a literal";
    case HG_K_U8:
    case HG_K_I8: return "a number";
    case HG_K_POOL: return "a pool (poolN)";
    case HG_K_OPNAME: return "an operation";
    case HG_K_IDNAME: return "the name of an id (lane_idx_x, ...)";
    case HG_K_BOOL: return "true or false";
    case HG_K_TUPLE: return "a tuple of numbers and registers";
    case HG_K_TUPLES: return "a tuple of tuples";
    default: return "another operand";
    }
}

static const char *raw_text(const hg_raw_operand *raw, char buffer[80]) {
    static const char *const names[] = {"register", "predicate",      "label", "address",
                                        "pool",     "literal",        "word",  "named operand",
                                        "tuple",    "tuple of tuples"};
    static const char *const words[] = {"word", "register", "predicate", "register array", "id"};
    snprintf(buffer, 80, "%s '%.*s'%s",
             raw->kind == HG_RAW_WORD ? words[raw->word] : names[raw->kind],
             hg_token_shown(&raw->token), raw->token.text,
             raw->token.length > HG_MOST_SHOWN_BYTES ? "..." : "");
    return buffer;
}

/* Operands of a row that text writes, by position or by name. */
static uint32_t count_operands(const hg_op_info *info, bool named) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->operand_count; i++)
        count += !hg_operand_in_mnemonic(&info->operands[i]) &&
                 hg_operand_is_named(&info->operands[i]) == named;
    return count;
}

static uint32_t text_operand_count(const hg_op_info *info) {
    return count_operands(info, false) + count_operands(info, true);
}

/* The operand of that name, operand_count: none. */
static uint32_t find_named(const hg_op_info *info, const hg_token *name) {
    uint32_t i = 0;
    while (i < info->operand_count &&
           !(hg_operand_is_named(&info->operands[i]) && hg_token_is(name, info->operands[i].name)))
        i++;
    return i;
}

/* Those by position come first; those by name behind them in any order. */
static void match_row(const hg_op_info *info, const hg_given *given, strictness how, hg_match *m) {
    uint32_t n = 0, i = 0;
    memset(m->given, HG_NOT_GIVEN, sizeof m->given);
    m->whole = true;
    for (; i < info->operand_count && m->whole; i++) {
        if (hg_operand_in_mnemonic(&info->operands[i]) || hg_operand_is_named(&info->operands[i]))
            continue;
        m->whole = n < given->count && !given->raw[n].name.length &&
                   fits(info, &info->operands[i], &given->raw[n], how);
        if (m->whole) m->given[i] = (uint8_t)n++;
    }
    for (; m->whole && n < given->count && given->raw[n].name.length; n++) {
        i = find_named(info, &given->raw[n].name);
        if (i == info->operand_count || m->given[i] != HG_NOT_GIVEN ||
            !fits(info, &info->operands[i], &given->raw[n], how))
            break;
        m->given[i] = (uint8_t)n;
    }
    m->matched = n;
    m->whole = m->whole && n == given->count && !given->extra.length;
    for (i = 0; i < info->operand_count && m->whole; i++)
        m->whole = m->given[i] != HG_NOT_GIVEN || info->operands[i].optional ||
                   hg_operand_in_mnemonic(&info->operands[i]);
}

/* Among the rows of a mnemonic the one that suits: all operands, else the longest beginning. */
static hg_op choose_among(const hg_mnemonic *name, const hg_given *given, strictness how,
                          hg_match *best) {
    uint32_t types = name->parts - name->suffix;
    hg_op op = name->op, chosen = op; /* takes so many types */
    match_row(hg_op_get(op), given, how, best);
    while (!best->whole && (op = hg_op_next_form(op)) != HG_OP_NONE) {
        hg_match m;
        if (!hg_asm_takes_types(op, types) &&
            !(name->lacks_type && hg_op_get(op)->type_count > types))
            continue;
        match_row(hg_op_get(op), given, how, &m);
        if (!m.whole && m.matched <= best->matched) continue;
        chosen = op;
        *best = m;
    }
    return chosen;
}

static hg_op choose_form(const hg_mnemonic *name, const hg_given *given, hg_match *best) {
    hg_op op = choose_among(name, given, EXACTLY, best);
    return best->whole ? op : choose_among(name, given, LOOSELY, best);
}

static const hg_operand_info *nth_operand(const hg_op_info *info, uint32_t n) {
    for (uint32_t i = 0;; i++)
        if (!hg_operand_in_mnemonic(&info->operands[i]) && n-- == 0) return &info->operands[i];
}

/* A given operand name= that the row does not have, has already, or has with another kind of value.
 */
static void wrong_named(hg_assembler *a, const hg_op_info *info, const hg_raw_operand *raw,
                        const hg_match *m) {
    uint32_t i = find_named(info, &raw->name);
    int shown = hg_token_shown(&raw->name);
    char got[80];
    if (i == info->operand_count) {
        hg_nearest nearest;
        hg_nearest_init(&nearest, raw->name.text, raw->name.length);
        for (uint32_t k = 0; k < info->operand_count; k++)
            if (hg_operand_is_named(&info->operands[k]) && m->given[k] == HG_NOT_GIVEN)
                hg_nearest_try(&nearest, info->operands[k].name);
        hg_asm_error(a, "N03", &raw->name, hg_nearest_hint(&nearest), "'%s' has no operand '%.*s='",
                     info->text, shown, raw->name.text);
    } else if (m->given[i] != HG_NOT_GIVEN) {
        hg_asm_error(a, "N05", &raw->name, NULL, "operand '%s=' of '%s' is given twice",
                     info->operands[i].name, info->text);
    } else {
        hg_asm_error(a, "N03", &raw->token, NULL, "operand '%s' of '%s': expected %s, got %s",
                     info->operands[i].name, info->text, kind_text(&info->operands[i]),
                     raw_text(raw, got));
    }
}

static void missing_named(hg_assembler *a, const hg_mnemonic *name, const hg_op_info *info,
                          const hg_match *m) {
    char list[200] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand_info *o = &info->operands[i];
        if (!hg_operand_is_named(o) || o->optional || m->given[i] != HG_NOT_GIVEN) continue;
        bool room = length + strlen(o->name) + 8 < sizeof list;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s",
                                   length ? ", " : "", room ? o->name : "...", room ? "=" : "");
        if (!room) break;
    }
    hg_asm_error(a, "N05", &name->token, NULL, "'%s' without %s", info->text, list);
}

/* Messages of mnemonics with several forms, and of those without names, count: which form was meant
 * is not known. */
/* What makes the operand one of the kind that is expected; NULL: it is not known. */
static const char *other_kind_hint(const hg_operand_info *expected, const hg_raw_operand *raw,
                                   char hint[HG_FOREIGN_BYTES]) {
    int shown = hg_token_shown(&raw->token);
    bool word = raw->token.kind == HG_TOKEN_NAME && !raw->name.length;
    if (!word) return NULL;
    if (expected->kind == HG_K_LABEL)
        snprintf(hint, HG_FOREIGN_BYTES, "write @%.*s", shown, raw->token.text);
    else if (expected->kind == HG_K_ADDRESS && raw->element != HG_TYPE_OMITTED)
        snprintf(hint, HG_FOREIGN_BYTES,
                 "write [%.*s[i]], where i is the element's number: [%.*s[global]]", shown,
                 raw->token.text, shown, raw->token.text);
    else
        return NULL;
    return hint;
}

static bool wrong_operands(hg_assembler *a, const hg_mnemonic *name, hg_op op,
                           const hg_given *given, const hg_match *m) {
    const hg_op_info *info = hg_op_get(op);
    uint32_t wanted = text_operand_count(info), by_position = count_operands(info, false);
    bool by_name = wanted > by_position && m->matched >= by_position &&
                   hg_op_next_form(name->op) == HG_OP_NONE;
    char got[80];
    const hg_raw_operand *raw = m->matched < given->count ? &given->raw[m->matched] : NULL;
    if (by_name && raw && raw->name.length) {
        wrong_named(a, info, raw, m);
    } else if (by_name && raw) {
        hg_asm_error(a, "N03", &raw->token, NULL, "operand %u of '%s': expected NAME=VALUE, got %s",
                     (unsigned)m->matched + 1, info->text, raw_text(raw, got));
    } else if (by_name && !given->extra.length) {
        missing_named(a, name, info, m);
    } else if (raw && m->matched < wanted) {
        const hg_operand_info *expected = nth_operand(info, m->matched);
        if (raw->name.length)
            snprintf(got, sizeof got, "'%.*s='", hg_token_shown(&raw->name), raw->name.text);
        else
            raw_text(raw, got);
        bool register_kind = expected->kind == HG_K_REG || expected->kind == HG_K_COUNT ||
                             expected->kind == HG_K_ARRAY;
        bool unknown = register_kind && raw->kind == HG_RAW_WORD && raw->word == HG_WORD_NONE;
        char hint[HG_FOREIGN_BYTES];
        if (unknown && !hg_asm_is_unknown(a, &raw->token)) return false;
        hg_asm_error(a, "N03", &raw->token,
                     unknown ? hg_asm_register_hint(a, &raw->token, hint)
                             : other_kind_hint(expected, raw, hint),
                     "operand %u of '%s': expected %s%s%s, got %s", (unsigned)m->matched + 1,
                     info->text, hg_operand_is_named(expected) ? expected->name : "",
                     hg_operand_is_named(expected) ? "=" : "", kind_text(expected), got);
    } else {
        bool fewer = given->count < wanted;
        const hg_token *at = fewer ? &name->token
                             : given->count > wanted && wanted < HG_MAX_OPERANDS
                                 ? &given->raw[wanted].token
                                 : &given->extra;
        hg_asm_error(a, "N04", at, NULL, "'%s' takes %u operand%s, got %s%u", info->text,
                     (unsigned)wanted, wanted == 1 ? "" : "s",
                     given->extra.length ? "more than " : "", (unsigned)given->count);
    }
    return false;
}

static bool takes_named(hg_op op) {
    for (; op != HG_OP_NONE; op = hg_op_next_form(op))
        for (uint32_t i = 0; i < hg_op_get(op)->operand_count; i++)
            if (hg_op_get(op)->operands[i].access & HG_NAMED) return true;
    return false;
}

/* The value behind name=. */
static bool read_named(hg_assembler *a, hg_raw_operand *raw) {
    hg_token name = raw->token;
    hg_asm_next(a); /* the = */
    if (!hg_asm_operand(a, true, raw)) return false;
    raw->name = name;
    return raw->kind != HG_RAW_NAMED || hg_asm_unexpected(a, "',' or end of line");
}

/* What follows an operand is neither a comma nor the end. */
static bool unexpected_behind(hg_assembler *a, const hg_given *given) {
    char hint[HG_FOREIGN_BYTES];
    const hg_raw_operand *last = given->count && !given->extra.length
                                     ? &given->raw[given->count - 1]
                                     : NULL;
    bool name = last && last->token.kind == HG_TOKEN_NAME,
         value = a->token.kind == HG_TOKEN_NAME || a->token.kind == HG_TOKEN_NUMBER;
    const char *said = NULL;
    if (name && last->kind == HG_RAW_WORD && last->word == HG_WORD_NONE && !value &&
        a->token.kind != '[') {
        if (hg_asm_is_unknown(a, &last->token))
            hg_asm_error(a, "S02", &last->token, hg_asm_register_hint(a, &last->token, hint),
                         "'%.*s' is no register, parameter or constant",
                         hg_token_shown(&last->token), last->token.text);
        return false;
    }
    if (name && a->token.kind == '[' && hg_asm_bracket_hint(a, &last->token, hint)) said = hint;
    if (name && (a->token.kind == '+' || a->token.kind == '-' || a->token.kind == '*'))
        said = "an operand is one register or number: let t = a + b before; an address has "
               "brackets: [x + i*4]";
    if (value) said = "a comma stands between operands";
    return hg_asm_unexpected_with(a, "',' or end of line", said);
}

static bool read_operands(hg_assembler *a, hg_op op, hg_given *given) {
    given->count = 0;
    given->extra = (hg_token){0};
    if (a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE) return true;
    do {
        hg_raw_operand spare;
        bool room = given->count < HG_MAX_OPERANDS;
        hg_raw_operand *raw = room ? &given->raw[given->count] : &spare;
        if (!hg_asm_operand(a, false, raw)) return false;
        if (raw->kind == HG_RAW_NAMED && takes_named(op)) {
            if (!read_named(a, raw)) return false;
        } else if (raw->kind == HG_RAW_NAMED) {
            hg_asm_error(a, "N03", &raw->token, NULL,
                         "named operand '%.*s=': this instruction takes its operands by position",
                         hg_token_shown(&raw->token), raw->token.text);
            return false;
        }
        if (room)
            given->count++;
        else if (!given->extra.length)
            given->extra = spare.token;
    } while (hg_asm_accept(a, ','));
    return hg_asm_at_end(a) || unexpected_behind(a, given);
}

/* ---- the statement ---- */

static bool emit_chosen(hg_assembler *a, hg_mnemonic *m, hg_given *given) {
    hg_match found;
    hg_op op = choose_form(m, given, &found);
    if (!found.whole) return wrong_operands(a, m, op, given, &found);
    m->op = op;
    return hg_asm_infer(a, m, given, &found) &&
           hg_asm_emit(a, m->op, m->type, m->type2, &m->token) &&
           hg_asm_emit_operands(a, m, given, &found);
}

/* bra.lt a, b, @l: set.lt into a temporary, and the branch. */
static bool emit_comparison(hg_assembler *a, hg_mnemonic *m, hg_given *given) {
    int length = (int)m->end[m->suffix - 1];
    char got[80];
    if (given->count != 3) {
        hg_asm_error(a, "N04", &m->token, NULL, "'%.*s' takes 3 operands, got %u", length,
                     m->token.text, (unsigned)given->count);
        return false;
    }
    hg_raw_operand target = given->raw[2];
    for (uint32_t i = 0; i < 3; i++) {
        const hg_raw_operand *raw = &given->raw[i];
        if (i == 2 ? raw->kind == HG_RAW_TARGET
                   : hg_raw_is_register(raw) || hg_raw_is_id(raw) || raw->literal.length != 0)
            continue;
        char hint[HG_FOREIGN_BYTES];
        const char *said = i == 2
                               ? other_kind_hint(&(hg_operand_info){.kind = HG_K_LABEL}, raw, hint)
                               : NULL;
        hg_asm_error(a, "N03", &raw->token, said, "operand %u of '%.*s': expected %s, got %s",
                     (unsigned)i + 1, length, m->token.text,
                     i == 2 ? "a label (@name)" : "a register or a literal", raw_text(raw, got));
        return false;
    }
    given->raw[2] = given->raw[1];
    given->raw[1] = given->raw[0];
    given->raw[0] = (hg_raw_operand){.kind = HG_RAW_PRED, .token = m->token};
    return hg_asm_temporary(a, HG_TYPE_OMITTED, true, &given->raw[0].reg) &&
           emit_chosen(a, m, given) && hg_asm_emit_branch(a, given->raw[0].reg, &target, &m->token);
}

/* bra.!p @l: a branch over a jump. */
static bool emit_negated(hg_assembler *a, hg_mnemonic *m, hg_given *given) {
    hg_match found;
    hg_op op = choose_form(m, given, &found);
    if (!found.whole) return wrong_operands(a, m, op, given, &found);
    uint32_t behind = (uint32_t)a->code.insts.count + 2;
    return hg_asm_emit(a, HG_OP_BRA, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, &m->token) &&
           hg_asm_emit_register(a, m->predicate, true, HG_READ, &m->token) &&
           hg_asm_emit_target(a, behind, &m->token, NULL) &&
           hg_asm_emit_branch(a, HG_NO_PREDICATE, &given->raw[0], &m->token) &&
           (a->code.bound = behind) == behind;
}

static bool is_counted_loop(const hg_assembler *a, const hg_mnemonic *m, const hg_given *given) {
    if ((m->op != HG_OP_LOOP && m->op != hg_asm_find_op(a, "loop.u64")) || given->count != 2)
        return false;
    const hg_raw_operand *count = &given->raw[1];
    return hg_raw_is_register(&given->raw[0]) &&
           (count->literal.length || hg_raw_is_register(count) || hg_raw_is_id(count));
}

static bool read_instruction(hg_assembler *a, hg_mnemonic *m) {
    hg_given given;
    if (!hg_asm_read_mnemonic(a, m) || !read_operands(a, m->op, &given)) return false;
    if (is_counted_loop(a, m, &given)) return hg_asm_open_loop(a, m, &given);
    if (m->compares) return emit_comparison(a, m, &given);
    if (m->negated) return emit_negated(a, m, &given);
    if (m->op == HG_OP_MOV && given.count == 2 && given.raw[1].literal.length)
        m->op = HG_OP_MOV_IMM;
    if (m->op == HG_OP_LOOP && given.count && hg_asm_known_type(&given.raw[0]) == HG_TYPE_U64)
        m->op = hg_asm_find_op(a, "loop.u64");
    return emit_chosen(a, m, &given);
}

bool hg_asm_instruction(hg_assembler *a, const hg_token *name) {
    hg_mnemonic m = {.token = *name, .op = HG_OP_NONE};
    if (hg_token_is(name, "endloop")) return hg_asm_close_loop(a, name);
    uint64_t before = a->code.insts.count;
    if (read_instruction(a, &m)) return true;
    if (m.op == HG_OP_LOOP) a->code.loops_unsure = true;
    /* A place-holder keeps the numbers of later instructions right. */
    if (!a->wrong.stop && a->code.insts.count == before)
        return hg_asm_emit(a, HG_OP_EXIT, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, name) && false;
    return false;
}
