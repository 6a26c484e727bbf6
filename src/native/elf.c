/* See elf.h. What is in an object file: System V ABI, chapters 4 and 5, and its AMD64
 * supplement, 4.4 (relocations). All sections of a kind lie together, each kind in pages of its
 * own: text and a jump to each function outside, constants and an address for each symbol (the
 * global offset table), variables. Functions outside are reached by those jumps, so the distance to
 * them does not matter. */
#include "native/elf.h"

#if NATIVE_ELF_X86_64

#include "native/helpers.h"
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum group { TEXT, CONSTANTS, VARIABLES, GROUPS, NOWHERE = GROUPS } group;
enum {
    JUMP_BYTES = 8, /* jmp *address(%rip), and two bytes more */
    MOST_ALIGN = 4096,
    MOST_BYTES = 1 << 28 /* of each group: distances have 32 bits */
};

typedef struct elf_code {
    uint8_t *base;
    size_t bytes;
    void *entry;
} elf_code;

typedef struct place {
    uint8_t group;
    uint64_t at, size; /* in the group */
} place;

typedef struct loader {
    const uint8_t *bytes;
    uint64_t size;
    char *reason;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    place *places; /* by section */
    Elf64_Sym *symbols;
    uint64_t symbol_count;
    Elf64_Shdr names; /* of symbols */
    uint64_t sizes[GROUPS], starts[GROUPS];
    uint64_t jumps, table; /* in TEXT, in CONSTANTS: one for each symbol */
    uint8_t *base;
    uint64_t total;
} loader;

static bool refuse(const loader *l, const char *why) {
    snprintf(l->reason, 256, "object file: %s", why);
    return false;
}

/* Copies bytes of the file. */
static bool take(const loader *l, uint64_t at, uint64_t size, void *to) {
    if (at > l->size || size > l->size - at) return refuse(l, "it ends early");
    if (size) memcpy(to, l->bytes + at, (size_t)size);
    return true;
}

/* ---- functions outside ---- */

/* What gcc and clang call where a level has no instruction (of libgcc, which is linked in). */
int __popcountdi2(long);

typedef void any_function(void);
static const struct {
    const char *name;
    any_function *at;
} OUTSIDE[] = {
#define X(name) {#name, (any_function *)(name)},
    HG_JIT_SYMBOLS(X)
#undef X
        {"memcmp", (any_function *)memcmp},
    {"__popcountdi2", (any_function *)__popcountdi2},
};

static bool name_is(const loader *l, const Elf64_Sym *s, const char *name) {
    uint64_t length = strlen(name) + 1, left = l->names.sh_size;
    return s->st_name < left && length <= left - s->st_name &&
           memcmp(l->bytes + l->names.sh_offset + s->st_name, name, (size_t)length) == 0;
}

static bool find_outside(const loader *l, const Elf64_Sym *s, uint64_t *value) {
    for (size_t i = 0; i < HG_COUNT_OF(OUTSIDE); i++) {
        if (!name_is(l, s, OUTSIDE[i].name)) continue;
        *value = (uint64_t)(uintptr_t)OUTSIDE[i].at;
        return true;
    }
    for (const native_helper_row *row = native_helpers(); row->name; row++) {
        if (!name_is(l, s, row->name)) continue;
        *value = (uint64_t)(uintptr_t)row->at;
        return true;
    }
    const char *name = (const char *)l->bytes + l->names.sh_offset + s->st_name;
    int most = s->st_name < l->names.sh_size
                   ? (int)(l->names.sh_size - s->st_name > 64 ? 64 : l->names.sh_size - s->st_name)
                   : 0;
    snprintf(l->reason, 256, "object file: it calls '%.*s', which is not here", most,
             most ? name : "");
    return false;
}

/* ---- reading ---- */

