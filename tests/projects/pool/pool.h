/* A persistent list of numbers in a mapped file: what the projects of this folder build. */
#ifndef POOL_H
#define POOL_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

struct pool;

struct pool* pool_open(const char* path);
void pool_append(struct pool* pool, uint64_t value);
uint64_t pool_count(const struct pool* pool);
uint64_t pool_sum(const struct pool* pool);
void pool_close(struct pool* pool);

#ifdef __cplusplus
}
#endif
#endif
