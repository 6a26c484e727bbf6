/* hologram lsp: the language server protocol (version 3.17) over standard input and output.
 * Messages are read and answered one after another; texts are checked when no further message
 * waits, so that a fast typist does not wait for what is old already.
 * Must not know: what texts mean (lsp_check.c, lsp_words.c, lsp_answer.c). */
#include "lsp.h"
#include <hologram/version.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_HEADER = 4096,
    MOST_BODY = 64 << 20,
    MOST_DOCUMENTS = 4096,
    PARSE_ERROR = -32700, /* of JSON-RPC */
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    NOT_INITIALIZED = -32002 /* of the protocol */
};

typedef enum session { WAITS_FOR_INITIALIZE, WORKS, IS_SHUT_DOWN, IS_OVER } session;

typedef struct server {
    cli *c;
    session session;
    bool utf8;   /* columns are bytes, not UTF-16 units */
    bool failed; /* standard output is closed, or memory lacks */
    HG_VEC(lsp_document) documents;
    hg_text in;   /* what was read and is no message yet */
    size_t taken; /* of it */
} server;

typedef struct message {
    const hg_json_document *d;
    uint32_t id;     /* its token; 0: a notification */
    uint32_t params; /* 0: there are none */
} message;

/* ---- reading ---- */

/* False: the input is over. */
static bool read_more(server *s) {
    char block[65536];
    ssize_t n;
    do n = read(STDIN_FILENO, block, sizeof block);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    if (s->taken) {
        memmove(s->in.data, s->in.data + s->taken, s->in.length - s->taken);
        s->in.length -= s->taken;
        s->taken = 0;
    }
    hg_text_add(&s->in, block, (size_t)n);
    return !s->in.failed;
}

static bool waits(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

/* "Content-Length: 17" of a header's lines; false: there is none. */
static bool read_length(const char *at, const char *end, size_t *length) {
    static const char NAME[] = "content-length:";
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        size_t i = 0, value = 0, digits = 0;
        while (NAME[i] && at + i < stop && (at[i] | 0x20) == (NAME[i] | 0x20)) i++;
        for (const char *digit = at + i; !NAME[i] && digit < stop; digit++) {
            if (*digit < '0' || *digit > '9') continue;
            value = value * 10 + (size_t)(*digit - '0');
            if (++digits > 9) return false;
        }
        if (digits) {
            *length = value;
            return true;
        }
        at = stop + 1;
    }
    return false;
}

typedef enum reading { READ_MESSAGE, READ_END, READ_GARBAGE } reading;

/* The next message's body, in s->in, until the next one is read. */
static reading read_message(server *s, const char **body, size_t *length) {
    for (size_t header = 0; !header;) {
        const char *at = s->in.data ? s->in.data + s->taken : "";
        size_t have = s->in.length - s->taken;
        const char *gap = have >= 4 ? memmem(at, have, "\r\n\r\n", 4) : NULL;
        if (gap) {
            header = (size_t)(gap - at) + 4;
            if (!read_length(at, gap, length) || *length > MOST_BODY) return READ_GARBAGE;
            s->taken += header;
        } else if (have > MOST_HEADER) {
            return READ_GARBAGE;
        } else if (!read_more(s)) {
            return READ_END;
        }
    }
    while (s->in.length - s->taken < *length)
        if (!read_more(s)) return READ_END;
    *body = s->in.data + s->taken;
    s->taken += *length;
    return READ_MESSAGE;
}

/* ---- writing ---- */

static void begin(hg_json *json, hg_text *text) {
    *json = (hg_json){.out = text};
    hg_json_begin_object(json);
    hg_json_add_text(json, "jsonrpc", "2.0");
}

static void send(server *s, hg_json *json, hg_text *text) {
    char header[64];
    hg_json_end_object(json);
    int length = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", text->length);
    s->failed = s->failed || text->failed || cli_print_now(header, (size_t)length) != HG_OK ||
                cli_print_now(text->data, text->length) != HG_OK;
    hg_text_free(text);
}

static void add_id(hg_json *json, const message *m) {
    hg_json_key(json, "id");
    hg_arena arena = {0};
    size_t length = 0;
    if (m->id && hg_json_is_string(m->d, m->id)) {
        const char *text = hg_json_decode(m->d, m->id, &arena, &length);
        hg_json_string(json, text ? text : "", length);
    } else if (m->id && hg_json_kind_of(m->d, m->id) == HG_JSON_INTEGER) {
        hg_json_number n = hg_json_number_of(m->d, m->id);
        if (n.kind == HG_JSON_I64)
            hg_json_i64(json, n.i64);
        else
            hg_json_u64(json, n.u64);
    } else {
        hg_json_null(json);
    }
    hg_arena_free(&arena);
}

