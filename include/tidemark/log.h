/* The log: each call writes one line to stderr with one write(2). logfmt by default:
 *
 *   2026-05-02T09:14:07.120Z info ledger.written ledger=812 events=41
 *
 * or one JSON object a line after tide_log_json_set(true). The level says when a person must act:
 *   DEBUG  for developers; off by default     INFO  never
 *   WARN   tomorrow, it heals by itself       ERROR at once
 *
 * event is a constant "noun.verb". Alerts and searches depend on it, so it never changes. Each
 * event is a row of tools/packaging/events.md; tools/check/events compares them.
 * fields is a printf text of key=value pairs. The caller quotes values with spaces by
 * tide_log_quote. A line of more than 4 KiB is cut and stays valid.
 * Secrets and jurisdictions must never be logged.
 * Any thread may log. Pure code (walk, decode) does not log; it returns failures. */
#ifndef TIDEMARK_LOG_H
#define TIDEMARK_LOG_H

#include "tidemark/base.h"

enum tide_log_level { TIDE_DEBUG, TIDE_INFO, TIDE_WARN, TIDE_ERROR };

void tide_log_level_set(enum tide_log_level least);
void tide_log_json_set(bool json);
void tide_log(enum tide_log_level level, const char *event, const char *fields, ...)
    TIDE_PRINTF(3, 4);

/* Writes text to out as a quoted logfmt value, cut to fit. A \ is put before " and \, and control
 * bytes become spaces. Returns out. */
const char *tide_log_quote(char *out, size_t size, const char *text);

#endif
