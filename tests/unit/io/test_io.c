/* Array files against NumPy, deflate against zlib (both through python3, skipped where it is
 * missing), damaged files, outputs that appear all or not at all.
 * test: labels=slow */
#include "io/io.h"
#include "library/library.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

static char folder[64] = "/tmp/hologram-test-io-XXXXXX";
static bool have_numpy;

static const char *in_folder(const char *name) {
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    bool raw = strncmp(name, "raw:", 4) == 0; /* a source, not a path */
    snprintf(path, sizeof paths[0], "%s%s/%s", raw ? "raw:" : "", folder, name + (raw ? 4 : 0));
    return path;
}

static void write_file(const char *name, const void *data, size_t length) {
    FILE *file = fopen(in_folder(name), "wb");
    CHECK(file && fwrite(data, 1, length, file) == length);
    if (file) fclose(file);
}

static hg_bytes read_file(const char *name) {
    hg_bytes bytes = {0};
    CHECK_MESSAGE(hg_file_read(in_folder(name), UINT64_MAX, &bytes) == HG_OK, "%s: %s", name,
                  hg_last_error_text());
    return bytes;
}

/* Files in the folder whose names hold text. */
static unsigned count_files(const char *text) {
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) n += strstr(e->d_name, text) != NULL;
    if (d) closedir(d);
    return n;
}

/* What NumPy and zlib make of the cases below; run in the folder. Element i of every array has the
 * value i. */
static const char script[] =
    "import numpy as np, zlib, random\n"
    "from numpy.lib import format as f\n"
    "for name, dtype, limbs in "
    "[('f16','<f2',0),('bf16','<u2',0),('f32','<f4',0),('f64','<f8',0),('i8','i1',0),('i16','<i2',"
    "0),('i32','<i4',0),('i64','<i8',0),\n"
    "    ('u8','u1',0),('u16','<u2',0),('u32','<u4',0),('u64','<u8',0)] + [(s+str(64*n),'<u8',n) "
    "for s in 'iu' for n in "
    "(2,4,8,16,32,64)]:\n"
    "  for k, shape in enumerate([(), (0,), (3,), (2,3), (1,1,5), (2,1,2,1,2,1,2,1), (4,0,2)]):\n"
    "    n = int(np.prod(shape))\n"
    "    a = np.arange(n).astype(dtype).reshape(shape)\n"
    "    if limbs:\n"
    "      w = np.zeros(shape + (limbs,), '<u8'); w[..., 0] = a; a = w\n"
    "    np.save('%s_%d.npy' % (name, k), a)\n"
    "  for k, shape in enumerate([(2**63,), (12345678901234567890,), (2**40, 3), (10**18+7,)*8, "
    "(1,)*8]):\n"
    "    if limbs: shape = shape + (limbs,)\n"
    "    f.write_array_header_1_0(open('%s_h%d' % (name, k), 'wb'), {'descr': np.dtype(dtype).str, "
    "'fortran_order': False, 'shape': "
    "shape})\n"
    "with open('lengths', 'wb') as out:\n"
    "  for r in range(1, 9):\n"
    "    for d in range(19): f.write_array_header_1_0(out, {'descr': '<f4', 'fortran_order': "
    "False, 'shape': (7,) + (10**d,)*(r-1)})\n"
    "a = np.arange(6, dtype='<f4').reshape(2,3)\n"
    "for v in (1,2,3): f.write_array(open('v%d.npy' % v, 'wb'), a, version=(v,0))\n"
    "np.save('fortran.npy', np.asfortranarray(a)); np.save('fortran1.npy', "
    "np.asfortranarray(a[:1])); np.save('big.npy', a.astype('>f4'))\n"
    "h = np.zeros((1,6), '<u8', order='F'); np.save('wide1.npy', h)\n"
    "np.save('bool.npy', a > 2); np.save('struct.npy', np.zeros(2, [('a','<f4'),('b','<i4')])); "
    "np.save('nine.npy', np.zeros((1,)*9, "
    "'f4'))\n"
    "def header(name, text, version=1):\n"
    "  text = text.encode(); n = len(text).to_bytes(2 if version == 1 else 4, 'little')\n"
    "  open(name, 'wb').write(b'\\x93NUMPY' + bytes([version, 0]) + n + text)\n"
    "header('two.npy', \"{'descr': '|u1', 'fortran_order': False, 'shape': (0L,)}\", 2)\n"
    "header('three.npy', \"{'descr': '|u1', 'fortran_order': False, 'shape': (0L,)}\", 3)\n"
    "orders = ['', '<', '=', '|', '>']; words = "
    "['f2','f4','f8','i1','i2','i4','i8','u1','u2','u4','u8','b1','?','c8','V4','f3','F4','f44','']"
    " + "
    "list('efdbhiqBHIQ') + "
    "['float16','half','float32','single','float64','double','float','int8','byte','int16','short',"
    "'int32','intc',\n"
    "  "
    "'int64','longlong','uint8','ubyte','uint16','ushort','uint32','uintc','uint64','ulonglong','"
    "float33']\n"
    "with open('dtypes', 'w') as out:\n"
    "  for i, d in enumerate(o + w for o in orders for w in words):\n"
    "    header('d%d.npy' % i, \"{'descr': '%s', 'fortran_order': False, 'shape': (0,), }\" % d)\n"
    "    try: read = np.load('d%d.npy' % i).dtype.str\n"
    "    except Exception: read = 'none'\n"
    "    print(i, read, d, file=out)\n"
    "import zipfile, warnings; warnings.simplefilter('ignore')\n"
    "np.savez('twice.npz', x=a, key=np.float32(7))\n"
    "with zipfile.ZipFile('twice.npz', 'a') as z:\n"
    "  for n in (10, 20):\n"
    "    with z.open('x.npy', 'w') as m: np.save(m, np.arange(6*n, dtype='<f4').reshape(6, n))\n"
    "  with z.open('key.npy', 'w') as m: np.save(m, np.float32(0))\n"
    "np.save('complex.npy', a.astype('c8')); np.save('text.npy', np.array(['ab']))\n"
    "np.savez('stored.npz', x=a, key=a*2); np.savez_compressed('packed.npz', x=np.arange(100000, "
    "dtype='<i4')//7, y=a)\n"
    "random.seed(5)\n"
    "texts = [b'', b'a', b'a'*300000, bytes(range(256))*200, random.randbytes(70000), "
    "b''.join(b'%d,' % (i*i) for i in range(30000)),\n"
    "         b''.join(random.choice([b'the ', b'quick ', b'brown ', b'fox ']) for i in "
    "range(50000)), bytes(random.choice(b'ab') for i in "
    "range(20000))]\n"
    "for i, t in enumerate(texts):\n"
    "  open('t%d' % i, 'wb').write(t)\n"
    "  for level in range(10):\n"
    "    for strategy in ([0,1,2,3,4] if level == 6 else [0]):\n"
    "      c = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)\n"
    "      half = len(t)//2\n"
    "      z = c.compress(t[:half]) + c.flush(zlib.Z_FULL_FLUSH) + c.compress(t[half:]) + "
    "c.flush()\n"
    "      open('t%d.%d.%d' % (i, level, strategy), 'wb').write(z)\n";

