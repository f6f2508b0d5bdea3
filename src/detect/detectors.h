// The functions behind the table of detect.cpp, one per detector.
#pragma once

#include "detect/detect.h"

namespace blackout {

std::vector<Finding> detectNeverPersisted(const DetectInput& input);
std::vector<Finding> detectStoreOutside(const DetectInput& input);
std::vector<Finding> detectOverwrittenUnpersisted(const DetectInput& input);
std::vector<Finding> detectCleanFlush(const DetectInput& input);
std::vector<Finding> detectRepeatedFlush(const DetectInput& input);
std::vector<Finding> detectIdleFence(const DetectInput& input);
std::vector<Finding> detectLoggedTwice(const DetectInput& input);
std::vector<Finding> detectLoggedUnused(const DetectInput& input);
std::vector<Finding> detectFlushOutside(const DetectInput& input);
std::vector<Finding> detectUnloggedStore(const DetectInput& input);
std::vector<Finding> detectOpenTransaction(const DetectInput& input);

// What wasted flushes and fences cost, of all in the run. What is logged in vain has its cost already.
void addCosts(const Trace& trace, std::vector<Finding>& findings);

}  // namespace blackout
