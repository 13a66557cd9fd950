/* The console's pages: tools/dashboard builds them, the program contains them. */
#ifndef API_CONSOLE_FILES_H
#define API_CONSOLE_FILES_H

#include "api/http/reply.h"
#include "api/http/static_files.h"

/* contains "console.html" only if the pages were built */
extern const struct tide_static_file tide_console_files[];
extern const size_t tide_console_file_count;

/* Answers with the file of that name, or with 404. */
void console_file(struct tide_reply *reply, tide_slice name);

#endif
