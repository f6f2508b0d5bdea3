/* A durable count of runs in a pool file of its own, in a shared library. */
#ifndef JOURNAL_H
#define JOURNAL_H
#ifdef __cplusplus
extern "C"
#endif
    /* Adds one and returns how often it was called on this file; 0: the file can't be opened. */
    unsigned long
    journal_run(const char* path);
#endif