static bool read_header(loader *l) {
    const Elf64_Ehdr *h = &l->header;
    if (!take(l, 0, sizeof *h, &l->header)) return false;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL || h->e_machine != EM_X86_64)
        return refuse(l, "not a relocatable object for x86-64");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0) return refuse(l, "no sections");
    l->sections = hg_calloc(h->e_shnum, sizeof *l->sections);
    l->places = hg_calloc(h->e_shnum, sizeof *l->places);
    if (!l->sections || !l->places) return refuse(l, "out of memory");
    return take(l, h->e_shoff, h->e_shnum * sizeof *l->sections, l->sections);
}

/* Whether the name of a section begins so. */
static bool section_is(const loader *l, const Elf64_Shdr *s, const char *name) {
    if (l->header.e_shstrndx >= l->header.e_shnum) return false;
    const Elf64_Shdr *names = &l->sections[l->header.e_shstrndx];
    uint64_t length = strlen(name), at;
    if (s->sh_name > names->sh_size || length > names->sh_size - s->sh_name) return false;
    return hg_add_u64(names->sh_offset, s->sh_name, &at) && at <= l->size &&
           length <= l->size - at && memcmp(l->bytes + at, name, (size_t)length) == 0;
}

/* Where a section goes. What unwinds stacks is left out: nothing is thrown through a kernel. */
static bool choose_group(const loader *l, const Elf64_Shdr *s, group *to) {
    *to = NOWHERE;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOTE || s->sh_type == SHT_X86_64_UNWIND ||
        section_is(l, s, ".eh_frame"))
        return true;
    if ((s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS) || s->sh_flags & SHF_TLS)
        return refuse(l, "a section of an unknown kind");
    if (s->sh_flags & SHF_EXECINSTR) {
        *to = TEXT;
        return s->sh_flags & SHF_WRITE ? refuse(l, "text that can be written") : true;
    }
    *to = s->sh_flags & SHF_WRITE && !section_is(l, s, ".data.rel.ro") ? VARIABLES : CONSTANTS;
    return true;
}

/* Room for `size` bytes behind what a group has. */
static bool reserve(loader *l, group g, uint64_t size, uint64_t align, uint64_t *at) {
    if (align == 0) align = 1;
    if (align > MOST_ALIGN || (align & (align - 1)))
        return refuse(l, "an alignment that there is not");
    *at = (l->sizes[g] + align - 1) & ~(align - 1);
    if (size > MOST_BYTES || *at > MOST_BYTES - size) return refuse(l, "too large");
    l->sizes[g] = *at + size;
    return true;
}

static bool place_sections(loader *l) {
    for (uint32_t i = 0; i < l->header.e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        group g;
        l->places[i].group = NOWHERE;
        if (!choose_group(l, s, &g)) return false;
        if (g == NOWHERE) continue;
        if (s->sh_type != SHT_NOBITS &&
            (s->sh_offset > l->size || s->sh_size > l->size - s->sh_offset))
            return refuse(l, "it ends early");
        if (!reserve(l, g, s->sh_size, s->sh_addralign, &l->places[i].at)) return false;
        l->places[i].group = (uint8_t)g;
        l->places[i].size = s->sh_size;
    }
    return true;
}

static bool read_symbols(loader *l) {
    const Elf64_Shdr *table = NULL;
    for (uint32_t i = 0; i < l->header.e_shnum; i++)
        if (l->sections[i].sh_type == SHT_SYMTAB) table = &l->sections[i];
    if (!table || table->sh_link >= l->header.e_shnum) return refuse(l, "no symbols");
    l->names = l->sections[table->sh_link];
    if (l->names.sh_offset > l->size || l->names.sh_size > l->size - l->names.sh_offset ||
        table->sh_size > l->size)
        return refuse(l, "it ends early");
    l->symbol_count = table->sh_size / sizeof *l->symbols;
    l->symbols = hg_calloc((size_t)l->symbol_count + 1, sizeof *l->symbols);
    if (!l->symbols) return refuse(l, "out of memory");
    if (!take(l, table->sh_offset, l->symbol_count * sizeof *l->symbols, l->symbols)) return false;
    return reserve(l, TEXT, l->symbol_count * JUMP_BYTES, JUMP_BYTES, &l->jumps) &&
           reserve(l, CONSTANTS, l->symbol_count * 8, 8, &l->table);
}