static void refuse(server *s, const message *m, int code, const char *why) {
    hg_text text = {0};
    hg_json json;
    begin(&json, &text);
    add_id(&json, m);
    hg_json_key(&json, "error");
    hg_json_begin_object(&json);
    hg_json_add_i64(&json, "code", code);
    hg_json_add_text(&json, "message", why);
    hg_json_end_object(&json);
    send(s, &json, &text);
}

/* ---- documents ---- */

/* The string of a key, decoded; the caller frees it. NULL: there is none. */
static char *string_of(const hg_json_document *d, uint32_t object, const char *key,
                       size_t *length) {
    uint32_t token = object ? hg_json_member(d, object, key) : 0;
    hg_arena arena = {0};
    size_t bytes = 0;
    if (!token || !hg_json_is_string(d, token)) return NULL;
    const char *text = hg_json_decode(d, token, &arena, &bytes);
    char *copy = text ? hg_alloc(bytes + 1) : NULL;
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    hg_arena_free(&arena);
    if (length) *length = bytes;
    return copy;
}

static uint32_t member(const message *m, const char *key) {
    return m->params ? hg_json_member(m->d, m->params, key) : 0;
}

/* The open text that params.textDocument.uri names; NULL: none. */
static lsp_document *find(server *s, const message *m) {
    char *uri = string_of(m->d, member(m, "textDocument"), "uri", NULL);
    lsp_document *found = NULL;
    for (uint64_t i = 0; uri && i < s->documents.count && !found; i++)
        if (strcmp(s->documents.data[i].uri, uri) == 0) found = &s->documents.data[i];
    hg_free(uri);
    return found;
}

static void note_version(const message *m, lsp_document *document) {
    uint32_t token = hg_json_member(m->d, member(m, "textDocument"), "version");
    if (token && hg_json_kind_of(m->d, token) == HG_JSON_INTEGER) {
        hg_json_number n = hg_json_number_of(m->d, token);
        document->version = n.kind == HG_JSON_I64 ? n.i64 : (int64_t)n.u64;
    }
}

static void set_text(server *s, lsp_document *document, const char *text, size_t length) {
    document->text.length = 0;
    hg_text_add(&document->text, text, length);
    s->failed = s->failed || document->text.failed;
    document->changed = true;
}

static void open_text(server *s, const message *m) {
    uint32_t item = member(m, "textDocument");
    size_t length = 0, uri_length = 0;
    char *uri = string_of(m->d, item, "uri", &uri_length),
         *text = string_of(m->d, item, "text", &length);
    lsp_document *document = find(s, m);
    if (uri && text && !document && s->documents.count < MOST_DOCUMENTS) {
        document = hg_vec_push(&s->documents);
        if (document) {
            document->uri = uri;
            document->path = lsp_path(uri, uri_length);
            uri = NULL;
        }
    }
    if (document && text) {
        set_text(s, document, text, length);
        note_version(m, document);
    }
    hg_free(uri);
    hg_free(text);
}

/* One change: of a range, or of all. */
static void change(server *s, const message *m, uint32_t item, lsp_document *document) {
    uint32_t range = hg_json_member(m->d, item, "range");
    lsp_position start, end;
    size_t length = 0;
    char *text = string_of(m->d, item, "text", &length);
    const char *old = document->text.data ? document->text.data : "";
    if (text && !range) {
        set_text(s, document, text, length);
    } else if (text && lsp_read_position(m->d, hg_json_member(m->d, range, "start"), &start) &&
               lsp_read_position(m->d, hg_json_member(m->d, range, "end"), &end)) {
        hg_text changed = {0};
        size_t from = lsp_offset(old, document->text.length, start, s->utf8),
               to = lsp_offset(old, document->text.length, end, s->utf8);
        hg_text_add(&changed, old, from);
        hg_text_add(&changed, text, length);
        if (to < from) to = from;
        hg_text_add(&changed, old + to, document->text.length - to);
        hg_text_free(&document->text);
        document->text = changed;
        s->failed = s->failed || changed.failed;
        document->changed = true;
    }
    hg_free(text);
}

static void change_text(server *s, const message *m) {
    lsp_document *document = find(s, m);
    uint32_t changes = member(m, "contentChanges");
    if (!document || !changes || hg_json_kind_of(m->d, changes) != HG_JSON_ARRAY) return;
    for (uint32_t item = changes + 1; item < hg_json_next(m->d, changes);
         item = hg_json_next(m->d, item))
        if (hg_json_kind_of(m->d, item) == HG_JSON_OBJECT) change(s, m, item, document);
    note_version(m, document);
}

