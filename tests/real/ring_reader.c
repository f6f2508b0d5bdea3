/*
 * Prints what libpmem2's ring buffer example holds: what is restarted after a crash of it. The example itself is two
 * threads that wait for each other, whose order no restart can repeat. Exit code 1: the header is there and is wrong,
 * or an entry is torn.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The format of ringbuf.c. */
struct ringbuf_data {
  uint8_t signature[16];
  uint64_t nentries;
  uint64_t entry_size;
  uint8_t padding[32];
  uint64_t read;
  uint64_t write;
  uint8_t padding2[48];
  uint8_t data[];
};

static const uint64_t persist_bit = 1ULL << 63; /* this position may not be persistent yet */

int main(int argc, char* argv[]) {
  struct stat status;
  int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (fd < 0 || fstat(fd, &status) != 0) {
    fprintf(stderr, "usage: %s POOL\n", argv[0]);
    return 2;
  }
  const struct ringbuf_data* ring = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return 2;
  if (memcmp(ring->signature, "my_fast_ringbuf", sizeof(ring->signature)) != 0) {
    printf("no ring buffer yet\n");
    return 0;
  }
  uint64_t entries = ((uint64_t)status.st_size - sizeof(*ring)) / (ring->entry_size ? ring->entry_size : 1);
  if (ring->nentries != entries) {
    printf("%" PRIu64 " entries of %" PRIu64 " bytes\n", ring->nentries, ring->entry_size);
    return 1;
  }
  uint64_t end = ring->write & ~persist_bit;
  for (uint64_t at = ring->read & ~persist_bit; at != end; at = (at + 1) % entries) {
    const uint8_t* entry = ring->data + at * ring->entry_size;
    for (uint64_t i = 0; i < ring->entry_size; ++i) {
      if (entry[i] == 0xc) continue; /* what the producer writes */
      printf("entry %" PRIu64 " is torn\n", at);
      return 1;
    }
  }
  return 0;
}
