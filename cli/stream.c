/* hologram stream: standard input to standard output through one fixed pool of memory
 * (language.md 5.5). */
#include "checkpoint.h"
#include "launch.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_POOL = 36864, SLICE_ALIGNMENT = 64 };

typedef struct stream {
    cli *c;
    cli_values values;
    cli_value *in, *out, *rows; /* out NULL: none; rows: the scalar that is the number of rows of a
                                   chunk */
    uint64_t in_row, out_row;   /* bytes */
    uint64_t chunk;             /* rows of a full chunk */
    uint8_t *pool;
    uint64_t pool_bytes;
    hg_backend *backend;
    hg_executable *executable;
    hg_binding *binding; /* for bound_rows rows */
    uint64_t bound_rows;
    uint64_t total_in, total_out;
    bool closed;            /* the reader of our output is gone */
    const char *checkpoint; /* NULL: none */
    uint64_t every;         /* chunks */
    cli_done done;
} stream;

static bool fail_last(stream *s) {
    cli_last_error(s->c);
    return false;
}

/* ---- which arrays are streamed ---- */

static cli_value *pick(stream *s, const char *option, const char *name, hg_param_dir dir,
                       bool optional) {
    cli *c = s->c;
    cli_value *found = NULL;
    if (name) {
        cli_value *v = cli_values_find(&s->values, name);
        if (v && v->param->kind == HG_PARAM_BUFFER && v->param->dir == dir) return v;
        cli_error(c, "P01", "%s: '%s' is no %s array of '%s'", option, name,
                  dir == HG_DIR_IN ? "in" : "out", hg_program_name(c->program));
        return NULL;
    }
    for (uint32_t i = 0; i < s->values.count; i++) {
        cli_value *v = &s->values.data[i];
        if (v->param->kind != HG_PARAM_BUFFER || v->param->dir != dir) continue;
        if (found) {
            cli_usage(c, "more than one %s array: name the streamed one with %s NAME",
                      dir == HG_DIR_IN ? "in" : "out", option);
            return NULL;
        }
        found = v;
    }
    if (!found && !optional)
        cli_usage(c, "'%s' has no in array to stream", hg_program_name(c->program));
    return found;
}

/* Bytes of one row: all extents but the first. */
static bool row_bytes(stream *s, const cli_value *v, uint64_t *bytes) {
    const hg_param *p = v->param;
    uint64_t value;
    *bytes = hg_type_size_bytes((hg_type)p->type);
    if (p->rank == 255 || p->rank == 0 || p->dims[0].kind != HG_EXTENT_PARAM) {
        cli_usage(s->c, "streamed array '%s' needs a scalar parameter as its first extent",
                  p->name);
        return false;
    }
    for (uint32_t i = 1; i < p->rank; i++) {
        if (cli_extent(&s->values, &p->dims[i], &value) == HG_EXTENT_KNOWN &&
            hg_mul_u64(*bytes, value, bytes) && *bytes)
            continue;
        cli_error(s->c, "P07", "streamed array '%s': extent %u is unknown or zero", p->name, i + 1);
        return false;
    }
    return true;
}

static bool choose(stream *s, const char *in, const char *out) {
    s->in = pick(s, "--in", in, HG_DIR_IN, false);
    if (!s->in) return false;
    s->out = pick(s, "--out", out, HG_DIR_OUT, true);
    if (!s->out && s->c->status != CLI_OK) return false;
    const hg_param *p = s->in->param;
    if (p->rank && p->rank != 255 && p->dims[0].kind == HG_EXTENT_PARAM) { /* a default is no
                                                                              obstacle: arrays are
                                                                              before defaults */
        cli_value *rows = &s->values.data[p->dims[0].param];
        rows->bound = rows->explicit_scalar;
    }
    if (!row_bytes(s, s->in, &s->in_row) || (s->out && !row_bytes(s, s->out, &s->out_row)))
        return false;
    s->rows = &s->values.data[p->dims[0].param];
    s->in->passes = true;
    if (s->out) s->out->passes = true;
    if (s->out && &s->values.data[s->out->param->dims[0].param] != s->rows) {
        cli_usage(s->c, "streamed arrays '%s' and '%s' have different first extents",
                  s->in->param->name, s->out->param->name);
        return false;
    }
    if (s->rows->bound)
        cli_usage(s->c, "'%s' is the number of rows of a chunk and cannot be set",
                  s->rows->param->name);
    return !s->rows->bound;
}

