// One line for each item on standard error: rewritten in place on a terminal, plain in a log.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/session/session.hpp"

namespace fusebench {

class Progress {
 public:
  explicit Progress(bool quiet);
  void start(std::size_t index, std::size_t total, const Item& item);
  /// `place` says where among the others it stands: "final 1/56".
  void start(const std::string& place, const Item& item);
  /// Stands behind the item's name while it runs on a terminal, until the next one starts; elsewhere a line of its own, at most every
  /// half minute.
  void status(const std::string& text);
  /// A line that stays.
  void say(const std::string& line);
  void phase(const std::string& phase);
  void result(const JobResult& result);

 private:
  bool quiet_;
  bool terminal_;
  bool silent_ = false;
  std::string head_;
  std::string status_;
  std::chrono::steady_clock::time_point last_status_ = std::chrono::steady_clock::now();
  std::vector<std::string>
      notes_;  // of the last result: another configuration's need not be told again
};

}  // namespace fusebench
