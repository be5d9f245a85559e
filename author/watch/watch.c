/* SPDX-License-Identifier: Apache-2.0 */
/* author/watch/watch.c - slipway-watch.so: preloaded into the workers of `slipway plugin check`. It writes down which files,
 * programs and variables a plugin uses past its Host, and can shift the clock that the plugin sees. Calls that do not come from
 * the plugin's library go through as they are.
 *
 * Environment: SLIPWAY_WATCH_PLUGIN   the file name of the plugin's library
 *              SLIPWAY_WATCH_LOG      the file to add lines to: "file PATH", "program PATH", "variable NAME"
 *              SLIPWAY_WATCH_ALLOWED  the folder that the roots lie in: what is below it is the Host's
 *              SLIPWAY_WATCH_SHIFT    seconds that the clock is ahead
 *              SLIPWAY_WATCH_FOLDER   the folder to work in */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* each function is defined under its own name */
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 64 };

static const char* plugin_name;
static const char* log_file;
static const char* allowed;
static long shift;
static __thread bool busy; /* what the watch itself does is not watched */

/* The next definition of a function: the C library's. */
#define REAL(name) ((__typeof__(&(name)))real_of(#name))
static void* real_of(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  plugin_name = getenv("SLIPWAY_WATCH_PLUGIN");
  log_file = getenv("SLIPWAY_WATCH_LOG");
  allowed = getenv("SLIPWAY_WATCH_ALLOWED");
  const char* const seconds = getenv("SLIPWAY_WATCH_SHIFT");
  const char* const folder = getenv("SLIPWAY_WATCH_FOLDER");
  if (seconds != NULL) shift = strtol(seconds, NULL, 10);
  const int moved = folder != NULL ? chdir(folder) : 0;
  (void)moved; /* else it is tried where it is */
}

static bool is_of_plugin(const Dl_info* info) {
  const char* const slash = strrchr(info->dli_fname, '/');
  return strcmp(slash == NULL ? info->dli_fname : slash + 1, plugin_name) == 0;
}

/* The program itself, which is slipway: what it does when a plugin asks it for something is its own. */
static bool is_of_program(const Dl_info* info) {
  Dl_info program;
  return dladdr((void*)getauxval(AT_ENTRY), &program) != 0 && program.dli_fbase == info->dli_fbase;
}

/* The plugin is among those that wait for this call, and slipway is not between them. */
static bool by_plugin(void) {
  if (plugin_name == NULL || busy) return false;
  busy = true;
  void* frames[MOST_FRAMES];
  const int count = backtrace(frames, MOST_FRAMES);
  bool found = false;
  for (int i = 0; i < count && !found; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL) continue;
    if (is_of_program(&info)) break;
    found = is_of_plugin(&info);
  }
  busy = false;
  return found;
}

/* A library that slipway itself names, as the simulated machine's, with the folders above it and what lies beside it. */
static bool is_named_by_slipway(const char* path) {
  const size_t length = strlen(path);
  for (char** entry = environ; *entry != NULL; ++entry) {
    const char* const value = strchr(*entry, '=');
    if (strncmp(*entry, "SLIPWAY_", 8) != 0 || value == NULL || value[1] != '/') continue;
    const char* const file = value + 1;
    const size_t folder = (size_t)(strrchr(file, '/') - file);
    if (strcmp(path, "/") == 0 || (strncmp(file, path, length) == 0 && file[length] == '/')) return true;
    if (length > folder && strncmp(path, file, folder + 1) == 0 && strchr(path + folder + 1, '/') == NULL) return true;
  }
  return false;
}