static void make_inputs(void) {
    write_file("make.py", script, sizeof script - 1);
    char command[200];
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) return;
    snprintf(command, sizeof command, "cd %s && /usr/bin/python3 make.py", folder);
    have_numpy = system(command) == 0;
    CHECK(have_numpy);
}

/* ---- .npy ---- */

static const struct {
    uint32_t rank;
    uint64_t extent[8];
} shapes[] = {{0, {0}},      {1, {0}},       {1, {3}},
              {2, {2, 3}},   {3, {1, 1, 5}}, {8, {2, 1, 2, 1, 2, 1, 2, 1}},
              {3, {4, 0, 2}}};
static const uint64_t seven = UINT64_C(1000000000000000007);

/* The value i as an element of the type. */
static void set_element(hg_type type, uint8_t *out, uint64_t i) {
    memset(out, 0, hg_type_size_bytes(type));
    if (type == HG_TYPE_F32) {
        float x = (float)i;
        memcpy(out, &x, sizeof x);
    } else if (type == HG_TYPE_F64) {
        double x = (double)i;
        memcpy(out, &x, sizeof x);
    } else if (type == HG_TYPE_F16) { /* small integers only: 2^e * 1.m */
        uint64_t e = 0;
        while (i >> (e + 1)) e++;
        uint16_t x = (uint16_t)(i ? (e + 15) << 10 | (i << (10 - e) & 1023) : 0);
        memcpy(out, &x, sizeof x);
    } else {
        memcpy(out, &i, hg_type_size_bytes(type) < 8 ? hg_type_size_bytes(type) : 8);
    }
}

/* Reads what NumPy wrote, and writes the same bytes that NumPy did. */
static void check_numpy_file(hg_type type, size_t k) {
    char name[40], mine[48];
    uint8_t elements[16 * 512];
    snprintf(name, sizeof name, "%s_%zu.npy", hg_type_name(type), k);
    hg_array array;
    hg_status status = hg_array_read(in_folder(name), "x", type, &array);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", name, hg_last_error_text());
    if (status != HG_OK) return;
    uint64_t count = 1, size = hg_type_size_bytes(type);
    for (uint32_t i = 0; i < shapes[k].rank; i++) count *= shapes[k].extent[i];
    for (uint64_t i = 0; i < count; i++) set_element(type, elements + i * size, i);
    CHECK(array.rank == shapes[k].rank &&
          memcmp(array.extent, shapes[k].extent, array.rank * 8u) == 0);
    CHECK(array.shaped && array.elements == count && array.bytes == count * size &&
          memcmp(array.data, elements, count * size) == 0);
    hg_array_free(&array);
    snprintf(mine, sizeof mine, "mine_%s", name);
    hg_outputs *outputs = hg_outputs_create();
    CHECK(hg_outputs_add_array(outputs, in_folder(mine), type, shapes[k].rank, shapes[k].extent,
                               elements) == HG_OK);
    CHECK(hg_outputs_commit(outputs) == HG_OK);
    hg_outputs_destroy(outputs);
    hg_bytes a = read_file(name), b = read_file(mine);
    CHECK_MESSAGE(a.length == b.length && memcmp(a.data, b.data, a.length) == 0,
                  "%s differs from what NumPy writes", mine);
    hg_bytes_free(&a);
    hg_bytes_free(&b);
}

