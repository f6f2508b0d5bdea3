#include "judge/checksummed_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "events/site_table.h"
#include "events/trace.h"
#include "infer/access_id.h"
#include "infer/in_child.h"

namespace blackout {

namespace {

constexpr std::size_t kExamples = 256;  // restarts that are run once more

// What the analysis says, on its way from a process to another: words, one in each line.
std::string packed(const std::vector<SummedRead>& reads) {
  std::string text;
  auto put = [&](char kind, const ReadWay& way) {
    text += fmt::format("{}\n{}\n{}\n{}\n", kind, way.inLoop ? 1 : 0, way.calls.size(), way.comparedWith.size());
    for (const CallPlace& call : way.calls) text += fmt::format("{}\n{}\n", call.line, call.file);
    for (std::uint64_t access : way.comparedWith) text += fmt::format("{}\n", access);
  };
  for (const SummedRead& read : reads) {
    text += fmt::format("r\n{}\n", read.access);
    for (const ReadWay& way : read.compared) put('c', way);
    for (const ReadWay& way : read.used) put('u', way);
  }
  return text;
}

// Nothing, if it is not what was packed: names of files come from outside.
std::map<std::uint64_t, SummedRead> unpacked(const std::string& text) {
  std::map<std::uint64_t, SummedRead> reads;
  std::istringstream in(text);
  SummedRead* read = nullptr;
  bool right = true;
  auto word = [&] {
    std::string line;
    right = right && static_cast<bool>(std::getline(in, line));
    return line;
  };
  auto number = [&] {
    std::string digits = word();
    right = right && !digits.empty() && digits.size() <= 20 && digits.find_first_not_of("0123456789") == digits.npos;
    return right ? std::strtoull(digits.c_str(), nullptr, 10) : 0;
  };
  while (right && in.peek() != std::char_traits<char>::eof()) {
    std::string kind = word();
    if (kind == "r") {
      std::uint64_t access = number();
      read = &reads[access];
      read->access = access;
      continue;
    }
    right = right && read != nullptr && (kind == "c" || kind == "u");
    if (!right) break;
    ReadWay way;
    way.inLoop = number() != 0;
    std::uint64_t calls = number(), compared = number();
    for (std::uint64_t i = 0; right && i < calls; ++i) {
      auto line = static_cast<std::uint32_t>(number());
      way.calls.push_back({word(), line});
    }
    for (std::uint64_t i = 0; right && i < compared; ++i) way.comparedWith.push_back(number());
    (kind == "c" ? read->compared : read->used).push_back(std::move(way));
  }
  if (!right) reads.clear();
  return reads;
}

// Whether the calls are among those of the stack, in their order.
bool leads(const ReadWay& way, const std::vector<Frame>& stack) {
  std::size_t at = 1;  // the first is the read itself
  for (const CallPlace& call : way.calls) {
    auto isCall = [&](const Frame& f) {
      return f.line == call.line && f.file.substr(f.file.rfind('/') + 1) == call.file;
    };
    while (at < stack.size() && !isCall(stack[at])) ++at;
    if (at++ >= stack.size()) return false;
  }
  return true;
}

}  // namespace

void ChecksummedRecords::analyse() {
  if (analysed_) return;
  analysed_ = true;
  auto answer = inChild(
      [&]() -> std::string {
        ProgramBitcode bitcode;
        for (const std::string& program : programs_)
          (void)addBitcode(bitcode, program);  // what has none is passed over
        return bitcode.units.empty() ? std::string() : packed(summedReads(bitcode));
      },
      {.seconds = 0, .giveUp = [this] { return patience_.over(); }});
  if (!answer) return;
  reads_ = unpacked(*answer);
  if (reads_.empty()) return;
  for (const std::string& program : programs_)
    if (auto sites = readSiteTable(program))
      for (const Site& site : *sites)
        for (const Source& source : site.sources) sources_[site.id].push_back(accessId(source));
}

bool ChecksummedRecords::sums(std::uint64_t site, const std::vector<Frame>& stack,
                              std::vector<std::uint64_t>& comparedWith) const {
  auto sources = sources_.find(site);
  if (sources == sources_.end() || stack.empty()) return false;
  auto takes = [&](const ReadWay& way) { return leads(way, stack); };
  for (std::uint64_t access : sources->second) {
    auto read = reads_.find(access);
    if (read == reads_.end() || std::any_of(read->second.used.begin(), read->second.used.end(), takes)) return false;
    auto way = std::find_if(read->second.compared.begin(), read->second.compared.end(), takes);
    if (way == read->second.compared.end()) return false;
    for (; way != read->second.compared.end(); ++way)
      if (way->inLoop && takes(*way))
        comparedWith.insert(comparedWith.end(), way->comparedWith.begin(), way->comparedWith.end());
  }
  return true;
}

bool ChecksummedRecords::agrees(const RecordExample& example) {
  Explorer& explorer = probe_.explorer();
  if (explorer.space(example.space).level != 1) return false;
  Run run = explorer.request(example.space, probe_.largest(example.space, example.recovery), true);
  run.everyRead = true;
  auto ended = runner_.run(run);
  if (!ended) return false;
  const Outcome& known = explorer.outcome(explorer.outcomeNo(example.recovery));
  const Outcome& now = ended->outcome;
  if (now.ending != known.ending || now.code != known.code || now.output != known.output) return false;
  auto trace = Trace::open(ended->tracePath);
  if (!trace) return false;

  auto ofRecord = [&](const Query& q) {
    auto line = std::lower_bound(example.bytes.begin(), example.bytes.end(), std::pair(q.line(), std::uint64_t{0}));
    return q.kind == QueryKind::Bytes && line != example.bytes.end() && line->first == q.line() &&
           (line->second & q.mask) != 0;
  };
  std::vector<std::uint64_t> comparedWith;
  std::map<std::pair<std::uint64_t, StackId>, bool> isSum;  // by site and stack: whether it sums
  auto summing = [&](const Query& q) {
    auto [it, fresh] = isSum.try_emplace({q.site, q.where}, false);
    if (fresh) it->second = q.where != 0 && sums(q.site, stacks_.at(*trace, q.where), comparedWith);
    return it->second;
  };
  std::optional<std::size_t> first;
  std::size_t last = 0;
  for (std::size_t i = 0; i < ended->queries.size(); ++i) {
    if (!ofRecord(ended->queries[i])) continue;
    if (!summing(ended->queries[i])) return false;
    if (!first) first = i;
    last = i;
  }
  if (!first) return false;
  if (comparedWith.empty()) return true;
  // One comparison for all of it: what the sum is compared with is read for each, and not in between.
  auto isCompared = [&](std::uint64_t access) {
    return std::find(comparedWith.begin(), comparedWith.end(), access) != comparedWith.end();
  };
  bool read = false;
  for (std::size_t i = 0; i < ended->queries.size(); ++i) {
    const Query& q = ended->queries[i];
    auto sources = sources_.find(q.site);
    bool compared =
        sources != sources_.end() && std::any_of(sources->second.begin(), sources->second.end(), isCompared);
    if (compared && i > *first && i < last) return false;
    read |= compared;
  }
  return read;
}

bool ChecksummedRecords::onlySummed(const ChecksumAssumption& a) {
  if (a.record.reader != RecordReader::Instruction || a.refuted || a.examples.empty() || a.examples.size() > kExamples)
    return false;
  analyse();
  return !reads_.empty() && std::all_of(a.examples.begin(), a.examples.end(),
                                        [&](const RecordExample& e) { return !patience_.over() && agrees(e); });
}

}  // namespace blackout