/* ---- scalars and state arrays ---- */

static bool bind_scalars(stream *s) {
    for (uint64_t i = 0; i < s->c->pairs.count; i++) {
        const cli_pair *pair = &s->c->pairs.data[i];
        if (strcmp(pair->option, "--set") != 0) continue;
        cli_value *v = cli_values_find(&s->values, pair->name);
        if (v && v->param->kind == HG_PARAM_SCALAR) {
            if (!cli_set_scalar(s->c, v, pair->value)) return false;
            if (!v->counts) continue;
            cli_usage(s->c, "--set %s=@step: a stream has no steps", pair->name);
            return false;
        } else if (!v || v->param->kind != HG_PARAM_BUFFER) {
            char begin[300];
            snprintf(begin, sizeof begin, "'%.250s' is no", pair->name);
            return cli_unknown_parameter(s->c, &s->values, begin);
        }
    }
    for (uint32_t i = 0; i < s->values.count; i++) {
        cli_value *v = &s->values.data[i];
        if (v->param->kind != HG_PARAM_SCALAR || v->bound || !v->param->has_default) continue;
        memcpy(v->scalar, v->param->default_bytes,
               (size_t)hg_type_size_bytes((hg_type)v->param->type));
        v->bound = true;
    }
    return true;
}

static bool size_state(stream *s, cli_value *v) {
    const hg_param *p = v->param;
    v->elements = 1;
    v->rank = p->rank == 255 ? 0 : p->rank;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (hg_extent_names(s->c->program, &p->dims[i], (uint16_t)(s->rows - s->values.data))) {
            cli_usage(
                s->c,
                "array '%s' depends on '%s', the number of rows of a chunk, but is not streamed",
                p->name, s->rows->param->name);
            return false;
        }
        if (cli_extent(&s->values, &p->dims[i], &v->extent[i]) != HG_EXTENT_KNOWN ||
            !hg_mul_u64(v->elements, v->extent[i], &v->elements)) {
            cli_error(s->c, "P07", "array '%s': its shape is unknown", p->name);
            return false;
        }
    }
    if (p->rank == 255 ||
        !hg_mul_u64(v->elements, hg_type_size_bytes((hg_type)p->type), &v->bytes)) {
        cli_error(s->c, "P07", "array '%s': its shape is unknown", p->name);
        return false;
    }
    return true;
}

static uint64_t aligned(uint64_t bytes) {
    return bytes > UINT64_MAX - SLICE_ALIGNMENT
               ? UINT64_MAX
               : (bytes + SLICE_ALIGNMENT - 1) & ~(uint64_t)(SLICE_ALIGNMENT - 1);
}

static bool streamed(const stream *s, const cli_value *v) { return v == s->in || v == s->out; }

/* Bytes of all slices for a number of rows; UINT64_MAX when it overflows. */
static uint64_t bytes_for(const stream *s, uint64_t fixed, uint64_t rows) {
    uint64_t in, out;
    if (!hg_mul_u64(rows, s->in_row, &in) || !hg_mul_u64(rows, s->out_row, &out)) return UINT64_MAX;
    in = aligned(in);
    out = s->out ? aligned(out) : 0;
    if (!hg_add_u64(in, out, &in) || !hg_add_u64(in, fixed, &in)) return UINT64_MAX;
    return in;
}