static void check_numpy_headers(hg_type type) {
    const struct {
        uint32_t rank;
        uint64_t extent[8];
    } large[] = {{1, {UINT64_C(1) << 63}},
                 {1, {UINT64_C(12345678901234567890)}},
                 {2, {UINT64_C(1) << 40, 3}},
                 {8, {seven, seven, seven, seven, seven, seven, seven, seven}},
                 {8, {1, 1, 1, 1, 1, 1, 1, 1}}};
    for (size_t k = 0; k < HG_COUNT_OF(large); k++) {
        char name[40];
        uint8_t header[HG_NPY_HEADER_BYTES];
        snprintf(name, sizeof name, "%s_h%zu", hg_type_name(type), k);
        size_t length = hg_npy_header(type, large[k].rank, large[k].extent, header);
        hg_bytes expected = read_file(name);
        CHECK_MESSAGE(length == expected.length && memcmp(header, expected.data, length) == 0,
                      "header %s differs from NumPy's", name);
        hg_bytes_free(&expected);
    }
}

/* Headers of every length, for the padding. */
static void check_header_lengths(void) {
    hg_bytes expected = read_file("lengths");
    uint64_t at = 0;
    for (uint32_t rank = 1; rank <= 8; rank++) {
        uint64_t extent[8] = {7}, power = 1;
        for (int d = 0; d < 19; d++, power *= 10) {
            uint8_t header[HG_NPY_HEADER_BYTES];
            for (uint32_t i = 1; i < rank; i++) extent[i] = power;
            size_t length = hg_npy_header(HG_TYPE_F32, rank, extent, header);
            CHECK_MESSAGE(length <= expected.length - at &&
                              memcmp(header, expected.data + at, length) == 0,
                          "header of rank %u, %d digits differs from NumPy's", rank, d + 1);
            at += length;
            if (at > expected.length) at = expected.length;
        }
    }
    CHECK_U64(at, expected.length);
    hg_bytes_free(&expected);
}

/* The status, the code, and a part of the message. */
static void check_refused(const char *source, hg_type type, const char *code, const char *part) {
    hg_array array;
    hg_status status = hg_array_read(in_folder(source), "x", type, &array);
    CHECK_MESSAGE(status != HG_OK, "%s was accepted", source);
    if (status == HG_OK) hg_array_free(&array);
    CHECK_TEXT(hg_last_error()->code, code);
    CHECK_MESSAGE(strstr(hg_last_error_text(), part), "%s: \"%s\" not in \"%s\"", source, part,
                  hg_last_error_text());
}

static void check_accepted(const char *source, hg_type type, uint32_t rank, uint64_t elements) {
    hg_array array;
    hg_status status = hg_array_read(in_folder(source), "x", type, &array);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", source, hg_last_error_text());
    if (status != HG_OK) return;
    CHECK_U64(array.rank, rank);
    CHECK_U64(array.elements, elements);
    hg_array_free(&array);
}

static void test_numpy(void) {
    if (!have_numpy) {
        SKIP("NumPy is not there");
        return;
    }
    for (int type = 0; type < HG_TYPE_COUNT; type++) {
        for (size_t k = 0; k < HG_COUNT_OF(shapes); k++) check_numpy_file((hg_type)type, k);
        check_numpy_headers((hg_type)type);
    }
    check_header_lengths();
    for (int v = 1; v <= 3; v++)
        check_accepted(v == 1 ? "v1.npy" : v == 2 ? "v2.npy" : "v3.npy", HG_TYPE_F32, 2, 6);
    check_accepted("fortran1.npy", HG_TYPE_F32, 2, 3);
    check_refused("fortran.npy", HG_TYPE_F32, "P04", "Fortran order");
    check_refused("big.npy", HG_TYPE_F32, "P03", "'>f4' (big-endian), expected '<f4' for f32");
    check_refused("bool.npy", HG_TYPE_U8, "P03", "'|b1', expected '|u1' for u8");
    check_refused("v1.npy", HG_TYPE_F64, "P03", "'<f4', expected '<f8' for f64");
    check_refused("v1.npy", HG_TYPE_I32, "P03", "'<f4', expected '<i4' for i32");
    check_refused("struct.npy", HG_TYPE_F32, "P03", "structured");
    check_refused("complex.npy", HG_TYPE_F64, "P03", "'<c8'");
    check_refused("text.npy", HG_TYPE_F64, "P03", "'<U2'");
    check_refused("nine.npy", HG_TYPE_F32, "P04", "9 dimensions");
    check_refused("v1.npy", HG_TYPE_U2048, "P03",
                  "'<f4', expected '<u8' with a last extent of 32 for u2048");
    check_refused("u64_2.npy", HG_TYPE_U128, "P04", "2 64-bit limbs, found 3");
    check_refused("wide1.npy", HG_TYPE_I512, "P04", "8 64-bit limbs, found 6");
    check_accepted("u16_2.npy", HG_TYPE_BF16, 1, 3);
    check_accepted("stored.npz", HG_TYPE_F32, 2, 6);
    check_accepted("stored.npz:key", HG_TYPE_F32, 2, 6);
    check_accepted("packed.npz:y", HG_TYPE_F32, 2, 6);
    check_refused("stored.npz:none", HG_TYPE_F32, "P06", "no member 'none.npy'; its arrays: x key");
    check_refused("stored.npz", HG_TYPE_F64, "P03", "stored.npz:x: dtype is '<f4'");
    check_refused("stored.npz:key", HG_TYPE_F64, "P03", "stored.npz:key: dtype is '<f4'");
    check_refused("v1.npy:x", HG_TYPE_F32, "P06", "no such file");
    hg_array array;
    CHECK(hg_array_read(in_folder("packed.npz"), "x", HG_TYPE_I32, &array) == HG_OK);
    if (array.elements == 100000)
        for (int32_t i = 0, x; i < 100000; i++) {
            memcpy(&x, array.data + 4 * i, 4);
            if (x != i / 7) CHECK_U64(x, i / 7);
        }
    CHECK_U64(array.elements, 100000);
    hg_array_free(&array);
}

