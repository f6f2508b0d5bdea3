#include "judge/point_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "events/trace.h"

namespace blackout {

namespace {

template <class T>
bool parseNumber(std::string_view text, T& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parseNumber(std::string_view text, EventNo& out) {
  std::uint32_t number = 0;
  bool ok = parseNumber(text, number);
  out = EventNo(number);
  return ok;
}

}  // namespace

Result<PointChoice> parsePointChoice(std::string_view text) {
  PointChoice choice;
  if (text == "enough") return choice;
  if (text == "all") {
    choice.mode = PointChoice::All;
    return choice;
  }
  if (parseNumber(text, choice.count) && choice.count > 0) {
    choice.mode = PointChoice::Some;
    return choice;
  }
  auto wrong = [&] {
    return fail(fmt::format("--points {}: it is enough, all, a number of points, or events as 100-200,512", text));
  };
  choice.mode = PointChoice::Ranges;
  if (text.find_first_of("-,") == std::string_view::npos) return wrong();
  for (std::string_view rest = text;;) {
    std::string_view part = rest.substr(0, rest.find(','));
    std::size_t dash = part.find('-');
    std::pair<EventNo, EventNo> range;
    if (!parseNumber(part.substr(0, dash), range.first)) return wrong();
    range.second = range.first;
    if (dash != std::string_view::npos && !parseNumber(part.substr(dash + 1), range.second)) return wrong();
    if (range.second < range.first) return wrong();
    choice.ranges.push_back(range);
    if (part.size() == rest.size()) break;
    rest.remove_prefix(part.size() + 1);
  }
  return choice;
}

Result<std::vector<EventNo>> choosePoints(const Index& index, const PointChoice& choice) {
  const Trace& trace = index.trace();
  std::vector<EventNo> points = index.points(choice.mode == PointChoice::All ? PointsMode::All : PointsMode::Enough);
  if (choice.trusted != nullptr) points = choice.trusted->thin(points);
  if (choice.mode == PointChoice::Ranges) {
    // A range keeps the points in it; an event on its own is a point by itself.
    std::vector<EventNo> kept;
    for (auto [from, to] : choice.ranges) {
      std::size_t before = kept.size();
      for (EventNo p : points)
        if (p >= from && p <= to) kept.push_back(p);
      if (from != to || kept.size() != before) continue;
      std::vector<EventNo> all = index.points(PointsMode::All);
      if (std::binary_search(all.begin(), all.end(), from))
        kept.push_back(from);
      else
        return fail(
            fmt::format("--points {}: no event of the trace begins there; 'blackout trace' lists them", from.value()));
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    points = std::move(kept);
  }
  if (choice.fromOp || choice.toOp) {
    const Operations& operations = index.operations();
    for (const auto& op : {choice.fromOp, choice.toOp})
      if (op && *op >= operations.count())
        return fail(
            fmt::format("operation {} is not in the recording, which has {}, numbered from 0; mark operations "
                        "with blackout_op_begin and blackout_op_end",
                        *op, operations.count()));
    EventNo from = choice.fromOp ? operations[OperationNo(*choice.fromOp)].begin : 0;
    EventNo to = choice.toOp ? operations[OperationNo(*choice.toOp)].end : kNever;
    if (to < from) return fail("--from names a later operation than --to; exchange the two");
    // What the last operation promised is seen by the first point after its end.
    auto first = std::lower_bound(points.begin(), points.end(), from);
    auto last = std::upper_bound(first, points.end(), to);
    if (last != points.end()) ++last;
    points = std::vector<EventNo>(first, last);
  }
  if (choice.mode == PointChoice::Some && choice.count < points.size()) {
    std::vector<EventNo> some;
    for (std::uint64_t i = 0; i < choice.count; ++i)
      some.push_back(points[choice.count == 1 ? points.size() - 1 : i * (points.size() - 1) / (choice.count - 1)]);
    points = std::move(some);
  }
  if (points.empty())
    return fail(
        fmt::format("--points: there is no point to crash at in what was chosen; the recording has events 0 to {}",
                    trace.end().value()));
  return points;
}

}  // namespace blackout
