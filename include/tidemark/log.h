/* One call, one line, one write(2) on stderr. logfmt by default:
 *
 *   2026-05-02T09:14:07.120Z info ledger.written ledger=812 events=41
 *
 * or one JSON object a line after tide_log_json_set(true). Levels say when to act:
 *   DEBUG  for developers; off by default     INFO  never
 *   WARN   tomorrow, it heals by itself       ERROR at once
 *
 * event is a constant "noun.verb": alerts and greps use it, so it is an API. Each one is a row of
 * tools/packaging/events.md; tools/check/events compares them.
 * fields is a printf text of key=value pairs; values with spaces are quoted by
 * the caller with tide_log_quote. A line of more than 4 KiB is cut and stays valid.
 * Secrets and jurisdictions never come here.
 * Any thread may log. Pure code (walk, decode) never does: it returns. */
#ifndef TIDEMARK_LOG_H
#define TIDEMARK_LOG_H

#include "tidemark/base.h"

enum tide_log_level { TIDE_DEBUG, TIDE_INFO, TIDE_WARN, TIDE_ERROR };

void tide_log_level_set(enum tide_log_level least);
void tide_log_json_set(bool json);
void tide_log(enum tide_log_level level, const char *event, const char *fields, ...)
    TIDE_PRINTF(3, 4);

/* text as a quoted logfmt value in out, cut to fit: " and \ get a \ before them, control bytes become
 * blanks. Returns out. */
const char *tide_log_quote(char *out, size_t size, const char *text);

#endif
