// A hash table of lock-free lists (lock_free_list.hpp), as a map.
#include <blackout/lin.hpp>

#include "lin/lock_free_list.hpp"

using Hash = lockfree::Pool<4>;
BLACKOUT_MAP(Hash)
