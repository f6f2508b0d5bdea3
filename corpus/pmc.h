/* What a library tells a checker about its transactions: pmemcheck's client requests, as macros of the corpus's own.
 * Any tool that knows the numbers hears them; without one each is a few instructions that do nothing. */
#ifndef CORPUS_PMC_H
#define CORPUS_PMC_H

#include <valgrind/valgrind.h>

#define PMC_REQUEST(number) (VG_USERREQ_TOOL_BASE('P', 'C') + (number))
#define PMC_SAY(number, a, b, c) VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_REQUEST(number), (a), (b), (c), 0, 0)

/* Persistent memory begins and ends. */
#define PMC_REGISTER_MAPPING(addr, len) PMC_SAY(0, (addr), (len), 0)
#define PMC_REMOVE_MAPPING(addr, len) PMC_SAY(2, (addr), (len), 0)

/* In place of the instructions. */
#define PMC_DO_FLUSH(addr, len) PMC_SAY(5, (addr), (len), 0)
#define PMC_DO_FENCE() PMC_SAY(6, 0, 0, 0)

/* What was stored there does not matter until it is stored again. */
#define PMC_SET_CLEAN(addr, len) PMC_SAY(17, (addr), (len), 0)

/* A transaction of this thread; with _N, of this number. */
#define PMC_START_TX() PMC_SAY(18, 0, 0, 0)
#define PMC_START_TX_N(id) PMC_SAY(19, (id), 0, 0)
#define PMC_END_TX() PMC_SAY(20, 0, 0, 0)
#define PMC_END_TX_N(id) PMC_SAY(21, (id), 0, 0)

/* What the transaction may change from here on, and what no longer. */
#define PMC_ADD_TO_TX(addr, len) PMC_SAY(22, (addr), (len), 0)
#define PMC_ADD_TO_TX_N(id, addr, len) PMC_SAY(23, (id), (addr), (len))
#define PMC_REMOVE_FROM_TX(addr, len) PMC_SAY(24, (addr), (len), 0)

/* What every transaction may change without adding it: the library's own log. */
#define PMC_IGNORE_IN_TX(addr, len) PMC_SAY(28, (addr), (len), 0)

#define PMC_EMIT_LOG(text) PMC_SAY(30, (text), 0, 0)

#endif
