/* A disk that a test commands: preloaded into the server, it stands between the
 * program and the files of its database. It records every change with its sync,
 * and fails or delays the calls that the test names.
 *
 * FAULTS_CONTROL names a file of five ints (struct control) that the test changes while the
 * server runs; FAULTS_RECORD the file that takes the record, if one is wanted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 4096, NAME = 64 };

static struct control {
    volatile int write_error, write_passes, sync_error, sync_passes, sync_delay_ms;
} *control;
static int record_to = -1;
static char names[FILES][NAME];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_CONTROL");
    int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *map = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        control = map == MAP_FAILED ? 0 : map;
        syscall(SYS_close, file);
    }
    path = getenv("FAULTS_RECORD");
    if (path)
        record_to = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* The part of a path from the database's name on, for the files that hold data. */
static const char *ours(const char *path) {
    const char *name = path ? strrchr(path, '/') : 0;
    name = name ? name + 1 : path;
    if (!name || strncmp(name, "seller-platform.db", 18) || strstr(name, "-shm") || strstr(name, ".lock"))
        return 0;
    return name;
}

static const char *name_of(int file) {
    return file >= 0 && file < FILES && names[file][0] ? names[file] : 0;
}

/* One line of the record: kind, length of the name, offset, length, name, bytes. */
static void note(char kind, const char *name, uint64_t offset, const void *bytes, uint32_t length) {
    if (record_to < 0)
        return;
    char head[14] = {kind, (char)strlen(name)};
    memcpy(head + 2, &offset, 8);
    memcpy(head + 10, &length, 4);
    struct iovec parts[3] = {{head, 14}, {(void *)name, strlen(name)}, {(void *)bytes, length}};
    syscall(SYS_writev, record_to, parts, 3);
}

/* Whether a call fails now, once those that pass are over. */
static int fails(volatile int *error, volatile int *passes) {
    if (!control || !*error)
        return 0;
    if (*passes > 0) {
        --*passes;
        return 0;
    }
    errno = *error;
    return 1;
}

static int opened(int file, const char *path) {
    if (file >= 0 && file < FILES) {
        const char *name = ours(path);
        names[file][0] = 0;
        if (name)
            strncpy(names[file], name, NAME - 1);
    }
    return file;
}

#define OPEN(function)                                                              \
    int function(const char *path, int flags, ...) {                                \
        va_list more;                                                               \
        va_start(more, flags);                                                      \
        int mode = va_arg(more, int);                                               \
        va_end(more);                                                               \
        return opened(syscall(SYS_openat, AT_FDCWD, path, flags, mode), path);      \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    if (file >= 0 && file < FILES)
        names[file][0] = 0;
    return syscall(SYS_close, file);
}

static ssize_t put(int file, const void *bytes, size_t length, off_t offset, int moves) {
    const char *name = name_of(file);
    if (!name)
        return moves ? syscall(SYS_write, file, bytes, length)
                     : syscall(SYS_pwrite64, file, bytes, length, offset);
    pthread_mutex_lock(&turn);
    ssize_t done = -1;
    if (!fails(&control->write_error, &control->write_passes)) {
        if (moves)
            offset = lseek(file, 0, SEEK_CUR);
        done = moves ? syscall(SYS_write, file, bytes, length)
                     : syscall(SYS_pwrite64, file, bytes, length, offset);
        if (done > 0)
            note('W', name, offset, bytes, done);
    }
    int error = errno;
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}

ssize_t write(int file, const void *bytes, size_t length) { return put(file, bytes, length, 0, 1); }
ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) { return put(file, bytes, length, at, 0); }
ssize_t pwrite64(int file, const void *bytes, size_t length, off_t at) { return put(file, bytes, length, at, 0); }

static int cut(int file, off_t length) {
    pthread_mutex_lock(&turn);
    int done = syscall(SYS_ftruncate, file, length);
    if (!done && name_of(file))
        note('T', name_of(file), length, 0, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
int ftruncate(int file, off_t length) { return cut(file, length); }
int ftruncate64(int file, off_t length) { return cut(file, length); }

static int settle(int file, int call) {
    const char *name = name_of(file);
    if (!name)
        return syscall(call, file);
    if (control && control->sync_delay_ms)
        usleep(control->sync_delay_ms * 1000);
    pthread_mutex_lock(&turn);
    int done = -1;
    if (!fails(&control->sync_error, &control->sync_passes)) {
        done = syscall(call, file);
        if (!done)
            note('S', name, 0, 0, 0);
    }
    int error = errno;
    pthread_mutex_unlock(&turn);
    errno = error;
    return done;
}
int fsync(int file) { return settle(file, SYS_fsync); }
int fdatasync(int file) { return settle(file, SYS_fdatasync); }

int unlink(const char *path) {
    pthread_mutex_lock(&turn);
    int done = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!done && ours(path))
        note('U', ours(path), 0, 0, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
