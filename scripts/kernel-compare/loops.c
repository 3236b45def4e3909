/* Processes that wait for their requests before they issue more, as most programs do: when they ask
 * next depends on when they were served.
 *
 *     run 4000ms                               nobody begins anything after that
 *     process 1 R 1024+64 think=2ms            who, what (R, W, or A: through the page cache, not sync),
 *                                              first sector and length of its requests; and then, if wanted:
 *         batch=4        issues this many, waits for all; 1
 *         think=2ms      time from the last completion to the next batch; 0
 *         jitter=1ms     up to so much more, at random; 0
 *         step=128       sectors from a request to the next, or `random`; the length: one after another
 *         span=65536     sectors that it uses: there it starts over; 32768
 *         prio=be/4      its I/O priority
 *         from=500ms     when it begins; 0
 *         count=10       how many batches it issues; no limit
 */
#define _GNU_SOURCE
#include "loops.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 64
#define SECTOR 512
#define BILLION 1000000000L

struct loop {
    long who, first, length, batch, step, span, count;
    long think_ns, jitter_ns, from_ns;
    int kind, priority;
    unsigned long random;
};

static struct loop all[MOST];
static int known;
static long run_ns;

void forget_loops(void) { known = 0; }
int loops(void) { return known; }

/* 2ms or 500us, in ns. */
static long time_of(const char *text)
{
    char *unit;
    long number = strtol(text, &unit, 10);
    return number * (!strcmp(unit, "us") ? 1000 : 1000000);
}

static void set(struct loop *loop, const char *name, const char *value)
{
    if (!strcmp(name, "batch"))
        loop->batch = atol(value);
    else if (!strcmp(name, "think"))
        loop->think_ns = time_of(value);
    else if (!strcmp(name, "jitter"))
        loop->jitter_ns = time_of(value);
    else if (!strcmp(name, "step"))
        loop->step = strcmp(value, "random") ? atol(value) : -1;
    else if (!strcmp(name, "span"))
        loop->span = atol(value);
    else if (!strcmp(name, "from"))
        loop->from_ns = time_of(value);
    else if (!strcmp(name, "count"))
        loop->count = atol(value);
    else if (!strcmp(name, "prio"))
        loop->priority = (value[0] == 'r' ? 1 : value[0] == 'i' ? 3 : 2) << 13 | atoi(strchr(value, '/') + 1);
    else
        fail("a process has no %s", name);
}

int read_loop(const char *line)
{
    char copy[512], *rest = copy, *word, kind;
    struct loop *loop = &all[known];
    int read = 0;
    if (!strncmp(line, "run ", 4))
        return run_ns = time_of(line + 4), 1;
    memset(loop, 0, sizeof *loop);
    if (sscanf(line, "process %ld %c %ld+%ld%n", &loop->who, &kind, &loop->first, &loop->length, &read) != 4)
        return 0;
    loop->kind = kind;
    loop->batch = 1;
    loop->step = loop->length;
    loop->span = 32768;
    loop->random = loop->who;
    snprintf(copy, sizeof copy, "%s", line + read);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        set(loop, word, value);
    }
    if (++known == MOST)
        fail("too many processes");
    return 1;
}

static long since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * BILLION + now.tv_nsec - start->tv_nsec;
}

static void pause_for(long ns)
{
    struct timespec span = {ns / BILLION, ns % BILLION};
    if (ns > 0)
        nanosleep(&span, NULL);
}

static unsigned long draw(struct loop *loop)
{
    loop->random = loop->random * 6364136223846793005UL + 1442695040888963407UL;
    return loop->random >> 33;
}

/* Where the next request begins; `at` is where the one before did. */
static long place(struct loop *loop, long at)
{
    if (loop->step < 0)
        return loop->first + (long)(draw(loop) % (loop->span / loop->length)) * loop->length;
    at += loop->step;
    return at + loop->length > loop->first + loop->span ? loop->first : at;
}