/* What is said of the text; of a closed one nothing. */
static void publish(server *s, const lsp_document *document, bool closed) {
    hg_text text = {0};
    hg_json json;
    begin(&json, &text);
    hg_json_add_text(&json, "method", "textDocument/publishDiagnostics");
    hg_json_key(&json, "params");
    hg_json_begin_object(&json);
    hg_json_add_text(&json, "uri", document->uri);
    if (closed) {
        hg_json_key(&json, "diagnostics");
        hg_json_begin_array(&json);
        hg_json_end_array(&json);
    } else {
        hg_json_add_i64(&json, "version", document->version);
        lsp_add_diagnostics(&json, s->c, document, s->utf8);
    }
    hg_json_end_object(&json);
    send(s, &json, &text);
}

static void close_text(server *s, const message *m) {
    lsp_document *document = find(s, m);
    if (!document) return;
    publish(s, document, true);
    lsp_document_free(document);
    *document = s->documents.data[--s->documents.count];
}

/* A file that others include may have changed. */
static void check_again(server *s, const message *m) {
    (void)m;
    for (uint64_t i = 0; i < s->documents.count; i++) s->documents.data[i].changed = true;
}

static void check_texts(server *s) {
    for (uint64_t i = 0; i < s->documents.count && !s->failed; i++) {
        if (!s->documents.data[i].changed) continue;
        s->documents.data[i].changed = false;
        publish(s, &s->documents.data[i], false);
    }
}

/* ---- requests ---- */

/* Whether the client counts columns in bytes, if it is asked to. */
static bool takes_utf8(const message *m) {
    uint32_t token = member(m, "capabilities");
    token = token ? hg_json_member(m->d, token, "general") : 0;
    token = token ? hg_json_member(m->d, token, "positionEncodings") : 0;
    if (!token || hg_json_kind_of(m->d, token) != HG_JSON_ARRAY) return false;
    for (uint32_t item = token + 1; item < hg_json_next(m->d, token);
         item = hg_json_next(m->d, item))
        if (hg_json_string_is(m->d, item, "utf-8")) return true;
    return false;
}

static void initialize(server *s, const message *m, hg_json *json) {
    static const char *const ASKED[] = {"hoverProvider", "definitionProvider",
                                        "documentSymbolProvider", "documentFormattingProvider"};
    s->utf8 = takes_utf8(m);
    s->session = WORKS;
    hg_json_begin_object(json);
    hg_json_key(json, "capabilities");
    hg_json_begin_object(json);
    hg_json_add_text(json, "positionEncoding", s->utf8 ? "utf-8" : "utf-16");
    hg_json_key(json, "textDocumentSync");
    hg_json_begin_object(json);
    hg_json_add_bool(json, "openClose", true);
    hg_json_add_u64(json, "change", 2); /* what changed, not all of it */
    hg_json_add_bool(json, "save", true);
    hg_json_end_object(json);
    for (size_t i = 0; i < HG_COUNT_OF(ASKED); i++) hg_json_add_bool(json, ASKED[i], true);
    hg_json_key(json, "completionProvider");
    hg_json_begin_object(json);
    hg_json_key(json, "triggerCharacters");
    hg_json_begin_array(json);
    hg_json_text(json, ".");
    hg_json_text(json, "@");
    hg_json_end_array(json);
    hg_json_end_object(json);
    hg_json_end_object(json);
    hg_json_key(json, "serverInfo");
    hg_json_begin_object(json);
    hg_json_add_text(json, "name", "hologram");
    hg_json_add_text(json, "version", hg_version_text());
    hg_json_end_object(json);
    hg_json_end_object(json);
}

static void shut_down(server *s, const message *m, hg_json *json) {
    (void)m;
    s->session = IS_SHUT_DOWN;
    hg_json_null(json);
}

/* The text and the place in it that params name; NULL: the text is not open. */
static lsp_document *placed(server *s, const message *m, size_t *offset) {
    lsp_document *document = find(s, m);
    lsp_position position;
    *offset = 0;
    if (document && lsp_read_position(m->d, member(m, "position"), &position))
        *offset = lsp_offset(document->text.data ? document->text.data : "", document->text.length,
                             position, s->utf8);
    return document;
}

static void hover(server *s, const message *m, hg_json *json) {
    size_t offset;
    const lsp_document *document = placed(s, m, &offset);
    document ? lsp_hover(json, document, offset, s->utf8) : hg_json_null(json);
}

static void complete(server *s, const message *m, hg_json *json) {
    size_t offset;
    const lsp_document *document = placed(s, m, &offset);
    document ? lsp_complete(json, document, offset, s->utf8) : hg_json_null(json);
}

static void define(server *s, const message *m, hg_json *json) {
    size_t offset;
    const lsp_document *document = placed(s, m, &offset);
    document ? lsp_define(json, s->c, document, offset, s->utf8) : hg_json_null(json);
}