static bool is_allowed(const char* path) {
  if (path == NULL || strncmp(path, "/proc/self/", 11) == 0 || strcmp(path, "/dev/null") == 0) return true;
  if (is_named_by_slipway(path)) return true;
  const size_t length = allowed == NULL ? 0 : strlen(allowed);
  return length != 0 && strncmp(path, allowed, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void write_down(const char* what, const char* name) {
  busy = true;
  const int file = REAL(open)(log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) {
    char line[4200];
    const int length = snprintf(line, sizeof line, "%s %s\n", what, name);
    if (length > 0 && (size_t)length < sizeof line) {
      const ssize_t written = write(file, line, (size_t)length);
      (void)written; /* nobody is there to be told */
    }
    close(file);
  }
  busy = false;
}

static void note(const char* what, const char* path) {
  if (log_file != NULL && !is_allowed(path) && by_plugin()) write_down(what, path);
}

/* Only what the plugin itself asks for: the libraries that it calls have variables of their own, and so has slipway. */
static void note_variable(const char* name, const void* caller) {
  Dl_info info;
  if (log_file == NULL || plugin_name == NULL || busy || strncmp(name, "SLIPWAY_", 8) == 0) return;
  if (dladdr(caller, &info) != 0 && info.dli_fname != NULL && is_of_plugin(&info)) write_down("variable", name);
}

/* A name in an open folder is the Host's. */
static void note_at(int folder, const char* path) {
  if (folder == AT_FDCWD || (path != NULL && path[0] == '/')) note("file", path);
}

#define MODE_OF(flags, last)                       \
  mode_t mode = 0;                                 \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {    \
    va_list rest;                                  \
    va_start(rest, last);                          \
    mode = va_arg(rest, mode_t);                   \
    va_end(rest);                                  \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  note("file", path);
  return REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  note("file", path);
  return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  note_at(folder, path);
  return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  note_at(folder, path);
  return REAL(openat64)(folder, path, flags, mode);
}

/* What _FORTIFY_SOURCE makes of the same. */
int __open_2(const char* path, int flags) {
  note("file", path);
  return REAL(open)(path, flags);
}

int __open64_2(const char* path, int flags) {
  note("file", path);
  return REAL(open64)(path, flags);
}

FILE* fopen(const char* path, const char* mode) {
  note("file", path);
  return REAL(fopen)(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  note("file", path);
  return REAL(fopen64)(path, mode);
}

DIR* opendir(const char* path) {
  note("file", path);
  return REAL(opendir)(path);
}

int stat(const char* path, struct stat* info) {
  note("file", path);
  return REAL(stat)(path, info);
}

int stat64(const char* path, struct stat64* info) {
  note("file", path);
  return REAL(stat64)(path, info);
}

int lstat(const char* path, struct stat* info) {
  note("file", path);
  return REAL(lstat)(path, info);
}

int lstat64(const char* path, struct stat64* info) {
  note("file", path);
  return REAL(lstat64)(path, info);
}

int fstatat(int folder, const char* restrict path, struct stat* restrict info, int flags) {
  note_at(folder, path);
  return REAL(fstatat)(folder, path, info, flags);
}

int fstatat64(int folder, const char* restrict path, struct stat64* restrict info, int flags) {
  note_at(folder, path);
  return REAL(fstatat64)(folder, path, info, flags);
}

int statx(int folder, const char* restrict path, int flags, unsigned mask, struct statx* restrict info) {
  note_at(folder, path);
  return REAL(statx)(folder, path, flags, mask, info);
}

int faccessat(int folder, const char* path, int mode, int flags) {
  note_at(folder, path);
  return REAL(faccessat)(folder, path, mode, flags);
}

ssize_t readlinkat(int folder, const char* restrict path, char* restrict target, size_t size) {
  note_at(folder, path);
  return REAL(readlinkat)(folder, path, target, size);
}

int access(const char* path, int mode) {
  note("file", path);
  return REAL(access)(path, mode);
}

ssize_t readlink(const char* path, char* target, size_t size) {
  note("file", path);
  return REAL(readlink)(path, target, size);
}

char* realpath(const char* restrict path, char* restrict resolved) {
  note("file", path);
  return REAL(realpath)(path, resolved);
}

int scandir(const char* restrict path, struct dirent*** restrict names, int (*filter)(const struct dirent*),
            int (*compare)(const struct dirent**, const struct dirent**)) {
  note("file", path);
  return REAL(scandir)(path, names, filter, compare);
}

int glob(const char* restrict pattern, int flags, int (*on_error)(const char*, int), glob_t* restrict found) {
  note("file", pattern);
  return REAL(glob)(pattern, flags, on_error, found);
}

char* getenv(const char* name) {
  note_variable(name, __builtin_return_address(0));
  return REAL(getenv)(name);
}

char* secure_getenv(const char* name) {
  note_variable(name, __builtin_return_address(0));
  return REAL(secure_getenv)(name);
}

int system(const char* command) {
  note("program", command);
  return REAL(system)(command);
}

FILE* popen(const char* command, const char* type) {
  note("program", command);
  return REAL(popen)(command, type);
}

int execve(const char* path, char* const arguments[], char* const environment[]) {
  note("program", path);
  return REAL(execve)(path, arguments, environment);
}

int execv(const char* path, char* const arguments[]) {
  note("program", path);
  return REAL(execv)(path, arguments);
}

int execvp(const char* file, char* const arguments[]) {
  note("program", file);
  return REAL(execvp)(file, arguments);
}

int execvpe(const char* file, char* const arguments[], char* const environment[]) {
  note("program", file);
  return REAL(execvpe)(file, arguments, environment);
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                 char* const arguments[], char* const environment[]) {
  note("program", file);
  return REAL(posix_spawnp)(pid, file, actions, attributes, arguments, environment);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const arguments[], char* const environment[]) {
  note("program", path);
  return REAL(posix_spawn)(pid, path, actions, attributes, arguments, environment);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int done = REAL(clock_gettime)(clock, now);
  if (done == 0 && clock == CLOCK_REALTIME && shift != 0 && by_plugin()) now->tv_sec += shift;
  return done;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  const int done = REAL(gettimeofday)(now, zone);
  if (done == 0 && shift != 0 && by_plugin()) now->tv_sec += shift;
  return done;
}

time_t time(time_t* now) {
  struct timespec seconds = {0, 0};
  clock_gettime(CLOCK_REALTIME, &seconds);
  if (now != NULL) *now = seconds.tv_sec;
  return seconds.tv_sec;
}
