/* What people did, written down ledger by ledger, so that their chain can be made once more: the
 * same inputs between the same ledgers give the same bytes.
 *
 * A line each: the ledger it came behind, a letter, base64. */
#include "tidemark/text.h"
#include "tools/sim/node/node_impl.h"

#include <errno.h>

/* --- writing ------------------------------------------------------------------------ */

void node_note(struct sim_node *node, char what, tide_slice data)
{
    struct node_journal *journal = &node->journal;
    if (!journal->file || journal->next)
        return;
    tide_buf_reset(&journal->line);
    tide_buf_putf(&journal->line, "%u %c ", node->chain.ledger, what);
    tide_buf_base64(&journal->line, data);
    tide_buf_u8(&journal->line, '\n');
    fwrite(journal->line.ptr, 1, journal->line.len, journal->file);
}

void node_note_number(struct sim_node *node, char what, uint32_t number)
{
    uint32_t swapped = __builtin_bswap32(number);
    node_note(node, what, tide_slice_of(&swapped, sizeof swapped));
}

tide_status node_journal_flush(struct sim_node *node)
{
    FILE *file = node->journal.file;
    return !file || (fflush(file) == 0 && !ferror(file)) ? TIDE_OK : TIDE_E_IO;
}

/* --- reading ------------------------------------------------------------------------- */

struct input {
    uint32_t ledger;
    char what;
    tide_slice data; /* in journal->bytes */
};

/* The line at *at, which moves behind it; false at the end, or where a line was cut off. */
static bool read_input(struct node_journal *journal, const uint8_t **at, struct input *out)
{
    const uint8_t *end = journal->text.ptr + journal->text.len;
    const uint8_t *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    const uint8_t *blank = newline ? memchr(*at, ' ', (size_t)(newline - *at)) : NULL;
    uint64_t ledger;
    if (!blank || newline - blank < 3 || blank[2] != ' ' ||
        tide_parse_u64(&ledger, tide_slice_of(*at, (size_t)(blank - *at)), UINT32_MAX) != TIDE_OK)
        return false;
    tide_buf_reset(&journal->bytes);
    if (tide_buf_base64_decode(&journal->bytes,
                               tide_slice_of(blank + 3, (size_t)(newline - blank) - 3)) != TIDE_OK)
        return false;
    *out = (struct input){ (uint32_t)ledger, (char)blank[1], tide_buf_view(&journal->bytes) };
    *at = newline + 1;
    return true;
}

static void act(struct sim_node *node, const struct input *input)
{
    struct node_sent sent;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_status status = TIDE_OK;
    uint32_t number = input->data.len == 4 ? tide_be32(input->data.ptr) : 0;
    if (input->what == 's')
        status = node_send(node, input->data, &sent);
    else if (input->what == 'f' && input->data.len == TIDE_HASH_BYTES)
        status = node_fund(node, input->data.ptr, hash);
    else if (input->what == 'u' && input->data.len == TIDE_HASH_BYTES)
        node_use(node, input->data.ptr);
    else if (input->what == 'h')
        node->hold = number;
    else if (input->what == 'p')
        node->chain.pace = number;
    (void)status; /* a chain that comes out otherwise is noticed where it is compared */
}

void node_journal_repeat(struct sim_node *node)
{
    struct node_journal *journal = &node->journal;
    struct input input;
    const uint8_t *at = journal->next;
    while (at && read_input(journal, &at, &input) && input.ledger <= node->chain.ledger) {
        if (input.ledger == node->chain.ledger)
            act(node, &input);
        journal->next = at;
    }
    if (node->chain.ledger + 1 < journal->last)
        return;
    journal->next = NULL; /* the ledger about to close is the last that is there */
    tide_buf_release(&journal->text);
}

/* --- opening ---------------------------------------------------------------------------- */

static tide_status load(struct node_journal *journal, const char *path, struct tide_err *err)
{
    uint8_t chunk[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file)
        return errno == ENOENT ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot read %s", path);
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        tide_buf_put(&journal->text, chunk, got);
    bool whole = !ferror(file) && !journal->text.failed;
    fclose(file);
    return whole ? TIDE_OK : tide_fail(err, TIDE_E_LIMIT, "%s cannot be read whole", path);
}

/* Cuts what was said behind the last ledger that is there: nobody has seen it in one. */
static void forget_later(struct node_journal *journal)
{
    struct input input;
    const uint8_t *at = journal->text.ptr, *kept = at;
    while (at && read_input(journal, &at, &input) && input.ledger < journal->last)
        kept = at;
    journal->text.len = kept ? (size_t)(kept - journal->text.ptr) : 0;
}

static tide_status rewrite(struct node_journal *journal, const char *path, struct tide_err *err)
{
    char aside[4096];
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp", path) >= sizeof aside)
        return tide_fail(err, TIDE_E_USAGE, "%s is too long a name", path);
    journal->file = fopen(aside, "wb");
    tide_slice text = tide_buf_view(&journal->text);
    bool good = journal->file && (!text.len || fwrite(text.ptr, text.len, 1, journal->file) == 1) &&
                fflush(journal->file) == 0 && rename(aside, path) == 0;
    return good ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot write %s", path);
}

tide_status node_journal(struct sim_node *node, const char *path, uint32_t last,
                         struct tide_err *err)
{
    struct node_journal *journal = &node->journal;
    assert(!journal->file && node_latest(node).sequence == 0);
    tide_buf_reset(&journal->text);
    tide_status status = load(journal, path, err);
    journal->last = last;
    forget_later(journal);
    if (status == TIDE_OK)
        status = rewrite(journal, path, err);
    if (status == TIDE_OK && journal->text.len)
        journal->next = journal->text.ptr;
    return status;
}

void node_journal_close(struct sim_node *node)
{
    if (node->journal.file)
        fclose(node->journal.file);
    tide_buf_release(&node->journal.text);
    tide_buf_release(&node->journal.bytes);
    tide_buf_release(&node->journal.line);
}