static bool cut_pool(stream *s) {
    uint64_t fixed = 0;
    for (uint32_t i = 0; i < s->values.count; i++) {
        cli_value *v = &s->values.data[i];
        if (v->param->kind != HG_PARAM_BUFFER || streamed(s, v)) continue;
        if (!size_state(s, v)) return false;
        if (!hg_add_u64(fixed, aligned(v->bytes), &fixed)) fixed = UINT64_MAX;
    }
    uint64_t low = 0, high = s->pool_bytes / (s->in_row + s->out_row) + 1;
    while (low + 1 < high) { /* low fits, high does not */
        uint64_t middle = low + (high - low) / 2;
        if (bytes_for(s, fixed, middle) <= s->pool_bytes)
            low = middle;
        else
            high = middle;
    }
    s->chunk = low;
    if (low == 0) {
        cli_usage(s->c, "one row needs %llu bytes, --pool has %llu",
                  (unsigned long long)bytes_for(s, fixed, 1), (unsigned long long)s->pool_bytes);
        return false;
    }
    s->pool = cli_zeroed(s->c, s->pool_bytes, SLICE_ALIGNMENT);
    if (!s->pool) return false;
    uint64_t at = 0;
    for (uint32_t i = 0; i < s->values.count; i++) {
        cli_value *v = &s->values.data[i];
        if (v->param->kind != HG_PARAM_BUFFER) continue;
        v->data = s->pool + at;
        at += aligned(v == s->in ? low * s->in_row : v == s->out ? low * s->out_row : v->bytes);
    }
    return true;
}

/* --set of a state array, after its slice is known. */
static bool fill_state(stream *s) {
    for (uint64_t i = 0; i < s->c->pairs.count; i++) {
        const cli_pair *pair = &s->c->pairs.data[i];
        if (strcmp(pair->option, "--set") != 0) continue;
        cli_value *v = cli_values_find(&s->values, pair->name);
        if (v->param->kind != HG_PARAM_BUFFER) continue;
        if (streamed(s, v)) {
            cli_usage(s->c, "--set %s: the array is streamed", pair->name);
            return false;
        }
        const char *text = pair->value;
        uint64_t size = hg_type_size_bytes((hg_type)v->param->type), count = 0;
        for (; *text; count++) {
            char message[160];
            const char *hint;
            size_t length = strcspn(text, ",");
            if (count >= v->elements || hg_parse_literal(text, length, (hg_type)v->param->type,
                                                         v->data + count * size, message, &hint)) {
                cli_usage(s->c, "--set %s: expected %llu values of %s, got '%s'", pair->name,
                          (unsigned long long)v->elements, hg_type_name((hg_type)v->param->type),
                          pair->value);
                return false;
            }
            text += length + (text[length] == ',' && text[length + 1] != '\0'); /* a comma at the
                                                                                   end is no literal
                                                                                 */
        }
        if (count != v->elements) {
            cli_error(s->c, "P05", "--set %s: expected %llu values, got %llu", pair->name,
                      (unsigned long long)v->elements, (unsigned long long)count);
            return false;
        }
    }
    return true;
}

/* ---- chunks ---- */

/* The slice itself as a buffer, or on a device that cannot have it, a buffer that is copied from
 * and to. */
static hg_status place(stream *s, cli_value *v, uint64_t bytes) {
    if (v->copied && !streamed(s, v)) return HG_OK; /* state lives there */
    if (v->buffer.handle) HG_TRY(hg_backend_free_buffer(s->backend, v->buffer));
    v->buffer.handle = 0;
    hg_status status = v->copied ? HG_ERROR_BACKEND_UNAVAILABLE
                                 : hg_buffer_import(s->backend, v->data, bytes, &v->buffer);
    if (status != HG_ERROR_BACKEND_UNAVAILABLE) return status;
    v->copied = true;
    HG_TRY(hg_backend_allocate_buffer(s->backend, bytes, &v->buffer));
    return cli_device_write(s->backend, v->buffer, v->data, bytes);
}

static hg_status place_and_bind(stream *s, cli_value *v, uint64_t bytes, hg_params *params) {
    HG_TRY(place(s, v, bytes));
    return hg_params_set_buffer(params, v->param->name, v->buffer);
}

