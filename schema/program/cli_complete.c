/* Completion for bash, from the same rows as --help. */
#include "schema/program/cli_impl.h"
#include "schema/program/config_impl.h"

static void put_dashed(struct tide_buf *out, const char *name)
{
    tide_buf_str(out, " --");
    for (; *name; name++)
        tide_buf_u8(out, *name == '_' ? '-' : (uint8_t)*name);
}

static void put_words(struct tide_buf *out, const struct tide_cli *cli,
                      const struct tide_cli_row *command)
{
    tide_buf_putf(out, "    %s) words=\"--help --config", *command->name ? command->name : "*");
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));)
        if (r->kind != TIDE_CLI_EXAMPLE)
            put_dashed(out, r->name);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind != TIDE_SETTING_GROUP &&
            tide_setting_is_in(command->settings, tide_settings[i].name))
            put_dashed(out, tide_settings[i].name);
    tide_buf_str(out, "\" ;;\n");
}

/* Completes the value of an option: the choices of an enum, or files. */
static void put_values(struct tide_buf *out)
{
    tide_buf_str(out, "    case $previous in\n    --config");
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind == TIDE_SETTING_PATH) {
            tide_buf_str(out, " |");
            put_dashed(out, tide_settings[i].name);
        }
    tide_buf_str(
        out, ")\n        COMPREPLY=($(compgen -f -- \"$current\"))\n        return\n        ;;\n");
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        if (tide_settings[i].kind != TIDE_SETTING_ENUM)
            continue;
        tide_buf_str(out, "   ");
        put_dashed(out, tide_settings[i].name);
        tide_buf_str(out, ")\n        COMPREPLY=($(compgen -W \"");
        for (const char *p = tide_settings[i].unit; *p; p++)
            tide_buf_u8(out, *p == '|' ? ' ' : (uint8_t)*p);
        tide_buf_str(out, "\" -- \"$current\"))\n        return\n        ;;\n");
    }
    tide_buf_str(out, "    esac\n");
}

void tide_cli_completion(const struct tide_cli *cli, struct tide_buf *out)
{
    char name[64];
    assert(strlen(cli->program) + 1 < sizeof name);
    snprintf(name, sizeof name, "_%s", cli->program);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    tide_buf_putf(out,
                  "# bash completion for %s\n%s()\n{\n    local current=${COMP_WORDS[COMP_CWORD]} "
                  "previous=${COMP_WORDS[COMP_CWORD - 1]} command=%s word words\n",
                  cli->program, name, cli->implied ? cli->implied : "");
    tide_buf_str(out, "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                      "        case $word in\n        ");
    const char *gap = "";
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND && *cli->rows[i].name) {
            tide_buf_putf(out, "%s%s", gap, cli->rows[i].name);
            gap = " | ";
        }
    tide_buf_str(out, *gap ? ") command=$word && break ;;\n        esac\n    done\n"
                           : "'') ;;\n        esac\n    done\n");
    put_values(out);
    tide_buf_str(out, "    case $command in\n");
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND)
            put_words(out, cli, &cli->rows[i]);
    tide_buf_str(out, "    esac\n");
    if (*gap) {
        tide_buf_str(out, "    [ \"$COMP_CWORD\" != 1 ] || words=\"--help --version");
        for (size_t i = 0; i < cli->count; i++)
            if (cli->rows[i].kind == TIDE_CLI_COMMAND)
                tide_buf_putf(out, " %s", cli->rows[i].name);
        tide_buf_str(out, cli->implied ? " $words\"\n" : "\"\n");
    }
    tide_buf_putf(out,
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
                  "complete -o default -F %s %s\n",
                  name, cli->program);
}
