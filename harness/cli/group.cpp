#include "harness/cli/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "harness/cli/table.hpp"

namespace fusebench {
namespace {

using Rows = std::vector<const Record*>;

double time_or_last(const Record& record) {
  return is_timed(record) ? *record.median_ns : std::numeric_limits<double>::infinity();
}

void sort_by_time(Rows& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Record* a, const Record* b) {
    return time_or_last(*a) < time_or_last(*b);
  });
}

// Two files may hold the same variant; they are no configurations of one.
bool same_series(const Record& a, const Record& b) {
  return a.variant == b.variant && a.run_id == b.run_id && a.device_name == b.device_name;
}

// Of a variant that has no time: what went wrong first, else the largest error.
bool tells_more(const Record& a, const Record& b) {
  const auto key = [](const Record& r) {
    return std::tuple(r.outcome != Outcome::passed,
                      r.outcome == Outcome::passed ? r.max_abs_error.value_or(0.0) : 0.0);
  };
  return key(a) > key(b);
}

class Chooser {
 public:
  Chooser(const Group& group, bool every) : group_(group), every_(every) {}

  void add(const Rows& rows, bool peers, std::vector<Shown>& shown) const {
    for (const Record* record : rows) {
      const Rows siblings = peers ? siblings_in({&group_.peers}, *record)
                                  : siblings_in({&group_.ranked, &group_.rest}, *record);
      const bool marked = !peers && !marks(*record, group_.ranked).empty();
      const bool best = record == best_of(siblings);
      if (!every_ && !marked && !best) continue;
      Shown row{.record = record, .peer = peers, .best = best, .of = siblings.size()};
      row.passed = static_cast<std::size_t>(
          std::count_if(siblings.begin(), siblings.end(),
                        [](const Record* r) { return r->outcome == Outcome::passed; }));
      shown.push_back(row);
    }
  }

 private:
  static Rows siblings_in(std::initializer_list<const Rows*> parts, const Record& record) {
    Rows found;
    for (const Rows* part : parts) {
      for (const Record* other : *part) {
        if (same_series(*other, record)) found.push_back(other);
      }
    }
    return found;
  }

  static const Record* best_of(const Rows& siblings) {
    const Record* best = siblings.front();
    for (const Record* other : siblings) {
      if (is_timed(*best) ? time_or_last(*other) < time_or_last(*best)
                          : is_timed(*other) || tells_more(*other, *best)) {
        best = other;
      }
    }
    return best;
  }

  const Group& group_;
  bool every_;
};

}  // namespace

bool is_control(const Record& record) { return record.operator_name == control_operator; }

// A wrong result has no time to show, whatever its record holds.
bool is_timed(const Record& record) {
  return record.outcome == Outcome::passed && record.median_ns.has_value();
}

std::vector<Group> groups_of(std::span<const Record> records, std::span<const Record> peers) {
  std::vector<Group> groups;
  std::vector<const Record*> examples;
  for (const Record& record : records) {
    if (is_control(record) || record.outcome == Outcome::unavailable) continue;
    std::string title =
        fmt::format("{} on {}, {}", record.operator_name, record.device_name, record.problem);
    const bool known = std::any_of(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.title == title; });
    if (known) continue;
    groups.push_back({.title = std::move(title), .device = record.device});
    examples.push_back(&record);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group& group = groups[i];
    const Record& example = *examples[i];
    const auto belongs = [&](const Record& record) {
      return record.device == example.device && record.problem == example.problem &&
             record.outcome != Outcome::unavailable;
    };
    for (const Record& record : records) {
      if (!belongs(record)) continue;
      // Controls of a device and problem belong to each operator's table there.
      if (is_control(record)) {
        group.controls.push_back(&record);
      } else if (record.operator_name == example.operator_name) {
        (is_ranked(record) ? group.ranked : group.rest).push_back(&record);
      }
    }
    for (const Record& record : peers) {
      if (belongs(record) && record.operator_name == example.operator_name) {
        group.peers.push_back(&record);
      }
    }
    sort_by_time(group.ranked);
    sort_by_time(group.peers);
  }
  return groups;
}

std::string marks(const Record& record, std::span<const Record* const> ranked) {
  // Who may overwrite an input has an easier task.
  const auto best = [&](auto accept) {
    const auto it = std::find_if(ranked.begin(), ranked.end(),
                                 [&](const Record* r) { return !r->in_place && accept(*r); });
    return it != ranked.end() && *it == &record;
  };
  std::string text;
  if (best([](const Record& r) { return r.within_1e4.value_or(false); })) text += "*";
  if (best([&](const Record& r) { return r.precision == record.precision; })) text += "+";
  return text;
}

std::vector<Shown> shown_of(const Group& group, bool every) {
  std::vector<Shown> shown;
  const Chooser chooser(group, every);
  chooser.add(group.ranked, false, shown);
  chooser.add(group.peers, true, shown);
  std::stable_sort(shown.begin(), shown.end(), [](const Shown& a, const Shown& b) {
    return time_or_last(*a.record) < time_or_last(*b.record);
  });
  chooser.add(group.rest, false, shown);
  return shown;
}

}  // namespace fusebench
