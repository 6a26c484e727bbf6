/* Transforms of classes and the automorphism action (semantics 5.4, 5.9). Every one acts on the
 * three coordinates apart: a shift of the scope, and x -> ±x + shift of modality and context;
 * composition and inverse are computed there and not on indices.
 * Must not know: programs, circuits. */
#include "atlas/atlas_internal.h"

/* ---- R, D, T, ~ ---- */

static hg_transform normal(hg_transform t) {
    return (hg_transform){(int32_t)hg_wrap(t.rotate, 4), (int32_t)hg_wrap(t.triality, 3),
                          (int32_t)hg_wrap(t.twist, 8), t.mirror};
}

uint8_t hg_transform_apply(hg_transform t, uint8_t cls) {
    hg_class_parts p = hg_class_split(cls);
    uint32_t modality = hg_wrap((int64_t)p.modality + t.triality, 3);
    if (t.mirror) modality = (3 - modality) % 3;
    return hg_class_join((hg_class_parts){(uint8_t)hg_wrap((int64_t)p.scope + t.rotate, 4),
                                          (uint8_t)modality,
                                          (uint8_t)hg_wrap((int64_t)p.context + t.twist, 8)});
}

/* On the modality: ±(d + D). So second(first(d)) = ±₂(±₁(d + D₁) + D₂) = ±₂±₁(d + D₁ ±₁ D₂). */
hg_transform hg_transform_compose(hg_transform second, hg_transform first) {
    first = normal(first), second = normal(second);
    return normal(
        (hg_transform){first.rotate + second.rotate,
                       first.triality + (first.mirror ? -second.triality : second.triality),
                       first.twist + second.twist, first.mirror != second.mirror});
}

hg_transform hg_transform_inverse(hg_transform t) {
    t = normal(t);
    return normal(
        (hg_transform){-t.rotate, t.mirror ? t.triality : -t.triality, -t.twist, t.mirror});
}

hg_transform hg_transform_combine(hg_transform outer, hg_transform inner) {
    inner = normal(inner), outer = normal(outer);
    return normal((hg_transform){inner.rotate + outer.rotate, inner.triality + outer.triality,
                                 inner.twist + outer.twist, inner.mirror != outer.mirror});
}

uint8_t hg_class_scope(uint8_t cls, uint32_t s) {
    s %= 16;
    return hg_transform_apply(
        (hg_transform){.rotate = (int32_t)(s / 4), .triality = (int32_t)(s % 4)}, cls);
}

uint8_t hg_class_mirror(uint8_t cls) {
    return (uint8_t)((cls % HG_CLASS_COUNT + HG_CLASS_COUNT / 2) % HG_CLASS_COUNT);
}

bool hg_class_is_unity(uint8_t cls) { return cls % (HG_CLASS_COUNT / 2) == 0; }

/* ---- the 2,048 indices and their 192 permutations ---- */

/* What an index does: l -> ±l + context, d -> d + modality, h2 -> h2 + scope. */
typedef struct action {
    bool flip;
    uint32_t scope, modality, context;
} action;

static action action_of(uint32_t index) {
    index %= HG_AUTOMORPHISM_INDICES;
    uint32_t dihedral = index / 128, twist = index / 16 % 8, s = index % 16;
    bool flip = dihedral >= 8;
    uint32_t rotate = dihedral % 8;
    return (action){flip, s / 4, s % 4 % 3, (twist + (flip ? 8 - rotate : rotate)) % 8};
}

/* The least of the indices: rot is 0, the twist does its work, and s mod 4 is below 3. */
static uint32_t index_of(action a) {
    return (a.flip ? 1024u : 0u) + a.context % 8 * 16 + a.scope % 4 * 4 + a.modality % 3;
}

uint8_t hg_automorphism_apply(uint32_t index, uint8_t cls) {
    action a = action_of(index);
    hg_class_parts p = hg_class_split(cls);
    uint32_t context = (a.flip ? 8u - p.context : p.context) + a.context;
    return hg_class_join((hg_class_parts){(uint8_t)(p.scope + a.scope),
                                          (uint8_t)(p.modality + a.modality), (uint8_t)context});
}

uint32_t hg_automorphism_compose(uint32_t second, uint32_t first) {
    action a = action_of(first), b = action_of(second);
    uint32_t context = (b.flip ? 8 - a.context : a.context) + b.context;
    return index_of(
        (action){a.flip != b.flip, a.scope + b.scope, a.modality + b.modality, context});
}

uint32_t hg_automorphism_inverse(uint32_t index) {
    action a = action_of(index);
    return index_of(
        (action){a.flip, 4 - a.scope, 3 - a.modality, a.flip ? a.context : 8 - a.context});
}

uint32_t hg_automorphism_canonical(uint32_t index) { return index_of(action_of(index)); }