/* ---- memory ---- */

static bool map(loader *l) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (int g = 0; g < GROUPS; g++) {
        l->starts[g] = l->total;
        l->total += (l->sizes[g] + page - 1) / page * page;
    }
    void *base = mmap(NULL, (size_t)l->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    if (base == MAP_FAILED) return refuse(l, "out of memory");
    l->base = base;
    for (uint32_t i = 0; i < l->header.e_shnum; i++) {
        const place *p = &l->places[i];
        if (p->group == NOWHERE || l->sections[i].sh_type == SHT_NOBITS) continue;
        if (!take(l, l->sections[i].sh_offset, p->size, l->base + l->starts[p->group] + p->at))
            return false;
    }
    return true;
}

static bool protect(const loader *l) {
    static const int rights[GROUPS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int g = 0; g < GROUPS; g++) {
        uint64_t end = g + 1 < GROUPS ? l->starts[g + 1] : l->total;
        if (end > l->starts[g] &&
            mprotect(l->base + l->starts[g], (size_t)(end - l->starts[g]), rights[g]) != 0)
            return refuse(l, "this system lets no new code run");
    }
    return true;
}

/* ---- symbols and relocations ---- */

/* The address of a symbol of the object. */
static bool own_value(const loader *l, const Elf64_Sym *s, uint64_t *value) {
    if (s->st_shndx >= l->header.e_shnum || l->places[s->st_shndx].group == NOWHERE ||
        s->st_value > l->places[s->st_shndx].size)
        return refuse(l, "a symbol that is nowhere");
    const place *p = &l->places[s->st_shndx];
    *value = (uint64_t)(uintptr_t)(l->base + l->starts[p->group] + p->at + s->st_value);
    return true;
}

/* reach: where code goes to call it; of a function outside, the jump to it. */
static bool symbol_value(const loader *l, uint64_t index, uint64_t *value, uint64_t *reach) {
    if (index == 0 || index >= l->symbol_count) return refuse(l, "a symbol that there is not");
    const Elf64_Sym *s = &l->symbols[index];
    uint8_t *entry = l->base + l->starts[CONSTANTS] + l->table + 8 * index,
            *jump = l->base + l->starts[TEXT] + l->jumps + JUMP_BYTES * index;
    bool outside = s->st_shndx == SHN_UNDEF;
    if (!(outside ? find_outside(l, s, value) : own_value(l, s, value))) return false;
    memcpy(entry, value, 8);
    *reach = *value;
    if (!outside) return true;
    int32_t distance = (int32_t)(entry - (jump + 6));
    static const uint8_t code[JUMP_BYTES] = {0xFF, 0x25, 0, 0, 0, 0, 0xCC, 0xCC};
    memcpy(jump, code, sizeof code);
    memcpy(jump + 2, &distance, sizeof distance);
    *reach = (uint64_t)(uintptr_t)jump;
    return true;
}

static bool put_word(const loader *l, uint8_t *at, uint64_t value, bool is_signed) {
    if (is_signed ? value + 0x80000000u > UINT32_MAX : value > UINT32_MAX)
        return refuse(l, "a distance beyond 32 bits");
    uint32_t word = (uint32_t)value;
    memcpy(at, &word, sizeof word);
    return true;
}