static hg_status bind_values(stream *s, uint64_t rows, hg_params *params) {
    for (uint32_t i = 0; i < s->values.count; i++) {
        cli_value *v = &s->values.data[i];
        if (v->param->kind == HG_PARAM_SCALAR && (v->bound || v == s->rows))
            HG_TRY(
                hg_params_set_scalar(params, v->param->name, (hg_type)v->param->type, v->scalar));
        if (v->param->kind == HG_PARAM_BUFFER)
            HG_TRY(place_and_bind(s, v,
                                  v == s->in    ? rows * s->in_row
                                  : v == s->out ? rows * s->out_row
                                                : v->bytes,
                                  params));
        if (v->param->kind == HG_PARAM_POOL) {
            if (!v->pool.handle)
                HG_TRY(hg_backend_allocate_pool(s->backend, v->param->pool_bytes, &v->pool));
            HG_TRY(hg_params_set_pool(params, v->param->name, v->pool));
        }
    }
    return HG_OK;
}

static bool bind(stream *s, uint64_t rows) {
    if (s->bound_rows == rows && s->binding) return true;
    hg_binding_destroy(s->binding);
    s->binding = NULL;
    if (!cli_bind_extent(s->c, s->rows, rows)) return false;
    hg_params *params = hg_params_create();
    hg_status status = params ? bind_values(s, rows, params) : hg_fail_memory();
    if (status == HG_OK) status = hg_binding_create(s->executable, NULL, params, &s->binding);
    hg_params_destroy(params);
    s->bound_rows = rows;
    return status == HG_OK ? true : fail_last(s);
}

