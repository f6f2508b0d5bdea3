/* PMDK's maps as map_harness.cpp and create.c see them. */
#ifndef MAP_ADAPTER_H
#define MAP_ADAPTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
int adapter_create(const char* path);
int adapter_open(const char* path);
int adapter_insert(uint64_t key, uint64_t value);
uint64_t adapter_get(uint64_t key);
int adapter_has(uint64_t key);
void adapter_remove(uint64_t key);
#ifdef __cplusplus
}
#endif
#endif
