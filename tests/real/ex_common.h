/* What PMDK's examples include and the packages leave out. */
#ifndef EX_COMMON_H
#define EX_COMMON_H

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREATE_MODE_RW (S_IWUSR | S_IRUSR)
#define MIN(a, b) (((a) < (b)) ? (a) : (b))

/* 0 if the file is there, as the examples expect it. */
static inline int file_exists(const char* path) { return access(path, F_OK); }

static inline int find_last_set_64(uint64_t value) { return 63 - __builtin_clzll(value); }

#endif
