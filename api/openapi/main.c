/* openapi-gen OUT FILE…: writes the OpenAPI document that the files describe. Parts of queries
 * must precede the queries. */
#include "api/openapi/document.h"
#include "api/openapi/events.h"

enum { DOCUMENT_MAX = 8 << 20 };

static bool write_file(const char *path, tide_slice text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool whole = fwrite(text.ptr, 1, text.len, file) == text.len;
    return fclose(file) == 0 && whole;
}

int main(int argc, char **argv)
{
    static struct openapi_texts texts;
    struct tide_buf out;
    if (argc < 3) {
        fprintf(stderr, "usage: openapi-gen OUT FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        openapi_read(&texts, argv[i]);
    openapi_read_events(&texts);
    tide_buf_init(&out, DOCUMENT_MAX);
    openapi_document(&out, &texts);
    assert(!out.failed);
    bool written = write_file(argv[1], tide_buf_view(&out));
    if (!written)
        perror(argv[1]);
    tide_buf_release(&out);
    return written ? 0 : 1;
}
