/* What PMDK's examples take from a header that the package leaves out. */
#ifndef EX_COMMON_H
#define EX_COMMON_H
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CREATE_MODE_RW (S_IWUSR | S_IRUSR)

static inline int file_exists(const char *path) { return access(path, F_OK); }
static inline int find_last_set_64(uint64_t x) { return x ? 63 - __builtin_clzll(x) : -1; }
#endif
