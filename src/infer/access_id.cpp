#include "infer/access_id.h"

#include <string>

#include "events/access_wrapper.h"
#include "xxhash.h"

namespace blackout {

std::uint64_t accessId(const Source& source) {
  std::uint64_t id = source.id;
  for (std::size_t k = 1; k < source.chain.size() && isAccessWrapper(source.chain[k - 1].function); ++k) {
    const Place& p = source.chain[k];
    // As in the id of a site: the file's base name, so that the folder of a checkout doesn't matter.
    std::string key = p.function + '\0' + p.file.substr(p.file.rfind('/') + 1) + ':' + std::to_string(p.line) + ':' +
                      std::to_string(p.column) + ':' + std::to_string(p.discriminator);
    id = XXH3_64bits_withSeed(key.data(), key.size(), id);
  }
  return id;
}

const Place* ownPlace(const Source& source) {
  for (const Place& place : source.chain)
    if (!isAccessWrapper(place.function)) return &place;
  return source.chain.empty() ? nullptr : &source.chain.back();
}

}  // namespace blackout
