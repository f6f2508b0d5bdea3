#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
void storeLast(uint64_t* p, uint64_t v);
void storeMany(uint64_t* p, uint64_t v);
uint64_t sum(const uint64_t* p, uint64_t n);
void byTable(uint64_t* p, uint64_t which);
void entered(uint64_t* p, uint64_t v, uint64_t inside);
#ifdef __cplusplus
}
#endif