/* Written by numpy.save(numpy.arange(3, dtype='<u2')), version 1.24. */
static const char three[] = "\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, "
                            "'shape': (3,), }                               "
                            "                             \n"
                            "\x00\x00\x01\x00\x02\x00";
enum { THREE = sizeof three - 1 };

static void test_small_npy(void) {
    hg_array array;
    uint8_t header[HG_NPY_HEADER_BYTES];
    uint64_t extent = 3;
    CHECK_U64(THREE, 134);
    CHECK(hg_npy_parse(three, THREE, "three", HG_TYPE_U16, &array) == HG_OK);
    CHECK(array.rank == 1 && array.extent[0] == 3 && array.bytes == 6 &&
          array.data == (const uint8_t *)three + 128);
    CHECK(hg_npy_header(HG_TYPE_U16, 1, &extent, header) == 128 && memcmp(header, three, 128) == 0);
    hg_array_free(&array);
}

/* Every spelling of a dtype, as numpy.load reads the file. */
static void test_dtypes(void) {
    static const char *const known[][2] = {{"f16", "<f2"}, {"f32", "<f4"}, {"f64", "<f8"},
                                           {"i8", "|i1"},  {"i16", "<i2"}, {"i32", "<i4"},
                                           {"i64", "<i8"}, {"u8", "|u1"},  {"u16", "<u2"},
                                           {"u32", "<u4"}, {"u64", "<u8"}};
    FILE *list = have_numpy ? fopen(in_folder("dtypes"), "r") : NULL;
    char line[80], read[16], name[32];
    int number;
    while (list && fgets(line, sizeof line, list) && sscanf(line, "%d %15s", &number, read) == 2) {
        snprintf(name, sizeof name, "d%d.npy", number);
        for (size_t i = 0; i < HG_COUNT_OF(known); i++) {
            hg_array array = {0};
            hg_type type = HG_TYPE_COUNT;
            CHECK(hg_type_from_name(known[i][0], strlen(known[i][0]), &type));
            bool accepted = hg_array_read(in_folder(name), "x", type, &array) == HG_OK;
            CHECK_MESSAGE(accepted == (strcmp(read, known[i][1]) == 0), "%s as %s: %s", line,
                          known[i][0], accepted ? "read" : "refused");
            hg_array_free(&array);
        }
    }
    if (list) fclose(list);
    if (!have_numpy) return;
    check_accepted("two.npy", HG_TYPE_U8, 1, 0); /* Python 2 wrote versions 1.0 and 2.0 */
    check_refused("three.npy", HG_TYPE_U8, "P06", "expected ',' or ')', found 'L,)}'");
    check_accepted("twice.npz", HG_TYPE_F32, 2, 120);
    check_accepted("twice.npz:key", HG_TYPE_F32, 0, 1);
}

static hg_status parse_header(const char *text, uint64_t data, hg_type type, hg_array *array) {
    char file[1024] = "\x93NUMPY\x01\x00";
    size_t length = strlen(text);
    file[8] = (char)length;
    file[9] = (char)(length >> 8);
    memcpy(file + 10, text, length);
    return hg_npy_parse(file, 10 + length + data, "h", type, array);
}

