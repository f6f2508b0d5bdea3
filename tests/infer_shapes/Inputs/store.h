/* Shared by a unit in C and one in C++. */
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
struct Store {
  uint64_t valid;
  uint64_t payload;
};
int store_is_valid(const struct Store* s);
void store_set(struct Store* s, uint64_t payload);
#ifdef __cplusplus
}
#endif
