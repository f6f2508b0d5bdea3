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
std::vector<Finding> detectFlushOutside(const DetectInput& input);

}  // namespace blackout
