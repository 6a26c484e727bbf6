/* Where text came from: files that were included, uses of macros, rounds of repetitions; in words,
 * for messages, each of which is said once.
 * Must not know: the grammar, the assembler. */
#include "base/lines.h"
#include "isa/program.h"

#include <string.h>

enum { MOST_LEVELS = 8 /* innermost ones that a message shows */ };
enum {
    SEARCHED_BYTES = 1048576 /* of a text, for a line of it: there may be any number of mistakes */
};

static void add_place(hg_text *out, const hg_origins *o, uint32_t expansion, uint32_t line,
                      uint32_t column) {
    const char *file = o->files[o->expansions[expansion].file].name;
    if (o->expansions[expansion].file && file) hg_text_addf(out, "%s:", file);
    hg_text_addf(out, "%u:%u", (unsigned)line, (unsigned)column);
}

static void add_level(hg_text *out, const hg_origins *o, const hg_text_expansion *e) {
    int length = e->name_length > 64 ? 64 : (int)e->name_length;
    switch ((hg_expansion_kind)e->kind) {
    case HG_EXPANSION_MACRO: hg_text_addf(out, "in macro '%.*s', used at ", length, e->name); break;
    case HG_EXPANSION_FUNCTION:
        hg_text_addf(out, "in function '%.*s', first called at ", length, e->name);
        break;
    case HG_EXPANSION_ROUND:
        hg_text_addf(out, "in round %llu of the %.*s at ", (unsigned long long)e->round, length,
                     e->name);
        break;
    default: hg_text_addf(out, "included at "); break;
    }
    add_place(out, o, e->around, e->line, e->column);
}

static void find_line(const hg_text_file *file, uint32_t line, hg_origin *origin) {
    hg_line_reader reader = {file->text,
                             file->length < SEARCHED_BYTES ? file->length : SEARCHED_BYTES, 0, 1};
    (void)hg_line_read(&reader, line, &origin->text, &origin->text_length);
}

/* ---- what has been said ---- */

static uint64_t mix(uint64_t hash, uint64_t x) {
    hash = (hash ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Where the hash is, or would be. */
static uint64_t find_said(const hg_said *said, uint64_t hash) {
    uint64_t slot = hash & (said->capacity - 1);
    while (said->slots[slot] && said->slots[slot] != hash) slot = (slot + 1) & (said->capacity - 1);
    return slot;
}

static bool grow_said(hg_said *said) {
    hg_said larger = {.count = said->count, .capacity = said->capacity ? said->capacity * 2 : 64};
    larger.slots = hg_calloc((size_t)larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint64_t i = 0; i < said->capacity; i++)
        if (said->slots[i]) larger.slots[find_said(&larger, said->slots[i])] = said->slots[i];
    hg_free(said->slots);
    *said = larger;
    return true;
}

bool hg_said_new(hg_said *said, const hg_text_expansion *expansion, uint32_t line, uint32_t column,
                 hg_severity severity) {
    uint64_t hash = mix(mix(1 + (uint64_t)severity, expansion->file),
                        (uint64_t)line << 32 | column) |
                    1;
    if (said->count * 2 >= said->capacity && !grow_said(said)) return true;
    uint64_t slot = find_said(said, hash);
    if (said->slots[slot]) return false;
    said->slots[slot] = hash;
    said->count++;
    return true;
}

void hg_said_free(hg_said *said) {
    hg_free(said->slots);
    *said = (hg_said){0};
}

/* ---- places in words ---- */

void hg_find_origin(const hg_origins *o, uint32_t expansion, uint32_t line, uint32_t column,
                    hg_text *words, hg_origin *origin) {
    *origin = (hg_origin){.line = line, .column = column};
    if (!expansion || expansion >= o->count) return;
    uint32_t file = o->expansions[expansion].file;
    if (file) {
        origin->file = o->files[file].name;
        find_line(&o->files[file], line, origin);
    }
    uint32_t levels = 0;
    for (uint32_t at = expansion; at; at = o->expansions[at].around) {
        const hg_text_expansion *e = &o->expansions[at];
        if (e->kind == HG_EXPANSION_LOOP) continue; /* its rounds say it */
        if (levels++ < MOST_LEVELS) {
            hg_text_addf(words, "%s", levels > 1 ? "; " : "");
            add_level(words, o, e);
        }
        if (o->expansions[at].file && !o->expansions[e->around].file) {
            origin->line = e->line;
            origin->column = e->column;
        }
    }
    if (levels > MOST_LEVELS)
        hg_text_addf(words, "; and %u more", (unsigned)(levels - MOST_LEVELS));
    origin->expansion = words->data;
}
