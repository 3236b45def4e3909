/* The guest's only program: loads modules, plays scenarios on a simulated SCSI disk that takes one
 * command at a time, and prints what the block layer did.
 *
 * A scenario is a text file:
 *     scheduler mq-deadline read_expire=50     the scheduler, and its settings
 *     service 5ms                              how long the disk takes for each command
 *     0ms 1 R 1024+8 prio=be/4                 when, who, what: R or W, first sector and length
 * Requests of one process are issued in the order of their lines, none waits for another. Processes
 * that do wait are described in loops.c; their scenarios have no other requests.
 * Between "scenario NAME" and "end" the debug port gets the trace events of its run: it is much faster
 * than the serial one.
 */
#define _GNU_SOURCE
#include "loops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
#define MOST 256
#define SECTOR 512

struct step {
    long ms, who, sector, sectors;
    int write, priority;
};

static struct step steps[MOST];
static int count;
static char scheduler[512];
static long service_ns;
static int rotational, none;
static char disk[32];

/* A byte at a time to the port that QEMU writes to a file. */
static ssize_t tell(void *unused, const char *text, size_t length)
{
    (void)unused;
    for (size_t i = 0; i < length; i++)
        outb(text[i], 0xe9);
    return length;
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("FAILED ");
    vprintf(format, arguments);
    printf(": %s\n", strerror(errno));
    va_end(arguments);
    fflush(stdout);
    reboot(RB_AUTOBOOT);
    for (;;)
        pause();
}

static void put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_TRUNC);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        fail("writing %s to %s", text, path);
    close(file);
}

static void load(const char *name, const char *parameters)
{
    char path[256];
    snprintf(path, sizeof path, "/modules/%s", name);
    int file = open(path, O_RDONLY);
    if (file < 0 || (syscall(SYS_finit_module, file, parameters, 0) && errno != EEXIST))
        fail("loading %s", name);
    close(file);
}

/* Loads what /modules/order lists, except for the disk. */
static void load_modules(void)
{
    char line[128];
    FILE *order = fopen("/modules/order", "r");
    if (!order)
        fail("opening the list of modules");
    while (fgets(line, sizeof line, order)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "scsi_debug.ko"))
            load(line, "");
    }
    fclose(order);
}

/* be/4 as ioprio_set(2) has it. */
static int priority_of(const char *text)
{
    int class = !strncmp(text, "rt/", 3) ? 1 : !strncmp(text, "idle/", 5) ? 3 : 2;
    return class << 13 | atoi(strchr(text, '/') + 1);
}

static void read_scenario(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file)
        fail("opening %s", path);
    count = rotational = 0;
    forget_loops();
    while (fgets(line, sizeof line, file)) {
        struct step *step = &steps[count];
        char kind, *priority;
        line[strcspn(line, "#\n")] = 0;
        if (!strncmp(line, "scheduler ", 10))
            snprintf(scheduler, sizeof scheduler, "%s", line + 10);
        else if (!strncmp(line, "service ", 8))
            service_ns = atol(line + 8) * 1000000;
        else if (!strcmp(line, "rotational"))
            rotational = 1;
        else if (read_loop(line))
            ;
        else if (sscanf(line, "%ldms %ld %c %ld+%ld", &step->ms, &step->who, &kind, &step->sector, &step->sectors) == 5) {
            step->write = kind == 'W';
            priority = strstr(line, "prio=");
            step->priority = priority ? priority_of(priority + 5) : priority_of("be/4");
            if (++count == MOST)
                fail("%s is too long", path);
        }
    }
    fclose(file);
}

/* Finds the disk that scsi_debug has made. */
static void find_disk(void)
{
    for (int tries = 0; tries < 2000; tries++, usleep(5000)) {
        DIR *folder = opendir("/sys/block");
        struct dirent *entry;
        while (folder && (entry = readdir(folder)))
            if (!strncmp(entry->d_name, "sd", 2)) {
                snprintf(disk, sizeof disk, "%.15s", entry->d_name);
                closedir(folder);
                return;
            }
        if (folder)
            closedir(folder);
    }
    fail("waiting for the disk");
}

static void set_queue(const char *attribute, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/block/%s/queue/%s", disk, attribute);
    put(path, value);
}

