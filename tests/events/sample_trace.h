// A small trace with at least one event of every kind, for the tests of readers and printers.
#pragma once

#include <span>
#include <string>

#include "events/trace_writer.h"

namespace blackout::test {

Site sampleSite();
TraceWriter sampleTrace();

inline std::span<const std::byte> asBytes(const std::string& s) { return std::as_bytes(std::span(s.data(), s.size())); }

// Asks a trace everything that a reader may ask; returns a number that depends on all answers, so
// that nothing is optimised away.
std::uint64_t readAll(const Trace& trace);

}  // namespace blackout::test
