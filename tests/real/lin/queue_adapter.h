/* PMDK's queue as queue_harness.cpp and create.c see it. */
#ifndef QUEUE_ADAPTER_H
#define QUEUE_ADAPTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
int adapter_create(const char* path);
int adapter_open(const char* path);
int adapter_enqueue(uint64_t value);
int adapter_dequeue(uint64_t* value);
#ifdef __cplusplus
}
#endif
#endif