static void test_headers(void) {
    static const struct {
        const char *text;
        uint64_t data;
        const char *refusal;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12, NULL},
        {"{\"shape\":(3,),\"descr\":\"=f4\",\"fortran_order\":True}", 12, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3), }", 12, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1)}", 4, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(0,18446744073709551615,18446744073709551615)}",
         0, NULL},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (3,)}", 12, NULL},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (3L,), }\n", 12, NULL},
        {"{u'descr': u'<f4', U'fortran_order': False, u'shape': (3L, 1L, 1L)}", 12, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3l,)}", 12,
         "expected ',' or ')', found 'l,)}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3LL,)}", 12,
         "expected ',' or ')', found 'L,)}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (L,)}", 12, "expected an extent"},
        {"{'descr': f4, 'fortran_order': False, 'shape': (3,)}", 12, "dtype is 'f4, "},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 11,
         "needs 12 bytes of data, the file has 11"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 13,
         "needs 12 bytes of data, the file has 13"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 12, "expected an extent"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", 12, "2^64"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}", 12,
         "larger than any memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", 12,
         "larger than any memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4,
         "9 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1)}", 4,
         "more than 8 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False}", 4, "expected descr, fortran_order and shape"},
        {"{'descr': '<f4', 'shape': (1,)}", 4, "expected descr, fortran_order and shape"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "each once"},
        {"{'descr': '<f4', 'x': 1, 'fortran_order': False, 'shape': (1,)}", 4, "each once"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, "expected True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "end of the header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, "expected"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", 4, "expected"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "structured"},
        {"", 4, "expected '{'"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        hg_array array;
        hg_status status = parse_header(cases[i].text, cases[i].data, HG_TYPE_F32, &array);
        if (!cases[i].refusal)
            CHECK_MESSAGE(status == HG_OK, "%s: %s", cases[i].text, hg_last_error_text());
        else
            CHECK_MESSAGE(status != HG_OK && strstr(hg_last_error_text(), cases[i].refusal),
                          "%s: %s", cases[i].text, status ? hg_last_error_text() : "accepted");
    }
    hg_array array;
    CHECK(hg_npy_parse("\x93NUMPY\x04\x00v\x00", 10, "h", HG_TYPE_F32, &array) == HG_ERROR_IO &&
          strstr(hg_last_error_text(), "version 4.0"));
    CHECK(hg_npy_parse("PK\x03\x04......", 10, "h", HG_TYPE_F32, &array) == HG_ERROR_IO &&
          strstr(hg_last_error_text(), "not a .npy file"));
}

/* ---- damaged files: any answer but a crash, and never a pointer outside ---- */

static uint64_t random_state = 12345;
static uint64_t random_bits(void) { /* splitmix64 */
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static unsigned accepted;

static void parse_npy_copy(const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length ? length : 1); /* its own block: a sanitizer sees every byte
                                                    behind it */
    if (!copy) return;
    memcpy(copy, bytes, length);
    hg_array array;
    for (int type = 0; type < HG_TYPE_COUNT; type += 3) {
        if (hg_npy_parse(copy, length, "damaged", (hg_type)type, &array) != HG_OK) continue;
        accepted++;
        CHECK(array.data >= copy && array.data + array.bytes == copy + length &&
              array.rank <= HG_MAX_EXTENTS);
        CHECK_U64(array.bytes, array.elements * hg_type_size_bytes(array.type));
    }
    free(copy);
}

static void parse_npz_copy(const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy) return;
    memcpy(copy, bytes, length);
    hg_bytes file = {.data = copy, .length = length}, member;
    static const char *const names[] = {"x.npy", "key.npy", "y.npy"};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++) {
        if (hg_npz_member(&file, "damaged", names[i], &member) != HG_OK) continue;
        accepted++;
        hg_bytes_free(&member);
    }
    free(copy);
}

/* Every truncation, then random changes of one to four bytes. */
static void damage(const hg_bytes *original, unsigned rounds,
                   void (*parse)(const uint8_t *, size_t)) {
    size_t step = original->length > 3000 ? original->length / 1000 : 1;
    for (size_t n = 0; n <= original->length; n += step) parse(original->data, n);
    uint8_t *copy = malloc(original->length);
    for (unsigned i = 0; copy && i < rounds; i++) {
        memcpy(copy, original->data, original->length);
        for (uint64_t k = random_bits() % 4 + 1; k--;) {
            uint64_t near_end = random_bits() % 3 == 0 && original->length > 400
                                    ? original->length - 400
                                    : 0;
            uint64_t at = near_end + random_bits() % (original->length - near_end);
            copy[at] = (uint8_t)(random_bits() % 2 ? random_bits()
                                                   : copy[at] ^ UINT64_C(1) << random_bits() % 8);
        }
        parse(copy, original->length);
    }
    free(copy);
}

static void test_damage(void) {
    hg_bytes npy = {.data = (uint8_t *)(uintptr_t)three, .length = THREE};
    accepted = 0;
    damage(&npy, 20000, parse_npy_copy);
    CHECK(accepted > 0);
    if (!have_numpy) return;
    static const char *const names[] = {"stored.npz", "packed.npz"};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++) {
        hg_bytes file = read_file(names[i]);
        accepted = 0;
        damage(&file, 1500, parse_npz_copy);
        CHECK(accepted > 0);
        hg_bytes_free(&file);
    }
}

/* ---- deflate ---- */

static void check_inflate(int text, int level, int strategy) {
    char name[40];
    bool memory_failed = true;
    snprintf(name, sizeof name, "t%d", text);
    hg_bytes plain = read_file(name), out;
    snprintf(name, sizeof name, "t%d.%d.%d", text, level, strategy);
    hg_bytes packed = read_file(name);
    CHECK(hg_bytes_alloc(plain.length, &out) == HG_OK);
    bool done = hg_inflate(packed.data, packed.length, out.data, out.length, &memory_failed);
    CHECK_MESSAGE(done && !memory_failed && memcmp(out.data, plain.data, plain.length) == 0,
                  "%s does not unpack", name);
    if (plain.length)
        CHECK(!hg_inflate(packed.data, packed.length, out.data, plain.length - 1, &memory_failed));
    CHECK(packed.length < 2 ||
          !hg_inflate(packed.data, packed.length / 2, out.data, out.length, &memory_failed));
    hg_bytes_free(&out);
    hg_bytes_free(&packed);
    hg_bytes_free(&plain);
}

