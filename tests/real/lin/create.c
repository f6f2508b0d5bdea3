/* Makes the pool beforehand: its creation is PMDK's affair. */
int adapter_create(const char* path); /* of any of the adapters */

int main(int argc, char** argv) { return argc == 2 && adapter_create(argv[1]) ? 0 : 1; }
