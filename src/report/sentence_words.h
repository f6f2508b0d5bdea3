// Words that verdicts and facts have in common: what bytes, lines of the source, calls and symptoms are called.
#pragma once

#include <string>
#include <string_view>

#include "findings/finding.h"

namespace blackout {

// "map.img" of "/mnt/pmem/map.img".
std::string_view baseName(std::string_view path);

// "8 bytes at offset 0x40 of map.img"
std::string bytesText(const NamedBytes& bytes);

// "map.cpp:60"; empty: unknown.
std::string lineText(const Frame& frame);

// "List::pop (list.cpp:12)"
std::string callText(const Frame& frame);

// "crashes with SIGSEGV in lookup (map.cpp:60)"
std::string symptomIn(const std::string& symptom, const Frame& frame);

}  // namespace blackout
