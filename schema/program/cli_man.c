/* Man pages (roff, man(7) macros), from the same rows as --help. */
#include "schema/program/cli_impl.h"
#include "schema/program/config_impl.h"

/* The programs that have a page and read settings. */
#define MAN_PAGES                                                                          \
    ".BR tidemark\\-indexer (1),\n.BR tidemark\\-api (1),\n.BR tidemark\\-attester (1),\n" \
    ".BR tidemark\\-console (1)\n"

/* Writes text as roff: escapes backslashes and dashes, and lines that would begin a request. */
static void put_roff(struct tide_buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        tide_buf_str(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            tide_buf_str(out, "\\e");
        else if (*text == '-')
            tide_buf_str(out, "\\-");
        else if (*text == '\n' && text[1] == '\n')
            tide_buf_str(out, "\n.PP\n"), text++;
        else
            tide_buf_u8(out, (uint8_t)*text);
    }
}

/* Writes a tagged paragraph: .TP, the tag in bold, the text. */
static void put_entry(struct tide_buf *out, const char *tag, const char *text)
{
    tide_buf_str(out, ".TP\n.B ");
    put_roff(out, tag);
    tide_buf_u8(out, '\n');
    put_roff(out, text);
    tide_buf_u8(out, '\n');
}

static void put_example(struct tide_buf *out, const char *line)
{
    tide_buf_str(out, ".PP\n.nf\n    ");
    put_roff(out, line);
    tide_buf_str(out, "\n.fi\n");
}

static void put_reads(struct tide_buf *out, const char *patterns)
{
    const char *gap = ".PP\nSettings it reads: ";
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        const struct tide_setting *s = &tide_settings[i];
        if (s->kind == TIDE_SETTING_GROUP || !tide_setting_is_in(patterns, s->name))
            continue;
        tide_buf_putf(out, "%s%s", gap, s->name);
        gap = ",\n";
    }
    if (*gap == ',')
        tide_buf_str(out, ".\n");
}

static void put_command(struct tide_buf *out, const struct tide_cli *cli,
                        const struct tide_cli_row *command)
{
    struct tide_buf line;
    tide_buf_init(&line, 2048);
    if (*command->name) {
        tide_cli_usage(cli, command, &line);
        tide_buf_u8(&line, 0);
        assert(!line.failed);
        tide_buf_str(out, ".SS ");
        put_roff(out, (const char *)line.ptr);
        tide_buf_u8(out, '\n');
        put_roff(out, command->text);
        tide_buf_str(out, ".\n");
    }
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));) {
        if (r->kind == TIDE_CLI_EXAMPLE) {
            put_example(out, r->text);
            continue;
        }
        tide_buf_reset(&line);
        tide_cli_option_text(&line, r);
        tide_buf_u8(&line, 0);
        put_entry(out, (const char *)line.ptr, r->text);
    }
    put_reads(out, command->settings);
    tide_buf_release(&line);
}

static void put_title(struct tide_buf *out, const char *name, int section, const char *version)
{
    tide_buf_str(out, ".TH \"");
    for (; *name; name++)
        tide_buf_u8(out, *name >= 'a' && *name <= 'z' ? (uint8_t)(*name - 32) : (uint8_t)*name);
    tide_buf_putf(out, "\" %d \"\" \"tidemark %s\" \"Tidemark\"\n", section, version);
}

static void put_synopsis(struct tide_buf *out, const struct tide_cli *cli)
{
    tide_buf_str(out, ".SH SYNOPSIS\n.B ");
    put_roff(out, cli->program);
    tide_buf_u8(out, '\n');
    if (!tide_cli_command(cli, ""))
        tide_buf_str(out, cli->implied ? "[COMMAND] " : "COMMAND ");
    tide_buf_str(out, "[OPTION]... [\\-\\-SETTING VALUE]...\n");
}

void tide_cli_man(const struct tide_cli *cli, struct tide_buf *out)
{
    const struct tide_cli_row *only = tide_cli_command(cli, "");
    put_title(out, cli->program, 1, cli->version);
    tide_buf_str(out, ".SH NAME\n");
    put_roff(out, cli->program);
    tide_buf_str(out, " \\- ");
    put_roff(out, cli->summary);
    tide_buf_u8(out, '\n');
    put_synopsis(out, cli);
    tide_buf_str(out, ".SH DESCRIPTION\n");
    put_roff(out, cli->text);
    tide_buf_str(out, "\n.PP\nA setting is a line of the configuration file, a variable\n"
                      "TIDEMARK_KEY over it, or an option \\-\\-KEY VALUE over that. The file is\n"
                      "named by \\-\\-config or by TIDEMARK_CONFIG;\n.BR tidemark.conf (5)\n"
                      "explains every setting.\n");
    tide_buf_str(out, only ? ".SH OPTIONS\n" : ".SH COMMANDS\n");
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND)
            put_command(out, cli, &cli->rows[i]);
    tide_buf_str(out, ".SH EXIT STATUS\n");
    tide_exit_codes(out, put_entry);
    tide_buf_str(out, ".SH FILES\n");
    put_entry(out, "/etc/tidemark/tidemark.conf", "The settings, as the package installs them.");
    put_entry(out, "$CREDENTIALS_DIRECTORY/tidemark_KEY",
              "A secret setting in a file of its own, as systemd's LoadCredential= gives it.");
    tide_buf_str(out, ".SH SEE ALSO\n.BR tidemark.conf (5),\n" MAN_PAGES);
}

/* --- tidemark.conf(5) --------------------------------------------------------------------- */

static void put_setting(struct tide_buf *out, const struct tide_setting *s)
{
    struct tide_buf tag, text;
    tide_buf_init(&tag, 512);
    tide_buf_init(&text, 2048);
    tide_buf_putf(&tag, "%s = ", s->name);
    tide_setting_value(&tag, s);
    tide_buf_u8(&tag, 0);
    tide_buf_putf(&text, "%s. ", s->help);
    if (s->kind == TIDE_SETTING_U32) {
        tide_setting_bounds(&text, s);
        tide_buf_str(&text, "; ");
    }
    tide_buf_putf(&text, "default: %s", *s->def ? s->def : "unset");
    tide_buf_u8(&text, 0);
    assert(!tag.failed && !text.failed);
    put_entry(out, (const char *)tag.ptr, (const char *)text.ptr);
    tide_buf_release(&tag);
    tide_buf_release(&text);
}

void tide_config_man(struct tide_buf *out, const char *version)
{
    put_title(out, "tidemark.conf", 5, version);
    tide_buf_str(
        out,
        ".SH NAME\ntidemark.conf \\- settings of Tidemark\n.SH DESCRIPTION\nLines\n"
        ".IR \"key = value\" ,\n[section] (without meaning) or # comment. A value is the rest of "
        "its\nline. An unknown key, a key given "
        "twice and a value out of its bounds are\nrefused at the start, with exit status 78.\n"
        ".PP\nEach key is also a variable TIDEMARK_KEY, which overrides the file, and an\noption "
        "\\-\\-key, which overrides both. Text values that are secrets are never\nshown, and may "
        "come as systemd credentials.\n.PP\nOne file serves all programs; each reads the keys that "
        "its man page names.\n");
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        const struct tide_setting *s = &tide_settings[i];
        if (s->kind != TIDE_SETTING_GROUP)
            put_setting(out, s);
        else
            tide_buf_putf(out, "%s.SS %s\n", i ? "" : ".SH SETTINGS\n", s->name);
    }
    tide_buf_str(out, ".SH SEE ALSO\n" MAN_PAGES);
}