/* Reads until length bytes or the end. */
static bool read_all(stream *s, uint8_t *to, uint64_t length, uint64_t *got) {
    *got = 0;
    while (*got < length) {
        ssize_t n = read(STDIN_FILENO, to + *got, (size_t)(length - *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            cli_error(s->c, "P06", "standard input: %s", strerror(errno));
            return false;
        }
        if (n == 0) return true;
        *got += (uint64_t)n;
    }
    return true;
}

static bool write_all(stream *s, const uint8_t *from, uint64_t length) {
    while (length) {
        ssize_t n = write(STDOUT_FILENO, from, (size_t)length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            if (errno == EPIPE)
                s->closed = true;
            else
                cli_error(s->c, "X02", "standard output: %s", strerror(errno));
            return false;
        }
        from += n;
        length -= (uint64_t)n;
        s->total_out += (uint64_t)n;
    }
    return true;
}

static bool run_chunk(stream *s, uint64_t rows) {
    hg_status status = HG_OK;
    if (s->out) memset(s->out->data, 0, (size_t)(rows * s->out_row));
    if (!bind(s, rows)) return false;
    if (s->in->copied)
        status = cli_device_write(s->backend, s->in->buffer, s->in->data, rows * s->in_row);
    if (status == HG_OK && s->out && s->out->copied)
        status = cli_device_write(s->backend, s->out->buffer, s->out->data, rows * s->out_row);
    if (status == HG_OK) status = cli_device_launch(s->backend, s->binding);
    if (status == HG_OK && s->out && s->out->copied)
        status = cli_device_read(s->backend, s->out->buffer, 0, s->out->data, rows * s->out_row);
    if (status != HG_OK) return fail_last(s);
    return !s->out || write_all(s, s->out->data, rows * s->out_row);
}

/* ---- checkpoints ---- */

/* What was written is on the disk before a checkpoint says so. */
static bool save(stream *s) {
    if (s->out && fsync(STDOUT_FILENO) != 0 && errno != EINVAL) {
        cli_error(s->c, "X02", "standard output: %s", strerror(errno));
        return false;
    }
    return cli_checkpoint_save(s->c, s->backend, &s->values, s->checkpoint, &s->done) == HG_OK ||
           fail_last(s);
}

static bool skip_input(stream *s, uint64_t bytes) {
    struct stat file;
    uint64_t got = 0;
    if (fstat(STDIN_FILENO, &file) == 0 && S_ISREG(file.st_mode)) {
        off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
        if (at >= 0 && (uint64_t)file.st_size - (uint64_t)at >= bytes && file.st_size >= at &&
            lseek(STDIN_FILENO, (off_t)bytes, SEEK_CUR) >= 0)
            return true;
    }
    for (uint64_t left = bytes; left; left -= got) {
        uint64_t most = s->chunk * s->in_row;
        if (!read_all(s, s->in->data, left < most ? left : most, &got)) return false;
        if (got) continue;
        cli_error(s->c, "P06", "standard input ends before byte %llu, where the checkpoint is",
                  (unsigned long long)bytes);
        return false;
    }
    return true;
}

/* The output is as long as it was then: what came behind is cut off. */
static bool cut_output(stream *s, uint64_t bytes, const struct stat *file) {
    if ((uint64_t)file->st_size < bytes) {
        cli_error(
            s->c, "P06",
            "standard output has %llu bytes, at the checkpoint it had %llu: append to what it "
            "was (>>)",
            (unsigned long long)file->st_size, (unsigned long long)bytes);
        return false;
    }
    if (ftruncate(STDOUT_FILENO, (off_t)bytes) == 0 &&
        lseek(STDOUT_FILENO, (off_t)bytes, SEEK_SET) >= 0)
        return true;
    cli_error(s->c, "X02", "standard output: %s", strerror(errno));
    return false;
}

/* Goes on where a run was ended, or says where this one begins. */
static bool restore(stream *s) {
    struct stat file = {0};
    bool found;
    if (s->out && (fstat(STDOUT_FILENO, &file) != 0 || !S_ISREG(file.st_mode))) {
        cli_usage(s->c,
                  "--checkpoint: standard output is no file, so that nothing could be cut off "
                  "where a run is ended");
        return false;
    }
    if (cli_checkpoint_restore(s->c, s->backend, &s->values, s->checkpoint, &s->done, &found) !=
        HG_OK)
        return fail_last(s);
    if (s->done.steps && !s->done.in_bytes) {
        cli_usage(s->c, "--checkpoint %s: it is of a run, not of a stream", s->checkpoint);
        return false;
    }
    if (found) {
        s->total_in = s->done.in_bytes;
        return skip_input(s, s->done.in_bytes) &&
               (!s->out || cut_output(s, s->done.out_bytes, &file));
    }
    s->done.out_bytes = (uint64_t)file.st_size;
    return bind(s, s->chunk) && save(s); /* before anything is written */
}

/* A chunk is done. */
static bool keep(stream *s, uint64_t rows) {
    s->done.steps++;
    s->done.in_bytes += rows * s->in_row;
    s->done.out_bytes += rows * s->out_row;
    return !s->checkpoint || s->done.steps % s->every || save(s);
}

static bool run_all(stream *s) {
    if (s->checkpoint && !restore(s)) return false;
    for (;;) {
        uint64_t want = s->chunk * s->in_row, got;
        if (!read_all(s, s->in->data, want, &got)) return false;
        s->total_in += got;
        uint64_t rows = got / s->in_row;
        if (rows && (!run_chunk(s, rows) || !keep(s, rows))) return false;
        if (got % s->in_row) {
            cli_error(s->c, "P05", "input ends inside a row: %llu bytes of %llu",
                      (unsigned long long)(got % s->in_row), (unsigned long long)s->in_row);
            return false;
        }
        if (got < want) return !s->checkpoint || s->done.steps % s->every == 0 || save(s);
    }
}

static void print_state(stream *s) {
    hg_text text = {0};
    for (uint32_t i = 0; i < s->values.count; i++) {
        const cli_value *v = &s->values.data[i];
        if (v->param->kind != HG_PARAM_BUFFER || v->param->dir != HG_DIR_INOUT) continue;
        if (v->copied && cli_device_read(s->backend, v->buffer, 0, v->data, v->bytes) != HG_OK)
            (void)fail_last(s);
        cli_print_array(s->c, s->c->json ? &s->c->outputs : &text, v, v->data, NULL);
    }
    if (text.data && !s->c->quiet) fputs(text.data, stderr);
    hg_text_free(&text);
}

static void execute(stream *s, const char *backend, uint64_t device, const char *profile,
                    const cli_launch *steps) {
    hg_config config;
    hg_status status = hg_config_load(NULL, &config);
    if (backend) snprintf(config.backend, sizeof config.backend, "%s", backend);
    if (device != HG_NONE) config.device_id = (uint32_t)device;
    if (profile) config.profile_file = profile;
    config.max_memory = s->c->max_memory;
    if (status == HG_OK && !cli_set_steps(s->c, steps, &config)) return;
    if (status == HG_OK) status = cli_device_open(&config, &s->backend);
    if (status == HG_OK) status = cli_memory_share(s->c, s->backend);
    if (status == HG_OK) status = hg_executable_create(s->backend, s->c->program, &s->executable);
    if (status != HG_OK)
        (void)fail_last(s);
    else if (run_all(s))
        print_state(s);
    if (s->backend && profile && hg_backend_write_profile(s->backend, NULL) != HG_OK)
        (void)fail_last(s);
}

static void release(stream *s) {
    hg_binding_destroy(s->binding);
    hg_executable_destroy(s->executable);
    hg_backend_destroy(s->backend);
    for (uint32_t i = 0; i < s->values.count; i++)
        s->values.data[i].data = NULL; /* slices of the pool */
    cli_values_free(&s->values);
    hg_free_aligned(s->pool);
}

static bool begin(stream *s) {
    const hg_program *p = s->c->program;
    s->values.count = p->param_count;
    s->values.data = hg_calloc(p->param_count + 1, sizeof *s->values.data);
    if (!s->values.data) {
        (void)hg_fail_memory();
        return fail_last(s);
    }
    for (uint32_t i = 0; i < p->param_count; i++) s->values.data[i].param = &p->params[i];
    return true;
}

static bool read_every(stream *s, const char *text) {
    s->every = 1;
    if (!cli_number(s->c, "--every", text, UINT64_MAX, &s->every)) return false;
    if (!s->every)
        cli_usage(s->c, "--every: at least 1 is expected, got 0");
    else if (text && !s->checkpoint)
        cli_usage(s->c, "--every says how often a checkpoint is written: give --checkpoint FILE");
    return s->c->status == CLI_OK && (!s->checkpoint || cli_checkpoint_can(s->c, s->checkpoint));
}

int command_stream(int argc, char **argv) {
    cli c = {.errors_to_stderr = true};
    stream s = {.c = &c, .pool_bytes = DEFAULT_POOL};
    const char *pool = NULL, *in = NULL, *out = NULL, *backend = NULL, *number = NULL,
               *profile = NULL, *max_memory = NULL, *every = NULL;
    uint64_t device = HG_NONE;
    cli_launch steps = {0};
    const cli_option options[] = {CLI_STEP_OPTIONS(steps),
                                  {"--pool", &pool, NULL},
                                  {"--in", &in, NULL},
                                  {"--out", &out, NULL},
                                  {"--backend", &backend, NULL},
                                  {"--device", &number, NULL},
                                  {"--profile", &profile, NULL},
                                  {"--max-memory", &max_memory, NULL},
                                  {"--checkpoint", &s.checkpoint, NULL},
                                  {"--every", &every, NULL}};
    signal(SIGPIPE, SIG_IGN); /* a closed reader is EPIPE at the write */
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (!cli_one_program(&c))
        ;
    else if (c.arguments.count && strcmp(c.arguments.data[0], "-") == 0)
        cli_usage(&c, "standard input is the stream: name the program's file");
    else if (cli_size(&c, "--pool", pool, PTRDIFF_MAX / 2, &s.pool_bytes) &&
             cli_number(&c, "--device", number, UINT32_MAX, &device) &&
             cli_memory_begin(&c, max_memory) && cli_load(&c, cli_file(&c)) && cli_verify(&c) &&
             begin(&s) && bind_scalars(&s) && read_every(&s, every) && choose(&s, in, out) &&
             cut_pool(&s) && fill_state(&s))
        execute(&s, backend, device, profile, &steps);
    release(&s);
    if (s.closed && c.status == CLI_OK) c.status = CLI_FAILED;
    return cli_finish(&c);
}
