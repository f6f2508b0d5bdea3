// A lock-free list as a map (lock_free_list.hpp).
#include <blackout/lin.hpp>

#include "lin/lock_free_list.hpp"

using List = lockfree::Pool<1>;
BLACKOUT_MAP(List)