static bool relocate(const loader *l, const place *p, const Elf64_Rela *r) {
    uint64_t type = ELF64_R_TYPE(r->r_info), index = ELF64_R_SYM(r->r_info),
             addend = (uint64_t)r->r_addend, value, reach;
    bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
    if (type == R_X86_64_NONE) return true;
    if (p->size < (wide ? 8 : 4) || r->r_offset > p->size - (wide ? 8 : 4))
        return refuse(l, "a relocation outside of its section");
    if (!symbol_value(l, index, &value, &reach)) return false;
    uint8_t *at = l->base + l->starts[p->group] + p->at + r->r_offset;
    uint64_t here = (uint64_t)(uintptr_t)at,
             entry = (uint64_t)(uintptr_t)(l->base + l->starts[CONSTANTS] + l->table) + 8 * index;
    switch (type) {
    case R_X86_64_64: value += addend; break;
    case R_X86_64_PC64: value += addend - here; break;
    case R_X86_64_32: return put_word(l, at, value + addend, false);
    case R_X86_64_32S: return put_word(l, at, value + addend, true);
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return put_word(l, at, reach + addend - here, true);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return put_word(l, at, entry + addend - here, true);
    default:
        snprintf(l->reason, 256, "object file: a relocation of unknown kind %u", (unsigned)type);
        return false;
    }
    memcpy(at, &value, 8);
    return true;
}

static bool relocate_all(const loader *l) {
    for (uint32_t i = 0; i < l->header.e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL) continue;
        if (s->sh_info >= l->header.e_shnum) return refuse(l, "a section that there is not");
        const place *p = &l->places[s->sh_info];
        if (p->group == NOWHERE) continue;
        if (s->sh_type == SHT_REL || l->sections[s->sh_info].sh_type == SHT_NOBITS)
            return refuse(l, "relocations of an unknown kind");
        for (uint64_t n = 0; n < s->sh_size / sizeof(Elf64_Rela); n++) {
            Elf64_Rela r;
            if (!take(l, s->sh_offset, 0, &r) ||
                !take(l, s->sh_offset + n * sizeof r, sizeof r, &r) || !relocate(l, p, &r))
                return false;
        }
    }
    return true;
}

static bool find_entry(const loader *l, const char *name, void **entry) {
    for (uint64_t i = 1; i < l->symbol_count; i++) {
        const Elf64_Sym *s = &l->symbols[i];
        uint64_t value;
        if (ELF64_ST_BIND(s->st_info) != STB_GLOBAL || s->st_shndx == SHN_UNDEF ||
            !name_is(l, s, name))
            continue;
        if (!own_value(l, s, &value)) return false;
        if (l->places[s->st_shndx].group != TEXT || s->st_value == l->places[s->st_shndx].size)
            return refuse(l, "its function is no code");
        *entry = (void *)(uintptr_t)value;
        return true;
    }
    snprintf(l->reason, 256, "object file: no function '%s'", name);
    return false;
}

static bool load_all(loader *l, const char *entry, elf_code *code) {
    if (!read_header(l) || !place_sections(l) || !read_symbols(l) || !map(l)) return false;
    if (!relocate_all(l) || !find_entry(l, entry, &code->entry) || !protect(l)) return false;
    code->base = l->base;
    code->bytes = (size_t)l->total;
    return true;
}

static void *load(const uint8_t *bytes, uint64_t size, const char *entry, char reason[256]) {
    loader l = {.bytes = bytes, .size = size, .reason = reason};
    elf_code *code = hg_calloc(1, sizeof *code);
    if (!code) {
        (void)refuse(&l, "out of memory");
        return NULL;
    }
    bool good = load_all(&l, entry, code);
    if (!good && l.base) munmap(l.base, (size_t)l.total);
    hg_free(l.sections);
    hg_free(l.places);
    hg_free(l.symbols);
    if (good) return code;
    hg_free(code);
    return NULL;
}

static void unload(void *code) {
    elf_code *c = code;
    if (!c) return;
    munmap(c->base, c->bytes);
    hg_free(c);
}

static void *entry_of(const void *code) { return ((const elf_code *)code)->entry; }

const native_loader native_elf = {.load = load, .entry = entry_of, .unload = unload};

#endif