/* A batch with O_DIRECT. Returns where the last request begins. */
static long direct(struct loop *loop, int file, aio_context_t context, void *buffer, long at)
{
    struct io_event events[MOST];
    for (int i = 0; i < loop->batch; i++) {
        at = place(loop, at);
        struct iocb block = {
            .aio_fildes = file,
            .aio_lio_opcode = loop->kind == 'W' ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
            .aio_buf = (unsigned long)buffer,
            .aio_nbytes = loop->length * SECTOR,
            .aio_offset = at * SECTOR,
        }, *blocks = &block;
        if (syscall(SYS_io_submit, context, 1, &blocks) != 1)
            fail("submitting sector %ld", at);
    }
    if (syscall(SYS_io_getevents, context, loop->batch, MOST, events, NULL) != loop->batch)
        fail("waiting for process %ld", loop->who);
    for (int i = 0; i < loop->batch; i++)
        if (events[i].res < 0)
            fail("sector error %ld", (long)events[i].res);
    return at;
}

/* A batch through the page cache, written back at once by the process itself. */
static long cached(struct loop *loop, int file, void *buffer, long at)
{
    for (int i = 0; i < loop->batch; i++) {
        at = place(loop, at);
        if (pwrite(file, buffer, loop->length * SECTOR, at * SECTOR) != loop->length * SECTOR)
            fail("writing sector %ld", at);
    }
    if (sync_file_range(file, loop->first * SECTOR, loop->span * SECTOR, SYNC_FILE_RANGE_WRITE) ||
        sync_file_range(file, loop->first * SECTOR, loop->span * SECTOR, SYNC_FILE_RANGE_WAIT_BEFORE))
        fail("writing back process %ld", loop->who);
    return at;
}

void play_loop(int number, const char *disk, const struct timespec *start)
{
    struct loop *loop = &all[number];
    char text[64];
    aio_context_t context = 0;
    snprintf(text, sizeof text, "p%ld", loop->who);
    prctl(PR_SET_NAME, text);
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (loop->priority && syscall(SYS_ioprio_set, 1, 0, loop->priority))
        fail("setting the priority of process %ld", loop->who);
    snprintf(text, sizeof text, "/dev/%s", disk);
    int file = open(text, loop->kind == 'A' ? O_RDWR : O_RDWR | O_DIRECT);
    if (file < 0 || syscall(SYS_io_setup, MOST, &context))
        fail("process %ld", loop->who);
    void *buffer = aligned_alloc(4096, 1 << 20);
    memset(buffer, 1, 1 << 20);
    pause_for(loop->from_ns - since(start));
    long at = loop->first - (loop->step > 0 ? loop->step : 0);
    for (long done = 0; since(start) < run_ns && (!loop->count || done < loop->count); done++) {
        if (done)
            pause_for(loop->think_ns + (loop->jitter_ns ? (long)(draw(loop) % loop->jitter_ns) : 0));
        at = loop->kind == 'A' ? cached(loop, file, buffer, at) : direct(loop, file, context, buffer, at);
    }
    exit(0);
}

void print_short(const char *line)
{
    static long last;
    char event[32], kind[16], who[32] = "";
    long seconds, us, sector, number;
    const char *rest = strstr(line, "] ");
    if (!rest || sscanf(rest + 2, "%*s %ld.%ld: %31[a-z_]: %*s %15s", &seconds, &us, event, kind) != 4)
        return;
    us += seconds * 1000000;
    /* The extent stands behind the command, if there is one: (COMMAND) SECTOR + LENGTH [NAME]. */
    rest = strstr(rest, ") ") ? strstr(rest, ") ") + 1 : strstr(rest, kind) + strlen(kind);
    char direction = strchr(kind, 'W') ? 'W' : 'R';
    if (!strcmp(event, "kyber_adjust"))
        printf("k %ld %s %s", us - last, kind, rest + 1);
    else if (sscanf(rest, "%ld + %ld [%31[^]]", &sector, &number, who) < 2)
        return;
    else if (!strcmp(event, "block_rq_insert") || !strcmp(event, "block_bio_queue"))
        printf("i %ld %c %ld %ld %s\n", us - last, direction, sector, number, who);
    else
        printf("%c %ld %c %ld\n", strcmp(event, "block_rq_issue") ? 'c' : 'd', us - last, direction, sector);
    last = us;
}
