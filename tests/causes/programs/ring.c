/* A ring of messages without a tail, in C. A message is two lines; it is there if its sequence number, which is stored
 * when all else of it is durable, is the one that its place must have. A restart asserts that messages are whole. */
#include <assert.h>
#include <string.h>

#include "pm.h"

#define PLACES 3u
#define WORDS 15u
#define MESSAGES 4u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t sequence; /* from 1 */
  uint64_t word[WORDS];
} Message;

typedef struct {
  Message message[PLACES];
} Ring;

static const char* path;
static Ring* ring;

static void compose(Message* message, uint64_t sequence) {
  message->sequence = sequence;
  for (unsigned i = 0; i < WORDS; ++i) message->word[i] = sequence << 8 | i;
}

static void send(uint64_t sequence) {
  Message* to = &ring->message[sequence % PLACES];
  Message message;
  compose(&message, sequence);
#if BUG == 1
  memcpy(to, &message, sizeof *to); /* (update 1) */
  pm_persist(to, sizeof *to);
#else
  to->sequence = 0; /* the message that was here goes first */
  pm_persist((void*)&to->sequence, sizeof to->sequence);
  memcpy(to->word, message.word, sizeof to->word); /* (lost 2, 3) */
#if BUG == 2
  pm_persist(to, PM_LINE);
#elif BUG == 3
  pm_flush(to->word, sizeof to->word);
#else
  pm_persist(to->word, sizeof to->word);
#endif
  to->sequence = sequence; /* (relies 2, 3) */
  pm_persist((void*)&to->sequence, sizeof to->sequence);
#endif
}

static void setup(void) { ring = pm_map(path, sizeof *ring); }

static void operations(void) {
  for (uint64_t sequence = 1; sequence <= MESSAGES; ++sequence) {
    blackout_op_begin("send", sequence);
    send(sequence);
    blackout_op_end(0);
  }
}

static void recover(void) { ring = pm_map(path, sizeof *ring); }

static void verify(void) {
  for (unsigned place = 0; place < PLACES; ++place) {
    const Message* message = &ring->message[place];
    const uint64_t sequence = message->sequence;
    if (sequence == 0) continue;
    for (unsigned i = 0; i < WORDS; ++i) assert(message->word[i] == (sequence << 8 | i));
  }
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: ring POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