static void make_disk(void)
{
    char parameters[256], text[512], attribute[64], *word, *rest = text;
    snprintf(parameters, sizeof parameters, "dev_size_mb=%d max_queue=1 ndelay=%ld", loops() ? 256 : 64,
             service_ns);
    load("scsi_debug.ko", parameters);
    find_disk();
    snprintf(text, sizeof text, "/dev/%s", disk);
    for (int tries = 0; access(text, F_OK) && tries < 2000; tries++)
        usleep(5000);
    snprintf(text, sizeof text, "%s", scheduler);
    set_queue("rotational", rotational ? "1" : "0");
    set_queue("scheduler", strsep(&rest, " "));
    /* Without a scheduler there is only the device's queue, and requests arrive in it when they are sent. */
    none = !strcmp(text, "none");
    if (!none)
        set_queue("nr_requests", "128");
    set_queue("nomerges", "2");
    put(TRACING "events/block/block_rq_insert/enable", none ? "0" : "1");
    put(TRACING "events/block/block_bio_queue/enable", none ? "1" : "0");
    while ((word = strsep(&rest, " ")))
        if (*word) {
            char *value = strchr(word, '=');
            *value++ = 0;
            snprintf(attribute, sizeof attribute, "iosched/%s", word);
            set_queue(attribute, value);
        }
}

/* Of processes that issue in the same millisecond that of the least number goes first. */
static void sleep_until(const struct timespec *start, long ms, long who)
{
    struct timespec until = *start;
    until.tv_nsec += ms % 1000 * 1000000 + who * 50000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* What one process does. */
static void play(long who, const struct timespec *start)
{
    char path[64];
    aio_context_t context = 0;
    struct io_event events[MOST];
    int issued = 0;
    snprintf(path, sizeof path, "/dev/%s", disk);
    int file = open(path, O_RDWR | O_DIRECT);
    if (file < 0 || syscall(SYS_io_setup, MOST, &context))
        fail("process %ld", who);
    void *buffer = aligned_alloc(4096, 1 << 20);
    for (struct step *step = steps; step < steps + count; step++) {
        if (step->who != who)
            continue;
        struct iocb block = {
            .aio_fildes = file,
            .aio_lio_opcode = step->write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
            .aio_buf = (unsigned long)buffer,
            .aio_nbytes = step->sectors * SECTOR,
            .aio_offset = step->sector * SECTOR,
            .aio_flags = IOCB_FLAG_IOPRIO,
            .aio_reqprio = step->priority,
        }, *blocks = &block;
        sleep_until(start, step->ms, who);
        if (syscall(SYS_io_submit, context, 1, &blocks) != 1)
            fail("submitting sector %ld", step->sector);
        issued++;
    }
    if (syscall(SYS_io_getevents, context, issued, MOST, events, NULL) != issued)
        fail("waiting for process %ld", who);
    for (int i = 0; i < issued; i++)
        if (events[i].res < 0)
            fail("sector error %ld", (long)events[i].res);
    exit(0);
}

static void run(const char *name)
{
    char path[512], line[512];
    struct timespec start;
    int status;
    snprintf(path, sizeof path, "/scenarios/%s", name);
    read_scenario(path);
    make_disk();
    put(TRACING "trace", "\n");
    put(TRACING "tracing_on", "1");
    clock_gettime(CLOCK_MONOTONIC, &start);
    /* A whole second, so that every scenario begins at the same place within a tick of the kernel. */
    start.tv_sec += 2;
    start.tv_nsec = 0;
    for (int i = 0; i < count; i++) {
        int known = 0;
        for (int before = 0; before < i; before++)
            known |= steps[before].who == steps[i].who;
        if (!known && !fork())
            play(steps[i].who, &start);
    }
    for (int i = 0; i < loops(); i++)
        if (!fork())
            play_loop(i, disk, &start);
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            fail("a process of %s", name);
    put(TRACING "tracing_on", "0");
    printf("\nscenario %s\n", name);
    FILE *trace = fopen(TRACING "trace", "r");
    while (trace && fgets(line, sizeof line, trace))
        if (loops())
            print_short(line);
        else if (strstr(line, ": block_rq_"))
            printf("%s", strstr(line, "[0"));
    fclose(trace);
    printf("end\n");
    fflush(stdout);
    if (syscall(SYS_delete_module, "scsi_debug", 0))
        fail("unloading the disk");
}

int main(void)
{
    struct dirent **names;
    if (ioperm(0xe9, 1, 1))
        perror("ioperm");
    stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = tell});
    mkdir("/proc", 0755), mkdir("/sys", 0755), mkdir("/dev", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    mount("tracefs", TRACING, "tracefs", 0, NULL);
    load_modules();
    put(TRACING "tracing_on", "0");
    put(TRACING "buffer_size_kb", "8192");
    put(TRACING "events/block/block_rq_issue/enable", "1");
    put(TRACING "events/block/block_rq_complete/enable", "1");
    put(TRACING "events/kyber/kyber_adjust/enable", "1");
    struct utsname kernel;
    uname(&kernel);
    printf("\nversion %s\n", kernel.release);
    int found = scandir("/scenarios", &names, NULL, alphasort);
    for (int i = 0; i < found; i++)
        if (names[i]->d_name[0] != '.')
            run(names[i]->d_name);
    printf("all done\n");
    fflush(stdout);
    reboot(RB_AUTOBOOT);
    return 0;
}