static void outline(server *s, const message *m, hg_json *json) {
    const lsp_document *document = find(s, m);
    document ? lsp_outline(json, document, s->utf8) : hg_json_null(json);
}

static void lay_out(server *s, const message *m, hg_json *json) {
    const lsp_document *document = find(s, m);
    document ? lsp_format(json, document, s->utf8) : hg_json_null(json);
}

static const struct {
    const char *method;
    void (*answer)(server *s, const message *m, hg_json *json); /* writes the result */
    void (*note)(server *s, const message *m);                  /* of a notification */
} METHODS[] = {{"initialize", initialize, NULL},
               {"shutdown", shut_down, NULL},
               {"textDocument/hover", hover, NULL},
               {"textDocument/completion", complete, NULL},
               {"textDocument/definition", define, NULL},
               {"textDocument/documentSymbol", outline, NULL},
               {"textDocument/formatting", lay_out, NULL},
               {"textDocument/didOpen", NULL, open_text},
               {"textDocument/didChange", NULL, change_text},
               {"textDocument/didSave", NULL, check_again},
               {"textDocument/didClose", NULL, close_text},
               {"workspace/didChangeWatchedFiles", NULL, check_again}};

static void answer(server *s, const message *m, uint32_t method) {
    size_t row = 0;
    bool first = hg_json_string_is(m->d, method, "initialize");
    while (row < HG_COUNT_OF(METHODS) && !hg_json_string_is(m->d, method, METHODS[row].method))
        row++;
    if (!m->id && hg_json_string_is(m->d, method, "exit")) {
        s->c->status = s->session == IS_SHUT_DOWN ? CLI_OK : CLI_FAILED;
        s->session = IS_OVER;
    } else if (!m->id) {
        if (row < HG_COUNT_OF(METHODS) && METHODS[row].note && s->session == WORKS)
            METHODS[row].note(s, m);
    } else if (first != (s->session == WAITS_FOR_INITIALIZE)) {
        refuse(s, m, s->session == WAITS_FOR_INITIALIZE ? NOT_INITIALIZED : INVALID_REQUEST,
               first                        ? "initialize came before"
               : s->session == IS_SHUT_DOWN ? "the server is shut down"
                                            : "initialize comes first");
    } else if (s->session == IS_SHUT_DOWN) {
        refuse(s, m, INVALID_REQUEST, "the server is shut down");
    } else if (row == HG_COUNT_OF(METHODS) || !METHODS[row].answer) {
        refuse(s, m, METHOD_NOT_FOUND, "no such method");
    } else {
        hg_text text = {0};
        hg_json json;
        begin(&json, &text);
        add_id(&json, m);
        hg_json_key(&json, "result");
        METHODS[row].answer(s, m, &json);
        send(s, &json, &text);
    }
}

static void take(server *s, const char *body, size_t length) {
    hg_json_document d = {0};
    hg_json_fault fault;
    message m = {.d = &d};
    if (!hg_json_read(&d, body, length, 0, &fault)) {
        refuse(s, &m, PARSE_ERROR, fault.message);
        return;
    }
    uint32_t method = hg_json_member(&d, 0, "method");
    m.id = hg_json_member(&d, 0, "id");
    m.params = hg_json_member(&d, 0, "params");
    if (m.params && hg_json_kind_of(&d, m.params) != HG_JSON_OBJECT) m.params = 0;
    if (method && hg_json_is_string(&d, method))
        answer(s, &m, method);
    else if (!hg_json_member(&d, 0, "result") && !hg_json_member(&d, 0, "error"))
        refuse(s, &m, INVALID_REQUEST, "a message has a method");
    hg_json_document_free(&d);
}

static void serve(server *s) {
    const char *body;
    size_t length;
    while (s->session != IS_OVER && !s->failed) {
        if (s->in.length == s->taken && !waits()) check_texts(s);
        reading r = read_message(s, &body, &length);
        if (r == READ_MESSAGE) {
            take(s, body, length);
            continue;
        }
        if (r == READ_GARBAGE)
            cli_usage(s->c,
                      "standard input has no message of the protocol: a header with "
                      "Content-Length of at most %d bytes, and an empty line",
                      MOST_BODY);
        else
            s->c->status = s->session == IS_SHUT_DOWN ? CLI_OK : CLI_FAILED;
        return;
    }
}

int command_lsp(int argc, char **argv) {
    cli c = {0};
    server s = {.c = &c};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count)
        cli_usage(&c, "takes no arguments, got '%s'", c.arguments.data[0]);
    else
        serve(&s);
    if (s.failed && c.status == CLI_OK) c.status = CLI_FAILED;
    for (uint64_t i = 0; i < s.documents.count; i++) lsp_document_free(&s.documents.data[i]);
    hg_vec_free(&s.documents);
    hg_text_free(&s.in);
    return cli_finish(&c);
}
