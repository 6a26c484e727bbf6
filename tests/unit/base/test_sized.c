/* Structures that begin with their size, as three versions of one structure see each other. */
#include "base/sized.h"
#include "test.h"

typedef struct first {
    size_t size;
    uint32_t needed, optional;
} first;
typedef struct second {
    size_t size;
    uint32_t needed, optional;
    uint64_t added;
} second;
typedef struct third {
    size_t size;
    uint32_t needed, optional;
    uint64_t added, later;
} third;

static const hg_sized RULES = HG_SIZED(second, needed, "set it");

static void test_take(void) {
    second own = {0, 7, 7, 7};
    CHECK(hg_sized_take(&RULES, &(first){sizeof(first), 1, 2}, &own) == HG_OK);
    CHECK(own.size == sizeof own && own.needed == 1 && own.optional == 2 &&
          own.added == 7); /* the
                              default
                              stays
                            */
    CHECK(hg_sized_take(&RULES, &(second){sizeof(second), 3, 4, 5}, &own) == HG_OK);
    CHECK(own.size == sizeof own && own.needed == 3 && own.optional == 4 && own.added == 5);
    CHECK(hg_sized_take(&RULES, &(third){sizeof(third), 6, 7, 8, 0}, &own) == HG_OK);
    CHECK(own.size == sizeof own && own.needed == 6 && own.optional == 7 && own.added == 8);
    for (uint32_t byte = 0; byte < 8; byte++) { /* a field that this version does not know */
        char expected[256];
        third newer = {sizeof newer, 1, 1, 1, (uint64_t)9 << 8 * byte};
        snprintf(expected, sizeof expected,
                 "second.size is %zu, this library knows %zu bytes: byte %zu is 9, expected 0 (a "
                 "field of a newer version is set)",
                 sizeof newer, sizeof(second), sizeof(second) + byte);
        CHECK(hg_sized_take(&RULES, &newer, &own) == HG_ERROR_INVALID_ARGUMENT);
        CHECK_TEXT(hg_last_error()->message, expected);
    }
    CHECK(own.needed == 6 && own.added == 8); /* a failure changes nothing */
}

static void test_sizes(void) {
    static const struct {
        size_t size;
        const char *message;
    } bad[] = {
        {0, "second.size is 0, expected 24, and never less than 16: set it"},
        {15, "second.size is 15, expected 24, and never less than 16: set it"},
        {23, "second.size is 23, expected 24, and always a multiple of 8: set it"},
        {25, "second.size is 25, expected 24, and always a multiple of 8: set it"},
        {HG_SIZED_MOST + 8, "second.size is 4104, expected 24, and never more than 4096: set it"},
        {SIZE_MAX - 7,
         "second.size is 18446744073709551608, expected 24, and never more than 4096: set it"}};
    for (size_t i = 0; i < HG_COUNT_OF(bad) && sizeof(size_t) == 8; i++) {
        second own = {0}, given = {.size = bad[i].size};
        CHECK(hg_sized_check(&RULES, bad[i].size) == HG_ERROR_INVALID_ARGUMENT);
        CHECK_TEXT(hg_last_error()->message, bad[i].message);
        CHECK(hg_sized_take(&RULES, &given, &own) == HG_ERROR_INVALID_ARGUMENT && own.size == 0);
    }
    for (size_t size = RULES.least; size <= HG_SIZED_MOST; size += RULES.alignment)
        CHECK(hg_sized_check(&RULES, size) == HG_OK);
}

static void test_give(void) {
    second own = {sizeof own, 1, 2, 3};
    third newer, untouched;
    memset(&newer, 0xEE, sizeof newer);
    memset(&untouched, 0xEE, sizeof untouched);
    hg_sized_give(&RULES, &own, &newer, sizeof(first)); /* writes no byte that an older structure
                                                           does not have */
    CHECK(newer.size == sizeof(first) && newer.needed == 1 && newer.optional == 2 &&
          newer.added == untouched.added);
    hg_sized_give(&RULES, &own, &newer, sizeof(second));
    CHECK(newer.size == sizeof(second) && newer.added == 3 && newer.later == untouched.later);
    hg_sized_give(&RULES, &own, &newer, sizeof(third));
    CHECK(newer.size == sizeof(third) && newer.needed == 1 && newer.optional == 2 &&
          newer.added == 3 && newer.later == 0);
}

int main(void) {
    test_take();
    test_sizes();
    test_give();
    return test_done();
}