static void test_inflate(void) {
    if (!have_numpy) {
        SKIP("python3 is not there");
        return;
    }
    for (int text = 0; text < 8; text++) {
        for (int level = 0; level < 10; level++) check_inflate(text, level, 0);
        for (int strategy = 1; strategy < 5; strategy++) check_inflate(text, 6, strategy);
    }
    uint8_t noise[64], out[1024];
    bool memory_failed;
    for (int i = 0; i < 20000; i++) { /* bytes of no meaning */
        for (size_t k = 0; k < sizeof noise; k++) noise[k] = (uint8_t)random_bits();
        noise[0] = (uint8_t)((noise[0] & ~6u) | (i % 3 ? 4u : 2u));
        (void)hg_inflate(noise, random_bits() % sizeof noise, out, sizeof out, &memory_failed);
    }
}

/* ---- whole files ---- */

static void test_files(void) {
    hg_bytes bytes;
    write_file("five", "hello", 5);
    write_file("empty", "", 0);
    CHECK(hg_file_read(in_folder("five"), 5, &bytes) == HG_OK && bytes.length == 5 &&
          strcmp((char *)bytes.data, "hello") == 0);
    CHECK((uintptr_t)bytes.data % 64 == 0);
    hg_bytes_free(&bytes);
    CHECK(hg_file_read(in_folder("empty"), 5, &bytes) == HG_OK && bytes.length == 0 &&
          bytes.data[0] == 0);
    hg_bytes_free(&bytes);
    CHECK(hg_file_read(in_folder("five"), 4, &bytes) == HG_ERROR_IO &&
          strcmp(hg_last_error()->code, "S05") == 0 && !bytes.data);
    CHECK(hg_file_read("/dev/zero", 1000000, &bytes) == HG_ERROR_IO &&
          strcmp(hg_last_error()->code, "S05") == 0 && !bytes.data);
    CHECK(hg_file_read(folder, 4, &bytes) == HG_ERROR_IO &&
          strstr(hg_last_error_text(), "is a directory"));
    CHECK(hg_file_read(in_folder("none"), 4, &bytes) == HG_ERROR_IO &&
          strstr(hg_last_error_text(), "no such file") &&
          strcmp(hg_last_error()->code, "P06") == 0);
    int ends[2];
    CHECK(pipe(ends) == 0); /* more than the first buffer, from a pipe as standard input */
    pid_t child = fork();
    if (child == 0) {
        static char block[1000];
        for (int i = 0; i < 300; i++)
            if (write(ends[1], block, sizeof block) != sizeof block) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int before = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    hg_array array;
    CHECK(hg_array_read("raw:-", "x", HG_TYPE_F64, &array) == HG_OK);
    CHECK(array.elements == 37500 && array.rank == 1 && !array.shaped && array.extent[0] == 37500);
    hg_array_free(&array);
    dup2(before, 0);
    close(before);
    waitpid(child, NULL, 0);
    check_refused("five", HG_TYPE_I8, "P06",
                  "five: neither a .npy nor a .npz file; bytes without a header are raw:");
    check_refused("empty", HG_TYPE_I8, "P06", "neither a .npy nor a .npz file");
    check_accepted("raw:empty", HG_TYPE_I8, 1, 0);
    write_file("three", three, THREE); /* the bytes decide, not the name */
    check_accepted("three", HG_TYPE_U16, 1, 3);
    write_file("three.npz", three, THREE);
    check_accepted("three.npz", HG_TYPE_U16, 1, 3);
    check_refused("raw:three", HG_TYPE_U32, "P04", "are not a whole number");
    check_refused("raw:raw:five", HG_TYPE_I8, "P06", "no such file");
    check_refused("raw:five", HG_TYPE_F32, "P04",
                  "5 bytes are not a whole number of f32 elements of 4 bytes");
    check_accepted("raw:five", HG_TYPE_I8, 1, 5);
}

/* Reading stops where the declared extents end, or the budget. */
static void test_bounds(void) {
    hg_array array;
    hg_budget budget = {.limit = 1 << 20};
    hg_array_bounds bounds = {16, &budget};
    CHECK(hg_array_read_within("raw:/dev/zero", "x", HG_TYPE_U32, &bounds, &array) ==
          HG_ERROR_INVALID_ARGUMENT);
    CHECK_TEXT(hg_last_error()->code, "P04");
    CHECK_TEXT(hg_last_error()->message,
               "/dev/zero: it has more than the 16 bytes of its declared shape");
    write_file("sixteen", "0123456789abcdef", 16);
    write_file("twenty", "0123456789abcdefghij", 20);
    CHECK(hg_array_read_within(in_folder("raw:sixteen"), "x", HG_TYPE_U32, &bounds, &array) ==
              HG_OK &&
          array.elements == 4 && array.data);
    CHECK(hg_budget_used(&budget) >= 16);
    hg_array_free(&array);
    CHECK(hg_array_read_within(in_folder("raw:twenty"), "x", HG_TYPE_U32, &bounds, &array) ==
              HG_OK &&
          array.elements == 5 && !array.data);
    hg_array_free(&array);
    bounds.most = UINT64_MAX;
    CHECK(hg_array_read_within("raw:/dev/zero", "x", HG_TYPE_U8, &bounds, &array) ==
          HG_ERROR_ALLOCATION_FAILED);
    CHECK(strstr(hg_last_error()->message, "/dev/zero: ") &&
          strstr(hg_last_error()->message, "the limit is 1048576"));
    CHECK_U64(hg_budget_used(&budget), 0);
    /* a header that promises more than it may, or than there is */
    uint8_t header[HG_NPY_HEADER_BYTES];
    write_file("promise.npy", header,
               hg_npy_header(HG_TYPE_U8, 1, (uint64_t[]){UINT64_C(1) << 62}, header));
    check_refused("promise.npy", HG_TYPE_U8, "P06",
                  "the shape needs 4611686018427387904 bytes of data, the file has 0");
    bounds.most = 3;
    size_t length = hg_npy_header(HG_TYPE_U8, 1, (uint64_t[]){4}, header);
    memcpy(header + length, "abcd", 4);
    write_file("four.npy", header, length + 4);
    CHECK(hg_array_read_within(in_folder("four.npy"), "x", HG_TYPE_U8, &bounds, &array) == HG_OK &&
          array.elements == 4 && !array.data);
    bounds.most = 4;
    CHECK(hg_array_read_within(in_folder("four.npy"), "x", HG_TYPE_U8, &bounds, &array) == HG_OK &&
          memcmp(array.data, "abcd", 4) == 0);
    hg_array_free(&array);
    budget.limit = length + 3;
    CHECK(hg_array_read_within(in_folder("four.npy"), "x", HG_TYPE_U8, &bounds, &array) ==
          HG_ERROR_ALLOCATION_FAILED);
    CHECK_U64(hg_budget_used(&budget), 0);
}

/* ---- outputs ---- */

static void check_contents(const char *name, const char *expected) {
    hg_bytes bytes = read_file(name);
    CHECK(bytes.data && bytes.length == strlen(expected) &&
          memcmp(bytes.data, expected, bytes.length) == 0);
    hg_bytes_free(&bytes);
}

static hg_status add_text(hg_outputs *outputs, const char *path, const char *text) {
    size_t half = strlen(text) / 2;
    hg_file_part parts[2] = {{.data = text, .length = half},
                             {.data = text + half, .length = strlen(text) - half}};
    return hg_outputs_add(outputs, path, parts, 2);
}

static void test_outputs(void) {
    write_file("old", "before", 6);
    chmod(in_folder("old"), 0640);
    hg_outputs *outputs = hg_outputs_create();
    CHECK(add_text(outputs, in_folder("old"), "after") == HG_OK &&
          add_text(outputs, in_folder("new"), "fresh") == HG_OK);
    check_contents("old", "before"); /* nothing is touched before the commit */
    CHECK(access(in_folder("new"), F_OK) != 0);
    CHECK(add_text(outputs, in_folder("old"), "twice") == HG_ERROR_INVALID_ARGUMENT);
    CHECK(add_text(outputs, in_folder("none/x"), "y") == HG_ERROR_IO &&
          strcmp(hg_last_error()->code, "X02") == 0);
    CHECK(add_text(outputs, folder, "y") == HG_ERROR_IO &&
          strstr(hg_last_error_text(), "is a directory"));
    CHECK(hg_outputs_commit(outputs) == HG_OK);
    hg_outputs_destroy(outputs);
    check_contents("old", "after");
    check_contents("new", "fresh");
    struct stat info;
    CHECK(stat(in_folder("old"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK_U64(count_files(".hologram-"), 0);
    outputs = hg_outputs_create(); /* dropped without commit */
    CHECK(add_text(outputs, in_folder("old"), "no") == HG_OK &&
          add_text(outputs, in_folder("other"), "no") == HG_OK);
    hg_outputs_destroy(outputs);
    check_contents("old", "after");
    CHECK(access(in_folder("other"), F_OK) != 0);
    CHECK_U64(count_files(".hologram-"), 0);
    CHECK(symlink("old", in_folder("link")) == 0); /* a link stays a link */
    CHECK(hg_file_write(in_folder("link"), "through", 7) == HG_OK);
    check_contents("old", "through");
    CHECK(lstat(in_folder("link"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(hg_file_write("/dev/null", "x", 1) == HG_OK);
    CHECK(lstat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(hg_file_write(in_folder("nothing"), NULL, 0) == HG_OK);
    check_contents("nothing", "");
    hg_outputs_destroy(NULL);
}

static void test_failing_outputs(void) {
    write_file("a", "old a", 5);
    hg_outputs *outputs = hg_outputs_create(); /* a full device among others: no file is touched */
    CHECK(add_text(outputs, in_folder("a"), "new a") == HG_OK &&
          add_text(outputs, in_folder("b"), "new b") == HG_OK);
    CHECK(add_text(outputs, "/dev/full", "x") == HG_OK);
    CHECK(hg_outputs_commit(outputs) == HG_ERROR_IO && strcmp(hg_last_error()->code, "X02") == 0 &&
          strstr(hg_last_error_text(), "no space left"));
    hg_outputs_destroy(outputs);
    check_contents("a", "old a");
    CHECK(access(in_folder("b"), F_OK) != 0);
    CHECK_U64(count_files(".hologram-"), 0);
    outputs = hg_outputs_create(); /* the last rename fails: those before it are taken back */
    CHECK(add_text(outputs, in_folder("a"), "new a") == HG_OK &&
          add_text(outputs, in_folder("b"), "new b") == HG_OK &&
          add_text(outputs, in_folder("c"), "new c") == HG_OK);
    CHECK(mkdir(in_folder("c"), 0777) == 0);
    CHECK(hg_outputs_commit(outputs) == HG_ERROR_IO);
    hg_outputs_destroy(outputs);
    check_contents("a", "old a");
    CHECK(access(in_folder("b"), F_OK) != 0);
    CHECK_U64(count_files(".hologram-"), 0);
    rmdir(in_folder("c"));
    pid_t child = fork(); /* the disk has room for a part only */
    if (child == 0) {
        struct rlimit limit = {1000, 1000};
        static char much[5000];
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(hg_file_write(in_folder("a"), much, sizeof much) == HG_ERROR_IO &&
                      strcmp(hg_last_error()->code, "X02") == 0
                  ? 0
                  : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_contents("a", "old a");
    CHECK_U64(count_files(".hologram-"), 0);
}

/* ---- allocations that fail ---- */

static long allocations_left = -1, blocks_live;

static void *counting_reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    void *result = realloc(memory, bytes);
    if (result && !memory) blocks_live++;
    return result;
}

static void counting_release(void *user, void *memory) {
    (void)user;
    blocks_live -= memory != NULL;
    free(memory);
}

static hg_status read_and_write(void) {
    static const char *const sources[] = {"five.npy", "packed.npz", "packed.npz:y", "raw:five"};
    static const hg_type types[] = {HG_TYPE_U16, HG_TYPE_I32, HG_TYPE_F32, HG_TYPE_U8};
    hg_status status = HG_OK;
    for (size_t i = 0; i < HG_COUNT_OF(sources) && status == HG_OK; i++) {
        if (!have_numpy && (i == 1 || i == 2)) continue;
        hg_array array;
        status = hg_array_read(in_folder(sources[i]), "x", types[i], &array);
        if (status == HG_OK) hg_array_free(&array);
    }
    if (status != HG_OK) return status;
    hg_outputs *outputs = hg_outputs_create();
    if (!outputs) return hg_fail_memory();
    if (status == HG_OK) status = add_text(outputs, in_folder("a"), "new");
    if (status == HG_OK) status = add_text(outputs, in_folder("link"), "new");
    if (status == HG_OK) status = add_text(outputs, "/dev/null", "new");
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    return status;
}

static void test_allocations(void) {
    const hg_allocator counting = {sizeof counting, NULL, counting_reallocate, counting_release};
    write_file("five.npy", three, THREE);
    CHECK(hg_set_allocator(&counting) == HG_OK);
    long n = 0;
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    for (; status != HG_OK && n < 1000; n++) {
        allocations_left = n;
        status = read_and_write();
        CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY, "allocation %ld: %s", n,
                      hg_last_error_text());
        CHECK_MESSAGE(blocks_live == 0, "%ld blocks leak when allocation %ld fails", blocks_live,
                      n);
        blocks_live = 0;
        CHECK_U64(count_files(".hologram-"), 0);
    }
    allocations_left = -1;
    CHECK(hg_set_allocator(NULL) == HG_OK);
    CHECK(status == HG_OK && n > 10);
}

/* Texts that were packed by the build are those of the files, and their digest is that of the
 * texts, however they were packed. */
static void test_packed(void) {
    uint8_t digest[32], expected[32];
    hg_blake3 h;
    hg_blake3_init(&h);
    for (int i = 0; i < LIBRARY_COUNT; i++) {
        const library_program *p = library_get((library_id)i);
        char path[512];
        hg_bytes file;
        snprintf(path, sizeof path, "%s/src/library/%s.atlas", HG_SOURCE_DIR, p->name);
        CHECK_MESSAGE(hg_file_read(path, UINT64_MAX, &file) == HG_OK, "%s", path);
        const char *text = hg_unpacked(p->text);
        CHECK_MESSAGE(strlen(text) == file.length && !memcmp(text, file.data, file.length), "%s",
                      p->name);
        CHECK(hg_unpacked(p->text) == text);
        if (i == 0 || p->text != library_get((library_id)(i - 1))->text)
            hg_blake3_update(&h, file.data, file.length);
        hg_bytes_free(&file);
    }
    hg_blake3_final(&h, expected);
    library_digest(digest);
    CHECK(memcmp(digest, expected, sizeof digest) == 0);
}

static void remove_folder(void) {
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' || e->d_name[1] == 'h') unlink(in_folder(e->d_name));
    if (d) closedir(d);
    CHECK(rmdir(folder) == 0);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    make_inputs();
    test_small_npy();
    test_dtypes();
    test_headers();
    test_numpy();
    test_damage();
    test_inflate();
    test_packed();
    test_files();
    test_bounds();
    test_outputs();
    test_failing_outputs();
    test_allocations();
    remove_folder();
    return test_done();
}
