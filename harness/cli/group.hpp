// Which records make one table, and which of them it shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/record.hpp"

namespace fusebench {

/// A row of a table: a record, and how many configurations of its variant there are beside it.
struct Shown {
  const Record* record = nullptr;
  bool peer = false;       ///< of another file: never ranked, never marked
  bool best = false;       ///< stands for its variant
  std::size_t of = 1;      ///< configurations of the variant in this group
  std::size_t passed = 0;  ///< how many of them passed
};

/// The records of one operator, problem and device, with the controls measured there.
struct Group {
  std::string title;
  DeviceKind device = DeviceKind::cpu;
  std::vector<const Record*> ranked = {};  ///< by time
  std::vector<const Record*> rest = {};    ///< no time, or not passed; in the order of the run
  std::vector<const Record*> controls = {};
  std::vector<const Record*> peers = {};  ///< what passed by time, then the rest
};

/// The groups in the order in which they were run. Nothing that is unavailable is in one, and no control
/// of a peer's. A peer belongs where operator, problem and kind of device are the same.
[[nodiscard]] std::vector<Group> groups_of(std::span<const Record> records,
                                           std::span<const Record> peers);

/// Passed with a time: what may rank, be it control, variant or peer.
[[nodiscard]] bool is_timed(const Record& record);
[[nodiscard]] bool is_control(const Record& record);

/// "*" for the fastest within 1e-4 of the exact reference order, "+" for the fastest of its precision; both
/// among those that leave their inputs as they are.
[[nodiscard]] std::string marks(const Record& record, std::span<const Record* const> ranked);

/// The group's rows, peers among the ranked by time, without the controls. Of several configurations of a
/// variant only the fastest and what is marked; where none has a time, the first that did not pass, else
/// the one with the largest error. Every one when `every`.
[[nodiscard]] std::vector<Shown> shown_of(const Group& group, bool every);

}  // namespace fusebench
