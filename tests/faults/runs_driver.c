/* Runs tidemark-indexer once for each line of standard input, each in a process of its own that is
 * forked: loading the program and its libraries takes longer than most of what tests ask of it.
 *
 * usage: runs_driver < LINES     a line has the arguments, with a tab between them
 *
 * Prints for each line its exit code (128 and the signal's number, if one ended it), the length of
 * its standard output, and that output. What it writes to standard error goes there. */
int indexer_main(int argc, char **argv);
#define main indexer_main
#include "indexer/main.c"
#undef main

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { ARGS_MAX = 16 };

/* Cuts the line into arguments, in place. */
static int split_line(char *line, char **args)
{
    static char program[] = "tidemark-indexer";
    char *rest = NULL;
    int count = 0;
    args[count++] = program;
    line[strcspn(line, "\n")] = '\0';
    for (char *arg = strtok_r(line, "\t", &rest); arg && count < ARGS_MAX;
         arg = strtok_r(NULL, "\t", &rest))
        args[count++] = arg;
    args[count] = NULL;
    return count;
}

/* Runs it in the child, and ends. */
static void run_line(char *line, int out)
{
    char *args[ARGS_MAX + 1];
    int count = split_line(line, args);
    if (dup2(out, STDOUT_FILENO) < 0)
        _exit(127);
    int code = indexer_main(count, args);
    fflush(stdout);
    _exit(code);
}

/* Prints how the child ended, and what it wrote. */
static void print_run(int status, int out)
{
    char block[1 << 14];
    off_t length = lseek(out, 0, SEEK_END);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    printf("%d %lld\n", code, (long long)length);
    lseek(out, 0, SEEK_SET);
    for (ssize_t n; (n = read(out, block, sizeof block)) > 0;)
        fwrite(block, 1, (size_t)n, stdout);
    fflush(stdout);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        int status = 0, out = memfd_create("out", MFD_CLOEXEC);
        pid_t child = out < 0 ? -1 : fork();
        if (child == 0)
            run_line(line, out);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return perror("runs_driver"), 1;
        print_run(status, out);
        close(out);
    }
    free(line);
    return 0;
}
