// From what a finding knows to what a person reads: one sentence for each claim and one for each kind of fact. The
// compiler names the one that is missing.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"
#include "findings/report.h"

namespace blackout {

// The finding in one sentence; with another symptom than its own.
std::string verdictOf(const Finding& finding);
// The same where no numbered places follow: they are called by their lines, and the one that the finding leads with
// (sentence_words.h) "here".
std::string verdictAlone(const Finding& finding);

std::string sentenceOf(const Fact& fact, const Finding& finding);
// The sentences of all its facts, in their order.
std::vector<std::string> evidenceOf(const Finding& finding);
// What to do about it.
std::string hintOf(const Finding& finding);

// What the restarted program did, and where: "crashes with SIGSEGV in lookup (map.cpp:60)".
std::string symptomOf(const Finding& finding, const ShownBy& shown);

// The crash that shows the finding: "the power fails after (2) (event 77) with everything persisted".
std::string crashText(const ShownBy& shown);

// What is assumed, and in a sentence with what was tried of it.
std::string assumptionOf(const AssumedRecord& record);
std::string sentenceOf(const AssumedRecord& record);

// "5", "0x7f3210", "61 62 63": an integer where the bytes may be one, otherwise the bytes in the order of memory.
std::string valueText(const ByteValue& value);

}  // namespace blackout
