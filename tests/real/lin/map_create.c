/* Makes the pool beforehand: its creation is PMDK's affair. */
#include "map_adapter.h"

int main(int argc, char** argv) { return argc == 2 && adapter_create(argv[1]) ? 0 : 1; }
