// Records of which only a part of the combinations was tried, and of which nothing is used but a checksum: the code of
// the program says so (infer/summed_reads.h), and a restart that finds such a record neither whole nor missing agrees:
// it is run once more with all its reads logged, and nobody else reads those bytes. Then all restarts that find the sum
// wrong do the same, whatever of the record they find. That no combination but one has the right sum remains assumed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "binary/stacks.h"
#include "explore/assumption.h"
#include "infer/summed_reads.h"
#include "judge/state_probe.h"
#include "run/patience.h"

namespace blackout {

class ChecksummedRecords {
 public:
  // All must outlive it. `programs`: files with bitcode and site tables, read when first asked for.
  ChecksummedRecords(StateProbe& probe, Runner& runner, Stacks& stacks, std::vector<std::string> programs,
                     Patience patience)
      : probe_(probe),
        runner_(runner),
        stacks_(stacks),
        programs_(std::move(programs)),
        patience_(std::move(patience)) {}

  // True only if that is known of all restarts at whose crashes something was left out.
  bool onlySummed(const ChecksumAssumption& assumption);

 private:
  void analyse();
  bool agrees(const RecordExample& example);
  // Whether a read by the site, called from there, only sums; where its comparison stands in a loop, what it compares
  // with is added.
  bool sums(std::uint64_t site, const std::vector<Frame>& stack, std::vector<std::uint64_t>& comparedWith) const;

  StateProbe& probe_;
  Runner& runner_;
  Stacks& stacks_;
  std::vector<std::string> programs_;
  Patience patience_;
  bool analysed_ = false;
  std::map<std::uint64_t, SummedRead> reads_;                    // by access
  std::map<std::uint64_t, std::vector<std::uint64_t>> sources_;  // accesses of a site
};

}  // namespace blackout
