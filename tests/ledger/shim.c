/* Stands between a process and its system (LD_PRELOAD), at every call that makes something durable:
   write, pwrite, fsync, fdatasync, ftruncate, rename, unlink of files below one folder.

   shim_arm: at the n-th such call the process is killed before it, after it or in its middle, or
   the call fails, or writes half of what it was given. shim_log: every call is written down, with
   its content, for power cuts to be replayed; shim_mark adds a line of one's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[1024], mode[16];
static long at, calls;
static int armed, log_to = -1;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_unlink)(const char *);
static int (*real_ftruncate)(int, off_t), (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void look_up(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_rename = dlsym(RTLD_NEXT, "rename");
}

void shim_arm(long number, const char *how, const char *below) {
    snprintf(folder, sizeof folder, "%s", below);
    snprintf(mode, sizeof mode, "%s", how);
    at = number, calls = 0, armed = 1;
}

long shim_calls(void) { return calls; }

void shim_log(const char *path, const char *below) {
    shim_arm(0, "", below);
    log_to = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static void noted(char what, const char *path, const char *other, long offset, long length,
                  const void *content) {
    char line[4096];
    if (log_to < 0) return;
    int size = snprintf(line, sizeof line, "%c\t%s\t%s\t%ld\t%ld\n", what, path, other, offset,
                        length);
    real_write(log_to, line, size);
    if (length > 0 && content) real_write(log_to, content, length);
}

void shim_mark(const char *text) { noted('M', text, "", 0, 0, 0); }

static int is(const char *how) { return !strcmp(mode, how); }

static int below(const char *path) { return armed && !strncmp(path, folder, strlen(folder)); }

/* Whether a descriptor is of a file below the folder, and its path. */
static int named(int handle, char *path) {
    char link[64];
    if (!armed || handle == log_to) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, path, 2047);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether this is the call that fails, with its errno; who is to be killed before it, is. */
static int fails(int *hit) {
    *hit = ++calls == at;
    if (!*hit) return 0;
    if (is("before")) die();
    errno = is("EIO") ? EIO : is("ENOSPC") ? ENOSPC : is("EINTR") ? EINTR : 0;
    return errno != 0;
}

static ssize_t written(int handle, const void *content, size_t size, off_t offset, int placed) {
    char path[2048];
    int hit = 0;
#define DO(length) \
    (placed ? real_pwrite(handle, content, length, offset) : real_write(handle, content, length))
    if (!named(handle, path)) return DO(size);
    if (fails(&hit)) return -1;
    if (hit && is("half")) { DO(size / 2); die(); }
    if (hit && is("short") && size > 1) return DO(size / 2);
    noted('W', path, "", placed ? offset : lseek(handle, 0, SEEK_CUR), size, content);
    ssize_t done = DO(size);
    if (hit && is("after")) die();
    return done;
}

ssize_t write(int handle, const void *content, size_t size) {
    return written(handle, content, size, 0, 0);
}
ssize_t pwrite(int handle, const void *content, size_t size, off_t offset) {
    return written(handle, content, size, offset, 1);
}
ssize_t pwrite64(int handle, const void *content, size_t size, off_t offset) {
    return written(handle, content, size, offset, 1);
}

/* The rest of a call that is noted, done, and after which somebody may be killed. */
#define CALL(what, path, other, offset, done) \
    do { \
        int hit = 0; \
        if (fails(&hit)) return -1; \
        if (hit && is("half")) die(); \
        noted(what, path, other, offset, 0, 0); \
        int found = done; \
        if (hit && is("after")) die(); \
        return found; \
    } while (0)

int fsync(int handle) {
    char path[2048];
    if (!named(handle, path)) return real_fsync(handle);
    CALL('S', path, "", 0, real_fsync(handle));
}
int fdatasync(int handle) {
    char path[2048];
    if (!named(handle, path)) return real_fdatasync(handle);
    CALL('S', path, "", 0, real_fdatasync(handle));
}
int ftruncate(int handle, off_t size) {
    char path[2048];
    if (!named(handle, path)) return real_ftruncate(handle, size);
    CALL('T', path, "", size, real_ftruncate(handle, size));
}
int ftruncate64(int handle, off_t size) { return ftruncate(handle, size); }
int rename(const char *from, const char *to) {
    if (!below(to)) return real_rename(from, to);
    CALL('R', from, to, 0, real_rename(from, to));
}
int unlink(const char *path) {
    if (!below(path)) return real_unlink(path);
    CALL('U', path, "", 0, real_unlink(path));
}
