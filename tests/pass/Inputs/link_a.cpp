// One of the two objects of link.test.
#include "link.h"
long first(List *p) { return both(p); }
