/* The clock of the processes that load this (LD_PRELOAD) goes ahead or behind by the seconds that the file named by
   FAULT_CLOCK holds, eight bytes that may change at any time. Clocks that count from the start of the machine stay. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long zero, *offset = &zero;
static int (*real_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real_clock = dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("FAULT_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) offset = seen;
    close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
    if (!real_clock) real_clock = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real_clock(id, now);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
