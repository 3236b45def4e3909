/* Processes that wait for their requests before they issue more. See loops.c. */
#include <time.h>

/* Reads a line of a scenario, if it is of a process that waits, and says so. */
int read_loop(const char *line);

/* Forgets all of them. */
void forget_loops(void);

/* How many there are. */
int loops(void);

/* Does what the one of this number does on the disk, from `start` on, and exits. */
void play_loop(int number, const char *disk, const struct timespec *start);

/* Prints a line of the trace in few characters: i(nsert), d(ispatch) or c(omplete), time since the line
 * before in us, R or W, first sector; of an insert also length and process. A new depth of kyber is k,
 * the time, the domain and the depth. */
void print_short(const char *line);

void fail(const char *format, ...);
